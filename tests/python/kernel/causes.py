"""Connections of this machine's kernel whose cause is built into the link or into an application, beside what `elephan analyze` says.

`python -m kernel.causes capture FOLDER [NAME...]` writes the captures, `python -m kernel.causes table FOLDER` prints what elephan says
of them, and `python -m kernel.causes write FOLDER` writes the table of docs/kernel.md. What is expected was written down before elephan
was asked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from kernel.compare import TooBusy
from kernel.courses import Course

# A packet that is late by some milliseconds changes no cause: so large a share of them may be.
LATE_SHARE = 0.05

BULK = (("write", float(1 << 17)),)


@dataclass(frozen=True)
class Cause:
    """A connection, the causes of which one must be named first, and those that must not be named at all.

    `application` is that of the end that sends most: the server's if that end answers.
    """

    course: Course
    first: tuple[str, ...]
    never: tuple[str, ...] = ()


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


SO_MAX_PACING_RATE, TCP_WINDOW_CLAMP = 47, 10
RATE = 100e6

CAUSES: dict[str, Cause] = {
    # The receiver.
    "SO_RCVBUF of 30 kB": Cause(_bulk(receive_buffer=30_000, rate_bps=RATE), ("window",), (*LOSS, "application", "link")),
    "SO_RCVBUF of 200 kB, 60 ms": Cause(
        _bulk(receive_buffer=200_000, rate_bps=RATE, delay_s=0.03), ("window",), (*LOSS, "application", "link")
    ),
    "TCP_WINDOW_CLAMP of 20 kB": Cause(
        _bulk(rate_bps=RATE, **_set("receiver", TCP_WINDOW_CLAMP, 20_000, "IPPROTO_TCP")),
        ("window",),
        (*LOSS, "application", "link"),
    ),
    "reader of 2 Mb/s": Cause(
        _bulk(6, reader_bps=2e6, receive_buffer=100_000), ("window", "closed"), (*LOSS, "application", "link")
    ),
    "reader stops for 4 s": Cause(
        _talk(6, (("write", 3e6), ("stop", 0)), (("read", 5e5), ("sleep", 4), ("read", 0), ("stop", 0)), receive_buffer=200_000),
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
        _bulk(rate_bps=RATE, **_set("sender", "SO_SNDBUF", 40_000)),
        ("fixed window",),
        (*LOSS, "window", "closed", "link", "application"),
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
        (*LOSS, "window", "link"),
    ),
    "client thinks 300 ms": Cause(
        _talk(5, (("write", 300), ("read", 2e4), ("sleep", 0.3)), (("read", 300), ("write", 2e4))),
        ("application",),
        (*LOSS, "window", "link"),
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
    ),
    # Losses.
    "0.1 % lost": Cause(_bulk(8, loss=0.001, rate_bps=RATE, buffer=1000), ("loss",), (*ENDS, "link", "outage")),
    "1 % lost": Cause(_bulk(5, loss=0.01), ("loss", "recovery"), (*ENDS, "link", "outage")),
    "5 % lost": Cause(_bulk(5, loss=0.05), ("loss", "recovery", "timer"), (*ENDS, "link")),
    "40 in a row lost": Cause(_bulk(3, size=600_000, lost=tuple(range(120, 160))), ("loss", "recovery", "timer"), (*ENDS, "link")),
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
    "short transfer, slow start": Cause(
        _bulk(3, size=250_000, rate_bps=RATE, delay_s=0.05, buffer=1000), ("slow start",), (*LOSS, *ENDS, "link")
    ),
    "refused": Cause(_bulk(1, listens=False), ("refused",), LOSS),
    "SYN never answered": Cause(_bulk(7, outages=((0.0, 100.0),)), ("unanswered",), ("refused", *ENDS)),
    "SYN lost": Cause(_bulk(3, size=20_000, lost_there=(1,)), ("set-up",), (*ENDS, *LOSS, "link")),
    "SYN-ACK lost": Cause(_bulk(3, size=20_000, lost_back=(1,)), ("set-up",), (*ENDS, *LOSS, "link")),
    "reset by the receiver": Cause(_talk(3, BULK, (("read", 2e6), ("reset", 0))), ("reset",), (*ENDS, "outage")),
}


def captured(name: str, folder: Path) -> Path:
    """Lets the kernel send the connection; returns the folder with its captures. Raises `TooBusy` if the link was late too often."""
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


def main() -> None:
    command, folder, names = sys.argv[1], Path(sys.argv[2]), sys.argv[3:] or list(CAUSES)
    if command == "capture":
        for name in names:
            print(name, json.loads((captured(name, folder) / "link.json").read_text())["late"], flush=True)


if __name__ == "__main__":
    main()
