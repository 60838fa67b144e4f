"""What Copa's rules say of queues and rates (sections 1 and 3 of the paper), also with an error in the smallest round trip."""

from __future__ import annotations

from scipy.optimize import brentq

MSS_BYTES = 1448  # with time stamps
WIRE_BYTES = 1538  # of a full packet: its header, FCS, preamble and gap too
QUEUED_BYTES = 1518


def longest_queue_packets(*deltas: float) -> float:
    """Returns the top of the swing of the queue (section 3): 2.5 / delta of all flows, whose delta is 1 / (sum of 1 / delta)."""
    return 2.5 * sum(1 / delta for delta in deltas)


def alone_bps(error_s: float, delta: float = 0.5) -> float:
    """Returns the goodput of a flow that takes an error for queueing delay: 1 / (delta error) packets a second."""
    return MSS_BYTES * 8 / (delta * error_s)


def shares(rate_bps: float, error_s: float, delta: float = 0.5) -> tuple[float, float]:
    """Returns what two flows get, in packets a second, if the first one sees the queueing delay and an error.

    Both aim at `1 / (delta d)`, and together they fill the line: 1 / (delta q) + 1 / (delta (q + error)) = C.
    """
    capacity = rate_bps / (8 * WIRE_BYTES)

    def beyond(queueing_s: float) -> float:
        return 1 / (delta * queueing_s) + 1 / (delta * (queueing_s + error_s)) - capacity

    queueing_s = brentq(beyond, 1e-9, 10)
    return 1 / (delta * (queueing_s + error_s)), 1 / (delta * queueing_s)
