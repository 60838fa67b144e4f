"""Twenty transfers made by elephan whose captures get twins, with what is known of each.

`python tests/python/twins.py [NAME...]` prints what each twin found; `--write` writes the table of docs/twin.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import elephan as el
from elephan.capture.twin.twin import Twin, twin_of
from elephan.capture.twin.words import completion_s

PAGE = Path(__file__).parents[2] / "docs" / "twin.md"
BEGIN, END = "<!-- twins: written by tests/python/twins.py -->", "<!-- end of twins -->"
_TEXT = """
duration = "60 s"
seed = {seed}
traffic = [{{ name = "transfer", from = "sender", to = "receiver", congestion_control = "{control}", {traffic} }}]
[template]
kind = "dumbbell"
pairs = 1
rate = "{rate} Mbps"
delay = "{delay} ms"
access_delay = "0 s"
access_rate = "10 Gbps"
framing = "none"
queue = {queue}
[tcp]
{tcp}
[record]
captures = ["sender[0]"]
{more}
"""


@dataclass(frozen=True)
class Case:
    """A transfer: Mb/s, ms each way, packets of buffer."""

    control: str
    rate: float = 20
    delay: float = 25
    buffer: int = 83
    size: str = "20 MB"
    loss: float = 0.0
    seed: int = 1
    tcp: str = ""
    queue: str = ""
    traffic: str = ""

    @property
    def text(self) -> str:
        loss = f'[[change]]\nat = "1 us"\nset = {{ "links.left->right.loss" = {{ bernoulli = {self.loss} }} }}' if self.loss else ""
        return _TEXT.format(
            seed=self.seed,
            rate=self.rate,
            delay=self.delay,
            queue=self.queue or f'{{ kind = "fifo", limit = "{self.buffer} packets" }}',
            control=self.control,
            traffic=self.traffic or f'kind = "bulk", size = "{self.size}"',
            tcp=self.tcp,
            more=loss,
        )


_MARKED = '{ kind = "dualpi2" }'
CASES: Mapping[str, Case] = {
    "reno": Case("reno"),
    "reno, 1 % lost": Case("reno", loss=0.01, size="5 MB"),
    "reno, small buffer": Case("reno", buffer=20),
    "cubic": Case("cubic"),
    "cubic, 100 Mb/s": Case("cubic", rate=100, delay=10, buffer=150, size="60 MB"),
    "cubic, 0.5 % lost": Case("cubic", loss=0.005, size="10 MB"),
    "cubic, 100 ms": Case("cubic", delay=100, buffer=333, size="30 MB"),
    "bbr": Case("bbr", size="15 MB"),
    "bbr, 1 % lost": Case("bbr", loss=0.01, size="15 MB"),
    "bbr, small buffer": Case("bbr", buffer=20, size="15 MB"),
    "vegas": Case("vegas"),
    "vegas, 0.1 % lost": Case("vegas", loss=0.001),
    "westwood": Case("westwood"),
    "westwood, 1 % lost": Case("westwood", loss=0.01, size="10 MB"),
    "htcp": Case("htcp", size="30 MB"),
    "htcp, 0.2 % lost": Case("htcp", loss=0.002),
    "illinois": Case("illinois", size="30 MB"),
    "illinois, 0.2 % lost": Case("illinois", loss=0.002),
    "prague": Case("prague", queue=_MARKED, tcp='ecn = "accurate"'),
    "prague, 0.1 % lost": Case("prague", queue=_MARKED, tcp='ecn = "accurate"', loss=0.001),
}


def captured(name: str, folder: Path) -> tuple[el.Run, Path]:
    """Returns the run of a case, and its capture at the sender."""
    run = el.run(CASES[name].text, out=folder / "run", report=False)
    (file,) = run.captures
    return run, file


def twin(name: str, folder: Path) -> tuple[el.Run, Twin]:
    """Returns the run of a case and the twin of its capture."""
    run, file = captured(name, folder)
    row = max(el.analyze(file).connections.to_pylist(), key=lambda row: row["data_segs_out"] or 0)
    return run, twin_of([file], row)


@dataclass(frozen=True)
class Measured:
    """What a twin found of a case."""

    name: str
    found: Twin

    @property
    def completion(self) -> float:
        """How much longer the twin takes than the capture, as a share."""
        return completion_s(self.found.best.packets) / completion_s(self.found.real) - 1

    @property
    def same_losses(self) -> bool:
        return self.found.real.lost.tolist() == self.found.best.packets.lost.tolist()

    @property
    def right(self) -> bool:
        return self.found.best.controller == CASES[self.name].control

    @property
    def cells(self) -> list[str]:
        """The row of the table."""
        case, path, best, second = CASES[self.name], self.found.path, self.found.best, self.found.replays[1]
        buffer = f"{case.buffer}, {path.buffer_packets}" if path.buffer_known else f"{case.buffer}, not known"
        return [
            self.name,
            f"{case.rate:g}, {path.rate_bps / 1e6:.2f}",
            f"{2 * case.delay:g}, {1e3 * path.propagation_s:.2f}",
            buffer if not case.queue else "an AQM",
            f"{self.found.real.lost.size}, {self.found.best.packets.lost.size}",
            f"{best.controller} {best.distance:.1%}, {second.controller} {second.distance:.1%}".replace("%", " %"),
            f"{100 * self.completion:+.2f} %",
        ]


def measured(name: str) -> Measured:
    """Returns what the twin of a case finds."""
    with TemporaryDirectory() as folder:
        return Measured(name, twin(name, Path(folder))[1])


HEAD = "| transfer | rate [Mb/s] | round trip [ms] | buffer [packets] | lost | nearest, second | completion |"


def table(names: Iterable[str]) -> Iterator[str]:
    """Yields the lines of the table of docs/twin.md."""
    yield HEAD
    yield "|---|---|---|---|---|---|---|"
    for name in names:
        yield f"| {' | '.join(measured(name).cells)} |"


def main() -> None:
    names = [word for word in sys.argv[1:] if word != "--write"]
    lines = []
    for line in table(names or CASES):
        print(line, flush=True)
        lines.append(line)
    if "--write" in sys.argv:
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        after = rest.split(END)[1]
        text = "\n".join(lines)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
