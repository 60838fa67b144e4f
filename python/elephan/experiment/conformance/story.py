"""The smallest failing story of a check: a scenario with one seed that is beyond the margin, as short and plain as can be found.

The scenario of the run that missed the margin most is written without its defaults. Then its duration is cut, and what is not
asked about is left out, as long as the run stays beyond the margin. For a margin in units of other congestion controls these run
in each candidate as well. Of a run that broke off the shortest one is looked for that breaks off too.
"""

from __future__ import annotations

import math
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from elephan.base.errors import ElephanError
from elephan.base.quantity import seconds
from elephan.experiment.conformance.checks import REFERENCES, Asked, Check, Setting
from elephan.experiment.conformance.judge import Finding, run_score
from elephan.experiment.job import Job, Statistics
from elephan.experiment.pool import How, run_jobs
from elephan.experiment.trials import Variant
from elephan.scenario import core, guest
from elephan.scenario.congestion import Controller
from elephan.scenario.pack import Pack
from elephan.scenario.pipe import LATE
from elephan.scenario.reference import reference_of
from elephan.scenario.source import Source
from elephan.scenario.trust import Trust

_SHARES = (0.125, 0.25, 0.5, 0.75)  # of the duration, tried at once
FOLDER = "stories"


@dataclass(frozen=True)
class Story:
    """A scenario that fails a check alone. `value`: what is judged in its run; `sources`: files that its control needs."""

    check: str
    text: str
    seed: int
    value: float
    sources: Sequence[Path] = field(default_factory=list)

    @property
    def file(self) -> str:
        """Its file in the folder of the result."""
        return f"{FOLDER}/{self.check}.toml"

    def write(self, folder: Path) -> None:
        """Writes the scenario, and the files of its congestion control beside it."""
        folder.mkdir(exist_ok=True)
        (folder / f"{self.check}.toml").write_text(self.text, encoding="utf-8")
        for source in self.sources:
            if not (folder / source.name).exists():
                shutil.copy(source, folder / source.name)  # a program stays one that can be executed


def shortest(
    finding: Finding, controller: Controller, agreed: Trust, how: How, job: Callable[[Setting, Controller, int], Job]
) -> Story | None:
    """Returns the smallest failing story of a check that failed; None if no single run is beyond the margin or breaks off."""
    check = finding.check
    if check.asked is None or not (finding.failing or finding.broken is not None):
        return None
    middle = (max(check.margin.low, -1e300) + min(check.margin.high, 1e300)) / 2
    seed = finding.broken
    if seed is None:
        seed = max(finding.failing, key=lambda seed: abs(finding.failing[seed] - middle))
    first = job(check.asked.setting, controller, seed)
    try:
        table: Mapping[str, Any] = core.brief(first.source, first.overrides, seed)
    except ElephanError:
        return None
    kind = _Search if finding.broken is None else _Broken
    search = kind(check, check.asked, controller, agreed, replace(how, progress=False, why=False, keep=None), seed)
    value = search.find_witness(table)
    if value is None:
        return None
    if LATE not in finding.message:  # each candidate would wait for the deadline of a program that hangs
        table, value = search.smallest(table, value)
    table, sources = _standing_alone(controller, table)
    told = finding.message.partition(": ")[2] if finding.broken is not None else ""
    return Story(check.id, _text(check, controller, table, value, told), seed, value, sources)


@dataclass
class _Search:
    """The search for the smallest failing story of a check."""

    check: Check
    asked: Asked
    controller: Controller
    agreed: Trust
    how: How
    seed: int
    witness: str = ""

    def values(self, tables: Sequence[Mapping[str, Any]]) -> list[float | None]:
        """What is judged in the run of each scenario; None where it tells nothing: it is within the margin, cannot run, or the
        witness is beyond the margin as well.
        """
        check = self.check
        wanted = [self.controller, *(Controller(name, name) for name in (*check.of, *([self.witness] if self.witness else [])))]
        jobs = []
        for number, table in enumerate(tables):
            source = Source(core.to_toml(table), f"<story of {check.id}>", "toml", check.id, self.agreed)
            overrides = [{f"traffic.{name}.congestion_control": one.value for name in self.asked.setting.control} for one in wanted]
            if _can_run(source, overrides[0], self.seed):
                pairs = enumerate(zip(wanted, overrides, strict=True))
                jobs += [Job(source, given, self.seed, Variant(one.label, {}, f"{number} {i}")) for i, (one, given) in pairs]
        outcomes = run_jobs(jobs, Statistics(self.asked.statistics, strict=False), self.how) if jobs else []
        found = {one.job.variant.experiment: one.trial.values for one in outcomes if one.done}
        runs = [[found.get(f"{number} {i}") for i in range(len(wanted))] for number in range(len(tables))]
        return [self._judged([one for one in run if one is not None]) if all(run) else None for run in runs]

    def _judged(self, runs: Sequence[Mapping[str, float]]) -> float | None:
        """What is judged in the runs of the control, of those that the margin is in units of, and of the witness."""
        others = runs[1 : 1 + len(self.check.of)]
        value = run_score(self.check, runs[0], others)
        of_witness = run_score(self.check, runs[-1], others) if self.witness else math.nan
        beyond = not math.isnan(value) and not self.check.margin.admits(value)
        return value if beyond and (not self.witness or self.check.margin.admits(of_witness)) else None

    def find_witness(self, table: Mapping[str, Any]) -> float | None:
        """What is judged in the run of a scenario. The witness is a built-in control that keeps within the margin there.

        A shorter run in which the witness is beyond the margin shows nothing.
        """
        for name in REFERENCES:
            self.witness = name if name != self.controller.label else ""
            if self.witness and (value := self.values([table])[0]) is not None:
                return value
        self.witness = ""
        return self.values([table])[0]

    def smallest(self, table: Mapping[str, Any], value: float) -> tuple[Mapping[str, Any], float]:
        """The scenario, shorter and with less in it."""
        shorter = [one for share in _SHARES if (one := _cut(table, share)) is not None]
        for one, found in zip(shorter, self.values(shorter), strict=True):
            if found is not None:
                table, value = one, found
                break
        done = False
        while not done:
            fewer = list(_fewer(table, self._named()))
            done = True
            for one, found in zip(fewer, self.values(fewer), strict=True):
                if found is not None:
                    table, value, done = one, found, False
                    break
        return table, value

    def _named(self) -> set[str]:
        """All words in which traffic of the check may be named."""
        text = " ".join([*self.asked.statistics, *self.asked.setting.control])
        return set(re.split(r"[^\w.-]+", text))


