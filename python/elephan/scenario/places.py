"""Where nodes are: their coordinates, which stand as comments beside the tables of nodes in a scenario.

The scenario language has no key for them. `[switches.Gdansk]  # longitude 18.6 latitude 54.2` says where Gdansk is, in degrees, and
`[switches.R1]  # x 120 y 45` where R1 is on a plane of any unit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_NODE = r"^\s*\[(?:switches|hosts)\.(?:\"([^\"\n]+)\"|([^\]\s\"]+))\]\s*#\s*"
_EARTH = re.compile(rf"{_NODE}longitude\s+{_NUMBER}\s*,?\s+latitude\s+{_NUMBER}", re.MULTILINE)
_PLANE = re.compile(rf"{_NODE}x\s+{_NUMBER}\s*,?\s+y\s+{_NUMBER}", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """Where a node is: its longitude and latitude in degrees, or if `plane` its x and y."""

    x: float
    y: float
    plane: bool = False

    @property
    def degrees(self) -> tuple[float, float] | None:
        """Longitude and latitude; None on a plane."""
        return None if self.plane else (self.x, self.y)


def comment(place: Place | None) -> str:
    """Returns the comment that says where a node is, or nothing.

    >>> from elephan.scenario.places import Place, comment
    >>> comment(Place(18.6, 54.2))
    '  # longitude 18.6 latitude 54.2'
    """
    if place is None:
        return ""
    x, y = ("x", "y") if place.plane else ("longitude", "latitude")
    return f"  # {x} {_plain(place.x)} {y} {_plain(place.y)}"


def _plain(value: float) -> str:
    return f"{value:.5f}".rstrip("0").rstrip(".")


def places_of(text: str) -> dict[str, tuple[float, float]]:
    """Returns x and y of each node of which a scenario in TOML says where it is.

    Of longitudes and latitudes, x is the longitude times the cosine of the mean latitude, and y is the latitude. So lengths to the
    east and to the north have one scale.

    >>> from elephan.scenario.places import places_of
    >>> places_of("[switches.a]  # longitude 10 latitude 60")
    {'a': (5.0, 60.0)}
    """
    found = {quoted or bare: (float(x), float(y)) for quoted, bare, x, y in _PLANE.findall(text)}
    return found or _flat({quoted or bare: (float(x), float(y)) for quoted, bare, x, y in _EARTH.findall(text)})


def _flat(degrees: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    shrink = math.cos(math.radians(sum(north for _, north in degrees.values()) / max(len(degrees), 1)))
    return {name: (float(f"{east * shrink:.9g}"), north) for name, (east, north) in degrees.items()}
