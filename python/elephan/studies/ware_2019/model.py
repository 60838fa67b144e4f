"""The model of R. Ware et al. of what BBR version 1 gets beside loss-based flows, equation by equation.

Packets have 1500 bytes. A queue is a multiple X of the bandwidth-delay product, which is `rate * round trip`.
"""

from __future__ import annotations

from dataclasses import dataclass

PACKET_BITS = 12_000
INTERVAL_S = 10.0  # between two PROBE_RTT
PROBE_RTT_S = 0.2
BURSTS = 6  # packets of three bursts, which Linux adds to a window
FOUR = 4  # packets that a flow keeps in flight in PROBE_RTT


@dataclass(frozen=True)
class Path:
    """A bottleneck: its rate, and the round trip of the empty path."""

    rate_bps: float
    rtt_s: float

    @property
    def packets_per_s(self) -> float:
        return self.rate_bps / PACKET_BITS

    @property
    def product(self) -> float:
        """The bandwidth-delay product in packets."""
        return self.packets_per_s * self.rtt_s

    def packets(self, queue: float) -> float:
        """Returns a queue of so many bandwidth-delay products in packets."""
        return queue * self.product


def loss_based_share(path: Path, queue: float, flows: int) -> float:
    """Returns the share of the queue that loss-based flows have when BBR's window stops its growth (equation 9).

    `flows` counts those of BBR; how many loss-based flows there are plays no part.
    """
    return max(0.0, 0.5 - 1 / (2 * queue) - FOUR * flows / path.packets(queue))


def probe_share(path: Path, queue: float) -> float:
    """Returns the share of the time in PROBE_RTT: until the full queue is empty, 200 ms and a round trip (equation 11)."""
    return (path.packets(queue) / path.packets_per_s + PROBE_RTT_S + path.rtt_s) / INTERVAL_S


def bbr_share(path: Path, queue: float, flows: int) -> float:
    """Returns the share of the link that all BBR flows have together (equation 10)."""
    return (1 - loss_based_share(path, queue, flows)) * (1 - probe_share(path, queue))


def careful_share(path: Path, queue: float, flows: int) -> float:
    """Returns the share of all BBR flows by equations that differ from the paper's in two places: ours.

    No packet counts twice: in flight are q + cl, a share p of them loss-based. In PROBE_RTT these, and four of each BBR flow, are
    all that there is, so that the round trip is `(p (q + cl) + 4N) / c`. Equation 7 has `(p q + 4N) / c + l`, as if others filled
    the pipe. And Linux leaves each window room for three bursts of two segments beyond two products. So the windows stop BBR at
    `2 (1 - p) (p (q + cl) + 4N) + 6N = (1 - p) (q + cl)`.
    """
    held = path.packets(queue) + path.product

    def room(p: float) -> float:
        return (1 - p) * (held * (1 - 2 * p) - 2 * FOUR * flows) - BURSTS * flows

    low, high = 0.0, 0.5
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if room(middle) > 0 else (low, middle)
    return (1 - low) * (1 - probe_share(path, queue))


def rtt_estimate_s(path: Path, flows: int) -> float:
    """Returns the round trip that BBR flows alone measure: PROBE_RTT leaves four packets of each in flight (equation 6)."""
    return max(path.rtt_s, FOUR * flows / path.packets_per_s)


def standing_queue(path: Path, flows: int) -> float:
    """Returns the packets that wait when windows of two estimated products stop BBR flows alone (sections 3.2, 4.2)."""
    return 2 * path.packets_per_s * rtt_estimate_s(path, flows) - path.product
