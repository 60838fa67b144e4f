"""The figure of what a source leaves open: which assumption moves which claim of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.experiment.claims import FAILS, HOLDS
from elephan.report.figure import draw as d
from elephan.report.style import GREEN, INK, MUTED, VERMILLION, Drawing, new_figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elephan.experiment.readings import Dependence

AS_TAKEN = "as the study takes it"
CLAIMS_MAX = 30
_MARKS = {HOLDS: ("o", GREEN, "holds"), FAILS: ("x", VERMILLION, "fails"), "": ("_", MUTED, "stays open")}


def moved(dependences: Mapping[str, Dependence]) -> list[Dependence]:
    """Returns the claims whose verdict some setting changes."""
    return [one for one in dependences.values() if any(verdict != one.base for _, verdict in one.each)]


def readings_figure(dependences: Mapping[str, Dependence]) -> Drawing | None:
    """A mark for each verdict: a row for each setting, a column for each claim that a setting moves; None without such a claim."""
    claims = moved(dependences)[:CLAIMS_MAX]
    if not claims:
        return None
    labels = list(dict.fromkeys([AS_TAKEN, *(setting.label for one in claims for setting, _ in one.each)]))
    figure, (axes,) = new_figure(height=1.3 + 0.23 * len(labels))
    for verdict, (marker, paint, name) in _MARKS.items():
        at = [
            (column, row)
            for column, one in enumerate(claims)
            for row, found in _rows(one, labels)
            if (found if found in (HOLDS, FAILS) else "") == verdict
        ]
        if at:
            x, y = zip(*at, strict=True)
            axes.plot(x, y, marker, color=paint, markersize=6, label=name)
    axes.set_xlim(-0.6, len(claims) - 0.4)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xticks(range(len(claims)), [one.claim.id for one in claims], rotation=90 if len(claims) > 5 else 0)
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(length=0, labelcolor=INK)
    for side in ("left", "bottom"):
        d.hide_spine(axes, side)
    d.legend_below(axes)
    left = len(moved(dependences)) - len(claims)
    caption = (
        "A row for each reading of what the source leaves open, changed by itself, then for random combinations of all. A column "
        "for each claim whose verdict a row changes. Where there is no mark the claim does not look at what the row changes."
    )
    caption += f" {left} more claims are in the table." if left else ""
    return Drawing("readings", "Which assumption moves which claim", caption, figure)


def _rows(one: Dependence, labels: Sequence[str]) -> list[tuple[int, str]]:
    found = [(AS_TAKEN, one.base), *((setting.label, verdict) for setting, verdict in one.each)]
    return [(labels.index(label), verdict) for label, verdict in found]
