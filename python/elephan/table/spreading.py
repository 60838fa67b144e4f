"""Congestion spreading: trees of paused ports, from the port where congestion began, and who was held without going there.

From the tables `pauses` (a row per pause interval of a port, with its cause and parent) and `holds` (whose packets they held):

- an *episode* is all pause intervals of one root that follow each other within 1 ms; its *root* is the port where the congestion
  began: to blame for a pause interval, and not held by one itself;
- in its *tree* a port hangs below the port that was to blame for its first pause interval; a port that is to blame is the root or
  is paused itself;
- a *victim* is a flow of whose packets some were held by the tree and none were on their way through the root. ACKs are packets
  of their flow. Whoever crosses the root waits for a reason and is not a victim.

Goodput while paused is that between the first and the last pause interval of each episode, beside that of the rest of the flow's
life, warm-up included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elephan import _renamed
from elephan.base.errors import InputError, brief
from elephan.table.rows import Array, column, flow_names, texts

if TYPE_CHECKING:
    from elephan.result.run import Run

Key = tuple[int, int]  # a port's number, its priority or -1


@_renamed.attributes(closures="pause_intervals")
@dataclass(frozen=True)
class PausedPort:
    """A port of a tree. Times in ns."""

    port: str
    priority: int | None
    parent: str  # what was to blame: the root or the label of another paused port
    depth: int  # 1 hangs at the root
    paused_by: str
    pause_intervals: int
    paused_ns: float
    begin_ns: float  # of its first pause interval
    packets: int  # that waited behind a pause interval, counted for each

    @property
    def label(self) -> str:
        """The port, with its priority if that is what was paused."""
        return self.port if self.priority is None else f"{self.port} (priority {self.priority})"


@dataclass(frozen=True)
class Victim:
    """A flow that was held without going through the root. Times in ns, goodput in bit/s (NaN where nothing was sampled)."""

    flow: int
    name: str
    source: str
    destination: str
    ports: tuple[str, ...]  # that held it
    packets: int
    bytes: int
    held_ns: float  # added up over its packets
    longest_ns: float  # of one packet by one pause interval
    goodput_paused_bps: float
    goodput_otherwise_bps: float


@dataclass(frozen=True)
class Tree:
    """What spread from one root: in one episode, or in all of them together."""

    root: str
    episodes: int
    begin_ns: float
    end_ns: float  # of the last pause interval, or the end of the run
    ports: tuple[PausedPort, ...]  # each after its parent
    victims: tuple[Victim, ...]  # who was held longest first
    culprits: tuple[int, ...]  # flows that were held on their way through the root

    @property
    def depth(self) -> int:
        """Paused ports in a row, from the root."""
        return max((port.depth for port in self.ports), default=0)

    @property
    def paused_ns(self) -> float:
        """Paused time of all ports together."""
        return sum(port.paused_ns for port in self.ports)


def recorded(run: Run) -> bool:
    """Whether the run has rows about pause intervals."""
    try:
        return bool(run.pauses.num_rows)
    except InputError:
        return False  # a folder from before these tables


def spreading(run: Run, by: str = "root") -> list[Tree]:
    """The trees of a run: one for each root, all its episodes together, or (`by="episode"`) one for each episode.

    Empty if nothing was paused, or if the scenario's `record.events` is off. Trees with more paused time come first, episodes in
    the order of time.
    """
    if not isinstance(by, str) or by not in ("root", "episode"):
        raise InputError(f'spreading is by "root" or "episode", not {brief(by)}')
    if not recorded(run):
        return []
    found = _Intervals(run)
    keys = column(run.pauses, by)
    held = column(run.holds, by)
    trees = [found.tree(keys == key, held == key) for key in np.unique(keys)]
    trees.sort(key=lambda tree: -tree.paused_ns if by == "root" else tree.begin_ns)
    return trees


class _Intervals:
    """The columns of `pauses` and `holds`, and what trees need of other tables."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.names = dict(zip((int(i) for i in column(run.ports, "port")), texts(run.ports, "name"), strict=True))
        pauses, self.holds = run.pauses, run.holds
        order = np.lexsort((column(pauses, "pause"), column(pauses, "begin_ns")))
        self.id = column(pauses, "pause")[order]
        self.port = column(pauses, "port")[order].astype(int)
        self.priority = np.nan_to_num(column(pauses, "priority")[order], nan=-1).astype(int)
        self.begin, self.duration = column(pauses, "begin_ns")[order], column(pauses, "duration_ns")[order]
        self.cause, self.root = column(pauses, "cause")[order].astype(int), column(pauses, "root")[order].astype(int)
        self.parent, self.packets = column(pauses, "parent")[order], column(pauses, "packets")[order]
        self.episode = column(pauses, "episode")[order]
        self.order, self.peers = order, np.asarray(texts(pauses, "peer"))[order]
        self.row_of = {int(one): i for i, one in enumerate(self.id)}

    def tree(self, chosen: Array, held: Array) -> Tree:
        """The tree of some rows of `pauses` and of `holds`."""
        rows = [int(row) for row in np.flatnonzero(chosen[self.order])]
        spans = self.spans(rows)
        root = self.names[self.root[rows[0]]]
        victims, culprits = self.flows(held, spans)
        return Tree(root, len(spans), spans[0][0], spans[-1][1], tuple(self.ports(rows, root)), victims, culprits)

    def spans(self, rows: list[int]) -> list[tuple[float, float]]:
        """Begin and end of each episode."""
        episodes = self.episode[rows]
        ends = self.begin[rows] + self.duration[rows]
        found = [(float(self.begin[rows][episodes == e].min()), float(ends[episodes == e].max())) for e in np.unique(episodes)]
        return sorted(found)

    def ports(self, rows: list[int], root: str) -> list[PausedPort]:
        """The ports in the order of a walk through the tree: below each the ports for which it was to blame, the first before."""
        groups: dict[Key, list[int]] = {}
        for row in rows:
            groups.setdefault((int(self.port[row]), int(self.priority[row])), []).append(row)
        below: dict[Key | None, list[Key]] = {}
        for key, of_key in groups.items():
            first = self.parent[of_key[0]]
            above = None if np.isnan(first) else self.row_of.get(int(first))
            group = None if above is None else (int(self.port[above]), int(self.priority[above]))
            below.setdefault(group if group in groups else None, []).append(key)
        found: list[PausedPort] = []
        open_: list[tuple[Key, str, int]] = [(key, root, 1) for key in reversed(below.get(None, []))]
        while open_:
            key, parent, depth = open_.pop()
            members = np.asarray(groups[key])
            port = PausedPort(
                self.names[key[0]],
                None if key[1] < 0 else key[1],
                parent,
                depth,
                str(self.peers[members[0]]),
                members.size,
                float(self.duration[members].sum()),
                float(self.begin[members[0]]),
                int(self.packets[members].sum()),
            )
            found.append(port)
            open_ += [(child, port.label, depth + 1) for child in reversed(below.get(key, []))]
        return found

    def flows(self, held: Array, spans: list[tuple[float, float]]) -> tuple[tuple[Victim, ...], tuple[int, ...]]:
        """Victims, and the flows that went through the root."""
        rows = self.holds.filter(held.astype(bool))
        flow = column(rows, "flow").astype(int)
        bound = {int(f) for f in np.unique(flow[column(rows, "bound_packets") > 0])}
        numbers = [int(f) for f in np.unique(flow) if int(f) not in bound]
        about = _about(self.run, numbers)
        goodput = _goodput(self.run, numbers, spans)
        columns = {name: column(rows, name) for name in ("packets", "bytes", "held_ns", "longest_ns")}
        port = column(rows, "port").astype(int)
        victims = []
        for number in numbers:
            mine = flow == number
            total = {name: float(values[mine].sum()) for name, values in columns.items()}
            name, source, destination = about[number]
            ports = tuple(self.names[p] for p in port[mine])
            longest = float(columns["longest_ns"][mine].max())
            packets, size = int(columns["packets"][mine].max()), int(columns["bytes"][mine].max())
            victims.append(
                Victim(number, name, source, destination, ports, packets, size, total["held_ns"], longest, *goodput[number])
            )
        victims.sort(key=lambda victim: (-victim.held_ns, victim.flow))
        return tuple(victims), tuple(sorted(bound))


