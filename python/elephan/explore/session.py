"""One connection of a page: requests come in over a WebSocket, frames go out in the order in which they are ready."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from elephan.explore.door import WELCOME
from elephan.explore.engine import Engine, error_frame, frame

HELLO_S = 10.0  # a page says its token at once
TEXT_MAX = 32 << 20
PAYLOAD_MAX = 256 << 20
PAYLOAD_S = 10.0  # a page sends at once the bytes that it announces
PAYLOAD_BPS = 100_000  # bytes per second of a slow way to the server
NO_BYTES = "the bytes that the request announces did not come"
WAITING_MAX = 256  # requests of a page that are not answered yet
UNSENT_MAX = 256 << 20  # bytes for a page that reads no longer


@dataclass
class Request:
    """A request of a page, and the flag that ends it."""

    id: Any
    method: str
    params: dict[str, Any]
    text: str
    announced: int | None = None  # bytes that follow it
    payload: bytes = b""
    cancel: Any = None


@dataclass
class Session:
    """A page that has said the token."""

    socket: WebSocket
    engine: Engine
    token: str
    hello: dict[str, Any]
    unsent: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)
    unsent_bytes: int = 0
    open: dict[str, Request] = field(default_factory=dict)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def run(self) -> None:
        """Answers until the page goes away; what is in progress for it then is stopped."""
        await self.socket.accept()
        sender = asyncio.create_task(self._send())
        try:
            if await self._greeted():
                self.engine.pages += 1
                try:
                    while True:
                        await self._take(await self._receive_text())
                finally:
                    self.engine.pages -= 1
        except WebSocketDisconnect:
            pass
        finally:
            for request in self.open.values():
                request.cancel.cancel()
            self.unsent.put_nowait(None)
            with contextlib.suppress(asyncio.CancelledError, RuntimeError):
                await asyncio.wait_for(sender, 1.0)

    async def _greeted(self) -> bool:
        """Whether the first message has the token."""
        try:
            message = await asyncio.wait_for(self._receive(), HELLO_S)
        except TimeoutError:
            await self.socket.close(4408, "no token came")
            return False
        request = read_request(message.get("text") or "", hello=True)
        given = request.params.get("token") if isinstance(request, Request) else None
        given = given if isinstance(given, str) else ""
        if not hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode()):
            reason = "the token is missing or of another server; open the address that elephan explore has printed"
            self._put(error_frame(getattr(request, "id", None), reason))
            self._put(None)
            await self.unsent.join()
            await self.socket.close(4401, "wrong token")
            return False
        self.socket.scope[WELCOME]()
        self._put(frame(getattr(request, "id", None), "done", self.hello))
        return True

    async def _receive(self) -> dict[str, Any]:
        message = await self.socket.receive()
        if message["type"] != "websocket.receive":
            raise WebSocketDisconnect(message.get("code", 1000))
        return dict(message)

    async def _receive_text(self) -> str:
        """The next message that is a text; bytes that nothing has announced are an error."""
        while True:
            message = await self._receive()
            if (text := message.get("text")) is not None:
                return str(text)
            self._put(error_frame(None, "bytes came without a request that announces them by `payload`"))

    async def _take(self, text: str) -> None:
        """Begins to answer a request, with the bytes that follow it if it announces some."""
        request = read_request(text)
        if isinstance(request, bytes):
            self._put(request)
            return
        if request.announced is not None:
            if request.announced > PAYLOAD_MAX:
                self._put(error_frame(request.id, f"{request.announced} bytes are announced; at most {PAYLOAD_MAX} are taken"))
                return
            try:
                message = await asyncio.wait_for(self._receive(), PAYLOAD_S + request.announced / PAYLOAD_BPS)
            except TimeoutError:
                self._put(error_frame(request.id, NO_BYTES))
                return
            if (later := message.get("text")) is not None:
                self._put(error_frame(request.id, NO_BYTES))
                await self._take(str(later))
                return
            request.payload = message.get("bytes") or b""
            if request.announced != len(request.payload):
                came = f"{len(request.payload)} bytes came; the request announces {request.announced}"
                self._put(error_frame(request.id, came))
                return
        if request.method == "cancel":
            other = self.open.get(key(request.params.get("id")))
            if other is not None:
                other.cancel.cancel()
            self._put(frame(request.id, "done", {"cancelled": other is not None}))
        elif len(self.open) >= WAITING_MAX:
            self._put(error_frame(request.id, f"{len(self.open)} requests wait already"))
        elif key(request.id) in self.open:
            self._put(error_frame(request.id, "a request of this id is in progress"))
        else:
            task = asyncio.create_task(self._answer(request))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def _answer(self, request: Request) -> None:
        request.cancel = self.engine.token()
        self.open[key(request.id)] = request
        loop = asyncio.get_running_loop()

        def emit(piece: bytes) -> bool:
            """Called in the thread of the work."""
            loop.call_soon_threadsafe(self._put, piece)
            return not request.cancel.cancelled and self.unsent_bytes < UNSENT_MAX

        try:
            await self.engine.answer(request, emit)
        finally:
            self.open.pop(key(request.id), None)

    def _put(self, piece: bytes | None) -> None:
        self.unsent_bytes += len(piece or b"")
        self.unsent.put_nowait(piece)

    async def _send(self) -> None:
        while (piece := await self.unsent.get()) is not None:
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # the page is gone
                await self.socket.send_bytes(piece)
            self.unsent_bytes -= len(piece)
            self.unsent.task_done()
        self.unsent.task_done()


Emit = Callable[[bytes], bool]


def key(id: Any) -> str:
    """An id of JSON as a key: 1 and "1" are two."""
    return json.dumps(id)


def read_request(text: str, hello: bool = False) -> Request | bytes:
    """A request, or the frame that says why it is none. The first one, `hello`, may be the token alone: `{"token": "..."}`."""
    if len(text) > TEXT_MAX:
        return error_frame(None, f"a request of {len(text)} characters; at most {TEXT_MAX} are read")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return error_frame(None, "not a request in JSON")
    if not isinstance(found, dict):
        return error_frame(None, "a request is a JSON object")
    if hello and "token" in found:
        found = {"id": found.get("id"), "method": "hello", "params": {"token": found["token"]}}
    id, method, params = found.get("id"), found.get("method"), found.get("params") or {}
    if not isinstance(method, str) or not isinstance(params, dict) or isinstance(id, dict | list):
        return error_frame(id if not isinstance(id, dict | list) else None, "a request has an id, a method and a table of params")
    announced = found.get("payload")
    if announced is not None and (not isinstance(announced, int) or isinstance(announced, bool) or announced < 0):
        return error_frame(id, "payload: expected the number of bytes that follow")
    return Request(id, method, params, text, announced)
