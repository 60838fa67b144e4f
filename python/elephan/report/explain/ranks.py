"""Rules of `explain` about parallel programs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from elephan.base.quantity import counted, show
from elephan.report.explain.facts import Facts
from elephan.report.explain.finding import Finding
from elephan.report.words.ranks import LEAST
from elephan.report.words.view import arrow
from elephan.statistic import needs
from elephan.table.rows import column, texts


def straggler(facts: Facts) -> Iterator[Finding]:
    """Who held iterations of ranks back: a rank that computed longer than others, or messages that took longer than alone."""
    if needs.iterations(facts.run.resolved):
        return
    rows = facts.run.iterations
    ended = np.isfinite(column(rows, "end_ns")) & (column(rows, "begin_ns") >= facts.run.warmup_ns)
    took = float((column(rows, "end_ns") - column(rows, "begin_ns"))[ended].sum())
    names = ("traffic", "straggler", "straggler_to", "straggling_link")
    held: dict[tuple[str, ...], list[float]] = {}
    for key, by, over in zip(
        zip(*(texts(rows, name) for name in names), strict=True), column(rows, "straggler_ns"), ended, strict=True
    ):
        if over and key[1]:
            held.setdefault(key, []).append(float(by))
    for (_, who, to, link), by in sorted(held.items(), key=lambda one: -sum(one[1])):
        if sum(by) < LEAST * took:
            return
        of = f"{len(by)} of {counted(int(ended.sum()), 'iteration')}"
        lasted = f"by {show(sum(by), 'ns')} of the {show(took, 'ns')} that all took"
        if to:
            where = f"the busiest link on their way was {arrow(link)}.{_slower(facts, link)}"
            text = f"Messages from {who} to {to} held back {of}, {lasted}; {where}"
            yield Finding("straggler", text, port=link, help=_help(facts, link))
        else:
            yield Finding("straggler", f"{who} computed longer than the mean of all ranks and held back {of}, {lasted}.")


def _rate(facts: Facts, link: str) -> float:
    rates = dict(zip(texts(facts.run.ports, "name"), column(facts.run.ports, "rate_bps"), strict=True))
    return float(rates.get(link, np.nan))


def _fastest(facts: Facts) -> float:
    return float(column(facts.run.ports, "rate_bps").max())


def _slower(facts: Facts, link: str) -> str:
    """That a link is slower than the fastest, if it is."""
    own, most = _rate(facts, link), _fastest(facts)
    return f" Its rate is {show(own, 'bps')}, that of the fastest link {show(most, 'bps')}." if own < most else ""


def _help(facts: Facts, link: str) -> str:
    if _rate(facts, link) < _fastest(facts):
        return "give the link the rate of the others, or a way around it."
    switches = sum(int(group.get("count", 1)) for group in facts.run.resolved.get("switches", {}).values())
    if switches < 2:
        return ""
    return 'let neighbours be at one switch (order = "packed"), or spray packets over all paths (ecmp = "packet").'
