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


def _registered(file: Path, like: str, line: str) -> None:
    """Adds a line to a registry, below the one that begins as `like`."""
    text = file.read_text(encoding="utf-8")
    found = re.search(rf"^( *){like}.*\n", text, re.MULTILINE)
    assert found, f"{file.name} has no line {like}"
    file.write_text(text[: found.end()] + f"{found[1]}{line}\n" + text[found.end() :], encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs Rust")
def test_a_congestion_control_a_queue_and_a_kind_of_traffic_are_one_file_and_one_line(tmp_path: Path) -> None:
    """In a copy of the repository; `generate` then writes them into the schema, as `make generate` does."""
    copy = tmp_path / "elephan"
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if name.startswith(("crates/", "schema/", "docs/reference/", "python/elephan/scenario", "Cargo", "rust")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    crates = copy / "crates"
    algorithm, queue, traffic = crates / "cc/src/algorithm", crates / "link/src/queue", crates / "traffic/src"
    (algorithm / "steady.rs").write_text((algorithm / "reno.rs").read_text().partition("#[cfg(test)]")[0].replace("Reno", "Steady"))
    _registered(algorithm / "mod.rs", "reno: Reno", 'steady: Steady(steady::Steady) = "Steady: an example",')
    (queue / "basket.rs").write_text((queue / "blue.rs").read_text().partition("#[cfg(test)]")[0].replace("Blue", "Basket"))
    _registered(queue / "mod.rs", '"blue" => blue: Blue', '/// Basket: an example\n    "basket" => basket: Basket(BasketSpec);')
    (traffic / "drip.rs").write_text((traffic / "cbr.rs").read_text().partition("#[cfg(test)]")[0].replace("Cbr", "Drip"))
    _registered(traffic / "lib.rs", "cbr::Cbr", 'drip::Drip, "Drip: an example.";')
    command = ["cargo", "run", "--quiet", "--offline", "--package", "elephan-scenario", "--bin", "generate", "--"]
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target" / "recipes")}
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False, env=environment, timeout=1500)
    assert done.returncode == 0, done.stderr[-3000:]
    reference = (copy / "docs/reference/scenario.md").read_text(encoding="utf-8")
    assert '"steady"' in reference
    assert "queue-basket" in reference
    assert '"drip"' in reference
    assert "steady" in json.dumps(json.loads((copy / "schema/elephan.schema.json").read_text(encoding="utf-8")))
