"""The door of the server: what a connection may send before it has said the token.

Whoever reaches the port may connect; the token comes in the first message of the WebSocket. Until then a connection costs a few
kilobytes: short heads of requests, short messages, little read at once, and a time within which something must come.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

HEAD_MAX = 16 << 10  # bytes of the head of a request: a browser sends about 1 kB
HELLO_MAX = 4 << 10  # bytes of a message before the token, which is 32 characters
HEAD_S = 10.0  # a browser sends its request at once
WELCOME = "elephan.welcome"  # the key of the scope under which a session finds how to lift the limits
_READ_MAX = 4 << 10  # bytes that are read at once from a stranger


class Request(H11Protocol):
    """HTTP of a connection; closes one that sends no request."""

    def connection_made(self, transport: Any) -> None:
        """Reads little at once, and gives the connection a time for its first request."""
        super().connection_made(transport)
        if hasattr(transport, "max_size"):  # where asyncio has a place for it
            transport.max_size = _READ_MAX
        self.loop.call_later(HEAD_S, self._give_up)

    def _give_up(self) -> None:
        if self.scope is None and not self.transport.is_closing() and self.transport.get_protocol() is self:
            self.transport.close()


class Messages(WebSocketsSansIOProtocol):
    """The WebSocket of a connection, narrow until `welcome` is called."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._welcome = False
        self._size(HELLO_MAX)

    def handle_connect(self, event: Any) -> None:
        """Hands the session what lifts the limits."""
        super().handle_connect(event)
        if hasattr(self, "scope"):
            cast(dict[str, Any], self.scope)[WELCOME] = self.welcome

    def welcome(self) -> None:
        """Lifts the limits: the page has said the token."""
        self._welcome = True
        if not self.read_paused:
            self.transport.resume_reading()
        self._size(self.config.ws_max_size)
        vars(self.transport).pop("max_size", None)

    def _size(self, most: int) -> None:
        # The attribute of `websockets` has had two names.
        name = "max_message_size" if hasattr(self.conn, "max_message_size") else "max_size"
        setattr(self.conn, name, most)

    def handle_text(self, event: Any) -> None:
        """Takes a text. One of a stranger comes whole: pieces without an end would pile up."""
        self._take(event, super().handle_text)

    def handle_bytes(self, event: Any) -> None:
        """Takes bytes, as a text."""
        self._take(event, super().handle_bytes)

    def _take(self, event: Any, take: Callable[[Any], None]) -> None:
        if event.fin or self._welcome:
            take(event)
        else:
            self.transport.abort()

    def handle_cont(self, event: Any) -> None:
        """Takes a further piece, of which a stranger has none."""
        if self._welcome:
            super().handle_cont(event)

    def pause_writing(self) -> None:
        """Reads nothing more of a stranger who does not read: each ping would leave an answer in the memory."""
        super().pause_writing()
        if not self._welcome:
            self.transport.pause_reading()

    def resume_writing(self) -> None:
        """Reads on."""
        super().resume_writing()
        if not self._welcome and not self.read_paused:
            self.transport.resume_reading()
