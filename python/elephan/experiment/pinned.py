"""Whether a trial has read what its key says: before it is kept, and before it is taken from a store.

The key covers what is known before the runs. What a run has read beyond it is kept with its trial, by name and digest; such a
trial is taken from the store where each of these inputs is the same now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from elephan.experiment.job import Job, Measure, Outcome, read_by
from elephan.experiment.store.identity import Identities, Identity, Known
from elephan.experiment.store.row import Kept
from elephan.scenario.inputs import state
from elephan.scenario.pack import Pack
from elephan.scenario.source import Source


def packed(jobs: Sequence[Job]) -> list[Job]:
    """The jobs, whose files are read once from now on."""
    pack, found = Pack(copies=True), dict[int, Source]()
    return [replace(job, source=found.setdefault(id(job.source), job.source.packed(pack))) for job in jobs]


def known(jobs: Sequence[Job], measure: Measure) -> list[Known]:
    """What is known of each trial before it runs."""
    found: dict[str, Identities] = {}
    names = [measure.name(job) for job in jobs]
    read = read_by(measure)
    return [
        found.setdefault(name, Identities(name, read)).known(job.source, job.overrides, job.seed)
        if name is not None
        else Known(None, {}, "what is measured has no source, or has changed since Python loaded it")
        for name, job in zip(names, jobs, strict=True)
    ]


@dataclass
class Found:
    """Trials of a store, for identities that are known before their runs."""

    kept: Mapping[str, Kept]
    more: Sequence[Mapping[str, str]]  # what runs have read that nobody knew of before: the inputs as they are now

    @classmethod
    def none(cls) -> Found:
        """Of no store."""
        return cls({}, ())

    def of(self, one: Identity) -> Kept | None:
        """The trial with an identity, if what its run has read beyond that is the same now."""
        rows = filter(None, (self.kept.get(each.key) for each in _each(one, self.more)))
        return min(rows, key=lambda row: row.error != "", default=None)


def _each(one: Identity, more: Iterable[Mapping[str, str]]) -> list[Identity]:
    return [one, *(one.having_read(inputs) for inputs in more)]


def wanted(some: Iterable[Known], names: Iterable[Sequence[str]]) -> tuple[list[Identity], list[Mapping[str, str]]]:
    """The identities to look for in a store, and its inputs as they are now. `names`: of the inputs that its trials have."""
    more: list[Mapping[str, str]] = []
    for each in names:
        now = {name: digest for name in each if (digest := state(name)) is not None}
        more += [now] if len(now) == len(each) else []
    found = [one.identity for one in some if one.identity is not None]
    return list(chain.from_iterable(_each(one, more) for one in found)), more


@dataclass
class Judge:
    """Looks at what runs have read, before their trials are kept."""

    why: Counter[str] = field(default_factory=Counter)  # trials are not kept

    def judged(self, one: Known, outcome: Outcome) -> tuple[Identity | None, Mapping[str, str]]:
        """The identity under which a trial is kept, None if it is not; and what its run has read beyond what was known.

        A run that has read what is no longer the same has failed, as others of its experiment have read something else.
        """
        read = outcome.inputs
        changed = set(read.changed)
        more = {name: digest for name, digest in read.digests.items() if name not in one.inputs}
        for name, digest in read.digests.items():
            if digest != one.inputs.get(name, digest):
                changed.add(name.partition(" ")[2])
        changed |= {name.partition(" ")[2] for name, digest in more.items() if state(name) != digest}
        if changed:
            outcome.error = f"{', '.join(sorted(changed))} changed while the experiment ran; the same command runs this again"
            outcome.measured = None
            return None, {}
        why = one.why or "; ".join(sorted(read.unpinned))
        if one.identity is None or why:
            self.why[why] += 1
            return None, {}
        return one.identity.having_read(more), more

    @property
    def lines(self) -> list[str]:
        """A line for each reason why trials are not kept."""
        return [f"{count} trial{'s are' if count > 1 else ' is'} not kept: {why}" for why, count in self.why.most_common()]
