"""`elephan conformance`: a congestion control put through the checks, beside reno, cubic and bbr in the same experiments."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError, shown
from elephan.base.paths import as_path
from elephan.base.progress import note
from elephan.base.quantity import counted
from elephan.base.seed import seed_or_none
from elephan.base.signals import Interrupted
from elephan.experiment.conformance import harness
from elephan.experiment.conformance.checks import REFERENCES, Check, Setting, read_checks
from elephan.experiment.conformance.judge import FAILED, NOT_APPLICABLE, NOT_SURE, PASSED, Finding, judge
from elephan.experiment.conformance.junit import write_junit
from elephan.experiment.conformance.story import Story, shortest
from elephan.experiment.job import Job, Outcome
from elephan.experiment.place.threads import check_workers
from elephan.experiment.pool import How, run_jobs, store_of
from elephan.experiment.store.row import Measured
from elephan.experiment.trials import Trials, Variant, check_repetitions, known
from elephan.result import folder
from elephan.result.run import Run
from elephan.scenario.congestion import Controller, names, read_controllers
from elephan.scenario.pipe import LATE, cost
from elephan.scenario.trust import Trust, trust
from elephan.statistic import measures

if TYPE_CHECKING:
    import pyarrow as pa

FIRST = 3  # repetitions of a check; as many again while its verdict is not sure
REPETITIONS, QUICK_REPETITIONS = 9, 3  # at most


@dataclass(frozen=True)
class Scores:
    """What is measured in the runs of each setting."""

    statistics: Mapping[str, tuple[str, ...]]  # by name of the setting

    def name(self, job: Job) -> str:
        return f"statistics {','.join(self.statistics[job.variant.experiment])}"

    def __call__(self, job: Job, run: Run) -> Measured:
        return Measured(measures.statistics(run, self.statistics[job.variant.experiment], strict=False))


class Conformance(folder.Result):
    """The checks of a congestion control, judged. `findings` has one for each check, in the order of the file.

    >>> found = el.conformance("reno", only=["fair-to-itself"])
    >>> found.finding("fair-to-itself").verdict, found.passed, found.counts["failed"]
    ('passed', True, 0)
    >>> found.label, found.as_dict()["complete"]
    ('reno', True)
    >>> found.save("conformance")
    PosixPath('conformance')
    >>> found.junit("conformance.xml")
    PosixPath('conformance.xml')
    >>> el.load("conformance").manifest()["kind"], len(found.table) > 2
    ('conformance', True)
    """

    kind = "conformance"

    def __init__(
        self,
        controller: Controller,
        findings: Sequence[Finding],
        stories: Sequence[Story],
        trials: Trials,
        facts: Mapping[str, Any],
    ) -> None:
        self.controller = controller
        self.findings = list(findings)
        self.stories = list(stories)
        self.trials = trials
        self.facts = dict(facts)

    @property
    def label(self) -> str:
        """What the congestion control is called."""
        return self.controller.label

    @property
    def others(self) -> list[str]:
        """The congestion controls that ran beside it."""
        return [name for name in dict.fromkeys((*REFERENCES, *filter(None, [self.like]))) if name != self.label]

    @property
    def like(self) -> str:
        """The built-in congestion control that it says it implements; empty for none."""
        return str(self.facts.get("like", ""))

    @property
    def counts(self) -> dict[str, int]:
        """How many checks have each verdict."""
        found = Counter(finding.verdict for finding in self.findings)
        return {verdict: found[verdict] for verdict in (PASSED, FAILED, NOT_SURE, NOT_APPLICABLE)}

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.counts[FAILED]

    @property
    def not_applicable(self) -> dict[str, list[str]]:
        """The checks that do not apply, by reason."""
        found: dict[str, list[str]] = {}
        for one in self.findings:
            if one.verdict == NOT_APPLICABLE:
                found.setdefault(one.message, []).append(one.check.id)
        return found

    def finding(self, id: str) -> Finding:
        """Returns the finding of a check; InputError if there is no such check."""
        known(id, [one.check.id for one in self.findings], "check")
        return next(one for one in self.findings if one.check.id == id)

    @property
    def table(self) -> pa.Table:
        """A row per run: the first check that it is for, congestion control, seed, statistics."""
        return self.trials.table(self.trials.statistics)

    def as_dict(self) -> dict[str, Any]:
        """Returns everything for JSON."""
        return {
            "congestion_control": self.label,
            "value": self.controller.value,
            "like": self.like,
            "passed": self.passed,
            "complete": "incomplete" not in self.facts,
            "counts": self.counts,
            "seed": self.facts["seed"],
            "repetitions": self.facts["repetitions"],
            "quick": self.facts["quick"],
            "wall_s": self.facts["wall_s"],
            "answers": self.facts["answers"],
            "answers_s": self.facts["answers_s"],
            "checks": [finding.as_dict() for finding in self.findings],
        }

    def manifest(self) -> dict[str, Any]:
        """Returns how the result came about; of a loaded one, how it did then."""
        if "manifest" in self.facts:
            return dict(self.facts["manifest"])
        return {
            **folder.manifest_head("conformance", self.label),
            **{key: self.facts[key] for key in ("incomplete",) if key in self.facts},
            **({"guests": self.facts["guests"]} if self.facts.get("guests") else {}),
        }

    def fill(self, partial: Path) -> None:
        """Writes `conformance.json`, `runs.parquet`, the stories and the manifest."""
        from pyarrow import parquet

        folder.write_json(partial / "conformance.json", self.as_dict())
        parquet.write_table(self.table, partial / "runs.parquet")
        for story in self.stories:
            story.write(partial / "stories")
        folder.write_json(partial / "manifest.json", self.manifest())

    def junit(self, path: str | os.PathLike[str]) -> Path:
        """Writes the findings as JUnit XML, which CI systems read; returns the path."""
        return write_junit(as_path(path, "junit"), self.label, self.findings, self.facts["wall_s"])

    def __repr__(self) -> str:
        words = ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items() if count)
        return shown(f"<elephan.Conformance {self.label}: {words}>")


def place(found: Conformance, file: str) -> str:
    """A file of a conformance run as a command names it: within the folder that the run was saved in."""
    return shlex.quote(os.path.join(found.facts.get("folder", ""), file))


def conformance(
    control: Any,
    *,
    like: str | None = None,
    checks: str | os.PathLike[str] | None = None,
    only: Sequence[str] = (),
    quick: bool = False,
    fail_fast: bool = False,
    stories: bool = True,
    repetitions: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    report: bool = True,
    python_from: Any = None,
    store: str | os.PathLike[str] | bool | None = None,
    again: bool = False,
    on: str = "threads",
    why: bool = False,
    keep: str | None = None,
) -> Conformance:
    """Puts a congestion control through the checks of RFC 9743 and others, beside reno, cubic and bbr.

    `control`: a name, a text such as `"mine.py:Mine"`, a dict or a class, as of `el.compare`. `like`: the built-in congestion
    control that it implements; then more checks compare the two. `checks`: a file whose checks are added, or replace those with
    the same id; `only`: ids of checks, which bring those that they require. A check has 3 repetitions, and 3 more while its
    verdict is not sure, up to `repetitions`, which is 9 by default; `quick` makes 3 of all. `fail_fast` ends at the first check
    that fails. Of each check that fails the smallest failing scenario is looked for, unless `stories` is False. `python_from`: as
    of `el.run`; other arguments as of `el.sweep`.

    >>> found = el.conformance("vegas", only=["fair-to-itself", "idle-line"], quick=True)
    Traceback (most recent call last):
        ...
    elephan.base.errors.InputError: no check "idle-line"...
    """
    (controller, *more) = read_controllers(control if isinstance(control, list) else [control], python_from)
    if more:
        raise InputError("one congestion control at a time")
    claimed = _claimed(like)
    chosen = _chosen(read_checks(as_path(checks, "checks") if checks is not None else None), only)
    chosen = [one.bound(claimed) for one in chosen]
    check_repetitions(repetitions)
    check_workers(workers)
    first = 1 if (given := seed_or_none(seed)) is None else given
    count = repetitions or (QUICK_REPETITIONS if quick else REPETITIONS)
    if out is not None:
        folder.check_target(out, "conformance")
    how = How(workers, on, store_of(store, out), again, "conformance", "conformance", progress, partial=True, why=why, keep=keep)
    work = _Work(controller, claimed, trust(python_from, controller.value), how, first, count)
    clock, (answers, waited) = time.monotonic(), cost()
    findings = work.fast(chosen) if fail_fast else work.all(chosen)
    told, findings = work.stories(findings) if stories else ([], findings)
    answers, waited = cost()[0] - answers, cost()[1] - waited
    if answers:
        each = 1e6 * waited / answers
        note(f"{controller.label} answered {counted(answers, 'line')} in {waited:.3g} s, {each:.0f} us each", progress)
    facts = {
        "seed": first, "repetitions": count, "quick": quick, "like": claimed, "failures": [], "guests": work.guests,
        "answers": answers, "answers_s": waited,
        "wall_s": time.monotonic() - clock, **work.incomplete,
    }  # fmt: skip
    found = Conformance(controller, findings, told, work.trials, facts)
    if out is not None:
        found.facts["folder"] = os.fspath(out)
        found.save(out, progress, report)
    if work.interrupted:
        raise Interrupted(found, out)
    return found


def _claimed(like: str | None) -> str:
    """The name of the built-in congestion control that the one under test says it implements; empty for none."""
    if not like:
        return ""
    (found,) = read_controllers([like])
    if found.value not in names():
        raise InputError(f"like: the name of a built-in congestion control such as cubic, not {like!r}")
    return found.label


def _chosen(checks: Sequence[Check], only: Sequence[str]) -> list[Check]:
    """The checks that are asked for, with those that they require."""
    for name in only:
        known(name, [one.id for one in checks], "check")
    asked = {*only, *(one.requires for one in checks if one.id in only)}
    return [one for one in checks if not only or one.id in asked]


def _setting(check: Check) -> str:
    """The name of what runs for a check; empty for one of the harness."""
    return check.asked.setting.name if check.asked is not None else ""


class _Work:
    """The runs of a conformance run, as they are done."""

    def __init__(self, controller: Controller, like: str, agreed: Trust, how: How, first: int, count: int) -> None:
        self.controller, self.like, self.agreed, self.how, self.first, self.count = controller, like, agreed, how, first, count
        self.found: dict[str, Finding] = {}
        self.outcomes: list[Outcome] = []
        self.interrupted = False
        self.incomplete: dict[str, str] = {}
        self.guests: list[Mapping[str, Any]] = []

    @property
    def trials(self) -> Trials:
        """All trials so far."""
        variants = {(one.job.variant.experiment, one.job.variant.label): one.job.variant for one in self.outcomes}
        return Trials([one.trial for one in self.outcomes if one.done], variants.values())

    def _controllers(self, checks: Sequence[Check]) -> list[Controller]:
        """What runs in the setting of these checks."""
        others = (self.like,) if all(one.compares for one in checks) else (*REFERENCES, self.like)
        return [self.controller, *(Controller(one, one) for one in dict.fromkeys(others) if one not in ("", self.controller.label))]

    def job(self, setting: Setting, controller: Controller, seed: int) -> Job:
        variant = Variant(controller.label, {"congestion_control": controller.label}, setting.name)
        return Job(replace(setting.source, agreed=self.agreed), setting.overrides(controller.value), seed, variant)

    def _run(self, checks: Sequence[Check], seeds: Sequence[int]) -> None:
        """Runs the settings of checks with more seeds."""
        settings = list({one.asked.setting.name: one.asked.setting for one in checks if one.asked is not None}.values())
        needed = {one.name: self._controllers([check for check in checks if _setting(check) == one.name]) for one in settings}
        jobs = [self.job(one, controller, seed) for one in settings for controller in needed[one.name] for seed in seeds]
        measure = Scores({one.name: one.statistics for one in settings})
        done = run_jobs(jobs, measure, self.how)
        self.outcomes += done
        self.guests = done.guests or self.guests
        self.interrupted |= done.interrupted
        self.incomplete = dict(done.incomplete) or self.incomplete

    def _judged(self, checks: Sequence[Check], last: bool = False) -> list[Finding]:
        trials = self.trials
        failures: dict[str, dict[str, str]] = {}
        lost: dict[str, str] = {}  # a run of the control under test that the machine ended, which judges nothing, by setting
        seeds: dict[str, int] = {}  # of a run of the control under test that broke off, by setting
        for one in self.outcomes:
            if not one.done and one.error != "interrupted":
                where, label = one.job.variant.experiment, one.job.variant.label
                if one.lost and LATE not in str(one.error):
                    lost |= {where: one.line} if label == self.controller.label else {}
                    continue
                failures.setdefault(where, {}).setdefault(label, f"{one.job.label}: {one.error}")
                if label == self.controller.label:
                    seeds.setdefault(where, one.job.seed)
        asked = [one for one in checks if one.asked is not None]
        own, told = (
            self.controller.label,
            {name: (failures.get(name, {}), last, lost.get(name, "")) for name in map(_setting, asked)},
        )
        found = [judge(one, own, trials, *told[_setting(one)]) for one in asked]
        return [replace(one, broken=seeds.get(_setting(one.check))) for one in found]

    def _why_not(self, check: Check) -> str:
        """Why a check does not apply, known before a run; empty if it may."""
        if check.compares and not self.like:
            return "it compares with a built-in control: --like NAME"
        gate = self.found.get(check.requires)
        return f"{gate.check.id} is not applicable: {gate.message}" if gate and gate.verdict == NOT_APPLICABLE else ""

    def all(self, checks: Sequence[Check]) -> list[Finding]:
        """The findings of checks, each with as many repetitions as it needs; what others require comes first."""
        self._find([one for one in checks if not one.requires])
        self._find([one for one in checks if one.requires])
        return [self.found[one.id] for one in checks if one.id in self.found]

    def _find(self, checks: Sequence[Check]) -> None:
        for one in checks:
            hung = next((id for id, finding in self.found.items() if finding.hangs), "")
            if why := self._why_not(one):
                self.found[one.id] = Finding(one, NOT_APPLICABLE, message=why)
            elif hung:  # each of hundreds of runs would wait for the deadline
                self.found[one.id] = Finding(one, NOT_SURE, message=f"not run: the program did not answer in {hung}")
            elif one.asked is None:
                self.found[one.id] = harness.judged(one, self.controller)
        open_, seed = [one for one in checks if one.id not in self.found], self.first
        while open_ and not self.interrupted:
            seeds = range(seed, min(seed + FIRST, self.first + self.count))
            self._run(open_, seeds)
            seed = seeds.stop
            last = seed >= self.first + self.count or self.interrupted
            judged = self._judged(open_, last)
            self.found |= {one.check.id: one for one in judged}
            open_ = [] if last else [one.check for one in judged if one.verdict == NOT_SURE]

    def fast(self, checks: Sequence[Check]) -> list[Finding]:
        """The findings of checks in their order, up to the first that fails."""
        found: list[Finding] = []
        for one in checks:
            there = {outcome.job.variant.experiment for outcome in self.outcomes}
            done = self._judged([one]) if _setting(one) in there and not self._why_not(one) else []
            if not done or done[0].verdict == NOT_SURE:
                done = self.all([one])
            self.found[one.id] = done[0]
            found += done
            if found[-1].verdict == FAILED or self.interrupted:
                break
        return found

    def stories(self, findings: Sequence[Finding]) -> tuple[list[Story], list[Finding]]:
        """The smallest failing stories of the checks that failed, and the findings with the file of each, or why there is none."""
        told: list[Story] = []
        broken: dict[str, str] = {}  # the story of runs that broke off with an error, by the error without its numbers
        found = []
        for one in findings:
            if one.verdict == FAILED and not self.interrupted:
                error = re.sub(r"[\d.]+", "", one.message.partition(": ")[2]) if one.broken is not None else ""
                story = None
                if error not in broken:
                    story = shortest(one, self.controller, self.agreed, self.how, self.job)
                    told += [story] if story is not None else []
                one = replace(one, story=story.file if story else broken.get(error, ""))
                one = replace(one, no_story="" if one.story else _no_story(one))
                if error and story is not None:
                    broken[error] = story.file
            found.append(one)
        return told, found


def _no_story(finding: Finding) -> str:
    """Why there is no scenario that fails a check alone."""
    if finding.check.asked is None:
        return (
            "The harness calls the control without a network, so no scenario shows this. el.testing.check_congestion_control does."
        )
    if finding.broken is not None or finding.failing:
        return "No run with one seed fails again when its scenario is written without its defaults."
    return "No run with one seed is beyond the margin, only their mean."
