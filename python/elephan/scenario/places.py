"""Where nodes are: their coordinates, which stand as comments beside the tables of nodes in a scenario.

The scenario language has no key for them. `[switches.Gdansk]  # longitude 18.6 latitude 54.2` says where Gdansk is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

Place = tuple[float, float]  # longitude and latitude in degrees
_LINE = re.compile(
    r"^\s*\[(?:switches|hosts)\.(?:\"([^\"\n]+)\"|([^\]\s\"]+))\]\s*#\s*longitude\s+(-?\d+(?:\.\d+)?)\s*,?\s+latitude\s+(-?\d+(?:\.\d+)?)",
    re.MULTILINE,
)


def comment(place: Place | None) -> str:
    """Returns the comment that says where a node is, or nothing.

    >>> from elephan.scenario.places import comment
    >>> comment((18.6, 54.2))
    '  # longitude 18.6 latitude 54.2'
    """
    return "" if place is None else f"  # longitude {_degrees(place[0])} latitude {_degrees(place[1])}"


def _degrees(value: float) -> str:
    return f"{value:.5f}".rstrip("0").rstrip(".")


def places_of(text: str) -> Mapping[str, Place]:
    """Returns the longitude and latitude in degrees of each node of which a scenario in TOML says so.

    >>> from elephan.scenario.places import places_of
    >>> places_of("[switches.Gdansk]  # longitude 18.6 latitude 54.2")
    {'Gdansk': (18.6, 54.2)}
    """
    return {quoted or bare: (float(east), float(north)) for quoted, bare, east, north in _LINE.findall(text)}
