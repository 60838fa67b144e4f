"""A twin's run, and how far it is from the capture: each congestion control on the fitted path, the nearest one wins."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elephan.base.progress import bar
from elephan.capture.twin.packets import Packets, read
from elephan.capture.twin.scenario import SENDER
from elephan.capture.twin.start import ended_at
from elephan.result.run import Run, run
from elephan.scenario import congestion, kinds

ALIKE = 0.003  # distances that differ by less do not tell congestion controls apart
DRAWS = 6  # seeds of a congestion control that draws, such as the phase in which BBR begins to probe
POINTS = 2000  # instants at which bytes in flight are compared


@dataclass(frozen=True)
class Replay:
    """A run of a twin: its packets, as a capture at its sender has them, and its distance from the capture."""

    controller: str
    options: Mapping[str, Any]  # of TCP: what the capture shows of slow start
    packets: Packets
    distance: float  # mean difference of the bytes in flight, as a share of the mean of the capture's


def candidates(marks: bool) -> list[str]:
    """Returns the congestion controls that a sender may have without help of routers; with `marks` those that need marks too."""
    found = []
    for name in congestion.names():
        answers = kinds.congestion_control(name)
        alone = "tcp" in answers["transports"] and not answers.get("asks")
        if alone and (marks or not answers.get("needs_marks")):
            found.append(name)
    return found


def played(scenario: Mapping[str, Any], controller: str | Mapping[str, Any], segment: int, seed: int = 0) -> tuple[Packets, Run]:
    """Returns what a twin's sender sent and heard under a congestion control, and the run."""
    whole = {**scenario, "seed": seed, "traffic": [{**scenario["traffic"][0], "congestion_control": controller}]}
    whole["record"] = {"captures": [SENDER]}
    with tempfile.TemporaryDirectory(prefix="elephan-") as folder:
        done = run(whole, out=Path(folder) / "twin", report=False)
        (file,) = done.captures
        return read([file], {"connection": 0}, segment, "sender"), done


def distance(real: Packets, twin: Packets, begin_s: float, end_s: float) -> float:
    """Returns the mean difference of the bytes in flight from `begin_s` on, as a share of the mean of the capture's.

    `begin_s`: when the first data left. The twin's data are moved to that instant.
    """
    times = np.linspace(begin_s, end_s, POINTS)
    ours, theirs = real.inflight(times), twin.inflight(times - begin_s + first_s(twin))
    return float(np.abs(ours - theirs).mean() / max(float(ours.mean()), 1.0))


def first_s(packets: Packets) -> float:
    """When the first data left."""
    return float(packets.sent_s[0]) if packets.sent_s.size else 0.0


def replays(
    real: Packets, scenario: Mapping[str, Any], controllers: Sequence[str], segment: int, progress: bool = False
) -> list[Replay]:
    """Returns the replays under congestion controls, the nearest first."""
    threshold = ended_at(real, segment)
    found = []
    with bar("twin", 1.0, progress) as shown:
        for number, one in enumerate(controllers):
            found.append(min(_variants(real, scenario, one, segment, threshold), key=_distance))
            shown.set((number + 1) / len(controllers))
    found.sort(key=_distance)
    # Of those that the capture does not tell apart the registry's first comes first.
    alike = [one for one in found if one.distance <= found[0].distance + ALIKE]
    order = congestion.names()
    return sorted(alike, key=lambda one: order.index(one.controller)) + found[len(alike) :]


def _variants(real: Packets, scenario: Mapping[str, Any], controller: str, segment: int, threshold: int | None) -> Iterator[Replay]:
    """Replays under a congestion control: with several seeds if it draws, and with the threshold at which slow start ended."""
    answers = kinds.congestion_control(controller)
    begin, end = first_s(real), real.done_s
    options: list[dict[str, Any]] = [{}]
    if threshold is not None and not answers.get("own_start"):
        options.append({"slow_start": "classic", "ssthresh_initial": f"{threshold} B"})
    for option in options:
        words = {**scenario, "tcp": {**scenario["tcp"], **option}}
        for seed in range(DRAWS if answers.get("is_random") else 1):
            twin, _ = played(words, controller, segment, seed)
            yield Replay(controller, option, twin, distance(real, twin, begin, end))


def _distance(one: Replay) -> float:
    return one.distance
