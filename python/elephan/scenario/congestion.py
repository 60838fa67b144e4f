"""Congestion controls as a user names them: `cubic`, `cubic:preset=linux`, `hybla:rtt0=25ms:reduce_from=flight`, or a
table as the scenario language writes it (`{ kind = "cubic", beta = 0.7 }`, in Python a dict). One's own: `mine.py:Mine`,
`lab.controllers:Mine:share=0.1`, a program `./mine:share=0.1`; in Python also the class, a function that gives an object, or
`{"kind": Mine, "share": 0.1}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from elephan import _renamed
from elephan.base.errors import InputError, nearest
from elephan.scenario import core
from elephan.scenario.model import Table, plain
from elephan.scenario.reference import KEYS, reference_of, short
from elephan.scenario.settings import split, value
from elephan.scenario.source import Source


def names() -> list[str]:
    """Returns the names of the congestion controls that there are."""
    return [name for name, _ in core.call("listing", "congestion-controls")]


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
class Controller:
    """A congestion control with its parameters, and what figures call it."""

    label: str
    value: str | Mapping[str, Any] = field(hash=False)  # as the scenario takes it

    @property
    def kind(self) -> str:
        """The name in the registry; of a guest nothing that the registry knows."""
        return self.value if isinstance(self.value, str) else str(self.value.get("kind", (reference_of(self.value) or KEYS)[0]))

    @property
    def plain(self) -> bool:
        """Whether it has no parameters of its own."""
        return isinstance(self.value, str)


def controller_of(text: str) -> Controller:
    """A congestion control as a command line names it."""
    if text.startswith("{"):
        table = value(text)
        if not isinstance(table, Mapping):
            raise InputError(f'{text}: not a table such as {{ kind = "cubic", beta = 0.7 }}')
        return _from_table(table)
    name, *parameters = (part.strip() for part in text.split(":"))
    program = "/" in name and not name.endswith(".py")
    own = not program and bool(parameters) and "=" not in parameters[0] and name not in names()
    if own:
        name = f"{name}:{parameters.pop(0)}"
    given: dict[str, Any] = {}
    for parameter in parameters:
        key, equals, written = parameter.partition("=")
        if not equals or not key.strip() or not written.strip():
            raise InputError(f"{text}: write parameters as {name}:key=value")
        given[key.strip()] = value(written.strip())
    if own or program:
        return _from_table({"python" if own else "program": name, **({"params": given} if given else {})})
    return _from_table({"kind": name, **given}) if given else Controller(name, name)


def _from_table(table: Mapping[str, Any]) -> Controller:
    key, kind = reference_of(table) or ("kind", table.get("kind"))
    if not isinstance(kind, str):
        if callable(kind):
            return _from_table(core.guest_words(kind, {key: given for key, given in table.items() if key != "kind"}))
        raise InputError(f'a congestion control is a name or a table with "kind", not {dict(table)!r}')
    found = plain(table)
    shown = {name: given for name, given in found.items() if name not in ("kind", key, "deadline")}
    if key != "kind":
        params = shown.pop("params", {})
        shown |= params if isinstance(params, Mapping) else {"params": params}
    return Controller(" ".join([short(key, kind), *(f"{name} {given}" for name, given in shown.items())]), found)


def _apart(controller: Controller, others: Sequence[Controller]) -> Controller:
    """The controller, under the whole name of its class where another class has the same label."""
    same = next((other for other in others if other.label == controller.label), None)
    if same is None:
        return controller
    _, whole = reference_of(controller.value) or ("", "")
    if same.value == controller.value or not whole or any(other.label == whole for other in others):
        raise InputError(f"{controller.label} is given twice")
    return replace(controller, label=controller.label.replace(controller.label.split(" ")[0], whole, 1))


def _check(controller: Controller, python_from: Any) -> None:
    """Refuses a controller that the core does not take, with the core's reason."""
    known = names()
    guest = isinstance(controller.value, Mapping) and "kind" not in controller.value
    if not guest and controller.kind.endswith(".py"):
        other = f'; a program is written as {{ program = "{controller.kind}" }}'
        raise InputError(f"{controller.kind}: which class of this file? Write it as {controller.kind}:Class{other}")
    if not guest and controller.kind not in known:
        there = [name for name in known if _refusal(Controller(name, name), None) is None]
        raise InputError(f'no congestion control "{controller.kind}"{nearest(controller.kind, there, "there are")}')
    why = _refusal(controller, python_from)
    if why is not None:
        raise InputError(why.removeprefix("python: ").removeprefix("program: ") if guest else f"{controller.label}: {why}")


def _refusal(controller: Controller, python_from: Any) -> str | None:
    """Why the core does not take a controller for a connection of TCP, if it does not."""
    try:
        probe = Source(_PROBE, controller.label, "toml", "probe").with_trust(python_from, controller.value)
        core.resolve(probe, {f"traffic.flow.{_KEY}": controller.value}, 1)
    except InputError as error:
        why = str(error).rpartition(f"traffic[0].{_KEY}")[2].lstrip(".: ")
        # There is no transport to say here.
        return why.partition(": say transport = ")[0] or str(error)
    return None


def read_controllers(given: str | Sequence[Any], python_from: Any = None) -> list[Controller]:
    """Several controllers: a text with commas between them, or a list of names, texts, dicts and classes. Each is checked.

    `python_from`: as of `el.run`.
    """
    if isinstance(given, str):
        given = split(given)
    if not isinstance(given, Sequence) or not given:
        raise InputError(f'congestion controls are a list such as ["reno", "cubic"], not {given!r}')
    controllers: list[Controller] = []
    for one in given:
        if isinstance(one, Mapping | Table):
            controller = _from_table(plain(one) if isinstance(one, Table) else one)
        elif isinstance(one, str) and one.strip():
            controller = controller_of(one.strip())
        elif isinstance(one, str):
            raise InputError("an empty name in the list of congestion controls")
        elif callable(one) or hasattr(one, "on_congestion"):
            controller = _from_table(plain(one))
        else:
            raise InputError(f"a congestion control is a name, a dict or a class, not {one!r}")
        controller = _apart(controller, controllers)
        _check(controller, python_from)
        controllers.append(controller)
    return controllers


__getattr__ = _renamed.members(__name__, Law="Controller", read_laws="read_controllers", law_of="controller_of")
