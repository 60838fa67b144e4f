"""The command `elephan`. Exit status: 0 done, 1 a run (or, with --strict, a claim) failed, 2 bad input, 130 interrupted."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import elephan
from elephan._start import INTERRUPTED
from elephan.cli import ends, memory, state
from elephan.cli.text import write_whatever


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
    """Whether an error is what somebody has made of Ctrl-C: an import that failed, a library that says so in its own words, or code
    that missed what was not done. What went wrong beside it, such as a full disk, is told.
    """
    from elephan.base.errors import ElephanError

    if not state.interrupted:
        return False
    if not isinstance(error, ElephanError | OSError | MemoryError):
        return True
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in chain:
        chain.append(one)
        one = one.__cause__ or one.__context__
    return any(isinstance(one, KeyboardInterrupt | ImportError | SystemError) for one in chain)


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


def main() -> None:
    """Entry point of the installed command."""
    status = INTERRUPTED
    try:
        try:
            ends.while_loading()
            memory.spare()
            write_whatever()
            status = status_of()
        finally:
            ends.at_the_end(status)
    except KeyboardInterrupt:  # while the line of another was written, or between the end and its handlers
        status = INTERRUPTED
    if status == INTERRUPTED:
        # The interpreter notes that Ctrl-C left a text it executed, such as a dataclass's methods, and would end by the signal
        # instead of with this status. The next text lets it forget.
        exec("")
    if memory.limited or (status == INTERRUPTED and threading.active_count() > 1) or ends.is_held_up():
        memory.end(status)
    sys.exit(status)
