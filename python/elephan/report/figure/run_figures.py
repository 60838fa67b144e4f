"""Figures of one run, by name: which a report shows, and in what order."""

from __future__ import annotations

from elephan.base.declared import read_all
from elephan.base.errors import InputError, nearest
from elephan.report.figure.registry import REGISTRY as REGISTRY
from elephan.report.figure.registry import Kind
from elephan.report.style import Drawing
from elephan.report.words.view import View
from elephan.result.run import Run

read_all("elephan.report.figure.declared")


def known(name: str) -> str:
    """Returns the name of a figure; raises InputError where there is no such figure."""
    if name not in REGISTRY:
        raise InputError(f'no figure "{name}"{nearest(name, list(REGISTRY))}')
    return name


def _ordered(view: View) -> list[Kind]:
    """Returns the figures that have a place in reports of this run, in their order."""
    placed = [(place, kind) for kind in REGISTRY.values() if (place := kind.order(view)) is not None]
    return [kind for _, kind in sorted(placed, key=lambda one: one[0])]


def draw(run: Run, name: str = "") -> Drawing:
    """Draws a figure of a run by name; without a name the first of the figures that the run has data for."""
    view = View(run)
    if not name:
        first = next((kind for kind in _ordered(view) if not kind.missing(view)), None)
        if first is None:
            raise InputError('nothing to draw: the run has no samples; set "record.every"')
        return first.draw(view)
    kind = REGISTRY[known(name)]
    if why := kind.missing(view):
        raise InputError(f'no figure "{name}" of this run: {why}')
    return kind.draw(view)


def of_report(view: View, first: str = "") -> list[Kind]:
    """Returns the figures that a report of a run shows, `first` before the others; what one shows no other shows again."""
    chosen = [REGISTRY[first]] if first in REGISTRY else []
    chosen += [kind for kind in _ordered(view) if kind.page and kind.name != first]
    kept: list[Kind] = []
    for kind in chosen:
        drawn = any(kind.name in other.instead_of or other.name in kind.instead_of for other in kept)
        if not drawn and not kind.missing(view):
            kept.append(kind)
    return kept
