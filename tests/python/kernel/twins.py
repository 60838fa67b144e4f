"""Twins of connections of this machine's kernel through a link of known rate, delay and buffer.

`PYTHONPATH=tests/python python -m kernel.twins [NAME...]` prints what each twin finds, and what it says of a changed path beside a
second connection over the path with that change.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import elephan as el
from elephan.capture.twin.twin import Twin, twin_of
from elephan.capture.twin.whatif import Answer, ask
from elephan.capture.twin.words import completion_s
from kernel.compare import LATE_SHARE, TooBusy
from kernel.courses import Course

_LONG = {"rate_bps": 10e6, "delay_s": 0.1}
_SHORT = {"rate_bps": 20e6, "delay_s": 0.005}


def _course(controller: str, buffer: int, size: int, **more: Any) -> Course:
    return Course(controller, buffer, 25, size=size, **more)


COURSES: Mapping[str, Course] = {
    "reno": _course("reno", 83, 20_000_000),
    "cubic": _course("cubic", 83, 20_000_000),
    "bbr": _course("bbr", 83, 15_000_000),
    "reno, small buffer": _course("reno", 24, 15_000_000),
    "cubic, small buffer": _course("cubic", 24, 15_000_000),
    "bbr, small buffer": _course("bbr", 20, 12_000_000),
    "reno, large buffer": _course("reno", 300, 15_000_000),
    "cubic, large buffer": _course("cubic", 300, 15_000_000),
    "reno, 0.5 % lost": _course("reno", 83, 5_000_000, loss=0.005),
    "cubic, 0.5 % lost": _course("cubic", 83, 5_000_000, loss=0.005),
    "bbr, 0.5 % lost": _course("bbr", 83, 10_000_000, loss=0.005),
    "reno, 200 ms": _course("reno", 166, 10_000_000, **_LONG),
    "cubic, 200 ms": _course("cubic", 166, 10_000_000, **_LONG),
    "reno, 10 ms": _course("reno", 30, 12_000_000, **_SHORT),
    "cubic, 10 ms": _course("cubic", 30, 12_000_000, **_SHORT),
}
# What changes, as a twin and as the link have it.
CHANGES: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "twice the rate": ({"rate": "{twice_bps:.0f} bps"}, {"rate_bps": 2.0}),
    "three times the buffer": ({"buffer": "{thrice} p"}, {"buffer": 3}),
    "other control": ({"congestion_control": "{other}"}, {}),
}


def captured(course: Course, folder: Path) -> Path:
    """Lets the kernel send; returns the capture at its sender. Raises TooBusy where the link cannot keep its time."""
    folder.mkdir(parents=True, exist_ok=True)
    given = asdict(course) | {"sysctl": {"sender": {"net.ipv4.tcp_no_metrics_save": 1}, "receiver": {}}, "seed": 1}
    (folder / "given.json").write_text(json.dumps(given | {"out": str(folder / "link.json")}))
    for _ in range(3):
        link = Path(__file__).with_name("link.py")
        subprocess.run([sys.executable, str(link), str(folder / "given.json"), str(folder)], check=True, timeout=90)
        if json.loads((folder / "link.json").read_text())["late"] < LATE_SHARE:
            return folder / "sender.pcap"
    raise TooBusy


def twin(file: Path) -> Twin:
    """Returns the twin of the connection that sent most."""
    return twin_of([file], max(el.analyze(file).connections.to_pylist(), key=lambda row: row["data_segs_out"] or 0))


@dataclass(frozen=True)
class Asked:
    """A change, what the twin says of it, and how long the kernel then took."""

    change: str
    answer: Answer
    took_s: float

    @property
    def inside(self) -> bool:
        return self.answer.low <= self.took_s <= self.answer.top

    @property
    def width(self) -> float:
        return (self.answer.top - self.answer.low) / self.answer.value


def asked(course: Course, found: Twin, folder: Path) -> list[Asked]:
    """Returns what the twin says of changes of its path, beside the kernel over the changed path."""
    others = {"reno": "cubic", "cubic": "reno", "bbr": "cubic"}
    words = {"twice_bps": 2 * found.path.rate_bps, "thrice": 3 * found.path.buffer_packets, "other": others[course.controller]}
    given = []
    for number, (name, (change, link)) in enumerate(CHANGES.items()):
        changed = replace(course, **{key: getattr(course, key) * times for key, times in link.items()})
        if not link:
            changed = replace(course, controller=others[course.controller])
        file = captured(changed, folder / str(number))
        row = twin_packets(file)
        given.append(Asked(name, ask(found, {key: text.format(**words) for key, text in change.items()}), row))
    return given


def twin_packets(file: Path) -> float:
    """Returns the time from the first data to the last answer of the connection that sent most, s."""
    row = max(el.analyze(file).connections.to_pylist(), key=lambda row: row["data_segs_out"] or 0)
    return float(row["data_end_ns"] - row["data_start_ns"]) / 1e9


def main() -> None:
    what_if = "--what-if" in sys.argv
    for name in [word for word in sys.argv[1:] if not word.startswith("--")] or COURSES:
        course = COURSES[name]
        with TemporaryDirectory() as folder:
            try:
                found = twin(captured(course, Path(folder)))
            except TooBusy:
                print(f"{name}: the machine is too busy", flush=True)
                continue
            path, best, second = found.path, found.best, found.replays[1]
            apart = completion_s(best.packets) / completion_s(found.real) - 1
            print(
                f"{name}: rate {path.rate_bps / 1e6:.3f} ({course.rate_bps / 1e6}), {1e3 * path.propagation_s:.2f} ms "
                f"({2e3 * course.delay_s}), buffer {path.buffer_packets} ({course.buffer}, {path.buffer_known}), lost "
                f"{found.real.lost.size}/{best.packets.lost.size}, {best.controller} {best.distance:.2%} before "
                f"{second.controller} {second.distance:.2%}, completion {apart:+.2%}",
                flush=True,
            )
            for one in asked(course, found, Path(folder)) if what_if else []:
                answer = one.answer
                print(
                    f"  {one.change}: {answer.captured:.2f} s would be {answer.value:.2f} ({answer.low:.2f} to {answer.top:.2f}), "
                    f"was {one.took_s:.2f}: {'inside' if one.inside else 'OUTSIDE'}, width {one.width:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
