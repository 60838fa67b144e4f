"""What a twin says about its capture, in sentences that are computed from its values."""

from __future__ import annotations

from typing import Any

import numpy as np

from elephan.base.quantity import show
from elephan.capture.twin import replay
from elephan.capture.twin.packets import Packets
from elephan.capture.twin.twin import Twin
from elephan.capture.twin.whatif import Answer

GOOD, FAIR = 0.05, 0.2  # distances up to which a twin may be trusted, and trusted with care
DIFFERS, SEGMENTS = 0.25, 4  # a first difference is larger than such a share of what is in flight, and than so many segments
SAME = 5e-4  # what a twin and its capture may differ by unsaid
STEADY_MAX = 0.05  # a rate that varies by more is not that of one link


def lines(twin: Twin) -> list[str]:
    """Returns what the twin is, how near it is to the capture, and what the capture cannot tell."""
    told = [_path(twin), _losses(twin), _control(twin), _outcome(twin), _difference(twin)]
    return [line for line in told if line] + unknown(twin)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _apart(twin: float, capture: float) -> str:
    """How far a value of the twin is from that of the capture."""
    share = twin / capture - 1
    return "the same to 0.1 %" if abs(share) < SAME else f"{_percent(abs(share))} {'more' if share > 0 else 'less'}"


def _path(twin: Twin) -> str:
    path = twin.path
    rate = f"{show(path.rate_bps, 'bps', 4)} (± {show(path.rate_error_bps, 'bps', 2)})"
    delay = f"{show(1e9 * path.propagation_s, 'ns', 4)} there and back without waiting"
    size = f"{path.buffer_packets} packets (± {path.buffer_error_packets:.0f}, {show(path.buffer_bytes, 'bytes', 3)})"
    at_least = "" if path.rate_known else "at least "
    if path.buffer_known:
        return f"The path of the twin carries {at_least}{rate} of IP packets, takes {delay}, and has a buffer of {size}."
    return (
        f"The path of the twin carries {at_least}{rate} of IP packets and takes {delay}. At most {size} waited; nothing overflowed."
    )


def _losses(twin: Twin) -> str:
    lost = twin.real.lost.size
    if not lost:
        return ""
    full, random = len(twin.path.overflowed), len(twin.path.random)
    return f"Of the {lost} transmissions that were lost, {full} met a full buffer, and {random} were lost otherwise."


def _control(twin: Twin) -> str:
    best = twin.best
    line = f"{best.controller} comes nearest: its bytes in flight differ by {_percent(best.distance)} from those of the capture"
    others = [one for one in twin.replays[1:] if abs(one.distance - best.distance) <= replay.ALIKE]
    if others:
        line += f", as do those of {', '.join(one.controller for one in others)}: the capture does not tell them apart"
    elif len(twin.replays) > 1:
        second = twin.replays[1]
        line += f". The second best is {second.controller} with {_percent(second.distance)}"
    return f"{line}."


def completion_s(packets: Packets) -> float:
    """Returns the time from the first data to the last answer of new data."""
    return packets.done_s - replay.first_s(packets)


def _outcome(twin: Twin) -> str:
    ours, theirs = completion_s(twin.real), completion_s(twin.best.packets)
    if twin.writes.ended:
        return f"The twin takes {show(1e9 * theirs, 'ns', 4)}, the capture {show(1e9 * ours, 'ns', 4)}: {_apart(theirs, ours)}."
    carried = [float(one.delivered(np.array([replay.first_s(one) + ours]))[0]) for one in (twin.best.packets, twin.real)]
    twins, captures = (show(amount, "bytes", 4) for amount in carried)
    return f"The twin delivers {twins}, the capture {captures}: {_apart(*carried)}."


