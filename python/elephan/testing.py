"""Tests for what a user brings along.

el.testing.check_congestion_control(Mine)
"""

from __future__ import annotations

from typing import Any

from elephan import _renamed
from elephan.base.errors import InputError
from elephan.scenario import core
from elephan.step.harness import broken


@_renamed.keywords(law="controller")
def check_congestion_control(controller: Any, *, cases: int = 400, seed: int = 1, days: bool = True, **params: Any) -> None:
    """Puts a congestion control written in Python through what every built-in one is put through.

    `controller` is a class or a factory, `params` its keywords, `cases` the number of drawn stories of ACKs, losses, timeouts and
    pauses, `seed` that of the first. With `days`, ten simulated days without a loss follow. After every step the window must
    be from one segment to 2^40 bytes without being forced, `ssthresh` two segments at least, `states` finite, a pacing rate
    positive; an ACK adds at most what it acknowledged (`on_round`: what the round did; free with `slow_start = False`) and
    nothing while the application is the limit; a congestion event raises nothing; what is undone at once leaves no trace
    (in `states` only with `on_undo`); two objects that get the same calls do the same.

    Raises `AssertionError` with the rule that was broken, the seed, and the shortest story found that breaks it; what the class
    raised, if it did, is its cause.

    >>> class Steady(el.CongestionControl):
    ...     def on_ack(self, ack):
    ...         if not ack.app_limited:
    ...             self.cwnd += self.mss * min(ack.acked, self.cwnd) / self.cwnd
    ...
    >>> el.testing.check_congestion_control(Steady, cases=20, days=False)
    """
    for name, value in (("cases", cases), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(f"{name} is a whole number, not {value!r}")
    failure = broken(core.guest_words(controller, params), cases, seed, days)
    if failure is not None:
        text, raised = failure
        raise AssertionError(text) from raised
