"""The table of figure 15: its rows, the points that run them, and a claim for each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from elephan.experiment.study import Point
from elephan.studies.buffers_2004 import theory

PATH = 1291  # packets: 155 Mb/s times 100 ms in packets of 1500 B
MARGIN = 1.5  # points of utilisation
HOSTS = ("Reno", "Linux 2.4")  # as in ns-2, and as the hosts behind the router
# flows and packets of the rows that do not hold
UNMET = {"Reno": ((100, 64), (100, 129), (200, 46), (300, 37)), "Linux 2.4": ((100, 64), (200, 46), (300, 37), (400, 32))}


@dataclass(frozen=True)
class Row:
    """A row of the table; utilisations in percent."""

    flows: int
    packets: int
    model: float
    simulated: float
    router: float

    @property
    def label(self) -> str:
        """The label of its point."""
        return f"{self.flows} flows, {self.packets} p"

    @property
    def bounds(self) -> tuple[float, float]:
        """What a utilisation within the margin of ns-2 or of the router lies between, in percent."""
        return min(self.simulated, self.router) - MARGIN, min(100.0, max(self.simulated, self.router) + MARGIN)


TABLE = (
    Row(100, 64, 96.9, 94.7, 94.9),
    Row(100, 129, 99.9, 99.3, 98.1),
    Row(100, 258, 100.0, 99.9, 99.8),
    Row(100, 387, 100.0, 99.8, 99.7),
    Row(200, 46, 98.8, 97.0, 98.6),
    Row(200, 91, 99.9, 99.2, 99.7),
    Row(200, 182, 100.0, 99.8, 99.8),
    Row(200, 273, 100.0, 100.0, 99.8),
    Row(300, 37, 99.5, 98.6, 99.6),
    Row(300, 74, 100.0, 99.3, 99.8),
    Row(300, 148, 100.0, 99.9, 99.8),
    Row(300, 222, 100.0, 100.0, 100.0),
    Row(400, 32, 99.7, 99.2, 99.5),
    Row(400, 64, 100.0, 99.8, 100.0),
    Row(400, 128, 100.0, 100.0, 100.0),
    Row(400, 192, 100.0, 100.0, 99.9),
)


def table() -> list[Point]:
    """Returns a point for each row."""
    return [
        Point(row.label, {"template.pairs": row.flows, "template.queue.limit": f"{row.packets} p"}, row.packets) for row in TABLE
    ]


def _part(row: Row, low: float, high: float = 1.0, hosts: str = "Reno") -> dict[str, Any]:
    bounds = {"min": round(low, 5)} | ({"max": round(high, 5)} if high < 1 else {})
    return {"experiment": "table", "statistic": "utilisation.max", "variant": f"{hosts}/{row.label}", **bounds}


def _reason(row: Row, hosts: str) -> dict[str, str]:
    """Returns why a row does not hold, where it does not: at half the rule, and at the rule for 100 flows of Reno."""
    if (row.flows, row.packets) not in UNMET[hosts]:
        return {}
    number = f"{{{'r' if hosts == 'Reno' else 'l'}-{row.flows}-{row.packets}}}"
    words = (
        "a full queue takes several packets of a burst, and repairs wait for the timer. How ns-2 and the hosts were set is unknown."
    )
    return {"reason": f"It is {number}: {words}", "cause": "source"}


def _row_claim(row: Row, hosts: str) -> dict[str, Any]:
    low, high = row.bounds
    end, words = ("", "Reno") if hosts == "Reno" else ("/linux", "Linux 2.4")
    return {
        "id": f"buffers-1{end}/{row.flows}-{row.packets}",
        "statement": f"{row.flows} long flows of {words} behind {row.packets} packets use the link as in ns-2 or on the router.",
        "source": f"section 5.2.1, figure 15, row {TABLE.index(row) + 1}",
        "says": f"Utilisation {row.simulated:g} % in ns-2 and {row.router:g} % on the router.",
        "derived": f"Between the lower of the two less {MARGIN:g} points and the higher plus {MARGIN:g} points.",
        "parts": [_part(row, low / 100, high / 100, hosts)],
        **_reason(row, hosts),
    }


def claims() -> list[dict[str, Any]]:
    """Returns the claims of the table: one for each row and kind of host, and two about the model."""
    bound = {
        "id": "buffers-2",
        "statement": "Equation 6 is a lower bound of the utilisation in every row of the table.",
        "source": "section 3.2, equation 6",
        "says": "The equation bounds the utilisation from below.",
        "derived": "Equation 6 for 1291 packets of path and the buffer of the row.",
        "parts": [_part(row, theory.utilisation(row.flows, row.packets, PATH)) for row in TABLE],
        "reason": "100 flows behind 129 packets have {r-100-129}, less than the equation, as the router of the source has: "
        "flows that wait for timers or start slowly are no independent sawtooths.",
        "cause": "theory",
    }
    accuracy = {
        "id": "buffers-3",
        "statement": "From 300 flows on the utilisation is what the table's column Model says, within 0.3 points.",
        "source": "section 5.2.1, figure 15, column Model",
        "says": "Above 200 flows the model predicts the utilisation within the accuracy of the measurement, about 0.1 %.",
        "derived": "0.3 points: 0.2 is the largest difference between the columns of the source, and each is rounded to 0.1.",
        "parts": [_part(row, (row.model - 0.3) / 100, (row.model + 0.3) / 100) for row in TABLE if row.flows >= 300],
        "reason": "At half the rule it is {r-300-37} and {r-400-32}. The column is not that of equation 6, which is far lower.",
        "cause": "source",
    }
    return [*(_row_claim(row, hosts) for hosts in HOSTS for row in TABLE), bound, accuracy]
