"""Tables of single runs that a sweep keeps, samples thinned to a stated error, and the caller's own numbers of each run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
import pyarrow as pa
import pytest
from elephan.base.progress import Bar
from elephan.experiment.each import Each
from elephan.experiment.job import Job, Outcome, Statistics
from elephan.experiment.keep import Keep
from elephan.experiment.store import parts
from elephan.experiment.store.row import Measured
from elephan.experiment.store.store import Store
from elephan.experiment.trials import Variant
from elephan.experiment.watch import Watch
from elephan.scenario.source import open_source
from elephan.table.thin import thinned

SHORT = {"duration": "12 s", "template.rate": ["10 Mbps", "20 Mbps"]}


def _table(**columns: Any) -> pa.Table:
    rows = len(next(iter(columns.values())))
    return pa.table({"time_ns": np.arange(rows) * 10, "flow": [0] * rows, **columns})


def test_a_straight_line_is_told_by_its_ends() -> None:
    assert thinned(_table(x=[0.0, 1.0, 2.0, 3.0]), "flow", 0.01)["x"].to_pylist() == [0.0, 3.0]


def test_a_corner_stays() -> None:
    assert thinned(_table(x=[0.0, 1.0, 2.0, 1.0, 0.0]), "flow", 0.01)["x"].to_pylist() == [0.0, 2.0, 0.0]


def test_a_change_of_text_stays_and_so_does_a_value_that_comes() -> None:
    rows = _table(x=[None, None, 5.0, 5.0, 5.0], phase=["a", "a", "a", "a", "b"])
    assert thinned(rows, "flow", 0.5)["time_ns"].to_pylist() == [0, 10, 20, 30, 40]


@pytest.mark.parametrize("within", [0.002, 0.02, 0.2])
def test_lines_between_rows_that_stay_are_within_the_error(within: float) -> None:
    draw = np.random.default_rng(7)
    walk = {name: np.cumsum(draw.normal(size=2000)) for name in "xyz"}
    whole = _table(**walk)
    few = thinned(whole, "flow", within)
    for name, values in walk.items():
        line = np.interp(whole["time_ns"].to_numpy(), few["time_ns"].to_numpy(), few[name].to_numpy())
        assert np.abs(line - values).max() <= within * np.ptp(values) * (1 + 1e-9)
    assert few.num_rows < 2000 or within < 0.01


def test_flows_are_thinned_apart() -> None:
    both = pa.table({"time_ns": [0, 0, 1, 1, 2, 2], "flow": [0, 1, 0, 1, 0, 1], "x": [0, 0, 1, 9, 2, 0]})
    few = thinned(both, "flow", 0.01)
    assert list(zip(few["flow"].to_pylist(), few["x"].to_pylist(), strict=True)) == [(0, 0), (1, 0), (1, 9), (0, 2), (1, 0)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "write"),
        ("runs within 2 %", "kept whole"),
        ("samples within 200 %", "0 to below 100 %"),
        ("samples within 1.2.3 %", "0 to below 100 %"),
        ("samples within 1", "samples within 2 %"),
        ("samples if", "samples within 2 %"),
        ("run", "samples within 2 %"),
        (3, "write"),
    ],
)
def test_what_cannot_be_kept_is_one_line(text: Any, words: str) -> None:
    with pytest.raises(el.InputError, match=words):
        Keep.read(text)


def test_a_condition_on_what_nothing_sets_names_the_nearest_and_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(el.InputError, match=r"keep.*(rate|seed)"):
        el.sweep("sawtooth", set=SHORT, keep="rat == 10 Mbps", store=tmp_path / "kept")
    assert list(tmp_path.iterdir()) == []


def test_tables_need_a_store() -> None:
    with pytest.raises(el.InputError, match="kept in a store"):
        el.sweep("sawtooth", set=SHORT, keep="runs")


def test_chosen_runs_are_kept_and_read_again(tmp_path: Path) -> None:
    swept = el.sweep("sawtooth", set=SHORT, repetitions=2, keep="samples whole if seed == 1", out=tmp_path / "swept", report=False)
    again = el.load(tmp_path / "swept")
    alone = el.run("sawtooth", set={**SHORT, "template.rate": "20 Mbps"}, seed=1)
    for one in (swept, again):
        rows = one.samples()
        assert set(rows["seed"].to_pylist()) == {1}
        assert rows.filter(pa.compute.equal(rows["variant"], one.labels[1])).drop(["variant", "seed"]).equals(alone.flow_samples)
    with pytest.raises(el.InputError, match="flow_samples"):
        again.samples("flow_sample")
    folders = list((tmp_path / "swept.trials" / "runs").iterdir())
    assert len(folders) == 2
    with pytest.raises(el.InputError, match="events is left out: of this run samples whole are kept"):
        assert el.load(folders[0]).events.num_rows


def test_what_is_kept_already_serves_whoever_asks_for_less(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def swept(keep: str) -> tuple[int, str]:
        done = el.sweep("sawtooth", set=SHORT, keep=keep, out=tmp_path / "swept", report=False, progress=True, why=True)
        assert done.run(done.labels[0], 1).events.num_rows  # kept or simulated again
        return len(list((tmp_path / "swept.trials" / "runs").iterdir())), capsys.readouterr().err

    assert swept("samples")[0] == 2
    assert "2 of 2 trials are kept" in swept("samples within 5 %")[1]
    folders, said = swept("samples within 1 %")
    assert folders == 4
    assert "their tables are wanted" in said
    assert swept("runs")[0] == 6
    assert "2 of 2 trials are kept" in swept("samples whole")[1]
    store = tmp_path / "swept.trials"
    kept = next(path for path in (store / "runs").iterdir() if (path / "events.parquet").exists())
    (kept / "flows.parquet").write_bytes((kept / "ports.parquet").read_bytes())
    assert [line for line in Store.at(store).check() if "flows.parquet" in line and "damaged" in line]


def test_tidying_a_store_keeps_the_whole_run_and_what_is_being_written(tmp_path: Path) -> None:
    store = tmp_path / "kept"
    sweep = f"import elephan as el; el.sweep('sawtooth', set={SHORT!r}, store={str(store)!r}, keep='WHAT')"
    for what in ("samples", "runs"):  # by processes that are dead afterwards
        subprocess.run([sys.executable, "-c", sweep.replace("WHAT", what)], check=True, timeout=60)
    folders = sorted((store / "runs").iterdir())
    assert len(folders) == 4
    mine = store / "runs" / f"{'0' * 32}-{parts.new_writer()}"  # this process has not put its trial into the store yet
    mine.mkdir()
    (store / "runs" / f"{'1' * 32}-{folders[0].name.partition('-')[2]}").mkdir()  # of a trial that is not there
    Store.at(store).collect(other_builds=False)
    left = sorted((store / "runs").iterdir())
    assert mine in left
    assert len(left) == 3
    assert all((path / "events.parquet").exists() for path in left if path != mine)


def test_a_kept_run_is_not_simulated_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swept = el.sweep("sawtooth", set=SHORT, keep="runs", out=tmp_path / "swept", report=False)
    monkeypatch.setattr("elephan.experiment.sweep.run", lambda *_, **__: pytest.fail("simulated"))
    assert el.load(tmp_path / "swept").run(swept.labels[1], 1).flows.num_rows == 1


MINE = """
import elephan as el
from beside import SHARE

