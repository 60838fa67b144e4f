"""Parallel programs in words: how long iterations took, and who held them back."""

from __future__ import annotations

from collections import Counter

import numpy as np

from elephan.base.quantity import counted, show
from elephan.report.words.view import arrow
from elephan.result.run import Run
from elephan.statistic import needs
from elephan.table.rows import column, texts

# Of the time of an iteration that somebody held back, to be worth a word.
LEAST = 0.1


def slowest(run: Run) -> int:
    """The row of the iteration that took longest, among those that ended."""
    return int(np.nanargmax(column(run.iterations, "end_ns") - column(run.iterations, "begin_ns")))


def named(run: Run, row: int) -> str:
    """`train, iteration 3`: the row of an iteration."""
    rows = run.iterations
    group = f", group {int(column(rows, 'group')[row])}" if column(rows, "group").max() > 0 else ""
    return f"{texts(rows, 'traffic')[row]}{group}, iteration {int(column(rows, 'iteration')[row])}"


def held(run: Run, row: int) -> str:
    """Who held an iteration back; nothing if nobody did."""
    rows = run.iterations
    who, to = texts(rows, "straggler")[row], texts(rows, "straggler_to")[row]
    if not _matters(run)[row]:
        return ""
    by = show(float(column(rows, "straggler_ns")[row]), "ns")
    if not to:
        return f"{who} held it back: it computed {by} longer than the mean of all."
    link = arrow(texts(rows, "straggling_link")[row])
    return f"Messages from {who} to {to} held it back by {by}; the busiest link on their way was {link}."


def _matters(run: Run) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which iterations somebody held back by more than a hair."""
    rows = run.iterations
    return np.asarray(column(rows, "straggler_ns") > LEAST * (column(rows, "end_ns") - column(rows, "begin_ns")), dtype=bool)


def iterations(run: Run) -> str:
    """How long iterations took beside what they take alone, and the straggler of most: of those that began after the warm-up."""
    if needs.iterations(run.resolved) or not run.iterations.num_rows:
        return ""
    rows = run.iterations
    counted_in = column(rows, "begin_ns") >= run.warmup_ns
    ended = np.isfinite(column(rows, "end_ns")) & counted_in
    done, begun = int(ended.sum()), int(counted_in.sum())
    stuck = [f" It never can: {words}." for words in texts(rows, "stuck") if words]
    if not begun:
        return "All iterations of ranks began within the warm-up."
    if not done:
        return f"None of {counted(begun, 'iteration')} of ranks came to its end.{''.join(stuck[:1])}"
    took = (column(rows, "end_ns") - column(rows, "begin_ns"))[ended]
    which = counted(done, "iteration") if done == begun else f"{done} of {counted(begun, 'iteration')}"
    said = f"{which} of ranks took {show(float(took.mean()), 'ns')}{' on average' if done > 1 else ''}"
    slowdowns = column(rows, "slowdown")[ended]
    if np.isfinite(slowdowns).any():
        slowdown = show(float(np.nanmean(slowdowns)))
        said += ", as long as alone in the network" if slowdown == "1" else f", {slowdown} times as long as alone in the network"
    bus = column(rows, "bus_bps")[ended]
    said += f"; the bus bandwidth was {show(float(np.nanmean(bus)), 'bps')}." if np.isfinite(bus).any() else "."
    said += f" The others never can end: {stuck[0].removeprefix(' It never can: ')}" if stuck and done < begun else ""
    if done == 1:
        return " ".join(part for part in (said, held(run, int(np.flatnonzero(ended)[0]))) if part)
    pairs = zip(texts(rows, "straggler"), texts(rows, "straggler_to"), strict=True)
    who = Counter(pair for pair, late in zip(pairs, _matters(run) & ended, strict=True) if late)
    if not who:
        return said
    (straggler, to), times = who.most_common(1)[0]
    how = f"Messages from {straggler} to {to} held" if to else f"{straggler} computed longest and held"
    return f"{said} {how} {times} of them back."
