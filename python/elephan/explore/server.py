"""The server of the page: its files, and one WebSocket. Shut to strangers: a token, and only the names of this machine."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from elephan.base.errors import ElephanError, InputError
from elephan.explore.door import HEAD_MAX, Messages, Request
from elephan.explore.engine import Engine
from elephan.explore.session import PAYLOAD_MAX, Session

HERE = Path(__file__).parent
PAGE = HERE / "page"
WASM = HERE / "wasm"
PORT = 8230  # unless it is taken
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^:\[\]]+)(:[0-9]{1,5})?")
_SHUT = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'{wasm}",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    )
)


def headers(wasm: bool) -> list[tuple[bytes, bytes]]:
    """What every answer says to a browser. With `wasm` a page may compile the engine."""
    said = {
        "content-security-policy": _SHUT.format(wasm=" 'wasm-unsafe-eval'" if wasm else ""),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-embedder-policy": "require-corp",
    }
    return [(name.encode(), value.encode()) for name, value in said.items()]


@dataclass(frozen=True)
class Hosts:
    """The hosts by which a browser may call this server. A page of a stranger whose name he lets lead here has another one."""

    names: frozenset[str]
    numbers: bool = False  # any address in figures, which nobody can let lead elsewhere

    def has(self, host: str) -> bool:
        """Whether a request to `HOST` or `HOST:PORT`, in small letters, is for this server."""
        match = _HOST.fullmatch(host)
        return match is not None and (match["name"] in self.names or (self.numbers and _is_number(match["name"])))


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


class Gate:
    """Refuses requests of other hosts and origins, and methods that change something; adds the headers."""

    def __init__(self, app: ASGIApp, hosts: Hosts, wasm: bool) -> None:
        self.app, self.hosts, self.headers = app, hosts, headers(wasm)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        given = dict(reversed(scope["headers"]))  # the first of each name
        host = given.get(b"host", b"").decode("latin-1").lower()
        origin = given.get(b"origin", b"").decode("latin-1").lower()
        # The port is that of the browser's end: a tunnel may have another one.
        if not self.hosts.has(host):
            return await _refuse(scope, receive, send, 421, "this server answers to its own address only")
        if (origin or scope["type"] == "websocket") and origin != f"http://{host}":
            return await _refuse(scope, receive, send, 403, "a page of another origin may not ask")
        if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD"):
            return await _refuse(scope, receive, send, 405, "only GET and HEAD")

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                fixed = "/assets/" in scope["path"]  # named by what is in it
                cache = b"public, max-age=31536000, immutable" if fixed and message["status"] == 200 else b"no-cache"
                kept = [(name, value) for name, value in message["headers"] if name.lower() != b"cache-control"]
                message = {**message, "headers": [*kept, *self.headers, (b"cache-control", cache)]}
            await send(message)

        return await self.app(scope, receive, with_headers)


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, why: str) -> None:
    if scope["type"] == "websocket":
        await WebSocket(scope, receive, send).close(4403, why)
    else:
        await PlainTextResponse(f"{why}\n", status)(scope, receive, send)


async def _missing(scope: Scope, receive: Receive, send: Send) -> None:
    """Where the page was not built: an installed elephan has it."""
    if scope["type"] == "http":
        text = "The page of elephan explore is not built here: run `make page`.\n"
        await PlainTextResponse(text, 503)(scope, receive, send)


def application(engine: Engine | None, token: str, hosts: Hosts, hello: dict[str, Any], wasm: bool = False) -> ASGIApp:
    """The application: `/engine` for pages that know the token, and the files of the page. Without an engine only the files."""

    async def talk(websocket: WebSocket) -> None:
        if engine is None:
            await websocket.close(4404, "the engine of this page is in the page")
            return
        await Session(websocket, engine, token, hello).run()

    routes: list[Any] = [WebSocketRoute("/engine", talk)]
    if WASM.is_dir():
        routes.append(Mount("/wasm", StaticFiles(directory=WASM)))
    routes.append(Mount("/", StaticFiles(directory=PAGE, html=True) if (PAGE / "index.html").is_file() else _missing))
    return Gate(Starlette(routes=routes), hosts, wasm)


def claim(one: socket.socket, windows: bool = os.name == "nt") -> None:
    """Lets a socket take a port whose last connections are still being closed, and no port that another socket has.

    `SO_REUSEADDR` means that on POSIX. On Windows it lets a second server take the port of the first, and
    `SO_EXCLUSIVEADDRUSE` is what refuses that.
    """
    exclusive = getattr(socket, "SO_EXCLUSIVEADDRUSE", ~socket.SO_REUSEADDR)
    one.setsockopt(socket.SOL_SOCKET, exclusive if windows else socket.SO_REUSEADDR, 1)


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens; any free port if none is asked for and the usual one is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for wanted in [PORT, 0] if port is None else [port]:
        # With the protocol named asyncio sends small answers at once; without it every second one waits 40 ms for a delayed ACK.
        one = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        claim(one)
        try:
            one.bind((host, wanted))
            one.listen(128)
            return one
        except OSError as error:
            one.close()
            if wanted == PORT and port is None:
                continue
            if isinstance(error, socket.gaierror):
                raise InputError(f"--host {host}: no such address") from None
            raise InputError(f"port {wanted} of {host}: {error.strerror}; --port takes another") from None
    raise ElephanError("no port is free")


def own_hosts(host: str) -> Hosts:
    """The hosts of a server that listens at `host`: this machine's names, and where others reach it, its addresses too.

    Through a tunnel (`ssh -L`) a browser calls it `localhost`, whatever it listens at.
    """
    names = {*LOOPBACK, bracketed(host).lower()}
    if host in LOOPBACK or host == "::1":
        return Hosts(frozenset(names))
    own = {socket.gethostname().lower(), socket.getfqdn().lower()}
    return Hosts(frozenset(names | own), numbers=True)


def bracketed(host: str) -> str:
    """A host as an address writes it."""
    return f"[{host}]" if ":" in host else host


class Server(uvicorn.Server):
    """Serves until a signal comes; says when pages can be answered."""

    def __init__(self, app: ASGIApp, ready: Any = None) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="asyncio",
                http=Request,
                h11_max_incomplete_event_size=HEAD_MAX,
                log_level="critical",
                access_log=False,
                server_header=False,
                ws=Messages,
                ws_max_size=PAYLOAD_MAX,
                ws_per_message_deflate=False,  # over loopback bytes cost less than their compression
                ws_ping_interval=20.0,
                timeout_graceful_shutdown=0,
                limit_concurrency=256,
                lifespan="off",
            )
        )
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.ready is not None:
            self.ready()
