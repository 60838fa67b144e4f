"""A run as figures want it: series by name, the queue that matters, flows called what a reader would call them."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from elephan.base.quantity import parse_any, seconds, show
from elephan.report.figure.draw import GROUPS_MAX, calmest, phases_of, whole_rounds
from elephan.result.run import Run
from elephan.table.rows import adaptive, among, column, delivered_curves, flow_names, texts, windows

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[np.float64]
Series = dict[str, tuple[Array, Array]]
ROUNDS_FEW = 20  # in a window: one more or less of them would show
_OWNED = ("links", "traffic", "switches", "hosts")  # tables whose next word is the name of a thing
NAMED_MAX = 6  # with more flows than this, single ones are not named


def nice_step(wanted: float) -> float:
    """The smallest of 1, 2, 5 x 10^k that is at least `wanted`."""
    exponent = 10.0 ** np.floor(np.log10(wanted))
    return float(next(m * exponent for m in (1, 2, 5, 10) if m * exponent >= wanted * (1 - 1e-9)))


class View:
    """Series of a run, computed when asked for."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.marks: list[tuple[float, str]] = []  # time in ns and sign of what figures over time are to mark
        flows = run.flows
        self.flow_ids = [int(i) for i in column(flows, "flow")]
        self.flow_names = flow_names(run)
        self.traffic = dict(zip(self.flow_ids, texts(flows, "traffic"), strict=True))

    @property
    def end_ns(self) -> int:
        """Where pictures over time end: with the run, or soon after its last flow if most of it is silence."""
        ends = column(self.run.flows, "end_ns") if "end_ns" in self.run.flows.column_names else np.empty(0)
        duration = self.run.duration_ns
        last = float(ends.max(initial=0.0)) if not np.isnan(ends).any() else float(duration)
        changes = [time for time, _ in self.changes()]
        last = max([last, *changes]) * 1.1
        return int(nice_step(last / 10) * 10) if 0 < nice_step(last / 10) * 10 < duration / 2 else duration

    @property
    def sampled(self) -> bool:
        return bool(self.run.flow_samples.num_rows)

    def sampled_flows(self) -> int:
        """How many flows with a congestion control were sampled."""
        return len(np.unique(column(adaptive(self.run.flow_samples), "flow")))

    def flow_series(self, name: str) -> Series:
        """A column of `flow_samples` for each flow with a congestion control: times in ns and values."""
        samples = adaptive(self.run.flow_samples)
        if not samples.num_rows:
            return {}
        flow, time, value = column(samples, "flow"), column(samples, "time_ns"), column(samples, name)
        order = np.lexsort((time, flow))
        flow, time, value = flow[order], time[order], value[order]
        ids, begins = np.unique(flow, return_index=True)
        ends = np.append(begins[1:], flow.size)
        return {self.flow_names[int(i)]: (time[b:e], value[b:e]) for i, b, e in zip(ids, begins, ends, strict=True)}

    def groups(self) -> dict[str, str]:
        """The traffic of each flow, by the flow's name."""
        return {name: self.traffic[flow] for flow, name in self.flow_names.items()}

    def controls(self) -> dict[str, str]:
        """The congestion control of each flow by its name, and of each traffic whose flows have one; nothing if it changes."""
        changed = any(".congestion_control" in key for change in self.run.resolved.get("change", []) for key in change["set"])
        if changed or "congestion_control" not in self.run.flows.column_names:
            return {}
        own = dict(zip(self.flow_ids, texts(self.run.flows, "congestion_control"), strict=True))
        of: dict[str, set[str]] = {}
        for flow, name in self.flow_names.items():
            of.setdefault(self.traffic[flow], set()).add(own[flow])
            of[name] = {own[flow]}
        return {name: next(iter(found)) for name, found in of.items() if len(found) == 1}

    def by_rate(self) -> bool:
        """Whether what was sampled sends at rates (RDMA) and not by windows."""
        sampled = set(column(adaptive(self.run.flow_samples), "flow").astype(int).tolist())
        flows = self.run.flows
        if not sampled or "protocol" not in flows.column_names:
            return False
        protocols = dict(zip(self.flow_ids, texts(flows, "protocol"), strict=True))
        return all(protocols.get(flow) == "roce" for flow in sampled)

    def sending(self) -> tuple[str, str, Series]:
        """What governs the senders, its unit, its series: congestion windows, or of RDMA the rates that its controller allows."""
        if self.by_rate():
            return "allowed rate", "bps", self.flow_series("pacing_bps")
        return "congestion window", "bytes", self.flow_series("cwnd_bytes")

    def thresholds(self) -> Series:
        """Slow-start thresholds; one so far above the window that it is as good as infinite is left out."""
        windows = self.flow_series("cwnd_bytes")
        found = self.flow_series("ssthresh_bytes")
        top = max((float(np.nanmax(y)) for _, y in windows.values() if y.size), default=0.0)
        return {name: (t, np.where(y > 2 * top, np.nan, y)) for name, (t, y) in found.items()}

    def interval_ns(self) -> float:
        """Time between samples; of a single one the time that it was to the next."""
        times = np.unique(column(self.run.flow_samples, "time_ns")[:200_000])
        if times.size == 1 and (every := self.run.resolved.get("record", {}).get("every")):
            return seconds(every) * 1e9
        return float(np.median(np.diff(times))) if times.size > 1 else float("nan")

    def goodput_series(self, bins: int = 100) -> tuple[Series, float]:
        """Goodput in bit/s per window for each flow (each traffic when there are many), and the window in ns."""
        interval = self.interval_ns()
        step = nice_step(max(self.end_ns / bins, interval))
        round_ns = self.round_ns()
        if 0 < step < ROUNDS_FEW * round_ns:
            step = whole_rounds(step, round_ns)
            middle, rates, flows = self._round_rates(step, round_ns)
            return self._grouped(middle, rates, flows), step
        # Windows that hold now two, now three samples would draw an oscillation that is not there.
        step = float(np.ceil(step / interval - 1e-9)) * interval if interval > 0 else step
        starts, shares, flows = windows(self.run, int(step), 0.0, datagrams=True)
        if not starts.size:
            return {}, step
        return self._grouped(starts + step / 2, shares * 8e9 / step, flows), step

    def _grouped(self, middle: Array, rates: Array, flows: list[int]) -> Series:
        """Rates of each flow, or of each traffic when there are many; of many of these what the smallest have together."""
        if len(flows) <= NAMED_MAX:
            return {self.flow_names[f]: (middle, rates[:, k]) for k, f in enumerate(flows)}
        groups: dict[str, list[int]] = {}
        for k, f in enumerate(flows):
            groups.setdefault(self.traffic[f], []).append(k)
        if len(groups) == 1:
            return {"all flows": (middle, rates.sum(axis=1))}
        found = {name: (middle, rates[:, members].sum(axis=1)) for name, members in groups.items()}
        if len(found) <= GROUPS_MAX:
            return found
        small = sorted(found, key=lambda name: float(found[name][1].sum()))[: len(found) - GROUPS_MAX + 1]
        rest = np.sum([found.pop(name)[1] for name in small], axis=0)
        return {**found, f"{len(small)} others": (middle, rest)}

    def round_ns(self, flow: int | None = None) -> float:
        """The mean round-trip time of a flow (the one that delivered most), ns; 0 where there is none. The least may be a whole
        number of coarse ticks.
        """
        flows = self.run.flows
        if not flows.num_rows or "count_rtt" not in flows.column_names:
            return 0.0
        which = int(column(flows, "delivered_bytes").argmax()) if flow is None else self.flow_ids.index(flow)
        total, count = (float(column(flows, name)[which]) for name in ("sum_rtt_ns", "count_rtt"))
        return total / count if count > 0 else 0.0

    def _round_rates(self, step: float, round_ns: float) -> tuple[Array, Array, list[int]]:
        """Middles of windows of whole round trips, and the rate of each flow in them, bit/s."""
        curves = delivered_curves(self.run)
        end = float(column(self.run.flow_samples, "time_ns").max())

        def from_phase(phase: float) -> tuple[Array, Array]:
            edges = phase + step * np.arange(max(int((end - phase) / step + 1e-9), 1) + 1)
            rates = [np.diff(np.interp(edges, t, y, left=0.0)) * 8e9 / step for t, y in curves.values()]
            return (edges[:-1] + edges[1:]) / 2, np.stack(rates, axis=1)

        middle, rates = calmest(from_phase(phase) for phase in phases_of(round_ns))
        return middle, rates, list(curves)

    def port_names(self) -> dict[int, str]:
        ports = self.run.ports
        return dict(zip((int(i) for i in column(ports, "port")), texts(ports, "name"), strict=True))

    def port_series(self, name: str) -> dict[int, tuple[Array, Array]]:
        """A column of `port_samples` for each sampled port."""
        samples = self.run.port_samples
        if not samples.num_rows:
            return {}
        port, time, value = column(samples, "port"), column(samples, "time_ns"), column(samples, name)
        return {int(p): (time[port == p], value[port == p]) for p in np.unique(port)}

    def port_interval_ns(self) -> float:
        """Time between samples of ports."""
        times = np.unique(column(self.run.port_samples, "time_ns"))
        return float(np.median(np.diff(times))) if times.size > 1 else float("nan")

    def queues(self, most: int = 3) -> Series:
        """The queues that hold something, longest first, by port name."""
        series, names = self.port_series("queue_bytes"), self.port_names()
        ranked = sorted(series, key=lambda p: -float(series[p][1].sum()))
        busiest = float(series[ranked[0]][1].sum()) if ranked else 0.0
        chosen = [p for p in ranked[:most] if series[p][1].sum() > 0.02 * busiest and busiest > 0]
        return {arrow(names[p]): series[p] for p in chosen}

    def memory(self) -> Series:
        samples = self.run.switch_samples
        if not samples.num_rows:
            return {}
        who, time, value = texts(samples, "switch"), column(samples, "time_ns"), column(samples, "memory_bytes")
        chosen = np.asarray(who)
        return {name: (time[chosen == name], value[chosen == name]) for name in sorted(set(who))}

    def limiters(self) -> Series:
        """The rate in bit/s of each limiter, that of the slowest on the average first; not a number where there is none."""
        if self.run.resolved.get("congestion_management", {}).get("kind", "none") == "none":
            return {}
        samples = self.run.limiter_samples
        whose = samples["destination"].to_pylist()
        whom = [d if d is not None else f"flow {f}" for d, f in zip(whose, samples["flow"].to_pylist(), strict=True)]
        names = np.asarray([f"{host} to {other}" for host, other in zip(texts(samples, "host"), whom, strict=True)])
        time, rate = column(samples, "time_ns"), column(samples, "rate_bps")
        instants = np.unique(time)
        found: Series = {}
        for name in sorted(set(names)):
            values = np.full(instants.size, np.nan)
            values[np.searchsorted(instants, time[names == name])] = rate[names == name]
            found[str(name)] = (instants, values)
        return dict(sorted(found.items(), key=lambda one: float(np.nanmean(one[1][1]))))

    def has_memory_limit(self) -> bool:
        return any("memory" in switch for switch in self.run.resolved.get("switches", {}).values())

    def changes(self) -> list[tuple[float, str]]:
        """Time in ns of each `[[change]]` and in a few words what changes."""
        return self._changes

    @cached_property
    def _changes(self) -> list[tuple[float, str]]:
        found = [(seconds(c["at"]) * 1e9, ", ".join(_words(c["set"]))) for c in self.run.resolved.get("change", [])]
        return sorted(found, key=lambda one: one[0])

    def change_labels(self) -> list[tuple[float, str]]:
        """The same for figures: with the link or traffic that a change is of, unless it is that of the change before."""
        return self._change_labels

    @cached_property
    def _change_labels(self) -> list[tuple[float, str]]:
        before, found = "", []
        for change in sorted(self.run.resolved.get("change", []), key=lambda one: seconds(one["at"])):
            said = []
            for owner, words in _owned(self.run.resolved, change["set"]):
                said.append(f"{arrow(owner)}: {words}" if owner not in ("", before) else words)
                before = owner
            found.append((seconds(change["at"]) * 1e9, ", ".join(said)))
        return found

    @cached_property
    def _events(self) -> dict[str, pa.Table]:
        """Time, reason and port of the events of each kind, in the order of time."""
        return _by_text(self.run.tables.columns("events", ("time_ns", "kind", "reason", "port")), "kind")

    @cached_property
    def _times(self) -> dict[str, Array]:
        return {kind: np.sort(column(events, "time_ns"), kind="stable") for kind, events in self._events.items()}

    def events(self, kind: str) -> Array:
        """Times in ns of the events of a kind, ascending."""
        return self._times.get(kind, np.empty(0))

    def drops_by_reason(self) -> dict[str, Array]:
        """Times in ns of all drops, for each reason in words; the commonest first."""
        if "drop" not in self._events:
            return {}
        found = {reason: column(drops, "time_ns") for reason, drops in _by_text(self._events["drop"], "reason").items()}
        return {reason.replace("_", " "): found[reason] for reason in sorted(found, key=lambda one: (-found[one].size, one))}

    def drops_at(self, ports: Collection[str]) -> Array:
        """Times in ns of the drops at ports, named as in `queues`."""
        numbers = [number for number, name in self.port_names().items() if arrow(name) in ports]
        drops = self._events.get("drop")
        return np.empty(0) if drops is None else column(drops, "time_ns")[np.isin(column(drops, "port"), numbers)]


