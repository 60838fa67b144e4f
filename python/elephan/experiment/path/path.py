"""`elephan path`: how long a transfer over one long path takes, what limits it, what to set."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from elephan.base.seed import read_seed
from elephan.experiment.job import every_run_failed
from elephan.experiment.path.advice import NOTHING, Advice, advise
from elephan.experiment.path.answer import Answer
from elephan.experiment.path.forms import Bounds, bounds
from elephan.experiment.path.onemore import at_full_windows, longest, needs_loss, with_one_loss
from elephan.experiment.path.question import SIZE, Question, read_question
from elephan.experiment.path.row import Row, rows_of
from elephan.experiment.path.simulate import Ask, Case, Result, cases, simulate, simulate_all, tcp_options
from elephan.experiment.place.threads import check_workers
from elephan.experiment.pool import How, store_of
from elephan.experiment.trials import Trial, Trials, check_repetitions
from elephan.result import folder
from elephan.scenario import core

REPETITIONS_MAX = 1000
CHECKED_MAX = 3  # estimated rows that are simulated whole because one of them would be the best ...
CHECKED_PACKETS = 8e6  # ... if a transfer has no more packets


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
    report: bool = True,
    python_from: Any = None,
    files_from: Any = None,
    store: str | os.PathLike[str] | bool | None = None,
    again: bool = False,
    on: str = "threads",
    why: bool = False,
    keep: str | None = None,
) -> Answer:
    """How long `size` takes over a path, for each congestion control and number of streams.

    `rate` in bit/s and `rtt` in s or with units; `buffer` of the bottleneck in bytes or as `"1 bdp"`; `loss` of the path
    per packet; `stack`: of the hosts, the scenario language's default unless given; `window`: socket buffers instead of the
    stack's; `host_rate`: of the hosts' links, the next rate of Ethernet above `rate` by default. `txqueuelen` and `ring`:
    packets that the sender's queue and driver hold; `pacing`: the rate of its device; without any of them its queue is without
    bound. `disk_read`, `disk_write`: rates of the disks at both ends. A long transfer is simulated in part, unless `whole`, and
    carried on by a rule that each row names, with a range. Rows without anything random are one run, others three unless
    `repetitions` says otherwise. `python_from` and `files_from`: as of `el.run`.
    The answer's `advice` compares Linux hosts as they are with
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
        files_from=files_from,
    )
    check_repetitions(repetitions, REPETITIONS_MAX)
    check_workers(workers)
    how = How(workers, on, store_of(store, out), again, "path", "path", progress, why=why, keep=keep)
    seed = read_seed(seed)
    if out is not None:
        folder.check_target(out, "path")
    resolved = core.resolve(question.source(), question.set, seed)
    limits = bounds(question, tcp_options(resolved["toml"]))
    chosen = cases(question, repetitions, seed)
    results, broken = simulate(question, limits, chosen, whole=whole, how=how)
    if not results:
        raise every_run_failed(broken)
    results, broken, once = _compared(question, limits, results, broken, whole=whole, how=how)
    advice = advise(question, rows_of(question, limits, results), chosen, whole=whole, how=how)
    answer = _answer(question, limits, results, broken, once, seed, advice)
    if out is not None:
        answer.save(out, progress, report)
    return answer


def _compared(
    question: Question, limits: Bounds, results: list[Result], broken: list[str], *, whole: bool, how: How
) -> tuple[list[Result], list[str], dict[tuple[str, int], float]]:
    """Goes on until the best row is one that may be called so: no rough estimate that could have been simulated whole, and none of
    which nobody knows what a loss would cost. Also the longest times of rows with one packet more lost, in s."""
    once: dict[tuple[str, int], float] = {}
    for _ in range(CHECKED_MAX + len(question.controllers) * len(question.streams)):
        answer = _answer(question, limits, results, broken, once, 0, NOTHING)
        best, asked = answer.best, [row for row in answer.near if (row.controller, row.streams) not in once]
        if len(answer.rows) > 1 and best.is_rough and question.size_bytes <= CHECKED_PACKETS * limits.mss_bytes:
            found, more = simulate(question, limits, _cases(results, best), whole=True, how=how)
            whole_ones = {one.case: one for one in found}
            results, broken = [whole_ones.get(one.case, one) for one in results], [*broken, *more]
            if len(found) == len(_cases(results, best)):
                continue
        asked = [row for row in asked if needs_loss(question, row)]
        if not asked:
            break
        _ask_one_loss(question, limits, results, asked, once, whole=whole, how=how)
    return results, broken, once


def _ask_one_loss(
    question: Question,
    limits: Bounds,
    results: Sequence[Result],
    asked: Sequence[Row],
    once: dict[tuple[str, int], float],
    *,
    whole: bool,
    how: How,
) -> None:
    """Adds to `once` what one packet more would cost these rows: by a closed form where there is one, else simulated."""
    for row in asked:
        once[row.controller, row.streams] = at_full_windows(limits, _cases(results, row)[0].controller, row)
    asked = [row for row in asked if math.isnan(once[row.controller, row.streams])]
    if not asked:
        return
    asks = [with_one_loss(Ask(question, limits, case)) for row in asked for case in _cases(results, row)]
    found, _ = simulate_all(asks, whole=whole, how=how)
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
    facts = {**results[0].job.described(), "seed": seed, "failures": list(broken)}
    done = [Trial(one.case.variant.label, one.case.seed, one.values) for one in results]
    return Answer(question, limits, rows, curves, facts, advice, Trials(done, (one.case.variant for one in results)))