def own(run):
    return {"window": SHARE * max(run.flow_samples["cwnd_bytes"].to_pylist()), "negative": -1.0 * run.seed}

def swept(on):
    rates = {"duration": "12 s", "template.rate": ["10 Mbps", "20 Mbps"]}
    return el.sweep("sawtooth", set=rates, repetitions=2, each=own, keep="samples", store=f"of-{on}", on=on)
"""


def test_a_function_reduces_each_run_where_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "beside.py").write_text("SHARE = 2\n")
    mine = __import__("mine")
    try:
        swept = mine.swept("threads")
        low = swept.labels[0]
        window = max(swept.run(low, 1).flow_samples["cwnd_bytes"].to_pylist())
        assert swept.values(low, "each.window") == [2 * window, 2 * window]
        assert swept.values(low, "each.negative") == [-1.0, -2.0]
        assert swept.interval(low, "each.negative").low < -2.0
        swept.save("swept")
        assert el.load("swept").table.equals(swept.table)
        there = mine.swept("dask")
        assert there.table.equals(swept.table)
        assert there.samples("port_samples").equals(swept.samples("port_samples"))
        counted = "select count(distinct key) as runs, max(cwnd_bytes) as most from flow_samples"
        assert el.load("of-dask").sql(counted).to_pylist() == el.load("of-threads").sql(counted).to_pylist()
    finally:
        for name in ("mine", "beside"):
            sys.modules.pop(name, None)


def test_a_changed_function_runs_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def swept(share: float) -> list[float]:
        done = el.sweep(
            "sawtooth", set={"duration": "3 s", "warmup": "1 s"}, repetitions=2, store=tmp_path / "kept", progress=True,
            each=lambda run: {"share": share * run.seed},
        )  # fmt: skip
        return done.values(done.labels[0], "each.share")

    assert swept(1) == [1, 2]
    assert "are kept" not in capsys.readouterr().err
    assert swept(3) == [3, 6]
    assert "are kept" not in capsys.readouterr().err
    assert swept(3) == [3, 6]
    assert "2 of 2 trials are kept" in capsys.readouterr().err


def test_a_function_that_was_typed_in_is_what_its_code_and_its_names_are() -> None:
    def told(text: str) -> str | None:
        place: dict[str, Any] = {"__name__": "nowhere"}
        exec(text, place)
        return Each(place["own"], Statistics()).name(Job(open_source("sawtooth"), {}, 1, Variant("")))

    first = told("SHARE = 2\ndef own(run): return {'x': SHARE}")
    assert first is not None
    assert told("SHARE = 2\n\n\ndef own(run): return {'x': SHARE}  # the same") == first
    others = ["SHARE = 3\ndef own(run): return {'x': SHARE}", "SHARE = 2\ndef own(run): return {'y': SHARE}"]
    others += [f"def two(): return {n}\ndef own(run): return {{'x': two()}}" for n in (1, 2)]
    assert len({first, *map(told, others)}) == 5
    assert told("import threading\nlock = threading.Lock()\ndef own(run): return {'x': lock}") is None


MANY = """
import functools, sys
import elephan as el
import package.inner as inner

