"""What answers a page: the desk of the core, and beside it what only Python can do. Work is done in threads."""

from __future__ import annotations

import asyncio
import json
import os
import struct
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from elephan.base.errors import ElephanError
from elephan.scenario.core import call_with, core, running
from elephan.scenario.source import library

if TYPE_CHECKING:
    from elephan.explore.session import Request

# Methods that simulate or read much; the others are answered beside them at once.
LONG = ("run", "open", "load", "packets", "events", "why", "trials", "trial", "parquet", "explain")
RUNS_MAX = max(2, os.cpu_count() or 1)  # at the same time
QUICK_MAX = 4
_LINE_MAX = 1000  # characters of an error

Emit = Callable[[bytes], bool]
# A method in Python: returns the head of the answer, and its body if it has one.
Method = Callable[["Request"], Mapping[str, Any] | tuple[Mapping[str, Any], bytes]]


def frame(id: Any, kind: str, head: Mapping[str, Any], body: bytes = b"") -> bytes:
    """A frame as the core writes it: the length of the head, the head in JSON with blanks up to a multiple of 8, the body."""
    text = json.dumps({"id": id, "kind": kind, **head}, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    text += b" " * (-(4 + len(text)) % 8)
    return struct.pack("<I", len(text)) + text + body


def unframed(frame: bytes) -> tuple[dict[str, Any], bytes]:
    """The head and the body of a frame."""
    length = struct.unpack("<I", frame[:4])[0]
    return json.loads(frame[4 : 4 + length]), frame[4 + length :]


def error_frame(id: Any, message: str) -> bytes:
    """The frame of an error of one line; what it repeats of a request may be long, and is cut."""
    line = " ".join(message.splitlines())
    shown = line if len(line) <= _LINE_MAX else f"{line[: _LINE_MAX // 2]} ... {line[-_LINE_MAX // 2 :]}"
    return frame(id, "error", {"message": shown})


class Engine:
    """A desk, and the threads in which it works."""

    def __init__(self, limits: Mapping[str, Any], trusted: str | None = None, agreed: Any = None) -> None:
        entries = [{"name": entry.name, "text": entry.path.read_text(encoding="utf-8")} for entry in library().values()]
        self.desk = call_with("Desk", json.dumps(entries), json.dumps(dict(limits)), trusted, agreed)
        self.methods: dict[str, Method] = {}
        self.pages = 0  # that are open
        self.quick = ThreadPoolExecutor(QUICK_MAX, "elephan-quick")
        self.long = ThreadPoolExecutor(RUNS_MAX, "elephan-run")

    def token(self) -> Any:
        """A flag that ends a request."""
        return core().Cancel()

    async def answer(self, request: Request, emit: Emit) -> None:
        """Answers a request by frames; whatever goes wrong is one too."""
        pool = self.long if request.method in LONG else self.quick
        try:
            await asyncio.get_running_loop().run_in_executor(pool, self._work, request, emit)
        except RuntimeError as error:  # no thread can be started, or the server ends
            emit(error_frame(request.id, str(error)))

    def _work(self, request: Request, emit: Emit) -> None:
        if request.cancel.cancelled:  # while it waited for a thread
            emit(error_frame(request.id, "stopped"))
            return
        method = self.methods.get(request.method)
        if method is None:
            with running(request.cancel):
                self.desk.serve(request.text.encode("utf-8", "replace"), request.payload, emit, request.cancel)
            return
        try:
            done = method(request)
            head, body = done if isinstance(done, tuple) else (done, b"")
            emit(frame(request.id, "done", head, body))
        except ElephanError as error:
            emit(error_frame(request.id, str(error)))
        except MemoryError:
            emit(error_frame(request.id, "not enough memory"))
        except Exception as error:  # a defect of elephan: one line, and the page lives on
            emit(error_frame(request.id, f"internal error, please report it: {type(error).__name__}: {error}"))

    def close(self) -> None:
        """Lets go of the threads; what they do has been asked to stop."""
        self.quick.shutdown(wait=False, cancel_futures=True)
        self.long.shutdown(wait=False, cancel_futures=True)
