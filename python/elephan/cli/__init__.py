"""The command `elephan`. Exit status: 0 done, 1 a run (or, with --strict, a claim) failed, 2 bad input, 130 interrupted."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

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
    from elephan.base.errors import ElephanError, lacks_memory, shown
    from elephan.cli.app import run

    try:
        _check_text(words)
        memory.claim()
        with _notes():
            return run(words)
    except ElephanError as error:
        _say(str(error))
        if state.verbose and error.__cause__ is not None:
            import traceback

            for line in traceback.format_exception(error.__cause__):
                print(shown(line), end="", file=sys.stderr)
        return error.exit_status
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - so that the interpreter's last flush finds somewhere to go
        return 0
    except MemoryError:
        _say(memory.LINE)
        return 1
    except OSError as error:
        _say(f"{error.filename or 'output'}: {error.strerror or error}")
        return 1
    except Exception as error:
        if os.environ.get("ELEPHAN_TRACEBACK"):
            raise
        if lacks_memory(error):
            _say(memory.LINE)
            return 1
        _say(f"internal error, please report it: {type(error).__name__}: {error}")
        return 1


def _clean_up_when_ended() -> None:
    """SIGTERM, and a terminal that goes away unless that is ignored, end a command as Ctrl-C does."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def main() -> None:
    """Entry point of the installed command."""
    memory.spare()
    write_whatever()
    _clean_up_when_ended()
    status = status_of()
    if status == INTERRUPTED:  # a second Ctrl-C ends the interpreter at once, without a traceback
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if memory.limited:
        memory.end(status)
    sys.exit(status)
