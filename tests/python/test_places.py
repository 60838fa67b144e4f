"""Where runs run: the values are the same to the bit everywhere."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import dask_cluster
import elephan as el
import pytest
from elephan.base.errors import InputError
from elephan.experiment.store.identity import engine
from elephan.experiment.store.store import Store
from waiting import ANSWER_S, end, until

pytestmark = pytest.mark.alone  # how soon something answers is measured

pytest.importorskip("distributed")

SHORT = {"duration": "5 s", "warmup": "1 s", "template.delay": ["5 ms", "20 ms"]}
GUEST = """import elephan
from helper import SHARE

class Mine(elephan.CongestionControl):
    def on_round(self, round):
        self.cwnd += SHARE * self.mss
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[dask_cluster.Cluster]:
    with dask_cluster.started() as found:
        yield found


def test_dask_gives_the_same(cluster: dask_cluster.Cluster, tmp_path: Path) -> None:
    here = el.sweep("sawtooth", set=SHORT, repetitions=3)
    there = el.sweep("sawtooth", set=SHORT, repetitions=3, on=cluster.address, store=tmp_path / "s")
    assert there.table.equals(here.table, check_metadata=True)
    assert len(Store.at(tmp_path / "s").rows()) == 6


def test_a_guest_travels_with_what_it_imports(cluster: dask_cluster.Cluster, tmp_path: Path) -> None:
    for folder, share in (("a", "0.5"), ("b", "1.5")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(GUEST)
        (tmp_path / folder / "helper.py").write_text(f"SHARE = {share}\n")
        set_in = {
            "duration": "5 s",
            "warmup": "1 s",
            "traffic.reno.congestion_control": {"python": f"{tmp_path / folder}/mine.py:Mine"},
        }
        here = el.sweep("sawtooth", set=set_in, repetitions=2)
        there = el.sweep("sawtooth", set=set_in, repetitions=2, on=cluster.address)
        assert there.table.equals(here.table)


def test_a_class_of_the_session_stays_at_home(cluster: dask_cluster.Cluster) -> None:
    class Typed(el.CongestionControl):
        def on_round(self, round: object) -> None:
            self.cwnd += self.mss

    with pytest.raises(InputError, match=r"Typed is of this session alone, .* write it to a file"):
        el.sweep("sawtooth", set={**SHORT, "traffic.reno.congestion_control": Typed}, repetitions=1, on=cluster.address)


def test_what_fails_in_a_worker_fails_as_here(cluster: dask_cluster.Cluster) -> None:
    with pytest.raises(InputError, match=r"the run has no such traffic"):
        el.sweep("sawtooth", set=SHORT, repetitions=1, statistics=["goodput_bps[web].sum"], on=cluster.address)


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elephan.experiment.place.dask.CONNECT_S", 1.0)
    with pytest.raises(InputError, match=r"--on tcp://127.0.0.1:9: no Dask scheduler answers there"):
        el.sweep("sawtooth", set=SHORT, repetitions=1, on="tcp://127.0.0.1:9")
    with pytest.raises(InputError, match=r'on: "dusk" is no place'):
        el.sweep("sawtooth", set=SHORT, repetitions=1, on="dusk")


def _other_elephan(place: Path) -> str:
    """A copy of elephan in which a module that measures has another byte; returns what to put before the path of Python."""
    package = Path(el.__file__).parent
    shutil.copytree(package, place / "elephan", copy_function=os.symlink, ignore=shutil.ignore_patterns("__pycache__"))
    changed = place / "elephan" / "statistic" / "measures.py"
    changed.unlink()
    changed.write_bytes((package / "statistic" / "measures.py").read_bytes() + b"# another\n")
    return str(place)


def test_a_worker_of_another_build_is_refused_by_name(cluster: dask_cluster.Cluster, tmp_path: Path) -> None:
    """Two builds whose fingerprints differ."""
    other = cluster.worker(PYTHONPATH=_other_elephan(tmp_path))
    try:
        cluster.wait_for(3)
        line = r"^tcp://127.0.0.1:\d+: a worker has another elephan: version .*, build (\w{8}); here it is build (\w{8})\. Install"
        with pytest.raises(InputError, match=line) as refused:
            el.sweep("sawtooth", set=SHORT, repetitions=1, on=cluster.address, store=tmp_path / "s")
    finally:
        other.kill()
    match = re.search(line, str(refused.value))
    assert match is not None
    assert match[2] == engine()[:8] != match[1]
    assert Store.at(tmp_path / "s").rows() == []


def _command(on: str, *words: str) -> list[str]:
    command = [sys.executable, "-m", "elephan", "sweep", "sawtooth", "--on", on, "--out", "r", "--no-report", "--workers", "2"]
    return [*command, "-s", "template.delay=5ms,20ms", "-s", "warmup=1s", *words]


def _when_kept(store: Path, process: subprocess.Popen[str]) -> None:
    """Waits until the first trials are kept."""

    def kept() -> bool:
        assert process.poll() is None, process.communicate()
        return (store / "tails").is_dir() and any((store / "tails").iterdir())

    until(kept, "a trial that is kept")


def _begun(place: Path, on: str) -> subprocess.Popen[str]:
    """A sweep in a session of its own, of which some trials are kept."""
    command = _command(on, "-s", "duration=50s", "-n", "30")
    process = subprocess.Popen(
        command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    _when_kept(place / "r.trials", process)
    return process


LONG = {"duration": "50s", "warmup": "1s", "template.delay": ["5ms", "20ms"]}


def _goes_on(place: Path) -> None:
    """The rest of `_begun` runs on threads, and the whole is what an undisturbed sweep gives."""
    kept = len(Store.at(place / "r.trials").rows())
    assert 0 < kept < 60
    done = subprocess.run(_command("threads", "-s", "duration=50s", "-n", "30"), cwd=place, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr.startswith(f"elephan: {kept} of 60 trials are kept in r.trials\n")
    loaded = el.load(place / "r")
    assert isinstance(loaded, el.Sweep)
    assert loaded.table.equals(el.sweep("sawtooth", set=LONG, repetitions=30).table)


def test_ctrl_c_ends_a_cluster_of_its_own(tmp_path: Path) -> None:
    """As a terminal sends it: to all processes of the command."""
    process = _begun(tmp_path, "dask")
    workers = {path.name for path in Path(tempfile.gettempdir()).glob("elephan-dask-*")}
    _, said, used_s = end(process, signal.SIGINT, group=True)
    assert used_s < ANSWER_S
    assert process.returncode == 130
    assert re.fullmatch(
        r"elephan: \d+ of 60 runs are done and kept in .*r\.trials; the same command goes on\n"
        r"elephan: what is done is in r; elephan report r draws its report\nelephan: interrupted\n",
        said,
    )
    assert len({path.name for path in Path(tempfile.gettempdir()).glob("elephan-dask-*")}) < len(workers)
    incomplete = el.load(tmp_path / "r")
    assert incomplete.facts["incomplete"] == f"{len(Store.at(tmp_path / 'r.trials').rows())} of 60 runs are done"
    _goes_on(tmp_path)


def test_a_scheduler_that_dies_in_the_middle(tmp_path: Path) -> None:
    with dask_cluster.started() as cluster:
        process = _begun(tmp_path, cluster.address)
        cluster.scheduler.kill()
        out, said = process.communicate(timeout=60)
    line = f"elephan: the Dask scheduler {cluster.address} does not answer any more; what is done is kept, and the same command"
    assert (process.returncode, out, said) == (1, "", f"{line} goes on\n")
    _goes_on(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("whom", "line"), [("workers", "has lost all its workers"), ("scheduler", "does not answer any more")])
def test_a_cluster_that_says_nothing(tmp_path: Path, whom: str, line: str) -> None:
    """Its workers are gone, or its scheduler stands still."""
    with dask_cluster.started() as cluster:
        process = _begun(tmp_path, cluster.address)
        if whom == "workers":
            for worker in cluster.workers:
                worker.kill()
        else:
            cluster.scheduler.send_signal(signal.SIGSTOP)
        out, said = process.communicate(timeout=90)
        cluster.scheduler.send_signal(signal.SIGCONT)
    assert (process.returncode, out, said.count("\n")) == (1, "", 1)
    assert f"{line}; what is done is kept, and the same command goes on" in said
    _goes_on(tmp_path)


DEADLY = """import os, elephan

class Mine(elephan.CongestionControl):
    def __init__(self, dies=False):
        self.dies = dies

    def on_round(self, round):
        if self.dies:
            os._exit(1)
"""


@pytest.mark.slow
def test_a_run_that_kills_its_workers_fails_alone(tmp_path: Path) -> None:
    """On a cluster of its own, whose workers are replaced. Such a failure is not kept: it may be the machine's."""
    (tmp_path / "mine.py").write_text(DEADLY)
    mine = [{"python": f"{tmp_path}/mine.py:Mine", "params": {"dies": dies}} for dies in (False, True)]
    set_in = {"duration": "2 s", "warmup": "1 s", "traffic.reno.congestion_control": mine}
    done = el.sweep("sawtooth", set=set_in, repetitions=2, on="dask", workers=2, store=tmp_path / "s")
    assert done.table.num_rows == 2
    assert len(done.failures) == 2
    assert all("workers died while they ran it" in line for line in done.failures)
    assert len(Store.at(tmp_path / "s").rows()) == 2
