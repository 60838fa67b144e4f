"""Connection matrices of htsim: who sends how much to whom, when, and after which other connection.

    Nodes 16
    Connections 2
    Triggers 1
    0->5 id 1 start 1000000 size 2000000 send_done_trigger 1
    0->7 id 2 trigger 1 size 2000000
    trigger id 1 oneshot

A start counts picoseconds, and with transport `uec` microseconds: so htsim_uec reads it.
The fabric is not in the file: it becomes a fat-tree with room for all nodes. Without triggers the connections are `replay`. With
triggers they become a program in GOAL, in which a connection that waits for a trigger requires the ones that fire it. Where a
trigger passes from one node to another, htsim takes no time for it; here a message of 1 B carries it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from elephan.base.errors import InputError, visible
from elephan.base.quantity import counted
from elephan.scenario import core
from elephan.scenario.foreign.network import Notes, rate_text, wrong

TRANSPORTS = ("tcp", "uec")
# What the validation of htsim_uec at 40ccb05 runs with: payload and headers of packets, control packets, hops of its fat-trees.
UEC_PAYLOAD, UEC_HEADERS, UEC_CONTROL, UEC_HOPS = 4086, 64, 64, 6
UEC_HOP_S = 1e-6

FORMAT = "htsim connection matrix"
RATE_BPS = 100e9
_NODES_MAX = 65_536  # of the largest fat-tree of a scenario
_LINE = re.compile(r"(\d+)->(\d+)(?:\s|$)")
_KEYS = ("id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger", "prio", "msg")


@dataclass(frozen=True)
class Connection:
    """A line of the file: nodes, bytes, when it starts (picoseconds) or which trigger starts it, and which it fires when."""

    line: int
    source: int
    destination: int
    size: int
    start: float = 0.0
    trigger: int = 0
    sent: int = 0
    received: int = 0


@dataclass
class Matrix:
    """A whole file; `triggers`: line and how many firings each waits for, none for the first."""

    name: str
    notes: Notes
    nodes: int = 0
    connections: list[Connection] = field(default_factory=list)
    triggers: dict[int, tuple[int, int | None]] = field(default_factory=dict)


def is_matrix(text: str) -> bool:
    """Returns whether a text is a connection matrix."""
    return bool(re.search(r"^Nodes \d+\s*$", text, re.MULTILINE) and re.search(r"^\d+->\d+ ", text, re.MULTILINE))


def read_matrix(text: str, name: str) -> Matrix:
    """Returns what a file says; raises InputError with the line of what is wrong."""
    matrix, said = Matrix(name, Notes(name)), {"Connections": 0, "Triggers": 0, "Failures": 0}
    for line, words in ((number, one.split()) for number, one in enumerate(text.splitlines(), 1)):
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "Nodes" or words[0] in said:
            number = _whole(matrix, line, words[0], words[1] if len(words) > 1 else "")
            if words[0] == "Nodes":
                matrix.nodes = number
            else:
                said[words[0]] = number
        elif _LINE.match(words[0]):
            matrix.connections.append(_connection(matrix, line, words))
        elif words[0] == "trigger":
            _trigger(matrix, line, words)
        elif words[0] == "failure":
            matrix.notes.left_out(line, " ".join(words))
        else:
            raise wrong(name, line, f"{visible(words[0])}: Nodes, Connections, A->B, trigger and failure begin a line")
    _check(matrix, said)
    return matrix


def _whole(matrix: Matrix, line: int, key: str, text: str) -> int:
    if not re.fullmatch("[0-9]{1,16}", text) or int(text) >= 2**53:
        raise wrong(matrix.name, line, f"{key} {visible(text)}: a whole number is to stand there")
    return int(text)


def _pairs(matrix: Matrix, line: int, words: list[str], known: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    rest = iter(words)
    for key in rest:
        if key not in known:
            raise wrong(matrix.name, line, f"{visible(key)}: known are {', '.join(known)}")
        yield key, next(rest, "")


def _connection(matrix: Matrix, line: int, words: list[str]) -> Connection:
    ends = _LINE.match(words[0])
    assert ends is not None
    source, destination = int(ends[1]), int(ends[2])
    for node in (source, destination):
        if node >= matrix.nodes:
            raise wrong(matrix.name, line, f"node {node}: there are {matrix.nodes}, from 0 on")
    if source == destination:
        raise wrong(matrix.name, line, f"node {source} sends to itself")
    values: dict[str, float] = {}
    for key, text in _pairs(matrix, line, words[1:], _KEYS):
        if key == "start":
            try:
                values[key] = float(text)
            except ValueError:
                raise wrong(matrix.name, line, f"start {visible(text)}: a time in picoseconds is to stand there") from None
            if not 0 <= values[key] < 1e19:
                raise wrong(matrix.name, line, f"start {visible(text)}: out of range")
        else:
            values[key] = _whole(matrix, line, key, text)
    if "prio" in values:
        matrix.notes.left_out(line, "prio")
    if not values.get("size"):
        raise wrong(matrix.name, line, "no size: a connection without an end is not read")
    if ("start" in values) == ("trigger" in values):
        raise wrong(matrix.name, line, "a connection has a start or a trigger")
    number = {key: int(values.get(key, 0)) for key in ("size", "trigger", "send_done_trigger", "recv_done_trigger")}
    return Connection(
        line,
        source,
        destination,
        number["size"],
        values.get("start", 0.0),
        number["trigger"],
        number["send_done_trigger"],
        number["recv_done_trigger"],
    )


def _trigger(matrix: Matrix, line: int, words: list[str]) -> None:
    kind, flags = "", {"oneshot", "multishot", "barrier"}
    values: dict[str, int] = {}
    rest = [word for word in words[1:] if word not in flags]
    kind = next((word for word in words[1:] if word in flags), "")
    for key, text in _pairs(matrix, line, rest, ("id", "count")):
        values[key] = _whole(matrix, line, key, text)
    if not values.get("id") or not kind:
        raise wrong(matrix.name, line, "a trigger has an id from 1 and is oneshot or barrier")
    if kind == "multishot":
        raise wrong(matrix.name, line, "multishot: a connection that starts several times is not read")
    matrix.triggers[values["id"]] = (line, values.get("count", 0) if kind == "barrier" else None)


def _check(matrix: Matrix, said: dict[str, int]) -> None:
    name, found = matrix.name, len(matrix.connections)
    if not 2 <= matrix.nodes <= _NODES_MAX:
        raise wrong(name, 0, f"Nodes {matrix.nodes}: from 2 to {_NODES_MAX}")
    if not found:
        raise wrong(name, 0, "no connection")
    if said["Connections"] != found:
        raise wrong(name, 0, f"Connections {said['Connections']}, and {counted(found, 'line')} with A->B")
    fired: dict[int, int] = {}
    for one in matrix.connections:
        for trigger in (one.sent, one.received):
            fired[trigger] = fired.get(trigger, 0) + 1
    for one in matrix.connections:
        for trigger in (one.trigger, one.sent, one.received):
            if trigger and trigger not in matrix.triggers:
                raise wrong(name, one.line, f"trigger {trigger} is nowhere described")
        if one.trigger and not fired.get(one.trigger):
            raise wrong(name, one.line, f"nothing fires trigger {one.trigger}, so that the connection never starts")
    for trigger, (line, count) in matrix.triggers.items():
        firings = fired.get(trigger, 0)
        if count is None and firings > 1:
            raise wrong(name, line, f"{firings} connections fire a oneshot trigger: which is first cannot be said beforehand")
        if count is not None and count != firings:
            raise wrong(name, line, f"barrier of {count}, which {counted(firings, 'connection')} fire: all must be waited for")


def _uec(bps: float) -> tuple[list[str], list[str]]:
    """Returns keys of the fabric and of the traffic as htsim_uec has them: its longest round trip, and that in whole packets."""
    packet = UEC_PAYLOAD + UEC_HEADERS
    rtt = 2 * UEC_HOPS * UEC_HOP_S + UEC_HOPS * (packet + UEC_CONTROL) * 8 / bps
    whole = math.ceil(rtt * bps / 8 / packet) * packet * 8 / bps
    fabric = [
        'framing = "none"',
        f'bdp_rtt = "{whole * 1e6:.6g} us"  # the longest round trip in whole packets',
        'queue = { kind = "trim", limit = "1 bdp", min = "0.2 bdp", max = "0.8 bdp" }',
    ]
    traffic = [
        'transport = "uec"',
        f'uec = {{ mtu = "{UEC_PAYLOAD} B", headers = "{UEC_HEADERS} B", control = "{UEC_CONTROL} B" }}',
        f'congestion_control = {{ kind = "nscc", network_rtt = "{rtt * 1e6:.6g} us" }}',
    ]
    return fabric, traffic


def _tcp() -> tuple[list[str], list[str]]:
    return ['queue = { kind = "fifo", limit = "1 MB", mark_above = "100 KB" }'], ['congestion_control = "dctcp"']


def scenario_of(matrix: Matrix, bps: float | None, transport: str = "tcp") -> tuple[str, int, int, int]:
    """Returns the scenario of a matrix over `tcp` or `uec`, and its numbers of switches, hosts and links."""
    is_uec = transport == "uec"
    if is_uec:
        matrix.connections = [replace(one, start=int(one.start) * 1e6) for one in matrix.connections]
    fabric, carried = _uec(bps or RATE_BPS) if is_uec else _tcp()
    k = next(k for k in range(2, 66, 2) if k**3 // 4 >= matrix.nodes)
    rate = rate_text(bps or RATE_BPS)
    notes = matrix.notes
    notes.assumed(0, f"a fat-tree with k = {k}, {rate} and 1 us on each link: the file says nothing of the fabric")
    over = (
        "NSCC, and queues of a bandwidth-delay product that trim"
        if is_uec
        else "DCTCP, with marks above 100 KB and 1 MB at each port"
    )
    notes.assumed(0, over)
    lines = list(_program(matrix)) if any(one.trigger for one in matrix.connections) else list(_replay(matrix))
    if matrix.triggers and lines[0] == 'kind = "goal"':
        _check_program(matrix, lines)
    received = [0] * matrix.nodes
    for one in matrix.connections:
        received[one.destination] += one.size
    chain = sum(one.size for one in matrix.connections) if matrix.triggers else max(received)
    longest = max(one.start for one in matrix.connections) * 1e-12 + 4 * chain * 8 / (bps or RATE_BPS)
    notes.assumed(0, "a duration in which all connections have time to end")
    title = f"{matrix.name.rsplit('/', 1)[-1]}: {counted(matrix.nodes, 'node')}, {counted(len(matrix.connections), 'connection')}"
    head = [
        f"# Imported by elephan from {visible(matrix.name)} ({FORMAT}).",
        *(f"# {line}" for line in [*notes.lines("assumed"), *notes.lines("not taken over")]),
        f"title = {json.dumps(visible(title))}",
        f'duration = "{max(1, math.ceil(longest * 1e3))} ms"  # assumed',
        *(['ecmp = "flow"'] if is_uec else ['tcp = { ecn = "dctcp" }']),
        "",
        "[template]",
        'kind = "fat-tree"',
        f"k = {k}",
        f'rate = "{rate}"',
        'delay = "1 us"',
        *fabric,
        "",
        "[[traffic]]",
        'name = "connections"',
    ]
    text = "\n".join([*head, *lines, *carried]) + "\n"
    return text, k * k + k * k // 4, k**3 // 4, k**3 // 4 + 2 * (k // 2) ** 2 * k


def _check_program(matrix: Matrix, lines: list[str]) -> None:
    """Raises InputError if connections wait for each other in a circle."""
    program = "\n".join(lines[lines.index('program = """') + 1 : -1])
    try:
        core.build("Ranks", program, 0).ideal(1e11, 0.0)
    except InputError:
        raise wrong(matrix.name, 0, "connections wait for triggers of each other in a circle, so that some never start") from None


