"""Congestion controls without a network: step a law by hand and watch its window.

    c = el.cc.new("cubic", mss=1448, initial_window=10)
    c.on_ack(now, acked, rtt, inflight); c.on_loss(now, lost, inflight)
    c.cwnd, c.ssthresh, c.pacing_rate, c.state

Times are seconds, sizes bytes, rates bit/s.
"""

from __future__ import annotations

import json
from typing import Any

from elephan import core
from elephan.errors import InputError


def new(kind: str, mss: int = 1448, initial_window: float = 10, **params: Any) -> Any:
    """A congestion control by name; `initial_window` in segments, `params` as a scenario gives them."""
    if isinstance(mss, bool) or not isinstance(mss, int) or mss < 1:
        raise InputError(f"mss is a whole number of bytes from 1, not {mss!r}")
    return core.build("Cc", kind, mss=mss, initial_window=initial_window, **params)


def describe(kind: str) -> dict[str, Any]:
    """What a congestion control is: a line, its parameters with default and source, the names of its states."""
    return dict(json.loads(core.build("describe_cc", kind)))


def names() -> list[str]:
    """The congestion controls that there are."""
    return [name for name, _ in core.call("listing", "congestion-controls")]
