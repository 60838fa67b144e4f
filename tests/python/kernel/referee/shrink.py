"""The smallest stimulus that still differs, and its script."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from kernel.referee.compare import Outcome, judged
from kernel.referee.script import SACK, STAMPS
from kernel.referee.stimulus import SCALE, Receiving, Sending
from kernel.referee.wire import CWR, ECE, PSH, Segment

# How many smaller cases are tried, and for how long.
TRIES, SHRINK_S = 60, 60.0
# Segments of one burst leave within this time.
TOGETHER_S = 0.002
# What a case has where nothing is drawn; tried one by one.
PLAIN: dict[str, Any] = {"every": 1, "rate": 0.0, "timestamps": False, "ecn": False, "window": 1 << 20, "rtt_s": 0.1}


def smaller(case: Sending | Receiving) -> Iterator[Sending | Receiving]:
    """Yields cases with less in them, the boldest first."""
    for entry in fields(case):
        value = getattr(case, entry.name)
        if not isinstance(value, tuple) or not value:
            continue
        least = 1 if entry.name in ("writes", "arrivals") else 0
        for size in dict.fromkeys((len(value), len(value) // 2, 1)):
            for start in range(0, len(value) if size else 0, size or 1):
                kept = value[:start] + value[start + size :]
                if len(kept) >= least:
                    changed: Any = {entry.name: kept}
                    yield replace(case, **changed)
    if isinstance(case, Sending):
        for name, plain in PLAIN.items():
            if getattr(case, name) != plain:
                yield replace(case, **{name: plain})
        for share in (2, 4 / 3, 10 / 9):
            writes = tuple((at, max(1, int(size / case.payload / share)) * case.payload) for at, size in case.writes)
            if writes != case.writes:
                yield replace(case, writes=writes)


def shrunk(outcome: Outcome, tries: int = TRIES) -> Outcome:
    """Returns the outcome of the smallest case found whose first difference is of the same quantity."""
    moved, end = True, time.monotonic() + SHRINK_S
    while moved and tries > 0 and time.monotonic() < end:
        moved = False
        for case in smaller(outcome.case):
            tries -= 1
            found = judged(case, runs=2)
            if found.kind == outcome.kind and not found.spoilt:
                outcome, moved = found, True
                break
            if tries <= 0 or time.monotonic() >= end:
                break
    return outcome


def as_script(outcome: Outcome) -> str:
    """Returns the kernel's record of a sender as a script of packetdrill, with its windows as assertions."""
    case, record = outcome.case, outcome.kernel
    assert isinstance(case, Sending)
    told = "; ".join(f"{name}: {text}" for name, text in outcome.apart.items())
    options = ["mss 1000", *(["sackOK"] if case.sack else []), *(["TS val 1000 ecr 0"] if case.timestamps else [])]
    syn, mark = ("SEW", "SE.") if case.ecn else ("S", "S.")
    lines = [
        f"// {told}",
        *(["--tcp_ts_ecr_scaled"] if case.timestamps else []),
        f"`sysctl -q net.ipv4.tcp_congestion_control={case.controller} net.ipv4.tcp_ecn={int(case.ecn)}`",
        *("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3", "+0 setsockopt(3, SOL_SOCKET, SO_SNDBUF, [4000000], 4) = 0"),
        *("+0 setsockopt(3, SOL_TCP, TCP_NODELAY, [1], 4) = 0", "+0 bind(3, ..., ...) = 0", "+0 listen(3, 1) = 0"),
        f"+0 < {syn} 0:0(0) win 65535 <{', '.join([*options, f'wscale {SCALE}'])}>",
        f"+0 > {mark} 0:0(0) ack 1 <...>",
    ]
    echo = ""
    if case.timestamps:
        lines[-1] = f"+0 > {mark} 0:0(0) ack 1 <mss 1460,sackOK,TS val 1 ecr 1000,nop,wscale 10>"
        echo = " <TS val 1100 ecr 1>"
    lines += [f"+{case.rtt_s:g} < . 1:1(0) ack 1 win {case.window >> SCALE}{echo}", "+0 accept(3, ..., ...) = 4"]
    events: list[tuple[float, int, list[str]]] = [
        (record.begin_s + at, 0, [f"write(4, ..., {size}) = {size}"]) for at, size in case.writes
    ]
    events += [(at, 1, [_departing(segment)]) for at, segment in _joined(record.sent)]
    for (at, segment), info in zip(record.given, record.infos, strict=False):
        state = f"tcpi_snd_cwnd == {info['snd_cwnd']} and tcpi_snd_ssthresh == {info['snd_ssthresh']}"
        check = f"%{{ assert {state}, (tcpi_snd_cwnd, tcpi_snd_ssthresh) }}%"
        events.append((at, 0, [_arriving(segment, record.stamp), check]))
    before = record.begin_s
    for at, _, texts in sorted(events, key=lambda event: event[:2]):
        lines += [f"+{max(0.0, at - before):.4f} {texts[0]}", *(f"+0 {text}" for text in texts[1:])]
        before = at
    return "\n".join(lines) + "\n"


def _joined(sent: list[tuple[float, Segment]]) -> list[tuple[float, Segment]]:
    """Returns segments in order that left together as one, as packetdrill allows."""
    found: list[tuple[float, Segment]] = []
    for at, segment in sent:
        if found and at - found[-1][0] < TOGETHER_S and found[-1][1].seq + found[-1][1].length == segment.seq:
            before = found[-1][1]
            found[-1] = (found[-1][0], replace(before, length=before.length + segment.length, flags=before.flags | segment.flags))
        else:
            found.append((at, segment))
    return found


def _departing(segment: Segment) -> str:
    flags = "".join(letter for bit, letter in ((PSH, "P"), (CWR, "W"), (ECE, "E")) if segment.flags & bit)
    return f"> {flags}. {segment.seq}:{segment.seq + segment.length}({segment.length}) ack 1 <...>"


def _arriving(segment: Segment, first: int) -> str:
    options = []
    for kind, rest in segment.options:
        if kind == STAMPS:
            value, echo = struct.unpack("!II", rest)
            options.append(f"TS val {value} ecr {1 + max(0, echo - first)}")
        elif kind == SACK:
            options.append("sack " + " ".join(f"{left}:{right}" for left, right in segment.sack))
    flags = "E." if segment.flags & ECE else "."
    return f"< {flags} 1:1(0) ack {segment.ack} win {segment.window}" + (f" <{','.join(options)}>" if options else "")
