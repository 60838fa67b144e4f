"""A run as plain rows, and the numbers of a sentence as numbers: what tests of `elephan explain` compare."""

from __future__ import annotations

import math
import re
from functools import cached_property
from typing import Any

import elephan as el
from elephan.table.rows import flow_names

UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "%": 0.01, "": 1}
UNITS |= {"b/s": 1, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9}
NUMBER = r"\d+(?:\u202f\d{3})*(?:\.\d+)?"
QUANTITY = rf"{NUMBER} (?:ns|µs|ms|s|min|B|kB|MB|GB|%|[kMG]?b/s)"
TIMES = rf"(?:once|twice|{NUMBER} times)"
OFF = r"(?: HyStart is off in stack \S+\.| In stack \S+ only cubic has HyStart\.)?"
FULL = ("queue_full", "memory_full")


def value(said: str) -> float:
    """What a number with or without a unit says: `1 234`, `12.5 ms`, `twice`."""
    if said in ("once", "twice"):
        return 1 + (said == "twice")
    amount, _, unit = said.removesuffix(" times").partition(" ")
    return float(amount.replace("\u202f", "")) * UNITS[unit]


def near(said: str, expected: float, digits: int = 3) -> None:
    """Holds if a number of so many digits says what is expected."""
    unit = 10.0 ** (math.floor(math.log10(abs(expected))) - digits + 1) if expected else 0.0
    assert abs(value(said) - expected) <= 0.51 * unit, (said, expected)


class Rows:
    """A run as plain rows."""

    def __init__(self, run: el.Run) -> None:
        self.run = run
        self.names = flow_names(run)
        self.flows = {row["flow"]: row for row in run.flows.to_pylist() if row["protocol"] == "tcp"}
        self.ports = {row["name"].replace("->", " → "): row for row in run.ports.to_pylist()}
        self.events = [row for row in run.events.to_pylist() if row["kind"] != "cnm"]
        self.drops = [row for row in self.events if row["kind"] == "drop"]
        # A receiver's timer, for its FIN, is not its sender's.
        sources = {row["flow"]: row["source"] for row in run.flows.to_pylist()}
        repairs = (row for row in self.events if row["kind"] in ("rto", "fast_retransmit"))
        self.repairs = [row for row in repairs if row["node"] == sources[row["flow"]]]

    @cached_property
    def samples(self) -> dict[int, list[dict[str, Any]]]:
        names = ("time_ns", "flow", "phase", "cwnd_bytes", "ssthresh_bytes", "sample_rtt_ns", "cur_app_w_queue")
        names += ("snd_lim_time_rwin_ns", "snd_lim_time_cwnd_ns", "snd_lim_time_snd_ns")
        found: dict[int, list[dict[str, Any]]] = {}
        for row in self.run.flow_samples.select(list(names)).to_pylist():
            found.setdefault(row["flow"], []).append(row)
        return found

    def number(self, name: str) -> int:
        return next(number for number, own in self.names.items() if own == name)

    def flow(self, name: str) -> dict[str, Any]:
        return self.flows[self.number(name)]

    def of(self, flow: int, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row for row in rows if row["flow"] == flow]

    def noticed(self, flow: int) -> float:
        return min((row["time_ns"] for row in self.of(flow, self.repairs)), default=math.inf)

    def repaired(self, flow: int, after: float) -> float:
        for row in self.samples.get(flow, ()):
            if row["time_ns"] > after and row["phase"] == "congestion_avoidance":
                return row["time_ns"]
        return self.run.duration_ns if self.flows[flow]["end_ns"] is None else self.flows[flow]["end_ns"]

    def lost_until(self, flow: int, until: float) -> list[dict[str, Any]]:
        """The drops of a flow from its first one in a full queue on."""
        own = self.of(flow, self.drops)
        first = min(row["time_ns"] for row in own if row["reason"] in FULL)
        return [row for row in own if first <= row["time_ns"] <= until]

    def refused(self) -> bool:
        """Whether hosts dropped or refused packets, which events of ports do not have."""
        stalls = sum(row["send_stall"] for row in self.flows.values())
        return stalls + sum(row[key] for row in self.run.hosts.to_pylist() for key in row if key.startswith("drops_")) > 0

    def whose(self, said: str, count: int) -> None:
        """Holds if `12 of 50 flows of web` has these numbers, and the traffic so many flows."""
        one = re.fullmatch(rf"(?:All ({NUMBER})|({NUMBER}) of ({NUMBER})) flows(?: of (.+))?", said)
        assert one, said
        every = [row for row in self.flows.values() if one[4] in (None, row["traffic"])]
        assert len(every) == value(one[1] or one[3])
        assert value(one[1] or one[2]) == count


