"""The host that a piece of a program runs on, and how a program learns that something is not possible there."""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from elephan.base.errors import InputError

if TYPE_CHECKING:
    from elephan.virtual.network import Network


@dataclass(eq=False, slots=True)
class Host:
    """A host of the scenario while programs run."""

    network: Network
    number: int  # its place in the core's list
    name: str  # as the scenario has it: `client`, `worker[2]`
    label: str  # as programs have it: `client`, `worker-2`
    ipv4: str
    ipv6: str
    listening: int = 0  # sockets that wait for connections, or for datagrams at a port that was asked for
    streams: int = 0  # ends of connections that are open
    executor_time: float = 0.0  # seconds that each function takes which a program gives to an executor
    signals: dict[int, Any] = field(default_factory=dict)  # handlers that a program has set; no signal comes

    def __repr__(self) -> str:
        return f"<host {self.name}>"


# The host of the running piece of program. Transports, servers and tasks take the context in which they were made along.
HOST: ContextVar[Host | None] = ContextVar("elephan_virtual_host", default=None)

_OWN = os.path.dirname(os.path.abspath(__file__))
_LIBRARY = os.path.dirname(os.path.abspath(os.__file__))


def is_own_code(file: str) -> bool:
    """Returns whether a file is part of a user's program: neither of Python, nor of an installed library, nor of this room."""
    if file.startswith(("<", _OWN)):
        return False
    return not file.startswith(_LIBRARY) and "site-packages" not in file and "dist-packages" not in file


def place(frame: Any = None) -> str:
    """Returns `file:line` of the innermost frame that a user wrote; without a frame, that of the caller."""
    frame = frame or sys._getframe(1)
    first = ""
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_OWN):
            first = first or f"{os.path.basename(file)}:{frame.f_lineno}"
            if is_own_code(file):
                return f"{os.path.basename(file)}:{frame.f_lineno}"
        frame = frame.f_back
    return first


def refuse(what: str, instead: str = "") -> NoReturn:
    """Raises InputError with host and place of what is not possible in virtual time, and ends the run with that line."""
    host = HOST.get()
    who = f"{host.name}: " if host is not None else ""
    error = InputError(f"{who}{place(sys._getframe(1))}: {what}{f'; {instead}' if instead else ''}")
    if host is not None and host.network.refusal is None:
        host.network.refusal = error
    raise error
