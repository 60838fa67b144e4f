"""Sweeps and studies over a made-up core: pairing, failures, folders."""

from __future__ import annotations

import json
import math
import shutil
import time
from pathlib import Path

import elephan as el
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from elephan.base.errors import ElephanError, InputError
from elephan.cli import status_of
from elephan.experiment.sweep import Sweep
from elephan.experiment.trials import Trial, Variant
from elephan.open import compare, redraw
from elephan.report.figure.sweep_figures import draw_all
from elephan.report.page.sweep_page import answer, power
from elephan.report.words import baseline, wording
from elephan.report.words.swept import Swept
from elephan.result import folder
from matplotlib.axes import Axes

TEXT = 'title = "t"\n[sweep]\n"switches.sw.flow_control.kind" = ["none", "pause"]\nrepetitions = 3\n'
NONE, PAUSE = "switches.sw.flow_control.kind=none", "switches.sw.flow_control.kind=pause"


@pytest.fixture
def swept(fake_core: None) -> Sweep:
    return el.sweep(TEXT, workers=2)


def test_every_variant_has_the_same_seeds(swept: Sweep) -> None:
    assert swept.labels == [NONE, PAUSE]
    assert list(swept.by_seed(NONE, "drops.sum")) == [1, 2, 3]
    assert list(swept.by_seed(PAUSE, "drops.sum")) == [1, 2, 3]
    assert swept.interval(PAUSE, "drops.sum").mean == 0
    assert swept.difference(NONE, PAUSE, "drops.sum").mean > 0
    assert swept.table.num_rows == 6
    assert swept.means.num_rows == 2
    assert "drops.sum_low" in swept.means.column_names


def test_intervals_end_where_their_quantity_does() -> None:
    """0.58, 1 and 1: mean 0.86, standard error 0.14, t(0.975, 2) = 4.30265, so 0.2576 to 1.4624 of a share that ends at 1."""
    each = {"utilisation.max": (0.58, 1.0, 1.0), "drops.sum": (0.0, 0.0, 300.0), "utilisation.sum": (1.0, 2.0, 3.0)}
    rows = [Trial("a", seed, {name: values[seed] for name, values in each.items()}) for seed in range(3)]
    sweep = Sweep("made up", [Variant("a", {})], rows, {})
    share, drops, several = (sweep.interval("a", name) for name in each)
    assert (share.mean, share.low, share.high) == pytest.approx((0.86, 0.86 - 4.30265 * 0.14, 1.0), rel=1e-5)
    assert (drops.mean, drops.low, drops.high) == pytest.approx((100.0, 0.0, 100 * (1 + 4.30265)), rel=1e-5)
    assert several.high == pytest.approx(2 + 4.30265 / 3**0.5, rel=1e-5)  # of several ports together it may be more than 1
    assert sweep.means["utilisation.max_high"][0].as_py() == 1.0


def test_means_know_what_they_are_of(tmp_path: Path) -> None:
    """One run has no spread, of which nothing is known; b has no jain at all."""
    each = {"goodput_bps.sum": 2e6, "latency_ns.p99": 5.0, "loss.max": 0.5}
    rows = [Trial("a", 1, each | {"goodput_bps.jain": 0.9}), Trial("b", 1, each), Trial("b", 2, each)]
    sweep = Sweep("made up", [Variant("a", {}), Variant("b", {})], rows, {})
    pq.write_table(sweep.means, tmp_path / "means.parquet")
    means = pq.read_table(tmp_path / "means.parquet")
    columns = {name: means[name].to_pylist() for name in means.column_names}
    assert (columns["goodput_bps.sum"], columns["goodput_bps.sum_n"]) == ([2e6, 2e6], [1, 2])
    assert (columns["goodput_bps.sum_low"], columns["goodput_bps.sum_high"]) == ([None, 2e6], [None, 2e6])
    assert (columns["goodput_bps.jain"], columns["goodput_bps.jain_n"]) == ([0.9, None], [1, 0])
    assert columns["goodput_bps.jain_low"] == [None, None]
    units = {field.name: (field.metadata or {}).get(b"unit") for field in means.schema}
    assert (units["goodput_bps.sum"], units["goodput_bps.sum_high"], units["latency_ns.p99_low"]) == (b"bit/s", b"bit/s", b"ns")
    assert {units[name] for name in ("variant", "goodput_bps.sum_n", "loss.max", "goodput_bps.jain")} == {None}
    assert means.schema.field("goodput_bps.sum_low").metadata[b"description"] == (
        b"goodput of all flows together: lower end of the 95 % interval"
    )
    assert sweep.table.schema.field("latency_ns.p99").metadata[b"unit"] == b"ns"


