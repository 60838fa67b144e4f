"""Congestion controls as a user names them: `cubic`, `cubic:preset=linux`, `hybla:rtt0=25ms:reduce_from=flight`, or a
table as the scenario language writes it (`{ kind = "cubic", beta = 0.7 }`, in Python a dict).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from elephan import cc, core
from elephan.errors import InputError, nearest
from elephan.settings import split, value
from elephan.source import Source

_PROBE = """
duration = "1 s"
[template]
kind = "path"
hops = [{ rate = "1 Gbps", delay = "0 s" }, { rate = "1 Gbps", delay = "1 ms" }]
[[traffic]]
name = "flow"
from = "sender"
to   = "receiver"
kind = "bulk"
"""
_KEY = "congestion_control"


@dataclass(frozen=True)
class Law:
    """A congestion control with its parameters, and what figures call it."""

    label: str
    value: str | Mapping[str, Any] = field(hash=False)  # as the scenario takes it

    @property
    def kind(self) -> str:
        """The name in the registry; of a guest nothing that the registry knows."""
        return self.value if isinstance(self.value, str) else str(self.value.get("kind", "python"))

    @property
    def plain(self) -> bool:
        """Whether it has no parameters of its own."""
        return isinstance(self.value, str)


def _from_text(text: str) -> Law:
    if text.startswith("{"):
        table = value(text)
        if not isinstance(table, Mapping):
            raise InputError(f'{text}: not a table such as {{ kind = "cubic", beta = 0.7 }}')
        return _from_table(table)
    name, *parameters = (part.strip() for part in text.split(":"))
    if not parameters:
        return Law(name, name)
    table = {"kind": name}
    for parameter in parameters:
        key, equals, given = parameter.partition("=")
        if not equals or not key.strip() or not given.strip():
            raise InputError(f"{text}: write parameters as {name}:key=value")
        table[key.strip()] = value(given.strip())
    return _from_table(table)


def _from_table(table: Mapping[str, Any]) -> Law:
    name = table.get("kind", table.get("python"))
    if not isinstance(name, str):
        raise InputError(f'a congestion control is a name or a table with "kind", not {dict(table)!r}')
    others = [f"{key} {given}" for key, given in table.items() if key not in ("kind", "python")]
    return Law(" ".join([name.rpartition(":")[2], *others]), dict(table))


def _check(law: Law) -> None:
    """Refuses a law that the core does not take, with the core's reason."""
    known = cc.names()
    guest = isinstance(law.value, Mapping) and "kind" not in law.value
    if not guest and law.kind not in known:
        raise InputError(f'no congestion control "{law.kind}"{nearest(law.kind, known)}')
    try:
        core.resolve(Source(_PROBE, law.label, "toml", "probe"), {f"traffic.flow.{_KEY}": law.value}, 1)
    except InputError as error:
        why = str(error).rpartition(f"traffic[0].{_KEY}")[2].lstrip(".: ")
        raise InputError(f"{law.label}: {why or error}") from None


def read_laws(given: str | Sequence[Any]) -> list[Law]:
    """Several laws: a text with commas between them, or a list of names, texts and dicts. Each is checked."""
    if isinstance(given, str):
        given = split(given)
    if not isinstance(given, Sequence) or not given:
        raise InputError(f'congestion controls are a list such as ["reno", "cubic"], not {given!r}')
    laws: list[Law] = []
    for one in given:
        if isinstance(one, Mapping):
            law = _from_table(one)
        elif isinstance(one, str) and one.strip():
            law = _from_text(one.strip())
        elif isinstance(one, str):
            raise InputError("an empty name in the list of congestion controls")
        else:
            raise InputError(f"a congestion control is a name or a dict, not {one!r}")
        if law.label in (other.label for other in laws):
            raise InputError(f"{law.label} is given twice")
        _check(law)
        laws.append(law)
    return laws
