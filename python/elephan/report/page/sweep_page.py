"""The report of a sweep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elephan.base import many, stats
from elephan.base.errors import InputError
from elephan.base.quantity import show
from elephan.experiment.claims import interval_text
from elephan.experiment.sweep import Sweep
from elephan.report.figure import sweep_effects
from elephan.report.figure.sweep_figures import draw_all
from elephan.report.page import failed_links, variants
from elephan.report.page.notebook import answered
from elephan.report.page.page import Cell, Column, Page, Section, Table, interval_cell, of_failures, parameter_groups
from elephan.report.page.run_page import facts
from elephan.report.words import baseline, wording
from elephan.report.words.baseline import Baseline
from elephan.report.words.effects import Effect, by_statistic
from elephan.report.words.few import few
from elephan.report.words.repeated import NEARLY, said
from elephan.report.words.repeated import REMEDY as REMEDY
from elephan.report.words.swept import Swept
from elephan.statistic import measures, titles

FLAT_NAMED_MAX = 12


def shown(sweep: Sweep) -> list[str]:
    """The statistics that a report shows."""
    return Swept(sweep).shown


def alike(sweep: Sweep, statistics: Sequence[str]) -> bool:
    """Whether repetitions show no difference, as where nothing is random."""
    return Swept(sweep).alike(statistics)


def answer(sweep: Sweep) -> list[str]:
    """Returns how far the first statistics reach, and how two variants differ."""
    return _answer(Swept(sweep))


def _answer(swept: Swept) -> list[str]:
    sweep, statistics = swept.sweep, swept.shown
    if sweep.facts.get("failed"):
        return failed_links.answer(sweep)
    spans = [text for text in (_span(swept, s) for s in statistics[:2]) if text]
    if spans and len(wording.varied(sweep)) == 1 and wording.named(sweep):
        spans[0] += f" ({wording.parameter(wording.varied(sweep)[0])})"
    comparison = _headline(swept, statistics[0]) if statistics else ""
    sentences = [text[0].upper() + text[1:] + "." for text in spans]
    until = sweep.facts.get("until", {})
    reached = [until["words"]] if until.get("reached") else []
    return sentences + ([comparison] if comparison else []) + reached


def _span(swept: Swept, statistic: str) -> str:
    """The variants with the least and the most of a statistic, in words."""
    found = swept.estimates(statistic)
    if np.isnan(found.mean).all():
        return ""
    unit, what = measures.unit_of(statistic), titles.title(statistic)
    low, high = int(np.nanargmin(found.mean)), int(np.nanargmax(found.mean))
    if found.mean[low] == found.mean[high]:
        return f"{what}: {show(float(found.mean[low]), unit)} in all of them"
    least, most = interval_text(found.at(low), unit, 3), interval_text(found.at(high), unit, 3)
    return f"{what}: from {least} with {swept.names[low]} to {most} with {swept.names[high]}"


def _headline(swept: Swept, statistic: str) -> str:
    """With two variants: their difference, seed by seed."""
    if len(swept.labels) != 2:
        return ""
    interval = swept.difference(statistic, np.array([0, 0])).at(1)
    if math.isnan(interval.low):
        return ""
    text = interval_text(*_of_difference(interval, statistic)).replace(" pp", " percentage points")
    what = titles.title(statistic)
    return f"{what[0].upper()}{what[1:]}, {swept.names[1]} less {swept.names[0]} with the same seeds: {text}."


def power(sweep: Sweep, statistic: str) -> str:
    """What its repetitions can see where variants are compared: `10 repetitions can see a difference of 1.2 % ...`; else nothing.

    Of several comparisons the one that needs the largest difference counts.
    """
    swept = Swept(sweep)
    return _power(swept, statistic, _base(swept))


def _power(swept: Swept, statistic: str, base: Baseline) -> str:
    if len(swept.labels) < 2 or swept.repetitions < 2 or swept.alike([statistic]):
        return ""
    values = swept.values(statistic)
    rows = np.flatnonzero((base.rows >= 0) & (base.rows != np.arange(len(base.rows))))
    differences = many.differences(values[rows], values[base.rows[rows]])
    pairs = np.isfinite(differences)
    n = pairs.sum(axis=1)
    known = np.where(pairs, differences, 0.0)
    spread = (known * known).sum(axis=1) - known.sum(axis=1) ** 2 / np.maximum(n, 1)
    seen = []
    for count in {*n.tolist()} - {0, 1}:  # of as many pairs the most spread decides
        worst = int(np.where(n == count, spread, -1.0).argmax())
        mean = abs(float(swept.estimates(statistic).mean[base.rows[rows[worst]]]))
        seen.append((stats.detectable_difference(differences[worst][pairs[worst]]), mean))
    least, mean = max(seen, default=(0.0, 0.0))
    unit = measures.unit_of(statistic)
    if not 0 < least < (1 if unit == "%" else math.inf):  # shares cannot differ by more than 1
        return ""
    relative = least < mean and unit != "%"
    words = show(least / mean, "%", 2) if relative else show(least, unit, 2).replace(" %", " percentage points")
    return said("power", repetitions=swept.repetitions, difference=words, title=titles.title(statistic), what="sweeps")


def _of_difference(interval: stats.Interval, statistic: str) -> tuple[stats.Interval, str]:
    """A difference and its unit: percentages differ by percentage points."""
    unit = measures.unit_of(statistic)
    if unit != "%":
        return interval, unit
    return replace(interval, mean=100 * interval.mean, low=100 * interval.low, high=100 * interval.high), "pp"


def _base(swept: Swept) -> Baseline:
    """What variants are compared with: as it was asked for, or as usual."""
    asked = swept.sweep.facts.get("baseline", "")
    return baseline.chosen(swept, asked) if asked else baseline.usual(swept)


def nearly_alike(swept: Swept) -> list[int]:
    """The variants that drop packets and whose repetitions differ in no statistic by more than `NEARLY` of its mean."""
    statistics = swept.sweep.statistics
    most = np.full(len(swept.labels), -1.0)
    for statistic in statistics:
        most = np.fmax(most, swept.estimates(statistic).spread)
    drops = np.nanmax(swept.values("drops.sum"), axis=1, initial=0.0) if "drops.sum" in statistics else np.ones(len(most))
    return np.flatnonzero((most >= 0) & (most < NEARLY) & (drops > 0)).tolist()


def sweep_warnings(sweep: Sweep) -> list[str]:
    """What a reader of the answer must know before he uses it."""
    return _warnings(Swept(sweep))


def _warnings(swept: Swept) -> list[str]:
    sweep = swept.sweep
    found = [*of_failures(sweep.failures, sweep.facts), *(f"No run has {name}." for name in sweep.missing)]
    if (until := sweep.facts.get("until")) and not until["reached"]:
        found.append(until["words"])
    if swept.repetitions > 1 and swept.alike(swept.shown):
        found.append(said("alike"))
    elif swept.repetitions > 1 and (rows := nearly_alike(swept)):
        which = "all variants" if len(rows) == len(swept.labels) else ", ".join(swept.names[row] for row in rows[:3])
        which += f" and {len(rows) - 3} more" if 3 < len(rows) < len(swept.labels) else ""
        found.append(said("nearly", which=which))
    return found


def flat(sweep: Sweep) -> str:
    """Names the statistics that are the same in all variants, which reports and terminal leave out; nothing if there are none."""
    return _flat(Swept(sweep))


def _flat(swept: Swept) -> str:
    own = [name for name in swept.sweep.facts.get("answering", []) if name in swept.flat] or swept.flat
    left = [name for name in own if name not in swept.shown]
    if not left:
        return ""
    said = []
    for name in left[:FLAT_NAMED_MAX]:
        mean = swept.estimates(name).mean
        mean = mean[~np.isnan(mean)]
        said.append(f"{titles.title(name)} ({show(float(mean[0]), measures.unit_of(name)) if mean.size else 'n/a'})")
    more = f" and {len(left) - FLAT_NAMED_MAX} more" if len(left) > FLAT_NAMED_MAX else ""
    return f"The same in all variants, and left out: {', '.join(said)}{more}."


def _effects(found: dict[str, list[Effect]]) -> Table:
    """A row for each parameter and a column for each statistic: the effect, its interval, and between which values it is."""
    order = {effect.axis.words: None for own in found.values() for effect in own}
    rows = []
    for words in order:
        cells = [Cell(words)]
        for statistic, own in found.items():
            effect = next(one for one in own if one.axis.words == words)
            cell = interval_cell(*_of_difference(effect.interval, statistic), 3)
            cells.append(replace(cell, text="+" * (effect.interval.mean > 0) + cell.text))
        rows.append(cells)
    columns = [Column("parameter"), *(Column(titles.title(statistic), True) for statistic in found)]
    ranges = any(cell.range for row in rows for cell in row)
    note = f"The largest difference between the means of two values of a parameter{', with its 95 % interval' if ranges else ''}."
    return Table(columns, rows, note + (" pp: percentage points." if any(measures.unit_of(s) == "%" for s in found) else ""))


def _fine(swept: Swept) -> str:
    """How much was run, and how intervals are written."""
    said = f"{swept.sweep.size}, the same seeds in each"
    if "filter" in swept.sweep.facts:
        one = swept.sweep.facts["filter"]
        said = f"Only {one['condition']}: {len(swept.labels)} of {one['of']} variants. {said}"
    if swept.repetitions < 2 or swept.alike(swept.shown):
        return f"{said}."
    return f"{said}; brackets are 95 % intervals. {few(swept.repetitions)}".rstrip()


def sections(swept: Swept) -> list[Section]:
    """Returns the figures and tables of a sweep, the first statistic first."""
    if swept.sweep.facts.get("failed"):
        return [*failed_links.sections(swept.sweep), _all_variants(swept)]
    drawings = draw_all(swept, swept.shown)
    parts = [Section("", str(swept.sweep.facts.get("look_for", "")), drawings[:1], look=True)]
    if found := by_statistic(swept, swept.shown):
        drawn = sweep_effects.draw(swept, found)
        parts.append(Section("What each parameter does", "", [drawn], tables=[_effects(found)]))
    parts.append(_all_variants(swept))
    if drawings[1:]:
        parts.append(Section("More figures", drawings=drawings[1:]))
    return parts


def _all_variants(swept: Swept) -> Section:
    base = _base(swept)
    notes = [_flat(swept), _power(swept, swept.shown[0], base)]
    table = variants.data(swept, base, "baseline" in swept.sweep.facts)
    return Section("All variants", " ".join(filter(None, notes)), variants=table)


def page(sweep: Sweep) -> Page:
    """The page of a sweep."""
    swept = Swept(sweep)
    if not swept.shown:
        raise InputError(f"no run of the sweep {sweep.name} has a value of any statistic: there is nothing to report")
    manifest = sweep.manifest()
    return Page(
        kicker=f"elephan · sweep of {sweep.name}",
        title=str(sweep.facts.get("title") or sweep.name),
        question=str(sweep.facts.get("question", "")),
        answer=_answer(swept),
        fine=_fine(swept),
        warnings=_warnings(swept),
        version=str(manifest["elephan"]),
        command=str(manifest["command"]),
        sections=sections(swept),
        parameters=parameter_groups(sweep.facts["first"]["provenance"]),
        facts=facts(manifest),
    )


def notebook(sweep: Sweep) -> str:
    """A sweep in a notebook."""
    swept = Swept(sweep)
    statistics = swept.shown[:5]
    of = [(swept.estimates(s), measures.unit_of(s)) for s in statistics]
    rows = [
        [Cell(label), *(Cell(interval_text(found.at(row), unit, 3)) for found, unit in of)]
        for row, label in enumerate(sweep.labels)
    ]
    table = Table([Column(head) for head in ("variant", *statistics)], rows)
    return answered(sweep.name, [*filter(None, [_flat(swept)])], _warnings(swept), draw_all(swept, statistics[:1]), [table])
