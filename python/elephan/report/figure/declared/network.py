"""The map of a network: how busy each direction of each link between switches was."""

from __future__ import annotations

from elephan.base.quantity import counted, show
from elephan.report.figure.layout import NODES_MAX, laid_out
from elephan.report.figure.network_map import NAMES_MAX, draw_map, percents
from elephan.report.figure.registry import figure
from elephan.report.style import Drawing
from elephan.report.words.view import View
from elephan.table.network import Direction, directions

FEWEST = 3  # links between switches: fewer are no network


def _drawable(view: View) -> list[Direction]:
    found = directions(view.run)
    nodes = {one.sender for one in found}
    known = bool(view.run.manifest.get("places"))
    return found if len(found) >= 2 * FEWEST and (known or len(nodes) <= NODES_MAX) else []


@figure(
    "map",
    "how busy each link between switches was, on a map",
    lambda v: bool(_drawable(v)),
    why_not=f"it has fewer than {FEWEST} links between switches, or more than {NODES_MAX} switches without coordinates",
    order=lambda v: 5 if v.run.manifest.get("places") else None,
)
def network_map(view: View) -> Drawing:
    found = _drawable(view)
    coordinates = {name: (float(x), float(y)) for name, (x, y) in view.run.manifest.get("places", {}).items()}
    places = laid_out([(one.sender, one.receiver) for one in found], coordinates)
    found = [one for one in found if one.sender in places and one.receiver in places]
    values = {(one.sender, one.receiver): one.utilisation for one in found}
    tips = {
        (one.sender, one.receiver): f"{one.sender} → {one.receiver}\n{show(one.utilisation, '%', 3)} of {show(one.rate_bps, 'bps')}"
        for one in found
    }
    drawn = draw_map(places, values, percents(), tips, "nothing sent")
    most = max(found, key=lambda one: one.utilisation)
    words = [
        "The half of a link next to a node shows what that node sends: how long it was busy after the warm-up.",
        f"The busiest is {most.sender} → {most.receiver} with {show(most.utilisation, '%', 3)}.",
    ]
    if len(places) > NAMES_MAX:
        words.append("Names stand at the ends of the busiest links.")
    if not coordinates:
        words.append("The scenario has no coordinates: nodes that few links separate stand close together.")
    elif lacking := len({*places} - {*coordinates}):
        words.append(f"{counted(lacking, 'node')} without coordinates in the middle of the neighbours.")
    return Drawing("map", "Utilisation of links", " ".join(words), drawn)
