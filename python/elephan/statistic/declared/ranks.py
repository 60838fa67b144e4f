"""Statistics of parallel programs: iterations of collective operations and of programs in GOAL, and their ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from elephan.statistic import needs
from elephan.statistic.measure import measure
from elephan.table.rows import EMPTY, Array, column

if TYPE_CHECKING:
    from elephan.result.run import Run


def _of_ranks(values: Callable[[Run], Array]) -> Callable[[Run], Array]:
    """Values of runs that have ranks: the tables of others, perhaps of an earlier version, are not read."""
    return lambda run: EMPTY if needs.iterations(run.resolved) else values(run)


def _counted(run: Run) -> Array:
    """Which iterations began after the warm-up."""
    return np.asarray(column(run.iterations, "begin_ns") >= run.warmup_ns)


def _of(name: str) -> Callable[[Run], Array]:
    """A column of `iterations`, of those that came to their end."""

    def values(run: Run) -> Array:
        ended = np.isfinite(column(run.iterations, "end_ns"))
        return np.asarray(column(run.iterations, name)[_counted(run) & ended])

    return _of_ranks(values)


def _time(run: Run) -> Array:
    took = column(run.iterations, "end_ns") - column(run.iterations, "begin_ns")
    return np.asarray(took[_counted(run)])


def _of_each(name: str) -> Callable[[Run], Array]:
    """A column of `ranks`, of those that came to their end."""
    return _of_ranks(lambda run: np.asarray(column(run.ranks, name)[~np.isnan(column(run.ranks, "end_ns"))]))


measure(
    "iteration_time",
    "ns",
    "time of each iteration of ranks, from its beginning until all have done everything",
    _of_ranks(_time),
    whole=True,
    warmup=False,
    usual={"mean": 112, "p99": 122, "max": 132},
    titles={"mean": "mean time of an iteration", "p99": "99th percentile of the time of iterations", "max": "longest iteration"},
    needs=(needs.iterations,),
)
measure(
    "iteration_slowdown",
    "1",
    "time of each iteration of ranks over what it takes alone in the network",
    _of("slowdown"),
    noun="slowdown of iterations",
    whole=True,
    warmup=False,
    titles={"mean": "mean slowdown of iterations", "max": "largest slowdown of an iteration"},
    needs=(needs.iterations,),
)
measure(
    "bus_bandwidth",
    "bps",
    "bus bandwidth of each iteration of a collective operation, as nccl-tests defines it",
    _of("bus_bps"),
    noun="bus bandwidth",
    whole=True,
    warmup=False,
    usual={"mean": 114},
    titles={"mean": "mean bus bandwidth", "min": "least bus bandwidth of an iteration"},
    needs=(needs.iterations, needs.collectives),
)
measure(
    "straggling",
    "ns",
    "by how much the straggler of each iteration held it back, on its critical path",
    _of("straggler_ns"),
    noun="time that a straggler held back",
    whole=True,
    warmup=False,
    titles={"mean": "mean time that a straggler held an iteration back"},
    needs=(needs.iterations,),
)
measure(
    "rank_waited",
    "ns",
    "time that each rank neither computed nor had a message on the way, in each iteration",
    _of_each("waited_ns"),
    noun="time that ranks waited",
    whole=True,
    warmup=False,
    titles={"mean": "mean time that a rank waited in an iteration", "max": "longest wait of a rank in an iteration"},
    needs=(needs.iterations,),
)
measure(
    "rank_computed",
    "ns",
    "time that each rank computed in each iteration",
    _of_each("computed_ns"),
    noun="time that ranks computed",
    whole=True,
    warmup=False,
    needs=(needs.iterations,),
)
