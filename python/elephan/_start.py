"""The first thing that the command `elephan` loads: while the rest is loaded, a signal ends it at once and without a traceback.

Nothing has begun by then that would have to be cleaned up. An exception would be lost where a library that is being loaded catches
it, and before `main` it would be a traceback. This module imports only what the interpreter has loaded when it comes here.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` would load `enum` first, which takes milliseconds
import os
import sys

INTERRUPTED = 130
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # Ctrl-C, the end that a system asks for, a terminal that goes away

_SCRIPTS = ("elephan", "elephan.exe", "elephan-script.py")


def leave(_number: int, _frame: object) -> None:
    """Ends the process with the line of an interrupted command."""
    os.write(2, b"elephan: interrupted\n")
    os._exit(INTERRUPTED)


def leave_quietly(_number: int, _frame: object) -> None:
    """Ends the process of a command that has written its line already."""
    os._exit(INTERRUPTED)


def _is_command() -> bool:
    """Whether this process is the command, not a program that uses elephan: its script, or `python -m elephan`."""
    if sys.argv[:1] == ["-m"]:  # as long as the module is looked for
        return any(pair == ("-m", "elephan") for pair in zip(sys.orig_argv, sys.orig_argv[1:], strict=False))
    return bool(sys.argv) and os.path.basename(sys.argv[0]) in _SCRIPTS


def handle(handler: object) -> None:
    """Lets the signals that end a command do so by this handler; what is ignored stays so, and what others handle stays theirs."""
    ours = (_signal.SIG_DFL, _signal.default_int_handler, leave, leave_quietly, *_handlers)
    _handlers.append(handler)
    for name in SIGNALS:
        number = getattr(_signal, name, None)
        if number is not None and _signal.getsignal(number) in ours:
            _signal.signal(number, handler)


_handlers: list[object] = []

if _is_command():
    handle(leave)
