"""Trials on their way to other processes and back, in chunks of about a second."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from elephan.base.errors import InputError
from elephan.experiment.job import Job, Measure, Outcome, run_one
from elephan.experiment.place.travel import without_pack
from elephan.experiment.store import identity
from elephan.result import folder
from elephan.scenario import core

CHUNK_S = 1.0
CHUNK_MAX = 1000

Chunk = Sequence[tuple[int, Job]]


def run_chunk(chunk: Chunk, packed: bytes, engine: str) -> list[tuple[int, Outcome]]:
    """Does the jobs of a chunk, in a worker. `packed`: what is measured, pickled.

    Wrong input is the outcome of its job, as an error of the driver's own.
    """
    if identity.engine() != engine:
        raise InputError(other_version(core.call("version"), identity.engine(), engine))
    stop, found, measure = core.Stop(), [], pickle.loads(packed)
    for number, job in chunk:
        outcome = _carried(job, measure, stop)
        outcome.job = without_pack(job)
        found.append((number, outcome))
    return found


def _carried(job: Job, measure: Measure, stop: core.Stop) -> Outcome:
    """Does a job; the folder that it keeps comes back as files, as the driver's disk may be another one."""
    if job.folder is None:
        return run_one(job, measure, None, stop)
    with tempfile.TemporaryDirectory() as place:
        there = Path(place) / "run"
        outcome = run_one(replace(job, folder=there), measure, None, stop)
        if outcome.done:
            outcome.files = {name: (there / name).read_bytes() for name in folder.files(there)}
    return outcome


def delivered(outcome: Outcome) -> Outcome:
    """Writes the folder that came back as files."""
    if outcome.job.folder is not None and outcome.files is not None:
        with folder.result_folder(outcome.job.folder, "run") as partial:
            for name, data in outcome.files.items():
                (partial / name).parent.mkdir(parents=True, exist_ok=True)
                (partial / name).write_bytes(data)
        outcome.files = None
    return outcome


def other_version(version: str, theirs: str, ours: str) -> str:
    return (
        f"a worker has another elephan: version {version}, build {theirs[:8]}; here it is build {ours[:8]}. Install the same wheel"
    )


class Pace:
    """How long runs take, so that a chunk takes about a second. The first one has a single run."""

    def __init__(self) -> None:
        self._each_s = CHUNK_S

    def saw(self, wall_s: float) -> None:
        """Learns from a run."""
        self._each_s = 0.9 * self._each_s + 0.1 * wall_s

    def taken(self, waiting: list[tuple[int, Job]]) -> Chunk:
        """Takes the next chunk from the end of a list."""
        size = max(1, min(CHUNK_MAX, round(CHUNK_S / max(self._each_s, 1e-4))))
        return [waiting.pop() for _ in range(min(size, len(waiting)))]