class _Broken(_Search):
    """The search for the smallest scenario in which a run of the control breaks off; the value of such a run is NaN."""

    def values(self, tables: Sequence[Mapping[str, Any]]) -> list[float | None]:
        jobs = []
        for number, table in enumerate(tables):
            source = Source(core.to_toml(table), f"<story of {self.check.id}>", "toml", self.check.id, self.agreed)
            given = {f"traffic.{name}.congestion_control": self.controller.value for name in self.asked.setting.control}
            if _can_run(source, given, self.seed):
                jobs.append(Job(source, given, self.seed, Variant(self.controller.label, {}, str(number))))
        outcomes = run_jobs(jobs, Statistics(self.asked.statistics, strict=False), self.how) if jobs else []
        broken = {one.job.variant.experiment for one in outcomes if not one.done and one.error != "interrupted"}
        return [math.nan if str(number) in broken else None for number in range(len(tables))]

    def find_witness(self, table: Mapping[str, Any]) -> float | None:
        return self.values([table])[0]


def _can_run(source: Source, overrides: Mapping[str, Any], seed: int) -> bool:
    try:
        core.resolve(source, overrides, seed)
    except ElephanError:
        return False
    return True


def _cut(table: Mapping[str, Any], share: float) -> Mapping[str, Any] | None:
    """The scenario with a share of its duration; the warm-up is at most half of it."""
    duration = seconds(table["duration"]) * share
    changes = [seconds(one["at"]) for one in table.get("change", [])]
    if any(at >= duration for at in changes) or duration < 0.5:
        return None
    warmup = min(seconds(table.get("warmup", "0 s")), duration / 2)
    return {**table, "duration": f"{duration:g} s", "warmup": f"{warmup:g} s"}


def _fewer(table: Mapping[str, Any], named: set[str]) -> Iterator[Mapping[str, Any]]:
    """The scenario without one of its parts that nothing asks for."""
    for key in ("traffic", "change"):
        entries = table.get(key, [])
        for number, entry in enumerate(entries):
            if key == "traffic" and entry.get("name") in named:
                continue
            yield {**table, key: [*entries[:number], *entries[number + 1 :]]}
    for number, link in enumerate(table.get("links", [])):
        for key in ("loss", "reorder", "jitter", "duplicate"):
            if key in link:
                links = [*table["links"]]
                links[number] = {name: value for name, value in link.items() if name != key}
                yield {**table, "links": links}


def _text(check: Check, controller: Controller, table: Mapping[str, Any], value: float, error: str) -> str:
    """The file of a story: what it is about, then the scenario. `error`: what a run that breaks off has said."""
    unit = f" times that of {' or '.join(check.of)}" if check.of else ""
    found = f"the run breaks off ({error})" if error else f"{check.statistic} is {value:.4g}{unit} here"
    lines = [
        f"The smallest failing story of the conformance check {check.id} with {controller.label}.",
        f"{check.title}: {found}; expected is {check.expected}.",
        f"Source: {check.source}",
    ]
    words = "\n".join(f"# {line}" for text in lines for line in textwrap.wrap(text, 110))
    question = check.learn
    return f"{words}\n\n{core.to_toml({**table, 'title': check.title, 'question': question})}"


def _standing_alone(controller: Controller, table: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Path]]:
    """The scenario with its congestion control named by a file beside it, and that file with what it imports from beside it.

    Nothing is done for a class that is in no file, such as one of a notebook.
    """
    key, reference = reference_of(controller.value) or ("", "")
    if key == "program":
        return _renamed_in(table, reference, f"./{Path(reference).name}"), [Path(reference)]
    place, _, name = reference.rpartition(":")
    file = Path(place if place.endswith(".py") else getattr(sys.modules.get(place), "__file__", None) or "")
    if file.suffix != ".py" or not file.is_file():
        return table, []
    return _renamed_in(table, reference, f"{file.name}:{name}"), [file, *guest.imported_beside(file, file.parent, Pack())]


def _renamed_in(value: Any, old: str, new: str) -> Any:
    """A table with another text in the place of one."""
    if isinstance(value, Mapping):
        return {key: _renamed_in(inner, old, new) for key, inner in value.items()}
    if isinstance(value, list):
        return [_renamed_in(inner, old, new) for inner in value]
    return new if value == old else value
