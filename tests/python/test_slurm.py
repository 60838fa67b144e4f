"""Experiments as arrays of a real SLURM: a cluster of this machine alone, which the tests start and stop."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import elephan as el
import one_node
import pytest
from elephan.experiment.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(one_node.missing()), reason=one_node.missing() or "SLURM is here")]

SHORT = {"duration": "3s", "warmup": "1s", "template.delay": ["5ms", "20ms"]}
LONG = {"duration": "300s", "warmup": "5s", "template.delay": ["5ms", "20ms"]}


@pytest.fixture(scope="module")
def slurm() -> Iterator[one_node.OneNode]:
    with one_node.started() as found:
        yield found


def _elephan(slurm: one_node.OneNode, place: Path, *words: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "elephan", *words]
    return subprocess.run(command, cwd=place, env=slurm.environment, capture_output=True, text=True, timeout=timeout)


def _words(set_in: dict[str, object], repetitions: int, *more: str) -> list[str]:
    """The command of a sweep on four elements."""
    texts = [f"{key}={','.join(value) if isinstance(value, list) else value}" for key, value in set_in.items()]
    sets = [word for text in texts for word in ("-s", text)]
    return ["sweep", "sawtooth", *sets, "-n", str(repetitions), "--on", "slurm", "--elements", "4", "--no-report", *more]


def _table(folder: Path) -> object:
    found = el.load(folder)
    assert isinstance(found, el.Sweep)
    return found.table


def _submitted(said: str) -> tuple[str, str]:
    """The numbers of the array and of the report."""
    words = said.rpartition("submitted array ")[2].split()
    return words[0].rstrip(","), words[2]


def test_an_array_gives_the_table_of_threads(slurm: one_node.OneNode, tmp_path: Path) -> None:
    passed = ("partition=short", "time=7", "mem=100", "account=lab", "cpus-per-task=1")
    more = [word for option in passed for word in ("--slurm", option)]
    done = _elephan(slurm, tmp_path, *_words(SHORT, 4, "--wait", *more))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("8 of 8 trials are to run: submitted array ")
    assert "result: " in done.stdout  # what the report said
    assert _table(tmp_path / "results" / "sawtooth-sweep").equals(el.sweep("sawtooth", set=SHORT, repetitions=4).table)
    array, report = _submitted(done.stdout)
    for job in (f"{array}_3", report):
        about = slurm.job(job)
        assert (about["JobState"], about["Partition"], about["TimeLimit"]) == ("COMPLETED", "short", "00:07:00")
        assert (about["Account"], about["MinMemoryNode"], about["CPUs/Task"]) == ("lab", "100M", "1")
    again = _elephan(slurm, tmp_path, *_words(SHORT, 4))
    assert again.returncode == 0
    assert "8 of 8 trials are kept" in again.stderr
    assert "submitted" not in again.stdout


def test_options_that_elephan_does_not_know_pass_through(slurm: one_node.OneNode, tmp_path: Path) -> None:
    passed = ("array=%1", "gres=port:2", "requeue", 'error=it\'s "mine" #1', "nice=7")
    more = [word for option in passed for word in ("--slurm", option)]
    done = _elephan(slurm, tmp_path, *_words(SHORT, 4, "--wait", *more), timeout=200)
    assert (done.returncode, done.stderr) == (0, "")
    array, report = _submitted(done.stdout)
    for job in (f"{array}_3", report):
        about = slurm.job(job)
        assert (about["Requeue"], about["Nice"]) == ("1", "7")
        assert about["TresPerNode"] in ("gres:port:2", "gres/port:2")  # of SLURM 22 and 24
        assert f'StdErr={tmp_path}/it\'s "mine" #1\n' in slurm.said("scontrol", "show", "job", job)
    assert slurm.job(f"{array}_3")["ArrayTaskThrottle"] == "1"
    assert _table(tmp_path / "results" / "sawtooth-sweep").equals(el.sweep("sawtooth", set=SHORT, repetitions=4).table)


def test_a_report_that_is_preempted_is_waited_for(slurm: one_node.OneNode, tmp_path: Path) -> None:
    """A job of a partition that goes first takes the node from the report, which SLURM puts back into the queue."""
    (tmp_path / "slow").write_text('[ -n "$SLURM_ARRAY_TASK_ID$SLURM_RESTART_COUNT" ] || sleep 60\n')
    command = [sys.executable, "-m", "elephan", *_words(SHORT, 4, "--wait")]
    environment = {**slurm.environment, "BASH_ENV": str(tmp_path / "slow")}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as waits:
        assert waits.stdout is not None
        first = waits.stdout.readline()
        _, report = _submitted(first)
        slurm.until(lambda: slurm.job(report)["JobState"] == "RUNNING", "the report does not run", 200)
        slurm.said("sbatch", "--partition=urgent", "--exclusive", "--output=/dev/null", "--wrap=sleep 3")
        slurm.until(lambda: slurm.job(report)["Restarts"] == "1", "the report is not preempted")
        said, errors = waits.communicate(timeout=200)
    assert (waits.returncode, errors) == (0, "")
    assert "result: " in said
    assert slurm.job(report)["JobState"] == "COMPLETED"
    assert _table(tmp_path / "results" / "sawtooth-sweep").equals(el.sweep("sawtooth", set=SHORT, repetitions=4).table)


def test_an_element_that_is_cancelled_goes_on_when_it_is_submitted_again(slurm: one_node.OneNode, tmp_path: Path) -> None:
    first = _elephan(slurm, tmp_path, *_words(LONG, 40))
    assert first.returncode == 0
    array, report = _submitted(first.stdout)
    store = tmp_path / "results" / "sawtooth-sweep.trials"
    slurm.until(lambda: len(Store.at(store).rows()) > 8, "nothing is kept")
    slurm.said("scancel", f"{array}_2")
    slurm.until(lambda: slurm.ended(report), "the report does not come")
    assert slurm.job(f"{array}_2")["JobState"] == "CANCELLED"
    assert {slurm.job(f"{array}_{other}")["JobState"] for other in (0, 1, 3)} == {"COMPLETED"}
    rows = Store.at(store).rows()
    assert {int(row.identity.key, 16) % 4 for row in rows} == {0, 1, 2, 3}
    kept = len(rows)
    assert 8 < kept < 80
    incomplete = el.load(tmp_path / "results" / "sawtooth-sweep")
    assert incomplete.facts["incomplete"] == f"{kept} of 80 runs are done"

    second = _elephan(slurm, tmp_path, *_words(LONG, 40, "--wait"))
    assert (second.returncode, second.stderr) == (0, f"elephan: {kept} of 80 trials are kept in {store.relative_to(tmp_path)}\n")
    assert second.stdout.startswith(f"{80 - kept} of 80 trials are to run: submitted array ")
    assert _table(tmp_path / "results" / "sawtooth-sweep").equals(el.sweep("sawtooth", set=LONG, repetitions=40).table)
    assert Store.at(store).check() == []


def test_a_signal_before_the_time_limit_ends_an_element_with_whole_trials(slurm: one_node.OneNode, tmp_path: Path) -> None:
    """SLURM looks at limits every half a minute: an element that has a minute is interrupted after 15 to 45 seconds."""
    endless = {**LONG, "duration": "2000s"}
    done = _elephan(slurm, tmp_path, *_words(endless, 400, "--wait", "--slurm", "time=1"), timeout=110)
    assert done.returncode == 0
    array, _ = _submitted(done.stdout)
    store = tmp_path / "results" / "sawtooth-sweep.trials"
    for element in range(4):
        about = slurm.job(f"{array}_{element}")
        assert (about["JobState"], about["ExitCode"]) == ("FAILED", "130:0")  # interrupted; not TIMEOUT
        said = (store / "slurm" / f"{array}_{element}.out").read_text()
        assert f"trials run, kept in {store}; the same command goes on\nelephan: interrupted\n" in said
    kept = len(Store.at(store).rows())
    assert kept > 0
    assert f"Incomplete: {kept} of 800 runs are done." in " ".join(done.stdout.split())
    assert Store.at(store).check() == []


def test_more_elements_than_an_array_has(tmp_path: Path) -> None:
    """In a folder whose name means something to the shell and to SLURM."""
    place = tmp_path / "it's 100 %j mine"
    place.mkdir()
    with one_node.started(array=3) as slurm:
        done = _elephan(slurm, place, *_words(SHORT, 40, "--wait", "--elements", "7"))
        assert (done.returncode, done.stderr) == (0, "")
        numbers = done.stdout.partition("submitted array ")[2].partition(", and ")[0].split(", ")
        assert len(numbers) == 3
        listed = [slurm.said("squeue", "--states=all", "--noheader", "--array", f"--jobs={one}") for one in numbers]
        sizes = [len(text.splitlines()) for text in listed]
        assert sizes == [3, 3, 1]
        assert _table(place / "results" / "sawtooth-sweep").equals(el.sweep("sawtooth", set=SHORT, repetitions=40).table)


@pytest.mark.parametrize(
    ("option", "line"),
    [
        ("partition=nowhere", "sbatch refuses the job: invalid partition specified: nowhere"),
        ("time=eternal", "sbatch refuses the job: Invalid --time specification"),
        ("mem=4T", "sbatch refuses the job: Memory specification can not be satisfied"),
        ("constraint=gpu", "sbatch refuses the job: Batch job submission failed: Invalid feature specification"),
    ],
)
def test_what_slurm_refuses_is_one_line(slurm: one_node.OneNode, tmp_path: Path, option: str, line: str) -> None:
    done = _elephan(slurm, tmp_path, *_words(SHORT, 4, "--slurm", option))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"elephan: {line}")
    assert slurm.said("squeue", "--noheader") == ""


def test_a_comparison_is_an_array_too(slurm: one_node.OneNode, tmp_path: Path) -> None:
    named = ("--quick", "-n", "1", "--rate", "2Mbps")
    done = _elephan(slurm, tmp_path, "compare", "reno", *named, "--on", "slurm", "--elements", "2", "--wait", "--no-report")
    assert (done.returncode, done.stderr) == (0, "")
    found = el.load(tmp_path / "results" / "compare")
    assert found.table.equals(el.compare(["reno"], quick=True, repetitions=1, rate="2Mbps").table)


def test_a_controller_that_does_not_answer(tmp_path: Path) -> None:
    with one_node.started() as slurm:
        slurm.end_controller()
        begin = time.monotonic()
        done = _elephan(slurm, tmp_path, *_words(SHORT, 4), timeout=100)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("elephan: sbatch refuses the job: ")
    assert done.stderr.count("\n") == 1
    assert time.monotonic() - begin < 90
