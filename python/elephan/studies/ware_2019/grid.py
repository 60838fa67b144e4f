"""The points of the grid, and what others measured on it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from pathlib import Path as File

from elephan.experiment.study import Point
from elephan.studies.ware_2019 import model

PAYLOAD, PACKET = 1448, 1500
QUEUES = (1, 2, 4, 8, 16, 32, 64)
FLOWS = (1, 2, 4, 8, 16, 32)
OTHERS = (1, 2, 4, 8, 16)
# The networks of figure 8 by the names of their experiments.
NETWORKS = {"cubic": model.Path(10e6, 0.04), "reno": model.Path(10e6, 0.04), "fast": model.Path(50e6, 0.03)}
# Median errors of the model as the paper's summary has them.
ERRORS = {"cubic": 0.05, "reno": 0.08, "fast": 0.05}
# What figure 1 shows of the BBR flow: means over time of its goodput in Mb/s, which were read with an error of 0.15.
FIGURE_1 = {(10, 60): 0.66, (60, 100): 1.56, (100, 150): 2.38, (150, 200): 3.40, (200, 300): 3.76}
READING_ERROR = 0.15


def queues() -> Iterator[Point]:
    """Queues from 1 to 64 bandwidth-delay products."""
    for queue in QUEUES:
        yield Point(f"{queue} BDP", {"template.queue.limit": f"{queue} bdp"}, queue)


def short_queues() -> Iterator[Point]:
    """The queues of the fast network."""
    yield from (point for point in queues() if point.value <= 16)


def some_queues() -> Iterator[Point]:
    """Those in which the number of loss-based flows is varied."""
    yield from (point for point in queues() if point.value in (8, 32))


def flows() -> Iterator[Point]:
    """Numbers of BBR flows."""
    for number in FLOWS:
        yield Point(f"{number} BBR", {"traffic.bbr.connections": number}, number)


def others() -> Iterator[Point]:
    """Numbers of loss-based flows."""
    for number in OTHERS:
        yield Point(f"{number} others", {"traffic.other.connections": number}, number)


def capacity(path: model.Path) -> float:
    """Returns the goodput of the link when it is busy, in bit/s."""
    return path.rate_bps * PAYLOAD / PACKET


def cells(network: str) -> list[tuple[int, int]]:
    """Returns the cells of a network's grid: BBR flows and queue."""
    longest = 16 if network == "fast" else 64
    return [(number, queue) for number in FLOWS for queue in QUEUES if queue <= longest]


@cache
def rerun() -> dict[tuple[str, int, int], float]:
    """Returns BBR's shares in a re-run with Linux hosts, read from its plots, by network, BBR flows and queue."""
    with (File(__file__).parent / "rerun.csv").open(encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return {(row["network"], int(row["flows"]), int(row["queue"])): float(row["share"]) for row in rows}
