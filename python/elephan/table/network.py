"""The network of a run: the directions of the links between its switches, and how busy each was."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from elephan.table.rows import column, texts

if TYPE_CHECKING:
    from elephan.result.run import Run


class Direction(NamedTuple):
    """One direction of a link: its rate in bit/s, the share of the measured time that it was busy, its drops, its mean queue."""

    sender: str
    receiver: str
    rate_bps: float
    utilisation: float
    drops: int
    queue_bytes: float


def directions(run: Run) -> list[Direction]:
    """Returns the directions of all links between switches, in the order of the table `ports`.

    >>> from elephan.table.network import directions
    >>> run = el.run("parking-lot", set={"duration": "2 s", "warmup": "0 s"})
    >>> [f"{one.sender} to {one.receiver}" for one in directions(run)][:2]
    ['router[0] to router[1]', 'router[1] to router[0]']
    """
    switches, ports = run.resolved.get("switches", {}), run.ports

    def forwards(name: str) -> bool:
        return name.partition("[")[0] in switches

    columns = (column(ports, key) for key in ("rate_bps", "utilisation", "drops", "queue_mean_bytes"))
    rows = zip(texts(ports, "node"), texts(ports, "peer"), *columns, strict=True)
    return [
        Direction(node, peer, float(rate), float(busy), int(drops), float(queue))
        for node, peer, rate, busy, drops, queue in rows
        if forwards(node) and forwards(peer)
    ]
