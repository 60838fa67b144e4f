"""The path of a captured connection: rate, delay and buffer, from its packets and their answers.

The path is one queue of rate C before a delay (the model of a bottleneck as of Mathis and Mahdavi 1996 and of Keshav 1991, packet
pairs). An answer that covers pieces comes a round trip after the last of them left: rtt = D + s + q, where D is the propagation
both ways, s the time of a segment at C, and q what it waited.

- D + s is the least round trip.
- While q > 0 the queue never ran empty, so the link carried C: C is what answers cover in such a stretch over its time.
- The buffer is the q beside segments that were lost at a full queue, times C. Without such losses it is at least the largest q.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from elephan.capture.twin.packets import ARRIVED, LOST, Array, Packets, Places

STRETCH_MIN = 6  # answers in a stretch that says something about the rate
NEAR = 0.8  # a stretch that is slower than so much of the fastest was not limited by the link
GAP = 3  # segments: an answer without a round trip that comes later than this may follow a pause
FULL = 0.85  # of the largest wait: a segment that is lost beside one that waited so long met a full queue
OFTEN = 3.0  # times as often as beside others: then a queue overflows
WINDOW = 32  # answers over which a first rate is looked for
TRAIN, USUAL = 4, 0.95  # answers to a short train, and the quantile of their rates


@dataclass(frozen=True)
class FittedPath:
    """What a capture says about its path. Errors are half-widths; None where the capture cannot know a value."""

    rate_bps: float  # of IP packets
    rate_error_bps: float
    rate_known: bool  # whether the link ever was full; else the rate is at least this
    propagation_s: float  # there and back
    propagation_error_s: float
    segment_s: float  # transmission time of a full segment
    queue_s: float  # the longest wait
    buffer_packets: int
    buffer_known: bool  # whether it ever overflowed; else it is at least this
    buffer_error_packets: float
    overflowed: tuple[int, ...]  # ordinals of the transmissions that were lost at a full queue
    random: tuple[int, ...]  # and of those that were lost otherwise
    steadiness: float  # spread of the rate over stretches with a full link, as a share of it

    @property
    def buffer_bytes(self) -> float:
        return self.queue_s * self.rate_bps / 8


def fit(packets: Packets, header: int) -> FittedPath | None:
    """Returns the path of a connection whose packets have `header` bytes of IP and TCP; None without a round-trip time."""
    timed = np.flatnonzero(~np.isnan(packets.rtt_s) & (packets.bytes > 0))
    if timed.size < 3:
        return None
    base = _least(packets, float(packets.rtt_s[timed].min()))
    segment = header + float((packets.end - packets.begin).max(initial=1.0))
    covering = np.flatnonzero(packets.bytes > 0)
    times = packets.answer_s[covering]
    wire = np.cumsum(packets.bytes[covering] + packets.pieces[covering] * header)
    first = _fastest(times, wire, packets.pieces[covering])
    # A lone segment waits for the timer of delayed ACKs; what covers two or more, or is reported by SACK, was answered at once.
    prompt = timed[(packets.pieces[timed] >= 2) | (packets.sacked[timed] > 0)]
    waits = packets.rtt_s[prompt if prompt.size else timed] - base
    longest, overflowed, random = _losses(packets, base, max(float(waits.max()), 0.0), 16 * segment / first)
    rate, error, spread, known = _full_link(packets, covering, np.array(random, dtype=int) - 1, (base, first, header))
    segment_s = 8 * segment / rate
    return FittedPath(
        rate_bps=rate,
        rate_error_bps=error,
        rate_known=known,
        propagation_s=max(base - segment_s, 0.0),
        propagation_error_s=segment_s,
        segment_s=segment_s,
        queue_s=longest,
        buffer_packets=max(round(longest / segment_s + 0.25), 1),
        buffer_known=bool(overflowed),
        buffer_error_packets=1.0 + longest / segment_s * error / rate,
        overflowed=overflowed,
        random=random,
        steadiness=spread,
    )


def _least(packets: Packets, otherwise: float) -> float:
    """The least round trip of a full segment, s: a short one takes less time of the link."""
    length = packets.end - packets.begin
    full = (packets.again == 0) & (packets.fate == ARRIVED) & (length == length.max()) & ~np.isnan(packets.covered_s)
    return float((packets.covered_s - packets.sent_s)[full].min()) if full.any() else otherwise


def _fastest(times: Array, wire: Array, pieces: Array) -> float:
    """A first rate in bit/s: the highest over many segments, or that of short trains if these are usual."""
    mean = 8 * float(wire[-1]) / max(float(np.ptp(times)), 1e-9)
    return max(mean, _rate_over(times, wire, pieces, WINDOW, 1.0), _rate_over(times, wire, pieces, TRAIN, USUAL))


def _rate_over(times: Array, wire: Array, pieces: Array, count: int, level: float) -> float:
    """A quantile of the rates over so many answers, bit/s. An answer that covers many segments at once says nothing."""
    if times.size <= count:
        return 0.0
    spans, amounts = times[count:] - times[:-count], wire[count:] - wire[:-count]
    largest = sliding_window_view(pieces[1:], count).max(axis=1)
    fair = (spans > 0) & (largest <= np.maximum(4, count / 4))
    return 8 * float(np.quantile(amounts[fair] / spans[fair], level)) if fair.any() else 0.0


def _full_link(
    packets: Packets, covering: Places, lost: Places, guess: tuple[float, float, int]
) -> tuple[float, float, float, bool]:
    """Rate, its error, its spread as a share, and whether the link was ever full.

    `lost`: transmissions that were lost behind the queue, which the link carried too. `guess`: least round trip, a first rate,
    bytes of headers.
    """
    base, rate, header = guess
    segment = header + float((packets.end - packets.begin).max())
    waits = packets.rtt_s[covering] - base
    times = packets.answer_s[covering]
    # What it covers takes so long. Of the pieces that an answer covers the first one waited too.
    takes = packets.pieces[covering] * 8 * segment / rate
    soon = np.concatenate(([False], np.diff(times) < takes[1:] + GAP * 8 * segment / rate))
    standing = np.where(np.isnan(waits), soon, waits > takes + 4 * segment / rate)
    bounds = np.flatnonzero(np.diff(np.concatenate(([0], standing.astype(int), [0]))))
    wire = np.cumsum(packets.bytes[covering] + header * packets.pieces[covering]) + _carried(packets, lost, times, header)
    lasted, carried = [], []
    for begin, end in zip(bounds[::2], bounds[1::2] - 1, strict=True):
        if end - begin < STRETCH_MIN or np.isnan(waits[begin : end + 1]).mean() > 0.5 or times[end] <= times[begin]:
            continue
        lasted.append(float(times[end] - times[begin]))
        carried.append(8 * float(wire[end] - wire[begin]))
    if not lasted:
        return rate, rate / WINDOW, 0.0, False
    spans, bits = np.array(lasted), np.array(carried)
    rates = bits / spans
    fast = rates >= NEAR * np.median(np.repeat(rates, np.maximum((64 * bits / bits.sum()).astype(int), 1)))
    spans, bits, rates = spans[fast], bits[fast], rates[fast]
    found = float(bits.sum() / spans.sum())
    spread = float(np.sqrt(np.average((rates / found - 1) ** 2, weights=bits)))
    # The ends of a stretch are known to about two segments.
    error = found * max(spread / np.sqrt(rates.size), 16 * segment / float(bits.max()))
    return found, error, spread, True


def _carried(packets: Packets, lost: Places, times: Array, header: int) -> Array:
    """Bytes of `lost` that the link had carried when the answers of `times` left the receiver."""
    once = np.flatnonzero((packets.again == 0) & ~np.isnan(packets.covered_s) & (packets.fate != LOST))
    if not lost.size or not once.size:
        return np.zeros(times.size)
    near = once[np.minimum(np.searchsorted(once, lost), once.size - 1)]
    # A packet that is lost would have been answered when the next one was.
    due = packets.sent_s[lost] + packets.covered_s[near] - packets.sent_s[near]
    order = np.argsort(due, kind="stable")
    amounts = np.cumsum((packets.end - packets.begin)[lost][order] + header)
    return np.concatenate(([0.0], amounts))[np.searchsorted(due[order], times, side="right")]


def _losses(packets: Packets, base: float, longest: float, slack: float) -> tuple[float, tuple[int, ...], tuple[int, ...]]:
    """The wait in a full queue, s, ordinals of the transmissions that met one, and of those that were lost otherwise.

    A queue overflows if segments are lost much more often beside those that wait longest than beside others. `longest`: the longest
    wait, which stands where nothing overflowed; `slack`: waits that are no queue.
    """
    lost = np.flatnonzero(packets.fate == LOST)
    arrived = np.flatnonzero((packets.fate == ARRIVED) & ~np.isnan(packets.covered_s))
    otherwise = longest, (), tuple((lost + 1).tolist())
    if not lost.size or not arrived.size:
        return otherwise
    waits = packets.covered_s[arrived] - packets.sent_s[arrived] - base
    beside = np.array([_beside(packets, arrived, waits, int(place), base) for place in lost])
    known = ~np.isnan(beside)
    if not known.any():
        return otherwise
    # A few packets that the host itself held up are no queue.
    top = FULL * min(longest, float(np.quantile(beside[known], 0.9)))
    full = known & (beside >= top)
    others, above = (known & ~full).sum(), (waits >= top).sum()
    often = full.sum() / (full.sum() + above)
    if top < slack or often <= OFTEN * others / max(others + waits.size - above, 1):
        return otherwise
    # Where all around was lost too, a queue overflowed: it loses bursts.
    met = full | ~known
    return float(np.median(beside[full])), tuple((lost[met] + 1).tolist()), tuple((lost[~met] + 1).tolist())


def _beside(packets: Packets, arrived: Places, waits: Array, place: int, base: float) -> float:
    """The longest wait of the segments that left around a lost one and arrived, s; NaN if there are none."""
    near = np.searchsorted(arrived, place)
    around = slice(max(near - 3, 0), near + 3)
    close = np.abs(packets.sent_s[arrived[around]] - packets.sent_s[place]) < max(base, 0.05)
    return float(waits[around][close].max()) if close.any() else np.nan
