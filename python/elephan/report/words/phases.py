"""What each `[[change]]` of a run did, in sentences: to goodput, to the port that it is about, to flows while a link was down."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from elephan.base.quantity import seconds, show
from elephan.report.words.view import Array, View, arrow
from elephan.table.rows import column, delivered_curves, texts
from elephan.table.steps import shortest_ports

PHASES_MAX = 5  # with more changes than this there is no sentence for each stretch between them
PORTS_MAX = 2
FLOWS_NAMED_MAX = 4
SAMPLES_MIN = 10  # of a queue in a stretch, below which its mean and its most are not told
KNOWN = 0.05  # of a time, by which it may be another between two samples
CLEAR, UNCLEAR = 0.01, 0.25  # of the highest rate, by which rates may be others: up to here three digits, from here on unknown
# A flow stands still if nothing comes for so many samples, and for so many times its longest silence before.
STILL_SAMPLES, STILL_TIMES = 4, 2.0

_LINK = re.compile(r"links\.(?P<name>.+?->.+?)(?:\.(?P<way>forward|backward))?\.(?P<what>[a-z_]+)(?:\..*)?")


@dataclass(frozen=True)
class Stretch:
    """A part of the measured time in which nothing changes. Times in ns; `words` say what is new since its beginning, or since a
    change in the warm-up."""

    begin: float
    end: float
    words: str


def change_lines(view: View) -> list[str]:
    """Sentences about the changes of a run, a paragraph each; none if nothing changes or too often."""
    stretches = _stretches(view)
    if not any(stretch.words for stretch in stretches) or len(stretches) > PHASES_MAX:
        return []
    lines = [_early(view), *(_standstill(view, port, down, up) for port, down, up in _outages(view))]
    lines += [_goodput(view, stretches), *(_port(view, stretches, port) for port in _ports(view)[:PORTS_MAX])]
    return [line for line in lines if line]


def _stretches(view: View) -> list[Stretch]:
    found: dict[float, list[str]] = {}
    for time, words in view.changes():
        found.setdefault(time, []).append(words)
    begins = sorted(found)
    if not begins:
        return []
    ends = [*begins, float(view.run.duration_ns)]
    warmup = float(view.run.warmup_ns)
    whole = [(0.0, ends[0], ""), *((a, b, ", ".join(found[a])) for a, b in itertools.pairwise(ends))]
    return [Stretch(max(begin, warmup), end, words) for begin, end, words in whole if end > max(begin, warmup)]


def _early(view: View) -> str:
    """What changed within the warm-up: the measured time begins with it."""
    warmup = view.run.warmup_ns
    said = [f"{words} at {show(time, 'ns')}" for time, words in view.changes() if 0 < time < warmup]
    if not said or len(said) > PHASES_MAX:
        return ""
    return f"Changed before the measured time begins: {', '.join(said)}."


def _spoken(stretch: Stretch, end: float) -> str:
    """`until 20 ms`, after a warm-up `from 10 ms to 20 ms`, `with rate 2 Gb/s (20 ms to 80 ms)`, `once up (from 80 ms)`."""
    span = f"{show(stretch.begin, 'ns')} to {show(stretch.end, 'ns')}"
    if not stretch.words:
        return f"from {span}" if stretch.begin > 0 else f"until {show(stretch.end, 'ns')}"
    when = f"from {show(stretch.begin, 'ns')}" if stretch.end >= end else span
    link = {"up": "once", "down": "while"}.get(stretch.words, "with")
    return f"{link} {stretch.words} ({when})"


def _goodput(view: View, stretches: list[Stretch]) -> str:
    """Returns the goodput of all flows together in each stretch: what each flow delivered between its ends, flows shorter than the
    interval of samples included."""
    if not view.run.flow_samples.num_rows:
        return ""
    edges = np.array([stretches[0].begin, *(stretch.end for stretch in stretches)])
    total, least, most = (np.zeros(edges.size) for _ in range(3))
    for time, delivered in delivered_curves(view.run).values():
        total += np.interp(edges, time, delivered, left=0.0)
        least += np.append(0.0, delivered)[np.searchsorted(time, edges, side="right")]
        most += np.append(delivered, delivered[-1])[np.searchsorted(time, edges)]
    rates, doubt = np.diff(total) * 8e9 / np.diff(edges), (most - least) * 8e9
    whose = "the flow" if len(view.flow_ids) == 1 else "all flows together"
    # What was delivered between two samples may belong to either side of a change.
    off = float(((doubt[1:] + doubt[:-1]) / np.diff(edges)).max() / max(rates.max(), 1e-9))
    if off > UNCLEAR:
        return f"Goodput of {whose} in each stretch is not known: samples are {show(view.interval_ns(), 'ns')} apart."
    end = float(view.run.duration_ns)
    digits, about = (3, "") if off <= CLEAR else (2, "about ")
    said = [f"{about}{show(rate, 'bps', digits)} {_spoken(stretch, end)}" for stretch, rate in zip(stretches, rates, strict=True)]
    return f"Goodput of {whose}: {'; '.join(said)}."


def _changed(view: View) -> list[tuple[float, list[str], str, Any]]:
    """Time in ns, ports, what of them (`rate`, `up` ...) and its new value, in the order of time."""
    names = set(view.port_names().values())
    found = []
    for change in view.run.resolved.get("change", []):
        for key, value in _flat(change["set"]):
            match = _LINK.fullmatch(key)
            if match is None:
                continue
            a, b = match["name"].split("->", 1)
            both = [f"{a}->{b}", f"{b}->{a}"]
            ports = {"forward": both[:1], "backward": both[1:]}.get(match["way"] or "", both)
            found.append((seconds(change["at"]) * 1e9, [port for port in ports if port in names], match["what"], value))
    return sorted(found, key=lambda one: one[0])


def _flat(values: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Paths and values of `set`; keys with dots that are not in quotes are tables."""
    found: list[tuple[str, Any]] = []
    for key, value in values.items():
        path = f"{prefix}{key}"
        found += _flat(value, f"{path}.") if isinstance(value, dict) and "kind" not in value else [(path, value)]
    return found


