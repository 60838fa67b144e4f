"""Kept trials: the same command continues, whatever ended the one before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import elephan as el
import pyarrow.dataset as ds
import pytest
from elephan.base.errors import InputError
from elephan.experiment.place import slurm
from elephan.experiment.store import parts, tails
from elephan.experiment.store.identity import Identities, Identity, digest, engine
from elephan.experiment.store.row import Kept, Measured, from_record
from elephan.experiment.store.store import Store
from elephan.experiment.trials import Variant
from elephan.scenario.source import open_source
from waiting import end, until

SHORT = {"duration": "2 s", "warmup": "500 ms"}
DELAYS = {**SHORT, "template.delay": ["5 ms", "20 ms"]}


def _row(seed: int, **more: float) -> Kept:
    identity = Identity(digest("scenario"), seed, "", digest("engine"), "usual")
    variant = Variant("delay=5 ms", {"template.delay": "5 ms", "pairs": 2, "queue": "fifo"})
    return Kept(identity, "made up", variant, Measured({"goodput_bps.sum": 1e6 * seed, **more}), flows=2)


def test_a_row_is_read_as_it_was_written() -> None:
    import numpy as np

    series = {"time_s": np.array([0.0, 1.0, np.inf]), "file": np.array([True, False])}
    measured = Measured({"b": 1.5, "a": float("inf")}, series, {"note": "x"})
    row = Kept(_row(3).identity, "e", Variant("v", {"n": 3, "share": 0.5, "t": "5 ms", "on": True}), measured, flows=1)
    again = from_record(json.loads(json.dumps(row.record, default=tails.as_text), object_hook=tails.from_text))
    assert (again.identity, again.experiment, again.flows) == (row.identity, "e", 1)
    assert again.variant.parameters == {"n": 3, "share": 0.5, "t": "5 ms", "on": True}
    assert again.measured is not None
    assert list(again.measured.values.items()) == [("b", 1.5), ("a", float("inf"))]
    assert {name: list(values) for name, values in again.measured.series.items()} == {
        name: list(values) for name, values in series.items()
    }
    assert again.measured.about == {"note": "x"}


def test_rows_are_there_before_they_are_in_a_part(tmp_path: Path) -> None:
    store = Store.to(tmp_path / "s")
    store.put(_row(1), {})
    assert [row.identity.seed for row in Store.at(tmp_path / "s").rows()] == [1]
    store.flush()
    store.put(_row(2, more=1.0), {})
    store.close()
    assert list((tmp_path / "s" / "tails").iterdir()) == []
    assert len(list((tmp_path / "s" / "parts").iterdir())) == 1
    found = ds.dataset(tmp_path / "s" / "parts").to_table()
    assert found["stat.goodput_bps.sum"].to_pylist() == [1e6, 2e6]
    assert found["stat.more"].to_pylist() == [None, 1.0]
    assert dict(found["parameters"][0].as_py())["template.delay"] == {"text": "5 ms", "number": 0.005, "unit": "s"}


@pytest.mark.parametrize("cut", [2, 20, 200])
def test_a_torn_line_is_left_out(tmp_path: Path, cut: int) -> None:
    store = Store.to(tmp_path / "s")
    for seed in (1, 2):
        store.put(_row(seed), {})
    (tail,) = (tmp_path / "s" / "tails").iterdir()
    tail.write_bytes(tail.read_bytes()[:-cut])
    assert [row.identity.seed for row in Store.at(tmp_path / "s").rows()] == [1]


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_a_damaged_part_is_named_and_set_aside(tmp_path: Path, place: float) -> None:
    with Store.to(tmp_path / "s") as store:
        store.put(_row(1), {})
    (part,) = (tmp_path / "s" / "parts").iterdir()
    data = bytearray(part.read_bytes())
    data[int(place * len(data))] ^= 1
    part.write_bytes(data)
    (tmp_path / "s" / "parts" / "mine.parquet").write_bytes(b"x")
    store = Store.at(tmp_path / "s")
    assert store.rows() == []
    assert len(store.notes) == 2
    notes = "\n".join(store.notes)
    assert f"{part}: its content is not what was written" in notes
    assert "mine.parquet: not written by elephan" in notes
    assert {one.name for one in (tmp_path / "s" / "aside").iterdir()} == {part.name, "mine.parquet"}


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such store of trials"):
        Store.at(tmp_path / "none")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thesis.txt").write_text("x")
    with pytest.raises(InputError, match=r"not a store of trials \(no store.json\)"):
        Store.to(tmp_path / "own")
    Store.to(tmp_path / "s").close()
    (tmp_path / "s" / "store.json").write_text('{"format": "elephan-store", "version": 99}')
    with pytest.raises(InputError, match="a store of version 99, this is 1"):
        Store.to(tmp_path / "s")


def test_two_different_trials_with_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Identity, "key", property(lambda self: "0" * 32))
    with Store.to(tmp_path / "s") as store:
        store.put(_row(1), {})
        with pytest.raises(el.ElephanError, match="two different trials have the key 000"):
            store.kept([_row(2).identity])


def test_what_identifies_a_trial() -> None:
    base, named = open_source("sawtooth"), Identities("usual")
    one = named.of(base, SHORT, 1)
    assert one == named.of(base, dict(SHORT), 1)
    assert one == named.of(open_source(base.text.replace("# ", "# a comment: ", 1)), SHORT, 1)
    assert one == named.of(open_source(base.text), {**SHORT, "title": "another"}, 1)
    others = [named.of(base, SHORT, 2), named.of(base, {**SHORT, "template.delay": "6 ms"}, 1), Identities("x").of(base, SHORT, 1)]
    assert len({other.key for other in (one, *others) if other is not None}) == 4


def test_a_guest_counts_with_its_source_and_what_it_imports(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(open_source("sawtooth").text)

    def key(body: str, share: float) -> str:
        (tmp_path / "share.py").write_text(f"SHARE = {share}\n")
        lines = ["import elephan, share", "class Mine(elephan.CongestionControl):", f"    def on_ack(self, ack): {body}"]
        (tmp_path / "mine.py").write_text("\n".join(lines))
        set_in = {**SHORT, "traffic.reno.congestion_control": {"python": f"{tmp_path}/mine.py:Mine"}}
        found = Identities("usual").of(open_source(tmp_path / "a.toml").with_trust(None, set_in), set_in, 1)
        assert found is not None
        return found.key

    assert key("self.cwnd += 1", 1) == key("self.cwnd += 1", 1)
    assert len({key("self.cwnd += 1", 1), key("self.cwnd += 2", 1), key("self.cwnd += 1", 2)}) == 3


def test_the_same_sweep_runs_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "r"
    first = el.sweep("sawtooth", set=DELAYS, repetitions=3, out=out)
    more = el.sweep("sawtooth", set=DELAYS, repetitions=5, out=out)
    assert more.table.filter(ds.field("seed") <= 3).equals(first.table)
    fresh = el.sweep("sawtooth", set=DELAYS, repetitions=5)
    assert more.table.equals(fresh.table, check_metadata=True)
    monkeypatch.setattr("elephan.experiment.place.threads.run_one", lambda *_: pytest.fail("it ran"))
    assert el.sweep("sawtooth", set=DELAYS, repetitions=5, out=out).table.equals(fresh.table)
    assert el.sweep("sawtooth", set=DELAYS, repetitions=2, store=tmp_path / "r.trials").table.num_rows == 4
    monkeypatch.undo()
    attempts = ds.dataset(tmp_path / "r.trials" / "attempts").to_table()
    assert attempts.num_rows == 10
    el.sweep("sawtooth", set=DELAYS, repetitions=2, out=out, again=True)
    assert ds.dataset(tmp_path / "r.trials" / "attempts").to_table().num_rows == 14
    assert ds.dataset(tmp_path / "r.trials" / "parts").to_table().num_rows == 10


def test_comparisons_and_paths_go_on_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = {"quick": True, "repetitions": 1, "rate": "2 Mbps", "store": tmp_path / "s"}
    panel, answer = el.compare(["reno"], **named), el.path("10 Mbps", "20 ms", size="1 MB", streams=2, store=tmp_path / "s")
    monkeypatch.setattr("elephan.experiment.place.threads.run_one", lambda *_: pytest.fail("it ran"))
    again = el.compare(["reno"], **named)
    assert again.table.equals(panel.table)
    assert again.series_table.equals(panel.series_table)
    assert el.path("10 Mbps", "20 ms", size="1 MB", streams=2, store=tmp_path / "s").as_dict() == answer.as_dict()


KILLED = """
import elephan as el, sys
el.sweep("sawtooth", set={"duration": "20 s", "warmup": "5 s", "template.delay": ["5 ms", "20 ms", "40 ms"]},
         repetitions=40, workers=2, out=sys.argv[1], store=sys.argv[2])
