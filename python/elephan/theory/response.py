"""Windows and throughputs of congestion controls against loss, in closed forms; `elephan.theory` has them all."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from elephan.base.errors import InputError, nearest, of_arguments
from elephan.base.quantity import finite, number, positive, seconds, size_bytes
from elephan.theory import random_loss

Array = npt.NDArray[np.float64]


def _probability(p: float | Array) -> Array:
    try:
        array = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{p!r} is not a loss probability; write it like 1e-4") from None
    if not ((array > 0) & (array <= 1)).all():
        raise InputError("the loss probability p must be above 0 and at most 1")
    return array


def _back(value: Array, like: Any) -> float | Array:
    return float(value) if np.ndim(like) == 0 else value


def _reno(p: Array, _rtt: float, constant: float = math.sqrt(1.5)) -> Array:
    return np.asarray(constant / np.sqrt(p))


def _highspeed(p: Array, _rtt: float) -> Array:
    # RFC 3649 section 5: w = 0.12 / p^0.835, Reno (1.2 / sqrt(p)) above p = 1e-3
    return np.asarray(np.where(p > 1e-3, 1.2 / np.sqrt(p), 0.12 / p**0.835))


def _scalable(p: Array, _rtt: float, a: float = 0.01, b: float = 0.125, low_window: float = 16.0) -> Array:
    # time mean: the logarithm of the window is stationary when ln(1 + a) growth per RTT meets -ln(1 - b) per event;
    # below low_window the controller is Reno
    return np.asarray(np.maximum(np.log1p(a) / -np.log1p(-b) / p, np.minimum(_reno(p, _rtt), low_window)))


def _cubic(p: Array, rtt: float, c: float = 0.4, beta: float = 0.7) -> Array:
    # RFC 9438 section 5.1 (equation 5); section 4.3 for the Reno-friendly region: AIMD(alpha, beta) averages Reno's
    # window
    cubic = (c * (3 + beta) / (4 * (1 - beta))) ** 0.25 * (rtt / p) ** 0.75
    return np.asarray(np.maximum(cubic, _reno(p, rtt)))


def _htcp(
    p: Array, rtt: float, beta: float = 0.5, beta_max: float = 0.8, adaptive_backoff: bool = True, rtt_scaling: bool = True
) -> Array:
    """Periodic loss: the epoch T solves 1/p = packets sent in T, the window growing by 2(1-b)f(t) an RTT."""
    left, grown, area = _htcp_growth(rtt, beta, beta_max, adaptive_backoff, rtt_scaling)
    out = np.empty(p.shape)
    for index, value in np.ndenumerate(p):
        low, high = rtt, 1e6

        def packets(t: float) -> float:
            bottom = left * float(grown(np.float64(t))) / (1 - left)
            return (bottom * t + float(area(np.float64(t)))) / rtt

        for _ in range(200):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if packets(middle) < 1 / value else (low, middle)
        out[index] = 1 / value * rtt / low
    return out


def _htcp_growth(
    rtt: float, beta: float, beta_max: float, adaptive_backoff: bool, rtt_scaling: bool
) -> tuple[float, Callable[[Any], Any], Callable[[Any], Any]]:
    """The share of the window that H-TCP leaves, the segments that it has grown by after t seconds, and their integral over t."""
    # Without a queue RTTmin / RTTmax is 1, so that adaptive backoff leaves the most that it may.
    left = max(beta, beta_max) if adaptive_backoff else beta
    # f = max(1, k (1 + 10 u + 0.25 u^2)), u = t - 1 s from 0 on: constant up to a time `still`, then base + slope v + k v^2 / 4.
    k = 1 / min(max(0.1 / rtt, 0.5), 10) if rtt_scaling else 1.0
    base = max(1.0, k)
    flat = 2 * (math.sqrt(100 + base / k - 1) - 10)  # 10 u + 0.25 u^2 = base / k - 1
    still, slope = 1 + flat, k * (10 + flat / 2)
    scale = 2 * (1 - left) / rtt

    def grown(t: Any) -> Any:
        late = np.maximum(0.0, t - still)
        return scale * (base * t + slope * late**2 / 2 + k * late**3 / 12)

    def area(t: Any) -> Any:
        late = np.maximum(0.0, t - still)
        return scale * (base * t * t / 2 + slope * late**3 / 6 + k * late**4 / 48)

    return left, grown, area


def _griddt(p: Array, _rtt: float, a: float = 1.0, b: float = 0.5) -> Array:
    # AIMD(a, b) under periodic loss: a cycle of b w / a round trips and (1 - b / 2) b w^2 / a packets
    return np.asarray(np.sqrt(a * (2 - b) / (2 * b * p)))


def _bic_cycle(top: float, s_max: float, s_min: float, beta: float) -> tuple[float, float]:
    """Packets and round trips of a cycle: one of recovery at `beta * top`, then growth back to `top`.

    The step d is half the distance x to `top`, within s_min and s_max, taken anew at each ACK: dx/dn = -d over round trips n.
    """
    left = top - beta * top  # the distance at the beginning of a piece
    packets, rounds = beta * top, 1.0
    for until, step in ((2 * s_max, s_max), (2 * s_min, 0.0), (0.0, s_min)):  # a step of 0: half the distance
        end = min(left, until)
        if left > end:
            took = (left - end) / step if step else 2 * math.log(left / end)
            distance = (left + end) / 2 * took if step else 2 * (left - end)  # integrated over the piece
            packets, rounds, left = packets + top * took - distance, rounds + took, end
    return packets, rounds


def _bic(p: Array, _rtt: float, s_max: float = 32.0, s_min: float = 0.01, beta: float = 0.875) -> Array:
    """Periodic loss at the window that met the last one: the top at which a cycle holds 1/p packets."""
    if s_min > s_max:
        raise InputError(f's_min of "bic" must be at most s_max, {s_max:g}, not {s_min:g}')
    out = np.empty(p.shape)
    for index, value in np.ndenumerate(p):
        low, high = 1.0, 2 / ((1 - beta) * float(value))
        for _ in range(100):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if _bic_cycle(middle, s_max, s_min, beta)[0] < 1 / float(value) else (low, middle)
        packets, rounds = _bic_cycle(low, s_max, s_min, beta)
        out[index] = packets / rounds
    return np.maximum(out, _reno(p, _rtt))


def _reno_random(p: Array, _rtt: float, constant: float | None = None) -> Array:
    return np.asarray((random_loss.aimd_constant(1.0, 0.5) if constant is None else constant) / np.sqrt(p))


def _griddt_random(p: Array, _rtt: float, a: float = 1.0, b: float = 0.5) -> Array:
    return np.asarray(random_loss.aimd_constant(a, b) / np.sqrt(p))


def _highspeed_random(p: Array, rtt: float) -> Array:
    typical = np.maximum(_highspeed(p, rtt), _reno(p, rtt))
    return np.asarray(np.vectorize(random_loss.highspeed, otypes=[np.float64])(p, typical))


def _cubic_random(p: Array, rtt: float, c: float = 0.4, beta: float = 0.7) -> Array:
    cubic = random_loss.cubic_constant(beta) * c**0.25 * (rtt / p) ** 0.75
    return np.asarray(np.maximum(cubic, _reno_random(p, rtt)))


def _htcp_random(
    p: Array, rtt: float, beta: float = 0.5, beta_max: float = 0.8, adaptive_backoff: bool = True, rtt_scaling: bool = True
) -> Array:
    left, grown, area = _htcp_growth(rtt, beta, beta_max, adaptive_backoff, rtt_scaling)
    typical = _htcp(p, rtt, beta, beta_max, adaptive_backoff, rtt_scaling)

    def mean(p: float, typical: float) -> float:
        return random_loss.by_the_clock(left, grown, area, p, rtt, typical)

    return np.asarray(np.vectorize(mean, otypes=[np.float64])(p, typical))


_Range = tuple[float, float] | None
_POSITIVE, _SHARE = (0.0, math.inf), (0.0, 1.0)  # ranges of parameters, open at both ends
_SWITCH = None  # a parameter that is True or False

_RESPONSE: dict[str, tuple[Callable[..., Array], dict[str, _Range]]] = {
    "reno": (_reno, {"constant": _POSITIVE}),
    "highspeed": (_highspeed, {}),
    "scalable": (_scalable, {"a": _POSITIVE, "b": _SHARE, "low_window": _POSITIVE}),
    "cubic": (_cubic, {"c": _POSITIVE, "beta": _SHARE}),
    "htcp": (_htcp, {"beta": _SHARE, "beta_max": _SHARE, "adaptive_backoff": _SWITCH, "rtt_scaling": _SWITCH}),
    "griddt": (_griddt, {"a": _POSITIVE, "b": _SHARE}),
    "bic": (_bic, {"s_max": _POSITIVE, "s_min": _POSITIVE, "beta": _SHARE}),
}

# the same under random loss; Scalable's logarithm of the window is as stationary there as under periodic loss
_RANDOM: dict[str, Callable[..., Array]] = {
    "reno": _reno_random,
    "highspeed": _highspeed_random,
    "scalable": _scalable,
    "cubic": _cubic_random,
    "htcp": _htcp_random,
    "griddt": _griddt_random,
}


def _parameters(controller: str, given: dict[str, Any]) -> dict[str, float]:
    """Parameters of a response function, each within its range."""
    ranges = _RESPONSE[controller][1]
    for name in given:
        if name not in ranges:
            hint = nearest(name, list(ranges)) if ranges else " or any other parameter"
            raise InputError(f'"{controller}" does not take "{name}"{hint}')
    return {name: _within(value, ranges[name], f'{name} of "{controller}"') for name, value in given.items()}


def _within(value: Any, valid: _Range, what: str) -> float:
    if valid is None:
        if not isinstance(value, bool):
            raise InputError(f"{what} is True or False, not {value!r}")
        return value
    (low, high), found = valid, number(value, f"a number for {what}", "0.5")
    if not low < found < high:
        words = f"above {low:g} and below {high:g}" if high < math.inf else "positive and finite"
        raise InputError(f"{what} must be {words}, not {found:g}")
    return found


@overload
@of_arguments
def response(name: str, p: float, rtt: float | str = ..., loss: str = ..., **parameters: float) -> float: ...
@overload
@of_arguments
def response(name: str, p: Array, rtt: float | str = ..., loss: str = ..., **parameters: float) -> Array: ...
@of_arguments
def response(name: str, p: float | Array, rtt: float | str = 0.1, loss: str = "periodic", **parameters: float) -> float | Array:
    """Returns the mean window in segments of a congestion control at loss-event probability `p` per segment (array).

    `rtt` in seconds; only `cubic` and `htcp` depend on it. `loss`: `periodic`, one segment in 1/p, or `random`, each by itself
    with probability p: the mean over the stationary chain of windows at losses (`elephan.theory.random_loss`; 1.31 for Reno, 1.30
    for CUBIC's 1.054; not of `bic`). Names and parameters:
    `reno` (`constant` = sqrt(3/2), Mathis et al. 1997, periodic loss, an ACK a segment; 0.87 with delayed ACKs),
    `highspeed` (RFC 3649: 0.12 / p^0.835 down from p = 1e-3), `scalable` (`a`, `b`, `low_window`: time mean 0.0745/p),
    `cubic` (`c`, `beta`: RFC 9438 equation 5, or Reno's where that is larger), `htcp` (solved numerically; parameters and
    defaults are the controller's: with `adaptive_backoff`, on by default, a path without a queue leaves `beta_max` = 0.8, without
    it `beta` = 0.5; `rtt_scaling`, on by default, multiplies its growth by R / 0.1 s within 0.1 and 2),
    `griddt` (`a`, `b`: sqrt(a (2 - b) / (2 b p)) of any AIMD), `bic` (`s_max`, `s_min`, `beta`: Xu, Harfoush and Rhee 2004;
    solved numerically, the step taken anew at every ACK, with a round trip of recovery at each loss).
    `scalable` is Reno below `low_window` = 16 segments; a loss in 50 to 100 packets can hold it there, a quarter above the form.
    Fast convergence of `cubic` and `bic` is not in the forms: under periodic loss it lowers the mean, of bic to 2 % below the form
    at p = 1e-3 and 5 % at 1e-4.
    Valid for rare loss (p below about 1e-2), no timeouts, no other limit on the window.

    >>> round(el.theory.response("reno", 1e-4), 1)
    122.5
    >>> round(el.theory.response("cubic", 1e-6, rtt="100 ms"))
    5926
    >>> import numpy as np
    >>> el.theory.response("scalable", np.array([1e-3, 1e-4])).round()
    array([ 75., 745.])
    """
    if not isinstance(name, str) or name not in _RESPONSE:
        raise InputError(f'no response function "{name}"{nearest(str(name), list(_RESPONSE))}')
    rtt_s = seconds(rtt)
    finite(rtt=rtt_s)
    given = _parameters(name, parameters)
    forms = {"periodic": _RESPONSE[name][0], "random": _RANDOM.get(name)}
    if loss not in forms:
        raise InputError(f'loss is "periodic" or "random", not {loss!r}{nearest(str(loss), list(forms))}')
    form = forms[loss]
    if form is None:
        raise InputError(f'"{name}" has no response function under random loss; there are {", ".join(_RANDOM)}')
    return _back(form(_probability(p), rtt_s, **given), p)


@of_arguments
def mathis(p: float | Array, rtt: float | str, mss: float | str = 1460, constant: float = math.sqrt(1.5)) -> Any:
    """Returns the throughput in bit/s of Reno at loss probability `p` (array): `mss * 8 / rtt * constant / sqrt(p)`.

    Mathis et al. 1997. `constant`: 1.2247 periodic loss and an ACK a segment, 0.87 with delayed ACKs, 1.31 and 0.93
    with random loss.

    >>> round(el.theory.mathis(1e-4, "100 ms") / 1e6, 2)
    14.31
    """
    rtt_s, mss_b, constant = seconds(rtt), size_bytes(mss), number(constant, "a constant of the square-root law", "1.22")
    finite(rtt=rtt_s, mss=mss_b, constant=constant)
    return _back(np.asarray(_reno(_probability(p), rtt_s, constant) * mss_b * 8 / rtt_s), p)


@of_arguments
def pftk(
    p: float | Array,
    rtt: float | str,
    rto: float | str = 1.0,
    mss: float | str = 1460,
    b: float = 2,
    window_max: float = math.inf,
) -> Any:
    """Returns the throughput in bit/s of Reno with timeouts (Padhye et al. 1998, equation 32); `p` may be an array.

    `b` segments are acknowledged by one ACK; `rto` in seconds; `window_max` in segments.

    >>> round(el.theory.pftk(1e-2, "100 ms") / 1e6, 2)
    0.83
    """
    rtt_s, rto_s, mss_b = seconds(rtt), seconds(rto), size_bytes(mss)
    b, window_max = number(b, "a number of segments", "2"), number(window_max, "a number of segments", "100")
    finite(rtt=rtt_s, rto=rto_s, mss=mss_b, b=b)
    positive(window_max=window_max)
    q = _probability(p)
    waits = rto_s * np.minimum(1.0, 3 * np.sqrt(3 * b * q / 8)) * q * (1 + 32 * q**2)
    rate = np.minimum(window_max / rtt_s, 1 / (rtt_s * np.sqrt(2 * b * q / 3) + waits))
    return _back(np.asarray(rate * mss_b * 8), p)
