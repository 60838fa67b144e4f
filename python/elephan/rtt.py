"""The retransmission timeout without a network (RFC 6298 and its variants).

    e = el.rtt.Estimator(); e.sample(now, rtt); e.backoff(); e.srtt, e.rttvar, e.rto

Times are seconds.
"""

from __future__ import annotations

from typing import Any

from elephan import core


def Estimator(**options: Any) -> Any:
    """A new estimator; `options` such as `rto_min`, `rto_initial`, `rto_rule` as in a stack."""
    return core.call_with("RttEstimator", **options)