SHARE = 1

def name(value):
    def own(run):
        return {"x": value() if callable(value) else value}
    return own

def plain(run):
    return {"x": SHARE}

def by_module(run):
    return {"x": inner.VALUE}

class Held:
    def __init__(self, value):
        self.value = value
    def method(self, run):
        return {"x": self.value}

def wrapped(function, plus):
    @functools.wraps(function)
    def own(run):
        return {"x": function(run)["x"] + plus}
    return own

def swept(each):
    short = {"duration": "200 ms", "warmup": "0 s"}
    return el.sweep("sawtooth", set=short, repetitions=2, each=each, store="kept").values("base", "each.x")[0]

found = [swept(lambda run: {"x": 1}), swept(lambda run: {"x": 2})]
found += [swept(name(3)), swept(name(4)), swept(name(lambda: 5)), swept(name(lambda: 6))]
found += [swept(Held(7).method), swept(Held(8).method), swept(wrapped(plain, 9)), swept(wrapped(plain, 10))]
found.append(swept(plain))
SHARE = 12
found.append(swept(plain))
found.append(swept(by_module))
inner.VALUE = 14
found.append(swept(by_module))
print(*found)
"""


def test_what_a_function_uses_decides_whether_it_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(MANY)
    (tmp_path / "package").mkdir()
    for value in (13, 99):
        (tmp_path / "package" / "inner.py").write_text(f"VALUE = {value}\n")
        done = subprocess.run([sys.executable, "many.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert [float(word) for word in done.stdout.split()] == [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 1, 12, value, 14], done.stderr


def test_thinned_samples_give_no_statistic(tmp_path: Path) -> None:
    el.sweep("sawtooth", set=SHORT, keep="samples", store=tmp_path / "kept")
    kept = el.load(next((tmp_path / "kept" / "runs").iterdir()))
    with pytest.raises(el.InputError, match="its samples are thinned; the store has the statistics"):
        kept.statistic("cwnd_bytes.mean")


def test_a_damaged_run_is_tidied_away_and_runs_again(tmp_path: Path) -> None:
    el.sweep("sawtooth", set=SHORT, keep="runs", store=tmp_path / "kept")
    broken = next((tmp_path / "kept" / "runs").iterdir())
    (broken / "flow_samples.parquet").write_text("x")
    store = Store.at(tmp_path / "kept")
    assert len(store.check()) == 1
    assert "and 1 folders of runs" in store.collect(other_builds=False)
    el.sweep("sawtooth", set=SHORT, keep="runs", store=tmp_path / "kept")
    assert Store.at(tmp_path / "kept").check() == []
    assert len(list((tmp_path / "kept" / "runs").iterdir())) == 2


@pytest.mark.parametrize("sql", ["copy trials to 'w.csv'", "select 1; select 2", "attach 'x.db' as x", "drop view trials", ""])
def test_a_question_writes_nothing(tmp_path: Path, sql: str) -> None:
    el.sweep("sawtooth", set=SHORT, store=tmp_path / "kept")
    with pytest.raises(el.InputError, match="a question is one SELECT"):
        el.query(sql, tmp_path / "kept")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (3, "each is a function"),
        (lambda run: 3, "returns numbers by name"),
        (lambda run: {"x": "3"}, "'x' is '3'"),
        (lambda run: {"x": 10**400}, "more than a float holds"),
        (lambda run: sys.exit(3), "SystemExit: 3"),
        (lambda run: {"x": 1 / 0}, r"ZeroDivisionError: division by zero \(test_keep.py:\d+\)"),
        (eval("lambda run: {'x': 1 / 0}"), r"ZeroDivisionError: division by zero \(line 1, in <lambda>\)"),
    ],
)
def test_a_function_that_fails_is_one_line(function: Any, words: str) -> None:
    with pytest.raises(el.InputError, match=words):
        el.sweep("sawtooth", set=SHORT, each=function)


def test_a_truth_of_numpy_is_a_number() -> None:
    done = el.sweep("sawtooth", set=SHORT, each=lambda run: {"many": np.float64(3) > 2, "none": run.flows.num_rows == 0})
    assert (done.values(done.labels[0], "each.many"), done.values(done.labels[0], "each.none")) == ([1.0], [0.0])


class _Told(Bar):
    def __init__(self) -> None:
        super().__init__("", 1.0, False)
        self.words = ""

    def set(self, done: float, label: str | None = None) -> None:
        self.words = label or self.words


def test_the_line_tells_counts_speed_and_the_first_statistic() -> None:
    bar, source = _Told(), open_source("sawtooth")
    watch = Watch("sawtooth", bar, 12, 40, True)
    for seed, value in ((1, 9.0e6), (2, 9.2e6), (3, 9.4e6)):
        job = Job(source, {}, seed, Variant("rate=10 Mbps"))
        watch.add(Outcome(job, Measured({"goodput_bps.sum": value}), simulated_s=60.0))
    watch.add(Outcome(Job(source, {}, 4, Variant("rate=10 Mbps")), error="out of memory"))
    watch.tick(0.5, 2)
    begin, _, end = bar.words.partition("failed, ")
    assert begin == "sawtooth 16/40, 12 kept, 2 running, 1 "
    # Half of the 95 % interval of three values 0.2 apart: 4.3027 * 0.2 / sqrt(3) = 0.497.
    assert end.endswith("simulated s a second, goodput_bps.sum of rate=10 Mbps 9.2 Mb/s (8.703 Mb/s to 9.697 Mb/s)")
