"""Closed forms to hold a simulation against: response functions, headroom, buffers, queues.

Every function takes numbers in base units (seconds, bit/s, bytes) or texts (`"10 Gbps"`, `"50 ms"`, `"0.5 MB"`); where
a parameter says "array", a numpy array gives an array of the same shape. Wrong values raise `InputError`, a
`ValueError`, with one line.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from elephan.base.errors import InputError, of_arguments
from elephan.base.quantity import bits_per_second, finite, metres, not_negative, number, positive, seconds, size_bytes
from elephan.theory.response import mathis, pftk, response

__all__ = [
    "ETHERNET_OVERHEAD_BYTES",
    "PAUSE_WIRE_BYTES",
    "PROPAGATION_S_PER_M",
    "QUANTUM_BITS",
    "TCP_IP_HEADER_BYTES",
    "TIMESTAMP_OPTION_BYTES",
    "bdp",
    "burst_first_lost",
    "burst_lost",
    "cache_full_after",
    "copy_rate",
    "dynamic_threshold",
    "forbidden_area",
    "forbidden_rtt_min",
    "headroom",
    "headroom_exact",
    "mathis",
    "max_goodput",
    "md1_queue",
    "md1_wait",
    "memory_needed",
    "pause_time",
    "pftk",
    "ps_response",
    "read_ahead_rate",
    "response",
    "rtt_max",
    "socket_buffer_rate",
    "stalled_goodput",
    "txqueuelen_needed",
]


def __dir__() -> list[str]:
    """What tab completion offers, without what is imported."""
    return __all__


Array = npt.NDArray[np.float64]

QUANTUM_BITS = 512  # IEEE 802.3 Annex 31B: one pause quantum is 512 bit times
PAUSE_WIRE_BYTES = 84  # 64-byte MAC control frame + 8 preamble + 12 gap
ETHERNET_OVERHEAD_BYTES = 38  # 14 header + 4 FCS + 8 preamble + 12 gap
PROPAGATION_S_PER_M = 5e-9  # light in fibre or copper, about 5 ns/m
TCP_IP_HEADER_BYTES = 40
IPV6_MORE_BYTES = 20  # that the header of IPv6 is longer by
TIMESTAMP_OPTION_BYTES = 12  # RFC 7323, padded


@of_arguments
def max_goodput(rate: float | str, mtu: float | str = 1500, timestamps: bool = False, ipv6: bool = False) -> float:
    """Returns the highest TCP goodput of an Ethernet link in bit/s: payload over wire bytes of full packets.

    `mtu` is the size of an IP packet in bytes. `timestamps`: each packet has the 12 bytes of that option. `ipv6`: the IP header has
    40 bytes instead of 20. Raises InputError.

    >>> el.theory.max_goodput("10 Gbps")
    9492847854.356306
    >>> round(el.theory.max_goodput(10e9, mtu=9000, timestamps=True) / 1e9, 4)
    9.9004
    >>> round(el.theory.max_goodput("1 Gbps", ipv6=True) / 1e6, 1)
    936.3
    """
    rate_bps, mtu = bits_per_second(rate), size_bytes(mtu)
    headers = TCP_IP_HEADER_BYTES + (TIMESTAMP_OPTION_BYTES if timestamps else 0) + (IPV6_MORE_BYTES if ipv6 else 0)
    finite(rate=rate_bps, mtu=mtu)
    if mtu <= headers:
        raise InputError(f"mtu must be more than the {headers} bytes of TCP and IP headers, not {mtu:g}")
    payload = mtu - headers
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


@of_arguments
def headroom(rate: float | str, length: float | str, mtu: float | str = 1538, quanta: float = 60) -> int:
    """Returns the vendors' headroom in bytes per ingress port: what can still arrive after the decision to send XOFF.

    The sum has five parts: a frame already started in the reverse direction, the PAUSE frame, two propagation times, the response
    time of the sender, and the frame that it has just started. `length` is in metres or a text such as "100 m". `mtu` is the
    largest frame on the wire (1538 for 1500 IP bytes), `quanta` the response time in pause quanta. The sum does not prove that
    no frame is lost: see `headroom_exact`. Raises InputError.

    >>> el.theory.headroom("10 Gbps", "100 m")
    8250
    """
    rate_bps, length_m, mtu_b, quanta = bits_per_second(rate), metres(length), _whole(size_bytes(mtu), "mtu"), _quanta(quanta)
    finite(rate=rate_bps, mtu=mtu_b)
    not_negative(length=length_m, quanta=quanta)
    cable, answer = _in_flight_bytes(rate_bps, length_m, quanta)
    return 2 * mtu_b + PAUSE_WIRE_BYTES + cable + answer


@of_arguments
def headroom_exact(
    rate: float | str,
    length: float | str,
    mtu: float | str = 1538,
    quanta: float = 60,
    ports: int = 1,
    charged: float | str | None = None,
) -> int:
    """Returns the bytes of shared memory needed above XOFF so that `ports` ingress ports never lose a frame, without any drain.

    `(F-1) + ceil(D/W) F + (ports-1) (floor(D/W) + 2) F`, with F the charged bytes of the largest frame (`charged`,
    default `mtu` less 20 B preamble and gap), W = `mtu` its wire bytes and D the wire bytes that can still start
    after the decision.
    10 Gb/s, 100 m, 60 quanta, 3 ports: 27 323 B, so 21 829 B is the largest lossless XOFF in 49 152 B.

    >>> el.theory.headroom_exact("10 Gbps", "100 m", ports=3)
    27323
    """
    count = number(ports, "a number of ports", "3")
    if not 1 <= count < math.inf or count != int(count):
        raise InputError(f"ports must be a whole number from 1 on, not {count:g}")
    mtu_b = _whole(size_bytes(mtu), "mtu")
    frame = mtu_b - 20 if charged is None else _whole(size_bytes(charged), "charged")
    positive(charged=frame)
    late = headroom(rate, length, mtu_b, quanta) - mtu_b
    whole = late // mtu_b
    return (frame - 1) + -(-late // mtu_b) * frame + (int(count) - 1) * (whole + 2) * frame


@of_arguments
def pause_time(rate: float | str, quanta: float) -> float:
    """Returns the seconds of `quanta` pause quanta at a rate.

    >>> el.theory.pause_time("10 Gbps", 0xFFFF)
    0.003355392
    """
    rate_bps, quanta = bits_per_second(rate), _quanta(quanta)
    positive(rate=rate_bps)
    not_negative(quanta=quanta)
    if quanta > 0xFFFF:
        raise InputError(f"quanta must be at most 65535, what a PAUSE frame can say, not {quanta:g}")
    return quanta * QUANTUM_BITS / rate_bps


@of_arguments
def dynamic_threshold(memory: float | str, alpha: float, ports: int = 1) -> float:
    """Returns the bytes that each of `ports` equally busy ports holds of a shared memory with a dynamic threshold.

    A port may hold `alpha` times what is free (Choudhury and Hahne 1998). Busy ports hold as much as they may, so each holds
    `alpha M / (1 + n alpha)` and `M / (1 + n alpha)` stays free. A port of the switch in the DCTCP paper holds 700 KB of 4 MB.
    Raises InputError.

    >>> round(el.theory.dynamic_threshold("4 MB", 0.21))
    694215
    >>> el.theory.dynamic_threshold("9 KB", 1, ports=2)
    3000.0
    """
    count, memory_b = number(ports, "a number of ports", "3"), size_bytes(memory)
    if not 1 <= count < math.inf or count != int(count):
        raise InputError(f"ports must be a whole number from 1 on, not {count:g}")
    positive(memory=memory_b, alpha=alpha)
    return alpha * memory_b / (1 + count * alpha)


# -- buffers on fast-slow-fast paths (Meijer, de Laat et al.) --------------------------------------------------------


@of_arguments
def bdp(rate: float | str, rtt: float | str) -> float:
    """Returns the bandwidth-delay product in bytes.

    >>> el.theory.bdp("1 Gbps", "100 ms")
    12500000.0
    """
    rate_bps, rtt_s = bits_per_second(rate), seconds(rtt)
    positive(rate=rate_bps, rtt=rtt_s)
    return rate_bps * rtt_s / 8


@of_arguments
def memory_needed(f: float | str, s: float | str, rtt: float | str, clocked: bool = False) -> float:
    """Returns the bytes of memory before a slow link `s` with which a window `s * rtt`, sent at the fast rate `f`, loses nothing.

    `(f - s) / f * s * rtt`; 0 when the link is not slower. `clocked`: sent in slow start by acknowledgements that come at
    `s` and let out two segments each, so at `min(f, 2 s)` instead of `f`.

    >>> round(el.theory.memory_needed("1 Gbps", "622 Mbps", "50 ms"))
    1469475
    """
    fast, slow, rtt_s = bits_per_second(f), bits_per_second(s), seconds(rtt)
    positive(f=fast, s=slow, rtt=rtt_s)
    fast = min(fast, 2 * slow) if clocked else fast
    return max(0.0, (fast - slow) / fast * slow * rtt_s / 8)


@of_arguments
def forbidden_area(f: float | str, memory: float | str, rtt: float | str, clocked: bool = False) -> tuple[float, float] | None:
    """Returns the rates of the slow link, `(low, high)` in bit/s, at which `memory` bytes lose part of a full window, or None.

    Roots of `s^2 - f s + f M / R = 0`: 1 Gb/s, 0.5 MB and 50 ms give 87.69 and 912.31 Mb/s. It exists above R = 4 M /
    f. `clocked`, as in `memory_needed`: the lower end is then `2 M / R`, and the upper one, above f / 2, the same.

    >>> low, high = el.theory.forbidden_area("1 Gbps", "0.5 MB", "50 ms")
    >>> round(low / 1e6, 2), round(high / 1e6, 2)
    (87.69, 912.31)
    """
    fast, bits, rtt_s = bits_per_second(f), 8 * size_bytes(memory), seconds(rtt)
    finite(f=fast, memory=bits, rtt=rtt_s)
    square = fast * fast - 4 * fast * bits / rtt_s
    if square <= 0:
        return None
    root = math.sqrt(square)
    return 2 * bits / rtt_s if clocked else (fast - root) / 2, (fast + root) / 2


@of_arguments
def forbidden_rtt_min(f: float | str, memory: float | str) -> float:
    """Returns the round-trip time in seconds from which a forbidden area exists: `4 M / f`.

    >>> el.theory.forbidden_rtt_min("1 Gbps", "0.5 MB")
    0.016
    """
    fast, bits = bits_per_second(f), 8 * size_bytes(memory)
    positive(f=fast, memory=bits)
    return 4 * bits / fast


@of_arguments
def rtt_max(f: float | str, s: float | str, memory: float | str) -> float:
    """Returns the longest round-trip time in seconds without loss at the slow rate `s`: `M f / (s (f - s))`; infinite if s >= f.

    >>> round(el.theory.rtt_max("1 Gbps", "622 Mbps", "0.5 MB"), 5)
    0.01701
    """
    fast, slow, bits = bits_per_second(f), bits_per_second(s), 8 * size_bytes(memory)
    finite(f=fast, s=slow, memory=bits)
    return math.inf if slow >= fast else bits * fast / (slow * (fast - slow))


@of_arguments
def burst_first_lost(f: float | str, s: float | str, memory: float | str, frame: float | str) -> float:
    """Returns the number, counted from 0, of the first packet that a burst at rate `f` loses before a link `s` with `memory` bytes.

    `M / (B (1 - s / f))`, with `frame` the bytes B that a packet takes of the memory (with its header and check sequence, without
    preamble and gap) and both rates on the wire; infinite if s >= f. Whole packets and the one in service move it by less than
    `1 / (1 - s / f)`. 1 Gb/s, 155.52 Mb/s, 0.5 MB and 1000 B: 592.1.

    >>> round(el.theory.burst_first_lost("1 Gbps", "155.52 Mbps", "0.5 MB", 1000), 1)
    592.1
    """
    fast, slow, held, each = bits_per_second(f), bits_per_second(s), size_bytes(memory), size_bytes(frame)
    positive(f=fast, s=slow, memory=held, frame=each)
    return math.inf if slow >= fast else held / (each * (1 - slow / fast))


@of_arguments
def burst_lost(packets: float, f: float | str, s: float | str, memory: float | str, frame: float | str) -> float:
    """Returns how many packets a burst of `packets` loses: of those after the first lost one a share of `1 - s / f`.

    45 000 packets of 1000 B at 1 Gb/s before 155.52 Mb/s and 0.5 MB: 37 502, 83 %.

    >>> round(el.theory.burst_lost(45_000, "1 Gbps", "155.52 Mbps", "0.5 MB", 1000))
    37502
    """
    not_negative(packets=packets)
    fast, slow = bits_per_second(f), bits_per_second(s)
    beyond = packets - burst_first_lost(f, s, memory, frame)
    return max(0.0, beyond * (1 - slow / fast)) if beyond > 0 else 0.0


# -- transmit queues of hosts ----------------------------------------------------------------------------------------


@of_arguments
def txqueuelen_needed(window: float, growth: float = 2.0, nic: float | str | None = None, path: float | str | None = None) -> float:
    """Returns the packets that wait in qdisc and ring of a host at a window of `window` segments: `W (g - 1) / g`.

    `growth`: of the window in a round trip of slow start, 2, or 1.5 with delayed ACKs counted as one. `nic` and `path`: rates
    of the device and of the path, whose slower is the pace of the ACKs; equal unless given. In general
    `W max(0, 1 - nic / (g min(path, nic)))`: a device faster than `growth` times the path holds nothing back. Smaller room ends
    slow start with a send stall.

    >>> el.theory.txqueuelen_needed(1000)
    500.0
    """
    finite(window=window, growth=growth)
    if growth < 1:
        raise InputError(f"the growth of a window in slow start is 1 or more, not {growth:g}")
    if nic is None or path is None:
        return window * (growth - 1) / growth
    device, slowest = bits_per_second(nic), bits_per_second(path)
    positive(nic=device, path=slowest)
    return window * max(0.0, 1 - device / (growth * min(slowest, device)))


@of_arguments
def stalled_goodput(
    room: float, rtt: float | str, duration: float | str, mss: float = 1448, growth: float = 2.0, per_round: float = 1.0
) -> tuple[float, float]:
    """Returns the least and the most mean goodput in bit/s of Reno in the `duration` after a send stall that ended slow start.

    `room`: packets Q of qdisc and ring, at a device as slow as the path. A round of w segments leaves `(g - 1) w` waiting, so
    the room is full at a window between `g Q / (g - 1)` and Q more, by where rounds fall; half of it stays and grows by
    `per_round` = a segments a round trip, 1, or 0.5 where delayed ACKs are counted: `(window / 2 + a T / (2 R)) mss / R`. For
    Q = 356, 100 ms, 60 s: 76 to 97 Mb/s. The rate of the path is not looked at.

    >>> low, high = el.theory.stalled_goodput(356, "100 ms", "60 s")
    >>> round(low / 1e6), round(high / 1e6)
    (76, 97)
    """
    rtt_s, time_s = seconds(rtt), seconds(duration)
    finite(room=room, rtt=rtt_s, duration=time_s, mss=mss, per_round=per_round, growth=growth)
    if growth <= 1:
        raise InputError(f"slow start grows: more than 1 a round trip, not {growth:g}")
    least = growth * room / (growth - 1)
    low, high = ((window / 2 + per_round * time_s / rtt_s / 2) * mss * 8 / rtt_s for window in (least, least + room))
    return low, high


# -- disks and transfer programs -------------------------------------------------------------------------------------


@of_arguments
def socket_buffer_rate(buffer: float | str, rtt: float | str) -> float:
    """Returns the most that a stream carries in bit/s with a socket buffer: `B / R`.

    >>> el.theory.socket_buffer_rate("600 kB", "6 ms")
    800000000.0
    """
    size, rtt_s = size_bytes(buffer), seconds(rtt)
    positive(buffer=size, rtt=rtt_s)
    return 8 * size / rtt_s


@of_arguments
def copy_rate(read: float | str, network: float | str, write: float | str, overlapped: bool = True, cached: bool = False) -> float:
    """Returns the rate from disk to disk in bit/s: `min(D_r, N, D_w)`, or of a serial program `1 / (1/D_r + 1/N + 1/D_w)`.

    Behind a write-back cache (`cached`) the disk writes while a serial program goes on: `min(1 / (1/D_r + 1/N), D_w)`.

    >>> el.theory.copy_rate("800 Mbps", "1 Gbps", "400 Mbps")
    400000000.0
    >>> round(el.theory.copy_rate("800 Mbps", "1 Gbps", "400 Mbps", overlapped=False) / 1e6, 1)
    210.5
    """
    rates = [bits_per_second(rate) for rate in (read, network, write)]
    positive(read=rates[0], network=rates[1], write=rates[2])
    if overlapped:
        return min(rates)
    return min(1 / (1 / rates[0] + 1 / rates[1]), rates[2]) if cached else 1 / sum(1 / rate for rate in rates)


@of_arguments
def cache_full_after(cache: float | str, inflow: float | str, write: float | str) -> float:
    """Returns the seconds until a write-back cache is full: `C / (N - W)`; infinite if the disk writes what comes.

    >>> el.theory.cache_full_after("100 MB", "800 Mbps", "400 Mbps")
    2.0
    """
    bits, rate, drain = 8 * size_bytes(cache), bits_per_second(inflow), bits_per_second(write)
    positive(cache=bits, inflow=rate, write=drain)
    return bits / (rate - drain) if rate > drain else math.inf


@of_arguments
def read_ahead_rate(rate: float | str, read_ahead: float | str, latency: float | str) -> float:
    """Returns the rate in bit/s of sequential reads with a read-ahead window A: `1 / (1/R + L / (8 A))`.

    >>> el.theory.read_ahead_rate("800 Mbps", "100 kB", "1 ms")
    400000000.0
    """
    full, bits, cost = bits_per_second(rate), 8 * size_bytes(read_ahead), seconds(latency)
    positive(rate=full, read_ahead=bits)
    not_negative(latency=cost)
    return 1 / (1 / full + cost / bits)


# -- queues ----------------------------------------------------------------------------------------------------------


def _load(load: float) -> float:
    load = number(load, "a load", "0.5")
    if not 0 <= load < 1:
        raise InputError(f"the load must be at least 0 and below 1, not {load:g}")
    return load


@of_arguments
def md1_wait(load: float, service_time: float | str) -> float:
    """Returns the mean wait in seconds (without service) of M/D/1, Pollaczek-Khinchine: `load * service / (2 (1 - load))`.

    >>> el.theory.md1_wait(0.5, "12 us")
    6e-06
    """
    service = seconds(service_time)
    positive(service_time=service)
    return _load(load) * service / (2 * (1 - load))


@of_arguments
def md1_queue(load: float) -> float:
    """Returns the mean number waiting (not in service) in M/D/1: `load^2 / (2 (1 - load))`.

    >>> el.theory.md1_queue(0.5)
    0.25
    """
    return _load(load) ** 2 / (2 * (1 - load))


@of_arguments
def ps_response(size: float | str, rate: float | str, load: float) -> float:
    """Returns the mean response time in seconds of `size` bytes under processor sharing (M/G/1-PS): `S / (C (1 - load))`.

    >>> el.theory.ps_response("250 kB", "40 Mbps", 0.6)
    0.125
    """
    size_b, rate_bps = size_bytes(size), bits_per_second(rate)
    positive(size=size_b, rate=rate_bps)
    return size_b * 8 / (rate_bps * (1 - _load(load)))
