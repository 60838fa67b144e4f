"""The theory of the paper: the sum of many windows as a Gaussian, one sawtooth as a fluid, bursts of short flows as M/G/1.

Windows, queues and buffers are in packets. `path` is the bandwidth-delay product without queue, 2 T_p C in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_SPAN = 3 * math.sqrt(3)  # a window between 2/3 and 4/3 of its mean deviates by the mean over 3 sqrt(3)


def deviation(flows: int, buffer: float, path: float) -> float:
    """Returns the standard deviation of the queue under independent flows (section 3.2), an upper bound."""
    return (path + buffer) / (_SPAN * math.sqrt(flows))


def utilisation(flows: int, buffer: float, path: float) -> float:
    """Returns the lower bound of the utilisation under independent flows (equation 6)."""
    return math.erf(buffer / (2 * math.sqrt(2) * deviation(flows, buffer, path)))


def square_root_rule(flows: int, path: float) -> float:
    """Returns the buffer of the paper's title result: the path over the square root of the flows."""
    return path / math.sqrt(flows)


def sawtooth(share: float) -> float:
    """Returns the utilisation of one flow, or of flows in step, behind a buffer of `share` of the path; a fluid.

    The window climbs from half of path and buffer. Below the path it gains one packet a round trip of propagation, and the link
    idles. Above it the link is busy, and dW/dt = C / W (appendix B). From `share` = 1 on the link never idles.
    """
    if share >= 1:
        return 1.0
    below, above = (1 - share) / 2, share + share**2 / 2  # time in units of path^2 / C
    return (below * (3 + share) / 4 + above) / (below + above)


def period_s(path: float, buffer: float, rate: float) -> float:
    """Returns the time between two losses of one flow whose buffer is its path or more, in seconds; `rate` in packets a second.

    W^2 grows by 2 C a second (equation 9), from half of path and buffer to all of it. Where the buffer is the path this is the
    1.5 B^2 / C of appendix B.
    """
    most = path + buffer
    return (most**2 - (most / 2) ** 2) / (2 * rate)


def loss(window: float) -> float:
    """Returns the share of packets that a flow with this mean window loses (section 5.1.1, from Morris)."""
    return 0.76 / window**2


def bursts(length: int, first: int = 2) -> list[int]:
    """Returns the bursts of a flow of `length` packets in slow start: 2, 4, 8, ... and the rest."""
    found, size = [], first
    while length > 0:
        found.append(min(size, length))
        length -= size
        size *= 2
    return found


def moment(sizes: Sequence[float], order: int) -> float:
    """Returns the mean of the sizes to a power, each as likely as the others."""
    return sum(size**order for size in sizes) / len(sizes)


def mean_queue(load: float, sizes: Sequence[float]) -> float:
    """Returns the mean queue that section 4 gives for bursts that arrive whole and independent of each other."""
    first, second = moment(sizes, 1), moment(sizes, 2)
    return load / (2 * (1 - load)) * second / first - load * first / 2


def decay(load: float, sizes: Sequence[float]) -> float:
    """Returns kappa: P(Q >= b) falls by a factor e for every 1 / kappa packets (appendix C, second order)."""
    return 2 * (1 - load) / load * moment(sizes, 1) / moment(sizes, 2)


def tail(load: float, sizes: Sequence[float], b: float) -> float:
    """Returns P(Q >= b) by the effective bandwidth, second order (section 4)."""
    return math.exp(-decay(load, sizes) * b)


def third_order_tail(load: float, sizes: Sequence[float], b: float) -> float:
    """Returns P(Q >= b) by the effective bandwidth, third order (appendix C)."""
    first, second, third = (moment(sizes, order) for order in (1, 2, 3))
    half = 1.5 * second / third
    kappa = -half + math.sqrt(half**2 + 6 * (1 - load) / load * first / third)
    return (1 - load) / load * first / (kappa / 2 * second + kappa**2 / 3 * third) * math.exp(-kappa * b)


def buffer_for(load: float, sizes: Sequence[float], probability: float) -> float:
    """Returns the buffer that is full with this probability at most, by the second order."""
    return math.log(1 / probability) / decay(load, sizes)


def exact_tail(load: float, sizes: Sequence[int], most: int, steps: int = 10) -> list[float]:
    """Returns P(work >= b) for b = 1, 2 ... `most` packets: the M/G/1 queue itself, without the approximation of its tail.

    The work that waits is a geometric sum of residual bursts (Pollaczek and Khinchine). It is summed on a grid of `steps` points
    a packet (Panjer's recursion), where a residual burst between two points counts half at each.
    """
    whole = steps * len(sizes) * moment(sizes, 1)
    residual = [sum(size * steps > i for size in sizes) / whole for i in range(max(sizes) * steps)]
    jump = [(one + other) / 2 for one, other in zip([0.0, *residual], [*residual, 0.0], strict=True)]
    rest = 1 - load * jump[0]
    chance = [(1 - load) / rest]
    for place in range(1, most * steps):
        chance.append(load / rest * sum(jump[i] * chance[place - i] for i in range(1, min(place, len(jump) - 1) + 1)))
    found, below = [], 0.0
    for b in range(1, most + 1):
        below += sum(chance[(b - 1) * steps : b * steps])
        found.append(1 - below)
    return found
