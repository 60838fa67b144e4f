"""CoDel beside RFC 8289, section 4, followed rule by rule for one server and packets that come at a fixed rate."""

from __future__ import annotations

from collections import deque
from math import inf, sqrt

import elephan as el
import pytest

RATE_BPS, WIRE_BITS = 20e6, 1502 * 8
TARGET_S, INTERVAL_S, LIMIT = 0.005, 0.1, 1000
WARMUP_S, DURATION_S = 20, 60


class Rfc8289:
    """The state of section 4.4; `leave` is what section 5.5 does when the link is free."""

    def __init__(self) -> None:
        self.waiting: deque[float] = deque()
        self.dropped = 0
        self.first_above = 0.0
        self.next_drop = 0.0
        self.count = self.last_count = 0
        self.dropping = False

    def head(self, now: float) -> tuple[float | None, bool]:
        """The first packet, and whether the delay has been above the target for an interval."""
        if not self.waiting:
            self.first_above = 0.0
            return None, False
        came = self.waiting.popleft()
        # One packet at most behind it: less than an MTU waits.
        if now - came < TARGET_S or not self.waiting:
            self.first_above = 0.0
        elif self.first_above == 0.0:
            self.first_above = now + INTERVAL_S
        else:
            return came, now >= self.first_above
        return came, False

    def leave(self, now: float) -> float | None:
        came, late = self.head(now)
        if self.dropping:
            self.dropping = late
            while self.dropping and now >= self.next_drop:
                self.dropped += 1
                self.count += 1
                came, late = self.head(now)
                self.dropping = late
                if late:
                    self.next_drop += INTERVAL_S / sqrt(self.count)
        elif late:
            self.dropped += 1
            came, _ = self.head(now)
            self.dropping = True
            gained = self.count - self.last_count
            self.count = gained if gained > 1 and now - self.next_drop < 16 * INTERVAL_S else 1
            self.next_drop = now + INTERVAL_S / sqrt(self.count)
            self.last_count = self.count
        return came


def reference(load: float) -> tuple[float, int]:
    """Mean number of waiting packets and drops after the warm-up."""
    queue, gap_s, service_s = Rfc8289(), WIRE_BITS / (load * RATE_BPS), WIRE_BITS / RATE_BPS
    arrivals, free, last, area, before = 0, inf, 0.0, 0.0, None
    while True:
        arrival = arrivals * gap_s
        now = min(arrival, free)
        area += len(queue.waiting) * max(0.0, min(now, DURATION_S) - max(last, WARMUP_S))
        last = now
        if now >= WARMUP_S and before is None:
            before = queue.dropped
        if now > DURATION_S:
            return area / (DURATION_S - WARMUP_S), queue.dropped - (before or 0)
        if arrival < free:
            arrivals += 1
            if len(queue.waiting) < LIMIT:
                queue.waiting.append(now)
            else:
                queue.dropped += 1
            if free < inf:
                continue
        free = now + service_s if queue.leave(now) is not None else inf


@pytest.mark.parametrize("load", [1.05, 1.1])
def test_codel_is_that_of_the_rfc(load: float) -> None:
    hops = [
        {"rate": "1 Gbps", "delay": "0 s"},
        {
            "rate": f"{RATE_BPS} bps",
            "delay": "20 ms",
            "queue": {"kind": "codel", "limit": f"{LIMIT} packets", "target": "5 ms", "interval": "100 ms"},
        },
    ]
    scenario = {
        "duration": f"{DURATION_S} s",
        "warmup": f"{WARMUP_S} s",
        "template": {"kind": "path", "framing": "ppp", "hops": hops},
        "traffic": [{"name": "load", "from": "sender", "to": "receiver", "kind": "cbr", "rate": f"{load * RATE_BPS} bps"}],
        "record": {"every": "1 s"},
    }
    run = el.run(scenario)
    port = next(row for row in run.ports.to_pylist() if row["peer"] == "receiver")
    drops = [row["drops"] for row in run.port_samples.to_pylist() if row["port"] == port["port"]]
    times = [row["time_ns"] / 1e9 for row in run.port_samples.to_pylist() if row["port"] == port["port"]]
    queue, dropped = reference(load)
    # Packets come on a grid of rounded picoseconds, so a decision in some thousands may fall the other way.
    assert port["queue_mean_bytes"] / 1502 == pytest.approx(queue, rel=0.01)
    assert drops[-1] - drops[times.index(WARMUP_S)] == pytest.approx(dropped, rel=0.01)
