"""Logs of `ping`: when each probe was sent, and its round trip or that it has none.

The reader knows iputils (Linux), busybox, the BSDs and macOS, and Windows in English. The line of a reply has the number of its
probe and its round trip. Windows numbers nothing, so there the lines count. `ping -D` of iputils and `--apple-time` of macOS write
the time of the reply too. Without times the probes are an equal time apart: what the last line of iputils says ("time 9012ms"), or
the default of ping, 1 s.

A probe is lost if its number is missing, up to the count of sent packets in the last lines, or up to the largest number if the log
ends before. A second reply to one probe does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from elephan.base.errors import InputError
from elephan.base.quantity import counted

EVERY_S = 1.0  # between two probes, unless the log or the caller says so
_WRAP = 1 << 16  # numbers of probes have 16 bits
_LONGEST_S = 3600.0
_DAY_S = 86_400.0
_JITTER_S = 1.0  # by which a program may be late to write the time of a reply
_PROBES_MAX = 20_000_000

_STAMP = r"^\s*(?:\[(?P<epoch>\d{1,11}\.\d+)\]\s+|(?P<clock>\d\d:\d\d:\d\d\.\d+)\s+)?"
_REPLY = re.compile(_STAMP + r"\d+ bytes from (?P<rest>.*)$")
_NUMBER = re.compile(r"\b(?:icmp_seq|icmp_req|seq)[= ](\d+)")
_TIME = re.compile(r"\btime(?P<sign>[=<])\s?(?P<time>\d+(?:\.\d+)?) ?(?P<unit>ms|msec|usec|us|sec|s)\b")
_UNITS = {"ms": 1e-3, "msec": 1e-3, "us": 1e-6, "usec": 1e-6, "s": 1.0, "sec": 1.0}
_WINDOWS = re.compile(r"^\s*Reply from \S+: (?:bytes=\d+ )?(?P<rest>.*)$")
_WINDOWS_LOST = re.compile(r"^\s*(?:Request timed out\.|General failure\.|PING: transmit failed|Reply from \S+: Destination .*)")
_SENT = re.compile(r"\b(\d+) packets transmitted\b|\bPackets: Sent = (\d+)")
_LASTED = re.compile(r"\btime (\d+) ?ms\b")
_HEADS = ((re.compile(r"^\s*PING6?[ (].*\bdata bytes\b"), 0), (re.compile(r"^\s*PING .*\bbytes of data\b"), 1))
_TAKES = re.compile(
    r"^\s*(?:PING6?[ (]|Pinging \S|Reply from |(?:\[[\d.]+\] )?(?:\d\d:\d\d:\d\d\.\d+ )?\d+ bytes from .*(?:seq|icmp_req)[= ]|"
    r"Request timeout for icmp_seq)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Probes:
    """What a log says of its probes, in the order of their numbers.

    `sent_s` has when each was sent, from the first one on, and `rtt_s` its round trip, None of a lost one.
    """

    sent_s: list[float]
    rtt_s: list[float | None]
    notes: list[str]

    @property
    def lost(self) -> int:
        """How many probes have no reply."""
        return sum(one is None for one in self.rtt_s)


@dataclass
class _Read:
    """What stands in the lines: by the number of a probe its round trip and the time of its reply, s."""

    rtts: dict[int, float] = field(default_factory=dict)
    replied: dict[int, float] = field(default_factory=dict)
    lines: dict[int, int] = field(default_factory=dict)
    first: int | None = None  # number of the first probe, where the head of the log says so
    sent: int | None = None
    lasted_s: float | None = None
    doubles: int = 0
    highest: int = -1
    midnight: float = 0.0  # when the day of the clock began, s
    latest: float = 0.0  # what the clock said last, s
    windows: int = 0  # lines of Windows, which are the numbers of its probes


def takes(text: str) -> bool:
    """Returns whether a text begins as logs of ping do."""
    return _TAKES.search(text) is not None


def read(file: Path, text: str, every_s: float | None = None) -> Probes:
    """Returns the probes of a log; InputError with the line of what is wrong.

    `every_s`: the time between two probes, where the log has no times of its own.
    """
    found = _Read()
    for number, line in enumerate(text.splitlines(), 1):
        try:
            _take(found, line, number)
        except InputError as error:
            raise InputError(f"{file}:{number}: {error}") from None
    if not found.rtts:
        what = "no reply to any probe" if found.sent or found.highest >= 0 or found.windows else "no line of a reply of ping"
        raise InputError(f"{file}: {what}: there is no round trip in it")
    return _probes(file, found, every_s)


def _take(found: _Read, line: str, number: int) -> None:
    """Takes a line; InputError where it is a reply whose number or time is none."""
    if reply := _REPLY.match(line):
        _reply(found, reply, number)
    elif reply := _WINDOWS.match(line):
        if _WINDOWS_LOST.match(line):
            found.windows += 1
        else:
            found.rtts[found.windows] = _rtt(reply["rest"])
            found.windows += 1
    elif _WINDOWS_LOST.match(line):
        found.windows += 1
    elif sent := _SENT.search(line):
        if found.sent is not None:
            raise InputError("a second ping begins before this line: give each its own file")
        found.sent = int(sent[1] or sent[2])
        lasted = _LASTED.search(line)
        found.lasted_s = int(lasted[1]) / 1000 if lasted else None
    else:
        if found.first is None:
            found.first = next((first for head, first in _HEADS if head.match(line)), None)
        if (lost := _NUMBER.search(line)) is not None:  # "Request timeout for", "no answer yet for", "Destination unreachable"
            found.highest = max(found.highest, _unwrapped(int(lost[1]), found.highest))


def _reply(found: _Read, reply: re.Match[str], line: int) -> None:
    number = _NUMBER.search(reply["rest"])
    if number is None:
        raise InputError("a reply without the number of its probe (icmp_seq or seq)")
    place = _unwrapped(int(number[1]), found.highest)
    found.highest = max(found.highest, place)
    if place in found.rtts:
        found.doubles += 1
        return
    found.rtts[place], found.lines[place] = _rtt(reply["rest"]), line
    if reply["epoch"]:
        found.replied[place] = float(reply["epoch"])
    elif reply["clock"]:
        hours, minutes, seconds = reply["clock"].split(":")
        clock = found.midnight + 3600.0 * int(hours) + 60.0 * int(minutes) + float(seconds)
        if clock < found.latest - _DAY_S / 2:
            found.midnight += _DAY_S
            clock += _DAY_S
        found.replied[place] = found.latest = clock


def _rtt(text: str) -> float:
    """A round trip in s. Of `time<1ms` it is 1 ms: at most that is known."""
    time = _TIME.search(text)
    if time is None:
        raise InputError("a reply without its time: probes of 16 B or more have one")
    value = float(time["time"]) * _UNITS[time["unit"]]
    if value > _LONGEST_S:
        raise InputError(f"a round trip of {value:g} s is longer than {_LONGEST_S:g} s")
    return value


def _unwrapped(number: int, highest: int) -> int:
    """The number of a probe beyond 65535: the one next to the highest so far."""
    if highest < 0 or number >= _WRAP:
        return number
    return max(number + _WRAP * round((highest - number) / _WRAP), number)


def _probes(file: Path, found: _Read, every_s: float | None) -> Probes:
    """All probes, with those that have no reply."""
    first = 0 if found.windows else min(found.rtts) if found.first is None else found.first
    first = min(first, min(found.rtts))
    last = max(max(found.rtts), found.highest, first + (found.sent or 0) - 1, found.windows - 1)
    if last - first >= _PROBES_MAX:
        raise InputError(f"{file}: {last - first + 1} probes are more than {_PROBES_MAX}")
    notes = []
    if found.sent is None:
        notes.append("the log ends without a count of sent packets: probes after the last line are unknown")
    if found.doubles:
        notes.append(
            f"{counted(found.doubles, 'reply', 'replies')} came a second time and {'is' if found.doubles == 1 else 'are'} left out"
        )
    numbers = range(first, last + 1)
    rtts = [found.rtts.get(one) for one in numbers]
    if len(found.replied) == len(found.rtts):
        return Probes(_sent(file, found, numbers), rtts, notes)
    if every_s is None and found.lasted_s and found.sent and found.sent > 1:
        every_s = found.lasted_s / (found.sent - 1)
    if every_s is None:
        every_s = EVERY_S
        notes.append(f"the log has no times: its probes are taken to be {every_s:g} s apart (--every says otherwise)")
    return Probes([every_s * (one - first) for one in numbers], rtts, notes)


def _sent(file: Path, found: _Read, numbers: Sequence[int]) -> list[float]:
    """When each probe was sent: the time of its reply less its round trip; of a lost one, evenly between those beside it."""
    known: list[tuple[int, float]] = []
    for one in sorted(found.rtts):
        time = found.replied[one] - found.rtts[one]
        late = known[-1][1] - time if known else 0.0
        if late > _JITTER_S:
            raise InputError(f"{file}:{found.lines[one]}: this probe was sent {late:g} s before the one before it: a clock was set")
        known.append((one, time + max(late, 0.0)))
    return list(_between(known, numbers))


def _between(known: Sequence[tuple[int, float]], numbers: Sequence[int]) -> Iterator[float]:
    zero = known[0][1]
    gaps = known[-1][0] - known[0][0]
    usual = (known[-1][1] - zero) / gaps if gaps else EVERY_S
    place = 0
    begin = zero - usual * (known[0][0] - numbers[0])
    for one in numbers:
        while place + 1 < len(known) and known[place + 1][0] <= one:
            place += 1
        before, time = known[place]
        if one <= before or place + 1 == len(known):
            yield time + usual * (one - before) - begin
        else:
            after, then = known[place + 1]
            yield time + (then - time) * (one - before) / (after - before) - begin
