"""Behaviours of sockets and of asyncio over them: each runs on the real loop over loopback, and on two simulated hosts.

A behaviour is a function that returns what is to be the same: results and errors, without addresses and times.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
SCENARIO = """
duration = "1000 s"
[hosts.client]
[hosts.server]
[[links]]
between = ["client", "server"]
rate = "100 Mbps"
delay = "100 us"
"""


def said(error: BaseException) -> tuple[str, int | None]:
    """Returns an exception as both loops raise it."""
    return type(error).__name__, getattr(error, "errno", None)


async def error_of(awaitable: Awaitable[Any]) -> Any:
    """Returns the exception of an awaitable; its result if there is none."""
    try:
        return ("no error", await awaitable)
    except (TimeoutError, OSError, ValueError, RuntimeError, EOFError, asyncio.LimitOverrunError) as error:
        return said(error)


def raised(function: Callable[..., Any], *args: Any) -> Any:
    """Returns the exception of a call; its result if there is none."""
    try:
        return ("no error", function(*args))
    except (OSError, ValueError, RuntimeError, TypeError, OverflowError) as error:
        return said(error)


@dataclass
class Desk:
    """What client and server of a behaviour share."""

    address: str  # where the client finds the server
    own: str  # where the server listens
    started: asyncio.Future[int] | None = None
    over: asyncio.Event | None = None
    seen: list[Any] = field(default_factory=list)
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    async def port(self) -> int:
        """Waits for the server's port."""
        return await self.started

    def listens(self, server: asyncio.Server | asyncio.BaseTransport | socket.socket | int) -> None:
        """Tells the client the server's port."""
        if isinstance(server, asyncio.Server):
            server = server.sockets[0].getsockname()[1]
        elif isinstance(server, asyncio.BaseTransport):
            server = server.get_extra_info("sockname")[1]
        elif isinstance(server, socket.socket):
            server = server.getsockname()[1]
        self.started.set_result(server)

    async def serve(self, handle: Callable[..., Any], **more: Any) -> None:
        """Serves streams until the client has its result."""
        server = await asyncio.start_server(handle, self.own, 0, **more)
        self.listens(server)
        await self.over.wait()
        server.close()

    async def connect(self, **more: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(self.address, await self.port(), **more)


Behaviour = tuple[Callable[[Desk], Awaitable[Any]], Callable[[Desk], Awaitable[Any]]]
BEHAVIOURS: dict[str, Behaviour] = {}


def behaviour(made: Callable[[], Behaviour]) -> Callable[[], Behaviour]:
    BEHAVIOURS[made.__name__] = made()
    return made


def alone(client: Callable[[Desk], Awaitable[Any]]) -> Callable[[Desk], Awaitable[Any]]:
    """A behaviour without a server."""

    async def server(desk: Desk) -> None:
        desk.listens(0)
        await desk.over.wait()

    BEHAVIOURS[client.__name__] = (server, client)
    return client


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.close()


async def echo_server(desk: Desk) -> None:
    await desk.serve(_echo)


def tls(server: bool) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    if server:
        context.load_cert_chain(DATA / "virtual-cert.pem", DATA / "virtual-key.pem")
    else:
        context.load_verify_locations(DATA / "virtual-cert.pem")
    return context


# Streams.


@behaviour
def lines_come_in_order() -> Behaviour:
    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect()
        writer.writelines([b"one\n", b"two\n", b"three\n"])
        lines = [await reader.readline() for _ in range(3)]
        writer.close()
        await writer.wait_closed()
        return lines

    return echo_server, client


@behaviour
def half_close() -> Behaviour:
    async def server(desk: Desk) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            data = await reader.read()
            writer.write(b"%d bytes" % len(data))
            writer.close()

        await desk.serve(handle)

    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect()
        writer.write(b"x" * 100_000)
        writer.write_eof()
        found = await reader.read(), writer.can_write_eof(), reader.at_eof()
        writer.close()
        return found

    return server, client


@behaviour
def write_to_who_has_closed() -> Behaviour:
    async def server(desk: Desk) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()

        await desk.serve(handle)

    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect()
        end = await reader.read()
        writer.write(b"one")  # answered by a reset
        await asyncio.sleep(0.1)
        writer.write(b"two")
        found = [await error_of(writer.drain())]
        await asyncio.sleep(0.1)
        found.append(await error_of(writer.wait_closed()))
        return end, found

    return server, client


@behaviour
def reset_while_reading() -> Behaviour:
    async def server(desk: Desk) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            await asyncio.sleep(0.05)
            writer.close()

        await desk.serve(handle)

    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect()
        found = await error_of(reader.read())
        return found, await error_of(writer.wait_closed())

    return server, client


@behaviour
def close_with_unread_data_resets() -> Behaviour:
    async def server(desk: Desk) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.transport.pause_reading()
            await asyncio.sleep(0.1)
            writer.close()

        await desk.serve(handle)

    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect()
        await asyncio.sleep(0.02)
        writer.write(b"nobody reads this")
        found = await error_of(reader.read())
        writer.close()
        return found

    return server, client


@behaviour
def write_after_close() -> Behaviour:
    async def client(desk: Desk) -> Any:
        _, writer = await desk.connect()
        writer.close()
        closing = writer.is_closing()
        found = raised(writer.write, b"late")
        await writer.wait_closed()
        return closing, found, raised(writer.write, b"later"), await error_of(writer.drain())

    return echo_server, client


@behaviour
def write_after_write_eof() -> Behaviour:
    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect()
        writer.write_eof()
        found = raised(writer.write, b"late")
        end = await reader.read()
        writer.close()
        return found, end

    return echo_server, client


@behaviour
def end_at_once() -> Behaviour:
    async def server(desk: Desk) -> None:
        await desk.serve(lambda reader, writer: writer.close())

    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect()
        found = await reader.read(10), reader.at_eof(), await reader.readline()
        writer.close()
        return found

    return server, client


@behaviour
def an_incomplete_read() -> Behaviour:
    async def server(desk: Desk) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"short")
            writer.close()

        await desk.serve(handle)

    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect()
        try:
            await reader.readexactly(10)
        except asyncio.IncompleteReadError as error:
            return error.partial, error.expected
        finally:
            writer.close()

    return server, client


