"""The retransmission timeout without a network (RFC 6298 and its variants).

    e = el.rtt.Estimator(); e.sample(now, rtt); e.backoff(); e.srtt, e.rttvar, e.rto

Times are seconds.
"""

from __future__ import annotations

from typing import Any

from elephan.base.errors import InputError, nearest
from elephan.scenario import core

__all__ = ["Estimator"]


def __dir__() -> list[str]:
    """What tab completion offers, without what is imported."""
    return __all__


_OPTIONS = ("stack", "rto_rule", "rto_initial", "rto_min", "rto_max", "clock_granularity")


def Estimator(**options: Any) -> Any:
    """Returns a new estimator of the retransmission timeout; `options` such as `rto_min`, `rto_initial`, `rto_rule` as in a stack.

    >>> e = el.rtt.Estimator(rto_min=0.2)
    >>> e.sample(0.0, 0.1)
    >>> e.srtt, e.rttvar, round(e.rto, 6)
    (0.1, 0.05, 0.3)
    """
    for name in options:
        if name not in _OPTIONS:
            raise InputError(f'Estimator has no option "{name}"{nearest(name, list(_OPTIONS))}')
    return core.build("RttEstimator", **options)
