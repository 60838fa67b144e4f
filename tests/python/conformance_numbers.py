"""What the sections "Conformance" of pages say, as the page of reports has it, which `make conformance` writes from its runs."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from held import Held

_REPORTS = Path(__file__).parents[2] / "docs" / "conformance-reports.md"


@cache
def _sections() -> dict[str, str]:
    parts = re.split(r"^## (.*)$", _REPORTS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def score(control: str, check: str) -> float:
    """The score of a check that the control does not pass, in the unit of the reports."""
    (row,) = re.findall(rf"^\| {re.escape(check)} \| [\w ]+ \| ([\d.]+) ?([^\s|(]*)", _sections()[control], re.MULTILINE)
    assert row[1] != "ms"  # no page tells such a score
    return float(row[0])


@cache
def passed(control: str, area: str) -> tuple[int, int]:
    """The checks of an area, or all, that a control passes, and how many apply."""
    table = [line.split(" | ") for line in _REPORTS.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    heads = [cell.strip("| ") for cell in table[0]]
    (row,) = [cells for cells in table if cells[0].startswith(f"| [{control}]")]
    if area == "all":
        counts = [int(cell) for cell in row[1:4]]
        return counts[0], sum(counts)
    done, applicable = row[heads.index(area)].strip("| ").split("/")
    return int(done), int(applicable)


def _score(words: str, control: str, *checks: str, within: float = 0.0) -> Held:
    return Held(words, lambda: [score(control, check) for check in checks], within)


SCORES: dict[str, list[Held]] = {
    "models/bbr": [
        _score("four flows in a small buffer lose {15} %", "bbr", "loss-four"),
        _score("leaves Reno and CUBIC {a fifth} to {a quarter}", "bbr", "fair-to-reno", "fair-to-cubic"),
    ],
    "models/bbr3": [
        _score("leaves Reno {half}", "bbr3", "fair-to-reno"),
        _score("CoDel's queue is {4.7} times as long", "bbr3", "codel-queue"),
        Held(
            "{four} of the {12} checks of L4S fail",
            lambda: [passed("bbr3 l4s True", "l4s")[1] - passed("bbr3 l4s True", "l4s")[0], passed("bbr3 l4s True", "l4s")[1]],
        ),
        _score("and {12} at 160 Mb/s", "bbr3 l4s True", "l4s-signals-fast"),
        Held("takes {2.8} times as much as one with 20 ms", lambda: [1 / score("bbr3 l4s True", "l4s-round-trips")]),
        _score(
            "it gets {2.35} times as much at 5 ms, and {4} times as much at 100 ms",
            "bbr3 l4s True",
            "l4s-beside-cubic-5",
            "l4s-beside-cubic-100",
        ),
    ],
    "models/bic": [
        _score("it loses {ten} times as much as CUBIC", "bic", "long-fat-own-loss"),
        _score("PIE's queue is {2.3} times as long", "bic", "pie-queue"),
    ],
    "models/copa": [
        _score("lose {21.5} %, and at 1 % of random losses it has {2.4} times", "copa", "loss-four", "loss-1-friendly")
    ],
    "models/fast": [_score("loses {7} %, and starves", "fast", "loss-alone")],
    "models/highspeed": [_score("HighSpeed has {0.67} of Reno's goodput", "highspeed", "loss-1")],
    "models/htcp": [_score("loses {twelve} times as many packets", "htcp", "long-fat-own-loss")],
    "models/hybla": [
        _score("starts {1.4} times as fast", "hybla", "start-not-faster"),
        _score("the start is {3.5} times as fast", "hybla", "start-every-ack"),
        _score("A CUBIC flow beside it keeps {a third}", "hybla", "fair-to-cubic"),
    ],
    "models/illinois": [_score("it has {2.7} times Reno's", "illinois", "loss-1-friendly")],
    "models/lp": [Held("fails {half} of the checks", lambda: [1 - passed("lp", "all")[0] / passed("lp", "all")[1]])],
    "models/pcp": [
        Held("has a window of {8.5} segments in the mean", lambda: [score("pcp", "outage-window") * 1e3 / 1448]),
        _score("take {1.75} times as long", "pcp", "short-flows"),
    ],
    "models/prague": [
        Held("passes {10} of the {12} checks of L4S", lambda: list(passed("prague", "l4s"))),
        _score("| l4s-beside-cubic-20 | {1.94} |", "prague", "l4s-beside-cubic-20"),
        _score("| l4s-at-classic-marks | {8} % left to CUBIC |", "prague", "l4s-at-classic-marks"),
        _score("CUBIC keeps {8} %:", "prague", "l4s-at-classic-marks"),
    ],
    "models/reno": [
        Held("Reno passes all checks but {one}", lambda: [passed("reno", "all")[1] - passed("reno", "all")[0]]),
        _score("it has {0.56} of what CUBIC has", "reno", "long-fat-loss"),
    ],
    "models/scalable": [
        _score("it loses {five} times as much as CUBIC", "scalable", "long-fat-own-loss"),
        _score("leaves a Reno flow {a third}", "scalable", "fair-to-reno"),
    ],
    "models/vegas": [
        _score("leaves it {13} % of the line, CUBIC {3} % and BBR {8} %", "vegas", "jitter", "beside-cubic", "beside-bbr"),
    ],
    "models/westwood": [
        _score("it has {2.55} times Reno's", "westwood", "loss-1-friendly"),
        Held("it uses {a fifth} of the line", lambda: [score("westwood", "high-delay") / 100]),
    ],
    "models/yeah": [
        _score("it has {2.3} times Reno's", "yeah", "loss-1-friendly"),
        _score("it loses {1.7} times as much as BBR", "yeah", "idle-loss"),
    ],
}
