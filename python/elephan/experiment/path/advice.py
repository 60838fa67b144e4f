"""The advice of a path: settings of Linux hosts that have been simulated, beside Linux as it is.

Candidates are the congestion controls that were asked about, as far as Linux has them, with each number of streams and with
sockets that hold a window. Where the buffer cannot take a window sent at once, each is tried with pacing by `fq maxrate` too.
Each candidate is simulated with its settings, and again with one packet more lost. The one whose worse time is the shortest is
simulated at full length beside the hosts as they are now. Settings that make nothing faster are not advised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elephan.base.quantity import show
from elephan.experiment.path.forms import Bounds, bounds
from elephan.experiment.path.onemore import longest, with_one_loss
from elephan.experiment.path.question import START, Question
from elephan.experiment.path.row import Row, row_from, row_of
from elephan.experiment.path.settings import IN_LINUX, Line, Tuning, overflows, queue_wanted, worth_a_look
from elephan.experiment.path.simulate import Ask, Case, Result, simulate_all, tcp_options
from elephan.experiment.path.verdict import STALL
from elephan.experiment.pool import How
from elephan.scenario import core
from elephan.scenario.congestion import Controller

SCREENED_PACKETS = 150_000  # of data in a run that only chooses among candidates
NEAR = 1.02  # times as long counts as equal
LINUX = "linux"


@dataclass(frozen=True)
class Advice:
    """What to set, how long the transfer takes then, and how long it takes now."""

    stack: str
    now: Row | None  # Linux as it is
    after: Row | None  # after the settings; None where nothing is advised
    lines: list[Line]
    unsimulated: list[Line]  # what arithmetic says, for a look
    fq: bool = False

    @property
    def words(self) -> list[str]:
        """What the settings are for and what they bring, in sentences."""
        if self.now is None:
            return ["Nothing was simulated to advise from."]
        if self.after is None:
            return [f"No setting tried here makes Linux as it is ({self.now.name}, {shown_time(self.now)}) at least 2 % faster."]
        return [
            f"Linux as it is now ({self.now.name}): {shown_time(self.now)}. "
            f"After these settings ({self.after.name}{', paced by fq' if self.fq else ''}): {shown_time(self.after)}."
        ] + ([f"With one packet more lost: at most {show(self.after.one_loss_s, 's')}."] if self.after.one_loss_s > 0 else [])

    def as_dict(self) -> dict[str, Any]:
        return {
            "stack": self.stack,
            "now": self.now and self.now.as_dict(),
            "after": self.after and self.after.as_dict(),
            "fq": self.fq,
            "words": self.words,
            "not_simulated": [line.as_dict() for line in self.unsimulated],
            "settings": [line.as_dict() for line in self.lines],
        }


NOTHING = Advice(LINUX, None, None, [], [])


def shown_time(row: Row) -> str:
    """The time of a row, with its range."""
    about = f"about {show(row.time_s.mean, 's', 2)}" if row.is_rough else show(row.time_s.mean, "s", 3)
    if row.time_s.low < row.time_s.high and row.is_estimate:
        return f"{about} ({show(row.time_s.low, 's', 3)} to {show(row.time_s.high, 's', 3)})"
    return about


def advice_from(found: Mapping[str, Any]) -> Advice:
    """Advice as `as_dict` wrote it."""
    lines, looks = ([Line(one["line"], one["why"]) for one in found[key]] for key in ("settings", "not_simulated"))
    now, after = (found[key] and row_from(found[key]) for key in ("now", "after"))
    return Advice(found["stack"], now, after, lines, looks, found["fq"])


def advise(question: Question, rows: Sequence[Row], chosen: Sequence[Case], *, whole: bool, how: How) -> Advice:
    """Finds the settings that are worth it. `rows` show whether the sender's queue stalls; `chosen` are the cases of the question,
    whose seeds and repetitions are taken."""
    base = _linux(question)
    stalled = any(row.limit == STALL for row in rows)
    trials = [
        trial
        for controller in _controllers(base)
        for streams in base.streams
        for trial in _trials(base, controller, streams, stalled)
    ]
    times = _screened(base, trials, chosen[0].seed, how)
    if not times:
        return NOTHING
    shortest = min(times.values())
    best = min((one for one in times if times[one] <= NEAR * shortest), key=lambda one: (one.streams, one.fq, times[one]))
    now_asks, after_asks = (_repeated(one, chosen) for one in (_as_it_is(base, best.streams), best.question(base)))
    asks = [*now_asks, *after_asks, *(with_one_loss(ask) for ask in after_asks)]
    found, _ = simulate_all(asks, whole=whole, how=how)
    now, after = _row(now_asks, found[: len(now_asks)]), _row(after_asks, found[len(now_asks) : -len(after_asks)])
    if now is None or after is None:
        return NOTHING
    if not base.loss:
        after = replace(after, one_loss_s=longest(asks[-len(after_asks) :], found[-len(after_asks) :]))
    before = now.time_s.low if now.is_estimate else now.time_s.mean
    if after.claimed_s * NEAR > before:
        return Advice(base.stack, now, None, [], worth_a_look(base, paced=False))
    lines = best.lines(base, _bounds(best.question(base)), _why(best, times))
    return Advice(base.stack, now, after, lines, worth_a_look(base, best.fq), best.fq)


def _screened(base: Question, trials: Sequence[Tuning], seed: int, how: How) -> dict[Tuning, float]:
    """The worse of each trial's times in s: as it is, and with one packet more lost. What failed is left out."""
    asks = []
    for trial in trials:
        asked = trial.question(base)
        plain = Ask(asked, _bounds(asked), Case(trial.controller, trial.streams, seed))
        asks += [plain] if base.loss else [plain, with_one_loss(plain, SCREENED_PACKETS)]
    found, _ = simulate_all(asks, whole=False, how=how, packets=SCREENED_PACKETS)
    each = len(asks) // len(trials)
    times = {}
    for number, trial in enumerate(trials):
        mine = [one.high_s for one in found[number * each : (number + 1) * each] if one is not None]
        if len(mine) == each:
            times[trial] = max(mine)
    return times


