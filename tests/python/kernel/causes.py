"""Connections of this machine's kernel with a cause that the link or an application has, beside what `elephan analyze` says.

`python -m kernel.causes capture FOLDER [NAME...]` writes the captures. `python -m kernel.causes table FOLDER` prints what elephan
says of them, and `python -m kernel.causes write FOLDER` writes the table of docs/kernel.md. What is expected was written down
before elephan was asked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import elephan as el
from kernel.compare import TooBusy
from kernel.courses import Course

# A packet that is late by some milliseconds changes no cause: so large a share of them may be.
LATE_SHARE = 0.05
PAGE = Path(__file__).parents[3] / "docs" / "kernel.md"
BEGIN, END = "<!-- causes: written by tests/python/kernel/causes.py -->", "<!-- end of causes -->"

BULK = (("write", float(1 << 17)),)


@dataclass(frozen=True)
class Cause:
    """A connection, the causes of which one must be named first, and those that must not be named at all."""

    course: Course
    first: tuple[str, ...]
    never: tuple[str, ...] = ()
    # The end that was called sends most, so that the place of a capture is the other one.
    answers: bool = False
    # Places that what happened did not reach: there only wrong culprits count.
    hidden: tuple[str, ...] = ()
    # Causes that are named wrongly today, by place; docs/kernel.md says why.
    known: tuple[tuple[str, str], ...] = ()


# What a link without a fault must never be blamed for, and what an application or a window must not.
LOSS = ("loss", "timer", "recovery", "outage", "stuck", "black hole")
ENDS = ("closed", "window", "application", "fixed window", "delayed ack", "pacing")


def _bulk(seconds: int = 4, *, size: int | None = None, controller: str = "cubic", buffer: int = 83, **more: object) -> Course:
    steps = BULK if size is None else (("write", float(size)), ("stop", 0.0))
    return Course(controller, buffer, seconds, **({"sender_talks": steps} | more))  # type: ignore[arg-type]


def _talk(seconds: int, sender: tuple[tuple[str, float], ...], receiver: tuple[tuple[str, float], ...], **more: object) -> Course:
    return _bulk(seconds, **({"sender_talks": sender, "receiver_talks": receiver} | more))  # type: ignore[arg-type]


def _set(end: str, name: str | int, value: int, level: str = "SOL_SOCKET") -> dict[str, object]:
    return {f"{end}_options": ((level, name, value),)}


# Where a packet does not come that is lost on its way to the receiver.
BEHIND = ("middle", "receiver")
SO_MAX_PACING_RATE, TCP_WINDOW_CLAMP = 47, 10
# A link and a queue that nothing here fills.
FAST: dict[str, object] = {"rate_bps": 100e6, "buffer": 1000}

CAUSES: dict[str, Cause] = {
    # The receiver.
    "SO_RCVBUF of 30 kB": Cause(_bulk(receive_buffer=30_000, **FAST), ("window",), (*LOSS, "application", "link")),
    "SO_RCVBUF of 200 kB, 60 ms": Cause(
        _bulk(receive_buffer=200_000, **FAST, delay_s=0.03), ("window",), (*LOSS, "application", "link")
    ),
    "TCP_WINDOW_CLAMP of 20 kB": Cause(
        _bulk(**FAST, **_set("receiver", TCP_WINDOW_CLAMP, 20_000, "IPPROTO_TCP")),
        ("window",),
        (*LOSS, "application", "link"),
    ),
    "reader of 2 Mb/s": Cause(
        _bulk(6, reader_bps=2e6, receive_buffer=100_000), ("window", "closed"), (*LOSS, "application", "link")
    ),
    "reader stops for 4 s": Cause(
        _talk(
            6,
            (("write", 3e6), ("stop", 0)),
            (("read", 5e5), ("sleep", 4), ("read", 0), ("stop", 0)),
            receive_buffer=200_000,
            **FAST,
        ),
        ("closed",),
        (*LOSS, "application", "link"),
    ),
    "window update lost": Cause(
        _talk(
            6,
            (("write", 1e6), ("stop", 0)),
            (("read", 2e5), ("wait", 2), ("read", 0), ("stop", 0)),
            receive_buffer=100_000,
            ack_outages=((1.95, 0.3),),
        ),
        ("closed",),
        (*LOSS, "application", "link"),
    ),
    # The sender and the applications.
    "SO_SNDBUF of 40 kB": Cause(
        _bulk(**FAST, **_set("sender", "SO_SNDBUF", 40_000)),
        ("fixed window",),
        (*LOSS, "window", "closed", "link", "application"),
        known=(("middle", "application"),),
    ),
    "SO_MAX_PACING_RATE of 4 Mb/s": Cause(
        _bulk(5, **_set("sender", SO_MAX_PACING_RATE, 500_000)), ("pacing",), (*LOSS, "window", "closed", "link", "fixed window")
    ),
    "writes of 200 kB, 500 ms of thinking": Cause(
        _bulk(5, sender_talks=(("write", 2e5), ("sleep", 0.5))), ("application",), (*LOSS, "window")
    ),
    "one write of 2 kB each 100 ms": Cause(
        _bulk(4, sender_talks=(("write", 2e3), ("sleep", 0.1))), ("application",), (*LOSS, "window", "link")
    ),
    "server thinks 300 ms": Cause(
        _talk(5, (("write", 300), ("read", 2e4)), (("read", 300), ("sleep", 0.3), ("write", 2e4))),
        ("application",),
        (*LOSS, "window", "link", "peer"),
        answers=True,
    ),
    "client thinks 300 ms": Cause(
        _talk(5, (("write", 300), ("read", 2e4), ("sleep", 0.3)), (("read", 300), ("write", 2e4))),
        ("peer",),
        (*LOSS, "window", "link", "application"),
        answers=True,
    ),
    "Nagle and delayed ACKs": Cause(
        _talk(4, (("write", 200), ("write", 200), ("read", 100)), (("read", 400), ("write", 100)), delay_s=0.002),
        ("delayed ack",),
        (*LOSS, "window", "link"),
    ),
    "idle with keep-alive": Cause(
        _bulk(
            8,
            sender_talks=(("write", 2e5), ("sleep", 3.5)),
            sender_options=(
                ("SOL_SOCKET", "SO_KEEPALIVE", 1),
                ("IPPROTO_TCP", "TCP_KEEPIDLE", 1),
                ("IPPROTO_TCP", "TCP_KEEPINTVL", 1),
            ),
        ),
        ("application",),
        (*LOSS, "window", "closed"),
    ),
    "half-closed after the request": Cause(
        _talk(4, (("write", 300), ("shutdown", 0), ("read", 0), ("stop", 0)), (("read", 0), ("write", 1e5), ("sleep", 0.4))),
        ("application",),
        (*LOSS, "window", "reset"),
        answers=True,
    ),
    # Outages and timers.
    "outage of 1 s": Cause(
        _bulk(3, size=2_500_000, outages=((0.5, 1.0),), ack_outages=((0.5, 1.0),)), ("outage",), (*ENDS, "black hole")
    ),
    "outage of 3 s": Cause(
        _bulk(8, size=4_000_000, outages=((0.8, 3.0),), ack_outages=((0.8, 3.0),)), ("outage",), (*ENDS, "black hole")
    ),
    "outage of 6 s": Cause(
        _bulk(16, size=8_000_000, outages=((1.0, 6.0),), ack_outages=((1.0, 6.0),)), ("outage",), (*ENDS, "black hole")
    ),
    "outage of the ACKs, 3 s": Cause(_bulk(8, size=4_000_000, ack_outages=((0.8, 3.0),)), ("outage",), (*ENDS, "black hole")),
    "the last segment of each request lost": Cause(
        _talk(4, (("write", 14_480), ("read", 100)), (("read", 14_480), ("write", 100)), lost=tuple(range(10, 2000, 10))),
        ("timer", "loss"),
        ("window", "closed", "link", "outage", "black hole"),
    ),
    "black hole of the path's MTU": Cause(
        _talk(
            6,
            (("write", 400), ("read", 100), ("write", 1e6), ("stop", 0)),
            (("read", 400), ("write", 100), ("read", 0), ("stop", 0)),
            passes=1400,
        ),
        ("black hole",),
        (*ENDS, "link"),
        hidden=BEHIND,
    ),
    # Losses.
    "0.1 % lost": Cause(_bulk(8, loss=0.001, **FAST), ("loss",), (*ENDS, "link", "outage")),
    "1 % lost": Cause(_bulk(5, loss=0.01), ("loss", "recovery"), (*ENDS, "link", "outage")),
    "5 % lost": Cause(_bulk(5, loss=0.05), ("loss", "recovery", "timer"), (*ENDS, "link")),
    "40 in a row lost": Cause(
        _bulk(5, size=3_000_000, lost=tuple(range(120, 160)), **FAST), ("loss", "recovery", "timer"), (*ENDS, "link")
    ),
    "policer of 4 Mb/s": Cause(_bulk(6, policer=(4e6, 30_000)), ("policer", "loss", "recovery"), (*ENDS, "link")),
    "queue of 8 packets": Cause(_bulk(6, controller="reno", buffer=8), ("loss", "link"), (*ENDS, "outage")),
    # A full link, and what harms it little.
    "queue of one round trip": Cause(_bulk(6), ("link",), (*ENDS, "outage", "black hole")),
    "queue of 400 packets": Cause(_bulk(6, buffer=400), ("link",), (*ENDS, "outage", "black hole")),
    "marks above 48 packets": Cause(_bulk(6, buffer=1000, mark_above=48), ("link", "marks"), (*ENDS, *LOSS)),
    "marks above 5 packets": Cause(_bulk(6, buffer=1000, mark_above=5), ("link", "marks"), (*ENDS, *LOSS)),
    "1 % late by 8 ms": Cause(_bulk(6, buffer=400, reorder=(0.01, 0.008)), ("link",), (*ENDS, "outage")),
    "5 % late by 8 ms": Cause(_bulk(6, buffer=400, reorder=(0.05, 0.008)), ("link",), (*ENDS, "outage")),
    "1 % twice": Cause(_bulk(6, buffer=400, duplicate=0.01), ("link",), (*ENDS, "outage")),
    "30 % of the ACKs lost": Cause(_bulk(6, buffer=400, ack_loss=0.3), ("link",), (*ENDS, "outage")),
    "BBR, 1 % lost": Cause(
        _bulk(6, controller="bbr", loss=0.01), ("link", "pacing"), ("window", "closed", "application", "outage")
    ),
    "BBR, queue of 400 packets": Cause(
        _bulk(6, controller="bbr", buffer=400), ("link", "pacing"), ("window", "closed", "application", *LOSS)
    ),
    "route 100 ms longer after 2 s": Cause(
        _bulk(6, new_delay=(2.0, 0.075), receive_buffer=60_000), ("window",), (*LOSS, "application", "link")
    ),
    # The beginning and the end.
    "short transfer, slow start": Cause(_bulk(3, size=250_000, **FAST, delay_s=0.05), ("slow start",), (*LOSS, *ENDS, "link")),
    "refused": Cause(_bulk(1, listens=False), ("refused",), LOSS),
    "SYN never answered": Cause(_bulk(7, outages=((0.0, 100.0),)), ("unanswered",), ("refused", *ENDS)),
    "SYN lost": Cause(_bulk(3, size=20_000, lost_there=(1,)), ("set-up",), (*ENDS, *LOSS, "link"), hidden=BEHIND),
    "SYN-ACK lost": Cause(_bulk(3, size=20_000, lost_back=(1,)), ("set-up",), (*ENDS, *LOSS, "link")),
    "reset by the receiver": Cause(_talk(3, BULK, (("read", 2e6), ("reset", 0))), ("reset",), (*ENDS, "outage")),
}


# What a sentence says when it names a cause.
WORDS = {
    "refused the connection": "refused",
    "Nobody answered": "unanswered",
    "The connection was reset": "reset",
    "a black hole of the path's MTU": "black hole",
    "the sender sent the same segment": "stuck",
    "a segment that nobody acknowledged": "stuck",
    "most of its time": "set-up",
    "the receiver's closed window": "closed",
    "the receiver's full window": "window",
    "the sender, which had nothing to send": "application",
    "to send its part": "peer",
    "losses that were being repaired": "recovery",
    "waiting for a timer after a loss": "timer",
    "an outage": "outage",
    "the rate of a full link": "link",
    "which losses cut": "loss",
    "which marks (ECN) cut": "marks",
    "a fixed window of the sender": "fixed window",
    "a steady rate that the sender kept": "pacing",
    "slow start: the congestion window": "slow start",
    "waited for delayed ACKs": "delayed ack",
    "the path or the congestion window": "path",
    "what the capture does not show": "unknown",
}
# The place of a capture, and what `--at` says of it: the right place, or nothing as most users have it.
ASKED = {
    "sender": ("sender", "sender"),
    "sender, not said": ("sender", None),
    "middle": ("middle", "between"),
    "middle, not said": ("middle", None),
    "receiver": ("receiver", "receiver"),
    "receiver, not said": ("receiver", None),
}


def named(lines: list[str]) -> list[tuple[str, str]]:
    """Returns the causes that sentences name, in their order, each with the part of the sentence that names it."""
    parts = [part for line in lines for part in line.replace("\u202f", " ").split(", then by ")]
    return [(cause, part) for part in parts for words, cause in WORDS.items() if words in part]


def captured(name: str, folder: Path) -> Path:
    """Lets the kernel send the connection; returns the folder with its captures. Raises `TooBusy` if the link was late."""
    course, where = CAUSES[name].course, folder / name.replace("/", "-")
    where.mkdir(parents=True, exist_ok=True)
    sender = {"net.ipv4.tcp_no_metrics_save": 1} | ({"net.ipv4.tcp_ecn": 1} if course.mark_above is not None else {})
    given = asdict(course) | {"sysctl": {"sender": sender, "receiver": {}}, "seed": 1, "out": str(where / "link.json")}
    (where / "given.json").write_text(json.dumps(given))
    link = Path(__file__).with_name("link.py")
    for _ in range(3):
        subprocess.run([sys.executable, str(link), str(where / "given.json"), str(where)], check=True, timeout=90)
        if json.loads((where / "link.json").read_text())["late"] < LATE_SHARE:
            return where
    raise TooBusy


def told(capture: Path, at: str | None) -> list[str]:
    """Returns the sentences about the connection that delivered most; none of a capture without packets."""
    trace = el.analyze(capture, at=at, report=False)
    return trace.told(trace.focus) if trace.count else []


@dataclass(frozen=True)
class Verdict:
    """What elephan says of a capture: the first cause that it names, in its words, and which it names wrongly."""

    first: str
    words: str
    is_right: bool
    wrong: tuple[str, ...]

    @property
    def is_well(self) -> bool:
        return self.is_right and not self.wrong


def verdict(name: str, lines: list[str]) -> Verdict:
    cause, found = CAUSES[name], named(lines)
    first, words = found[0] if found else ("", "nothing")
    wrong = tuple(sorted({other for other, _ in found if other in cause.never}))
    return Verdict(first, words.removeprefix("It was limited by "), first in cause.first, wrong)


def is_hidden(name: str, asked: str) -> bool:
    return ASKED[asked][0] in CAUSES[name].hidden


def verdicts(name: str, folder: Path) -> dict[str, Verdict]:
    """Returns the verdict of each of `ASKED` that a packet has passed."""
    files, turned = folder / name.replace("/", "-"), {"sender": "receiver", "receiver": "sender"}
    found = {}
    for asked, (place, at) in ASKED.items():
        there = turned.get(place, place) if CAUSES[name].answers else place
        if lines := told(files / f"{there}.pcap", at):
            found[asked] = verdict(name, lines)
    return found


def table(folder: Path, names: list[str]) -> str:
    """The table of docs/kernel.md: a row for each connection, a cell for each place; a star marks what is not right."""
    lines = ["| connection | expected | " + " | ".join(ASKED) + " |", "|---" * (2 + len(ASKED)) + "|"]
    well, all_of = dict.fromkeys(ASKED, 0), dict.fromkeys(ASKED, 0)
    for name in names:
        cells, found = [], verdicts(name, folder)
        for asked in ASKED:
            if (one := found.get(asked)) is None:
                cells.append("no packet")
                continue
            wrong = f" (not {', '.join(one.wrong)})" if one.wrong else ""
            if is_hidden(name, asked):
                cells.append(f"hidden{wrong}")
                continue
            well[asked], all_of[asked] = well[asked] + one.is_well, all_of[asked] + 1
            cells.append(f"{one.first or 'nothing'}{'' if one.is_right else ' *'}{wrong}")
        lines.append(f"| {name} | {' or '.join(CAUSES[name].first)} | {' | '.join(cells)} |")
    lines.append(f"| right | | {' | '.join(f'{well[asked]} of {all_of[asked]}' for asked in ASKED)} |")
    return "\n".join(lines)


def main() -> None:
    command, folder, names = sys.argv[1], Path(sys.argv[2]), sys.argv[3:] or list(CAUSES)
    if command == "capture":
        for name in names:
            captured(name, folder)
            print(name, flush=True)
    elif command == "table":
        print(table(folder, names))
    else:
        text = PAGE.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{table(folder, names)}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
