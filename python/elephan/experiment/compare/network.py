"""The bottleneck of the panel: a dumbbell whose rate, round trip and buffer may be chosen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import bits_per_second, seconds, show, size_bytes
from elephan.theory import closed as theory

RTT_RATIO = 4  # between the round trips of the experiment "rtt"
BACKGROUND_SHARE = 0.01  # of the bottleneck, at random
_BDP = re.compile(r"\s*([0-9.]+)\s*bdp\s*$", re.IGNORECASE)


def rate_text(rate_bps: float) -> str:
    """A rate as the scenario language takes it, to the bit per second."""
    return f"{round(rate_bps)} bps"


def span_text(time_s: float) -> str:
    """A time as the scenario language takes it, to the picosecond."""
    return f"{round(time_s * 1e12)} ps"


def read_buffer(given: float | str, rate_bps: float, rtt_s: float) -> int:
    """Bytes of a buffer given in bytes, as `"2 MB"`, or as `"1 bdp"` of this rate and round trip."""
    match = _BDP.match(given) if isinstance(given, str) else None
    try:
        size = float(match[1]) * theory.bdp(rate_bps, rtt_s) if match else size_bytes(given)
    except ValueError as error:
        raise InputError(f"buffer: {error}") from None
    if not 1 <= size < 1e15 and match:
        path = f"{show(rate_bps, 'bps')} and {show(rtt_s, 's')}"
        raise InputError(f"rate, rtt and buffer: {match[0].strip()} of {path} is {show(size, 'bytes')}, not between 1 B and 1 PB")
    if not 1 <= size < 1e15:
        raise InputError(f"buffer: {given} is not between 1 B and 1 PB")
    return round(size)


def positive(name: str, given: float | str, read: Any) -> float:
    """A number above zero, from a number or a text with a unit."""
    try:
        number = float(read(given))
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None
    if not 0 < number < float("inf"):
        raise InputError(f"{name}: {given} is {'too large' if number > 0 else 'not above zero'}")
    return number


@dataclass(frozen=True)
class Network:
    """The bottleneck that all experiments share, and what else is changed in all of them."""

    rate_bps: float
    rtt_s: float
    buffer_bytes: int
    set: Mapping[str, Any] = field(default_factory=dict)

    @property
    def bdp_bytes(self) -> float:
        return theory.bdp(self.rate_bps, self.rtt_s)

    def overrides(self, rtt_ratio: float = 1) -> dict[str, Any]:
        """What this network sets in a scenario of the panel; `rtt_ratio` between the last pair and the first."""
        # round trip = 2 (delay + 2 access_delay): half of it in the bottleneck, half in the access links
        near, far = self.rtt_s / 8, (2 * rtt_ratio - 1) * self.rtt_s / 8
        spread: Any = span_text(near) if rtt_ratio == 1 else {"linear": [span_text(near), span_text(far)]}
        return {
            "template.rate": rate_text(self.rate_bps),
            "template.access_rate": rate_text(max(1e10, 10 * self.rate_bps)),
            "template.delay": span_text(self.rtt_s / 4),
            "template.access_delay": spread,
            "template.queue.limit": f"{self.buffer_bytes} B",
            "traffic.others.rate": rate_text(self.rate_bps * BACKGROUND_SHARE),
            **self.set,
        }

    def as_dict(self) -> dict[str, Any]:
        return {
            "rate_bps": self.rate_bps,
            "rtt_s": self.rtt_s,
            "buffer_bytes": self.buffer_bytes,
            "background_bps": self.rate_bps * BACKGROUND_SHARE,
            "set": dict(self.set),
        }


def read_network(rate: float | str, rtt: float | str, buffer: float | str, set: Mapping[str, Any]) -> Network:
    """A network from what a user gave."""
    rate_bps, rtt_s = positive("rate", rate, bits_per_second), positive("rtt", rtt, seconds)
    return Network(rate_bps, rtt_s, read_buffer(buffer, rate_bps, rtt_s), dict(set))
