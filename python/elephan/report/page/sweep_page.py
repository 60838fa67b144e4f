"""The report of a sweep."""

from __future__ import annotations

import math
from dataclasses import replace

from elephan.base import stats
from elephan.base.errors import InputError
from elephan.base.quantity import show
from elephan.experiment.claims import interval_text
from elephan.experiment.sweep import Sweep
from elephan.experiment.trials import as_text
from elephan.report.figure.sweep_figures import alike, draw_all, span, x_axis
from elephan.report.page.notebook import answered
from elephan.report.page.page import Cell, Column, Page, Section, Table, interval_cell, of_failures, parameter_groups
from elephan.report.page.run_page import facts
from elephan.report.words import wording
from elephan.statistic import measures, titles

ALIKE = "The repetitions of a variant are all alike: nothing in them is random."
PHASES = "Where a queue overflows, which flow loses follows from phases (Floyd and Jacobson 1992) that"
_START, _JITTER = 'start = { uniform = ["0 s", "100 ms"] }', 'jitter = { extra = { uniform = ["0 s", "1 ms"] } }'
REMEDY = f"Draw something: {_START} of the traffic, or {_JITTER} of a link."
NEARLY = 1e-3  # of the mean: repetitions whose statistics all differ by less are nearly alike
SHOWN_MAX = 8  # statistics with a figure or a column; all of them are in means.parquet


def shown(sweep: Sweep) -> list[str]:
    """The statistics that a report shows: those that the scenario names, else those that vary."""
    own = [name for name in sweep.facts.get("answering", []) if name in sweep.statistics]
    varying = [s for s in sweep.statistics if len({sweep.interval(label, s).mean for label in sweep.labels}) > 1]
    return (own or list(dict.fromkeys((*varying, *sweep.statistics))))[:SHOWN_MAX]


def _intervals(sweep: Sweep, statistics: list[str]) -> str:
    if len(sweep.trials.seeds) > 1 and alike(sweep, statistics):
        return ALIKE[0].lower() + ALIKE[1:]
    return "brackets are 95 % intervals."


def answer(sweep: Sweep) -> list[str]:
    """Returns how far the first statistics reach, and how two variants differ."""
    statistics = shown(sweep)
    spans = [text for text in (span(sweep, s) for s in statistics[:2]) if text]
    if spans and len(wording.varied(sweep)) == 1 and wording.named(sweep):
        spans[0] += f" ({wording.parameter(wording.varied(sweep)[0])})"
    comparison = _headline(sweep, statistics[0]) if statistics else ""
    sentences = [text[0].upper() + text[1:] + "." for text in spans]
    until = sweep.facts.get("until", {})
    reached = [until["words"]] if until.get("reached") else []
    return sentences + ([comparison] if comparison else []) + reached


def _headline(sweep: Sweep, statistic: str) -> str:
    """With two variants: their difference, seed by seed."""
    if len(sweep.labels) != 2:
        return ""
    a, b = sweep.labels
    interval = _difference(sweep, b, a, statistic)
    if math.isnan(interval.low):
        return ""
    names = wording.variants(sweep)
    text = interval_text(*_of_difference(interval, statistic)).replace(" pp", " percentage points")
    what = titles.title(statistic)
    return f"{what[0].upper()}{what[1:]}, {names[b]} less {names[a]} with the same seeds: {text}."


def power(sweep: Sweep, statistic: str) -> str:
    """What its repetitions can see where variants are compared: `10 repetitions can see a difference of 1.2 % ...`; else nothing.

    Of several comparisons the one that needs the largest difference counts.
    """
    repetitions = len(sweep.trials.seeds)
    if len(sweep.labels) < 2 or repetitions < 2 or alike(sweep, [statistic]):
        return ""
    seen = []
    for label, base in _bases(sweep)[1].items():
        pairs = zip(*sweep.trials.paired(label, base, statistic), strict=True)
        differences = [a - b for a, b in pairs if math.isfinite(a - b)] if label != base else []
        if len(differences) > 1:
            seen.append((stats.detectable_difference(differences), abs(sweep.interval(base, statistic).mean)))
    least, mean = max(seen, default=(0.0, 0.0))
    if not least > 0:
        return ""
    unit = measures.unit_of(statistic)
    relative = least < mean and unit != "%"
    words = show(least / mean, "%", 2) if relative else show(least, unit, 2).replace(" %", " percentage points")
    return (
        f"{repetitions} repetitions can see a difference of {words} in {titles.title(statistic)}: a paired t test at 5 % finds it "
        "in 80 % of such sweeps. Smaller differences may be there and go unseen."
    )


def _difference(sweep: Sweep, a: str, b: str, statistic: str) -> stats.Interval:
    """The difference of two variants; n = 0 where no seed has a value in both."""
    try:
        return sweep.difference(a, b, statistic)
    except ValueError:
        return stats.NOTHING


def _of_difference(interval: stats.Interval, statistic: str) -> tuple[stats.Interval, str]:
    """A difference and its unit: percentages differ by percentage points."""
    unit = measures.unit_of(statistic)
    if unit != "%":
        return interval, unit
    return replace(interval, mean=100 * interval.mean, low=100 * interval.low, high=100 * interval.high), "pp"


def _means(sweep: Sweep, statistics: list[str]) -> Table:
    names = wording.variants(sweep)
    paths = wording.varied(sweep)
    head = wording.parameter(paths[0]) if len(paths) == 1 else "variant"
    columns = [Column(head)] + [Column(titles.title(s), True) for s in statistics]
    rows = []
    for label in sweep.labels:
        cells = [interval_cell(sweep.interval(label, s), measures.unit_of(s)) for s in statistics]
        rows.append([Cell(names[label]), *cells])
    note = "Means over the repetitions with 95 % t intervals below, cut off where a quantity ends: a share at 1, a count at 0."
    if len(sweep.trials.seeds) < 2:
        note = "One run each."
    elif alike(sweep, statistics):
        note = ALIKE
    return Table(columns, rows, note)


