"""What programs returned that hosts ran (`elephan.virtual`): numbers by name, as each of them returned it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.base.errors import nearest
from elephan.statistic.measure import measure
from elephan.table.rows import Array, NoSuchPart

if TYPE_CHECKING:
    from elephan.result.run import Run


def _numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """The numbers in what a program returned, by name: of tables within tables with dots."""
    if isinstance(value, int | float):
        yield path, float(value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _numbers(inner, f"{path}.{key}" if path else str(key))


def numbers(run: Run) -> dict[str, list[float]]:
    """Returns the numbers that programs returned by name, one for each host, in the hosts' order."""
    found: dict[str, list[float]] = {}
    for value in run.summary.get("returned", {}).values():
        for name, number in _numbers(value):
            found.setdefault(name, []).append(number)
    return found


def _of(name: str) -> Callable[[Run], Array]:
    def values(run: Run) -> Array:
        found = numbers(run)
        if name and name not in found:
            raise NoSuchPart(f"no program returned {name}{nearest(name, list(found), 'they returned')}")
        return np.array(found.get(name, []), dtype=float)

    return values


measure("returned", "1", "number that each program returned", _of(""), selected=_of, signed=True, whole=True)
