"""What the rules of `explain` ask of a run: its flows, events and queues as arrays, and what the scenario set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from elephan.base.quantity import seconds
from elephan.report.explain.limits import limits_of
from elephan.report.words.unheard import untold
from elephan.report.words.view import View, arrow
from elephan.result.run import Run
from elephan.scenario import kinds
from elephan.table.rows import column, texts
from elephan.table.steps import shortest_ports

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[np.float64]
_EVENT_NUMBERS = ("time_ns", "flow", "port", "packet_bytes")
_SAMPLED = ("time_ns", "cwnd_bytes", "ssthresh_bytes", "sample_rtt_ns", "cur_app_w_queue")
SPENT = ("snd_lim_time_rwin_ns", "snd_lim_time_cwnd_ns", "snd_lim_time_snd_ns")
FULL_QUEUE = ("queue_full", "memory_full")  # reasons of drops
LIMITS_MAX = 6  # flows whose limits over time are told one by one
FOLLOWED_RTTS = 5  # round-trip times between two samples, beyond which they miss phases


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


def _options(owner: Mapping[str, Any]) -> dict[str, Any]:
    """The options of TCP of a host or of an entry of traffic, which has its congestion control beside them."""
    own = {key: owner[key] for key in ("congestion_control",) if key in owner}
    return {**owner.get("tcp", {}), **own}


def _leaves(table: Any, above: str = "") -> list[str]:
    """The paths with dots of all values in a nested table."""
    if not isinstance(table, Mapping):
        return [above]
    return [path for key in table for path in _leaves(table[key], f"{above}.{key}" if above else key)]


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
        found = np.zeros(self.codes.size, dtype=bool)
        for word in words:
            if word in self.words:
                found |= self.codes == self.words.index(word)
        return found

    def where(self, chosen: npt.NDArray[Any]) -> Words:
        """Returns the rows for which `chosen` is true, or those with the numbers in it."""
        return Words(self.codes[chosen], self.words)

    def counts(self) -> dict[str, int]:
        """Returns how many rows have each word, the commonest first."""
        found = np.bincount(self.codes, minlength=len(self.words))
        ranked = sorted(range(len(self.words)), key=lambda code: (-int(found[code]), self.words[code]))
        return {self.words[code]: int(found[code]) for code in ranked if found[code]}


class Events:
    """Rows of the table `events` of one kind or of one flow, in the order of time; times in ns."""

    def __init__(self, numbers: Mapping[str, Array], kind: Words, reason: Words) -> None:
        self._numbers, self.kind, self.reason = numbers, kind, reason
        self.time, self.flow, self.port, self.bytes = (numbers[name] for name in _EVENT_NUMBERS)

    def __len__(self) -> int:
        return int(self.time.size)

    def where(self, chosen: npt.NDArray[Any]) -> Events:
        """Returns the rows for which `chosen` is true, or those with the numbers in it."""
        if chosen.dtype == bool and chosen.all():
            return self
        numbers = {name: values[chosen] for name, values in self._numbers.items()}
        return Events(numbers, self.kind.where(chosen), self.reason.where(chosen))

    def between(self, begin: float, end: float) -> Events:
        """Returns the rows from `begin` to `end`, both included."""
        return self.where((self.time >= begin) & (self.time <= end))


class Groups:
    """The rows of each flow, found at once for all of them: a run may have thousands."""

    def __init__(self, flows: Array, most: int) -> None:
        numbers = np.where(np.isnan(flows), most, flows).astype(np.uint16 if most < 65_535 else np.int64)
        self._order = np.argsort(numbers, kind="stable")
        self._ends = np.cumsum(np.bincount(numbers, minlength=most + 1))

    def of(self, flow: int) -> npt.NDArray[np.intp]:
        """Returns the numbers of a flow's rows, ascending."""
        begin = self._ends[flow - 1] if flow else 0
        return self._order[begin : self._ends[flow]]