@behaviour
def a_line_that_is_too_long() -> Behaviour:
    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect(limit=100)
        writer.write(b"x" * 1000 + b"\n")
        found = await error_of(reader.readuntil())
        writer.close()
        return found[0]

    return echo_server, client


@behaviour
def a_slow_reader_holds_the_writer_back() -> Behaviour:
    async def server(desk: Desk) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.transport.pause_reading()
            await asyncio.sleep(0.3)
            writer.transport.resume_reading()
            data = await reader.read()
            writer.write(b"%d" % len(data))
            writer.close()

        await desk.serve(handle, limit=2**20)

    async def client(desk: Desk) -> Any:
        loop = asyncio.get_running_loop()
        reader, writer = await desk.connect()
        begin = loop.time()
        for _ in range(40):
            writer.write(b"x" * 500_000)
            await writer.drain()
        held = loop.time() - begin > 0.2
        writer.write_eof()
        found = await reader.read()
        writer.close()
        return held, found

    return server, client


@behaviour
def abort_ends_both_ends() -> Behaviour:
    async def server(desk: Desk) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            desk.seen.append(await error_of(reader.read()))
            writer.close()

        await desk.serve(handle)

    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect()
        writer.transport.abort()
        end = await error_of(reader.read())
        await asyncio.sleep(0.1)
        return end, writer.is_closing(), desk.seen

    return server, client


# Connecting and listening.


@alone
async def refused_connect(desk: Desk) -> Any:
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    return await error_of(asyncio.open_connection(desk.address, port))


@behaviour
def cancelled_connect() -> Behaviour:
    async def client(desk: Desk) -> Any:
        port = await desk.port()
        task = asyncio.create_task(asyncio.open_connection(desk.address, port))
        await asyncio.sleep(0)
        task.cancel()
        found = await asyncio.gather(task, return_exceptions=True)
        reader, writer = await desk.connect()
        writer.write(b"still there\n")
        line = await reader.readline()
        writer.close()
        return said(found[0]), line

    return echo_server, client


