"""The register of figures of one run. Everything about a figure stands in its declaration (`figure`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from elephan.report.style import Drawing
from elephan.report.words.view import View
from elephan.statistic.measure import Need

MORE = "More figures"
OVER_TIME = "Over time"  # its figures zoom together
Order = Callable[[View], float | None]
Draw = Callable[[View], Drawing]


@dataclass(frozen=True)
class Kind:
    """A figure that can be asked for by name."""

    name: str
    about: str  # one line for `elephan list figures`
    draw: Draw
    possible: Callable[[View], bool]  # whether a run has the data
    why_not: str  # why a run that has recorded what is needed may have nothing to show
    needs: tuple[Need, ...] = ()  # what the scenario must record for it; each says what is missing
    order: Order = lambda _view: None  # place among a run's figures; None: drawn only when asked for by name
    page: bool = True  # whether a report shows it; else it is drawn only where a run has no other figure
    section: str = MORE  # heading of a report below which it stands, unless it is the first figure
    instead_of: tuple[str, ...] = ()  # figures that a report leaves out beside this one

    def missing(self, view: View) -> str:
        """Returns why a run lacks what this figure shows: what was not recorded, or else what did not happen."""
        if self.possible(view):
            return ""
        return next((why for need in self.needs if (why := need(view.run.resolved))), self.why_not)


REGISTRY: dict[str, Kind] = {}


def figure(
    name: str,
    about: str,
    possible: Callable[[View], bool],
    *,
    why_not: str,
    needs: tuple[Need, ...] = (),
    order: float | Order | None = None,
    page: bool = True,
    section: str = MORE,
    instead_of: tuple[str, ...] = (),
) -> Callable[[Draw], Draw]:
    """Declares a figure; the arguments are the fields of `Kind`. `order`: the same for all runs, or a function of the run."""
    place: Order = order if callable(order) else lambda _view: order

    def register(function: Draw) -> Draw:
        REGISTRY[name] = Kind(name, about, function, possible, why_not, needs, place, page, section, instead_of)
        return function

    return register


def by_rate(place: float | None, otherwise: float | None = None) -> Order:
    """Returns the order of a figure of runs whose senders have a rate (RDMA), and of the other runs."""
    return lambda view: place if view.by_rate() else otherwise