def _made_up(*settings: dict[str, object]) -> Sweep:
    return Sweep("made up", [Variant(f"v{i}", parameters) for i, parameters in enumerate(settings)], [], {})


def test_parameters_and_variants_in_words() -> None:
    assert wording.parameter("traffic.n.congestion_control") == "congestion control of n"
    assert wording.parameter("traffic[0].congestion_control") == "congestion control of traffic[0]"
    assert wording.parameter("switches.sw.flow_control.kind") == "flow control of sw"
    assert wording.parameter("template.queue.limit") == "queue limit"
    assert wording.parameter("duration") == "duration"
    controller, other, limit = "traffic.n.congestion_control", "traffic.v.congestion_control", "template.queue.limit"
    one = _made_up(
        {controller: "reno"},
        {controller: {"kind": "cubic", "beta": 0.8}},
        {controller: {"python": "lab:Mine", "params": {"gain": 2}}},
    )
    assert list(wording.variants(one).values()) == ["reno", "cubic beta 0.8", "Mine gain 2"]
    two = _made_up({controller: "reno", limit: "0.25 bdp"}, {controller: "htcp", limit: "100 p"})
    assert list(wording.variants(two).values()) == ["reno, queue limit 0.25 bdp", "htcp, queue limit 100 p"]
    both = _made_up({controller: "reno", other: "htcp"}, {controller: "htcp", other: "reno"})
    assert list(wording.variants(both).values()) == ["n reno, v htcp", "n htcp, v reno"]
    # What has one value only says nothing, unless there is nothing else.
    fixed = _made_up({controller: "reno", other: "htcp", limit: "100 p"}, {controller: "cubic", other: "htcp", limit: "100 p"})
    assert list(wording.variants(fixed).values()) == ["reno", "cubic"]
    assert wording.varied(fixed) == wording.named(fixed) == [controller]
    assert list(wording.variants(_made_up({controller: "reno", limit: "100 p"})).values()) == ["reno, queue limit 100 p"]


def test_the_answer_of_a_sweep_says_whose_parameter_it_is() -> None:
    sweep = _made_up({"traffic.n.congestion_control": "reno"}, {"traffic.n.congestion_control": "htcp"})
    rows = [Trial(f"v{i}", seed, {"goodput_bps[n].sum": 1e6 * (1 + i)}) for i in (0, 1) for seed in (1, 2)]
    sweep = Sweep("made up", sweep.variants, rows, {})
    assert answer(sweep) == [
        "Total goodput of n: from 1 Mb/s with reno to 2 Mb/s with htcp (congestion control of n).",
        "Total goodput of n, htcp less reno with the same seeds: 1 Mb/s.",
    ]


def test_variants_are_compared_with_those_that_differ_in_one_parameter() -> None:
    controller, rate = "traffic.n.congestion_control", "template.rate"
    crossed = _made_up(*({rate: r, controller: c} for r in ("1 Mbps", "1 Gbps") for c in ("reno", "htcp", "bbr")))

    def usual(sweep: Sweep) -> tuple[str, list[int]]:
        found = baseline.usual(Swept(sweep))
        return found.words, found.rows.tolist()

    assert usual(crossed) == ("reno, all else alike", [0, 0, 0, 3, 3, 3])
    numbers = _made_up(*({rate: r, "template.pairs": n} for r in ("1 Mbps", "10 Mbps", "1 Gbps") for n in (1, 16)))
    assert usual(numbers) == ("rate 1 Mbps, all else alike", [0, 1, 0, 1, 0, 1])
    zipped = _made_up({controller: "reno", rate: "1 Mbps"}, {controller: "htcp", rate: "1 Gbps"})
    assert usual(zipped) == ("reno, rate 1 Mbps", [0, 0])


