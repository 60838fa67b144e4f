"""A page of 60 objects over HTTP/1.1, HTTP/2 and HTTP/3: one server (Hypercorn), and clients of httpx and aioquic.

Each version loads the page once, one after the other. The browser of 1.1 has six connections, those of 2 and 3 have one. `wait` is
how long objects take from the request to their last byte.
"""

import asyncio
import statistics
from pathlib import Path

import httpx
from aioquic.asyncio import QuicConnectionProtocol, connect
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from hypercorn.asyncio import serve
from hypercorn.config import Config

OBJECTS, BYTES = 60, 20_000
HERE = Path(__file__).parent
CERTIFICATE, KEY = str(HERE / "server-cert.pem"), str(HERE / "server-key.pem")


async def application(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % BYTES)]})
        await send({"type": "http.response.body", "body": bytes(BYTES)})


async def server():
    config = Config()
    config.bind, config.quic_bind = ["0.0.0.0:443"], ["0.0.0.0:443"]
    config.certfile, config.keyfile = CERTIFICATE, KEY
    config.loglevel = "ERROR"
    await serve(application, config, shutdown_trigger=asyncio.Event().wait)


async def load(get):
    """Loads the page; `get` asks for one object and returns when it is there."""
    clock = asyncio.get_running_loop().time

    async def one():
        begin = clock()
        await get()
        return clock() - begin

    begin = clock()
    waits = await asyncio.gather(*(one() for _ in range(OBJECTS)))
    return {"page_s": clock() - begin, "median_wait_s": statistics.median(waits), "longest_wait_s": max(waits)}


async def over_tcp(http2):
    limits = httpx.Limits(max_connections=1 if http2 else 6)
    async with httpx.AsyncClient(http1=not http2, http2=http2, verify=CERTIFICATE, limits=limits, timeout=None) as session:

        async def get():
            answer = await session.get("https://server/")
            assert answer.http_version == ("HTTP/2" if http2 else "HTTP/1.1")
            assert len(answer.content) == BYTES

        return await load(get)


class Http3(QuicConnectionProtocol):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.http = H3Connection(self._quic)
        self.got, self.done = {}, {}

    def quic_event_received(self, event):
        for found in self.http.handle_event(event):
            if isinstance(found, DataReceived):
                self.got[found.stream_id] = self.got.get(found.stream_id, 0) + len(found.data)
            if isinstance(found, DataReceived | HeadersReceived) and found.stream_ended:
                self.done[found.stream_id].set()

    async def get(self):
        stream = self._quic.get_next_available_stream_id()
        self.done[stream] = asyncio.Event()
        names = (b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"server"), (b":path", b"/")
        self.http.send_headers(stream, list(names), end_stream=True)
        self.transmit()
        await self.done[stream].wait()
        assert self.got[stream] == BYTES


async def over_quic():
    configuration = QuicConfiguration(is_client=True, alpn_protocols=H3_ALPN, congestion_control_algorithm="cubic")
    configuration.load_verify_locations(CERTIFICATE)
    async with connect("server", 443, configuration=configuration, create_protocol=Http3) as session:
        return await load(session.get)


async def client():
    await asyncio.sleep(1)  # the server starts
    return {"http1": await over_tcp(http2=False), "http2": await over_tcp(http2=True), "http3": await over_quic()}
