"""The recipes of CONTRIBUTING, each followed: a file, for Rust a line of a registry too, and it is there under its name.

A command and a kind of result are in test_one_file.py, a scenario and a study of one's own in test_book.py and test_own_study.py.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from test_one_file import python

ROOT = Path(__file__).parents[2]
# What cargo needs to build, and what `generate` writes.
COPIED = ("crates/", "schema/", "docs/reference/", "docs/models/", "docs/data", "python/elephan/", "Cargo", "rust")

STATISTIC = '''"""How long flows took to set up."""

from elephan.statistic.measure import measure
from elephan.table.rows import column


def _set_up(run):
    return column(run.flows, "established_ns") - column(run.flows, "start_ns")


measure("set_up_ns", "ns", "time from the first SYN to the end of the handshake", _set_up)
'''

FIGURE = '''"""When packets were dropped, as dots."""

from elephan.report.figure.registry import figure
from elephan.report.style import Drawing, new_figure


@figure("drop-dots", "each dropped packet as a dot", lambda view: view.events("drop").size > 0, why_not="no packet was dropped")
def dots(view):
    drawn, (axes,) = new_figure()
    times = view.events("drop")
    axes.plot(times / 1e9, [1.0] * len(times), "o")
    return Drawing("drop-dots", "Drops", "Each dot is a dropped packet.", drawn)
'''


def test_a_statistic_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "set_up.py").write_text(STATISTIC)
    code = (
        "import elephan as el; run = el.run('sawtooth', set={'duration': '12 s'}); "
        "print(round(run.statistic('set_up_ns.max') / 1e6)); from elephan.cli import status_of; status_of(words)"
    )
    done = python(code, "elephan.statistic.declared", tmp_path, "list", "statistics")
    # A SYN takes 25 ms and so does its answer.
    assert done.stdout.splitlines()[0] == "50", done.stderr
    assert "set_up_ns.TAKE" in done.stdout


def test_a_figure_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "dots.py").write_text(FIGURE)
    code = (
        "import elephan as el; run = el.run('sawtooth', set={'duration': '12 s'}); figure = run.figure('drop-dots'); "
        "print(len(figure.axes[0].lines[0].get_xdata())); from elephan.cli import status_of; status_of(words)"
    )
    done = python(code, "elephan.report.figure.declared", tmp_path, "list", "figures")
    assert int(done.stdout.splitlines()[0]) > 100, done.stderr
    assert "drop-dots  " in done.stdout


TABLE = """//! When hosts woke up.

use crate::names::Text;
use crate::table::table;

table! {
    /// A row is a wake-up of a host.
    WakeRow, WakeColumns in "wakes" {
        /// Its time
        time_ns: i64 = "ns",
        /// The host that woke up
        host: Text = "",
    }
}

#[test]
fn a_row_comes_back() {
    let mut recorder = crate::Recorder::memory();
    let host = recorder.intern("early");
    recorder.wakes.push(WakeRow { time_ns: 5, host });
    let tables = recorder.finish().unwrap();
    let wakes = tables.iter().find(|table| table.name == "wakes").unwrap();
    assert_eq!((wakes.rows, wakes.batches[0].num_columns()), (1, 2));
}
"""


def _registered(file: Path, like: str, line: str) -> None:
    """Adds a line to a registry, below the one that begins as `like`."""
    text = file.read_text(encoding="utf-8")
    found = re.search(rf"^( *){like}.*\n", text, re.MULTILINE)
    assert found, f"{file.name} has no line {like}"
    file.write_text(text[: found.end()] + f"{found[1]}{line}\n" + text[found.end() :], encoding="utf-8")


# A kind of traffic, a queue and a congestion control that nobody has heard of, in a run: what others ask of kinds they answer.
MADE_UP = """//! Kinds that only their own files know.

use elephan_cc::Spec;
use elephan_link::queue::{Parameters, QueueSpec, title};
use elephan_record::Recorder;
use elephan_scenario::{Source, read};

const TEXT: &str = r#"
duration = "20 ms"
[hosts.a]
count = 2
[hosts.b]
[switches.s]
memory = "1 MB"
flow_control = { kind = "pfc", priorities = [3], xoff = "60 kB", xon = "40 kB" }
[[links]]
between = ["a", "s"]
rate = "10 Gbps"
delay = "1 us"
[[links]]
between = ["s", "b"]
rate = "10 Gbps"
delay = "1 us"
queue = { kind = "basket", limit = "100 MB" }
[[traffic]]
from = "a"
to = "b"
priority = 3
kind = "drip"
rate = "9 Gbps"
gaps = "exponential"
packet_size = "8972 B"
"#;

