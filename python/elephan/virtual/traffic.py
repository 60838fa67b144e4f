"""The traffic of programs in a scenario: an entry that joins their hosts, where the scenario has none."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from elephan.base.errors import InputError
from elephan.scenario import core
from elephan.scenario.source import Source, json_text

_OF_ENTRY = re.compile(r"traffic\[\d+\]\.(?:from|to)(?:\[\d+\])?: (.*?)(?: \(and \d+ more\))?$")
_NO_WAY = ("no path of links", "send to itself", "other than itself")


def _values(source: Source) -> dict[str, Any]:
    """The values of a scenario's text; none if it cannot be read, which the core says better."""
    try:
        return dict((json.loads if source.format == "json" else tomllib.loads)(source.text))
    except (ValueError, RecursionError, TypeError):
        return {}


def _entry(sources: Sequence[str], destinations: Sequence[str], name: str) -> dict[str, Any]:
    return {"name": name, "kind": "program", "from": list(sources), "to": list(destinations), "pairing": "all"}


def _with(source: Source, values: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> Source:
    """The scenario with entries more. In TOML they come behind its text, so that errors keep their lines."""
    if source.format == "toml" and not re.search(r"^\s*traffic\s*=", source.text, re.MULTILINE):
        tables = ["\n".join(["[[traffic]]", *(f"{key} = {json.dumps(value)}" for key, value in one.items())]) for one in entries]
        return replace(source, text="\n".join([source.text, *tables]) + "\n")
    more = {**values, "traffic": [*values.get("traffic", []), *entries]}
    return replace(source, text=json_text(more), format="json")


def groups_of(source: Source, overrides: Mapping[str, Any], seed: int | None = None) -> dict[str, int]:
    """Returns the groups of hosts of a scenario, each with the number of its members."""
    values = _values(source)
    hosts = values.get("hosts")
    if not isinstance(hosts, dict) or values.get("traffic") or any(key.startswith(("hosts", "template")) for key in overrides):
        resolved = core.toml_values(core.resolved_toml(source, overrides, seed))
        hosts = resolved.get("hosts", {})
    return {str(name): int(one.get("count", 1)) if isinstance(one, dict) else 1 for name, one in hosts.items()}


def with_traffic(source: Source, overrides: Mapping[str, Any], seed: int | None, names: Sequence[str]) -> Source:
    """Returns the scenario with traffic of kind `program` between the hosts of these names, unless it has some.

    All pairs of hosts are joined that a path of links joins. Raises InputError for a host that the scenario does not have.
    """
    values = _values(source)
    traffic = values.get("traffic", [])
    if not values or any(isinstance(one, dict) and one.get("kind") == "program" for one in traffic):
        return source
    of_label = _of_labels(source, overrides, seed)
    groups = list(dict.fromkeys(of_label.get(name.lower(), name.partition("[")[0]) for name in names))
    if not groups:
        raise InputError("no programs: give a coroutine for each host, by its name")
    if len(groups) == 1:
        groups += [str(name) for name in values.get("hosts", {}) if name not in groups]
    taken = {one.get("name") for one in traffic if isinstance(one, dict)}
    free = (name for name in itertools.chain(["programs"], (f"programs-{n}" for n in itertools.count(2))) if name not in taken)
    every = _with(source, values, [_entry(groups, groups, next(free))])
    error = _error(every, overrides, seed)
    if error is None:
        return every
    if not any(words in str(error) for words in _NO_WAY):
        raise error
    pairs = [_entry([a], [b], next(free)) for a, b in itertools.combinations_with_replacement(groups, 2)]
    joined = [one for one in pairs if _error(_with(source, values, [one]), overrides, seed) is None]
    if not joined:
        raise InputError(f"{source.name}: no path of links and switches joins the hosts of the programs: {', '.join(groups)}")
    return _with(source, values, joined)


def _of_labels(source: Source, overrides: Mapping[str, Any], seed: int | None) -> dict[str, str]:
    """The group of each member by the names that programs have for it, in small letters: `worker-2` and `worker2` of `worker`."""
    try:
        groups = groups_of(source, overrides, seed)
    except InputError:  # without the entry that is to be added it may be no scenario yet
        hosts = _values(source).get("hosts", {})
        counts = {
            str(name): overrides.get(f"hosts.{name}.count", one.get("count", 1))
            for name, one in hosts.items()
            if isinstance(one, dict)
        }
        groups = {name: count if isinstance(count, int) else 1 for name, count in counts.items()}
    members = ((group, number) for group, count in groups.items() for number in range(count))
    return {f"{group}{dash}{number}".lower(): group for group, number in members for dash in ("-", "")}


def _error(source: Source, overrides: Mapping[str, Any], seed: int | None) -> InputError | None:
    """What is wrong with the scenario; of a name of ours without the line, which nobody wrote."""
    try:
        core.resolve(source, overrides, seed)
    except InputError as error:
        found = _OF_ENTRY.search(str(error))
        return InputError(f"{source.name}: {found[1]}") if found else error
    return None
