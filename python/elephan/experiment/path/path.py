"""`elephan path`: how long a transfer over one long path takes, what limits it, what to set."""

from __future__ import annotations

import contextlib
import json
import math
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan import _renamed
from elephan.base.drawn import Drawn, pages, write_report
from elephan.base.errors import InputError, shown
from elephan.base.progress import status
from elephan.base.seed import read_seed
from elephan.experiment.path.advice import NOTHING, Advice, advice_from, advise
from elephan.experiment.path.forms import Bounds, Form, bounds, closed_forms
from elephan.experiment.path.onemore import at_full_windows, longest, needs_loss, with_one_loss
from elephan.experiment.path.question import SIZE, Question, from_dict, read_question
from elephan.experiment.path.row import Row, row_from, rows_of
from elephan.experiment.path.settings import Line, as_file
from elephan.experiment.path.simulate import VALUES, Ask, Case, Result, cases, simulate, simulate_all, tcp_options
from elephan.experiment.pool import check_workers, every_run_failed
from elephan.experiment.trials import Trial, Trials, check_repetitions
from elephan.result import folder
from elephan.result.run import read_table
from elephan.scenario import core
from elephan.scenario.source import read_text

if TYPE_CHECKING:
    import pyarrow as pa


REPETITIONS_MAX = 1000
NEAR = 1.02  # times as long counts as equal
CHECKED_MAX = 3  # estimated rows that are simulated whole because one of them would be the best ...
CHECKED_PACKETS = 8e6  # ... if a transfer has no more packets


