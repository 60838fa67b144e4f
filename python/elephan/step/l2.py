"""Congestion management of layer 2 without a network: congestion points and reaction points of QCN and ECM by hand.

    cp = el.l2.qcn_congestion_point(preset="seed-2007", jitter=0)
    cp.enqueue(now, 1500, queue_bytes)       # None, or the feedback that the frame's source gets
    rp = el.l2.qcn_reaction_point(line_rate=10e9)
    rp.notify(now, 63); rp.on_sent(now, 1500); rp.on_timer(rp.next_timer())
    rp.rate, rp.target_rate

Times are seconds and never go back, sizes bytes, rates bit/s. Parameters are those of `[congestion_management]`, where a number
for a time is seconds, for a size bytes and for a rate bit/s. Equations and sources: docs/models/qcn.md and ecm.md.
"""

from __future__ import annotations

import json
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import bits_per_second
from elephan.base.seed import read_seed
from elephan.scenario import core
from elephan.scenario.model import plain

__all__ = ["ecm_congestion_point", "ecm_reaction_point", "parameters", "qcn_congestion_point", "qcn_reaction_point"]


def __dir__() -> list[str]:
    """What tab completion offers, without what is imported."""
    return __all__


def _congestion_point(kind: str, seed: int, params: dict[str, Any]) -> Any:
    return core.build("CongestionPoint", kind, read_seed(seed), **plain(params))


def _reaction_point(kind: str, line_rate: float | str, seed: int, params: dict[str, Any]) -> Any:
    return core.build("ReactionPoint", kind, bits_per_second(line_rate), read_seed(seed), **plain(params))


def qcn_congestion_point(*, seed: int = 1, **params: Any) -> Any:
    """Returns the congestion point of one queue under QCN (IEEE 802.1Qau), with the standard's values or those of a `preset`.

    `seed`: of the draws of its jitter; with `jitter=0` there are none. `enqueue(now, size, queue_bytes, source=0)` counts a frame
    that the queue has accepted, `queue_bytes` waiting then, it among them; it returns None, or the feedback from 1 to 63 that its
    source gets. `source` matters to `fair` only; `told` lists all (source, feedback) of the last frame. Raises InputError.

    >>> point = el.l2.qcn_congestion_point(jitter=0)
    >>> found = [point.enqueue(i * 1e-6, 1500, 60_000) for i in range(200)]
    >>> [feedback for feedback in found if feedback][:1]
    [63.0]
    """
    return _congestion_point("qcn", seed, params)


def qcn_reaction_point(*, line_rate: float | str = 10e9, seed: int = 1, **params: Any) -> Any:
    """Returns the reaction point of one limiter under QCN, in a port of `line_rate` (bit/s, or as "10 Gbps").

    `notify(now, feedback)`, feedback from 1 to 63; `on_sent(now, size)` for each frame; `on_timer(now)` when `next_timer()` (None
    for never) has come. Properties: `rate` and `target_rate` in bit/s, `limited`. Raises InputError.

    >>> point = el.l2.qcn_reaction_point(line_rate="10 Gbps")
    >>> point.notify(0.0, 63)
    >>> point.limited, point.rate / 1e9
    (True, 5.078125)
    """
    return _reaction_point("qcn", line_rate, seed, params)


def ecm_congestion_point(*, seed: int = 1, **params: Any) -> Any:
    """Returns the congestion point of one queue under ECM.

    As `qcn_congestion_point`, but the feedback is in pages, negative to slow down and positive to speed up, the latter for frames
    that are `tagged` as limited by this point; 0.0 is the message ECM(0,0), which stops the source. Raises InputError.

    >>> point = el.l2.ecm_congestion_point()
    >>> found = [point.enqueue(i * 1e-6, 1500, 60_000) for i in range(200)]
    >>> [feedback for feedback in found if feedback is not None][0] < 0
    True
    """
    return _congestion_point("ecm", seed, params)


def ecm_reaction_point(*, line_rate: float | str = 10e9, seed: int = 1, **params: Any) -> Any:
    """Returns the reaction point of one limiter under ECM, in a port of `line_rate` (bit/s, or as "10 Gbps").

    As `qcn_reaction_point`, with `notify(now, feedback, point=0)`: feedback in pages, at most (1 + 2 weight) set points either way
    (1875 by default), 0 to stop, from congestion point `point`. The property `point` is the one that limits it, `stopped_until`
    the end of a stop. Raises InputError.

    >>> point = el.l2.ecm_reaction_point(line_rate="10 Gbps")
    >>> point.notify(0.0, -100)
    >>> point.limited, point.rate < 10e9
    (True, True)
    """
    return _reaction_point("ecm", line_rate, seed, params)


def parameters(point: Any) -> dict[str, Any]:
    """Returns the parameters of a congestion or reaction point, defaults included, as a scenario writes them.

    Raises InputError.

    >>> el.l2.parameters(el.l2.qcn_congestion_point())["set_point"]
    '26 KB'
    """
    if not hasattr(point, "parameters"):
        raise InputError(f"parameters are those of a congestion or reaction point, not of {point!r}")
    return dict(json.loads(point.parameters()))
