"""A program at the other end of two pipes: it gets a line of JSON and answers with one. `docs/programs.md` has the protocol.

The program runs in a session of its own, so that Ctrl-C in a terminal reaches elephan alone. It ends with its `Pipe`: its input is
closed, and what still runs a moment later is killed, with all processes that it started in its group.

A deadline is no wall clock. A look at the program counts for at most `_COUNTED` seconds, so that a machine that stood still, or was
suspended, costs one look. While the program is ready to run and the processor is busy with others, only its processor time counts.
A program that computed for most of its deadline failed by itself; one that mostly waited may answer the next time.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from elephan.base.errors import ElephanError
from elephan.base.machine import ended_from_outside

_GRACE = 0.2  # seconds to end in, once the input is closed
_ENDING = 1.0  # seconds that the system may take to end a process that has closed its output
_TRIES = 20
_SLICE = 0.1  # seconds between two looks at whether the run is to stop
_COUNTED = 2 * _SLICE  # seconds that a look counts for at most
_LONGEST = 64 * 1024  # bytes of an answer
_SHOWN = 200  # characters of what a program wrote in an error
_PIECE = 64 * 1024
LATE = "did not answer line"  # in the error for an answer that has not come in time


class ProgramError(ElephanError):
    """A program as a congestion control has failed: it ended, did not answer in time, or answered nonsense.

    `of_machine`: whether its environment made it fail.
    """

    def __init__(self, message: object = "", of_machine: bool = False) -> None:
        super().__init__(message)
        self.of_machine = of_machine


class ProgramHung(ProgramError):
    """A program has not answered in time."""


class _Patience:
    """How much of its deadline a program has used for an answer, in seconds."""

    def __init__(self, process: int, deadline: float) -> None:
        self._process, self._deadline = process, deadline
        self._looked, self._used, self._computed = 0.0, 0.0, 0.0
        self._processor: float | None = None  # seconds, at the look before; None before the first one

    def begin(self, now: float) -> None:
        """Called when the program is asked. `now`: seconds of the monotonic clock."""
        self._looked, self._used, self._computed, self._processor = now, 0.0, 0.0, None

    def ends(self) -> bool:
        """Looks at the clocks; returns whether the deadline is over."""
        now = time.monotonic()
        if now - self._looked < _SLICE / 2:  # the system counts processor time in hundredths of a second
            return False
        passed, self._looked = min(now - self._looked, _COUNTED), now
        ready, processor = _processor_of(self._process)
        computed = max(0.0, processor - self._processor) if self._processor is not None else 0.0
        self._processor = processor
        self._computed += min(computed, passed)
        self._used += min(computed, passed) if ready else passed
        return self._used > self._deadline

    @property
    def waited(self) -> bool:
        """Whether the program has mostly waited for something else than the processor."""
        return self._computed < self._used / 2


def _processor_of(process: int) -> tuple[bool, float]:
    """Returns whether a process is ready to run or runs, and its processor time in seconds; only Linux tells."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return fields[0] == b"R", (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return False, 0.0