def test_names_stand_in_rows_and_numbers_along_lines() -> None:
    controller, queue, rate = "traffic.n.congestion_control", "template.queue", "template.rate"
    statistic = "goodput_bps.sum"

    def drawn(*settings: dict[str, object]) -> Axes:
        rows = [Trial(f"v{i}", 1, {statistic: 1e6 * 10**i}) for i in range(len(settings))]
        sweep = Sweep("made up", _made_up(*settings).variants, rows, {})
        return draw_all(Swept(sweep), [statistic])[0].figure.axes[0]

    rows = drawn(*({controller: c, queue: {"kind": q}} for c in ("reno", "htcp", "bbr") for q in ("fifo", "codel")))
    # A congestion control gives the colour, so that it has its own.
    assert [label.get_text() for label in rows.get_yticklabels()] == ["fifo", "codel"]
    assert {len(np.atleast_1d(line.get_xdata())) for line in rows.lines if line.get_marker() == "o"} == {0, 1}  # 0: the legend's
    assert rows.get_xscale() == "log"
    along = drawn({rate: "1 Mbps"}, {rate: "10 Mbps"}, {rate: "100 Mbps"})
    assert [len(np.atleast_1d(line.get_xdata())) for line in along.lines] == [3]


def test_unknown_names_are_one_line(swept: Sweep) -> None:
    with pytest.raises(InputError, match="no variant"):
        swept.interval("nonesuch", "drops.sum")
    with pytest.raises(InputError, match="no statistic"):
        swept.interval(NONE, "drop.sum")
    with pytest.raises(InputError, match="no measure"):
        el.sweep(TEXT, statistics=["drop.sum"])


INCAST = """
duration = "20 ms"
[hosts.s]
count = 4
[hosts.c]
[[links]]
between = ["s", "c"]
rate = "10 Gbps"
delay = "1 us"
[[traffic]]
from = "s"
to = "c"
kind = "incast"
size = "64 KB"
every = "5 ms"
[sweep]
"traffic[0].size" = ["16 KB", "64 KB"]
"""


def test_a_statistic_that_no_run_can_have_ends_a_sweep_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: object, **more: object) -> None:
        raise AssertionError("simulated")

    monkeypatch.setattr("elephan.experiment.sweep.run_jobs", never)
    bulk = INCAST.replace('"incast"', '"bulk"').replace('every = "5 ms"\n', "")
    with pytest.raises(InputError, match=r"no run has latency_ns\.p99: no traffic of the scenario has messages"):
        el.sweep(bulk, statistics=["latency_ns.p99"])
    with pytest.raises(InputError, match=r"no run has latency_ns\.p99: it is of messages: set record\.messages"):
        el.sweep(INCAST, statistics=["latency_ns.p99"], set={"record.messages": False})
    for name, why in (("fct_ns.p99", "has an end"), ("rtt_ns.mean", "record.every"), ("copy_bps.sum", "disk-copy")):
        with pytest.raises(InputError, match=rf"no run has {name}: .*{why}"):
            el.sweep(INCAST, statistics=["drops.sum", name])


def test_a_statistic_that_no_run_had_is_said_and_the_others_are_kept(tmp_path: Path) -> None:
    """No flow has a timeout here, which only the runs tell."""
    text = INCAST.replace('"incast"', '"bulk"').replace('every = "5 ms"\n', "")
    scenario, out = tmp_path / "s.toml", tmp_path / "out"
    scenario.write_text(text)
    lost = "fct_ns[with timeouts].mean"
    command = ["sweep", str(scenario), "--statistic", lost, "--out", str(out)]
    assert status_of(command) == 2
    assert not (out / "report.html").exists()
    assert status_of([*command, "--statistic", "fct_ns.mean"]) == 1
    kept = el.load(out)
    assert isinstance(kept, Sweep)
    assert (kept.statistics, kept.missing) == (["fct_ns.mean"], [lost])
    assert f"No run has {lost}." in (out / "report.html").read_text()