def first_difference(twin: Twin) -> tuple[float, float, float] | None:
    """Returns when twin and capture first differ for a round trip, s since the first data, and what was in flight in both."""
    lasts = completion_s(twin.real)
    step = max(twin.path.propagation_s, lasts / 20_000, 1e-6) / 4
    times = np.arange(0.0, lasts, step)
    ours = twin.real.inflight(times + replay.first_s(twin.real))
    theirs = twin.best.packets.inflight(times + replay.first_s(twin.best.packets))
    apart = np.abs(ours - theirs) > np.maximum(DIFFERS * np.maximum(ours, theirs), SEGMENTS * twin.segment)
    stays = np.convolve(apart, np.ones(4), "valid") >= 4
    if not stays.any():
        return None
    place = int(np.argmax(stays))
    return float(times[place]), float(ours[place]), float(theirs[place])


def _difference(twin: Twin) -> str:
    found = first_difference(twin)
    if found is None:
        return "Bytes in flight never differ for a round trip."
    at, ours, theirs = found
    amounts = f"{theirs / twin.segment:.0f} segments in flight in the twin, {ours / twin.segment:.0f} in the capture"
    return f"The first difference comes {show(1e9 * at, 'ns', 3)} after the first data: {amounts}."


def trust(twin: Twin) -> str:
    """Returns `good`, `fair` or `poor`: how far the twin is to be trusted."""
    away = twin.best.distance
    return "good" if away <= GOOD else "fair" if away <= FAIR else "poor"


def unknown(twin: Twin) -> list[str]:
    """Returns what this capture cannot tell, and how far the twin is to be trusted."""
    path, told = twin.path, []
    if not path.rate_known:
        told.append("The link was never full for long, so its rate may be higher.")
    if not path.buffer_known:
        told.append("No packet met a full buffer, so the buffer may be larger.")
    if path.steadiness > STEADY_MAX:
        varied = f"The rate varied by {_percent(path.steadiness)} while the link was full"
        told.append(f"{varied}: other traffic shared it, or it is no link of one rate.")
    if not twin.writes.single:
        told.append("The application's writes are known by when they left, not by when they were made.")
    if not twin.writes.ended:
        told.append("The transfer had not ended when the capture did.")
    trusted = {
        "good": "The twin may be trusted: it does what the capture shows.",
        "fair": "Trust the twin with care: it does about what the capture shows.",
        "poor": "Do not trust the twin: it does not do what the capture shows.",
    }
    return [*told, trusted[trust(twin)]]


def answer_line(answer: Answer) -> str:
    """Returns what a change would have done, in a sentence."""
    change = ", ".join(f"{key} = {value}" for key, value in answer.change.items())

    def amount(value: float) -> str:
        return show(1e9 * value, "ns", 3) if answer.ended else show(value, "bps", 3)

    interval = f"{amount(answer.value)} ({amount(answer.low)} to {amount(answer.top)})"
    repetitions = f"{answer.repetitions} repetitions over what the capture left open"
    return f"With {change}, {amount(answer.captured)} would have been {interval}: {repetitions}."


def as_dict(twin: Twin, answers: list[Answer]) -> dict[str, Any]:
    """Returns plain values, for JSON."""
    path, real = twin.path, twin.real
    return {
        "connection": twin.row["connection"],
        "rate_bps": path.rate_bps,
        "rate_error_bps": path.rate_error_bps,
        "rate_known": path.rate_known,
        "propagation_s": path.propagation_s,
        "propagation_error_s": path.propagation_error_s,
        "buffer_packets": path.buffer_packets,
        "buffer_error_packets": path.buffer_error_packets,
        "buffer_bytes": path.buffer_bytes,
        "buffer_known": path.buffer_known,
        "lost": real.lost.tolist(),
        "lost_at_full_buffer": list(path.overflowed),
        "congestion_control": twin.best.controller,
        "distances": {one.controller: one.distance for one in twin.replays},
        "completion_s": completion_s(real),
        "twin_completion_s": completion_s(twin.best.packets),
        "writes": len(twin.writes.size),
        "bytes": real.total,
        "trust": trust(twin),
        "told": lines(twin),
        "what_if": [{**vars(answer), "told": answer_line(answer)} for answer in answers],
    }