async def _deaf_server(desk: Desk) -> None:
    with socket.socket() as listener:
        listener.bind((desk.own, 0))
        listener.listen(1)
        desk.listens(listener)
        await desk.over.wait()


@behaviour
def a_full_backlog_and_a_connect_timeout() -> Behaviour:
    async def client(desk: Desk) -> Any:
        port = await desk.port()
        found, writers = [], []
        for _ in range(4):
            try:
                _, writer = await asyncio.wait_for(asyncio.open_connection(desk.address, port), 0.3)
                writers.append(writer)
                found.append("connected")
            except TimeoutError as error:
                found.append(said(error))
        for writer in writers:
            writer.close()
        return found

    return _deaf_server, client


@behaviour
def names_of_both_ends_agree() -> Behaviour:
    async def server(desk: Desk) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            desk.seen += [writer.get_extra_info(name) for name in ("peername", "sockname")]
            writer.close()

        await desk.serve(handle)

    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect()
        await reader.read()
        own, peer = writer.get_extra_info("sockname"), writer.get_extra_info("peername")
        sock = writer.get_extra_info("socket")
        same = sock.getsockname() == own, sock.getpeername() == peer
        writer.close()
        return desk.seen == [own, peer], same, peer[0] == desk.address, peer[1] == await desk.port()

    return server, client


@alone
async def port_0_gives_another_each_time(desk: Desk) -> Any:
    servers = [await asyncio.start_server(_echo, desk.address if desk.address == "127.0.0.1" else "0.0.0.0", 0) for _ in range(3)]
    ports = {server.sockets[0].getsockname()[1] for server in servers}
    for server in servers:
        server.close()
    return len(ports), 0 in ports


@alone
async def a_port_that_is_taken(desk: Desk) -> Any:
    server = await asyncio.start_server(_echo, "0.0.0.0", 0)
    port = server.sockets[0].getsockname()[1]
    found = (
        await error_of(asyncio.start_server(_echo, "0.0.0.0", port)),
        await error_of(asyncio.start_server(_echo, "127.0.0.1", port)),
    )
    server.close()
    await asyncio.sleep(0)
    again = await asyncio.start_server(_echo, "0.0.0.0", port)
    again.close()
    return found


@alone
async def an_address_of_nobody(desk: Desk) -> Any:
    with socket.socket() as one:
        return raised(one.bind, ("192.0.2.1", 0))


@behaviour
def a_closed_server_takes_no_more() -> Behaviour:
    async def server(desk: Desk) -> None:
        listening = await asyncio.start_server(_echo, desk.own, 0)
        desk.listens(listening)
        while not desk.seen:
            await asyncio.sleep(0.01)
        listening.close()
        desk.seen.append("closed")
        await desk.over.wait()

    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect()
        writer.write(b"first\n")
        first = await reader.readline()
        desk.seen.append("close")
        await asyncio.sleep(0.1)
        found = await error_of(asyncio.open_connection(desk.address, await desk.port()))
        writer.write(b"second\n")
        second = await reader.readline()
        writer.close()
        return first, found, second

    return server, client


@behaviour
def a_connection_from_a_chosen_port() -> Behaviour:
    async def client(desk: Desk) -> Any:
        with socket.socket() as free:
            free.bind(("", 0))
            port = free.getsockname()[1]
        _, writer = await desk.connect(local_addr=("0.0.0.0", port))
        found = writer.get_extra_info("sockname")[1] == port
        writer.close()
        return found

    return echo_server, client


@behaviour
def a_connection_over_a_given_socket() -> Behaviour:
    async def client(desk: Desk) -> Any:
        loop = asyncio.get_running_loop()
        sock = socket.socket()
        sock.setblocking(False)
        await loop.sock_connect(sock, (desk.address, await desk.port()))
        reader, writer = await asyncio.open_connection(sock=sock)
        writer.write(b"given\n")
        line = await reader.readline()
        found = isinstance(sock, socket.socket), sock.fileno() == writer.get_extra_info("socket").fileno()
        writer.close()
        await writer.wait_closed()
        return line, found, sock.fileno()

    return echo_server, client
