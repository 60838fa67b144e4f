"""What identifies a trial: its resolved scenario, seed, guests, engine, and what is measured.

Two trials with one key measure the same, whatever experiment they are part of. Title, question and answer of a scenario are words
and do not count; the seed stands apart, so that a variant is resolved once for all its seeds.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from elephan.result.build import digest as digest
from elephan.result.build import engine as engine
from elephan.scenario import core
from elephan.scenario.guest import files_of
from elephan.scenario.guestsource import file_of, folder_of, provenance
from elephan.scenario.reference import may_name
from elephan.scenario.source import Source

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

    @property
    def key(self) -> str:
        return digest(self.scenario, str(self.seed), self.guests, self.engine, self.measure)

    def differs_from(self, other: Identity) -> list[str]:
        """Names of what differs."""
        words = {"scenario": "the scenario", "guests": "a guest", "engine": "the engine", "measure": "what is measured"}
        return [word for name, word in words.items() if getattr(self, name) != getattr(other, name)]


class Identities:
    """Identities of trials. Trials of one variant share what is costly: their scenario is resolved once."""

    def __init__(self, measure: str) -> None:
        self._measure = measure
        self._of_variant: dict[tuple[Source, str], Identity | None] = {}

    def of(self, source: Source, overrides: Mapping[str, Any], seed: int) -> Identity | None:
        """Returns the identity of a trial, or None if nobody can tell: a guest without source."""
        given = core.override_text(overrides)
        if (source, given) not in self._of_variant:
            self._of_variant[source, given] = self._resolved(source, overrides)
        found = self._of_variant[source, given]
        return found and replace(found, seed=seed)

    def _resolved(self, source: Source, overrides: Mapping[str, Any]) -> Identity | None:
        toml = core.resolved_toml(source, overrides, 1)
        head, bracket, rest = toml.partition("\n[")
        words = _ANSWER.sub("", _WORDS.sub("", head + "\n") + bracket + rest)
        guests = _guests(source, core.toml_values(toml)) if may_name(toml) else ""
        return None if guests is None else Identity(digest(words), 1, guests, engine(), self._measure)


def _guests(source: Source, values: Mapping[str, Any]) -> str | None:
    """Returns a digest of the sources of all guests, with the files beside them that they import; None if one has no source."""
    rows = provenance(values, source.name, source.agreed)
    if any(row["source_sha256"] is None for row in rows):
        return None
    parts = [json.dumps(rows)] if rows else []
    for row in rows:
        if "python" in row and (file := file_of("python", row["python"], folder_of(source.name), source.agreed)):
            parts += [hashlib.sha256(one.read_bytes()).hexdigest() for one in files_of(file)]
    return digest(*parts) if parts else ""