def _ports(view: View) -> list[str]:
    """Ports whose rate, delay, loss or queue changes, those with the longest queue first."""
    changed = {port for _, ports, what, _ in _changed(view) if what != "up" for port in ports}
    queues = {
        name: values for number, values in view.port_series("queue_bytes").items() if (name := view.port_names()[number]) in changed
    }
    return sorted(queues, key=lambda name: -float(queues[name][1].sum()))[: 1 if len(changed) <= 2 else PORTS_MAX]


def _port(view: View, stretches: list[Stretch], port: str) -> str:
    """Queue and drops of a port in each stretch."""
    number = next(number for number, name in view.port_names().items() if name == port)
    time, queue = view.port_series("queue_bytes")[number]
    _, sampled = view.port_series("drops")[number]
    recorded = bool(view.run.resolved.get("record", {}).get("events", False))
    dropped_at = view.drops_at([arrow(port)]) if recorded else None
    end = float(view.run.duration_ns)
    said = []
    for stretch in stretches:
        chosen = (time > stretch.begin) & (time <= stretch.end)
        if chosen.sum() < SAMPLES_MIN:
            continue
        if dropped_at is None:
            lost = int(np.interp(stretch.end, time, sampled) - np.interp(stretch.begin, time, sampled, left=0.0))
        else:
            lost = int(((dropped_at > stretch.begin) & (dropped_at <= stretch.end)).sum())
        mean, most = show(float(queue[chosen].mean()), "bytes"), show(float(queue[chosen].max()), "bytes")
        dropped = f", {lost} packet{'' if lost == 1 else 's'} dropped" if lost else ""
        said.append(f"{mean} on average and {most} at most {_spoken(stretch, end)}{dropped}")
    return f"Queue of {arrow(port)} (sampled): {'; '.join(said)}." if said else ""


def _outages(view: View) -> list[tuple[list[str], float, float]]:
    """Links that go down: the ports of each, when, and until when, in ns."""
    found = []
    rows = [(time, ports, value) for time, ports, what, value in _changed(view) if what == "up" and ports]
    for i, (time, ports, value) in enumerate(rows):
        if not value:
            up = next((later for later, other, back in rows[i + 1 :] if other[0] == ports[0] and back), float(view.run.duration_ns))
            found.append((ports, time, up))
    return found


