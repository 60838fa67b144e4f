"""The phases of one flow, of a run or of a capture, in words and as bands behind its rate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from elephan.base.errors import InputError
from elephan.base.quantity import counted, show
from elephan.report.figure import draw as d
from elephan.report.style import BLUE, GREEN, GRID, INK, MUTED, ORANGE
from elephan.report.words.view import View
from elephan.scenario import kinds
from elephan.table.flow_phases import chosen_flow, plateau_bps
from elephan.table.phases import AVOIDANCE, PHASES, STARTUP, STEADY, UNKNOWN, UNSETTLED, Phases

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAINT = {STARTUP: BLUE, AVOIDANCE: ORANGE, STEADY: GREEN, UNSETTLED: MUTED, UNKNOWN: GRID}
ALPHA = 0.16
# What makes the phases of a run worth a figure: a bulk flow with its path to itself, a round trip that is seen, some time off the
# plateau, few bands.
RTT_MIN_NS, ROUND_TRIPS_MIN, MOVING_MIN, BANDS_MAX = 5e6, 50, 0.1, 60
KNOWN = 0.05  # of a time, by which intervals may make it wrong and it is still told as one number
ROOM = 1.12  # above the plateau, for its name


def shade(axes: Axes, found: Phases, per_second: float = 1.0) -> None:
    """A band for each stretch, labelled for a legend; `per_second`: of the unit of the axis."""
    named: set[str] = set()
    for stretch in found.stretches:
        span = stretch.begin_s * per_second, stretch.end_s * per_second
        label = None if stretch.name in named else stretch.name
        axes.axvspan(*span, color=PAINT[stretch.name], alpha=ALPHA, linewidth=0, label=label)
        named.add(stretch.name)


def plot(
    axes: Axes,
    found: Phases,
    time_ns: d.Array,
    total: d.Array,
    end_ns: float,
    round_ns: float,
    beside: Mapping[str, tuple[int, d.Array, d.Array]] | None = None,
    shown_ns: float | None = None,
) -> None:
    """The rate of a flow, from what was delivered by when, over its phases; `round_ns`: its usual round trip; `beside`: other such
    series, dashed; `shown_ns`: how long the time is that the axis shows, if it does not begin at 0.
    """
    # Whole round trips: a window leaves in a burst, and two of them now and one then would draw a saw.
    width = d.whole_rounds(max((end_ns if shown_ns is None else shown_ns) / 400, found.interval_s * 1e9), round_ns)
    time, rate = d.rates(time_ns, total, width, round_ns)
    others = {label: d.rates(times, amount, width, round_ns) for label, (_, times, amount) in (beside or {}).items()}
    top = max(
        [float(rate.max(initial=0)), ROOM * found.plateau_bps, *(float(other.max()) for _, other in others.values() if other.size)]
    )
    factor = d.value_axis(axes, f"goodput in windows of {show(width, 'ns')}", top, "bps")
    x = d.time_scale(end_ns)[0]
    shade(axes, found, x * 1e9)
    axes.plot(*d.thin(time * x, rate * factor), color=INK, linewidth=1.0)
    for label, (at, other) in others.items():
        axes.plot(*d.thin(at * x, other * factor), color=INK, dashes=(4, 3), linewidth=0.9, label=label)
    name = "plateau" if found.path_known else "best reached"
    d.reference(axes, found.plateau_bps * factor, f"{name} {show(found.plateau_bps, 'bps')}", "right")
    d.legend_below(axes)


def _lasting(seconds: float) -> str:
    """A time as one says it: 51.2 s, 23 min, 5.1 h."""
    if seconds < 120:
        return show(seconds, "s")
    return f"{show(seconds / 60, '1', 2)} min" if seconds < 7200 else f"{show(seconds / 3600, '1', 2)} h"


def recovery_line(found: Phases, cut: str = "cut") -> str:
    """Whether it recovers before it finishes; to its own best rate, where nobody knows what its path carries, only how soon.
    `cut`: what its last reduction is called.
    """
    plateau = f"its plateau of {show(found.plateau_bps, 'bps')}" if found.path_known else _best(found)
    if math.isnan(found.recovery_s):
        return f"Too little of it is seen since its last {cut} to say whether it will recover." if found.cuts else ""
    if found.recovery_s == 0:
        late = found.recovered_s
        back = "back at" if found.path_known else "at"
        return "" if math.isnan(late) else f"It was {back} {plateau} {_lasting(late)} after its last {cut}."
    if math.isinf(found.recovery_s):
        if found.cuts:
            return f"After its last {cut} it stayed below {plateau} and did not grow."
        return (
            f"It stayed below the {show(found.plateau_bps, 'bps')} that the path carries, without a {cut}."
            if found.path_known
            else ""
        )
    return _recovery_ahead(found, plateau)


def _recovery_ahead(found: Phases, plateau: str) -> str:
    """What is said of a recovery that takes a while yet, or would have."""
    time, more, left = _lasting(found.recovery_s), show(found.recovery_bytes, "bytes"), found.remaining_bytes
    if left == 0:
        what = "It did not recover before it finished" if found.path_known else "It finished below its best"
        return f"{what}: at its pace it would have been back at {plateau} {time} later."
    comes = f"at its pace it is back at {plateau} in {time}, after {more} more"
    alone = comes[0].upper() + comes[1:]
    if math.isnan(left):
        verdict = ": with less than that to send it will probably not recover before it finishes" if found.path_known else ""
        return f"{alone}{verdict}."
    sends = f", and has {show(left, 'bytes')} to send."
    if not found.path_known:
        return alone + sends
    return f"It {'will probably' if found.recovers else 'will probably not'} recover before it finishes: {comes}{sends}"


def _best(found: Phases) -> str:
    return f"the best that this flow has reached ({show(found.plateau_bps, 'bps')})"


def _startup(found: Phases) -> str:
    """How long startup took, as far as the intervals of the series tell it."""
    lasted, step = found.startup_s, found.interval_s
    if math.isnan(lasted):
        return f"How long its {STARTUP} took is unknown, since samples are {show(step, 's')} apart"
    if found.coarse and step > KNOWN * lasted:
        return f"Its {STARTUP} took {show(lasted - step, 's', 3)} to {show(lasted, 's', 3)}"
    return f"Its {STARTUP} took {show(lasted, 's', 3)}"


def phase_lines(found: Phases, knows_cuts: bool = True) -> list[str]:
    """Its phases, and whether it recovers. `knows_cuts`: its cuts were seen, not taken from its rate."""
    slope = f", doubling {found.slope_per_rtt:.2f} times a round trip" if found.slope_per_rtt > 0 else ""
    spent = [f"{show(found.share(name), '%', 2)} {name}" for name in PHASES if found.share(name) > 0.005]
    cuts = f"{counted(found.cuts, 'cut') if found.cuts else 'no cut'} of the window"
    known = f"; {cuts}" if knows_cuts else ""
    lines = [f"{_startup(found)}{slope}; of the time {', '.join(spent)}{known}."]
    if said := recovery_line(found, "cut" if knows_cuts else "fall"):
        lines.append(said)
    if not found.path_known and _best(found) not in said:
        lines.append(f"The best that this flow has reached is {show(found.plateau_bps, 'bps')}.")
    return lines


def telling(view: View) -> Phases | None:
    """The phases of the largest flow of a run, if it is a long bulk one and they say something."""
    bulk = [entry.get("name") for entry in view.run.resolved.get("traffic", []) if kinds.traffic(entry).get("is_stream")]
    if not bulk:
        return None
    try:
        flow = chosen_flow(view.run)
        found = view.run.phases() if view.traffic[flow["flow"]] in bulk and plateau_bps(view.run, flow) else None
    except InputError:
        return None
    if found is None or flow["min_rtt_ns"] < RTT_MIN_NS:
        return None
    lasted_ns = (found.stretches[-1].end_s - found.stretches[0].begin_s) * 1e9
    moving = found.share(STARTUP) + found.share(AVOIDANCE) >= MOVING_MIN
    long = lasted_ns >= ROUND_TRIPS_MIN * flow["min_rtt_ns"]
    return found if long and moving and len(found.stretches) <= BANDS_MAX else None
