"""Whether the machine failed, and not what it ran: the one place that tells such errors from errors of a scenario.

A run that a full disk, missing memory or a lost process ended says nothing about its scenario. No store keeps it as a result,
and the same command runs it again.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor

from elephan.base.errors import ElephanError, lacks_memory

# What the system refuses, whoever asked: a file, memory, a process, a module that is not installed, an answer by the clock.
_OF_MACHINE = (OSError, MemoryError, ImportError, BrokenExecutor, subprocess.TimeoutExpired)

# Signals by which others end a process: the system without memory, an administrator, a terminal, a limit.
_FROM_OUTSIDE = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGXCPU", "SIGXFSZ", "SIGBUS", "SIGPWR")
_NO_INTERPRETER = (126, 127)  # statuses of `env` and of shells for a command that cannot be run, or is not there


def of_machine(error: BaseException) -> bool:
    """Returns whether an error, or one that it came from, is of the machine or its environment.

    An error that was raised while another one was handled came from that one, unless it was raised `from None`.
    """
    return any(_is_of_machine(one) for one in _chain(error))


def ended_from_outside(status: int) -> bool:
    """Returns whether the exit status of a process, negative for a signal, says that its environment ended it."""
    if status >= 0:
        return status in _NO_INTERPRETER
    return status in {-int(getattr(signal, name)) for name in _FROM_OUTSIDE if hasattr(signal, name)}


def _is_of_machine(error: BaseException) -> bool:
    if isinstance(error, ElephanError):
        return error.of_machine
    return isinstance(error, _OF_MACHINE) or (isinstance(error, Exception) and lacks_memory(error))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Gives an error and those that it came from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
