"""Twins of connections of this machine's kernel through a link of known rate, delay and buffer.

`PYTHONPATH=tests/python python -m kernel.twins [NAME...]` prints what each twin finds. With `--what-if` it also prints what the
twin says of changes, beside a second connection over the changed path. `--write` writes the tables of docs/twin.md. With
`--kept=FILE` a file keeps what is found, so that the same command goes on where it was stopped.
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
PAGE = Path(__file__).parents[3] / "docs" / "twin.md"
BEGIN, END = "<!-- kernel: written by tests/python/kernel/twins.py -->", "<!-- end of kernel -->"


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


def took_s(file: Path) -> float:
    """Returns the time from the first data to the last answer of the connection that sent most."""
    row = max(el.analyze(file).connections.to_pylist(), key=lambda row: row["data_segs_out"] or 0)
    return float(row["data_end_ns"] - row["data_start_ns"]) / 1e9


def asked(course: Course, found: Twin, folder: Path) -> list[Asked]:
    """Returns what the twin says of changes of its path, beside the kernel over the changed path."""
    other = "reno" if course.controller == "cubic" else "cubic"
    changes: list[tuple[str, dict[str, Any], Course]] = [
        ("twice the rate", {"rate": f"{2 * found.path.rate_bps:.0f} bps"}, replace(course, rate_bps=2 * course.rate_bps)),
        ("three times the buffer", {"buffer": f"{3 * found.path.buffer_packets} p"}, replace(course, buffer=3 * course.buffer)),
        (other, {"congestion_control": other}, replace(course, controller=other)),
    ]
    given = []
    for number, (name, change, changed) in enumerate(changes):
        try:
            file = captured(changed, folder / str(number))
        except TooBusy:
            continue
        given.append(Asked(name, ask(found, change), took_s(file)))
    return given


@dataclass(frozen=True)
class Found:
    """A connection of the kernel, its twin, and what the twin said of changes."""

    name: str
    course: Course
    twin: Twin
    asked: list[Asked]

    @property
    def completion(self) -> float:
        """How much longer the twin takes than the kernel, as a share."""
        return completion_s(self.twin.best.packets) / completion_s(self.twin.real) - 1

    @property
    def right(self) -> bool:
        return self.twin.best.controller == self.course.controller

    @property
    def cells(self) -> list[str]:
        """The row of the table."""
        path, best, second = self.twin.path, self.twin.best, self.twin.replays[1]
        known = f"{path.buffer_packets}" if path.buffer_known else "not known"
        return [
            self.name,
            f"{self.course.rate_bps / 1e6:g}, {path.rate_bps / 1e6:.2f}",
            f"{2e3 * self.course.delay_s:g}, {1e3 * path.propagation_s:.2f}",
            f"{self.course.buffer}, {known}",
            f"{best.controller} {100 * best.distance:.1f} %, {second.controller} {100 * second.distance:.1f} %",
            f"{100 * self.completion:+.2f} %",
        ]


def found(name: str, what_if: bool) -> Found | None:
    """Returns a connection and its twin; None if the machine was too busy."""
    course = COURSES[name]
    with TemporaryDirectory() as folder:
        try:
            made = twin(captured(course, Path(folder)))
        except TooBusy:
            return None
        return Found(name, course, made, asked(course, made, Path(folder)) if what_if else [])


HEAD = "| connection | rate [Mb/s] | round trip [ms] | buffer [packets] | nearest, second | completion |"


def rows_of(made: Found) -> dict[str, list[str]]:
    """Returns the rows of both tables for a connection."""
    answers = []
    for one in made.asked:
        answer, verdict = one.answer, "inside" if one.inside else "outside"
        row = f"| {made.name}, {one.change} | {answer.captured:.2f} | {answer.value:.2f} ({answer.low:.2f} to {answer.top:.2f}) | "
        answers.append(row + f"{one.took_s:.2f}, {verdict} |")
    return {"line": [f"| {' | '.join(made.cells)} |"], "answers": answers}


def write(rows: Mapping[str, Mapping[str, list[str]]]) -> None:
    """Writes the tables of the page, in the order of the courses."""
    lines = [HEAD, "|---|---|---|---|---|---|", *(line for name in COURSES if name in rows for line in rows[name]["line"])]
    answers = [line for name in COURSES if name in rows for line in rows[name]["answers"]]
    text = "\n".join(lines)
    if answers:
        text += "\n\n| change | took [s] | would take [s] | then took [s] |\n|---|---|---|---|\n" + "\n".join(answers)
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


def main() -> None:
    what_if = "--what-if" in sys.argv
    file = next((Path(word.partition("=")[2]) for word in sys.argv if word.startswith("--kept=")), None)
    rows = json.loads(file.read_text()) if file and file.is_file() else {}
    print(HEAD)
    for name in [word for word in sys.argv[1:] if not word.startswith("--")] or COURSES:
        if name not in rows:
            made = found(name, what_if)
            if made is None:
                print(f"{name}: the machine is too busy", flush=True)
                continue
            rows[name] = rows_of(made)
            if file:
                file.write_text(json.dumps(rows))
        print(*rows[name]["line"], *rows[name]["answers"], sep="\n", flush=True)
    if "--write" in sys.argv:
        write(rows)


if __name__ == "__main__":
    main()
