"""The tables of RFC 9438 section 5: entries, the points that run them, and a claim for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from elephan.experiment.study import Point
from elephan.studies.cubic_2008 import theory

MSS = 1460  # 1500 bytes less 40 of headers
MARGIN = 0.05
RATES = {"1e-2": 100, "1e-3": 1000, "1e-4": 10_000, "1e-5": 100_000, "1e-6": 1_000_000}
COLUMNS = ("Reno", "HSTCP", "C 0.04", "C 0.4", "C 4")

_BRIEF = "Finding and repairing a loss adds one to two round trips to a cycle of six."  # at 2.0e-2
# Tables 1 and 2, down to the loss rate 1e-6: a row per loss rate, a column per congestion control.
PRINTED = {
    0.1: {
        "1e-2": (12, 12, 12, 12, 12),
        "1e-3": (38, 38, 38, 38, 59),
        "1e-4": (120, 263, 120, 187, 333),
        "1e-5": (379, 1795, 593, 1054, 1874),
        "1e-6": (1200, 12280, 3332, 5926, 10538),
    },
    0.01: {
        "1e-2": (12, 12, 12, 12, 12),
        "1e-3": (38, 38, 38, 38, 38),
        "1e-4": (120, 263, 120, 120, 120),
        "1e-5": (379, 1795, 379, 379, 379),
        "1e-6": (1200, 12280, 1200, 1200, 1874),
    },
}
# Table 3: loss rate at which a congestion control reaches so many Mb/s with packets of 1500 B and 0.1 s; Reno, HSTCP, CUBIC.
REQUIRED = {
    1: ("2.0e-2", "2.0e-2", "2.0e-2"),
    10: ("2.0e-4", "3.9e-4", "2.9e-4"),
    100: ("2.0e-6", "2.5e-5", "1.4e-5"),
    1000: ("", "1.5e-6", "6.3e-7"),
}


def control(column: str) -> Any:
    """Returns the congestion control of a column; CUBIC without fast convergence, as section 4.7 asks for one flow alone."""
    if column.startswith("C "):
        return {"kind": "cubic", "c": float(column[2:]), "fast_convergence": False}
    return {"Reno": "reno", "HSTCP": "highspeed"}[column]


def mean(column: str, p: float, rtt: float) -> float:
    """Returns the mean window that the equation of a column gives."""
    reno = theory.aimd(1, 0.5, p)
    if column == "HSTCP":
        return max(theory.highspeed(p), reno)
    return max(theory.concave(p, rtt, float(column[2:])), reno) if column.startswith("C ") else reno


def _top(column: str, p: float, rtt: float) -> float:
    """Returns the window at a loss with which a run begins: that of the equation's cycle."""
    window = mean(column, p, rtt)
    if column == "Reno":
        return window * 4 / 3
    if column == "HSTCP":
        return window
    regular = theory.concave(p, rtt, float(column[2:])) >= theory.aimd(1, 0.5, p)
    return theory.peak(window, theory.BETA) if regular else window * 2 / (1 + theory.BETA)


def _losses(every: int, first: int, count: int) -> dict[str, Any]:
    return {"listed": [first + i * every for i in range(count)]}


def point(label: str, column: str, every: int, rtt: float, skip: int, cycles: int) -> Point:
    """Returns a run of `cycles` cycles after `skip` others, begun on the cycle that the equation describes.

    Slow start ends at the window of a loss, and the first packet is lost there. Later losses are `every` new segments apart.
    """
    top = _top(column, 1 / every, rtt)
    cycle_s = every / mean(column, 1 / every, rtt) * rtt
    start_s = 1 + 20 * rtt
    changes = {
        "traffic.flow.congestion_control": control(column),
        "traffic.flow.tcp.ssthresh_initial": f"{round(top * MSS)} B",
        "links[0].delay": f"{rtt * 500:g} ms",
        "links[0].forward.loss": _losses(every, max(round(2 * top), 12), 2 * (skip + cycles) + 2),
        "warmup": f"{start_s + skip * cycle_s:.3f} s",
        "duration": f"{start_s + (skip + cycles) * cycle_s:.3f} s",
    }
    return Point(label, changes, 1 / every)


def _label(column: str, name: str, rtt: float) -> str:
    return f"{column}, {name}, {1e3 * rtt:g} ms"


