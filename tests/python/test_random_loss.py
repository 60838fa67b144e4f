"""Mean windows under random loss: against published constants, and against windows that grow a round trip at a time."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from elephan import InputError
from elephan.theory import closed as theory

RTT = 0.1


def test_reno() -> None:
    """Mathis et al. 1997, table of constants: 1.31 with an ACK a segment, 0.93 with delayed ACKs."""
    assert theory.response("reno", 1e-4, loss="random") == pytest.approx(131, rel=2e-3)
    assert theory.response("griddt", 1e-4, loss="random", a=0.5, b=0.5) == pytest.approx(93, rel=5e-3)
    assert theory.response("reno", 1e-4, loss="random", constant=0.93) == pytest.approx(93)


def reno(_top: float, window: float, _since: float) -> float:
    return window + 1


def highspeed(_top: float, w: float, _since: float) -> float:
    """RFC 3649 section 5."""
    return w + max(2 * w * w * 0.078 / w**1.2 * highspeed_b(w) / (2 - highspeed_b(w)), 1.0)


def highspeed_b(w: float) -> float:
    return 0.5 - 0.4 * math.log(max(w, 38) / 38) / math.log(83_000 / 38)


def htcp(_top: float, window: float, since: float) -> float:
    """draft-leith-tcp-htcp-06: alpha = 2 (1 - beta) (1 + 10 (t - 1) + (t - 1)^2 / 4) with beta 0.5, in mid round trip."""
    late = max(since + RTT / 2 - 1, 0)
    return window + 1 + 10 * late + late * late / 4


def cubic(top: float, _window: float, since: float) -> float:
    """RFC 9438 section 4.2."""
    return 0.4 * (since + RTT - math.cbrt(top * 0.3 / 0.4)) ** 3 + top


CONTROLLERS: dict[str, tuple[Callable[[float, float, float], float], Callable[[float], float], dict[str, bool]]] = {
    "reno": (reno, lambda _: 0.5, {}),
    "highspeed": (highspeed, lambda w: 1 - highspeed_b(w), {}),
    "htcp": (htcp, lambda _: 0.5, {"adaptive_backoff": False, "rtt_scaling": False}),
    "cubic": (cubic, lambda _: 0.7, {}),
}


@pytest.mark.parametrize("p", [3e-4, 1e-5])
@pytest.mark.parametrize("controller", CONTROLLERS)
def test_against_windows_by_round_trips(controller: str, p: float) -> None:
    """The standard error over 6000 losses is below 0.8 %."""
    grow, left, parameters = CONTROLLERS[controller]
    draw = random.Random(7)
    top = window = theory.response(controller, p, RTT, **parameters)
    rounds, since, segments = 0, 0.0, 0.0
    for _ in range(6000):
        gap = draw.expovariate(p)
        while gap > window:
            gap, segments, rounds = gap - window, segments + window, rounds + 1
            window = grow(top, window, since)
            since += RTT
        # the loss comes in this round trip, of whose length the rest belongs to the next gap
        top, since = window, 0.0
        window *= left(window)
    expected = segments / rounds
    assert theory.response(controller, p, RTT, loss="random", **parameters) == pytest.approx(expected, rel=0.04)


def test_what_has_no_form() -> None:
    with pytest.raises(InputError, match='"bic" has no response function under random loss; there are reno,'):
        theory.response("bic", 1e-4, loss="random")
    with pytest.raises(InputError, match=r'loss is "periodic" or "random", not \'randon\'; did you mean "random"'):
        theory.response("reno", 1e-4, loss="randon")