"""


def test_no_thread_of_arrow_holds_what_python_has_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would need the interpreter to let go of it; if that has ended meanwhile, it aborts the process."""
    with Store.to(tmp_path / "s") as store:
        for seed in range(200):
            store.put(_row(seed), {})
    (part,) = (tmp_path / "s" / "parts").iterdir()
    content, holders = part.open("rb").read(), set()
    monkeypatch.setattr(Path, "read_bytes", lambda _: content)
    before = sys.getrefcount(content)
    for _ in range(30):
        parts.read_part(part)
        holders.add(sys.getrefcount(content) - before)
    assert holders == {0}


def _cli(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`elephan sweep` where no program is found, so that nothing is submitted to a cluster that is here."""
    command = [sys.executable, "-m", "elephan", "sweep", "sawtooth", "-s", "template.delay=5ms,20ms", "-s", "duration=3s"]
    environment = {**os.environ, "PATH": str(place)}
    return subprocess.run([*command, "-s", "warmup=1s", *words], cwd=place, capture_output=True, text=True, env=environment)


def test_shards_and_the_result_of_what_is_kept(tmp_path: Path) -> None:
    first = _cli(tmp_path, "-n", "4", "--shard", "0/2")
    assert (first.returncode, first.stdout) == (0, "")
    done = len(Store.at(tmp_path / "results" / "sawtooth-sweep.trials").rows())
    assert first.stderr == f"elephan: shard 0/2: {done} of 8 trials run, kept in results/sawtooth-sweep.trials\n"
    part = _cli(tmp_path, "-n", "4", "--on", "kept", "--out", "part", "--store", "results/sawtooth-sweep.trials")
    assert part.returncode == 0
    assert f"Incomplete: {done} of 8 runs are done. The same command goes on." in " ".join(part.stdout.split())
    assert f"{done} of 8 runs" in (tmp_path / "part" / "report.html").read_text()
    assert _cli(tmp_path, "-n", "4", "--shard", "1/2").returncode == 0
    whole = _cli(tmp_path, "-n", "4", "--on", "kept", "--out", "whole", "--store", "results/sawtooth-sweep.trials")
    assert whole.returncode == 0
    assert "Incomplete" not in whole.stdout
    loaded = el.load(tmp_path / "whole")
    assert isinstance(loaded, el.Sweep)
    texts = {"template.delay": ["5ms", "20ms"], "duration": "3s", "warmup": "1s"}
    assert loaded.table.equals(el.sweep("sawtooth", set=texts, repetitions=4).table)


def test_where_a_command_runs_does_not_change_its_folder(tmp_path: Path) -> None:
    for words in (
        ("--workers", "1"),
        ("--why", "--again"),
        ("--store=s", "--no-report"),
        ("--on", "kept", "--store", "s", "--again"),
    ):
        assert _cli(tmp_path, "-n", "2", *words).returncode == 0
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["sawtooth-sweep", "sawtooth-sweep.trials"]
    assert _cli(tmp_path, "-n", "3", "--no-report").returncode == 0
    assert len(list((tmp_path / "results").iterdir())) == 3


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--shard", "2/2"), "shard 2/2: write i/n with i from 0 to n - 1, such as 0/8"),
        (("--shard", "0/2", "--on", "dask"), "--shard runs a share of the trials here; it goes without --on"),
        (("--on", "kept"), "results/sawtooth-sweep.trials: no such store of trials"),
        (("--on", "moon"), 'on: "moon" is no place; there are threads, processes, dask, tcp://HOST:8786, slurm'),
        (("--slurm", "time=1"), "--slurm and --wait go with --on slurm"),
        (("--on", "slurm", "-s", "duration=5parsecs"), "duration"),
        (("--on", "slurm", "--statistic", "goodputs"), "goodputs"),
        (("--on", "slurm", "--slurm", "Time=1"), "--slurm Time=1: write KEY=VALUE or KEY, as the long options of sbatch are"),
        (("--on", "slurm", "--slurm", "time="), "--slurm time=: write KEY=VALUE or KEY"),
        (("--on", "slurm", "--slurm", "time=1\nrm x"), "--slurm time=1\\nrm x: write KEY=VALUE or KEY"),
        (("--on", "slurm", "--slurm", "wrap=rm"), "--slurm wrap=rm: wrap is set by elephan: elephan writes the script"),
        (
            ("--on", "slurm", "--slurm", "output=x"),
            "--slurm output=x: output is set by elephan: elephan reads what the report prints",
        ),
        (("--on", "slurm", "--slurm", "array=1,3"), "--slurm array=1,3: write array=%10 for at most 10 elements at a time"),
        (("--on", "slurm", "--slurm", "array=%0"), "--slurm array=%0: write array=%10"),
        (("--store", "/proc/none"), "cannot write the store /proc/none"),
    ],
)
def test_bad_places_are_one_line(tmp_path: Path, words: tuple[str, ...], line: str) -> None:
    done = _cli(tmp_path, *words)
    assert done.returncode in (1, 2)
    assert line in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_scripts_for_slurm(tmp_path: Path) -> None:
    done = _cli(tmp_path, "-n", "4", "--on", "slurm", "--slurm", "time=10:00", "--slurm", "partition=short", "--elements", "3")
    folder = tmp_path / "results" / "sawtooth-sweep.trials" / "slurm"
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "8 of 8 trials are to run; no sbatch here, so where there is one:",
        f"sbatch --array=0-2 {folder}/array.sh 0",
        f"sbatch --dependency=singleton {folder}/report.sh",
    ]
    array, report = ((folder / name).read_text() for name in ("array.sh", "report.sh"))
    assert "#SBATCH --array=0-2\n" in array
    assert "#SBATCH --partition=short\n" in array
    assert "#SBATCH --time=10:00\n" in report
    for number in range(3):
        environment = {**os.environ, "SLURM_ARRAY_TASK_ID": str(number), "SLURM_CPUS_PER_TASK": "1"}
        subprocess.run(["bash", folder / "array.sh"], env=environment, check=True, capture_output=True)
    subprocess.run(["bash", folder / "report.sh"], check=True, capture_output=True)
    loaded = el.load(tmp_path / "results" / "sawtooth-sweep")
    assert isinstance(loaded, el.Sweep)
    assert loaded.table.num_rows == 8


@pytest.mark.parametrize(
    ("option", "line"),
    [
        ("gres=gpu:2", "--gres=gpu:2"),
        ("--requeue", "--requeue"),
        ("exclusive", "--exclusive"),
        ("constraint=[a|b]&!c", "--constraint=[a|b]&!c"),
        ("comment=it is #1", '--comment="it is #1"'),
        ('comment=a "b" \\', '--comment="a \\"b\\" \\\\"'),
    ],
)
def test_any_option_of_sbatch_passes_through(tmp_path: Path, option: str, line: str) -> None:
    array = slurm.write(["sweep", "sawtooth"], tmp_path / "s", slurm.check([option]), 3)
    for script in (array.elements, array.report):
        assert f"#SBATCH {line}\n" in script.read_text()


@pytest.mark.parametrize(
    ("option", "trials", "expected"),
    [
        ("array=%2", 8, "--array=0-7%2"),
        ("array=0-3%2", 8, "--array=0-3%2"),
        ("array=0-5", 8, "--array=0-5"),
        ("array=0-99%10", 8, "--array=0-7%10"),
    ],
)
def test_the_throttle_of_an_array(tmp_path: Path, option: str, trials: int, expected: str) -> None:
    done = _cli(tmp_path, "-n", str(trials // 2), "--on", "slurm", "--slurm", option)
    folder = tmp_path / "results" / "sawtooth-sweep.trials" / "slurm"
    assert (done.returncode, done.stdout.splitlines()[1]) == (0, f"sbatch {expected} {folder}/array.sh 0")
    assert f"#SBATCH {expected}\n" in (folder / "array.sh").read_text()
    assert "--array" not in (folder / "report.sh").read_text()


SCONTROL = """#!{python} -S
import pathlib, sys
states = pathlib.Path({states!r})
first, *rest = states.read_text().split()
states.write_text(" ".join(rest or [first]))
state, _, requeue = first.partition(":")
if state == "GONE":
    print("slurm_load_jobs error: Invalid job id specified", file=sys.stderr)
    sys.exit(1)
print(f"JobId=7 JobName=elephan JobState={{state}} Requeue={{requeue or 1}} Restarts=0 ExitCode=0:0")
"""


@pytest.mark.parametrize(
    ("states", "ends"),
    [
        ("PENDING RUNNING PREEMPTED PREEMPTED COMPLETING PENDING RUNNING COMPLETED", ""),
        ("RUNNING REQUEUED PENDING SUSPENDED STOPPED RUNNING COMPLETED", ""),
        ("RUNNING NODE_FAIL RESIZING REQUEUE_FED A_STATE_OF_TOMORROW RUNNING COMPLETED", ""),
        ("RUNNING BOOT_FAIL REQUEUE_HOLD SPECIAL_EXIT PENDING RUNNING GONE", ""),
        ("RUNNING PREEMPTED:0", "PREEMPTED"),
        ("RUNNING TIMEOUT", "TIMEOUT"),
        ("RUNNING OUT_OF_MEMORY", "OUT_OF_MEMORY"),
        ("CANCELLED", "CANCELLED"),
    ],
)
def test_what_a_report_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, states: str, ends: str) -> None:
    (tmp_path / "states").write_text(states)
    (tmp_path / "scontrol").write_text(SCONTROL.format(python=sys.executable, states=str(tmp_path / "states")))
    (tmp_path / "scontrol").chmod(0o755)
    (tmp_path / "report-7.out").write_text("the report\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(slurm, "LOOK_S", (0.01, 0.01))
    submitted = slurm.Submitted(("6",), "7", tmp_path / "report-7.out")
    if ends:
        with pytest.raises(el.ElephanError, match=f"^the report, job 7, ended as {ends}; the same command goes on"):
            submitted.wait()
    else:
        assert submitted.wait() == ("the report\n", 0)


def test_a_report_that_nobody_requeues_is_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 60))
    monkeypatch.setattr(slurm, "LOOK_S", (0.0, 0.0))
    monkeypatch.setattr("elephan.experiment.place.slurm.time.monotonic", lambda: next(clock))
    monkeypatch.setattr(slurm, "_said", lambda words: subprocess.CompletedProcess(words, 0, "JobState=PREEMPTED Requeue=1", ""))
    with pytest.raises(el.ElephanError, match="ended as PREEMPTED"):
        slurm.Submitted(("6",), "7", tmp_path / "none").wait()


@pytest.mark.parametrize(("options", "drawn"), [((), True), (("--no-report",), False), (("--live", "--no-open"), False)])
def test_ctrl_c_writes_what_is_done(tmp_path: Path, options: tuple[str, ...], drawn: bool) -> None:
    command = [sys.executable, "-m", "elephan", "sweep", "sawtooth", "-s", "template.delay=5ms,20ms,40ms", "-n", "200"]
    command += ["--out", "r", *options]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    tails = tmp_path / "r.trials" / "tails"
    until(lambda: tails.is_dir() and any(tails.iterdir()), "a trial that is kept")
    _, said, _ = end(process)
    assert process.returncode == 130
    assert "interrupted" in said
    loaded = el.load(tmp_path / "r")
    assert isinstance(loaded, el.Sweep)
    assert 0 < loaded.table.num_rows < 600
    assert (tmp_path / "r" / "report.html").exists() == drawn
    assert ("elephan report r draws its report" in said) != drawn
    assert loaded.facts["incomplete"] == f"{loaded.table.num_rows} of 600 runs are done"


def test_questions_to_many_experiments(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    one = el.sweep("sawtooth", set=DELAYS, repetitions=2, store=tmp_path / "results" / "a.trials")
    el.compare(["reno"], quick=True, repetitions=1, rate="2 Mbps", store=tmp_path / "results" / "b.trials")
    sql = (
        'select "template.delay", avg("goodput_bps.sum") as mean from trials where experiment = \'sawtooth\' group by 1 order by 1'
    )
    found = el.query(sql, tmp_path / "results").to_pylist()
    assert [row["template.delay"] for row in found] == [0.005, 0.02]
    means = [one.interval(label, "goodput_bps.sum").mean for label in one.labels]
    assert [row["mean"] for row in found] == pytest.approx(means)
    assert el.query("select count(distinct store) as n from trials", tmp_path).to_pylist() == [{"n": 2}]
    for sql, line in (
        ("select nothing from trials", "Binder Error"),
        ("selct 1", "Parser Error"),
        ("", "a question is one SELECT"),
    ):
        with pytest.raises(InputError, match=line):
            el.query(sql, tmp_path)
    with pytest.raises(InputError, match="no store of trials is there or below"):
        el.query("select 1", tmp_path / "nothing")


def test_the_commands_for_stores(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from elephan.cli import status_of

    where = tmp_path / "s"
    el.sweep("sawtooth", set=DELAYS, repetitions=2, store=where)

    def said(*words: str, status: int = 0) -> str:
        assert status_of(words) == status
        return capfd.readouterr().out

    assert "4 trials" in said("store", "list", str(tmp_path))
    assert json.loads(said("store", "show", str(where), "--json"))["experiments"]["sawtooth"]["variants"] == 2
    assert "sawtooth" in said("store", "show", str(where))
    assert said("store", "check", str(where)) == f"{where}: whole\n"
    assert '"n": 4' in said("query", "select count(*) as n from trials", "--store", str(where), "--json")
    (part,) = (where / "parts").iterdir()
    data = part.read_bytes()
    part.write_bytes(data[:-1])
    assert "its content is not what was written" in said("store", "check", str(where), status=1)
    part.write_bytes(data)
    with Store.to(where) as store:
        store.put(_row(1), {"wall_s": 1.0})
    assert "4 trials stay, 1 of other builds are removed" in said("store", "gc", str(where), "--other-builds")
    assert len(Store.at(where).rows()) == 4


def test_a_run_of_a_sweep_is_simulated_again(tmp_path: Path) -> None:
    done = el.sweep("sawtooth", set=DELAYS, repetitions=2, out=tmp_path / "r")
    loaded = el.load(tmp_path / "r")
    for sweep in (done, loaded):
        label = sweep.labels[1]
        again = sweep.run(label, 2)
        assert again.statistic("goodput_bps.sum") == done.by_seed(label, "goodput_bps.sum")[2]
        assert again.resolved == el.run("sawtooth", set={**SHORT, "template.delay": "20 ms"}, seed=2).resolved
        with pytest.raises(InputError, match="has the seed 9; there are 1, 2"):
            sweep.run(label, 9)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to mount a small disk")
def test_a_disk_that_fills_up_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        named = {"set": {**DELAYS, "template.rate": [f"{rate} Mbps" for rate in range(2, 22)]}, "store": disk / "s"}
        with pytest.raises(el.ElephanError, match=r"cannot write the store .*: No space left on device; what it has stays"):
            el.sweep("sawtooth", repetitions=5, **named)
        kept = len(Store.at(disk / "s").rows())
        assert 0 < kept < 200
        subprocess.run(["mount", "-o", "remount,size=20m", disk], check=True)
        after = el.sweep("sawtooth", repetitions=5, **named)
        assert after.table.equals(el.sweep("sawtooth", set=named["set"], repetitions=5).table)
        assert Store.at(disk / "s").check() == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_two_drivers_on_one_store(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED]
    both = [subprocess.Popen([*command, str(tmp_path / name), str(tmp_path / "s")]) for name in ("a", "b")]
    assert [process.wait(120) for process in both] == [0, 0]
    one, other = el.load(tmp_path / "a"), el.load(tmp_path / "b")
    assert one.table.equals(other.table, check_metadata=True)
    assert len(Store.at(tmp_path / "s").rows()) == 120
    assert Store.at(tmp_path / "s").check() == []


def test_a_power_cut_loses_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `fsync` was asked for is on the disk, and nothing else: rows that are older than a second are among it."""
    from elephan.experiment import pool
    from elephan.experiment.job import Job, Outcome, Statistics

    clock = [0.0]
    monkeypatch.setattr("elephan.experiment.store.store.time.monotonic", lambda: clock[0])
    sizes: dict[int, int] = {}
    names: dict[Path, set[str]] = {}
    real = os.fsync

    def fsync(handle: int) -> None:
        real(handle)
        path = Path(os.readlink(f"/proc/self/fd/{handle}"))
        if path.is_dir():
            names[path] = set(os.listdir(path))
        else:
            sizes[os.fstat(handle).st_ino] = os.fstat(handle).st_size

    monkeypatch.setattr(os, "fsync", fsync)

    class PowerCut(Exception):
        pass

    class Slow:
        """Five runs end within a second, and no other one for a long time."""

        name, workers, under_way = "slow", 1, 0.0

        def submit(self, work: dict[int, Job], measure: object) -> Iterator[tuple[int, Outcome] | None]:
            for number, job in list(work.items())[:5]:
                clock[0] += 0.1
                yield number, Outcome(job, Measured({"goodput_bps.sum": 1.0}))
            clock[0] += 1.5
            yield None
            on_disk = tmp_path / "after"
            for path in (path for path in (tmp_path / "s").rglob("*") if path.is_file()):
                if path.name in names.get(path.parent, ()):
                    copy = on_disk / path.relative_to(tmp_path / "s")
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_bytes(path.read_bytes()[: sizes.get(path.stat().st_ino, 0)])
            raise PowerCut

    monkeypatch.setattr(pool.How, "place", lambda _: Slow())
    source = open_source("sawtooth")
    jobs = [Job(source, SHORT, seed, Variant("v")) for seed in range(1, 11)]
    with pytest.raises(PowerCut):
        pool.run_jobs(jobs, Statistics(("goodput_bps.sum",)), pool.How(store=tmp_path / "s", name="e"))
    for name in parts.FOLDERS:
        (tmp_path / "after" / name).mkdir(exist_ok=True)
    assert [row.identity.seed for row in Store.at(tmp_path / "after").rows()] == [1, 2, 3, 4, 5]


def test_a_part_that_comes_while_others_are_removed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`store gc --other-builds` reads what is there; a driver writes a part before the old ones are removed."""
    with Store.to(tmp_path / "s") as store:
        store.put(_row(1), {})
    rows, driver = Store.rows, Store.to(tmp_path / "s")

    def and_then(store: Store) -> list[Kept]:
        found = rows(store)
        driver.put(replace(_row(2), identity=replace(_row(2).identity, engine=engine())), {})
        driver.flush()
        driver.put(replace(_row(3), identity=replace(_row(3).identity, engine=engine())), {})
        return found

    with Store.to(tmp_path / "s") as store, monkeypatch.context() as patched:
        patched.setattr(Store, "rows", and_then)
        assert store.collect(other_builds=True) == "0 trials stay, 1 of other builds are removed"
    assert [row.identity.seed for row in Store.at(tmp_path / "s").rows()] == [2, 3]
    driver.close()


def test_a_row_that_goes_from_a_tail_to_a_part_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Store.to(tmp_path / "s")
    for seed, name in enumerate(("_entries", "_tables"), 1):  # the part is written before, between or after the two are read
        read = getattr(Store, name)

        def first(store: Store, *arguments: Any, read: Any = read) -> Any:
            found = read(store, *arguments)
            driver.flush()
            return found

        driver.put(_row(seed), {})
        with monkeypatch.context() as patched:
            patched.setattr(Store, name, first)
            assert [row.identity.seed for row in Store.at(tmp_path / "s").rows()][-1] == seed
    driver.close()


def test_a_store_whose_maker_was_killed_is_made_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / f".{parts.new_writer()}.json").write_text("")
    Store.to(tmp_path / "s").close()
    assert Store.at(tmp_path / "s").rows() == []


def _mounted(place: Path) -> bool:
    place.mkdir()
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], capture_output=True).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to mount a disk")
def test_a_store_on_a_disk_that_is_read_only(tmp_path: Path) -> None:
    """Nothing can be added, which is one line; everything that is there can be asked, and is used."""
    from elephan.cli import status_of

    if not _mounted(tmp_path / "disk"):
        pytest.skip("no disk can be mounted here")
    store = tmp_path / "disk" / "s"
    try:
        whole = el.sweep("sawtooth", set=DELAYS, repetitions=2, store=store)
        subprocess.run(["mount", "-o", "remount,ro", tmp_path / "disk"], check=True)
        for more in ({"repetitions": 3}, {"repetitions": 2, "again": True}, {"repetitions": 2, "keep": "runs"}):
            with pytest.raises(el.ElephanError, match=f"^cannot write the store {store}: "):
                el.sweep("sawtooth", set=DELAYS, store=store, **more)
        assert el.sweep("sawtooth", set=DELAYS, repetitions=2, store=store).table.equals(whole.table)
        # Under another name a trial is one of another experiment, which nobody can write down there.
        (tmp_path / "other.toml").write_text(open_source("sawtooth").text)
        other = el.sweep(tmp_path / "other.toml", set=DELAYS, repetitions=2, store=store, out=tmp_path / "r", report=False)
        assert other.table.equals(whole.table)
        assert el.load(store).sql("select count(*) as n from trials").to_pylist() == [{"n": 4}]
        for words, status in (
            (["list", str(store)], 0),
            (["show", str(store)], 0),
            (["check", str(store)], 0),
            (["gc", str(store)], 1),
        ):
            assert status_of(["store", *words]) == status
        assert el.sweep("sawtooth", set=DELAYS, repetitions=2, store=store, on="kept").table.equals(whole.table)
        assert len(Store.at(store).rows()) == 4
        assert Store.at(store).check() == []
    finally:
        subprocess.run(["umount", tmp_path / "disk"], check=True)


def test_a_copy_without_empty_folders_is_a_store(tmp_path: Path) -> None:
    with Store.to(tmp_path / "s") as store:
        store.put(_row(1), {})
    for name in ("tails", "attempts"):
        shutil.rmtree(tmp_path / "s" / name)
    assert [row.identity.seed for row in Store.at(tmp_path / "s").rows()] == [1]
    assert Store.at(tmp_path / "s").check() == []
    assert Store.at(tmp_path / "s").summary().trials == 1


def test_tables_of_a_study_are_made_again_from_shares(tmp_path: Path) -> None:
    """An array does not keep the tables that the result of a study wants: the report runs those trials again, and only them."""
    from elephan.base.errors import PartDone
    from elephan.experiment.job import Job, Statistics
    from elephan.experiment.pool import How, run_jobs

    source = open_source("sawtooth")
    jobs = [Job(source, SHORT, seed, Variant("v"), tmp_path / f"run-{seed}") for seed in range(1, 7)]
    measure = Statistics(("goodput_bps.sum",))
    with pytest.raises(PartDone):
        run_jobs(jobs, measure, How(on="shard 0/2", store=tmp_path / "s", name="e"))
    done = [row.identity.seed for row in Store.at(tmp_path / "s").rows()]
    assert 0 < len(done) < 6
    assert not list(tmp_path.glob("run-*"))
    found = run_jobs(jobs, measure, How(on="kept", store=tmp_path / "s", name="e"))
    assert [outcome.job.seed for outcome in found] == done
    assert sorted(path.name for path in tmp_path.glob("run-*")) == [f"run-{seed}" for seed in done]
