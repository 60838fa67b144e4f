"""`elephan path`: how long a transfer over one long path takes, what limits it, what to set."""

from __future__ import annotations

import contextlib
import json
import math
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan import core, folder, stats
from elephan.errors import ElephanError, InputError, shown
from elephan.longpath.forms import Bounds, Form, bounds, closed_forms, expected_bps
from elephan.longpath.question import SIZE, Question, from_dict, read_question
from elephan.longpath.rest import FORMS_ALONE, LOSING_HALF, ROUGH_ROUNDS, SECOND_HALF
from elephan.longpath.settings import Line, settings
from elephan.longpath.simulate import Result, cases, simulate, tcp_options
from elephan.longpath.verdict import STALL, what_limits
from elephan.pool import check_workers
from elephan.progress import status
from elephan.quantity import show
from elephan.runs import read_seed
from elephan.source import read_text

if TYPE_CHECKING:
    import pyarrow as pa

    from elephan.report.style import Drawing

REPETITIONS_MAX = 1000
ROUGH = 0.5  # of the time: what is carried on from less is only an estimate
NEAR = 1.02  # times as long counts as equal
MARGIN = 1.25  # times its time counts what is only an estimate (assumed)
CHECKED_MAX = 3  # estimated rows that are simulated whole because one of them would be the best ...
CHECKED_PACKETS = 8e6  # ... if a transfer has no more packets
NEARLY_FULL = 0.9  # of the wire: from here on a window that grows makes nothing faster


@dataclass(frozen=True)
class Row:
    """A law with a number of streams: how long, how fast, what limits, how it is known."""

    law: str
    streams: int
    time_s: stats.Interval
    goodput_bps: stats.Interval
    limit: str
    simulated_share: float  # of the time, in the mean
    method: str  # of the rest; empty when all was simulated
    expected_bps: float  # by closed forms alone
    drops: float  # at the bottleneck, in the part that was simulated
    lost: float  # by the path itself, likewise
    stalls: float = 0.0  # segments that the sender's host refused, likewise

    @property
    def name(self) -> str:
        """The law and the streams in words."""
        return f"{self.law} with {self.streams} stream{'' if self.streams == 1 else 's'}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "law": self.law,
            "streams": self.streams,
            "time_s": self.time_s.as_dict(),
            "goodput_bps": self.goodput_bps.as_dict(),
            "limit": self.limit,
            "simulated_share": self.simulated_share,
            "method": self.method,
            "closed_form_goodput_bps": self.expected_bps,
            "drops": self.drops,
            "lost": self.lost,
            "stalls": self.stalls,
        }


def _interval(found: Mapping[str, Any]) -> stats.Interval:
    mean, low, high = (math.nan if found[key] is None else float(found[key]) for key in ("mean", "ci_low", "ci_high"))
    return stats.Interval(mean, low, high, int(found["n"]))


def _row(found: Mapping[str, Any]) -> Row:
    named = {key: found[key] for key in ("law", "streams", "limit", "simulated_share", "method", "drops", "lost", "stalls")}
    times, goodput = _interval(found["time_s"]), _interval(found["goodput_bps"])
    return Row(**named, time_s=times, goodput_bps=goodput, expected_bps=found["closed_form_goodput_bps"])


