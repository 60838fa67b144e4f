"""What a foreign file says of a network, before it becomes a scenario: nodes, links, demands, and what was not taken over."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from elephan.base.errors import InputError, visible
from elephan.base.quantity import bits_per_second, seconds
from elephan.scenario.places import Place

KM_PER_MS = 200.0  # light in glass: a refractive index of 1.5
EARTH_KM = 6371.0  # the mean radius
Keys = dict[str, Any]  # keys of a link as the scenario language has them


@dataclass
class Node:
    """A node as its file names it. `forwards` says whether it is a switch; None if the file does not say.

    `people` is its population. `place` and `people` are None if the file does not say.
    """

    name: str
    line: int
    forwards: bool | None = None
    place: Place | None = None
    people: float | None = None


@dataclass
class Link:
    """A link between two nodes; `ways` has what differs: the keys from `a` to `b`, and from `b` to `a`.

    `beside` has, for each direction, the keys of further links between the same nodes.
    """

    a: str
    b: str
    line: int
    ways: tuple[Keys, Keys] = field(default_factory=lambda: ({}, {}))
    ports: tuple[str, str] = ("", "")
    why: list[str] = field(default_factory=list)
    beside: tuple[list[Keys], list[Keys]] = field(default_factory=lambda: ([], []))

    def both(self, **keys: Any) -> None:
        """Sets keys of both directions."""
        for way in self.ways:
            way.update(keys)


class Notes:
    """What a person must know: what was not taken over, and what was assumed. Equal notes are one, with a count."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._found: dict[tuple[str, str, str], list[int]] = {}

    def left_out(self, line: int, what: str, name: str = "") -> None:
        self._found.setdefault(("not taken over", what, name or self.name), []).append(line)

    def assumed(self, line: int, what: str, name: str = "") -> None:
        self._found.setdefault(("assumed", what, name or self.name), []).append(line)

    def lines(self, kind: str = "") -> list[str]:
        """Returns the notes as lines for a terminal: file, line, what; `kind` chooses some."""
        return [
            visible(f"{name}{f':{min(lines)}' if min(lines) else ''}: {one}: {what}{_also(lines)}")
            for (one, what, name), lines in self._found.items()
            if kind in ("", one)
        ]


def _also(lines: list[int]) -> str:
    others = sorted({line for line in lines if line} - {min(lines)})
    if not others:
        return f" ({len(lines)} times)" if len(lines) > 1 else ""
    return f" (also line{'s' if len(others) > 1 else ''} {', '.join(map(str, others[:5]))}{' ...' if len(others) > 5 else ''})"


@dataclass
class Network:
    """A foreign network. `demands` is offered load in a unit of its own, by pairs of nodes."""

    notes: Notes
    format: str
    nodes: dict[str, Node] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    demands: dict[tuple[str, str], float] = field(default_factory=dict)
    matrix: bool = False  # whether `demands` are those of a file
    by_id: dict[str, str] = field(default_factory=dict)  # the names of nodes by what their file calls them

    def fail(self, line: int, what: str) -> InputError:
        return wrong(self.notes.name, line, what)

    def join(self, link: Link, both: bool = True) -> None:
        """Adds a link. A link to the node itself is left out and told.

        A scenario has one link between two nodes, so links side by side are kept as one link with their rates together
        (`bundled`). `both` is false if the link is one direction of a directed graph.
        """
        if link.a == link.b:
            self.notes.left_out(link.line, f"the link of {link.a} to itself")
        elif (other := self.between(link.a, link.b)) is not None:
            turned = other.a != link.a
            for way in (0, 1) if both else (0,):
                other.beside[way ^ turned].append(link.ways[way])
            self._bundled.setdefault(id(other), (other, link.line))
        else:
            self.links.append(link)
            self._by_pair[frozenset((link.a, link.b))] = link

    def bundle(self, rate: str) -> None:
        """Gives each link the rates of the links beside it, and tells so; `rate` is that of a link without one."""
        for link, line in self._bundled.values():
            for way, others in zip(link.ways, link.beside, strict=True):
                way["rate"] = rate_text(sum(rate_bps({"rate": rate, **one}) for one in (way, *others)))
            count = 1 + max(map(len, link.beside))
            link.why.append(f"{count} links side by side")
            what = f"the {count} links between {link.a} and {link.b} are one with their rates together and the delay of the first"
            self.notes.assumed(line, f"{what}: a scenario has one link between two nodes")

    def __post_init__(self) -> None:
        self._by_pair: dict[frozenset[str], Link] = {}
        self._bundled: dict[int, tuple[Link, int]] = {}

    def between(self, a: str, b: str) -> Link | None:
        """Returns the link between two nodes, whichever is first."""
        return self._by_pair.get(frozenset((a, b)))

    def neighbours(self) -> dict[str, list[str]]:
        """Returns the neighbours of each node, in the order of the links."""
        found: dict[str, list[str]] = {name: [] for name in self.nodes}
        for link in self.links:
            found[link.a].append(link.b)
            found[link.b].append(link.a)
        return found


