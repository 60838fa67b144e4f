"""Congestion controls without a network: step a controller by hand and watch its window.

    c = el.cc.new("cubic", mss=1448, initial_window=10)
    c.on_ack(now, acked, rtt, inflight); c.on_loss(now, lost, inflight)
    c.cwnd, c.ssthresh, c.pacing_rate, c.state

A class of one's own (`elephan.CongestionControl`) stands where a name does. Times are seconds, sizes bytes, rates bit/s.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError, nearest
from elephan.scenario import core, guest
from elephan.scenario.congestion import names as names

if TYPE_CHECKING:
    from elephan.scenario.model import ControllerFactory


def new(
    kind: str | ControllerFactory,
    mss: int = 1448,
    initial_window: float = 10,
    *,
    slow_start: str | Mapping[str, Any] = "classic",
    abc_limit: float | None = None,
    **params: Any,
) -> Any:
    """Returns a controller by the name of its congestion control, or of a class of one's own.

    `initial_window` is in segments; `params` are parameters as a scenario gives them.
    `slow_start` is `"classic"`, `"hystartpp"` ... or a table with `kind` and its parameters, as in `tcp = { slow_start = ... }`;
    `abc_limit` the segments that one ACK may add in it (L of RFC 3465), without a limit by default.
    Controllers that draw by chance (`bbr`, `bbr3`, `pcp`) draw from seed 0 until `set_seed`, so the same calls give the same
    windows. What a class of one's own raises is raised by the call that reaches it. Raises InputError.

    >>> c = el.cc.new("reno", mss=1000, initial_window=10)
    >>> c.on_ack(0.1, 1000, 0.1, 10_000)  # now, acknowledged, round-trip time, in flight
    >>> c.cwnd
    11000.0
    >>> c.on_loss(0.2, 1000, 11_000)
    >>> c.cwnd, c.ssthresh
    (5500.0, 5500.0)
    """
    if isinstance(mss, bool) or not isinstance(mss, int) or mss < 1:
        raise InputError(f"mss is a whole number of bytes from 1, not {mss!r}")
    if isinstance(abc_limit, bool) or not isinstance(abc_limit, (int, float, type(None))):
        raise InputError(f"abc_limit is a number of segments from 1, or None, not {abc_limit!r}")
    begins = {"kind": slow_start} if isinstance(slow_start, str) else slow_start
    if not isinstance(begins, Mapping):
        raise InputError(f'slow_start is a name or a table with "kind", not {slow_start!r}')
    core.check_values(begins)
    stack = {"mss": mss, "initial_window": initial_window, "slow_start": dict(begins), "abc_limit": abc_limit}
    params = core.as_overrides(params)
    core.check_values(params)
    if isinstance(kind, str):
        _check_name(kind)
        _check_words(kind, params)
        return core.build("Cc", kind, **stack, **params)
    return core.build("Cc", core.guest_words(kind, params), **stack)


def describe(kind: str | ControllerFactory) -> dict[str, Any]:
    """Returns what a congestion control is: a line, its parameters with default and source, the names of its states.

    >>> found = el.cc.describe("cubic")
    >>> found["parameters"][0]["name"]
    'c'
    >>> "states" in found
    True
    """
    if not isinstance(kind, str):
        return guest.describe(kind)
    _check_name(kind)
    return dict(json.loads(core.build("describe_cc", kind)))


def _check_name(kind: str) -> None:
    if kind not in names():
        raise InputError(f'no congestion control "{kind}"{nearest(kind, names(), "there are")}')


def _check_words(kind: str, params: Mapping[str, Any]) -> None:
    """Unknown names of parameters and presets with the nearest that there is, as the scenario language says it."""
    controller = describe(kind)
    known = [parameter["name"] for parameter in controller["parameters"]] + (["preset"] if controller["presets"] else [])
    for key in params:
        if key not in known:
            there = nearest(key, known, "it has") if known else "; it has none"
            raise InputError(f'{kind} has no parameter "{key}"{there}')
    preset = params.get("preset")
    if isinstance(preset, str) and preset not in controller["presets"]:
        raise InputError(f'{kind} has no preset "{preset}"{nearest(preset, controller["presets"], "it has")}')
