"""Which way packets take through ports: a line for those that are alike but for the numbers in their names."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from elephan.report.screen import grid


def _folded(text: str) -> str:
    """A text with the numbers of nodes left out: `edge[3]->host[12]` is one of `edge[]->host[]`."""
    return re.sub(r"\[\d+\]", "[]", text)


def ways_table(ways: Sequence[Mapping[str, Any]]) -> Table:
    """Returns a table of ports, how many there are, the way through them, and why they need a queue. A port without others like it
    has its full name.
    """
    alike = defaultdict[tuple[str, ...], list[Mapping[str, Any]]](list)
    for one in ways:
        alike[_folded(one["port"]), one["way"], *map(_folded, one["because"])].append(one)
    table = grid("port", "ports", "way", "because", words=("port", "way", "because"))
    for (port, way, *because), found in alike.items():
        if len(found) == 1:
            port, because = found[0]["port"], found[0]["because"]
        table.add_row(port, str(len(found)), way, "; ".join(because))
    return table
