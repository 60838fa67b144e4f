"""The rows of the source's two tables, and a claim for each: who gets more, and how much more."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

STATISTIC = "goodput_bps.first/last"
TIE = 1.1  # measured ratios below this are no difference
TIE_HERE = 1.25  # and then ours are to stay below this
NEAR = 1.25  # a ratio is that of a row if neither is more than 25 % above the other
WINNERS, NEARLY = 0.95, 0.8  # shares of the rows that are to agree

# Experiments in the order of the source's tables.
EXPERIMENTS = {
    "dualpi2-50": "DualPI2 at 50 Mb/s",
    "pfifo-50": "a FIFO of 1000 packets at 50 Mb/s",
    "fq_codel-50": "FQ-CoDel at 50 Mb/s",
    "dualpi2-10": "DualPI2 at 10 Mb/s",
    "pfifo-10": "a FIFO of 200 packets at 10 Mb/s",
    "fq_codel-10": "FQ-CoDel at 10 Mb/s",
    "classic": "a classic queue that marks, at 50 Mb/s",
}
_NAMES = {"cubic": "CUBIC", "prague": "Prague", "reno": "Reno"}


@dataclass(frozen=True)
class Row:
    """A row of the source: what two flows got, in Mb/s."""

    experiment: str
    variant: str
    queue: str
    flows: tuple[str, str]
    rtts_ms: tuple[int, int]
    measured_mbps: tuple[float, float]

    @property
    def ratio(self) -> float:
        """What the first flow got over what the second one got."""
        return self.measured_mbps[0] / self.measured_mbps[1]

    @property
    def tie(self) -> bool:
        """Whether the source saw no difference to speak of."""
        return max(self.ratio, 1 / self.ratio) < TIE

    @property
    def winner(self) -> dict[str, float]:
        """The bounds of a ratio with the same winner; of a tie, those of a tie here."""
        if self.tie:
            return {"min": round(1 / TIE_HERE, 6), "max": TIE_HERE}
        return {"above": 1.0} if self.ratio > 1 else {"below": 1.0}

    @property
    def near(self) -> dict[str, float]:
        """The bounds of a ratio of about the same size; of a tie, those of a tie here."""
        return self.winner if self.tie else {"min": round(self.ratio / NEAR, 6), "max": round(self.ratio * NEAR, 6)}

    @property
    def place(self) -> str:
        """The row's place in the claims' names: `dualpi2-50/cubic-prague-20-10`."""
        if self.experiment == "classic":
            queue = self.queue.translate(str.maketrans("(,/", "---", ")"))
            return f"classic/{queue}-{self.flows[1]}"
        return f"{self.experiment}/{'-'.join(self.flows)}-{self.rtts_ms[0]}-{self.rtts_ms[1]}"

    @property
    def words(self) -> tuple[str, str]:
        """Both flows in words: `Prague at 20 ms`, `CUBIC at 10 ms`."""
        first, second = (_flow(one) for one in self.flows)
        return f"{first} at {self.rtts_ms[0]} ms", f"{second} at {self.rtts_ms[1]} ms"

    def part(self, bounds: dict[str, float]) -> dict[str, Any]:
        """A part of a claim about this row, in every run."""
        return {"experiment": self.experiment, "statistic": STATISTIC, "variant": self.variant, "every": True, **bounds}


def _flow(name: str) -> str:
    kind, _, ecn = name.partition("-")
    return _NAMES[kind] + {"": "", "ecn": " with ECN", "noecn": " without ECN"}[ecn]


@cache
def rows() -> tuple[Row, ...]:
    """The rows of both tables, in the order of the source."""
    with (Path(__file__).parent / "measured.csv").open(encoding="utf-8", newline="") as file:
        return tuple(_row(line) for line in csv.DictReader(one for one in file if not one.startswith("#")))


def _row(line: dict[str, str]) -> Row:
    flows = (line["first"], line["second"])
    rtts = (int(line["first_rtt_ms"]), int(line["second_rtt_ms"]))
    if line["scenario"] == "6":
        experiment, variant = "classic", f"{line['queue']}/{flows[1]}"
    else:
        experiment = f"{line['queue'].partition('(')[0]}-{line['rate_mbps']}"
        variant = f"{'-'.join(flows)}/{rtts[0]} and {rtts[1]} ms"
    return Row(experiment, variant, line["queue"], flows, rtts, (float(line["first_mbps"]), float(line["second_mbps"])))


def of(*experiments: str) -> list[Row]:
    """The rows of some experiments."""
    return [row for row in rows() if row.experiment in experiments]


# Why rows do not come out as they were measured, as far as we know; the numbers are declared in claims.toml.
_CLASSIC = (
    "Prague yields more to the marks of a classic queue here than the Prague of 2020 did: it gets {classic-cubic} times what CUBIC "
    "gets and {classic-reno} times what Reno gets."
)
_FIFO = (
    "At a FIFO Prague is Reno here, and gets {fifo-prague} of what CUBIC gets at the same round trip. On Linux it got more, and "
    "the two rows of the same two flows differ by more than twice."
)
_ALIKE = "Which of two like flows gets more at a drop-tail queue changes from run to run, and the source has one run of each row."
_BUCKET = (
    "The step of DualPI2 looks at the wait of a packet, which at 10 Mb/s hangs on the bucket of the shaper. With that of a clock "
    "of 1000 ticks a second Prague gets {bucket-10:mean}, {bucket-20:mean} and {bucket-80:mean} times what CUBIC gets at 10, 20 "
    "and 80 ms."
)
_PRAGUES = "Two Prague flows of different round trips are further apart than on Linux: {pragues} of the shorter one's rate."
_SCATTER = "The share of a CUBIC flow scatters from run to run at DualPI2, and the source has one run of each row."
_LONG = "CUBIC of the longest round trip fills its own queue less here than on Linux; on the faster line it gets {cubic-160:mean}."
_ALL = "The claims of each queue say why: of DualPI2 at 10 Mb/s, of the FIFOs, and of the classic queues that mark."


def _why(row: Row) -> tuple[str, str]:
    """The reason and its kind, should a row not come out as measured."""
    queue, alike = row.experiment.partition("-")[0], len(set(row.flows)) == 1
    if queue == "classic":
        return _CLASSIC, "unknown"
    if queue == "fq_codel":
        return _LONG, "unknown"
    if queue == "pfifo":
        return (_ALIKE, "source") if alike else (_FIFO, "unknown")
    if row.experiment == "dualpi2-10" and "prague" in row.flows:
        return _BUCKET, "source"
    return (_PRAGUES, "unknown") if row.flows == ("prague", "prague") else (_SCATTER, "source")


_WHY_OF_ALL = {
    "dualpi2-50": (f"{_PRAGUES} {_SCATTER}", "unknown"),
    "pfifo-50": (f"{_FIFO} {_ALIKE}", "unknown"),
    "fq_codel-50": (_LONG, "unknown"),
    "dualpi2-10": (_BUCKET, "source"),
    "pfifo-10": (f"{_FIFO} {_ALIKE}", "unknown"),
    "fq_codel-10": (_LONG, "unknown"),
    "classic": (_CLASSIC, "unknown"),
}


def _reason(experiments: Sequence[str]) -> dict[str, str]:
    reason, cause = _WHY_OF_ALL[experiments[0]] if len(experiments) == 1 else (_ALL, "unknown")
    return {"reason": reason, "cause": cause}


def claims() -> list[dict[str, Any]]:
    """Claims about all rows, about those of each queue, and about each row."""
    fast = [name for name in EXPERIMENTS if not name.endswith("-10")]
    slow = [name for name in EXPERIMENTS if name.endswith("-10")]
    found = [_winners("l4s-10", "both tables", tuple(EXPERIMENTS))]
    found += [_winners(f"l4s-10/{name}", words, (name,)) for name, words in EXPERIMENTS.items()]
    found += [_sizes("l4s-11", "all queues at 50 Mb/s", fast)]
    found += [_sizes(f"l4s-11/{name}", EXPERIMENTS[name], [name]) for name in fast]
    found += [_sizes("l4s-12", "all queues at 10 Mb/s", slow)]
    found += [_sizes(f"l4s-12/{name}", EXPERIMENTS[name], [name]) for name in slow]
    return found + [_claim(row) for row in rows()]


_TABLES = "tables of scenarios 1 and 6, without cnq_codel_af"


def _winners(name: str, where: str, experiments: Sequence[str]) -> dict[str, Any]:
    chosen = of(*experiments)
    return {
        "id": name,
        "statement": f"In 95 % of the rows of {where} the same flow wins as on Linux.",
        "source": _TABLES,
        "says": f"{len(chosen)} rows with the rates of both flows",
        "derived": "a ratio below 1.1 there is a tie, and a tie here is a ratio below 1.25; the share is this study's",
        **_reason(experiments),
        "need": WINNERS,
        "parts": [row.part(row.winner) for row in chosen],
    }


def _sizes(name: str, where: str, experiments: Sequence[str]) -> dict[str, Any]:
    chosen = of(*experiments)
    return {
        "id": name,
        "statement": f"In 80 % of the rows of {where} the ratio of the flows is that on Linux within 25 %.",
        "source": _TABLES,
        "says": f"{len(chosen)} rows with the rates of both flows",
        "derived": "a tie there (below 1.1) is to be one here (below 1.25); the margin and the share are this study's",
        **_reason(experiments),
        "need": NEARLY,
        "parts": [row.part(row.near) for row in chosen],
    }


def _claim(row: Row) -> dict[str, Any]:
    (first, second), (reason, cause) = row.words, _why(row)
    where, (one, other) = EXPERIMENTS[row.experiment], row.measured_mbps
    if row.experiment == "classic":
        where = f"{row.queue} at 50 Mb/s"
    if row.tie:
        statement = f"{first} and {second} share {where} alike, within 25 %."
    else:
        winner, loser, ratio = (first, second, row.ratio) if row.ratio > 1 else (second, first, 1 / row.ratio)
        statement = f"{winner} gets {ratio:.2f} times as much as {loser} at {where}, within 25 %."
    return {
        "id": f"l4s-13/{row.place}",
        "statement": statement,
        "source": f"table of scenario {'6' if row.experiment == 'classic' else '1'}",
        "says": f"{one:.2f} and {other:.2f} Mb/s",
        "derived": "25 % is this study's margin; one measurement there, every run here",
        "reason": reason,
        "cause": cause,
        "parts": [row.part(row.near)] if row.tie else [row.part(row.winner), row.part(row.near)],
    }
