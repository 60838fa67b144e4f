"""Many short runs: what a run costs beside its engine in each place, two cores against one, and a store of a million trials.

Each figure is of a process of its own (`elephan.bench.sweeping`), so that its memory and its cores are its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from elephan.base.errors import ElephanError
from elephan.base.progress import status
from elephan.bench.sweeping import SHORT
from elephan.scenario import core
from elephan.scenario.source import open_source

RUNS = 10_000  # of 10 ms
TRIALS = 1_000_000
PATIENCE_S = 1800


def run(runs: int = RUNS, trials: int = TRIALS) -> dict[str, Any]:
    """Returns `places` (a row for each: wall time, and what a run costs beside the engine), `cores` and `store`."""
    engine_s, allowed = _engine_s(), sorted(os.sched_getaffinity(0))[:2]
    places = []
    for place, cores in (("threads", allowed[:1]), ("threads", allowed), ("processes", allowed), ("dask", allowed)):
        with status(f"{runs} runs on {place}"):
            wall_s = _answer(_apart("runs", cores, place, runs, 1))["wall_s"]
        beside_s = wall_s * len(cores) / runs - engine_s
        places.append({"place": place, "cores": len(cores), "wall_s": wall_s, "run_s": wall_s / runs, "beside_engine_s": beside_s})
    with status("two plain processes"):
        plain = [_apart("runs", [core], "threads", runs // len(allowed), 1 + n * runs) for n, core in enumerate(allowed)]
        plain_s = max(_answer(one)["wall_s"] for one in plain)
    with status(f"a store of {trials} trials"):
        store = _answer(_apart("store", allowed, trials))
    one = places[0]["wall_s"]
    times = {row["place"]: one / row["wall_s"] for row in places[1:]} | {"two plain processes": one / plain_s}
    return {"runs": runs, "engine_s": engine_s, "places": places, "times_one_core": times, "store": store}


def _engine_s() -> float:
    """The engine's own time for a run."""
    source, stop = open_source("sawtooth"), core.Stop()
    return sum(float(core.execute(source, SHORT, seed, None, None, stop).wall_s) for seed in range(200)) / 200


def _apart(what: str, cores: list[int], *words: Any) -> subprocess.Popen[str]:
    """A process that measures, on these cores only."""
    command = [sys.executable, "-m", "elephan.bench.sweeping", what, ",".join(map(str, cores)), *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _answer(process: subprocess.Popen[str]) -> Any:
    try:
        said, _ = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    if process.returncode:
        raise ElephanError(f"a process of the bench ended with status {process.returncode}")
    return json.loads(said)