def _repeated(question: Question, chosen: Sequence[Case]) -> list[Ask]:
    """The one case of a question with the seeds of the cases that were asked about."""
    (controller,), (streams,) = question.controllers, question.streams
    seeds = sorted({case.seed for case in chosen if (case.streams > 1) == (streams > 1)})
    return [Ask(question, _bounds(question), Case(controller, streams, seed)) for seed in seeds]


def _row(asks: Sequence[Ask], found: Sequence[Result | None]) -> Row | None:
    through = [one for one in found if one is not None]
    return row_of(asks[0].question, asks[0].limits, through) if len(through) == len(asks) else None


def _bounds(question: Question) -> Bounds:
    return bounds(question, _tcp(question))


def _tcp(question: Question) -> dict[str, Any]:
    return tcp_options(core.resolve(question.source(), question.set, 1)["toml"])


def _as_it_is(question: Question, streams: int) -> Question:
    """Linux with its own congestion control, and with the sockets of the question, which are Linux's unless given."""
    own = _tcp(question)["congestion_control"]
    kind = own if isinstance(own, str) else str(own["kind"])
    return replace(question, controllers=(Controller(kind, own),), streams=(streams,))


def _why(best: Tuning, times: Mapping[Tuning, float]) -> str:
    """Why the congestion control is the one of the best trial."""
    others = {one.controller.label: time for one, time in times.items() if (one.streams, one.fq) == (best.streams, best.fq)}
    as_fast = sorted(label for label, time in others.items() if label != best.controller.label and time <= NEAR * times[best])
    if as_fast:
        return f"{' and '.join(as_fast)} as fast within 2 %"
    return "the shortest time of those tried, one packet lost or not" if len(others) > 1 else "the one that was asked about"


def _linux(question: Question) -> Question:
    """The question for Linux hosts."""
    return question if question.stack.startswith(LINUX) else replace(question, stack=LINUX)


def _controllers(question: Question) -> list[Controller]:
    """The congestion controls that Linux has; all of them where it has none."""
    return [controller for controller in question.controllers if controller.kind in IN_LINUX] or list(question.controllers)


def _trials(question: Question, controller: Controller, streams: int, stalled: bool) -> list[Tuning]:
    """The settings to try for a congestion control with so many streams."""
    plain = Tuning(controller, streams, txqueuelen=queue_wanted(question, _bounds(question), stalled))
    own_network = any(not key.startswith(("tcp.", "record.")) and key != START for key in question.set)
    if own_network or question.pacing_bps or question.has_transmit or not overflows(question):
        return [plain]
    return [plain, replace(plain, fq=True)]
