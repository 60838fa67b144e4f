"""The objects of the core that a caller steps by hand: what is wrong with an argument of a method is one line, as everywhere."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from elephan.base.errors import ElephanError, InputError

CLASSES = (
    "Cc", "CongestionPoint", "DiskModel", "PrrRecovery", "Queue", "ReactionPoint", "ReceiveSide", "Rounds", "RttEstimator",
    "SackWalker", "TcpEndpoint", "TransmitSide",
)  # fmt: skip

_NOTE = "while processing "
"""How a note of the core begins that names a parameter."""


@functools.cache
def tell_wrong_arguments(module: ModuleType) -> None:
    """Lets the methods of these classes raise our errors: an `InputError` for an argument that the core cannot read."""
    for owner in [vars(module)[name] for name in CLASSES if name in vars(module)]:
        for method in [key for key, value in vars(owner).items() if callable(value) and not key.startswith("__")]:
            setattr(owner, method, _telling(getattr(owner, method), module.RunError))


def _telling(method: Callable[..., Any], failure: type[Exception]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(*arguments: Any, **named: Any) -> Any:
        try:
            return method(*arguments, **named)
        except ElephanError:
            raise
        except failure as error:
            raise ElephanError(str(error)) from error.__cause__
        except (TypeError, ValueError, OverflowError) as error:
            parameter = _parameter(error)
            if parameter is None:
                raise
            raise InputError(f"{method.__name__}: {parameter}: {' '.join(str(error).split())}") from None

    return called


def _parameter(error: Exception) -> str | None:
    """Returns the parameter whose argument the core could not read. `None`: the error is from elsewhere, such as a congestion
    control in Python, or the call has too few or unknown arguments, which stays a TypeError, as Python has it.
    """
    notes = [note for note in getattr(error, "__notes__", ()) if note.startswith(_NOTE)]
    return notes[0].removeprefix(_NOTE).strip("'") if notes else None
