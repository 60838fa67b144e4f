"""Figures of a sweep over failed links: which failures cost most, and where these links are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from elephan.base.quantity import show
from elephan.base.stats import Interval
from elephan.experiment.harm import Harm
from elephan.report.figure.dots import dot_columns
from elephan.report.figure.layout import Link, laid_out
from elephan.report.figure.network_map import Class, draw_map
from elephan.report.palette import BLUE, GREEN, ORANGE, SKY, VERMILLION
from elephan.report.style import Drawing
from elephan.report.words.view import arrow
from elephan.scenario.places import places_of

ROWS_MAX = 20
_CLASSES = (
    Class(0.01, "up to 1 %", SKY, 1.4),
    Class(0.02, "1 to 2 %", BLUE, 2.0),
    Class(0.05, "2 to 5 %", GREEN, 2.6),
    Class(0.1, "5 to 10 %", ORANGE, 3.2),
    Class(math.inf, "above 10 %", VERMILLION, 4.0),
)
_NOISE = 0.001  # a share of lost goodput that is as good as none


def name_of(one: Harm) -> str:
    """Returns what a reader calls a failure: its link, and what else its variant sets."""
    return ", ".join(filter(None, (arrow(one.link), one.rest)))


def rows(found: Sequence[Harm]) -> Drawing:
    """Draws the worst failures side by side: what is lost, the busiest port, the slowest transfers."""
    shown = found[:ROWS_MAX]
    columns = [
        ("goodput lost", "%", [("lost", [_point(max(one.lost_share, 0.0)) for one in shown])]),
        ("busiest port", "%", [("busy", [_point(one.busiest) for one in shown])]),
        ("99th percentile", "ns", [("took", [_point(one.slowest_ns) for one in shown])]),
    ]
    known = [one for one in columns if not all(math.isnan(interval.mean) for interval in one[2][0][1])]
    usual = next((one.usual_ns for one in found if not math.isnan(one.usual_ns)), math.nan)
    which = f"The {len(shown)} worst of {len(found)} failures. " if len(found) > len(shown) else ""
    words = f"{which}The 99th percentile is that of the completion times of transfers, or of the latencies of messages."
    words += "" if math.isnan(usual) else f" Without a failure it is {show(usual, 'ns', 3)}."
    return Drawing("failures", "Which link hurts most", words, dot_columns([name_of(one) for one in shown], known))


def _point(value: float) -> Interval:
    return Interval(value, math.nan, math.nan, 0 if math.isnan(value) else 1)


def where(found: Sequence[Harm], scenario: str, links: Sequence[Link]) -> Drawing | None:
    """Draws the network with each link by the goodput that its failure costs; None if nothing can be placed.

    `scenario` is the text that may have coordinates. `links` are those that failed. Of several variants of a link the worst counts.
    """
    worst: dict[Link, Harm] = {}
    for one in found:
        a, b = one.link.split("->")
        if (a, b) not in worst or one.lost_share > worst[a, b].lost_share:
            worst[a, b] = one
    places = laid_out(links, places_of(scenario))
    drawn = [link for link in worst if link[0] in places and link[1] in places]
    if len(drawn) < 3:
        return None
    values, tips = {}, {}
    for a, b in drawn:
        one = worst[a, b]
        share = one.lost_share if one.lost_share > _NOISE else 0.0
        words = f"without {a} → {b}\n{show(max(one.lost_share, 0.0), '%', 3)} of the goodput lost"
        for link in ((a, b), (b, a)):
            values[link], tips[link] = share, words
    caption = "Each link by the goodput that is lost if it fails, as a share of the goodput without a failure."
    return Drawing("failures-map", "Where these links are", caption, draw_map(places, values, _CLASSES, tips, "below 0.1 %"))
