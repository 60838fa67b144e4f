"""What identifies a trial: its resolved scenario, seed, guests, engine, and what is measured.

Two trials with one key measure the same, whatever experiment they are part of. Title, question and answer of a scenario are words
and do not count; the seed stands apart, so that a variant is resolved once for all its seeds.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from elephan.base.errors import InputError
from elephan.experiment.told import told
from elephan.result.build import digest as digest
from elephan.result.build import engine as engine
from elephan.scenario import core
from elephan.scenario.guestsource import folder_of, inputs_of, named_in, provenance
from elephan.scenario.inputs import Inputs
from elephan.scenario.reference import HANDED_OVER, NAMED, may_name, present, short
from elephan.scenario.source import Source
from elephan.scenario.watch import Notes

_WORDS = re.compile(r"^(seed|title|question) = .*\n", re.MULTILINE)
_ANSWER = re.compile(r"^\[answer\]\n(?:(?!\[).*\n?)*", re.MULTILINE)


@dataclass(frozen=True)
class Identity:
    """What a trial depends on; each part but the seed is a digest or a name."""

    scenario: str
    seed: int
    guests: str
    engine: str
    measure: str
    inputs: str = ""  # what the run has read that nobody knew of before it

    @property
    def key(self) -> str:
        more = (self.inputs,) if self.inputs else ()
        return digest(self.scenario, str(self.seed), self.guests, self.engine, self.measure, *more)

    def having_read(self, more: Mapping[str, str]) -> Identity:
        """The identity of a trial whose run has read `more` than is known before runs: digests by the names of inputs."""
        return replace(self, inputs=digest(json.dumps(sorted(more.items()))) if more else "")

    def differs_from(self, other: Identity) -> list[str]:
        """Names of what differs."""
        words = {"scenario": "the scenario", "guests": "a guest", "engine": "the engine", "measure": "what is measured"}
        words["inputs"] = "what the run reads"
        return [word for name, word in words.items() if getattr(self, name) != getattr(other, name)]


@dataclass(frozen=True)
class Known:
    """What is known of a trial before it runs: its identity, None if nobody can tell, then `why`; and what it depends on."""

    identity: Identity | None
    inputs: Mapping[str, str]
    why: str = ""


class Identities:
    """Identities of trials. Trials of one variant share what is costly: their scenario is resolved once."""

    def __init__(self, measure: str, read: Inputs | None = None) -> None:
        """`measure`: what is measured; `read`: what that depends on beside the run."""
        self._measure, self._read = measure, read or Inputs()
        self._of_variant: dict[tuple[Source, str], Known] = {}

    def of(self, source: Source, overrides: Mapping[str, Any], seed: int) -> Identity | None:
        """Returns the identity of a trial, or None if nobody can tell: a guest without source."""
        return self.known(source, overrides, seed).identity

    def known(self, source: Source, overrides: Mapping[str, Any], seed: int) -> Known:
        """Returns what is known of a trial before it runs."""
        given = core.override_text(overrides)
        if (source, given) not in self._of_variant:
            self._of_variant[source, given] = self._resolved(source, overrides)
        found = self._of_variant[source, given]
        return replace(found, identity=found.identity and replace(found.identity, seed=seed))

    def _resolved(self, source: Source, overrides: Mapping[str, Any]) -> Known:
        source, notes = source.packed(), Notes()
        source.note_files(overrides, notes)
        toml = core.resolved_toml(source, overrides, 1)
        head, bracket, rest = toml.partition("\n[")
        words = _ANSWER.sub("", _WORDS.sub("", head + "\n") + bracket + rest)
        guests, read, why = _guests(source, core.toml_values(toml)) if may_name(toml) else ("", Inputs(), "")
        notes.end()  # the text of these files is in the resolved scenario
        read.add(Inputs.of(notes))
        read.add(self._read)
        if read.changed:
            raise InputError(f"{', '.join(sorted(read.changed))} changed while the scenario was read; run the command again")
        if why := why or "; ".join(sorted(read.unpinned)):
            return Known(None, read.digests, why)
        return Known(Identity(digest(words), 1, guests, engine(), self._measure), read.digests)


def _handed_over(reference: str) -> Any:
    """What the caller handed over whose file does not say what it is: made in a function, typed in, or using globals."""
    if reference in HANDED_OVER:
        return HANDED_OVER[reference]
    found = present(reference) if reference in NAMED else None
    return found if inspect.isfunction(found) else None


def _guests(source: Source, values: Mapping[str, Any]) -> tuple[str, Inputs, str]:
    """Returns a digest of the sources of all guests and what they depend on, that, and why there is no such digest, if so."""
    rows, found = provenance(values, source.name, source.agreed), Inputs()
    named = list(dict.fromkeys(named_in(values)))
    for row, (_, reference) in zip(rows, named, strict=True):
        if row["source_sha256"] is None:
            return "", found, f"{reference} has no source"
    folder = folder_of(source.name)
    session = []
    for key, reference in named:
        if (given := _handed_over(reference)) is not None:
            parts, _ = told(given)
            if parts is None:
                return "", found, f"{short(key, reference)} uses what has no bytes"
            session.append(digest(*parts))
        read = inputs_of(key, reference, folder, source.agreed)
        found.add(Inputs(read.digests, {f"{short(key, reference)} {why}" for why in read.unpinned}))
    here = f" {os.path.realpath(folder or '.')}{os.sep}"
    names = [(name.replace(here, " ", 1), found.digests[name]) for name in sorted(found.digests)]
    return digest(json.dumps(rows), json.dumps(names), *session) if rows else "", found, ""
