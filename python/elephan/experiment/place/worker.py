"""A process that does chunks of trials: it reads them from standard input, and writes what became of them to standard output.

Before each message stands its length. The end of the input ends the process at once, even in the middle of a run, so that no worker
outlives the one that it works for.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import sys
import threading
from typing import IO, Any

LENGTH = struct.Struct("<Q")


def send(stream: IO[bytes], message: Any) -> None:
    """Writes a message."""
    data = pickle.dumps(message)
    stream.write(LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Returns the next message; EOFError where there is none."""
    head = stream.read(LENGTH.size)
    data = stream.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
    if not data:
        raise EOFError
    return pickle.loads(data)


def _read(stream: IO[bytes], chunks: queue.SimpleQueue[bytes]) -> None:
    """Takes messages as bytes, which are unpickled where the modules that they name may be imported."""
    while len(head := stream.read(LENGTH.size)) == LENGTH.size:
        chunks.put(stream.read(LENGTH.unpack(head)[0]))
    os._exit(0)


def main() -> None:
    """Works until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that it works for
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a guest prints is no message
    chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, chunks), daemon=True).start()
    sys.path[:] = pickle.loads(chunks.get())
    from elephan.experiment.place.chunk import run_chunk

    while True:
        try:
            answer: Any = run_chunk(*pickle.loads(chunks.get()))
        except Exception as error:
            answer = error
        try:
            send(out, answer)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            send(out, RuntimeError(f"{type(answer).__name__} cannot be sent back: {error}"))


if __name__ == "__main__":
    main()