class Answer:
    """The answer about a path. `rows`: a `Row` for each law and number of streams; `forms`: what needs no simulation."""

    def __init__(
        self,
        question: Question,
        limits: Bounds,
        rows: Sequence[Row],
        curves: Sequence[Mapping[str, Any]],
        facts: Mapping[str, Any],
    ) -> None:
        self.question, self.limits = question, limits
        self.rows = list(rows)
        self.curves = list(curves)  # law, streams, seed, time_s, delivered_bytes, simulated
        self.facts = dict(facts)
        self.drawn: dict[str, Drawing | None] = {}  # figures that the report finds drawn, by name

    @property
    def forms(self) -> list[Form]:
        return closed_forms(self.question, self.limits)

    @property
    def best(self) -> Row:
        """The shortest time; of those within 2 % of it the one with the fewest streams, and not Reno's where it is fragile.

        Rows that are only estimated compete with `MARGIN` times their time.
        """
        shortest = min(self.claimed_s(row) for row in self.rows)
        near = [row for row in self.rows if self.claimed_s(row) <= NEAR * shortest]
        return min(near, key=lambda row: (row.streams, self.is_fragile(row), self.claimed_s(row)))

    def claimed_s(self, row: Row) -> float:
        """Seconds that a row is compared by."""
        return row.time_s.mean * (MARGIN if self.is_rough(row) else 1.0)

    @property
    def known(self) -> list[Row]:
        """The rows that are more than an estimate; all of them if none is."""
        return [row for row in self.rows if not self.is_rough(row)] or self.rows

    def is_rough(self, row: Row) -> bool:
        """Whether a row carries on by a rule that may be wrong there.

        What a law that is not stepped did in half of a simulation says little where packets were lost in it, or its window
        may still have grown, and closed forms say nothing of it; and rounds leave out what costs more than a round trip.
        """
        rules = row.method.split("; ")
        if ROUGH_ROUNDS in rules:
            return row.goodput_bps.mean < NEARLY_FULL * self.limits.top_bps
        if FORMS_ALONE in rules:
            return True
        growing = SECOND_HALF in rules and row.goodput_bps.mean < NEARLY_FULL * self.limits.top_bps
        return (growing or LOSING_HALF in rules) and row.simulated_share < ROUGH

    def is_fragile(self, row: Row) -> bool:
        """Whether a single loss that the simulation did not have would cost Reno the rest of the transfer."""
        back = next(form.value for form in self.forms if form.name == "reno_recovery")
        return row.law.partition(" ")[0] == "reno" and back > row.streams * row.time_s.mean

    @property
    def settings(self) -> list[Line]:
        """Lines for the hosts, for as many streams as the best row has."""
        best = self.best
        stalled = any(row.limit == STALL for row in self.rows)
        return settings(self.question, self.limits, best.streams, best.law, self._why(best), stalled)

    def _why(self, best: Row) -> str:
        """The reason for the law of the best row, compared with others that have as many streams as are advised."""
        why = "the shortest time above"
        limit = NEAR * self.claimed_s(best)
        if min(self.claimed_s(row) for row in self.rows) < self.claimed_s(best):
            why = f"the shortest time with {best.streams} stream{'' if best.streams == 1 else 's'}"
        near = (row for row in self.rows if row.streams == best.streams and self.claimed_s(row) <= limit)
        if as_fast := sorted({row.law for row in near} - {best.law}):
            why = f"{' and '.join(as_fast)} as fast within 2 %"
        if not self.is_rough(best):
            shorter = [row.name for row in self.rows if self.is_rough(row) and row.time_s.mean <= NEAR * best.time_s.mean]
            return f"{why}; only estimated, and no longer: {', '.join(shorter)}" if shorter else why
        first = min(self.known, key=lambda row: row.time_s.mean)
        why += ", by an estimate"
        return why if self.is_rough(first) else f"{why}; of the others the shortest is {first.name}, {show(first.time_s.mean, 's')}"

    @property
    def failures(self) -> list[str]:
        return list(self.facts.get("failures", []))

    def row(self, law: str, streams: int) -> Row:
        """The row of a law with so many streams."""
        for one in self.rows:
            if (one.law, one.streams) == (law, streams):
                return one
        there = ", ".join(f"{one.law} with {one.streams}" for one in self.rows)
        raise InputError(f"no result for {law} with {streams} streams; there are {there}")

    @property
    def curves_table(self) -> pa.Table:
        """What had been delivered when: law, streams, seed, time_s, delivered_bytes, simulated (or carried on)."""
        import pyarrow as pa

        parts = []
        for one in self.curves:
            rows = len(one["time_s"])
            parts.append(pa.table({key: value if key in _ARRAYS else [value] * rows for key, value in one.items()}))
        return pa.concat_tables(parts)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "question": self.question.as_dict(),
            "closed_forms": [form.as_dict() for form in self.forms],
            "results": [row.as_dict() | {"rough": self.is_rough(row)} for row in self.rows],
            "best": {"law": self.best.law, "streams": self.best.streams, "rough": self.is_rough(self.best)},
            "settings": [line.as_dict() for line in self.settings],
            "failures": self.failures,
        }

    def manifest(self) -> dict[str, Any]:
        """How the answer came about; of a loaded one, how it did then."""
        if "manifest" in self.facts:
            return dict(self.facts["manifest"])
        return {
            **folder.manifest_head("path", "path"),
            "seed": self.facts["seed"],
            "runs": len(self.curves),
            "failures": self.failures,
        }

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes the self-contained HTML report."""
        from elephan.report.path_page import write_path_report

        return write_path_report(self, Path(path))

    def save(self, out: str | os.PathLike[str]) -> Path:
        """Writes a result folder: `path.json`, `curves.parquet`, the scenario, the settings, the report."""
        from pyarrow import parquet

        from elephan.report.path_page import write_path_report

        with folder.result_folder(out, "path") as partial:
            folder.write_json(partial / "path.json", self.as_dict())
            folder.write_json(partial / "provenance.json", self.facts["provenance"])
            parquet.write_table(self.curves_table, partial / "curves.parquet")
            (partial / "scenario.toml").write_text(self.facts["scenario"], encoding="utf-8")
            folder.write_json(partial / "manifest.json", self.manifest())
            with folder.drawing():
                write_path_report(self, partial / "report.html", partial / "figures")
        return Path(out)

    def _repr_html_(self) -> str:
        from elephan.report.notebook import path_html

        return shown(path_html(self))

    def __repr__(self) -> str:
        about = "about " if self.is_rough(self.best) else ""
        return shown(f"<elephan.Answer: {about}{self.best.time_s.mean:.4g} s, {self.best.name}>")


_ARRAYS = ("time_s", "delivered_bytes", "simulated")


def path(
    rate: float | str,
    rtt: float | str,
    *,
    buffer: float | str | None = None,
    loss: float | str = 0.0,
    mtu: int | str = 1500,
    streams: str | int | Sequence[int] | None = None,
    size: float | str = SIZE,
    congestion_control: str | Sequence[Any] | None = None,
    stack: str = "rfc",
    window: float | str | None = None,
    host_rate: float | str | None = None,
    txqueuelen: int | str | None = None,
    ring: int | str | None = None,
    pacing: float | str | None = None,
    disk_read: float | str | None = None,
    disk_write: float | str | None = None,
    set: Mapping[str, Any] | None = None,
    repetitions: int | None = None,
    whole: bool = False,
    seed: int = 1,
    workers: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    python_from: Any = None,
) -> Answer:
    """How long `size` takes over a path, for each congestion control and number of streams.

    `rate` in bit/s and `rtt` in s or with units; `buffer` of the bottleneck in bytes or as `"1 bdp"`; `loss` of the path
    per packet; `window`: socket buffers instead of the stack's; `host_rate`: of the hosts' links, the next rate of
    Ethernet above `rate` by default. `txqueuelen` and `ring`: packets that the sender's queue and driver hold; `pacing`: the rate
    of its device; without any of them its queue is without bound. `disk_read`, `disk_write`: rates of the disks at both ends. A
    long transfer is simulated in part, unless `whole`, and carried on by a rule that each row names. Rows without anything
    random are one run, others three unless `repetitions` says otherwise. `python_from`: as of `el.run`.
    """
    question = read_question(
        rate,
        rtt,
        buffer=buffer,
        loss=loss,
        mtu=mtu,
        streams=streams,
        size=size,
        laws=congestion_control,
        stack=stack,
        window=window,
        host_rate=host_rate,
        txqueuelen=txqueuelen,
        ring=ring,
        pacing=pacing,
        disk_read=disk_read,
        disk_write=disk_write,
        set=set,
        python_from=python_from,
    )
    if repetitions is not None and (
        isinstance(repetitions, bool) or not isinstance(repetitions, int) or not 1 <= repetitions <= REPETITIONS_MAX
    ):
        raise InputError(f"repetitions must be a whole number from 1 to {REPETITIONS_MAX}, not {repetitions!r}")
    check_workers(workers)
    seed = read_seed(seed)
    if out is not None:
        folder.check_target(out, "path")
    resolved = core.resolve(question.source(), question.set, seed)
    limits = bounds(question, tcp_options(resolved["toml"]))
    chosen = cases(question, repetitions, seed)
    drawn: dict[str, Drawing | None] = {}
    # Simulations do not need the interpreter: meanwhile it loads what draws and draws the closed forms. No daemon: drawing goes
    # through native code, which an interpreter that ends must not leave in the middle.
    ahead = threading.Thread(target=_draw_ahead, args=(question, limits, drawn))
    if out is not None:
        ahead.start()
    try:
        results, broken = simulate(question, limits, chosen, whole=whole, workers=workers, progress=progress)
    except BaseException:
        if out is not None:
            ahead.join()
        raise
    if not results:
        raise ElephanError(f"every run failed; the first: {broken[0]}")
    answer = _answer(question, limits, results, broken, seed)
    for _ in range(CHECKED_MAX):
        best = answer.best
        if not answer.is_rough(best) or question.size_bytes > CHECKED_PACKETS * limits.mss_bytes:
            break
        mine = [one.case for one in results if (one.case.law.label, one.case.streams) == (best.law, best.streams)]
        found, more = simulate(question, limits, mine, whole=True, workers=workers, progress=progress)
        if len(found) < len(mine):
            break
        whole_ones = {one.case: one for one in found}
        results, broken = [whole_ones.get(one.case, one) for one in results], [*broken, *more]
        answer = _answer(question, limits, results, broken, seed)
    if out is not None:
        with status("drawing the report", progress):
            ahead.join()
            answer.drawn = drawn
            answer.save(out)
    return answer


def _draw_ahead(question: Question, limits: Bounds, drawn: dict[str, Drawing | None]) -> None:
    """Draws what needs no simulation. What fails is drawn again with the report, which then says why."""
    with contextlib.suppress(Exception):
        from elephan.report.path_figures import draw_ahead

        draw_ahead(question, limits, drawn)


def _answer(question: Question, limits: Bounds, results: Sequence[Result], broken: Sequence[str], seed: int) -> Answer:
    groups: dict[tuple[str, int], list[Result]] = {}
    for one in results:
        groups.setdefault((one.case.law.label, one.case.streams), []).append(one)
    rows = [_of(question, limits, members) for members in groups.values()]
    curves = [
        {
            "law": one.case.law.label,
            "streams": one.case.streams,
            "seed": one.case.seed,
            "time_s": one.curve_s,
            "delivered_bytes": one.curve_bytes,
            "simulated": one.curve_s <= one.simulated_s,
        }
        for one in results
    ]
    first = results[0].trace
    facts = {"seed": seed, "scenario": first.toml, "provenance": first.provenance, "failures": list(broken)}
    return Answer(question, limits, rows, curves, facts)


def _of(question: Question, limits: Bounds, members: Sequence[Result]) -> Row:
    """The row of one law and number of streams, from its repetitions."""
    case = members[0].case
    goodputs = [question.size_bytes * 8 / one.time_s for one in members]
    verdicts = [what_limits(one.evidence, limits, case.streams, goodput) for one, goodput in zip(members, goodputs, strict=True)]
    at_best = question.size_bytes * 8 / limits.wire_bps
    times = stats.within(stats.mean_interval([one.time_s for one in members]), at_best, math.inf)
    if question.loss and times.n > 1 and times.low == times.high:
        # Runs without a loss are all alike, and say nothing of how far one with a loss is from them.
        times = replace(times, low=math.nan, high=math.nan)
    simulated = sum(one.simulated_s / one.time_s for one in members) / len(members)
    return Row(
        law=case.law.label,
        streams=case.streams,
        time_s=times,
        goodput_bps=_rate(question.size_bytes, times),
        limit=max(dict.fromkeys(verdicts), key=verdicts.count),
        simulated_share=simulated,
        method="; ".join(dict.fromkeys(one.method for one in members if one.method)),
        expected_bps=expected_bps(case.law, question, limits, case.streams),
        drops=sum(float(one.trace.drops[-1]) for one in members) / len(members),
        lost=sum(one.trace.lost for one in members) / len(members),
        stalls=sum(float(one.trace.stalls[-1]) for one in members) / len(members),
    )


def _rate(size_bytes: float, times: stats.Interval) -> stats.Interval:
    """Goodput in bit/s of the mean time: a mean of goodputs would be another transfer's."""
    mean, high, low = (size_bytes * 8 / seconds for seconds in (times.mean, times.low, times.high))
    return replace(times, mean=mean, low=low, high=high)


def load_answer(where: Path) -> Answer:
    """An answer from its folder."""
    from elephan.runs import read_table

    place, manifest = folder.open_result(where)
    found = json.loads(read_text(place / "path.json"))
    question, scenario = from_dict(found["question"]), read_text(place / "scenario.toml")
    table = read_table(place / "curves.parquet")
    groups: dict[tuple[str, int, int], dict[str, Any]] = {}
    for row in table.to_pylist():
        key = (row["law"], row["streams"], row["seed"])
        one = groups.setdefault(key, {"law": key[0], "streams": key[1], "seed": key[2], **{name: [] for name in _ARRAYS}})
        for name in _ARRAYS:
            one[name].append(row[name])
    facts = {
        "seed": manifest["seed"],
        "scenario": scenario,
        "provenance": json.loads(read_text(place / "provenance.json")),
        "failures": found["failures"],
        "manifest": manifest,
    }
    limits = bounds(question, tcp_options(scenario))
    return Answer(question, limits, [_row(one) for one in found["results"]], list(groups.values()), facts)
