"""The story of a run: `explain` asks each rule, and an `Explanation` shows what they say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import show
from elephan.report.explain.advice import told
from elephan.report.explain.facts import LIMITS_MAX, Facts, Flow
from elephan.report.explain.finding import Finding, many, when
from elephan.report.words.answer import answer
from elephan.result.run import Run
from elephan.result.run import run as run_scenario

REASONS = ("receive window", "congestion window", "own side")  # in the order of `Flow.spent`
FULL, FULL_LINK = 0.95, "full link"  # utilisation from which on a link is full, as between samples; what is said of it
NOTHING = "No rule of explain found anything to tell."


class Explanation:
    """What happened in a run and why. `findings` are in the order of time; `limits` says what limited each flow when; of more
    than six flows the six that delivered most.

    It shows itself as text, in a notebook as Markdown.

    >>> story = el.explain("sawtooth")
    >>> story.findings[0].rule, list(story.limits), sorted(story.as_dict())[:3]
    ('slow_start_overshoot', ['reno'], ['answer', 'findings', 'limits'])
    >>> story.head()[0][:17]
    'The window is cut'
    >>> story.limit_lines()[0].split(",")[0]
    'reno: full link 100 %'
    >>> story.markdown().splitlines()[0]
    '# The sawtooth of Reno (seed 1)'
    """

    def __init__(self, run: Run) -> None:
        self._facts = Facts(run)
        self.run = run
        self.findings: list[Finding] = told(self._facts)
        self.limits: dict[str, list[tuple[float, float, str]]] = self._facts.limits()

    def as_dict(self) -> dict[str, Any]:
        """Everything as JSON has it; times in seconds, None for the whole run."""
        told = [
            {
                "number": number,
                "rule": one.rule,
                "from_s": one.begin_s,
                "to_s": one.end_s,
                "flow": one.flow or None,
                "count": one.count,
                "port": one.port or None,
                "text": one.text,
                "help": one.help or None,
                "simulated": one.simulated if one.help else None,
            }
            for number, one in enumerate(self.findings, 1)
        ]
        limits = {
            name: [{"from_s": begin / 1e9, "to_s": end / 1e9, "reason": reason} for begin, end, reason in spans]
            for name, spans in self.limits.items()
        }
        words = {"title": self.run.title, "question": self.run.question, "seed": self.run.seed, "answer": answer(self.run)}
        return {**words, "findings": told, "limits": limits}

    def limit_lines(self) -> list[str]:
        """A line for each flow: what limited it, and for which share of the time. Of many flows a line for each traffic."""
        if len(self._facts.flows) > LIMITS_MAX:
            return _lines_of_many(self._facts)
        lines = []
        for flow in self._facts.flows:
            spent: dict[str, float] = {}
            for begin, end, reason in self.limits.get(flow.name, ()):
                spent[reason] = spent.get(reason, 0.0) + end - begin
            # Where samples are too far apart the counters of the connection still say the three reasons of RFC 4898.
            spent = spent or _counted(self._facts, flow)
            lines += [f"{flow.name}: {shares}"] if (shares := _shares(spent)) else []
        return lines

    def head(self) -> list[str]:
        """The answer of the run, without what the findings say in the same words."""
        told = {one.text for one in self.findings}
        return [sentence for sentence in answer(self.run) if sentence not in told]

    def markdown(self) -> str:
        """The story as Markdown."""
        lines = [f"# {self.run.title} (seed {self.run.seed})", ""]
        lines += [self.run.question, ""] if self.run.question else []
        lines += [line for sentence in self.head() for line in (sentence, "")]
        lines += ["## What happened", ""]
        for number, one in enumerate(self.findings, 1):
            lines.append(f"{number}. {f'**{when(one)}:** ' if when(one) else ''}{one.text}")
            lines += ["", f"   *What would help:* {one.help}"] if one.help else []
            lines.append("")
        lines += [] if self.findings else [NOTHING, ""]
        if limits := self.limit_lines():
            lines += ["## What limited whom", "", *(f"- {line}" for line in limits), ""]
        return "\n".join(lines).rstrip() + "\n"

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def __str__(self) -> str:
        lines = [f"{number}. {f'{when(one)}: ' if when(one) else ''}{one.text}" for number, one in enumerate(self.findings, 1)]
        return "\n".join(lines or [NOTHING])

    def __repr__(self) -> str:
        return f"<elephan.Explanation of {self.run.name} seed {self.run.seed}: {len(self.findings)} findings>"


def _shares(spent: Mapping[str, float]) -> str:
    """Reasons with their shares of the time, the largest first."""
    total = sum(spent.values())
    ranked = sorted((reason for reason in spent if spent[reason] > 0), key=lambda reason: -spent[reason])
    return ", ".join(f"{reason} {show(spent[reason] / total, '%', 2)}" for reason in ranked)


def _counted(facts: Facts, flow: Flow) -> dict[str, float]:
    """What limited a flow as its counters say; the link, not the window, where a link on its way was full all the time."""
    spent = dict(zip(REASONS, flow.spent(), strict=True))
    busy = facts.ports("utilisation")
    if any(busy[place] >= FULL and ends in flow.path for place, ends in enumerate(facts.ends)):
        spent[FULL_LINK] = spent.pop("congestion window")
    return spent


def _lines_of_many(facts: Facts) -> list[str]:
    """What limited the flows of each traffic, for which share of their time together."""
    entries: dict[str, list[Flow]] = {}
    for flow in facts.flows:
        entries.setdefault(flow.text("traffic"), []).append(flow)
    lines = []
    for name, flows in entries.items():
        spent: dict[str, float] = {}
        for reason, time in (one for flow in flows for one in _counted(facts, flow).items()):
            spent[reason] = spent.get(reason, 0.0) + time
        if shares := _shares(spent):
            lines.append(f"{name} ({many(len(flows), 'flow')}): {shares}")
    return lines


def explain(
    run: Any,
    *,
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
    python_from: Any = None,
    files_from: Any = None,
) -> Explanation:
    """Returns the story of a run: what limited each flow, how slow start ended, what was lost and repaired, and what helps.

    `run`: a `Run`, the folder of one, or a scenario as `el.run` takes it, which is run then; `set`, `seed`, `python_from` and
    `files_from` are those of `el.run`. Every number is from the tables of the run.
    Raises InputError for a result that is no single run.

    >>> story = el.explain("sawtooth", set={"traffic.reno.congestion_control": "cubic", "stack": "rfc"})
    >>> story.findings[0].text.split(";")[0]
    'Slow start of cubic went on until the queue of left → right overflowed'
    """
    if isinstance(run, str | os.PathLike) and os.path.isfile(os.path.join(run, "manifest.json")):
        from elephan.base import kinds
        from elephan.result import folder

        where, manifest = folder.open_result(run)
        kind = kinds.find(manifest.get("kind"))
        if manifest.get("kind") != "run" or kind is None:
            raise InputError(f"{run}: explain tells the story of a single run, and this is a {manifest.get('kind')}")
        run = kind.load(where)
    elif not isinstance(run, Run):
        if getattr(run, "kind", None) is not None:
            raise InputError(f"explain tells the story of a single run, and this is a {run.kind}")
        run = run_scenario(run, set=set, seed=seed, python_from=python_from, files_from=files_from)
        return Explanation(run)
    if set or seed is not None or python_from is not None or files_from is not None:
        raise InputError("set, seed, python_from and files_from are for a scenario that explain runs, not for a run that there is")
    return Explanation(run)
