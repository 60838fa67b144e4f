"""A server of `elephan explore` in a process of its own, and a client that speaks as its page does."""

import json
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from waiting import PATIENCE_S
from websockets.sync.client import ClientConnection, connect


class Failed(Exception):
    """The server has answered by an error."""

    def __init__(self, head: dict[str, Any]) -> None:
        super().__init__(head["message"])
        self.head = head


def unframed(frame: bytes) -> tuple[dict[str, Any], bytes]:
    length = struct.unpack("<I", frame[:4])[0]
    assert (4 + length) % 8 == 0
    return json.loads(frame[4 : 4 + length]), frame[4 + length :]


class Page:
    """What the page does: says the token, asks, takes pieces and answers."""

    def __init__(self, address: str, **changes: Any) -> None:
        self.host, self.token = address.removeprefix("http://").split("/#token=")
        wanted = {"origin": f"http://{self.host}", "max_size": None, "open_timeout": 20, **changes}
        self.stack = ExitStack()
        self.socket: ClientConnection = self.stack.enter_context(connect(f"ws://{self.host}/engine", **wanted))
        self.number = 0
        self.pieces: list[tuple[dict[str, Any], bytes]] = []

    def send(self, method: str, params: dict[str, Any], payload: bytes | None = None) -> int:
        self.number += 1
        request: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if payload is not None:
            request["payload"] = len(payload)
        self.socket.send(json.dumps(request))
        if payload is not None:
            self.socket.send(payload)
        return self.number

    def take(self, timeout: float = 60) -> tuple[dict[str, Any], bytes]:
        return unframed(self.socket.recv(timeout))

    def ask(self, method: str, payload: bytes | None = None, **params: Any) -> tuple[dict[str, Any], bytes]:
        """Returns head and body of the answer; its pieces are in `pieces`."""
        number = self.send(method, params, payload)
        self.pieces = []
        while True:
            head, body = self.take()
            assert head["id"] == number, head
            if head["kind"] == "piece":
                self.pieces.append((head, body))
            elif head["kind"] == "error":
                raise Failed(head)
            else:
                return head, body

    def __enter__(self) -> "Page":
        self.ask("hello", token=self.token)
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()


def array(body: bytes, offset: int, count: int, kind: str = "<f8") -> np.ndarray:
    return np.frombuffer(body, kind, count, offset)


@contextmanager
def served(*words: str, cwd: Path | None = None) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server; gives its address and its process, which is ended at last."""
    with tempfile.TemporaryFile("w+") as errors:
        command = [sys.executable, "-m", "elephan", "explore", "--no-open", *words]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=cwd, env={**os.environ, "ELEPHAN_TRACEBACK": "1"}
        )
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            if not address.startswith("http://"):
                process.wait(PATIENCE_S)
                errors.seek(0)
                raise AssertionError(errors.read())
            yield address, process
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise AssertionError("it does not end") from None
            errors.seek(0)
            assert "Traceback" not in (told := errors.read()), told
