"""Points that follow from a formula: how many servers answer with 1 MB in all, and thresholds of marking."""

from __future__ import annotations

from elephan.experiment.study import Point

SERVERS = (1, 2, 5, 8, 10, 12, 15, 20, 25, 30, 35, 40)
RESPONSE_BYTES = 1_000_000  # "it takes 8 ms to deliver 1 MB of data over a 1 Gb/s link"
FLOWS = (2, 5, 10, 20)
THRESHOLDS_1G = (5, 10, 20, 40, 65)
THRESHOLDS_10G = (5, 10, 20, 40, 65, 80, 100)


def servers() -> list[Point]:
    """Returns the numbers of servers of figures 18 and 19, each with the size of an answer."""
    return [Point(str(n), {"hosts.server.count": n, "traffic.query.size": f"{RESPONSE_BYTES // n} B"}, float(n)) for n in SERVERS]


def flows() -> list[Point]:
    """Returns the numbers of long flows, each from a sender of its own."""
    return [Point(str(n), {"hosts.sender.count": n}, float(n)) for n in FLOWS]


def _schemes(thresholds: tuple[int, ...]) -> list[Point]:
    dctcp = {"tcp.congestion_control": "dctcp", "tcp.ecn": "dctcp"}
    key = "links.sw->receiver.queue.mark_above"
    return [Point("TCP", {}), *(Point(f"K = {k}", {**dctcp, key: f"{k} p"}, float(k)) for k in thresholds)]


def thresholds_1g() -> list[Point]:
    """Returns TCP, and DCTCP with each threshold that is tried at 1 Gb/s."""
    return _schemes(THRESHOLDS_1G)


def thresholds_10g() -> list[Point]:
    """Returns TCP, and DCTCP with each threshold that is tried at 10 Gb/s."""
    return _schemes(THRESHOLDS_10G)
