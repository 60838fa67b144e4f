"""What the page says in the lane of events, computed again from rows: which rows a sentence stands for, and its numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import Any

from elephan.scenario import kinds
from elephan.table.steps import shortest_ports
from stories import NUMBER, QUANTITY, Rows, near, value

N, Q = NUMBER, QUANTITY
OVER = rf"(?: within (?P<over>{Q}))?"
WHOSE = rf"(?:, (?P<some>{N}) of them \((?P<share>{N} %)\) of (?P<most>.+?)|, all of (?P<all>.+?)| of (?P<one>.+?))?"
THEN = (
    rf"(?:\. (?P<loser>.+?) (?:noticed its first loss after (?P<noticed>{Q})|timed out (?P<late>{Q}) after its first loss)"
    rf"(?:; its window was (?P<before>{Q}) before and (?P<after>{Q}) after)?)?"
)
MANY = rf"(?P<count>{N}) packets?"
# What each kind of event says, and of drops for which reason; `{at}` has been taken away.
SENTENCES: dict[str, list[tuple[str, str]]] = {
    "drop": [
        ("queue_full", rf"the queue of (?P<port>.+?) overflowed: it dropped {MANY}{OVER}{WHOSE}{THEN}\."),
        ("memory_full", rf"the memory of (?P<node>.+?) had no room: it dropped {MANY} for (?P<peer>.+?){OVER}{WHOSE}{THEN}\."),
        ("mtu_exceeded", rf"the link (?P<port>.+?) carries no packet so large: it dropped {MANY}{OVER}{WHOSE}{THEN}\."),
        ("link_down", rf"the link (?P<port>.+?) was down and lost {MANY}{OVER}{WHOSE}{THEN}\."),
        ("link_loss", rf"the link (?P<port>.+?) lost {MANY}{OVER}{WHOSE}{THEN}\."),
        ("host", rf"(?P<node>\S+) dropped {MANY} that had come to it{OVER}{WHOSE}, because (?P<why>[^.]+?){THEN}\."),
        ("discipline", rf"(?P<title>[A-Z][\w -]*?) at (?P<port>.+? → .+?) dropped {MANY}{OVER}{WHOSE}{THEN}\."),
    ],
    "mark": [("", rf"(?P<port>.+?) marked {MANY}{OVER}{WHOSE}\.")],
    "pause": [
        ("", r"(?P<node>\S+) let (?P<peer>\S+) send again\."),
        ("", rf"(?P<node>\S+) stopped (?P<peer>\S+) \(PAUSE\)(?:: (?P<stops>{N}) stops?{OVER})?\."),
    ],
    "fast_retransmit": [
        ("", rf"(?P<flow>.+) retransmitted, (?P<since>{Q}) after (?P<where>.+?) had dropped a packet of it\."),
        ("", r"(?P<flow>.+) retransmitted, and no data of it had been dropped since its last retransmission\."),
    ],
    "rto": [
        (
            "",
            rf"the retransmission timer of (?P<flow>.+?) expired"
            rf"(?:, (?P<since>{Q}) after (?P<where>.+?) had dropped a packet of it)?; the next timeout is (?P<next>{Q})\.",
        )
    ],
    "change": [
        ("rate", rf"the rate of (?P<port>.+) changed to (?P<to>{Q})\."),
        ("delay", rf"the delay of (?P<port>.+) changed to (?P<to>{Q})\."),
        ("down", r"the link (?P<port>.+) went down\."),
        ("up", r"the link (?P<port>.+) came up\."),
        ("reroute", r"routes around (?P<port>.+) were made anew\."),
        ("control", r"(?P<flow>.+) went on under (?P<control>\w+)\."),
        ("other", r"the (?P<what>loss|limit|mark above) of (?P<port>.+) changed\."),
    ],
    "cnm": [("", rf"(?P<port>.+) told of its queue: (?P<count>{N}) notifications?{OVER}{WHOSE}\.")],
    "cnp": [("", rf"the receiver told (?P<flow>.+) of congestion: (?P<count>{N}) notifications?{OVER}\.")],
    "send_stall": [("", rf"(?P<node>\S+) refused (?P<count>{N}) segments? of (?P<flow>.+?){OVER}: its own queue was full\.")],
    "duplicate": [("", rf"(?P<port>.+) delivered {MANY} twice{OVER}\.")],
    "reorder": [("", rf"(?P<port>.+) held back {MANY}{OVER}\.")],
    "logger_gap": [("", r"the logger of (?P<node>.+) was silent\.")],
    "give_up": [("", r"(?P<flow>.+) gave up\.")],
    "deadlock": [("", r"(?P<port>.+) was part of a cycle of paused ports: a deadlock\.")],
    "watchdog": [("", r"the watchdog of (?P<port>.+) ended a pause that had lasted too long\.")],
    "start": [("", r"(?P<flow>.+) began\.")],
    "done": [("", rf"(?P<flow>.+) was done: (?P<size>{Q}) in (?P<took>{Q}), (?P<rate>{Q})\.")],
    "slow_start_left": [
        ("", rf"and (?P<until>[\d.]+) s (?P<flow>.+) left slow start for (?P<phase>[a-z ]+), with a window of (?P<window>{Q})\.")
    ],
}
ALONE = {"change", "rto", "fast_retransmit", "deadlock", "watchdog", "give_up"}
OF_FLOWS = {"start", "done", "slow_start_left"}
HOST_WORDS = {
    "the receive ring was full": "rx_ring",
    "the backlog was full": "rx_backlog",
    "the backlog had been full and was not empty yet": "rx_throttle",
    "the socket was full": "socket_full",
}
Said = dict[str, str | None]


class Lane:
    """The events of a run as rows, and its flows as the page calls them."""

    def __init__(self, rows: Rows, names: dict[int, str], span_ns: float) -> None:
        self.rows, self.names, self.span_ns = rows, names, span_ns
        self.events = rows.run.events.to_pylist()
        self.flows = {row["flow"]: row for row in rows.run.flows.to_pylist()}

    @cached_property
    def repairs(self) -> dict[int, list[dict[str, Any]]]:
        found: dict[int, list[dict[str, Any]]] = {}
        for row in self.events:
            if row["kind"] in ("rto", "fast_retransmit"):
                found.setdefault(row["flow"], []).append(row)
        return found

    @cached_property
    def ways(self) -> dict[tuple[str, str], set[tuple[str, str]]]:
        return {}

    def way(self, source: str, destination: str) -> set[tuple[str, str]]:
        ends = (source, destination)
        if ends not in self.ways:
            self.ways[ends] = set(shortest_ports(self.rows.run, *ends))
        return self.ways[ends]

    def is_data(self, row: dict[str, Any]) -> bool:
        """Whether a packet was data of a connection: it went the way of data, and the handshake was over."""
        flow = self.flows[row["flow"]]
        if flow["protocol"] == "tcp" and (row["packet_bytes"] <= 70 or row["time_ns"] < (flow["established_ns"] or math.inf)):
            return False  # 70 B: a segment without data, with time stamps, on Ethernet
        if row["port"] is None:
            return bool(row["node"] != flow["source"])
        port = (row["node"], row["peer"])
        back, there = self.way(flow["destination"], flow["source"]), self.way(flow["source"], flow["destination"])
        return port not in back or port in there

    def calm(self, flow: int, after: float, until: float) -> list[float]:
        """The samples between two times at which a flow was not repairing losses."""
        samples = self.rows.samples.get(flow, ())
        return [one["time_ns"] for one in samples if after < one["time_ns"] <= until and one["phase"] not in ("recovery", "loss")]

    def noticed(self, flow: int, lost: float) -> dict[str, Any] | None:
        own = self.repairs.get(flow, [])
        before = [row for row in own if row["time_ns"] <= lost]
        if before and not self.calm(flow, before[-1]["time_ns"], lost):
            return None
        return next((row for row in own if row["time_ns"] > lost), None)

    def cause(self, row: dict[str, Any]) -> dict[str, Any] | None:
        flow, at = row["flow"], row["time_ns"]
        before = [one["time_ns"] for one in self.repairs[flow] if one["time_ns"] < at]
        since = before[-1] if before else -math.inf
        lost = [one for one in self.events if one["kind"] == "drop" and one["flow"] == flow and since < one["time_ns"] <= at]
        lost = [one for one in lost if self.is_data(one)]
        calm = self.calm(flow, since, at) if before else [-math.inf]
        later = [one for one in lost if calm and one["time_ns"] >= calm[0]]
        return (later or lost[-1:] or [None])[0]


def at_port(row: dict[str, Any]) -> str:
    return f"{row['node']} → {row['peer']}" if row["port"] is not None else row["node"]


def reason_of(kind: str, said: Said) -> str | None:
    """The reason of the rows that a sentence of drops stands for."""
    if kind == "host":
        return HOST_WORDS[said["why"] or ""]
    if kind != "discipline":
        return kind
    return next((name for name in QUEUES if kinds.queue({"kind": name})["title"] == said["title"]), str(said["title"]).lower())


QUEUES = ("codel", "pie", "red", "fq_codel", "dualpi2", "cake", "fq_pie", "blue", "sfq", "tbf")


def judge(lane: Lane, one: dict[str, Any]) -> list[int]:
    """Fails if the words of an event are not known or a number is not that of the rows; returns the places of its rows."""
    time, _, text = one["text"].partition(" s ")
    begins = "Between" if one["kind"] == "slow_start_left" else "At"
    assert time.startswith(f"{begins} "), one
    places = min(max(4 - math.floor(math.log10(max(lane.span_ns, 1) * 1e-9)), 0), 9)
    stamp = float(time.removeprefix(f"{begins} ")) * 1e9
    fits = [(key, said) for key, words in SENTENCES[one["kind"]] if (said := re.fullmatch(words, text))]
    assert fits, one["text"]
    key, match = fits[0]
    said = match.groupdict()
    if one["kind"] in OF_FLOWS:
        of_a_flow(lane, one, said, stamp, 0.51 * 10.0 ** (9 - places))
        return []
    assert abs(stamp - one["at_ns"]) <= 0.51 * 10.0 ** (9 - places), one
    raw = ("pause", "resume") if one["kind"] == "pause" else (one["kind"],)
    reason = reason_of(key, said) if one["kind"] == "drop" else None
    own = [
        place
        for place, row in enumerate(lane.events)
        if row["kind"] in raw
        and one["at_ns"] <= row["time_ns"] <= one["until_ns"]
        and row["port"] == one["port"]
        and (reason is None or row["reason"] == reason)
        and ("flow" not in said or lane.names.get(row["flow"]) == said["flow"])
        and ("node" not in said or row["node"] == said["node"])
        and (key not in CHANGES or CHANGES[key](row))
    ]
    rows = [lane.events[place] for place in own]
    assert one["count"] == 1 <= len(rows) if one["kind"] in ALONE else one["count"] == len(rows), one
    if said.get("port"):
        assert {at_port(row) for row in rows} == {said["port"]}, one
    if said.get("count"):
        assert value(said["count"] or "") == len(rows)
    if said.get("over"):
        near(said["over"] or "", rows[-1]["time_ns"] - rows[0]["time_ns"])
    if said.get("stops"):
        assert value(said["stops"] or "") == sum(row["kind"] == "pause" for row in rows)
    whose(lane, rows, said)
    for check in CHECKS.get(one["kind"], ()):
        check(lane, rows, said)
    return own


CHANGES: dict[str, Callable[[dict[str, Any]], bool]] = {
    key: (lambda row, key=key: row["reason"] == key) for key in ("rate", "delay", "down", "up", "reroute")
} | {"other": lambda row: row["reason"] in ("loss", "limit", "mark_above"), "control": lambda row: row["port"] is None}


def whose(lane: Lane, rows: list[dict[str, Any]], said: Said) -> None:
    """The flow that most of the packets are of, and its part of them."""
    name = said.get("most") or said.get("all") or said.get("one")
    if "most" not in said or name is None:
        return
    counts = Counter(lane.names.get(row["flow"]) for row in rows)
    assert counts[name] == max(counts.values()), (name, counts)
    assert (said["one"] is not None) == (len(rows) == 1)
    assert (said["all"] is not None) == (len(counts) == 1 < len(rows))
    if said["some"]:
        assert value(said["some"]) == counts[name]
        near(said["share"] or "", counts[name] / len(rows), 2)


def aftermath(lane: Lane, rows: list[dict[str, Any]], said: Said) -> None:
    """How the flow that lost most took it."""
    name = said.get("most") or said.get("all") or said.get("one")
    if name is None:
        return
    flow = next(row["flow"] for row in rows if lane.names.get(row["flow"]) == name)
    first = next((row["time_ns"] for row in rows if row["flow"] == flow and lane.is_data(row)), None)
    repair = lane.noticed(flow, first) if first is not None else None
    assert (repair is not None) == (said["loser"] is not None), (said, first, repair)
    if repair is None:
        return
    assert said["loser"] == name
    assert (repair["kind"] == "rto") == (said["late"] is not None)
    near(said["late"] or said["noticed"] or "", repair["time_ns"] - first)
    samples = lane.rows.samples.get(flow, ())
    before = [one["cwnd_bytes"] for one in samples if one["time_ns"] <= first and one["cwnd_bytes"] is not None]
    after = [one["cwnd_bytes"] for one in samples if one["time_ns"] > repair["time_ns"] and one["cwnd_bytes"] is not None]
    assert (said["before"] is not None) == bool(before and after), (said, before[-1:], after[:1])
    if said["before"]:
        near(said["before"], before[-1])
        near(said["after"] or "", after[0])


def caused(lane: Lane, rows: list[dict[str, Any]], said: Said) -> None:
    """After which drop a flow has retransmitted; a loss is noticed within two of its largest round trips unless by the timer."""
    found = []
    for row in rows:
        drop = lane.cause(row)
        found.append(None if drop is None else (at_port(drop), row["time_ns"] - drop["time_ns"]))
        if drop is not None and row["kind"] == "fast_retransmit" and lane.flows[row["flow"]]["protocol"] == "tcp":
            apart = [one["time_ns"] for one in lane.rows.samples.get(row["flow"], ())][:2]
            step = apart[1] - apart[0] if len(apart) == 2 else math.inf
            assert row["time_ns"] - drop["time_ns"] <= 4 * (lane.flows[row["flow"]]["max_rtt_ns"] or math.inf) + step, (said, row)
    if not said.get("since"):
        assert None in found, (said, found)
        return
    for one in filter(None, found):
        if one[0] == said["where"]:
            near(said["since"] or "", one[1])
            return
    raise AssertionError((said, found))


def next_timeout(lane: Lane, rows: list[dict[str, Any]], said: Said) -> None:
    near(said["next"] or "", rows[0]["value"] * 1e9)


def changed(lane: Lane, rows: list[dict[str, Any]], said: Said) -> None:
    if said.get("to"):
        near(said["to"] or "", rows[0]["value"] * (1e9 if rows[0]["reason"] == "delay" else 1))
    if said.get("control"):
        assert any(row["reason"] == said["control"] for row in rows)
    if said.get("what"):
        assert any(row["reason"].replace("_", " ") == said["what"] for row in rows)


CHECKS: dict[str, tuple[Callable[[Lane, list[dict[str, Any]], Said], None], ...]] = {
    "drop": (aftermath,),
    "fast_retransmit": (caused,),
    "rto": (caused, next_timeout),
    "change": (changed,),
}


def of_a_flow(lane: Lane, one: dict[str, Any], said: Said, stamp: float, slack: float) -> None:
    """Beginnings, ends and the first time out of slow start."""
    flow = lane.flows[one["flow"]]
    assert lane.names[one["flow"]] == said["flow"]
    if one["kind"] == "start":
        assert abs(stamp - flow["start_ns"]) <= slack
    elif one["kind"] == "done":
        assert abs(stamp - flow["start_ns"] - flow["fct_ns"]) <= slack
        near(said["size"] or "", flow["delivered_bytes"])
        near(said["took"] or "", flow["fct_ns"])
        near(said["rate"] or "", flow["delivered_bytes"] * 8e9 / flow["fct_ns"])
    else:
        samples = lane.rows.samples[one["flow"]]
        phases = [sample["phase"] for sample in samples]
        left = next(i for i in range(1, len(phases)) if phases[i - 1] == "slow_start" != phases[i])
        assert phases[left].replace("_", " ") == said["phase"]
        assert abs(stamp - samples[left - 1]["time_ns"]) <= slack
        assert abs(float(said["until"] or "") * 1e9 - samples[left]["time_ns"]) <= slack
        near(said["window"] or "", samples[left]["cwnd_bytes"])