def wrong(name: str, line: int, what: str) -> InputError:
    """Returns the error of a bad file: one line with file and line."""
    return InputError(f"{name}:{line}: {' '.join(what.split())}" if line else f"{name}: {' '.join(what.split())}")


def rate_text(bps: float) -> str:
    """Returns a rate as a scenario has it, to the bit a second."""
    whole = max(1, round(bps))
    for factor, unit in ((10**12, "Tbps"), (10**9, "Gbps"), (10**6, "Mbps"), (10**3, "kbps")):
        if whole >= factor:
            return f"{_plain(whole, factor)} {unit}"
    return f"{whole} bps"


def time_text(time_s: float) -> str:
    """Returns a time as a scenario has it, to the picosecond."""
    picoseconds = round(time_s * 1e12)
    for factor, unit in ((10**12, "s"), (10**9, "ms"), (10**6, "us"), (10**3, "ns")):
        if picoseconds >= factor:
            return f"{_plain(picoseconds, factor)} {unit}"
    return f"{picoseconds} ps" if picoseconds else "0 s"


def _plain(whole: int, factor: int) -> str:
    front, rest = divmod(whole, factor)
    digits = str(rest).zfill(len(str(factor)) - 1).rstrip("0")
    return f"{front}.{digits}" if digits else str(front)


def delay_of_km(km: float) -> str:
    """Returns the delay of a fibre: 200 km take 1 ms. Rounded to the nanosecond."""
    return time_text(round(km / KM_PER_MS * 1e6) / 1e9)


def great_circle_km(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Returns the distance of two places on the earth, each (longitude, latitude) in degrees."""
    (east_a, north_a), (east_b, north_b) = (tuple(math.radians(x) for x in place) for place in (a, b))
    half = math.sin((north_b - north_a) / 2) ** 2 + math.cos(north_a) * math.cos(north_b) * math.sin((east_b - east_a) / 2) ** 2
    return 2 * EARTH_KM * math.asin(min(1.0, math.sqrt(half)))


_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*$")
_PREFIX = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_RATE = re.compile(r"([kmgt]?)(?:(?:b|bit|bits)(?:ps|/s|/sec)?|ps)?$", re.IGNORECASE)
_TIMES = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "msec": 1e-3, "us": 1e-6, "usec": 1e-6, "µs": 1e-6, "ns": 1e-9}
_LENGTHS = {"km": 1.0, "m": 1e-3, "mi": 1.609344, "miles": 1.609344}


def number_and_unit(value: Any) -> tuple[float, str] | None:
    """Returns the number with which a value begins and its unit, or None."""
    found = _NUMBER.match(str(value)) if not isinstance(value, bool) else None
    if found is None or not math.isfinite(float(found[1])):
        return None
    return float(found[1]), found[2]


def rate_of(value: Any) -> float | None:
    """Returns a rate in bit/s of `10 Gbit/s`, `100M` or a bare number of bit/s, or None."""
    found = number_and_unit(value)
    unit = _RATE.match(found[1]) if found else None
    if found is None or unit is None or not 1 <= (rate := found[0] * _PREFIX[unit[1].lower()]) <= 1e14:
        return None
    return rate


def time_of(value: Any, bare_s: float) -> float | None:
    """Returns a time in seconds, or None; a bare number counts in `bare_s`."""
    found = number_and_unit(value)
    if found is None or not (factor := _TIMES.get(found[1], 0.0) if found[1] else bare_s):
        return None
    return found[0] * factor if 0 <= found[0] * factor < 1e6 else None


def km_of(value: Any) -> float | None:
    """Returns a length in km, or None; a bare number is km."""
    found = number_and_unit(value)
    if found is None or (factor := _LENGTHS.get(found[1] or "km")) is None or not 0 <= found[0] * factor < 1e7:
        return None
    return found[0] * factor


def share_of(value: Any, bare: float = 1.0) -> float | None:
    """Returns a share of `1%` or of a bare number, whose 1 is `bare`; or None."""
    found = number_and_unit(value)
    if found is None or found[1] not in ("", "%"):
        return None
    share = round(found[0] * (0.01 if found[1] else bare), 12)
    return share if 0 <= share <= 1 else None


def rate_bps(way: Mapping[str, Any]) -> float:
    return bits_per_second(str(way["rate"]))


def delay_s(way: Mapping[str, Any]) -> float:
    return seconds(str(way.get("delay", "0 s")))


def mended(name: str) -> str:
    """Returns a name with letters, digits, _ and - only."""
    plain = "".join(one for one in unicodedata.normalize("NFKD", name) if not unicodedata.combining(one))
    return re.sub(r"[^A-Za-z0-9_]+", "-", plain).strip("-") or "node"