def helped(rows: Rows, finding: Any) -> None:
    """Holds if the numbers of an advice are in the tables too, and a simulation of what it names gives what it promises."""
    if not finding.help:
        return
    assert finding.simulated != finding.help.split(". ")[-1].startswith("This is a guess: "), finding.help
    row = rows.flow(finding.flow) if finding.flow else None
    if (found := re.match(rf"The round-trip time rose to ({NUMBER}) times its least value before", finding.help)) and row:
        noticed = rows.noticed(row["flow"])
        samples = [one["sample_rtt_ns"] or 0 for one in rows.samples[row["flow"]] if one["time_ns"] <= noticed]
        near(found[1], max(samples) / row["min_rtt_ns"], 2)
    if found := re.match(rf"The timer waits ({QUANTITY}) at least .*, ({NUMBER}) round-trip times( or more)?\.", finding.help):
        waited = [rows.flows[one] for one in finding.trial.flows]
        near(found[2], value(found[1]) / max(one["min_rtt_ns"] for one in waited), 2)
    if found := re.match(rf"The queue never fell below ({QUANTITY}) in the samples", finding.help):
        port = rows.ports[finding.port]["port"]
        begin = max(min((one["time_ns"] for one in rows.repairs), default=0), rows.run.warmup_ns)
        held = [one["queue_bytes"] for one in rows.run.port_samples.to_pylist() if one["port"] == port and one["time_ns"] > begin]
        near(found[1], min(held))
    if found := re.match(
        rf"This window was ({QUANTITY}) at most, ({NUMBER}) times the bandwidth-delay product of (.+)\. T", finding.help
    ):
        own = [rows.flows[one] for one in finding.trial.flows]
        window, trip = max(one["max_rwin_rcvd"] for one in own), max(one["min_rtt_ns"] for one in own)
        near(found[1], window)
        near(found[2], window * 8e9 / rows.ports[found[3]]["rate_bps"] / trip, 2)
    if finding.simulated:
        promised(rows, finding)


def promised(rows: Rows, finding: Any) -> None:
    """Holds if the run with the settings of an advice, recorded as the run was, has the numbers that it promises."""
    after = Rows(el.run(rows.run.scenario, seed=rows.run.seed, set=dict(finding.trial.changes)))
    said = re.search(
        rf"Simulated with .+?: (?:its |their )?(.+?) is ({QUANTITY}|{NUMBER}) instead of ({QUANTITY}|{NUMBER})", finding.help
    )
    assert said, finding.help
    for number, one in ((said[2], after), (said[3], rows)):
        own = [one.flows[flow] for flow in finding.trial.flows]
        expected = {
            "the number of dropped packets": lambda one=one: len(one.drops),
            "the longest time without progress": lambda own=own: max(row["stall_max_ns"] or 0 for row in own),
            "goodput": lambda own=own: sum(row["goodput_bps"] for row in own),
            "the mean delay of the queue": lambda one=one: next(
                row["queue_mean_bytes"] * 8e9 / row["rate_bps"] for row in one.ports.values() if row["name"] == finding.trial.port
            ),
        }[said[1]]()
        near(number, expected, 9 if said[1].startswith("the number") else 3)
    total = [sum(row["goodput_bps"] for row in one.run.flows.to_pylist()) for one in (rows, after)]
    assert total[1] >= 0.995 * total[0]