def _length(every: int) -> tuple[int, int]:
    """Returns how many cycles are left out, and how many are measured."""
    return {100: (20, 200), 1000: (20, 100), 10_000: (10, 40), 100_000: (5, 20)}.get(every, (2, 8))


def tables() -> Iterator[Point]:
    """Yields a point for each entry of tables 1 and 2."""
    for rtt, rows in PRINTED.items():
        for name in rows:
            for column in COLUMNS:
                yield point(_label(column, name, rtt), column, RATES[name], rtt, *_length(RATES[name]))


def required() -> Iterator[Point]:
    """Yields a point for each loss rate of table 3."""
    for mbps, row in REQUIRED.items():
        for column, text in zip(("Reno", "HSTCP", "C 0.4"), row, strict=True):
            if text:
                every = round(1 / float(text))
                skip, cycles = (20, 200) if every < 1000 else (10, 40) if every < 20_000 else (3, 12) if every < 200_000 else (2, 6)
                yield point(f"{column}, {mbps} Mb/s", column, every, 0.1, skip, cycles)


def _reason(rtt: float, name: str, column: str) -> dict[str, str]:
    """Returns why an entry does not hold, where it does not."""
    number = f"{{m{1e3 * rtt:g}-{column.lower().replace(' ', '').replace('.', '')}-{name[-1]}}}"
    if name == "1e-2":
        words = f"The mean is {number} segments: finding and repairing a loss adds one to two round trips to a cycle of eight."
    elif (column, rtt, name) == ("C 0.4", 0.01, "1e-6"):
        words = f"The mean is {number} segments: W_est and the cubic take turns, and each is the larger one for a part of a cycle."
    else:
        return {}
    return {"reason": words, "cause": "theory"}


def _entry(table: int, rtt: float, name: str, column: str, value: int) -> dict[str, Any]:
    low, high = value * (1 - MARGIN) - 0.5, value * (1 + MARGIN) + 0.5
    claim = f"cubic-{table}/{column.replace(' ', '-')}-{name}"
    words = f"CUBIC with {column.replace(' ', ' = ')}" if column.startswith("C ") else column
    where = {"experiment": "tables", "statistic": "window_segments.mean", "variant": _label(column, name, rtt)}
    return {
        "id": claim,
        "statement": f"{words} keeps {value} segments at a loss rate of {name} and {1e3 * rtt:g} ms.",
        "source": f"RFC 9438 section 5.1, table {table}",
        "says": f"A mean window of {value} segments.",
        "derived": "Within half a segment, the printed rounding, and 5 % for what a fluid leaves out.",
        "parts": [where | {"min": round(low, 3), "max": round(high, 3), "every": True}],
        **_reason(rtt, name, column),
    }


def _rate(mbps: int, column: str, text: str) -> dict[str, Any]:
    """A loss rate of two digits stands for a range of rates; throughput follows a power of it, at most the 0.835th."""
    digits = 0.05 / float(text.partition("e")[0]) * 0.835
    low, high = (mbps * 1e6 * MSS / 1500 * (1 + sign * (MARGIN + digits)) for sign in (-1, 1))
    claim = f"cubic-3/{column.replace(' ', '-')}-{mbps}"
    words = "CUBIC" if column.startswith("C ") else column
    where = {"experiment": "required", "statistic": "goodput_bps.sum", "variant": f"{column}, {mbps} Mb/s"}
    return {
        "id": claim,
        "statement": f"{words} reaches {mbps} Mb/s at a loss rate of {text} and 100 ms.",
        "source": "RFC 9438 section 5.2, table 3",
        "says": f"{mbps} Mb/s need a loss rate of {text}.",
        "derived": "Payload of packets of 1500 B; within 5 % and what the second digit of the loss rate leaves open.",
        "parts": [where | {"min": round(low), "max": round(high), "every": True}],
        **({"reason": _BRIEF, "cause": "theory"} if mbps == 1 else {}),
    }


def claims() -> list[dict[str, Any]]:
    """Returns a claim for each entry of the three tables."""
    found = [
        _entry(table, rtt, name, column, value)
        for table, (rtt, rows) in enumerate(PRINTED.items(), 1)
        for name, row in rows.items()
        for column, value in zip(COLUMNS, row, strict=True)
    ]
    for mbps, row in REQUIRED.items():
        found += [_rate(mbps, column, text) for column, text in zip(("Reno", "HSTCP", "C 0.4"), row, strict=True) if text]
    return found