class Answer(Drawn):
    """The answer about a path. `rows`: a `Row` for each controller and number of streams; `forms`: what needs no simulation.

    >>> answer = el.path("10 Mbps", "10 ms", size="1 MB", streams=[1, 2], congestion_control="reno")
    >>> answer.best.name
    'reno with 1 stream'
    >>> answer.row("reno", 2).streams, len(answer.rows)
    (2, 2)
    >>> answer.curves_table.column_names
    ['controller', 'streams', 'seed', 'time_s', 'delivered_bytes', 'simulated']
    >>> sorted(answer.as_dict())[:3], answer.manifest()["kind"]
    (['advice', 'best', 'closed_forms'], 'path')
    >>> answer.save("asked")
    PosixPath('asked')
    """

    kind = "path"

    def __init__(
        self,
        question: Question,
        limits: Bounds,
        rows: Sequence[Row],
        curves: Sequence[Mapping[str, Any]],
        facts: Mapping[str, Any],
        advice: Advice,
        trials: Trials | None = None,
    ) -> None:
        self.question, self.limits, self.trials = question, limits, trials or Trials([])
        self.rows, self.advice = list(rows), advice
        self.curves = list(curves)  # controller, streams, seed, time_s, delivered_bytes, simulated
        self.facts = dict(facts)
        self.drawn: dict[str, Any] = {}  # figures that the report finds drawn, by name

    @property
    def forms(self) -> list[Form]:
        return closed_forms(self.question, self.limits)

    @property
    def best(self) -> Row:
        """The shortest time; of those within 2 % of it the one with the fewest streams.

        An estimate competes with the longest time of its range, and a row that was asked what one packet more lost would cost
        with that time.
        """
        return min(self.near, key=lambda row: (row.streams, row.claimed_s))

    @property
    def near(self) -> list[Row]:
        """The rows within 2 % of the shortest time."""
        shortest = min(row.claimed_s for row in self.rows)
        return [row for row in self.rows if row.claimed_s <= NEAR * shortest]

    @property
    def known(self) -> list[Row]:
        """The rows that are more than a rough estimate; all of them if none is."""
        return [row for row in self.rows if not row.is_rough] or self.rows

    @property
    def settings(self) -> list[Line]:
        """Lines for the hosts, each of them simulated; empty where nothing that could be set makes the transfer faster."""
        return self.advice.lines

    @property
    def failures(self) -> list[str]:
        return list(self.facts.get("failures", []))

    @_renamed.keywords(law="controller")
    def row(self, controller: str, streams: int) -> Row:
        """Returns the row of a controller with a number of streams. Raises InputError if there is none."""
        for one in self.rows:
            if (one.controller, one.streams) == (controller, streams):
                return one
        there = ", ".join(f"{one.controller} with {one.streams}" for one in self.rows)
        raise InputError(f"no result for {controller} with {streams} streams; there are {there}")

    @property
    def curves_table(self) -> pa.Table:
        """What had been delivered when: controller, streams, seed, time_s, delivered_bytes, simulated (or carried on)."""
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
            "results": [row.as_dict() for row in self.rows],
            "best": {"controller": self.best.controller, "streams": self.best.streams, "rough": self.best.is_rough},
            "advice": self.advice.as_dict(),
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

    def save(self, out: str | os.PathLike[str]) -> Path:
        """Writes a result folder: `path.json`, `runs.parquet`, `curves.parquet`, the scenario, the settings, the report."""
        from pyarrow import parquet

        with folder.result_folder(out, "path") as partial:
            folder.write_json(partial / "path.json", self.as_dict())
            folder.write_json(partial / "provenance.json", self.facts["provenance"])
            parquet.write_table(self.trials.table(self.trials.statistics), partial / "runs.parquet")
            parquet.write_table(self.curves_table, partial / "curves.parquet")
            (partial / "scenario.toml").write_text(self.facts["scenario"], encoding="utf-8")
            if self.settings:
                (partial / "settings.conf").write_text(as_file(self.advice.words, self.settings), encoding="utf-8")
            folder.write_json(partial / "manifest.json", self.manifest())
            with folder.drawing():
                write_report(self.kind, self, partial / "report.html", partial / "figures")
        return Path(out)

    def __repr__(self) -> str:
        about = "about " if self.best.is_rough else ""
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
    stack: str | None = None,
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
    per packet; `stack`: of the hosts, the scenario language's default unless given; `window`: socket buffers instead of the
    stack's; `host_rate`: of the hosts' links, the next rate of Ethernet above `rate` by default. `txqueuelen` and `ring`:
    packets that the sender's queue and driver hold; `pacing`: the rate of its device; without any of them its queue is without
    bound. `disk_read`, `disk_write`: rates of the disks at both ends. A long transfer is simulated in part, unless `whole`, and
    carried on by a rule that each row names, with a range. Rows without anything random are one run, others three unless
    `repetitions` says otherwise. `python_from`: as of `el.run`. The answer's `advice` compares Linux hosts as they are with
    hosts that have the advised settings.

    >>> answer = el.path("10 Mbps", "10 ms", size="1 MB", streams=1, congestion_control="reno")
    >>> round(answer.best.time_s.mean, 1)
    0.9
    """
    question = read_question(
        rate,
        rtt,
        buffer=buffer,
        loss=loss,
        mtu=mtu,
        streams=streams,
        size=size,
        controllers=congestion_control,
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
    check_repetitions(repetitions, REPETITIONS_MAX)
    check_workers(workers)
    seed = read_seed(seed)
    if out is not None:
        folder.check_target(out, "path")
    resolved = core.resolve(question.source(), question.set, seed)
    limits = bounds(question, tcp_options(resolved["toml"]))
    chosen = cases(question, repetitions, seed)
    drawn: dict[str, Any] = {}
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
        raise every_run_failed(broken)
    work: dict[str, Any] = {"workers": workers, "progress": progress}
    results, broken, once = _compared(question, limits, results, broken, whole=whole, **work)
    advice = advise(question, rows_of(question, limits, results), chosen, whole=whole, **work)
    answer = _answer(question, limits, results, broken, once, seed, advice)
    if out is not None:
        with status("drawing the report", progress):
            ahead.join()
            answer.drawn = drawn
            answer.save(out)
    return answer


def _draw_ahead(question: Question, limits: Bounds, drawn: dict[str, Any]) -> None:
    """Draws what needs no simulation. What fails is drawn again with the report, which then says why."""
    with contextlib.suppress(Exception):
        pages(Answer.kind).draw_ahead(question, limits, drawn)


def _compared(
    question: Question, limits: Bounds, results: list[Result], broken: list[str], *, whole: bool, **work: Any
) -> tuple[list[Result], list[str], dict[tuple[str, int], float]]:
    """Goes on until the best row is one that may be called so: no rough estimate that could have been simulated whole, and none of
    which nobody knows what a loss would cost. Also the longest times of rows with one packet more lost, in s."""
    once: dict[tuple[str, int], float] = {}
    for _ in range(CHECKED_MAX + len(question.controllers) * len(question.streams)):
        answer = _answer(question, limits, results, broken, once, 0, NOTHING)
        best, asked = answer.best, [row for row in answer.near if (row.controller, row.streams) not in once]
        if len(answer.rows) > 1 and best.is_rough and question.size_bytes <= CHECKED_PACKETS * limits.mss_bytes:
            found, more = simulate(question, limits, _cases(results, best), whole=True, **work)
            whole_ones = {one.case: one for one in found}
            results, broken = [whole_ones.get(one.case, one) for one in results], [*broken, *more]
            if len(found) == len(_cases(results, best)):
                continue
        asked = [row for row in asked if needs_loss(question, row)]
        if not asked:
            break
        _ask_one_loss(question, limits, results, asked, once, whole=whole, **work)
    return results, broken, once


def _ask_one_loss(
    question: Question,
    limits: Bounds,
    results: Sequence[Result],
    asked: Sequence[Row],
    once: dict[tuple[str, int], float],
    **work: Any,
) -> None:
    """Adds to `once` what one packet more would cost these rows: by a closed form where there is one, else simulated."""
    for row in asked:
        once[row.controller, row.streams] = at_full_windows(limits, _cases(results, row)[0].controller, row)
    asked = [row for row in asked if math.isnan(once[row.controller, row.streams])]
    if not asked:
        return
    asks = [with_one_loss(Ask(question, limits, case)) for row in asked for case in _cases(results, row)]
    found, _ = simulate_all(asks, **work)
    for row in asked:
        mine = [i for i, ask in enumerate(asks) if (ask.case.controller.label, ask.case.streams) == (row.controller, row.streams)]
        once[row.controller, row.streams] = longest([asks[i] for i in mine], [found[i] for i in mine])


def _cases(results: Sequence[Result], row: Row) -> list[Case]:
    return [one.case for one in results if (one.case.controller.label, one.case.streams) == (row.controller, row.streams)]


def _answer(
    question: Question,
    limits: Bounds,
    results: Sequence[Result],
    broken: Sequence[str],
    once: Mapping[tuple[str, int], float],
    seed: int,
    advice: Advice,
) -> Answer:
    rows = [
        replace(row, one_loss_s=once.get((row.controller, row.streams), math.nan)) for row in rows_of(question, limits, results)
    ]
    curves = [
        {
            "controller": one.case.controller.label,
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
    done = [Trial(one.case.variant.label, one.case.seed, one.values) for one in results]
    return Answer(question, limits, rows, curves, facts, advice, Trials(done, (one.case.variant for one in results)))


def load_answer(where: Path) -> Answer:
    """An answer from its folder."""
    place, manifest = folder.open_result(where)
    found = _renamed.current(json.loads(read_text(place / "path.json")))
    question, scenario = from_dict(found["question"]), read_text(place / "scenario.toml")
    table = read_table(place / "curves.parquet")
    groups: dict[tuple[str, int, int], dict[str, Any]] = {}
    for row in _renamed.current(table.to_pylist()):
        key = (row["controller"], row["streams"], row["seed"])
        one = groups.setdefault(key, {"controller": key[0], "streams": key[1], "seed": key[2], **{name: [] for name in _ARRAYS}})
        for name in _ARRAYS:
            one[name].append(row[name])
    facts = {
        "seed": manifest["seed"],
        "scenario": scenario,
        "provenance": json.loads(read_text(place / "provenance.json")),
        "failures": found["failures"],
        "manifest": manifest,
    }
    limits, advice = bounds(question, tcp_options(scenario)), advice_from(found["advice"])
    runs = place / "runs.parquet"  # which older results do not have
    trials = Trials.of_table(read_table(runs), lambda name: name in VALUES) if runs.is_file() else Trials([])
    return Answer(question, limits, [row_from(one) for one in found["results"]], list(groups.values()), facts, advice, trials)
