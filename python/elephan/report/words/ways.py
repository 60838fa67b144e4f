"""Which way packets take through ports: a line for those that are alike but for the numbers in their names."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from elephan.report.screen import grid


def _folded(text: str) -> str:
    """A text with the numbers of nodes left out: `edge[3]->host[12]` is one of `edge[]->host[]`."""
    return re.sub(r"\[\d+\]", "[]", text)


def ways_table(ways: Sequence[Mapping[str, Any]]) -> Table:
    """Returns a table of ports, how many there are, the way through them, and what keeps them from being faster."""
    alike = Counter((_folded(one["port"]), one["way"], tuple(map(_folded, one["because"]))) for one in ways)
    table = grid("port", "ports", "way", "because", words=("port", "way", "because"))
    for (port, way, because), count in alike.items():
        table.add_row(port, str(count), way, "; ".join(because))
    return table