def _about(run: Run, flows: list[int]) -> dict[int, tuple[str, str, str]]:
    """What a reader would call some flows, their source and their destination."""
    names, wanted = flow_names(run), set(flows)
    ends = zip(column(run.flows, "flow").astype(int), texts(run.flows, "source"), texts(run.flows, "destination"), strict=True)
    return {int(flow): (names[int(flow)], source, destination) for flow, source, destination in ends if int(flow) in wanted}


def _goodput(run: Run, flows: list[int], spans: list[tuple[float, float]]) -> dict[int, tuple[float, float]]:
    """Goodput of flows within the spans and outside, in bit/s, from their first sample to their last, warm-up included."""
    nothing = {flow: (float("nan"), float("nan")) for flow in flows}
    samples = run.flow_samples
    if not samples.num_rows or not flows:
        return nothing
    ids, time, delivered = (column(samples, name) for name in ("flow", "time_ns", "delivered_bytes"))
    step = float(np.median(np.diff(np.unique(time[:200_000])))) if np.unique(time[:200_000]).size > 1 else 0.0
    for flow in flows:
        mine = ids == flow
        if not mine.any():
            continue
        at, read = time[mine], delivered[mine]
        first, last = float(at[0]), float(at[-1])
        inside = [(max(begin, first), min(end, last)) for begin, end in spans]
        length = sum(max(0.0, end - begin) for begin, end in inside)
        got = sum(float(np.interp(end, at, read) - np.interp(begin, at, read)) for begin, end in inside if begin < end)
        rest = last - first - length
        whole = float(np.interp(last, at, read) - np.interp(first, at, read))
        # What is shorter than a few samples says nothing.
        enough = 5 * step
        nothing[flow] = (
            got * 8e9 / length if length > enough else float("nan"),
            (whole - got) * 8e9 / rest if rest > enough else float("nan"),
        )
    return nothing
