"""Exceptions that come from outside: raised by a signal handler of Python, or by a function that the caller gave.

They are nobody's failure in elephan, so that nothing here takes them for a file that cannot be written or a class that is wrong.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import traceback
from collections.abc import Callable
from types import CodeType
from typing import Any


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during an experiment. `result` is of what was done by then; `folder` holds it, if it was to be saved."""

    def __init__(self, result: Any, folder: str | os.PathLike[str] | None) -> None:
        super().__init__()
        self.result, self.folder = result, folder


_MARK = "_elephan_from_outside"


def _handlers() -> set[CodeType]:
    """The code of every signal handler that is written in Python."""
    codes = set()
    for number in signal.valid_signals():
        handler: Any = signal.getsignal(number)
        while isinstance(handler, functools.partial):
            handler = handler.func
        handler = getattr(handler, "__func__", handler)
        if callable(handler) and not hasattr(handler, "__code__"):
            handler = type(handler).__call__
        code = getattr(handler, "__code__", None)
        if isinstance(code, CodeType):
            codes.add(code)
    return codes


def from_outside(error: BaseException) -> bool:
    """Whether a signal handler has raised an exception, or a function of the caller's; Ctrl-C is the first of these."""
    if isinstance(error, KeyboardInterrupt) or getattr(error, _MARK, False):
        return True
    if error.__traceback__ is None:
        return False
    codes = _handlers()
    return any(frame.f_code in codes for frame, _ in traceback.walk_tb(error.__traceback__))


def mark(error: BaseException) -> None:
    """Notes that an exception comes from outside."""
    with contextlib.suppress(AttributeError, TypeError):
        setattr(error, _MARK, True)


def of_caller(function: Callable[..., Any]) -> Callable[..., Any]:
    """The caller's function; what it raises is marked as coming from outside."""

    def called(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BaseException as error:
            mark(error)
            raise

    return called
