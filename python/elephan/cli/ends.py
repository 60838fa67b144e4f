"""How a command ends before its time: by Ctrl-C, by SIGTERM, or because its terminal goes away.

While modules are loaded, such a signal ends the process at once (`elephan._start`). While the command runs, a signal raises
`KeyboardInterrupt`, so that what has begun is cleaned up; another signal raises it again. If the main thread is in a call of a
library that does not come back, nobody can raise anything: after `PATIENCE_S` a thread of the core ends the process.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn

from elephan import _start
from elephan._start import INTERRUPTED
from elephan.cli import state

PATIENCE_S = 1.0
AGAIN_S = 0.02


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    state.interrupted = number
    signal.default_int_handler(number, frame)


def while_loading() -> None:
    """From here a signal ends the process at once."""
    _start.handle(_start.leave)
    state.armed = True


def while_running() -> None:
    """From here a signal raises `KeyboardInterrupt`; nothing changes in a process whose signals are another program's."""
    if not state.armed:
        return
    _watch()
    sys.unraisablehook = _unraisable
    threading.excepthook = _in_a_thread
    _start.handle(_interrupt)


def at_the_end(status: int) -> None:
    """From here a signal ends the process at once again, with what was printed written."""
    if state.armed:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        _start.handle(_start.leave_quietly if status == INTERRUPTED else _start.leave)


def is_held_up() -> bool:
    """Returns whether the interpreter would wait for a thread in which a congestion control of the user never returns."""
    end = time.monotonic() + PATIENCE_S
    others = [one for one in threading.enumerate() if one is not threading.main_thread() and not one.daemon]
    for one in others:
        one.join(max(0.0, end - time.monotonic()))
    return any(one.is_alive() for one in others)


def _watch() -> None:
    """Lets the core end the process where the main thread answers no signal; without it, as on Windows, nobody does."""
    try:
        from elephan import _core

        end_unanswered = _core.end_unanswered
    except (ImportError, AttributeError):
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    end_unanswered(reading, PATIENCE_S, INTERRUPTED)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    # A child would write into the pipe of its parent.
    os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))


def _unraisable(found: Any) -> None:
    """Raises an interrupt again that came where nothing can be raised, as in a destructor."""
    if state.interrupted and isinstance(found.exc_value, KeyboardInterrupt):
        # Not from here, where it would be lost too.
        again = threading.Timer(AGAIN_S, _thread.interrupt_main, [signal.Signals(state.interrupted)])
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(found)


def _in_a_thread(found: Any) -> None:
    """Says nothing of threads that are ended by an interrupt."""
    if not (state.interrupted and issubclass(found.exc_type, KeyboardInterrupt)):
        threading.__excepthook__(found)
