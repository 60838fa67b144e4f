"""What the trials of a store come from: version of elephan, text of the scenario, and what each variant changes in it.

A row of a store has digests alone. `origins/DIGEST.json.gz` says of what: one file for each experiment and build of elephan, whose
name is the digest of its content, so that the same command writes the same file again.
"""

from __future__ import annotations

import gzip
import json
import os
import secrets
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError
from elephan.experiment.store import parts
from elephan.result.build import digest
from elephan.scenario import core
from elephan.scenario.source import Source

if TYPE_CHECKING:
    from elephan.experiment.job import Job
    from elephan.experiment.store.identity import Identity

FOLDER = "origins"


@dataclass(frozen=True)
class Origin:
    """Where trials come from. `changed`: what is set in the scenario, by the digest that rows have of it."""

    elephan: str
    engine: str
    source: Source
    changed: Mapping[str, Mapping[str, Any]]


def write(where: Path, jobs: Sequence[Job], identities: Sequence[Identity | None]) -> None:
    """Writes what jobs come from into a store."""
    found: dict[tuple[Source, str], dict[str, Any]] = {}
    for job, identity in zip(jobs, identities, strict=True):
        if identity is not None:
            found.setdefault((job.source, identity.engine), {})[identity.scenario] = json.loads(core.override_text(job.overrides))
    for (source, engine), changed in found.items():
        words = {"text": source.text, "name": source.name, "format": source.format, "stem": source.stem}
        content = {"elephan": core.call("version"), "engine": engine, "source": words, "changed": changed}
        data = json.dumps(content, sort_keys=True).encode()
        file = where / FOLDER / f"{digest(data)}.json.gz"
        if not file.exists():
            file.parent.mkdir(exist_ok=True)
            aside = file.with_name(f".{secrets.token_hex(8)}")
            aside.write_bytes(gzip.compress(data, mtime=0))
            os.replace(aside, file)


def read(where: Path) -> Iterator[Origin]:
    """Gives what the trials of a store come from; InputError for a damaged file."""
    for file in sorted((where / FOLDER).glob("*.json.gz")):
        try:
            yield _read(file)
        except parts.Damaged as why:
            raise InputError(f"{file}: damaged: {why}") from None


def damage(where: Path) -> list[str]:
    """Returns a line for each damaged file; trials do without it, and `elephan doctor` knows less of them."""
    found = []
    for file in sorted((where / FOLDER).glob("*.json.gz")):
        try:
            _read(file)
        except parts.Damaged as why:
            found.append(f"{file}: {why}; remove it, and the same command writes it again")
    return found


def _read(file: Path) -> Origin:
    try:
        data = gzip.decompress(parts.read_bytes(file))
        if file.name != f"{digest(data)}.json.gz":
            raise parts.Damaged("its content is not what was written")
        one = json.loads(data)
        return Origin(one["elephan"], one["engine"], Source(**one["source"]), one["changed"])
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error) as error:
        raise parts.Damaged(str(error)) from None
