"""Points that follow from a formula: numbers of flows with their buffers, and flows of one length with theirs."""

from __future__ import annotations

from collections.abc import Iterator

from elephan.experiment.study import Point
from elephan.studies.buffers_2004 import theory

MSS, PACKET, CONTROL = 1460, 1500, 40
LOAD = 0.8
TAIL = 0.025  # P(Q > B) of the curve in figure 12
LENGTHS = (14, 30, 62)  # whole bursts: up to 8, 16 and 32 packets
RATES = (40, 80, 200)  # Mb/s


def packets(rate_bps: float, rtt_s: float) -> float:
    """Returns a path in packets."""
    return rate_bps * rtt_s / 8 / PACKET


def _spread(mean_ms: float) -> list[str]:
    """Returns access delays for round trips from half of the mean to one and a half times it; the bottleneck has 5 ms."""
    return [f"{(share * mean_ms / 2 - 5) / 2:g} ms" for share in (0.5, 1.5)]


def rule() -> Iterator[Point]:
    """Yields figure 11: 80 ms in the mean, the buffer of the square-root rule and twice that."""
    path = packets(155e6, 0.08)
    for flows in (250, 300, 400, 500):
        for times in (1, 2):
            limit = round(times * theory.square_root_rule(flows, path))
            changes = {
                "template.pairs": flows,
                "template.queue.limit": f"{limit} p",
                "template.access_delay": {"linear": _spread(80)},
            }
            yield Point(f"{flows} flows, {times} x", changes, flows)


def latencies() -> Iterator[Point]:
    """Yields 200 flows with several mean round trips, each with the buffer of the rule."""
    for rtt_ms in (50, 100, 200):
        limit = round(theory.square_root_rule(200, packets(155e6, rtt_ms / 1e3)))
        changes = {
            "template.pairs": 200,
            "template.queue.limit": f"{limit} p",
            "template.access_delay": {"linear": _spread(rtt_ms)},
        }
        yield Point(f"{rtt_ms} ms", changes, rtt_ms)


def _size(length: int) -> str:
    return f"{length * MSS} B"


def offered(length: int, rate_bps: float, load: float = LOAD) -> float:
    """Returns the payload rate whose packets, with SYN, ACK and FIN, are `load` of a link."""
    return load * rate_bps * length * MSS / (length * PACKET + 3 * CONTROL)


def model_buffer(length: int) -> int:
    """Returns the buffer of figure 12's curve, in whole packets."""
    return round(theory.buffer_for(LOAD, theory.bursts(length), TAIL))


def _short(length: int, rate: int, buffer: str, limit: int | None) -> Point:
    changes = {
        "traffic.short.size": _size(length),
        "traffic.short.load": f"{offered(length, rate * 1e6):.0f} bps",
        "template.rate": f"{rate} Mbps",
        "template.queue": {"kind": "fifo"} | ({"limit": f"{limit} p"} if limit else {}),
    }
    return Point(f"{length} packets, {rate} Mb/s, {buffer}", changes, length)


def short() -> Iterator[Point]:
    """Yields flows of each length at each rate: without a limit, and with the model's buffer."""
    for length in LENGTHS:
        for rate in RATES:
            yield _short(length, rate, "no limit", None)
            yield _short(length, rate, "model", model_buffer(length))
    yield _short(16, 80, "no limit", None)
    for length in LENGTHS:
        yield _short(length, 80, "half", round(model_buffer(length) / 2))
        yield _short(length, 80, "quarter", round(model_buffer(length) / 4))


def short_latencies() -> Iterator[Point]:
    """Yields flows of 14 packets at 80 Mb/s over several mean round trips, and over slow access links."""
    for rtt_ms in (50, 100, 200):
        yield Point(f"{rtt_ms} ms", {"template.access_delay": {"linear": _spread(rtt_ms)}}, rtt_ms)
    yield Point("access at 20 Mb/s", {"template.access_rate": "20 Mbps"})


def mix() -> Iterator[Point]:
    """Yields numbers of long flows beside the short ones, with the buffer of the rule and with the whole path."""
    path = packets(400e6, 0.08)
    for flows in (50, 200, 500):
        for name, limit in (("rule", theory.square_root_rule(flows, path)), ("path", path)):
            changes = {"template.pairs": flows, "template.queue.limit": f"{round(limit)} p"}
            yield Point(f"{flows} flows, {name}", changes, flows)