def _by_text(table: pa.Table, name: str) -> dict[str, pa.Table]:
    """Returns the rows of a table for each value of a text column."""
    values = table.column(name).unique().to_pylist()
    return {values[0]: table} if len(values) == 1 else {str(value): table.filter(among(table, name, [value])) for value in values}


def _owned(resolved: dict[str, Any], values: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """What changes in a few words, with whose it is: `left->right` of `links.left->right.rate`."""
    found: list[tuple[str, str]] = []
    for key, value in values.items():
        table, *parts = f"{prefix}{key}".split(".")
        if table in _OWNED and not parts and isinstance(value, dict):
            found += _owned(resolved, value, f"{key}.")
            continue
        owner = parts[0].strip('"') if table in _OWNED and parts else ""
        if numbered := re.fullmatch(r"(links|traffic)\[(\d+)\]", table):
            entry = resolved[numbered[1]][int(numbered[2])]
            owner = "->".join(entry["between"]) if "between" in entry else str(entry["name"])
        found.append((owner, ", ".join(_words({key: value}))))
    return found


def _words(values: dict[str, Any]) -> list[str]:
    """`rate 5 Mb/s` for `links.left->right.rate = "5 Mbps"`, `htcp` for a congestion control."""
    found: list[str] = []
    for key, value in values.items():
        last = key.rsplit(".", 1)[-1]
        kind = value.get("kind") if isinstance(value, dict) else None
        if last == "congestion_control":
            found.append(str(kind or value))
        elif last == "up":
            found.append("up" if value else "down")
        elif isinstance(value, dict) and kind is None:
            # Keys with dots that are not in quotes are tables; a model such as { bernoulli = 0.01 } reads the same way.
            found += [f"{last} {words}" if last == "loss" else words for words in _words(value)]
        else:
            found.append(f"{last} {kind or _quantity(value)}")
    return found


def _quantity(value: Any) -> str:
    """A value of the scenario language as reports write it: `5 Mb/s` for `5 Mbps`."""
    found = parse_any(value) if isinstance(value, str) else None
    return show(*found, 6) if found else str(value)


def arrow(name: str) -> str:
    """`sw->server` as a reader likes it."""
    return name.replace("->", " → ")
