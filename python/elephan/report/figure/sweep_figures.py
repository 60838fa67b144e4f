"""Figures of a sweep: a statistic against a parameter, with bands of confidence."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import parse_any, scale_for, show
from elephan.base.stats import NOTHING
from elephan.experiment.claims import interval_text
from elephan.experiment.sweep import Sweep
from elephan.experiment.trials import Variant, as_text
from elephan.report.figure import draw as d
from elephan.report.figure.dots import dot_columns, wide
from elephan.report.style import SERIES, Drawing, color, new_figure
from elephan.report.words import wording
from elephan.statistic import measures, titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Axis:
    """The parameter along x: its path, its values in order, and where they stand."""

    path: str
    values: list[object]
    places: list[float]
    logarithmic: bool


def _number(value: object) -> float:
    if isinstance(value, bool):
        return math.nan
    if isinstance(value, (int, float)):
        return float(value)
    parsed = parse_any(value) if isinstance(value, str) else None
    if parsed is not None:
        return parsed[0]
    if isinstance(value, str) and value.split()[:1]:
        try:
            return float(value.split()[0])  # "100 p", "0.25 bdp"
        except ValueError:
            return math.nan
    return math.nan


def _geometric(numbers: list[float]) -> bool:
    """Whether values are spaced by factors rather than by steps."""
    if numbers[0] <= 0 or numbers[-1] / numbers[0] < 8:
        return False
    steps, factors = np.diff(numbers), np.diff(np.log(numbers))
    return bool(factors.std() / factors.mean() < steps.std() / steps.mean())


def x_axis(sweep: Sweep) -> Axis | None:
    """The numeric parameter with the most values; without one the parameter with the most values."""
    best: Axis | None = None
    for path in sweep.parameters:
        values = list({as_text(v.parameters.get(path)): v.parameters.get(path) for v in sweep.variants}.values())
        numbers = [_number(value) for value in values]
        numeric = len(values) > 1 and not any(math.isnan(n) for n in numbers)
        if numeric:
            order = np.argsort(numbers)
            values, numbers = [values[i] for i in order], [numbers[i] for i in order]
            candidate = Axis(path, values, numbers, _geometric(numbers))
        else:
            candidate = Axis(path, values, [float(i) for i in range(len(values))], False)
        rank = (numeric, len(values))
        if best is None or rank > (not math.isnan(_number(best.values[0])), len(best.values)):
            best = candidate
    return best


def _groups(sweep: Sweep, axis: Axis) -> dict[str, list[Variant]]:
    """Variants that differ only along x, under the values of the other parameters; all of them where each has its own x (zip)."""
    if len(axis.values) == len(sweep.variants):
        return {"": list(sweep.variants)}
    groups: dict[str, list[Variant]] = {}
    others = [path for path in wording.varied(sweep) if path != axis.path]
    for variant in sweep.variants:
        rest = wording.setting({path: variant.parameters[path] for path in others if path in variant.parameters})
        groups.setdefault(rest, []).append(variant)
    return groups


def _height(lines: int) -> float:
    """Inches of a figure, with room for the names of its lines."""
    return 2.9 + 0.3 * max(0, lines - len(SERIES))


def plot_statistic(axes: Axes, sweep: Sweep, axis: Axis, statistic: str) -> None:
    """One statistic against the parameter, a line per combination of the others."""
    unit = measures.unit_of(statistic)
    found: list[tuple[str, d.Array, d.Array, d.Array, d.Array]] = []
    ends = []
    where = {as_text(value): place for value, place in zip(axis.values, axis.places, strict=True)}
    for name, members in _groups(sweep, axis).items():
        points = sorted(((where[as_text(v.parameters.get(axis.path))], v) for v in members), key=lambda pair: pair[0])
        intervals = [sweep.interval(v.label, statistic) for _, v in points]
        mean, low, high = (np.array([getattr(i, key) for i in intervals]) for key in ("mean", "low", "high"))
        found.append((name, np.array([p for p, _ in points]), mean, low, high))
    top = max((float(np.nanmax(m)) for _, _, m, _, _ in found if not np.isnan(m).all()), default=1.0)
    factor, label = scale_for(top, unit)
    means = np.concatenate([mean for _, _, mean, _, _ in found])
    logarithmic = wide(means.tolist(), unit)
    d.heading(axes, titles.title(statistic) + (" (logarithmic)" if logarithmic else ""), label)
    least = float(np.nanmin(means)) * factor * 0.7 if logarithmic else -np.inf
    for i, (name, x, mean, low, high) in enumerate(found):
        # On a logarithmic axis a band down to 0 ends at its foot.
        d.error_line(
            axes,
            x,
            mean * factor,
            np.maximum(low * factor, least),
            high * factor,
            color(i),
            dashes="-" if i < len(SERIES) else "--",
        )
        last = mean[~np.isnan(mean)]
        ends.append((float(last[-1]) * factor if last.size else 0.0, name, color(i)))
    reach = max(float(np.nanmax(np.nan_to_num(high))) for *_, high in found)
    if logarithmic:
        d.log_axis(axes, "y", least, min(max(reach, top), 1.6 * top) * factor * 1.2)
    else:
        axes.set_ylim(0, min(max(reach, top), 1.6 * top) * factor * 1.08 or 1)
    if axis.logarithmic:
        axes.set_xscale("log")
    d.plain_ticks(axes, axis.places, _spaced([as_text(value) for value in axis.values], axis))
    if len(found) > 1:
        d.end_labels(axes, ends, gap=0.32 / _height(len(found)))


def _spaced(labels: list[str], axis: Axis) -> list[str]:
    """Labels without those that would touch the one before."""
    places = np.log(axis.places) if axis.logarithmic else np.array(axis.places)
    share = (places - places[0]) / (places[-1] - places[0] or 1)
    kept, last = [], -1.0
    for i, label in enumerate(labels):
        room = share[i] - last >= 0.013 * (len(label) + 2) and (
            i == len(labels) - 1 or share[-1] - share[i] >= 0.013 * (len(labels[-1]) + 2)
        )
        kept.append(label if room or i == len(labels) - 1 else "")
        last = share[i] if kept[-1] else last
    return kept


def _rows(sweep: Sweep, axis: Axis, statistic: str) -> Figure:
    """A row for each value that is a name, with a point for each combination of the others; a line would join what has no order."""
    groups, names = _groups(sweep, axis), wording.variants(sweep)
    title, unit = titles.title(statistic), measures.unit_of(statistic)
    if len(groups) == 1:
        return dot_columns(list(names.values()), [(title, unit, [("", [sweep.interval(label, statistic) for label in names])])])
    found = []
    for name, members in groups.items():
        of = {as_text(variant.parameters.get(axis.path)): variant.label for variant in members}
        labels = [of.get(as_text(value)) for value in axis.values]
        found.append((name, [sweep.interval(label, statistic) if label else NOTHING for label in labels]))
    return dot_columns([wording.setting({axis.path: value}) for value in axis.values], [(title, unit, found)])


def draw_all(sweep: Sweep, statistics: list[str]) -> list[Drawing]:
    """A figure for each statistic against the parameter along x, or with a row for each name; nothing when nothing varies."""
    axis = x_axis(sweep)
    if axis is None or len(axis.values) < 2:
        return []
    named = math.isnan(_number(axis.values[0]))
    lines = len(_groups(sweep, axis))
    single = lines == 1
    others = wording.named(sweep) if named and single else [path for path in wording.varied(sweep) if path != axis.path]
    told = (
        f" {'Rows' if named and single else 'Colours' if named else 'Lines'}: {wording.parameter(others[0])}."
        if len(others) == 1
        else ""
    )
    drawings = []
    for statistic in statistics:
        if named:
            fig = _rows(sweep, axis, statistic)
        else:
            fig, (axes,) = new_figure(height=_height(lines))
            plot_statistic(axes, sweep, axis, statistic)
            axes.set_xlabel(wording.parameter(axis.path))
        n = len(sweep.by_seed(sweep.labels[0], statistic))
        band = f"Points are means of {n} runs with their 95 % intervals." if n > 1 else "One run each."
        if n > 1 and alike(sweep, [statistic]):
            band = f"The {n} runs of a point are all alike."
        title = titles.title(statistic)
        name = re.sub(r"[^A-Za-z0-9]+", "-", statistic).strip("-")  # a part in brackets may have any sign
        drawings.append(Drawing(name, title[0].upper() + title[1:], band + told, fig))
    return drawings


def alike(sweep: Sweep, statistics: list[str]) -> bool:
    """Whether repetitions show no difference, as where nothing is random."""
    values = (sweep.by_seed(label, statistic).values() for label in sweep.labels for statistic in statistics)
    return all(len({value for value in one if not math.isnan(value)}) <= 1 for one in values)


def span(sweep: Sweep, statistic: str) -> str:
    """The variants with the least and the most of a statistic, in words."""
    intervals = {label: sweep.interval(label, statistic) for label in sweep.labels}
    known = {label: i for label, i in intervals.items() if not math.isnan(i.mean)}
    if not known:
        return ""
    unit, what, names = measures.unit_of(statistic), titles.title(statistic), wording.variants(sweep)
    low, high = min(known, key=lambda k: known[k].mean), max(known, key=lambda k: known[k].mean)
    if known[low].mean == known[high].mean:
        return f"{what}: {show(known[low].mean, unit)} in all of them"
    least, most = interval_text(known[low], unit, 3), interval_text(known[high], unit, 3)
    return f"{what}: from {least} with {names[low]} to {most} with {names[high]}"