class _Cost:
    """What the programs of this process have cost: answers, and the seconds in which they were waited for."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.answers, self.seconds = 0, 0.0

    def add(self, seconds: float) -> None:
        with self.lock:  # runs are in threads
            self.answers += 1
            self.seconds += seconds


_COST = _Cost()


def cost() -> tuple[int, float]:
    """Returns how many answers programs have given to this process, and the seconds that it asked and waited for them."""
    with _COST.lock:
        return _COST.answers, _COST.seconds


def _started(program: str) -> subprocess.Popen[bytes]:
    """Starts a program. It has just been written: a process that another thread forks may have it open for a moment."""
    for left in reversed(range(_TRIES)):
        try:
            return subprocess.Popen(
                [program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            if error.errno != errno.ETXTBSY or not left:
                raise
        time.sleep(_GRACE / _TRIES)
    raise AssertionError


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")


_decode: Callable[[str], Any] = json.JSONDecoder(parse_constant=_no_number).decode


class Pipe:
    """A program that has been started; errors call it `shown`. What goes wrong raises `ProgramError`, and the program runs no more.

    `stopped`: whether what asks is to stop, so that a program that does not answer keeps nobody from Ctrl-C. `missed`: the
    deadline in seconds that the same program has missed before in what asks; 0 for none.
    """

    def __init__(self, path: Path, shown: Path, deadline: float, stopped: Callable[[], bool], missed: float = 0.0) -> None:
        try:
            process = _started(os.path.abspath(path))
        except OSError as error:
            raise ProgramError(f"cannot be started: {error.strerror or error}{_hint(shown, error)}", of_machine=True) from error
        self._process = process
        self._in, self._out, self._err = (stream.fileno() for stream in _streams(process))
        self._deadline, self._stopped, self._missed = deadline, stopped, missed
        self._patience = _Patience(process.pid, deadline)
        self.hung = False
        self._asked = 0
        self._said = b""  # the end of what it wrote on stderr
        self._ready = select.poll()
        self._ready.register(self._out, select.POLLIN)
        self._ready.register(self._err, select.POLLIN)
        os.set_blocking(self._in, False)
        os.set_blocking(self._err, False)
        self._end = weakref.finalize(self, _ended, process)

    @property
    def alive(self) -> bool:
        """Whether it still can be asked."""
        return self._end.alive

    def close(self) -> None:
        """Ends the program."""
        self._end()

    def ask(self, call: str) -> dict[str, Any]:
        """Sends a call, the members of a JSON object as text, and returns the members of the answer without its number."""
        if not self.alive:
            raise ProgramError("the program has been ended already")
        self._asked += 1
        begin = time.monotonic()
        self._patience.begin(begin)
        self._send(f'{{"n":{self._asked},{call}}}\n'.encode())
        line = self._line()
        _COST.add(time.monotonic() - begin)
        try:
            answer = _decode(line.decode())
        except (ValueError, RecursionError) as error:
            raise self.failed(f"answered what is no JSON ({_brief(error)}): {_brief(line)}") from None
        if not isinstance(answer, dict):
            raise self.failed(f"answered {_brief(line)}, which is no JSON object")
        number = answer.pop("n", None)
        if type(number) is not int or number != self._asked:
            raise self.failed(f"answered line {_brief(json.dumps(number))} when it was asked line {self._asked}")
        if "error" in answer:
            raise self.failed(f"said: {_brief(str(answer['error']))}")
        return answer

    def failed(self, what: str, of_machine: bool = False) -> ProgramError:
        """Returns the error for what the program did, or its machine, once it has been ended."""
        self._listen()
        self.close()
        last = next((line for line in reversed(self._said.decode(errors="replace").splitlines()) if line.strip()), "")
        return ProgramError(f"the program {what}{f'; it wrote on stderr: {_brief(last)}' if last else ''}", of_machine)

    def _send(self, line: bytes) -> None:
        try:
            sent = os.write(self._in, line)
            while sent < len(line):  # longer than the pipe
                with contextlib.suppress(BlockingIOError):
                    sent += os.write(self._in, line[sent : sent + _PIECE])
                self._wait(1e-3)
        except BrokenPipeError:
            raise self._gone() from None

    def _line(self) -> bytes:
        got = b""
        while True:
            if self._out in self._wait(_SLICE):
                piece = os.read(self._out, _PIECE)
                if not piece:
                    raise self._gone()
                got += piece
                line, end, rest = got.partition(b"\n")
                if end:
                    if rest:
                        raise self.failed(f"answered more than one line to line {self._asked}: {_brief(rest)}")
                    return line
                if len(got) > _LONGEST:
                    raise self.failed(f"answered more than {_LONGEST} bytes without an end of line")

    def _wait(self, seconds: float) -> list[int]:
        """Returns which of its outputs have something, within `seconds`; stderr is read."""
        ready = [number for number, _ in self._ready.poll(1000 * seconds)]
        if self._err in ready:
            self._listen()
        if self._out not in ready:
            if self._stopped():
                raise self.failed("was stopped", of_machine=True)
            if self._patience.ends():
                raise self._late()
        return ready

    def _late(self) -> ProgramHung:
        """The error for an answer that has not come in time. A program that hangs does not see that its input is closed."""
        self.hung = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        before = f", after a line that it did not answer within {self._missed:g} s" if self._missed else ""
        error = self.failed(f"{LATE} {self._asked} within {self._deadline:g} s{before}")
        return ProgramHung(error, of_machine=self._patience.waited)

    def _listen(self) -> None:
        """Reads what is there of stderr, not more than a piece at once."""
        try:
            piece = os.read(self._err, _PIECE)
        except BlockingIOError:
            return
        if not piece:
            with contextlib.suppress(KeyError):
                self._ready.unregister(self._err)
        self._said = (self._said + piece)[-4096:]

    def _gone(self) -> ProgramError:
        """The error for an output that was closed; a program that is about to end gets the time to."""
        try:
            status = self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            return self.failed("closed its output")
        outside = ended_from_outside(status)
        if status < 0:
            with contextlib.suppress(ValueError):
                return self.failed(f"was ended by {signal.Signals(-status).name}", outside)
        return self.failed(f"ended with status {status}", outside)


def _brief(text: object) -> str:
    shown = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    shown = " ".join(shown.split())
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def _hint(path: Path, error: OSError) -> str:
    if error.errno == errno.EACCES:
        return f"; chmod +x {path}"
    if error.errno == errno.ENOEXEC:
        return "; it is neither a program for this machine nor a script that begins with a line such as #!/usr/bin/env python3"
    return "; its first line names an interpreter that is not there" if error.errno == errno.ENOENT else ""


def _streams(process: subprocess.Popen[bytes]) -> list[IO[bytes]]:
    """Its input, its output and its stderr."""
    return [stream for stream in (process.stdin, process.stdout, process.stderr) if stream is not None]


def _ended(process: subprocess.Popen[bytes]) -> None:
    """Ends a program: it sees the end of its input, and is killed with its group unless it closes its output in time."""
    entry, *exits = _streams(process)
    with contextlib.suppress(OSError):
        entry.close()
    ready, until = select.poll(), time.monotonic() + _GRACE
    outputs = {stream.fileno() for stream in exits}
    for number in outputs:
        ready.register(number, select.POLLIN)
    try:
        while outputs and (left := until - time.monotonic()) > 0:
            for number, _ in ready.poll(1000 * left):
                if not os.read(number, _PIECE):
                    outputs.discard(number)
                    ready.unregister(number)
    finally:  # also after Ctrl-C
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in exits:
            stream.close()
