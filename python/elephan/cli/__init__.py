"""The command `elephan`. Exit status: 0 done, 1 a run (or, with --strict, a claim) failed, 2 bad input, 130 interrupted."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import elephan
from elephan.cli import memory, state
from elephan.cli.text import write_whatever

INTERRUPTED = 130


def _say(text: str) -> None:
    from elephan.base.errors import visible

    print(f"elephan: {visible(text.strip()) or 'failed'}", file=sys.stderr)


@contextmanager
def _notes() -> Iterator[None]:
    """Says on standard error which name has changed, and leaves other warnings as they are."""
    from elephan._renamed import Renamed

    with warnings.catch_warnings():
        warnings.simplefilter("always", Renamed)
        show = warnings.showwarning

        def say(message: Warning | str, category: type[Warning], *where: Any) -> None:
            _say(f"note: {message}") if issubclass(category, Renamed) else show(message, category, *where)

        warnings.showwarning = say  # type: ignore[assignment]
        yield


def _check_text(words: Sequence[str]) -> None:
    """Refuses bytes that are no text: neither a manifest nor the core can hold them."""
    from elephan.base.errors import InputError

    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise InputError(f"{word!r} is not text in {sys.getfilesystemencoding()}") from None


def status_of(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and gives its exit status; every error is a line on standard error, never a traceback."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _status_of(words)
    except KeyboardInterrupt:  # wherever it comes: during an import, while an error is told
        print("elephan: interrupted", file=sys.stderr)
        return INTERRUPTED


def _status_of(words: list[str]) -> int:
    if words == ["--version"]:  # which scripts ask often: without the parser of the command line
        print(f"elephan {elephan.__version__}")
        return 0
    from elephan.cli.app import run

    try:
        _check_text(words)
        memory.claim()
        with _notes():
            return run(words)
    except Exception as error:
        if _hides_interrupt(error):
            raise KeyboardInterrupt from None
        return _told(error)


def _hides_interrupt(error: Exception) -> bool:
    """Whether Ctrl-C came within an import that has made another error of it, as numpy's does."""
    return state.interrupted and any(isinstance(one, ImportError | SystemError) for one in (error, error.__context__))


def _told(error: Exception) -> int:
    """Writes an error as one line, and gives the exit status."""
    from elephan.base.errors import ElephanError, lacks_memory, shown

    if isinstance(error, ElephanError):
        _say(str(error))
        if state.verbose and error.__cause__ is not None:
            import traceback

            for line in traceback.format_exception(error.__cause__):
                print(shown(line), end="", file=sys.stderr)
        return error.exit_status
    if isinstance(error, BrokenPipeError):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - so that the interpreter's last flush finds somewhere to go
        return 0
    if isinstance(error, MemoryError):
        _say(memory.LINE)
        return 1
    if isinstance(error, OSError):
        _say(f"{error.filename or 'output'}: {error.strerror or error}")
        return 1
    if os.environ.get("ELEPHAN_TRACEBACK"):
        raise error
    _say(memory.LINE if lacks_memory(error) else f"internal error, please report it: {type(error).__name__}: {error}")
    return 1


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    state.interrupted = True
    signal.default_int_handler(number, frame)


def _clean_up_when_ended() -> None:
    """SIGTERM, and a terminal that goes away, end a command as Ctrl-C does; what is ignored stays so."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt)


def main() -> None:
    """Entry point of the installed command."""
    try:
        memory.spare()
        write_whatever()
        _clean_up_when_ended()
        status = status_of()
    except KeyboardInterrupt:
        status = INTERRUPTED
    if status == INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C ends the interpreter at once, without a traceback
        # The interpreter notes that Ctrl-C left a text it executed, such as a dataclass's methods, and would end by the signal
        # instead of with this status. The next text lets it forget.
        exec("")
    # The interpreter would wait for a thread in which a congestion control of the user never returns.
    if memory.limited or (status == INTERRUPTED and threading.active_count() > 1):
        memory.end(status)
    sys.exit(status)
