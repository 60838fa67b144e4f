"""Programs that use well-known libraries, written for the real network: a client and a server for each."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from virtual_behaviours import tls

DATA = Path(__file__).parent / "data"
BODY = hashlib.shake_256(b"elephan").digest(200_000)
Program = Callable[[], Coroutine[Any, Any, Any]]


async def _until_cancelled(*closers: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        for close in closers:
            await close()


def aiohttp_both(secure: bool = False) -> tuple[Program, Program]:
    from aiohttp import ClientSession, TCPConnector, web

    async def server() -> None:
        async def get(request: web.Request) -> web.Response:
            return web.Response(body=BODY)

        async def post(request: web.Request) -> web.Response:
            return web.Response(text=hashlib.sha256(await request.read()).hexdigest())

        app = web.Application(client_max_size=10**7)
        app.add_routes([web.get("/", get), web.post("/", post)])
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, port=443 if secure else 80, ssl_context=tls(server=True) if secure else None).start()
        await _until_cancelled(runner.cleanup)

    async def client() -> Any:
        connector = TCPConnector(ssl=tls(server=False)) if secure else TCPConnector()
        url = "https://server/" if secure else "http://server/"
        async with ClientSession(connector=connector) as session:
            async with session.get(url) as answer:
                got = await answer.read()
            async with session.post(url, data=BODY) as answer:
                digest = await answer.text()
        return got == BODY, digest == hashlib.sha256(BODY).hexdigest()

    return server, client


def aiohttp_tls() -> tuple[Program, Program]:
    return aiohttp_both(secure=True)


def httpx_and_uvicorn() -> tuple[Program, Program]:
    import httpx
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    async def get(request: Request) -> Response:
        return Response(BODY)

    def post_in_a_thread(request: Request) -> Response:  # Starlette gives it to a thread of anyio
        return Response("in place")

    async def post(request: Request) -> Response:
        return Response(hashlib.sha256(await request.body()).hexdigest())

    routes = [Route("/", get), Route("/", post, methods=["POST"]), Route("/thread", post_in_a_thread)]

    async def server() -> None:
        config = uvicorn.Config(Starlette(routes=routes), host="0.0.0.0", port=80, log_level="warning")
        await uvicorn.Server(config).serve()

    async def client() -> Any:
        await asyncio.sleep(1)
        async with httpx.AsyncClient(timeout=60) as session:
            got = (await session.get("http://server/")).content
            digest = (await session.post("http://server/", content=BODY)).text
            word = (await session.get("http://server/thread")).text
        return got == BODY, digest == hashlib.sha256(BODY).hexdigest(), word

    return server, client


def websockets_both() -> tuple[Program, Program]:
    from websockets.asyncio.client import connect
    from websockets.asyncio.server import serve

    async def server() -> None:
        async def echo(socket: Any) -> None:
            async for message in socket:
                await socket.send(message)

        async with serve(echo, "0.0.0.0", 8765, max_size=None, compression=None):
            await asyncio.Event().wait()

    async def client() -> Any:
        async with connect("ws://server:8765/", max_size=None, compression=None) as socket:
            await socket.send(BODY)
            got = await socket.recv()
            await asyncio.sleep(300)  # over many pings of keep-alive
            await socket.send("still there")
            return got == BODY, await socket.recv()

    return server, client


def aioquic_http3() -> tuple[Program, Program]:
    from aioquic.asyncio import QuicConnectionProtocol, connect, serve
    from aioquic.h3.connection import H3_ALPN, H3Connection
    from aioquic.h3.events import DataReceived, HeadersReceived
    from aioquic.quic.configuration import QuicConfiguration
    from aioquic.quic.events import ProtocolNegotiated, QuicEvent

    class Http3(QuicConnectionProtocol):
        """Sends `BODY` back for a GET, and the digest of what came for a POST; notes the answers that it gets."""

        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            self.http: H3Connection | None = None
            self.methods: dict[int, bytes] = {}
            self.bodies: dict[int, bytes] = {}
            self.answers: dict[int, asyncio.Future[bytes]] = {}

        def quic_event_received(self, event: QuicEvent) -> None:
            if isinstance(event, ProtocolNegotiated):
                self.http = H3Connection(self._quic)
            if self.http is not None:
                for found in self.http.handle_event(event):
                    self._http_event(found)

        def _http_event(self, event: Any) -> None:
            stream = event.stream_id
            if isinstance(event, HeadersReceived):
                self.methods[stream] = dict(event.headers).get(b":method", b"")
            if isinstance(event, DataReceived):
                self.bodies[stream] = self.bodies.get(stream, b"") + event.data
            if not event.stream_ended:
                return
            body = self.bodies.pop(stream, b"")
            if stream in self.answers:
                self.answers.pop(stream).set_result(body)
            else:
                answer = BODY if self.methods[stream] == b"GET" else hashlib.sha256(body).hexdigest().encode()
                self.http.send_headers(stream, [(b":status", b"200")])
                self.http.send_data(stream, answer, True)
                self.transmit()

        async def ask(self, method: bytes, body: bytes = b"") -> bytes:
            stream = self._quic.get_next_available_stream_id()
            self.answers[stream] = asyncio.get_running_loop().create_future()
            headers = [(b":method", method), (b":scheme", b"https"), (b":authority", b"server"), (b":path", b"/")]
            self.http = self.http or H3Connection(self._quic)
            self.http.send_headers(stream, headers, not body)
            if body:
                self.http.send_data(stream, body, True)
            self.transmit()
            return await self.answers[stream]

    async def server() -> None:
        configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
        configuration.load_cert_chain(DATA / "virtual-cert.pem", DATA / "virtual-key.pem")
        await serve("0.0.0.0", 443, configuration=configuration, create_protocol=Http3)
        await asyncio.Event().wait()

    async def client() -> Any:
        configuration = QuicConfiguration(is_client=True, alpn_protocols=H3_ALPN)
        configuration.load_verify_locations(str(DATA / "virtual-cert.pem"))
        async with connect("server", 443, configuration=configuration, create_protocol=Http3) as session:
            got = await session.ask(b"GET")
            digest = await session.ask(b"POST", BODY)
        return got == BODY, digest.decode() == hashlib.sha256(BODY).hexdigest()

    return server, client


LIBRARIES: dict[str, Callable[[], tuple[Program, Program]]] = {
    "aiohttp": aiohttp_both,
    "aiohttp-tls": aiohttp_tls,
    "httpx-uvicorn": httpx_and_uvicorn,
    "websockets": websockets_both,
    "aioquic": aioquic_http3,
}
EXPECTED: dict[str, tuple[Any, ...]] = {
    "aiohttp": (True, True),
    "aiohttp-tls": (True, True),
    "httpx-uvicorn": (True, True, "in place"),
    "websockets": (True, "still there"),
    "aioquic": (True, True),
}
