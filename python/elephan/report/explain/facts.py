"""What the rules of `explain` ask of a run: its flows, events and queues as arrays, and what the scenario set."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from elephan.base.quantity import seconds
from elephan.report.words.view import View, arrow
from elephan.result.run import Run
from elephan.scenario import core
from elephan.table.rows import column, texts

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[np.float64]
_EVENT_NUMBERS = ("time_ns", "flow", "port", "packet_bytes")
FLOWS_MAX = 6  # with more flows than this, single ones are not looked at


def _numbers(table: pa.Table, name: str) -> Array:
    """A numeric column; NaN where a result of an older version has none."""
    return column(table, name) if name in table.column_names else np.full(table.num_rows, np.nan)


def _words(table: pa.Table, name: str) -> list[str]:
    """A text column; empty words where a result of an older version has none."""
    return texts(table, name) if name in table.column_names else [""] * int(table.num_rows)


def _within(table: Any, path: str) -> Any:
    """What a nested table has at a path with dots; None if it has nothing there."""
    for key in path.split("."):
        table = table.get(key) if isinstance(table, Mapping) else None
    return table


class Words:
    """A text column of few words: a number for each row, so that a million rows are no million objects."""

    def __init__(self, codes: npt.NDArray[np.int32], words: list[str]) -> None:
        self.codes, self.words = codes, words

    @classmethod
    def of(cls, table: pa.Table, name: str) -> Words:
        """Those of a column; empty words where a result of an older version has none."""
        if name not in table.column_names or not table.num_rows:
            return cls(np.zeros(table.num_rows, dtype=np.int32), [""])
        found = table.column(name).combine_chunks().dictionary_encode()
        return cls(np.asarray(found.indices, dtype=np.int32), [str(word) for word in found.dictionary.to_pylist()])

    def are(self, *words: str) -> npt.NDArray[np.bool_]:
        """Returns which rows have one of some words."""
        return np.isin(self.codes, [code for code, word in enumerate(self.words) if word in words])

    def where(self, chosen: npt.NDArray[np.bool_]) -> Words:
        """Returns the rows for which `chosen` is true."""
        return Words(self.codes[chosen], self.words)

    def commonest(self) -> str:
        """Returns the word of most rows."""
        return self.words[int(np.bincount(self.codes).argmax())]


class Events:
    """Rows of the table `events` of one kind or of one flow, in the order of time; times in ns."""

    def __init__(self, numbers: Mapping[str, Array], kind: Words, reason: Words) -> None:
        self._numbers, self.kind, self.reason = numbers, kind, reason
        self.time, self.flow, self.port, self.bytes = (numbers[name] for name in _EVENT_NUMBERS)

    def __len__(self) -> int:
        return int(self.time.size)

    def where(self, chosen: npt.NDArray[np.bool_]) -> Events:
        """Returns the rows for which `chosen` is true."""
        if chosen.all():
            return self
        numbers = {name: values[chosen] for name, values in self._numbers.items()}
        return Events(numbers, self.kind.where(chosen), self.reason.where(chosen))

    def between(self, begin: float, end: float) -> Events:
        """Returns the rows from `begin` to `end`, both included."""
        return self.where((self.time >= begin) & (self.time <= end))


class Flow:
    """A flow of TCP: its row, its samples, its events."""

    def __init__(self, facts: Facts, place: int) -> None:
        self.facts, self._place = facts, place
        self.number = facts.view.flow_ids[place]
        self.name = facts.view.flow_names[self.number]
        self.drops = facts.drops.where(facts.drops.flow == self.number)
        self.repairs = facts.repairs.where(facts.repairs.flow == self.number)
        self.timeouts = self.repairs.where(self.repairs.kind.are("rto"))

    def value(self, name: str) -> float:
        """A number of the table `flows`; NaN where it has none."""
        return float(self.facts.flow_column(name)[self._place])

    def text(self, name: str) -> str:
        """A word of the table `flows`."""
        return self.facts.flow_texts(name)[self._place]

    @cached_property
    def samples(self) -> Mapping[str, Any]:
        """Columns of its samples; `phase` is text."""
        own = self.facts.sample_flow == self.number
        names = ("time_ns", "cwnd_bytes", "ssthresh_bytes", "sample_rtt_ns")
        found: dict[str, Any] = {name: self.facts.samples(name)[own] for name in names}
        return {**found, "phase": self.facts.sample_phase[own]}

    def setting(self, name: str) -> Any:
        """An option of TCP that its sender has, such as `slow_start.kind`; None where the run does not say."""
        traffic = self.facts.traffic.get(self.text("traffic"), {})
        host = self.facts.run.resolved.get("hosts", {}).get(self.text("source").partition("[")[0], {})
        # What the traffic says goes before what its host says.
        found = (_within(owner.get("tcp", {}), name) for owner in (traffic, host))
        return next((value for value in found if value is not None), None)

    def span_ns(self, name: str) -> float:
        """A time among its options in ns; NaN where the run does not say."""
        value = self.setting(name)
        return seconds(value) * 1e9 if isinstance(value, str) else float("nan")

    @property
    def lived_ns(self) -> float:
        """How long it lasted within the run."""
        end = self.value("end_ns")
        return (self.facts.run.duration_ns if np.isnan(end) else end) - self.value("start_ns")


class Facts:
    """A run as the rules see it."""

    def __init__(self, run: Run) -> None:
        self.run, self.view = run, View(run)
        self._columns: dict[str, Array] = {}
        events = run.events
        numbers = {name: _numbers(events, name) for name in _EVENT_NUMBERS}
        self.events = Events(numbers, Words.of(events, "kind"), Words.of(events, "reason"))
        self.drops = self.events.where(self.events.kind.are("drop"))
        self.repairs = self.events.where(self.events.kind.are("fast_retransmit", "rto"))

    @property
    def recorded(self) -> bool:
        """Whether the run kept events, so that no event means that nothing happened."""
        return bool(self.run.resolved.get("record", {}).get("events", False))

    def flow_column(self, name: str) -> Array:
        if name not in self._columns:
            self._columns[name] = _numbers(self.run.flows, name)
        return self._columns[name]

    def flow_texts(self, name: str) -> list[str]:
        return _words(self.run.flows, name)

    @cached_property
    def flows(self) -> list[Flow]:
        """The flows of TCP in the order of their numbers; of many those with the most timeouts, then the most drops."""
        tcp = [place for place, protocol in enumerate(self.flow_texts("protocol")) if protocol == "tcp"]
        if len(tcp) > FLOWS_MAX:
            timeouts = self.flow_column("timeouts")
            lost = np.bincount(self.drops.flow[~np.isnan(self.drops.flow)].astype(int), minlength=max(self.view.flow_ids) + 1)
            tcp.sort(key=lambda place: (-np.nan_to_num(timeouts[place]), -lost[self.view.flow_ids[place]], place))
        return [Flow(self, place) for place in sorted(tcp[:FLOWS_MAX])]

    def samples(self, name: str) -> Array:
        key = f"samples.{name}"
        if key not in self._columns:
            self._columns[key] = _numbers(self.run.flow_samples, name)
        return self._columns[key]

    @cached_property
    def sample_flow(self) -> Array:
        return self.samples("flow")

    @cached_property
    def sample_phase(self) -> npt.NDArray[np.object_]:
        return np.asarray(_words(self.run.flow_samples, "phase"), dtype=object)

    @cached_property
    def traffic(self) -> dict[str, Any]:
        """The entries of `[[traffic]]` by name."""
        return {str(one.get("name", "")): one for one in self.run.resolved.get("traffic", [])}

    def ports(self, name: str) -> Array:
        key = f"ports.{name}"
        if key not in self._columns:
            self._columns[key] = _numbers(self.run.ports, name)
        return self._columns[key]

    @cached_property
    def port_names(self) -> list[str]:
        return [arrow(name) for name in _words(self.run.ports, "name")]

    @cached_property
    def bottleneck(self) -> int | None:
        """The port of a switch, else of a host, that dropped most or, if none did, delayed most; None if none was ever busy."""
        hosts = set(self.run.resolved.get("hosts", {}))
        inside = np.array([node.partition("[")[0] not in hosts for node in _words(self.run.ports, "node")], dtype=bool)
        if not inside.any():
            inside[:] = True
        if not inside.size:
            return None
        drops, busy = self.ports("drops"), self.ports("utilisation")
        delay = self.ports("queue_mean_bytes") / self.ports("rate_bps")
        best = max(np.flatnonzero(inside), key=lambda i: (drops[i], delay[i], busy[i]))
        return int(best) if busy[best] > 0 else None

    def queue(self, port: int) -> tuple[Array, Array]:
        """Times and bytes of the sampled queue of a port."""
        return self.view.port_series("queue_bytes").get(int(self.ports("port")[port]), (np.empty(0), np.empty(0)))

    def limits(self) -> dict[str, list[tuple[float, float, str]]]:
        """What limited each flow when, as `elephan explore` tells it: from, to (ns) and the reason, by the flow's name."""
        if not self.flows or not self.run.flow_samples.num_rows:
            return {}
        desk = core.call_with("Desk", "[]", "{}", None, None)
        handle = desk.load(
            self.run.scenario, json.dumps(self.run.summary), {name: self.run.tables[name] for name in self.run.tables}
        )
        return {flow.name: _limits(desk, handle, flow.number) for flow in self.flows}


def _limits(desk: Any, handle: int, flow: int) -> list[tuple[float, float, str]]:
    frames: list[bytes] = []

    def keep(frame: bytes) -> bool:
        frames.append(frame)
        return True

    request = {"id": 1, "method": "why", "params": {"handle": handle, "flow": flow}}
    desk.serve(json.dumps(request).encode(), b"", keep, core.core().Cancel())
    length = struct.unpack("<I", frames[-1][:4])[0]
    answer = json.loads(frames[-1][4 : 4 + length])
    return [(one["from_ns"], one["to_ns"], one["reason"]) for one in answer.get("value", [])]
