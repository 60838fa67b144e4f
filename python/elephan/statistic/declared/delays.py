"""Statistics of the time that packets wait in queues, of each class at each port (`record.queue_delays`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from elephan.base.errors import nearest
from elephan.statistic import needs
from elephan.statistic.measure import measure
from elephan.table.rows import EMPTY, Array, NoSuchPart, column, texts

if TYPE_CHECKING:
    from elephan.result.run import Run

KINDS = {
    "mean": "mean time",
    "p50": "median time",
    "p90": "90th percentile of the time",
    "p99": "99th percentile of the time",
    "p999": "99.9th percentile of the time",
    "max": "longest time",
}


def _rows(run: Run, part: str) -> Array:
    """Which rows of `queue_delays` a part in brackets means: `at sw->host`, `priority 5`, `l4s`, `classic`, with commas between."""
    rows = run.queue_delays
    chosen = np.ones(rows.num_rows, dtype=bool)
    for word in [one.strip() for one in part.split(",") if one.strip()]:
        if word in ("l4s", "classic"):
            chosen &= column(rows, "l4s") == (word == "l4s")
        elif word.startswith("priority ") and word.removeprefix("priority ").strip().isdigit():
            chosen &= column(rows, "priority") == int(word.removeprefix("priority "))
        elif word.startswith("at "):
            port, names = word.removeprefix("at ").strip(), texts(rows, "name")
            if port not in names:
                raise NoSuchPart(f"no delays were recorded at {port}{nearest(port, list(dict.fromkeys(names)), 'they were at')}")
            chosen &= np.asarray(names, dtype=object) == port
        else:
            raise NoSuchPart(f'"{word}" is not at PORT, priority NUMBER, l4s or classic')
    return chosen


def _of(kind: str) -> Callable[[str], Callable[[Run], Array]]:
    def selected(part: str) -> Callable[[Run], Array]:
        def values(run: Run) -> Array:
            if needs.recorded_delays(run.resolved):
                return EMPTY
            return np.asarray(column(run.queue_delays, f"{kind}_ns")[_rows(run, part)])

        return values

    return selected


measure(
    "datagram_delay",
    "ns",
    "time of each logged datagram from its sender to its receiver",
    lambda run: EMPTY if needs.recorded_datagrams(run.resolved) else column(run.datagrams, "delay_ns"),
    noun="delay of datagrams",
    whole=True,
    titles={"p99": "99th percentile of the delay of datagrams", "max": "longest delay of a datagram"},
    needs=(needs.recorded_datagrams,),
)

for _kind, _words in KINDS.items():
    measure(
        f"queue_delay_{_kind}",
        "ns",
        f"{_words} that packets of each class waited in each queue",
        _of(_kind)(""),
        noun=f"{_words} in a queue",
        whole=True,
        warmup=False,
        selected=_of(_kind),
        titles={"max": f"{_words} in a queue, at the worst port"},
        needs=(needs.recorded_delays,),
    )