#[test]
fn nothing_else_has_to_know_them() {
    let resolved = read(&Source::toml("made up", TEXT), &[], None).unwrap();
    // 8 972 B of payload, 8 of UDP and 20 of IP.
    assert_eq!(resolved.plan.largest_packet(), 9000);
    assert!(resolved.draws().contains(&"traffic[0]".to_owned()));
    let summary = elephan_sim::run(&resolved.plan, &mut Recorder::memory(), &mut |_| true).unwrap();
    assert!(summary["drops_by_reason"].get("memory_full").is_none(), "a lossless priority has lost a frame");
    let steady = Spec::named("steady").unwrap().answers();
    assert_eq!((steady.asks, steady.traits.is_random, steady.traits.minds_loss), (None, Some(false), true));
    let basket: QueueSpec = serde_json::from_str(r#"{ "kind": "basket" }"#).unwrap();
    assert!(basket.answers().is_random && title("basket") == Some("Basket"));
}
"""

OPTION = """    /// Most bytes of the initial window; two segments are always allowed.
    initial_window_limit: Bytes {
        rfc = Bytes(14_600), "RFC 6928 section 2";
        winxp | linux_2_4 | linux | windows | freebsd = Bytes(1 << 30), "assumed: none";
    }
"""

# RFC 6928 section 2: min (10*MSS, max (2*MSS, 14600)).
OPTION_TEST = """
#[test]
fn the_initial_window_has_a_limit() {
    let rfc = [("rfc", 1000, 10_000.0), ("rfc", 2000, 14_600.0), ("rfc", 9000, 18_000.0)];
    for (stack, mss, window) in rfc.into_iter().chain([("linux", 2000, 20_000.0)]) {
        let o = options(stack, &Overrides { mss: Some(Bytes(mss)), timestamps: Some(false), ..plain() });
        let mut net = Net::perfect(&o);
        net.open();
        assert_eq!(net.a.controller().window(), window);
    }
}
"""

# A key of links that the language does not have. The wire keeps `rate`, so what is metered is told after it.
LINK_KEY = """    /// Rate that the ports may use, each way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    metered: Option<Rate>, port Stays => rate
        /// Rate that the port may use.
        #[schemars(with = "Rate")]
        Rate;
"""

LINK_KEY_TEST = """//! A key of links that only its declaration knows.

use elephan_scenario::{Source, read};

const TEXT: &str = r#"
duration = "20 ms"
[hosts.a]
[hosts.b]
count = 2
[switches.s]
[[links]]
between = ["a", "s"]
rate = "10 Gbps"
delay = "1 us"
[[links]]
between = ["s", "b"]
rate = "10 Gbps"
delay = "1 us"
metered = "1 Gbps"
forward = { metered = "2 Gbps" }
ports = { "s->b[1]" = { metered = "3 Gbps" } }
[[traffic]]
from = "a"
to = "b[0]"
kind = "bulk"
"#;

#[test]
fn a_made_up_key_reaches_its_ports() {
    let plan = read(&Source::toml("made up", TEXT), &[], None).unwrap().plan;
    let gbps = |name: &str| plan.links.iter().find(|link| link.name == name).unwrap().rate.0 / 1_000_000_000;
    let ports = ["a->s", "b[0]->s", "b[1]->s", "s->b[0]", "s->b[1]"];
    assert_eq!(ports.map(gbps), [10, 1, 1, 2, 3]);
}
"""


def _copied(copy: Path) -> Path:
    """A copy of the repository as far as the tests need it."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if name.startswith(
            (
                "crates/",
                "schema/",
                "docs/reference/",
                "docs/models/",
                "docs/data",
                "python/elephan/scenario",
                "python/elephan/table",
                "Cargo",
                "rust",
            )
        ):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    return copy