def test_a_sweep_is_written_read_drawn_and_compared(swept: Sweep, tmp_path: Path) -> None:
    swept.save(tmp_path / "s")
    again = el.load(tmp_path / "s")
    assert isinstance(again, Sweep)
    assert again.labels == swept.labels
    assert again.values(NONE, "drops.sum") == swept.values(NONE, "drops.sum")
    assert redraw(tmp_path / "s").read_text() == (tmp_path / "s" / "report.html").read_text()
    assert all(d.difference.mean == 0 for d in compare(tmp_path / "s", tmp_path / "s"))
    assert "<table" in swept._repr_html_()


def test_a_comparison_gives_the_intervals_of_the_sweeps_and_says_whose_runs_it_pairs(
    swept: Sweep, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A share of 0.58, 1 and 1 has 0.86 +- 0.60, which ends at 1; the other sweep has only the first two of its seeds."""

    def saved(name: str, shares: tuple[float, ...]) -> Path:
        rows = [Trial("a", seed, {"utilisation.max": share}) for seed, share in enumerate(shares)]
        return Sweep("made up", [Variant("a", {})], rows, swept.facts).save(tmp_path / name)

    a, b = saved("a", (0.58, 1.0, 1.0)), saved("b", (0.58, 1.0))
    [one] = compare(a, b)
    assert (one.a.high, one.a.n, one.b.n, one.difference.n) == (1.0, 3, 2, 2)
    assert (one.difference.low, one.difference.high) == (0.0, 0.0)
    said = "the difference that of the runs whose seed both have"
    assert status_of(["diff", str(a), str(b)]) == 0
    assert said in " ".join(capsys.readouterr().out.split())
    assert status_of(["diff", str(a), str(a)]) == 0
    assert said not in " ".join(capsys.readouterr().out.split())
    for place, cut in ((a, True), (saved("c", (0.5, 0.52, 0.54)), False)):
        assert status_of(["show", str(place)]) == 0
        assert ("Brackets show an interval that ends at a bound" in " ".join(capsys.readouterr().out.split())) == cut


def test_a_comparison_says_which_parameters_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two runs of one file, and a file that has little in common with it."""
    (tmp_path / "s.toml").write_text(INCAST)
    for name, changes in (("a", {}), ("b", {"traffic[0].congestion_control": "reno", "links[0].rate": "1 Gbps"})):
        el.run(tmp_path / "s.toml", set=changes, out=tmp_path / name, report=False)
    el.run("sawtooth", set={"duration": "2 s", "warmup": "1 s"}, out=tmp_path / "c", report=False)

    def lines(*names: str) -> list[str]:
        assert status_of(["diff", *(str(tmp_path / name) for name in names)]) == 0
        return capsys.readouterr().out.splitlines()

    note, head, first, *_ = lines("a", "b")
    assert note == "note: A and B differ in links[0].rate (10 Gbps, 1 Gbps), traffic.incast.congestion_control (cubic, reno)"
    assert head.startswith("statistic")
    assert first.startswith("goodput_bps.sum")
    assert lines("a", "a")[0].startswith("statistic")
    assert lines("a", "c")[0] == "note: results of different scenarios, s (A) and sawtooth (B)"


def test_failures_are_reported_with_their_label(fake_core: None) -> None:
    text = '[sweep]\nfail = ["no", "yes"]\n'
    found = el.sweep(text)
    assert found.failures == ["fail=yes seed 1: conservation: 1 byte lost"]
    with pytest.raises(ElephanError, match="every run failed"):
        el.sweep('[sweep]\nfail = ["yes"]\n')


def test_wrong_input_ends_a_sweep(fake_core: None) -> None:
    with pytest.raises(InputError, match="broken"):
        el.sweep("broken = 1\n", repetitions=2)
    with pytest.raises(InputError, match="no values"):
        el.sweep(TEXT, set={"a": []})
    with pytest.raises(InputError, match="repetitions"):
        el.sweep(TEXT, repetitions=0)
    with pytest.raises(InputError, match=r"^the sweep over a has 0\.01 twice; write each value once$"):
        el.sweep(TEXT, set={"a": [0.01, 0.02, 0.01]})
    with pytest.raises(InputError, match='sweep: two variants are "a=1"; write each value once'):
        el.sweep("[sweep]\na = [1, 1]\n", repetitions=2)
    with pytest.raises(InputError, match=r"^a: \[nan, 1\] is not a text, a finite number"):
        el.sweep(TEXT, set={"a": [math.nan, 1]})


def test_a_sweep_without_any_value_says_so_and_leaves_the_one_before(fake_core: None, tmp_path: Path) -> None:
    asked, where = "fct_ns[with timeouts].mean", tmp_path / "s"
    el.sweep("x = 1\n", repetitions=2, out=where)
    before = {name: (where / name).read_bytes() for name in folder.files(where)}
    assert "report.html" in before
    with pytest.raises(InputError) as caught:
        el.sweep("x = 1\n", repetitions=2, statistics=[asked], out=where)
    assert str(caught.value).endswith(f"no run has a value of {asked} (completion time of each finite flow; with timeouts)")
    assert {name: (where / name).read_bytes() for name in folder.files(where)} == before
    with pytest.raises(InputError):
        el.sweep("x = 1\n", repetitions=2, statistics=[asked], out=tmp_path / "new")
    assert not (tmp_path / "new").exists()
    with pytest.raises(ElephanError, match="there is nothing to report"):
        Sweep("made up", [Variant("a", {})], [], el.load(where).facts).save(where)
    with pytest.raises(InputError, match="there is nothing to report"):
        redraw(where)


def test_a_statistic_of_traffic_that_is_not_there_names_itself_the_file_and_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(INCAST)
    with pytest.raises(InputError) as caught:
        el.sweep(tmp_path / "mine.toml", statistics=["goodput_bps[web].sum"], seed=7, repetitions=1)
    assert str(caught.value).endswith(
        'mine.toml: statistic "goodput_bps[web].sum": "web": the run has no such traffic; it has: incast'
    )


def test_a_run_in_a_folder(fake_core: None, tmp_path: Path) -> None:
    run = el.run("x = 1\n", out=tmp_path / "r", seed=7)
    assert {p.name for p in (tmp_path / "r").iterdir()} >= {
        "manifest.json", "scenario.toml", "summary.json", "report.html", "flows.parquet",
    }  # fmt: skip
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
    assert manifest["format"] == "elephan"
    assert manifest["seed"] == 7
    assert run.flows.equals(el.load(tmp_path / "r").flows)


def test_nothing_is_left_of_a_run_that_fails(fake_core: None, tmp_path: Path) -> None:
    with pytest.raises(ElephanError, match="conservation"):
        el.run("x = 1\n", out=tmp_path / "r", set={"fail": "yes"})
    assert list(tmp_path.iterdir()) == []


def test_a_study_end_to_end(fake_core: None, tmp_path: Path) -> None:
    from elephan.experiment.study import load_study, run_study

    results = run_study("intel-2004", quick=True, out=tmp_path / "study", workers=2)
    verdicts = results.verdicts
    entries = json.loads((tmp_path / "study" / "claims.json").read_text())
    assert [e["id"] for e in entries] == [v.claim.id for v in verdicts]
    assert {f"C000-{i}" for i in range(1, 7)} <= {e["id"] for e in entries}
    assert all(e["verdict"] in ("holds", "fails", "inconclusive", "not run") for e in entries)
    assert len(results.runs("main", "NoFC")) == 5
    assert 'id="figure-throughput"' in (tmp_path / "study" / "report.html").read_text(encoding="utf-8")
    again = load_study(tmp_path / "study").verdicts
    assert [v.verdict for v in again] == [v.verdict for v in verdicts]


def test_seeds_are_checked(fake_core: None) -> None:
    for seed in (-1, 2**63, 1.5, True):
        with pytest.raises(InputError, match="seed"):
            el.run("x = 1\n", seed=seed)


def test_a_sweep_describes_its_first_run_whichever_is_done_first(fake_core: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import fake

    done: set[int] = set()
    whole = fake.run

    def run(text: str, name: str, format: str, overrides: str, seed: int, *rest: object) -> object:
        while seed == 1 and not {2, 3} <= done:  # the first run is the last to finish
            time.sleep(0.001)
        result = whole(text, name, format, overrides, seed, *rest)
        done.add(seed)
        return result

    monkeypatch.setattr(fake, "run", run)
    found = el.sweep("x = 1\n", repetitions=3, workers=3)
    assert "seed = 1\n" in found.facts["scenario"]
    assert found.facts["first"]["seed"] == 1
    assert found.facts["scenario_sha256"] == found.facts["first"]["scenario_sha256"]


def test_the_earliest_run_that_came_through_is_described(fake_core: None) -> None:
    from elephan.experiment.pool import Job, Outcome, Outcomes
    from elephan.scenario.source import Source

    jobs = [Job(Source("x = 1\n", "", "toml", ""), {}, seed, Variant("a")) for seed in (1, 2, 3)]
    done = Outcomes([Outcome(jobs[0], error="broken"), Outcome(jobs[1], {}), Outcome(jobs[2], {})])
    assert done.first()["seed"] == 2
    assert done.failures == ["a seed 1: broken"]
    with pytest.raises(ElephanError, match=r"^every run failed; the first: a seed 1: broken$"):
        Outcomes(done[:1]).checked()


def test_nothing_to_sweep(fake_core: None) -> None:
    for text in ("x = 1\n", "[sweep]\n"):
        with pytest.raises(InputError, match="nothing to sweep"):
            el.sweep(text)
        with pytest.raises(InputError, match="nothing to sweep"):
            el.sweep(text, set={"a": 1}, repetitions=1)
    assert len(el.sweep("x = 1\n", repetitions=2).trials) == 2


def test_arguments_of_the_wrong_kind(fake_core: None) -> None:
    wrong: list[dict[str, object]] = [
        {"repetitions": "x"}, {"repetitions": 1.5}, {"repetitions": True}, {"set": [1]}, {"set": {1: 2}}, {"seed": "x"},
        {"workers": "x"}, {"workers": 0}, {"statistics": "drops.sum"}, {"statistics": 3},
    ]  # fmt: skip
    for named in wrong:
        with pytest.raises(InputError, match=next(iter(named))) as caught:
            el.sweep(TEXT, **named)
        assert "\n" not in str(caught.value)
    for given in ([1], 3, {1: 2}):
        with pytest.raises(InputError, match="set is a dict"):
            el.run("x = 1\n", set=given)


def test_a_target_is_checked_before_the_sweep(fake_core: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elephan.experiment.sweep.run_jobs", lambda *_, **__: pytest.fail("it ran"))
    (tmp_path / "thesis.tex").write_text("years of work")
    for out in (".", "", "/", "..", tmp_path):
        with pytest.raises(InputError):
            el.sweep(TEXT, out=out)


def damaged(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        redraw(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_damaged_run(fake_core: None, tmp_path: Path) -> None:
    where = tmp_path / "r"

    def fresh() -> None:
        shutil.rmtree(where, ignore_errors=True)
        el.run("x = 1\n", out=where, report=False)

    for name in ("flows", "messages", "ports", "flow_samples", "port_samples", "switch_samples", "events"):
        fresh()
        (where / f"{name}.parquet").unlink()
        assert damaged(where) == f"{where / name}.parquet: the table {name} is missing; make the result again"
    fresh()
    (where / "flows.parquet").write_bytes(b"PAR1 not really")
    assert "flows.parquet: damaged: it is not what elephan wrote" in damaged(where)
    fresh()
    pq.write_table(el.load(where).flows.drop_columns(["traffic"]), where / "flows.parquet")
    assert "flows.parquet: damaged: it is not what elephan wrote" in damaged(where)
    for text in ("x = [", "x = 1", 'duration = "ten"', "duration = [1]"):
        fresh()
        (where / "scenario.toml").write_text(text)
        assert f"{where / 'scenario.toml'}: damaged" in damaged(where)
    fresh()
    (where / "scenario.toml").write_bytes(b"\xff\xfe")
    assert f"{where / 'scenario.toml'}: " in damaged(where)
    for name, text in (
        ("summary", "null"),
        ("summary", "[" * 300_000),
        ("manifest", '{"for'),
        ("manifest", "[]"),
        ("manifest", "{}"),
    ):
        fresh()
        (where / f"{name}.json").write_text(text)
        assert f"{where / name}.json: " in damaged(where)
    for name in ("flows", "flow_samples"):
        fresh()
        shutil.copy(where / "ports.parquet", where / f"{name}.parquet")
        assert f"{where / name}.parquet: damaged: it is not what elephan wrote" in damaged(where)
        with pytest.raises(InputError, match="it is not what elephan wrote"):
            getattr(el.load(where), name)
    for kind in ({}, {"kind": "run"}, {"kind": "nonesuch"}):
        fresh()
        (where / "manifest.json").write_text(json.dumps({"format": "elephan", "version": 1, "complete": True, **kind}))
        assert "manifest.json: damaged" in damaged(where)


def test_a_damaged_sweep_or_study(swept: Sweep, tmp_path: Path) -> None:
    where = tmp_path / "s"
    swept.save(where)
    (where / "runs.parquet").unlink()
    assert "the table runs is missing" in damaged(where)
    swept.save(where)
    for text in ("{}", "[]", '{"variants": [1], "facts": {}}'):
        (where / "summary.json").write_text(text)
        assert f"{where / 'summary.json'}: " in damaged(where)
    swept.save(where)
    pq.write_table(pa.table({"flow": [1]}), where / "runs.parquet")
    assert f"{where / 'runs.parquet'}: damaged: it is not what elephan wrote; make the result again" == damaged(where)
    swept.save(where)
    for kind in ("sweep", "study"):
        (where / "manifest.json").write_text(json.dumps({"format": "elephan", "version": 1, "complete": True, "kind": kind}))
        assert "no name" in damaged(where)
        if kind == "study":
            assert compare(where, where)


def _made(low: list[float], high: list[float], statistic: str = "goodput_bps.sum") -> el.Sweep:
    """A sweep of two variants with these values of a statistic."""
    named = {"rate=1": low, "rate=2": high}
    rows = [Trial(label, seed, {statistic: v}) for label, values in named.items() for seed, v in enumerate(values, 1)]
    return el.Sweep("made", [Variant(label, {"rate": label[-1]}) for label in named], rows, {})


def test_what_the_repetitions_can_see_in_words() -> None:
    """Differences with deviation 2 beside 100. R: power.t.test(n = 10, sd = 1, power = 0.8, type = "paired") finds 0.99."""
    spread = [0.5, -0.5, 0.3, -0.3, 0.2, -0.2, 0.1, -0.1, 0.0, 0.0]
    scale = 2 / (sum(s * s for s in spread) / 9) ** 0.5
    sweep = _made([100.0] * 10, [120 + scale * s for s in spread])
    assert power(sweep, "goodput_bps.sum").startswith("10 repetitions can see a difference of 2 % in goodput")
    share = _made([0.5] * 10, [0.6 + scale * s / 100 for s in spread], "utilisation.max")
    assert "a difference of 2 percentage points" in power(share, "utilisation.max")
    assert power(_made([1.0, 1.0], [2.0, 2.0]), "goodput_bps.sum") == ""
    assert power(_made([1.0], [2.0]), "goodput_bps.sum") == ""


def test_a_quantile_over_repetitions() -> None:
    values = _made([float(v) for v in range(1, 11)], [0.0] * 10).values("rate=1", "goodput_bps.sum")
    found = el.stats.quantile_interval(values)
    assert (found.mean, found.low, found.high) == (5, 2, 9)  # tables of the sign test