def _replay(matrix: Matrix) -> Iterator[str]:
    """Each connection a transfer with its start and size."""
    yield 'kind = "replay"'
    for key, nodes in (
        ("from", [one.source for one in matrix.connections]),
        ("to", [one.destination for one in matrix.connections]),
    ):
        yield f"{key} = {json.dumps([f'host[{node}]' for node in nodes])}"
    yield 'trace = """'
    yield "start_ns,size_bytes,pair"
    for place, one in enumerate(matrix.connections):
        yield f"{one.start / 1e3:.3f},{one.size},{place}"
    yield '"""'


def _program(matrix: Matrix) -> Iterator[str]:
    """All connections as a program in which what waits for a trigger requires what fires it."""
    ranks: list[list[str]] = [[] for _ in range(matrix.nodes)]
    firing: dict[int, list[tuple[int, str]]] = {}
    for number, one in enumerate(matrix.connections, 1):
        ranks[one.source].append(f"s{number}: send {one.size}b to {one.destination} tag {number}")
        ranks[one.destination].append(f"r{number}: recv {one.size}b from {one.source} tag {number}")
        if one.start:
            ranks[one.source].append(f"w{number}: calc {round(one.start / 1e3)} cpu {number % 65536}")
            ranks[one.source].append(f"s{number} requires w{number}")
        for trigger, node, label in ((one.sent, one.source, f"s{number}"), (one.received, one.destination, f"r{number}")):
            if trigger:
                firing.setdefault(trigger, []).append((node, label))
    carried = len(matrix.connections)
    for number, one in enumerate(matrix.connections, 1):
        for node, label in firing.get(one.trigger, []) if one.trigger else []:
            if node != one.source:
                matrix.notes.assumed(one.line, "a message of 1 B carries a trigger from one node to another")
                carried += 1
                ranks[node] += [f"t{carried}: send 1b to {one.source} tag {carried}", f"t{carried} requires {label}"]
                ranks[one.source].append(f"t{carried}: recv 1b from {node} tag {carried}")
                label = f"t{carried}"
            ranks[one.source].append(f"s{number} requires {label}")
    yield 'kind = "goal"'
    yield f'from = "host[0-{matrix.nodes - 1}]"'
    yield 'eager = "0 B"  # a send is done when it is acknowledged'
    yield 'program = """'
    yield f"num_ranks {matrix.nodes}"
    for rank, lines in enumerate(ranks):
        if lines:
            yield from (f"rank {rank} {{", *lines, "}")
    yield '"""'
