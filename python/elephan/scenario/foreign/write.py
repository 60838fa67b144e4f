"""A foreign network as the text of a scenario, with comments that say where values come from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from elephan.base.errors import visible
from elephan.scenario import places
from elephan.scenario.foreign.names import host_of
from elephan.scenario.foreign.network import Keys, Link, Network

QUEUE = {"kind": "fifo", "limit": "1000 p"}
_COMMENTS = 100  # notes in the file at most
ACCESS = {"rate": "10 Gbps", "delay": "0 s"}


def value(one: Any) -> str:
    """Returns a value as TOML has it."""
    if isinstance(one, Mapping):
        return "{ " + ", ".join(f"{key} = {value(inner)}" for key, inner in one.items()) + " }"
    if isinstance(one, list | tuple):
        return "[" + ", ".join(map(value, one)) + "]"
    return json.dumps(one)


def link_lines(link: Link, name: Mapping[str, str], hosts: Iterable[str], source: str) -> Iterator[str]:
    """Gives the lines of one link: what both directions share, then what each has of its own."""
    there, back = link.ways
    place = f"{source}:{link.line}" if link.line else ""
    comment = "; ".join(text for text in (place, *link.why) if text)
    yield "[[links]]" + (f"  # {visible(comment)}" if comment else "")
    yield f"between = {value([name[link.a], name[link.b]])}"
    shared = {key: there[key] for key in there if there[key] == back.get(key)}
    entry: Keys = {"rate": there["rate"], "delay": there["delay"], **shared}
    ends = {link.a, link.b} & set(hosts)
    if "queue" not in entry and len(ends) < 2:
        entry["queue"] = QUEUE
    elif "queue" in shared and ends:
        entry["host_queue"] = shared["queue"]
    for key, one in entry.items():
        yield f"{key} = {value(one)}"
    for word, way in (("forward", there), ("backward", back)):
        own = {key: one for key, one in way.items() if entry.get(key) != one}
        if own:
            yield f"{word} = {value(own)}"


class Ends:
    """The nodes as the scenario has them: names, switches, hosts, and the host of each node that sends or receives."""

    def __init__(self, network: Network, name: dict[str, str]) -> None:
        self.name = name
        self.hosts = [one for one, node in network.nodes.items() if node.forwards is False]
        self.switches = [one for one, node in network.nodes.items() if node.forwards is not False]
        taken = set(name.values())
        self.attached = {} if self.hosts else {one: host_of(name[one], taken) for one in self.switches}

    def host(self, node: str) -> str:
        return self.attached.get(node, self.name[node])

    @property
    def sends(self) -> list[str]:
        return list(self.attached) or self.hosts


def bulk_lines(ends: Ends, pair: tuple[str, str]) -> Iterator[str]:
    a, b = map(ends.host, pair)
    yield f'[[traffic]]  # assumed: the file says nothing of traffic\nname = "bulk"\nkind = "bulk"\nfrom = "{a}"\nto = "{b}"'


def head(network: Network, title: str) -> Iterator[str]:
    """Gives what comes first: where the scenario comes from, what is assumed, what was not taken over."""
    yield f"# Imported by elephan from {visible(network.notes.name)} ({network.format})."
    notes = [*network.notes.lines("assumed"), *network.notes.lines("not taken over")]
    yield from (f"# {line}" for line in notes[:_COMMENTS])
    if len(notes) > _COMMENTS:
        yield f"# ... and {len(notes) - _COMMENTS} more; elephan import prints them all."
    yield f"title = {json.dumps(visible(title))}"
    yield 'duration = "10 s"  # assumed\nwarmup = "1 s"  # assumed\n'


def node_lines(ends: Ends, network: Network) -> Iterator[str]:
    """Gives a table for each node, with its coordinates as a comment that `elephan.scenario.places` reads."""

    def table(kind: str, one: str) -> str:
        return f"[{kind}.{ends.name[one]}]{places.comment(network.nodes[one].place)}"

    yield from (table("hosts", one) for one in ends.hosts)
    yield from (table("switches", one) for one in ends.switches)
    for host in ends.attached.values():
        yield f"[hosts.{host}]"
    yield ""
    if ends.attached:
        yield "# A host at each node, assumed: 10 Gb/s without delay."
    for one, host in ends.attached.items():
        yield f'[[links]]\nbetween = ["{host}", "{ends.name[one]}"]'
        yield from (f'{key} = "{text}"' for key, text in ACCESS.items())
        yield ""
