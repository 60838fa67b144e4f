"""Where a map draws nodes: at their coordinates, or, if there are none, so that distances resemble numbers of links."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

NODES_MAX = 1000  # without coordinates: the distances of all pairs are looked at
Place = tuple[float, float]
Link = tuple[str, str]


def laid_out(links: Iterable[Link], places: Mapping[str, Place]) -> dict[str, Place]:
    """Returns x and y of each node that has a link.

    A node without coordinates stands in the middle of its neighbours. If no node has coordinates, classical scaling of the
    numbers of links between nodes places them (Torgerson 1952). It returns nothing for more than `NODES_MAX` such nodes.

    >>> from elephan.report.figure.layout import laid_out
    >>> laid_out([("a", "b"), ("b", "c")], {"a": (0.0, 6.0), "c": (2.0, 6.0)})
    {'a': (0.0, 6.0), 'c': (2.0, 6.0), 'b': (1.0, 6.0)}
    """
    near: dict[str, list[str]] = {}
    for a, b in links:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    found = {name: places[name] for name in near if name in places}
    if not found:
        return _scaled(near) if len(near) <= NODES_MAX else {}
    todo = [name for name in near if name not in found]
    while todo:  # from the known nodes outwards
        between = {name: [found[one] for one in near[name] if one in found] for name in todo}
        next_ones = {name: at for name, at in between.items() if at}
        if not next_ones:
            break
        found |= {name: _middle(at) for name, at in next_ones.items()}
        todo = [name for name in todo if name not in found]
    return found


def _middle(places: Sequence[Place]) -> Place:
    return sum(x for x, _ in places) / len(places), sum(y for _, y in places) / len(places)


def _scaled(near: Mapping[str, Sequence[str]]) -> dict[str, Place]:
    """Returns the two main coordinates of the nodes, whose distances are numbers of links."""
    names = list(near)
    number = {name: i for i, name in enumerate(names)}
    far = np.full((len(names), len(names)), float(len(names)))  # of nodes that do not reach each other
    for i, name in enumerate(names):
        seen, todo = {name: 0}, deque([name])
        while todo:
            one = todo.popleft()
            for other in near[one]:
                if other not in seen:
                    seen[other] = seen[one] + 1
                    todo.append(other)
        for other, hops in seen.items():
            far[i, number[other]] = hops
    squares = far**2
    middle = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-middle / 2)
    best = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    best *= np.where(best[np.abs(best).argmax(axis=0), range(best.shape[1])] < 0, -1.0, 1.0)  # the sign of a vector is arbitrary
    return {name: (float(best[i, -1]), float(best[i, 0])) for i, name in enumerate(names)}
