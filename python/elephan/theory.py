"""Closed forms to hold a simulation against: response functions, headroom, buffers, queues.

Every function takes numbers in base units (seconds, bit/s, bytes) or texts (`"10 Gbps"`, `"50 ms"`, `"0.5 MB"`); where
a parameter says "array", a numpy array gives an array of the same shape. Wrong values raise `InputError`, a
`ValueError`, with one line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from elephan.errors import InputError, nearest
from elephan.quantity import bits_per_second, metres, number, seconds, size_bytes

Array = npt.NDArray[np.float64]

QUANTUM_BITS = 512  # IEEE 802.3 Annex 31B: one pause quantum is 512 bit times
PAUSE_WIRE_BYTES = 84  # 64-byte MAC control frame + 8 preamble + 12 gap
ETHERNET_OVERHEAD_BYTES = 38  # 14 header + 4 FCS + 8 preamble + 12 gap
PROPAGATION_S_PER_M = 5e-9  # light in fibre or copper, about 5 ns/m
TCP_IP_HEADER_BYTES = 40
TIMESTAMP_OPTION_BYTES = 12  # RFC 7323, padded


def _positive(**named: Any) -> None:
    for name, value in named.items():
        if not number(value, f"a number for {name}", "1") > 0:
            raise InputError(f"{name} must be positive, not {value:g}")


def _finite(**named: Any) -> None:
    """Positive, and not infinite where that would leave infinity over infinity."""
    _positive(**named)
    for name, value in named.items():
        if math.isinf(value):
            raise InputError(f"{name} must be finite, not {value:g}")


def _not_negative(**named: Any) -> None:
    for name, value in named.items():
        if not 0 <= number(value, f"a number for {name}", "1") < math.inf:
            raise InputError(f"{name} must be 0 or more and finite, not {value:g}")


def _probability(p: float | Array) -> Array:
    try:
        array = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{p!r} is not a loss probability; write it like 1e-4") from None
    if not ((array > 0) & (array <= 1)).all():
        raise InputError("the loss probability p must be above 0 and at most 1")
    return array


def _back(value: Array, like: Any) -> Any:
    return float(value) if np.ndim(like) == 0 else value


# -- response functions ----------------------------------------------------------------------------------------------


def _reno(p: Array, _rtt: float, constant: float = math.sqrt(1.5)) -> Array:
    return np.asarray(constant / np.sqrt(p))


def _highspeed(p: Array, _rtt: float) -> Array:
    # RFC 3649 section 5: w = 0.12 / p^0.835, Reno (1.2 / sqrt(p)) above p = 1e-3
    return np.asarray(np.where(p > 1e-3, 1.2 / np.sqrt(p), 0.12 / p**0.835))


def _scalable(p: Array, _rtt: float, a: float = 0.01, b: float = 0.125, low_window: float = 16.0) -> Array:
    # time mean: the logarithm of the window is stationary when ln(1 + a) growth per RTT meets -ln(1 - b) per event;
    # below low_window the law is Reno
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
    # Without a queue RTTmin / RTTmax is 1, so that adaptive backoff leaves the most that it may.
    left = max(beta, beta_max) if adaptive_backoff else beta
    # f = max(1, k (1 + 10 u + 0.25 u^2)), u = t - 1 s from 0 on: constant up to a time `still`, then base + slope v + k v^2 / 4.
    k = 1 / min(max(0.1 / rtt, 0.5), 10) if rtt_scaling else 1.0
    base = max(1.0, k)
    flat = 2 * (math.sqrt(100 + base / k - 1) - 10)  # 10 u + 0.25 u^2 = base / k - 1
    still, slope = 1 + flat, k * (10 + flat / 2)
    out = np.empty(p.shape)
    for index, value in np.ndenumerate(p):
        low, high = rtt, 1e6

        def epoch(t: float) -> tuple[float, float]:
            late = max(0.0, t - still)
            grown = base * t + slope * late**2 / 2 + k * late**3 / 12
            area = base * t * t / 2 + slope * late**3 / 6 + k * late**4 / 48
            scale = 2 * (1 - left) / rtt
            bottom = left * scale * grown / (1 - left)
            return bottom, (bottom * t + scale * area) / rtt

        for _ in range(200):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if epoch(middle)[1] < 1 / value else (low, middle)
        out[index] = 1 / value * rtt / low
    return out


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


def _parameters(law: str, given: dict[str, Any]) -> dict[str, float]:
    """Parameters of a response function, each within its range."""
    ranges = _RESPONSE[law][1]
    for name in given:
        if name not in ranges:
            hint = nearest(name, list(ranges)) if ranges else " or any other parameter"
            raise InputError(f'"{law}" does not take "{name}"{hint}')
    return {name: _within(value, ranges[name], f'{name} of "{law}"') for name, value in given.items()}


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
def response(name: str, p: float, rtt: float | str = ..., **parameters: float) -> float: ...
@overload
def response(name: str, p: Array, rtt: float | str = ..., **parameters: float) -> Array: ...
def response(name: str, p: float | Array, rtt: float | str = 0.1, **parameters: float) -> float | Array:
    """Mean window in segments of a congestion control at loss-event probability `p` per segment (array).

    `rtt` in seconds; only `cubic` and `htcp` depend on it. Names and parameters:
    `reno` (`constant` = sqrt(3/2), Mathis et al. 1997, periodic loss, an ACK a segment; 0.87 with delayed ACKs),
    `highspeed` (RFC 3649: 0.12 / p^0.835 down from p = 1e-3), `scalable` (`a`, `b`, `low_window`: time mean 0.0745/p),
    `cubic` (`c`, `beta`: RFC 9438 equation 5, or Reno's where that is larger), `htcp` (solved numerically; parameters and
    defaults are the law's: with `adaptive_backoff`, on by default, a path without a queue leaves `beta_max` = 0.8, without it
    `beta` = 0.5; `rtt_scaling`, on by default, multiplies its growth by R / 0.1 s within 0.1 and 2),
    `griddt` (`a`, `b`: sqrt(a (2 - b) / (2 b p)) of any AIMD), `bic` (`s_max`, `s_min`, `beta`: Xu, Harfoush and Rhee 2004;
    solved numerically, the step taken anew at every ACK, with a round trip of recovery at each loss).
    `scalable` is Reno below `low_window` = 16 segments; a loss in 50 to 100 packets can hold it there, a quarter above the form.
    Fast convergence of `cubic` and `bic` is not in the forms: under periodic loss it lowers the mean, of bic to 2 % below the form
    at p = 1e-3 and 5 % at 1e-4.
    Valid for rare loss (p below about 1e-2), no timeouts, no other limit on the window.
    """
    if not isinstance(name, str) or name not in _RESPONSE:
        raise InputError(f'no response function "{name}"{nearest(str(name), list(_RESPONSE))}')
    rtt_s = seconds(rtt)
    _finite(rtt=rtt_s)
    given = _parameters(name, parameters)
    return _back(_RESPONSE[name][0](_probability(p), rtt_s, **given), p)  # type: ignore[no-any-return]


def mathis(p: float | Array, rtt: float | str, mss: float | str = 1460, constant: float = math.sqrt(1.5)) -> Any:
    """Throughput in bit/s of Reno at loss probability `p` (array): `mss * 8 / rtt * constant / sqrt(p)`.

    Mathis et al. 1997. `constant`: 1.2247 periodic loss and an ACK a segment, 0.87 with delayed ACKs, 1.31 and 0.93
    with random loss.
    """
    rtt_s, mss_b, constant = seconds(rtt), size_bytes(mss), number(constant, "a constant of the square-root law", "1.22")
    _finite(rtt=rtt_s, mss=mss_b, constant=constant)
    return _back(np.asarray(_reno(_probability(p), rtt_s, constant) * mss_b * 8 / rtt_s), p)


def pftk(
    p: float | Array,
    rtt: float | str,
    rto: float | str = 1.0,
    mss: float | str = 1460,
    b: float = 2,
    window_max: float = math.inf,
) -> Any:
    """Throughput in bit/s of Reno with timeouts (Padhye et al. 1998, equation 32); `p` may be an array.

    `b` segments are acknowledged by one ACK; `rto` in seconds; `window_max` in segments.
    """
    rtt_s, rto_s, mss_b = seconds(rtt), seconds(rto), size_bytes(mss)
    b, window_max = number(b, "a number of segments", "2"), number(window_max, "a number of segments", "100")
    _finite(rtt=rtt_s, rto=rto_s, mss=mss_b, b=b)
    _positive(window_max=window_max)
    q = _probability(p)
    waits = rto_s * np.minimum(1.0, 3 * np.sqrt(3 * b * q / 8)) * q * (1 + 32 * q**2)
    rate = np.minimum(window_max / rtt_s, 1 / (rtt_s * np.sqrt(2 * b * q / 3) + waits))
    return _back(np.asarray(rate * mss_b * 8), p)


# -- Ethernet --------------------------------------------------------------------------------------------------------


def max_goodput(rate: float | str, mtu: float | str = 1500, timestamps: bool = False) -> float:
    """Highest TCP goodput of an Ethernet link in bit/s: payload over wire bytes of full packets of `mtu` IP bytes.

    10 Gb/s and 1500 bytes: 9.4928 Gb/s, with timestamps 9.4148 Gb/s.
    """
    rate_bps, mtu = bits_per_second(rate), size_bytes(mtu)
    payload = mtu - TCP_IP_HEADER_BYTES - (TIMESTAMP_OPTION_BYTES if timestamps else 0)
    _finite(rate=rate_bps, payload=payload)
    return rate_bps * payload / (mtu + ETHERNET_OVERHEAD_BYTES)


def _in_flight_bytes(rate: float, length: float, quanta: float) -> tuple[int, int]:
    """Bytes in flight on both directions of the cable, and bytes during the response time."""
    return math.ceil(2 * length * PROPAGATION_S_PER_M * rate / 8 - 1e-9), math.ceil(quanta * QUANTUM_BITS / 8)


def _quanta(quanta: float) -> float:
    return number(quanta, "a number of pause quanta of 512 bit times", "60")


def _whole(value: float, name: str) -> int:
    if not math.isfinite(value) or value != int(value):
        raise InputError(f"{name} must be a whole number of bytes, not {value:g}")
    return int(value)


def headroom(rate: float | str, length: float | str, mtu: float | str = 1538, quanta: float = 60) -> int:
    """Vendor's headroom in bytes per ingress port: what can still arrive after the decision to send XOFF.

    A frame already started in the reverse direction, the PAUSE frame, two propagation times, the response time of the
    sender and the frame that it just started. `length` in metres or as "100 m", `mtu` the largest frame on the wire (1538
    for 1500 IP bytes), `quanta` the response time in pause quanta. 10 Gb/s, 100 m, 1538 B, 60 quanta: 8250 B.
    Not a proof of losslessness: see `headroom_exact`.
    """
    rate_bps, length_m, mtu_b, quanta = bits_per_second(rate), metres(length), _whole(size_bytes(mtu), "mtu"), _quanta(quanta)
    _finite(rate=rate_bps, mtu=mtu_b)
    _not_negative(length=length_m, quanta=quanta)
    cable, answer = _in_flight_bytes(rate_bps, length_m, quanta)
    return 2 * mtu_b + PAUSE_WIRE_BYTES + cable + answer


def headroom_exact(
    rate: float | str,
    length: float | str,
    mtu: float | str = 1538,
    quanta: float = 60,
    ports: int = 1,
    charged: float | str | None = None,
) -> int:
    """Bytes of shared memory needed above XOFF so that `ports` ingress ports never lose a frame, without any drain.

    `(F-1) + ceil(D/W) F + (ports-1) (floor(D/W) + 2) F`, with F the charged bytes of the largest frame (`charged`,
    default `mtu` less 20 B preamble and gap), W = `mtu` its wire bytes and D the wire bytes that can still start
    after the decision.
    10 Gb/s, 100 m, 60 quanta, 3 ports: 27 323 B, so 21 829 B is the largest lossless XOFF in 49 152 B.
    """
    count = number(ports, "a number of ports", "3")
    if not 1 <= count < math.inf or count != int(count):
        raise InputError(f"ports must be a whole number from 1 on, not {count:g}")
    mtu_b = _whole(size_bytes(mtu), "mtu")
    frame = mtu_b - 20 if charged is None else _whole(size_bytes(charged), "charged")
    _positive(charged=frame)
    late = headroom(rate, length, mtu_b, quanta) - mtu_b
    whole = late // mtu_b
    return (frame - 1) + -(-late // mtu_b) * frame + (int(count) - 1) * (whole + 2) * frame


def pause_time(rate: float | str, quanta: float) -> float:
    """Seconds of `quanta` pause quanta: 0xFFFF at 10 Gb/s are 3.355392 ms."""
    rate_bps, quanta = bits_per_second(rate), _quanta(quanta)
    _positive(rate=rate_bps)
    _not_negative(quanta=quanta)
    return quanta * QUANTUM_BITS / rate_bps


# -- buffers on fast-slow-fast paths (Meijer, de Laat et al.) --------------------------------------------------------


def bdp(rate: float | str, rtt: float | str) -> float:
    """Bandwidth-delay product in bytes."""
    rate_bps, rtt_s = bits_per_second(rate), seconds(rtt)
    _positive(rate=rate_bps, rtt=rtt_s)
    return rate_bps * rtt_s / 8


def memory_needed(f: float | str, s: float | str, rtt: float | str, clocked: bool = False) -> float:
    """Bytes of memory before a slow link `s` so that a window `s * rtt`, sent at the fast rate `f`, loses nothing.

    `(f - s) / f * s * rtt`; 0 when the link is not slower. `clocked`: sent in slow start by acknowledgements that come at
    `s` and let out two segments each, so at `min(f, 2 s)` instead of `f`.
    """
    fast, slow, rtt_s = bits_per_second(f), bits_per_second(s), seconds(rtt)
    _positive(f=fast, s=slow, rtt=rtt_s)
    fast = min(fast, 2 * slow) if clocked else fast
    return max(0.0, (fast - slow) / fast * slow * rtt_s / 8)


def forbidden_area(f: float | str, memory: float | str, rtt: float | str, clocked: bool = False) -> tuple[float, float] | None:
    """Rates of the slow link, `(low, high)` in bit/s, at which `memory` bytes lose part of a full window, or None.

    Roots of `s^2 - f s + f M / R = 0`: 1 Gb/s, 0.5 MB and 50 ms give 87.69 and 912.31 Mb/s. It exists above R = 4 M /
    f. `clocked`, as in `memory_needed`: the lower end is then `2 M / R`, and the upper one, above f / 2, the same.
    """
    fast, bits, rtt_s = bits_per_second(f), 8 * size_bytes(memory), seconds(rtt)
    _finite(f=fast, memory=bits, rtt=rtt_s)
    square = fast * fast - 4 * fast * bits / rtt_s
    if square <= 0:
        return None
    root = math.sqrt(square)
    return 2 * bits / rtt_s if clocked else (fast - root) / 2, (fast + root) / 2


def forbidden_rtt_min(f: float | str, memory: float | str) -> float:
    """Seconds of round trip from which a forbidden area exists: `4 M / f`. 1 Gb/s and 0.5 MB: 16 ms."""
    fast, bits = bits_per_second(f), 8 * size_bytes(memory)
    _positive(f=fast, memory=bits)
    return 4 * bits / fast


def rtt_max(f: float | str, s: float | str, memory: float | str) -> float:
    """The longest round trip in seconds without loss at slow rate `s`: `M f / (s (f - s))`; infinite if s >= f."""
    fast, slow, bits = bits_per_second(f), bits_per_second(s), 8 * size_bytes(memory)
    _finite(f=fast, s=slow, memory=bits)
    return math.inf if slow >= fast else bits * fast / (slow * (fast - slow))


def burst_first_lost(f: float | str, s: float | str, memory: float | str, frame: float | str) -> float:
    """Number of the first packet, counted from 0, that a burst at rate `f` loses before a link `s` with `memory` bytes.

    `M / (B (1 - s / f))`, with `frame` the bytes B that a packet takes of the memory (with its header and check sequence, without
    preamble and gap) and both rates on the wire; infinite if s >= f. Whole packets and the one in service move it by less than
    `1 / (1 - s / f)`. 1 Gb/s, 155.52 Mb/s, 0.5 MB and 1000 B: 592.1.
    """
    fast, slow, held, each = bits_per_second(f), bits_per_second(s), size_bytes(memory), size_bytes(frame)
    _positive(f=fast, s=slow, memory=held, frame=each)
    return math.inf if slow >= fast else held / (each * (1 - slow / fast))


def burst_lost(packets: float, f: float | str, s: float | str, memory: float | str, frame: float | str) -> float:
    """Packets that a burst of `packets` loses: of those after the first lost one a share of `1 - s / f`.

    45 000 packets of 1000 B at 1 Gb/s before 155.52 Mb/s and 0.5 MB: 37 502, 83 %.
    """
    _not_negative(packets=packets)
    fast, slow = bits_per_second(f), bits_per_second(s)
    beyond = packets - burst_first_lost(f, s, memory, frame)
    return max(0.0, beyond * (1 - slow / fast)) if beyond > 0 else 0.0


# -- transmit queues of hosts ----------------------------------------------------------------------------------------


def txqueuelen_needed(window: float, growth: float = 2.0, nic: float | str | None = None, path: float | str | None = None) -> float:
    """Packets that wait in qdisc and ring of a host when a window of `window` segments is reached: `W (g - 1) / g`.

    `growth`: of the window in a round trip of slow start, 2, or 1.5 with delayed ACKs counted as one. `nic` and `path`: rates
    of the device and of the path, whose slower is the pace of the ACKs; equal unless given. In general
    `W max(0, 1 - nic / (g min(path, nic)))`: a device faster than `growth` times the path holds nothing back. Smaller room ends
    slow start with a send stall.
    """
    _finite(window=window, growth=growth)
    if growth < 1:
        raise InputError(f"the growth of a window in slow start is 1 or more, not {growth:g}")
    if nic is None or path is None:
        return window * (growth - 1) / growth
    device, slowest = bits_per_second(nic), bits_per_second(path)
    _positive(nic=device, path=slowest)
    return window * max(0.0, 1 - device / (growth * min(slowest, device)))


def stalled_goodput(
    room: float, rtt: float | str, duration: float | str, mss: float = 1448, growth: float = 2.0, per_round: float = 1.0
) -> tuple[float, float]:
    """Least and most mean goodput in bit/s of Reno in the `duration` after a send stall that ended slow start.

    `room`: packets Q of qdisc and ring, at a device as slow as the path. A round of w segments leaves `(g - 1) w` waiting, so
    the room is full at a window between `g Q / (g - 1)` and Q more, by where rounds fall; half of it stays and grows by
    `per_round` = a segments a round trip, 1, or 0.5 where delayed ACKs are counted: `(window / 2 + a T / (2 R)) mss / R`. For
    Q = 356, 100 ms, 60 s: 76 to 97 Mb/s. The rate of the path is not looked at.
    """
    rtt_s, time_s = seconds(rtt), seconds(duration)
    _finite(room=room, rtt=rtt_s, duration=time_s, mss=mss, per_round=per_round, growth=growth)
    if growth <= 1:
        raise InputError(f"slow start grows: more than 1 a round trip, not {growth:g}")
    least = growth * room / (growth - 1)
    low, high = ((window / 2 + per_round * time_s / rtt_s / 2) * mss * 8 / rtt_s for window in (least, least + room))
    return low, high


# -- disks and transfer programs -------------------------------------------------------------------------------------


def socket_buffer_rate(buffer: float | str, rtt: float | str) -> float:
    """Most that a stream carries in bit/s: `B / R`. 600 kB over 6 ms: 800 Mb/s."""
    size, rtt_s = size_bytes(buffer), seconds(rtt)
    _positive(buffer=size, rtt=rtt_s)
    return 8 * size / rtt_s


def copy_rate(read: float | str, network: float | str, write: float | str, overlapped: bool = True, cached: bool = False) -> float:
    """Rate from disk to disk in bit/s: `min(D_r, N, D_w)`, or of a serial program `1 / (1/D_r + 1/N + 1/D_w)`.

    Behind a write-back cache (`cached`) the disk writes while a serial program goes on: `min(1 / (1/D_r + 1/N), D_w)`.
    """
    rates = [bits_per_second(rate) for rate in (read, network, write)]
    _positive(read=rates[0], network=rates[1], write=rates[2])
    if overlapped:
        return min(rates)
    return min(1 / (1 / rates[0] + 1 / rates[1]), rates[2]) if cached else 1 / sum(1 / rate for rate in rates)


def cache_full_after(cache: float | str, inflow: float | str, write: float | str) -> float:
    """Seconds until a write-back cache is full: `C / (N - W)`; infinite if the disk writes what comes.

    100 MB between 800 and 400 Mb/s: 2 s.
    """
    bits, rate, drain = 8 * size_bytes(cache), bits_per_second(inflow), bits_per_second(write)
    _positive(cache=bits, inflow=rate, write=drain)
    return bits / (rate - drain) if rate > drain else math.inf


def read_ahead_rate(rate: float | str, read_ahead: float | str, latency: float | str) -> float:
    """Sequential reads in bit/s with a read-ahead window A: `1 / (1/R + L / (8 A))`. 800 Mb/s, 100 kB, 1 ms: 400 Mb/s."""
    full, bits, cost = bits_per_second(rate), 8 * size_bytes(read_ahead), seconds(latency)
    _positive(rate=full, read_ahead=bits)
    _not_negative(latency=cost)
    return 1 / (1 / full + cost / bits)


# -- queues ----------------------------------------------------------------------------------------------------------


def _load(load: float) -> float:
    load = number(load, "a load", "0.5")
    if not 0 <= load < 1:
        raise InputError(f"the load must be at least 0 and below 1, not {load:g}")
    return load


def md1_wait(load: float, service_time: float | str) -> float:
    """Mean wait in seconds (without service) of M/D/1, Pollaczek-Khinchine: `load * service / (2 (1 - load))`."""
    service = seconds(service_time)
    _positive(service_time=service)
    return _load(load) * service / (2 * (1 - load))


def md1_queue(load: float) -> float:
    """Mean number waiting (not in service) in M/D/1: `load^2 / (2 (1 - load))`."""
    return _load(load) ** 2 / (2 * (1 - load))


def ps_response(size: float | str, rate: float | str, load: float) -> float:
    """Mean response time in seconds of `size` bytes under processor sharing (M/G/1-PS): `S / (C (1 - load))`."""
    size_b, rate_bps = size_bytes(size), bits_per_second(rate)
    _positive(size=size_b, rate=rate_bps)
    return size_b * 8 / (rate_bps * (1 - _load(load)))