def _bases(sweep: Sweep) -> tuple[str, dict[str, str]]:
    """What variants are compared with, in words, and for each label the label of that one.

    The first value of one parameter, the others alike: of the first whose values are names, else of the one along x.
    """
    axis = x_axis(sweep)
    path = next(iter(wording.named(sweep)), axis.path if axis else "")
    first: dict[str, str] = {}
    bases: dict[str, str] = {}
    for variant in sweep.variants:
        rest = as_text({key: value for key, value in variant.parameters.items() if key != path})
        bases[variant.label] = first.setdefault(rest, variant.label)
    base = sweep.variants[0]
    if len(first) == 1 or len(first) == len(sweep.variants):  # nothing else varies, or no two differ in this one alone
        return wording.variants(sweep)[base.label], dict.fromkeys(bases, base.label)
    return f"{wording.setting({path: base.parameters.get(path)})}, all else alike", bases


def _comparisons(sweep: Sweep, statistics: list[str]) -> Table | None:
    """Each variant against a first one, with the same seeds."""
    repetitions = len(sweep.trials.seeds)
    if len(sweep.labels) < 2 or repetitions < 2:
        return None
    names, (base, bases) = wording.variants(sweep), _bases(sweep)
    columns = [Column("difference to " + base)] + [Column(titles.title(s), True) for s in statistics]
    rows = []
    for label in (label for label in sweep.labels if bases[label] != label):
        cells = [Cell(names[label])]
        for statistic in statistics:
            interval = _difference(sweep, label, bases[label], statistic)
            cells.append(interval_cell(*_of_difference(interval, statistic)))
        rows.append(cells)
    note = "Differences between runs with the same seed, mean and 95 % t interval: an interval without 0 is a difference."
    if any(measures.unit_of(statistic) == "%" for statistic in statistics):
        note += " pp: percentage points."
    return Table(columns, rows, f"{note} {power(sweep, statistics[0])}".rstrip())


def nearly_alike(sweep: Sweep) -> list[str]:
    """The labels of variants that drop packets and whose repetitions differ in no statistic by more than `NEARLY` of its mean."""
    found = []
    for label in sweep.labels:
        each = [[v for v in sweep.values(label, s) if not math.isnan(v)] for s in sweep.statistics]
        spreads = [(max(one) - min(one)) / abs(sum(one) / len(one)) for one in each if len(one) > 1 and sum(one) != 0]
        drops = sweep.values(label, "drops.sum") if "drops.sum" in sweep.statistics else [1.0]
        if spreads and max(spreads) < NEARLY and max(drops) > 0:
            found.append(label)
    return found


def sweep_warnings(sweep: Sweep) -> list[str]:
    """What a reader of the answer must know before he uses it."""
    found = [*of_failures(sweep.failures, sweep.facts), *(f"No run has {name}." for name in sweep.missing)]
    if (until := sweep.facts.get("until")) and not until["reached"]:
        found.append(until["words"])
    if len(sweep.trials.seeds) > 1 and alike(sweep, shown(sweep)):
        found.append(f"{ALIKE} {PHASES} no seed changes. {REMEDY}")
    elif len(sweep.trials.seeds) > 1 and (labels := nearly_alike(sweep)):
        which = (
            "all variants" if len(labels) == len(sweep.labels) else ", ".join(wording.variants(sweep)[one] for one in labels[:3])
        )
        which += f" and {len(labels) - 3} more" if 3 < len(labels) < len(sweep.labels) else ""
        found.append(
            f"The repetitions of {which} are nearly alike: no statistic differs by more than {show(NEARLY, '%')} of its mean, and "
            f"packets are dropped. The intervals hold for these very delays, sizes and starts. {PHASES} "
            f"the seeds hardly change. {REMEDY}"
        )
    return found


def page(sweep: Sweep) -> Page:
    """The page of a sweep."""
    statistics = shown(sweep)
    if not statistics:
        raise InputError(f"no run of the sweep {sweep.name} has a value of any statistic: there is nothing to report")
    drawings = draw_all(sweep, statistics)
    tables = [t for t in (_means(sweep, statistics[:5]), _comparisons(sweep, statistics[:5])) if t is not None]
    sections = [Section("", str(sweep.facts.get("look_for", "")), drawings[:1], look=True), Section("Results", tables=tables)]
    if drawings[1:]:
        sections.append(Section("More figures", drawings=drawings[1:]))
    manifest = sweep.manifest()
    return Page(
        kicker=f"elephan · sweep of {sweep.name}",
        title=str(sweep.facts.get("title") or sweep.name),
        question=str(sweep.facts.get("question", "")),
        answer=answer(sweep),
        fine=f"{sweep.size}, the same seeds in each; {_intervals(sweep, statistics)}",
        warnings=sweep_warnings(sweep),
        version=str(manifest["elephan"]),
        command=str(manifest["command"]),
        sections=sections,
        parameters=parameter_groups(sweep.facts["first"]["provenance"]),
        facts=facts(manifest),
    )


def notebook(sweep: Sweep) -> str:
    """A sweep in a notebook."""
    statistics = shown(sweep)[:5]
    rows = [
        [Cell(label), *(Cell(interval_text(sweep.interval(label, s), measures.unit_of(s), 3)) for s in statistics)]
        for label in sweep.labels
    ]
    table = Table([Column(head) for head in ("variant", *statistics)], rows)
    return answered(sweep.name, [], sweep_warnings(sweep), draw_all(sweep, statistics[:1]), [table])