def _with_a_way_over(view: View, ports: list[str], down: float) -> dict[int, str]:
    """The flows whose data or ACKs have a shortest way through one of the ports; all flows if routes were others by then."""
    run = view.run
    if "reroute" in run.resolved and any(begin < down < end for _, begin, end in _outages(view)):
        return view.flow_names
    failed = {(node, peer) for node, _, peer in (port.partition("->") for port in ports)}
    ends = dict(zip(view.flow_ids, zip(texts(run.flows, "source"), texts(run.flows, "destination"), strict=True), strict=True))
    over = {(a, b): bool(failed & (shortest_ports(run, a, b) | shortest_ports(run, b, a))) for a, b in set(ends.values())}
    return {number: name for number, name in view.flow_names.items() if over[ends[number]]}


def _standstill(view: View, ports: list[str], down: float, up: float) -> str:
    """Which flows stood still when a link failed, and for how long; of those that may have used it."""
    if not view.run.flow_samples.num_rows:
        return ""
    curves, interval = delivered_curves(view.run), view.interval_ns()
    least = STILL_SAMPLES * interval
    # What begins to stand still when packets have a way again is congestion's.
    reroute = view.run.resolved.get("reroute")
    until = up if reroute is None else min(up, down + seconds(reroute) * 1e9)
    still: list[tuple[float, str]] = []
    over = {number: name for number, name in _with_a_way_over(view, ports, down).items() if _could_send(view, number, up)}
    for number, name in over.items():
        before, after = _silences(*curves[number], down, until, interval)
        if after > max(least, STILL_TIMES * before):
            still.append((after, name))
    still.sort(key=lambda one: -one[0])
    when = f"{arrow(ports[0])} was down from {show(down, 'ns')}" + (f" to {show(up, 'ns')}" if up < view.run.duration_ns else " on")
    if until < up:
        when += f" (new routes after {show(until - down, 'ns')})"
    whose = " with a way over it" if len(over) < len(view.flow_ids) else ""
    if not over:
        return f"{when}: no flow{whose} had a connection then."
    if not still and least > up - down:
        return f"{when}: whether a flow{whose} stood still is not known, since samples are {show(interval, 'ns')} apart."
    if not still:
        return f"{when}: no flow{whose} stood still for more than {show(least, 'ns')}."
    named = [f"{name} for {_within(silence, interval)}" for silence, name in still[:FLOWS_NAMED_MAX]]
    more = f" and {len(still) - len(named)} more" if len(still) > len(named) else ""
    return f"{when}: {len(still)} of {len(over)} flow{'' if len(over) == 1 else 's'}{whose} stood still, {', '.join(named)}{more}."


def _could_send(view: View, flow: int, until: float) -> bool:
    """Whether a flow had begun before a time, and had its connection if it needs one, and was not over."""
    flows, row = view.run.flows, view.flow_ids.index(flow)
    if texts(flows, "protocol")[row] != "tcp":
        return bool(column(flows, "start_ns")[row] < until)
    return bool(column(flows, "established_ns")[row] < until)  # False of NaN


def _within(silence: float, interval: float) -> str:
    """A time that was read between two samples, as a range where these are far apart for it."""
    if interval <= KNOWN * silence:
        return show(silence, "ns")
    return f"{show(max(silence - interval, 0.0), 'ns')} to {show(silence + interval, 'ns')}"


def _silences(time: Array, delivered: Array, down: float, up: float, interval: float) -> tuple[float, float]:
    """The longest time without anything delivered that ends before `down`, and of those that begin from then until `up` what the
    longest lasts after `down`; in ns.

    From a sample that shows something new to the next that does.
    """
    if time.size < 2:
        return 0.0, 0.0
    news = np.concatenate([[time[0]], time[1:][np.diff(delivered) > 0], [time[-1]]])
    begins, ends = news[:-1], news[1:]
    before = float((ends - begins)[ends <= down].max(initial=0.0))
    # The last news may be older than the failure by a pause as the flow always makes; what is silent for longer has other reasons.
    during = (ends > down) & (begins >= down - max(before, interval)) & (begins < up)
    return before, float((ends - np.maximum(begins, down))[during].max(initial=0.0))