class Flow:
    """A flow of TCP: its row, its samples, its events."""

    def __init__(self, facts: Facts, place: int) -> None:
        self.facts, self.place = facts, place
        self.number = facts.view.flow_ids[place]
        self.name = facts.view.flow_names[self.number]

    @cached_property
    def drops(self) -> Events:
        """What was dropped of its packets."""
        return self.facts.drops.where(self.facts.of_flows["drops"].of(self.number))

    @cached_property
    def repairs(self) -> Events:
        """When it began to retransmit, because of ACKs or of its timer."""
        return self.facts.repairs.where(self.facts.of_flows["repairs"].of(self.number))

    @cached_property
    def timeouts(self) -> Events:
        """When its timer expired."""
        return self.repairs.where(self.repairs.kind.are("rto"))

    def value(self, name: str) -> float:
        """A number of the table `flows`; NaN where it has none."""
        return float(self.facts.flow_column(name)[self.place])

    def text(self, name: str) -> str:
        """A word of the table `flows`."""
        return self.facts.flow_texts(name)[self.place]

    @property
    def control(self) -> Any:
        """Its congestion control, with parameters where the scenario gives it some."""
        name, spoken = self.text("congestion_control"), self.setting("congestion_control")
        return spoken if isinstance(spoken, Mapping) and spoken.get("kind") == name else name

    def minds(self, what: str) -> bool:
        """Whether a `loss` or `marks` make its window or its rate smaller; one that asks routers is Reno while none tells it."""
        return self.facts.minds(json.dumps(self.control), what)

    @cached_property
    def samples(self) -> Mapping[str, Array]:
        """Columns of its samples, and the times that each limit has held it up until then."""
        own = self.facts.of_flows["samples"].of(self.number)
        return {name: self.facts.samples(name)[own] for name in (*_SAMPLED, *SPENT)}

    @cached_property
    def phase(self) -> Words:
        """The phase at each sample."""
        return self.facts.sample_phase.where(self.facts.of_flows["samples"].of(self.number))

    @cached_property
    def followed(self) -> bool:
        """Whether its samples show its phases: they come every few of its mean round-trip times at most."""
        times, trips = self.samples["time_ns"], self.value("count_rtt")
        if times.size < 2 or not trips > 0:
            return False
        return float(np.median(np.diff(times))) <= FOLLOWED_RTTS * self.value("sum_rtt_ns") / trips

    def phase_before(self, time_ns: float) -> str:
        """The phase of the last sample before a time; empty where samples are too far apart to tell it."""
        last = int(np.searchsorted(self.samples["time_ns"], time_ns)) if self.followed else 0
        return self.phase.words[self.phase.codes[last - 1]] if last else ""

    @cached_property
    def first_flight(self) -> Events | None:
        """What a full queue dropped of the packets that it sent before its window had doubled; None if it was no full queue."""
        segments, mss = self.setting("initial_window"), self.value("cur_mss")
        if not isinstance(segments, int | float) or not self.value("max_ss_cwnd") < 2 * segments * mss or not len(self.drops):
            return None
        if self.value("max_pipe_size") < (segments - 1) * mss:  # an application that sends little fills no window
            return None
        noticed = float(self.repairs.time[0]) if len(self.repairs) else np.inf
        lost = self.drops.where(self.drops.reason.are(*FULL_QUEUE)).between(self.value("established_ns"), noticed)
        return lost if len(lost) and self.phase_before(noticed) in ("", "handshake", "slow_start") else None

    def spent(self, until_ns: float | None = None) -> tuple[float, float, float]:
        """How long the receiver's window, the congestion window and the sender itself limited it, until a time or in all."""
        if until_ns is not None:
            last = int(np.searchsorted(self.samples["time_ns"], until_ns))
            if last:
                rwin, cwnd, own = (float(self.samples[name][last - 1]) for name in SPENT)
                if rwin + cwnd + own > 0:  # a sample during the handshake says nothing
                    return rwin, cwnd, own
        rwin, cwnd, own = (self.value(name) for name in SPENT)
        return rwin, cwnd, own

    def by_window(self, until_ns: float | None = None) -> bool:
        """Whether the congestion window limited it longer than anything else."""
        rwin, cwnd, own = self.spent(until_ns)
        return cwnd > 0 and cwnd >= max(rwin, own)

    @cached_property
    def path(self) -> frozenset[tuple[str, str]]:
        """The ports that all its data goes through, as (node, peer); none where several ways are equally short."""
        return self.facts.path(self.text("source"), self.text("destination"))

    @property
    def connected(self) -> bool:
        """Whether its handshake came to its end."""
        return not np.isnan(self.value("established_ns"))

    @property
    def endless(self) -> bool:
        """Whether it has no size and was there for most of the run."""
        return bool(np.isnan(self.value("size_bytes"))) and self.lived_ns > 0.5 * self.facts.run.duration_ns

    def setting(self, name: str) -> Any:
        """An option of TCP that its sender has, such as `slow_start.kind`; None where the run does not say."""
        return self.facts.setting(self.text("traffic"), self.text("source").partition("[")[0], name)

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
        self._texts: dict[str, list[str]] = {}
        self._settings: dict[tuple[str, str, str], Any] = {}
        self._minding: dict[tuple[str, str], bool] = {}
        self._paths: dict[tuple[str, str], frozenset[tuple[str, str]]] = {}
        events = run.events
        numbers = {name: _numbers(events, name) for name in _EVENT_NUMBERS}
        self.events = Events(numbers, Words.of(events, "kind"), Words.of(events, "reason"))
        self.drops = self.events.where(self.events.kind.are("drop"))
        self.repairs = self.events.where(self.events.kind.are("fast_retransmit", "rto") & self._at_senders())

    def _at_senders(self) -> npt.NDArray[np.bool_]:
        """Which events are of a flow's source; a receiver has a timer too, for its FIN."""
        nodes, sources = Words.of(self.run.events, "node"), self.flow_texts("source")
        if nodes.words == [""] or not sources:
            return np.ones(len(self.events), dtype=bool)
        codes = {word: code for code, word in enumerate(nodes.words)}
        numbers = np.asarray(self.view.flow_ids, dtype=np.float64)
        own = np.asarray([codes.get(source, -1) for source in sources])
        place = np.minimum(np.searchsorted(numbers, self.events.flow), numbers.size - 1)
        return np.asarray((numbers[place] == self.events.flow) & (own[place] == nodes.codes))

    @property
    def recorded(self) -> bool:
        """Whether the run kept events, so that no event means that nothing happened."""
        return bool(self.run.resolved.get("record", {}).get("events", False))

    def flow_column(self, name: str) -> Array:
        if name not in self._columns:
            self._columns[name] = _numbers(self.run.flows, name)
        return self._columns[name]

    def flow_texts(self, name: str) -> list[str]:
        if name not in self._texts:
            self._texts[name] = _words(self.run.flows, name)
        return self._texts[name]

    @cached_property
    def flows(self) -> list[Flow]:
        """The flows of TCP in the order of their numbers."""
        return [Flow(self, place) for place, protocol in enumerate(self.flow_texts("protocol")) if protocol == "tcp"]

    @cached_property
    def lossy(self) -> list[Flow]:
        """The flows of which packets were dropped, or that retransmitted for another reason."""
        numbers = set(self.drops.flow[~np.isnan(self.drops.flow)].tolist()) | set(self.repairs.flow.tolist())
        return [flow for flow in self.flows if flow.number in numbers]

    @cached_property
    def of_flows(self) -> dict[str, Groups]:
        """The rows of each flow in the tables that rules ask for by flow."""
        most = max(self.view.flow_ids, default=0) + 1
        tables = {"drops": self.drops.flow, "repairs": self.repairs.flow, "samples": self.samples("flow")}
        return {name: Groups(flows, most) for name, flows in tables.items()}

    @cached_property
    def established(self) -> Array:
        """When the handshakes of the flows of TCP were complete, ascending; in ns."""
        return np.sort(self.flow_column("established_ns")[[flow.place for flow in self.flows]])

    def path(self, source: str, destination: str) -> frozenset[tuple[str, str]]:
        """The ports between two hosts; none where several ways are equally short."""
        key = (source, destination)
        if key not in self._paths:
            found = shortest_ports(self.run, source, destination)
            alone = len({node for node, _ in found}) == len({peer for _, peer in found}) == len(found)
            self._paths[key] = frozenset(found) if alone else frozenset()
        return self._paths[key]

    @cached_property
    def rates_change(self) -> bool:
        """Whether a `[[change]]` gives links another rate or takes them down, so that one rate does not hold for the run."""
        keys = [key for change in self.run.resolved.get("change", []) for key in change["set"]]
        return any(key.startswith(("links", "template")) and key.rpartition(".")[2] in ("rate", "up", "delay") for key in keys)

    @cached_property
    def paused(self) -> bool:
        """Whether PAUSE or PFC stopped a port."""
        return bool(np.nansum(self.ports("paused_ns")) > 0)

    def place_of(self, port: float) -> int:
        """The row of a port by its number."""
        return self._port_places[int(port)]

    @cached_property
    def _port_places(self) -> dict[int, int]:
        return {int(number): place for place, number in enumerate(self.ports("port"))}

    @cached_property
    def ends(self) -> list[tuple[str, str]]:
        """Node and peer of each port."""
        return list(zip(_words(self.run.ports, "node"), _words(self.run.ports, "peer"), strict=True))

    def samples(self, name: str) -> Array:
        key = f"samples.{name}"
        if key not in self._columns:
            self._columns[key] = _numbers(self.run.flow_samples, name)
        return self._columns[key]

    @cached_property
    def sample_phase(self) -> Words:
        return Words.of(self.run.flow_samples, "phase")

    @cached_property
    def traffic(self) -> dict[str, Any]:
        """The entries of `[[traffic]]` by name."""
        return {str(one.get("name", "")): one for one in self.run.resolved.get("traffic", [])}

    @cached_property
    def names_of_tcp(self) -> list[str]:
        """The options of TCP that an entry of traffic or a host has, with dots, in the order of the alphabet."""
        owners = (*self.run.resolved.get("traffic", []), *self.run.resolved.get("hosts", {}).values())
        return sorted({name for owner in owners for name in _leaves(_options(owner))})

    def setting(self, traffic: str, host: str, name: str) -> Any:
        """An option of TCP of the flows of an entry of traffic that begin at a host; None where the run does not say."""
        key = (traffic, host, name)
        if key not in self._settings:
            owners = (self.traffic.get(traffic, {}), self.run.resolved.get("hosts", {}).get(host, {}))
            # What the traffic says goes before what its host says.
            found = (_within(_options(owner), name) for owner in owners)
            self._settings[key] = next((value for value in found if value is not None), None)
        return self._settings[key]

    def minds(self, control: str, what: str) -> bool:
        """Whether a congestion control, as JSON, minds a `loss` or `marks` in this scenario; one that nobody knows may."""
        if (control, what) not in self._minding:
            words = json.loads(control)
            minds = kinds.congestion_control(words).get(f"minds_{what}", True)
            self._minding[control, what] = minds or bool(untold(words, self.run.resolved.get("links", [])))
        return self._minding[control, what]

    def ports(self, name: str) -> Array:
        key = f"ports.{name}"
        if key not in self._columns:
            self._columns[key] = _numbers(self.run.ports, name)
        return self._columns[key]

    @cached_property
    def port_names(self) -> list[str]:
        return [arrow(name) for name in _words(self.run.ports, "name")]

    @cached_property
    def inside(self) -> npt.NDArray[np.bool_]:
        """Which ports are of switches; all of them where there is no switch."""
        hosts = set(self.run.resolved.get("hosts", {}))
        found = np.array([node.partition("[")[0] not in hosts for node, _ in self.ends], dtype=bool)
        return found if found.any() else np.ones(found.size, dtype=bool)

    @cached_property
    def bottleneck(self) -> int | None:
        """The port of a switch, else of a host, that dropped most or, if none did, delayed most; None if none was ever busy."""
        inside = self.inside
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
        """What limited each flow when, as `elephan explain` tells it: from, to (ns) and the reason, by the flow's name.

        Of more than six flows only the six that delivered most. Left out: flows that never connected, which nothing limited, and
        those whose samples are too far apart to tell one phase from the next.
        """
        told = [flow for flow in self.flows if flow.connected and flow.followed]
        if not told:
            return {}
        most = sorted(told, key=lambda flow: -flow.value("delivered_bytes"))[:LIMITS_MAX]
        found = limits_of(self.run, [flow.number for flow in most])
        return {flow.name: found[flow.number] for flow in sorted(most, key=lambda flow: flow.number)}