def _cargo(copy: Path, *words: str) -> None:
    done = _ran(copy, *words)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def _ran(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target" / "recipes")}
    return subprocess.run(
        ["cargo", words[0], "--quiet", "--offline", *words[1:]],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=1500,
    )


def _generated(copy: Path) -> str:
    """The reference, written as `make generate` does; what is in the schema stands there too."""
    _cargo(copy, "run", "--package", "elephan-scenario", "--bin", "generate", "--")
    return (copy / "docs/reference/scenario.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs Rust")
def test_a_congestion_control_a_queue_and_a_kind_of_traffic_are_one_file_and_one_line(tmp_path: Path) -> None:
    crates = _copied(tmp_path) / "crates"
    algorithm, queue, traffic = crates / "cc/src/algorithm", crates / "link/src/queue", crates / "traffic/src"
    (algorithm / "steady.rs").write_text((algorithm / "reno.rs").read_text().partition("#[cfg(test)]")[0].replace("Reno", "Steady"))
    _registered(algorithm / "mod.rs", "reno: Reno", 'steady: Steady(steady::Steady) = "Steady: an example",')
    (queue / "basket.rs").write_text((queue / "blue.rs").read_text().partition("#[cfg(test)]")[0].replace("Blue", "Basket"))
    _registered(queue / "mod.rs", '"blue" => blue: Blue', '/// Basket: an example\n    "basket" => basket: Basket(BasketSpec);')
    (traffic / "drip.rs").write_text((traffic / "cbr.rs").read_text().partition("#[cfg(test)]")[0].replace("Cbr", "Drip"))
    _registered(traffic / "lib.rs", "cbr::Cbr", 'drip::Drip, "Drip: an example.";')
    tests = crates / "sim/tests/made_up.rs"
    tests.write_text(MADE_UP)
    _cargo(tmp_path, "test", "--package", "elephan-sim", "--test", "made_up")
    reference = _generated(tmp_path)
    assert '"steady"' in reference
    assert "queue-basket" in reference
    assert '"drip"' in reference
    assert "steady" in json.dumps(json.loads((tmp_path / "schema/elephan.schema.json").read_text(encoding="utf-8")))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs Rust")
def test_a_key_of_links_is_one_declaration(tmp_path: Path) -> None:
    scenario = _copied(tmp_path) / "crates/scenario"
    declared = scenario / "src/written/links.rs"
    head, before, rest = declared.read_text().partition("    /// Propagation delay, each way")
    assert before
    declared.write_text(head + LINK_KEY + before + rest)
    (scenario / "tests/made_up.rs").write_text(LINK_KEY_TEST)
    _cargo(tmp_path, "test", "--package", "elephan-scenario", "--test", "made_up")
    reference = _generated(tmp_path)
    assert reference.count("`metered`") == 2, "of an entry, and of a direction or a port"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs Rust")
def test_a_tcp_option_is_declared_once_and_acts_in_one_place(tmp_path: Path) -> None:
    tcp = _copied(tmp_path) / "crates/tcp"
    stacks = tcp / "src/stacks.rs"
    head, before, rest = stacks.read_text().partition("    /// Slow-start threshold at the start;")
    assert before
    stacks.write_text(head + OPTION + before + rest)
    sender = tcp / "src/sender.rs"
    window = "u64::from(segments) * u64::from(mss)"
    assert sender.read_text().count(window) == 1
    limited = f"({window}).min(options.initial_window_limit.0.max(2 * u64::from(mss)))"
    sender.write_text(sender.read_text().replace(window, limited))
    tests = tcp / "tests/loopback/handshake.rs"
    tests.write_text(tests.read_text() + OPTION_TEST)
    assert "initial_window_limit" in _generated(tmp_path)
    _cargo(tmp_path, "run", "--package", "elephan-tcp", "--example", "stack_table", "--")
    assert "| `initial_window_limit` | `14.6 KB` |" in (tmp_path / "docs/models/stacks.md").read_text(encoding="utf-8")
    _cargo(tmp_path, "test", "--package", "elephan-tcp", "--test", "loopback", "the_initial_window_has_a_limit")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs Rust")
def test_a_table_is_one_file_and_two_lines_of_names(tmp_path: Path) -> None:
    record = _copied(tmp_path) / "crates/record"
    (record / "src/wakes.rs").write_text(TABLE)
    _registered(record / "src/lib.rs", "mod trace;", "mod wakes;")
    _registered(record / "src/lib.rs", "pub use trace::", "pub use wakes::WakeRow;")
    _registered(record / "src/recorder.rs", "use crate::trace::", "use crate::wakes::WakeRow;")
    _registered(record / "src/recorder.rs", "copies: CopyRow,", "wakes: WakeRow,")
    _cargo(tmp_path, "test", "--package", "elephan-record", "--lib", "a_row_comes_back")
    _cargo(tmp_path, "run", "--package", "elephan-record", "--example", "data_dictionary", "--")
    assert "The host that woke up" in (tmp_path / "docs/data-dictionary.md").read_text(encoding="utf-8")
    assert "def wakes(self) -> pa.Table:" in (tmp_path / "python/elephan/table/classes.py").read_text(encoding="utf-8")
