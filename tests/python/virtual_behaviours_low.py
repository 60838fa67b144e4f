"""More behaviours: plain sockets with `loop.sock_*`, datagrams, protocols and transports, TLS, and the tools of asyncio."""

from __future__ import annotations

import asyncio
import signal
import socket
import ssl
import tempfile
from typing import Any

from virtual_behaviours import Behaviour, Desk, alone, behaviour, echo_server, error_of, raised, said, tls

# Plain sockets.


@behaviour
def sock_calls() -> Behaviour:
    async def server(desk: Desk) -> None:
        loop = asyncio.get_running_loop()
        with socket.socket() as listener:
            listener.setblocking(False)
            listener.bind((desk.own, 0))
            listener.listen()
            desk.listens(listener)
            sock, address = await loop.sock_accept(listener)
            desk.seen.append(len(address))
            with sock:
                while data := await loop.sock_recv(sock, 10_000):
                    await loop.sock_sendall(sock, data.upper())

    async def client(desk: Desk) -> Any:
        loop = asyncio.get_running_loop()
        with socket.socket() as sock:
            sock.setblocking(False)
            await loop.sock_connect(sock, (desk.address, await desk.port()))
            await loop.sock_sendall(sock, b"abc" * 1000)
            buffer = bytearray(3000)
            got = 0
            while got < 3000:
                got += await loop.sock_recv_into(sock, memoryview(buffer)[got:])
            sock.shutdown(socket.SHUT_WR)
            return got, buffer == b"ABC" * 1000, await loop.sock_recv(sock, 1), desk.seen

    return server, client


@alone
async def calls_of_a_socket_that_is_not_connected(desk: Desk) -> Any:
    with socket.socket() as sock:
        sock.setblocking(False)
        found = [raised(call, *args) for call, *args in ((sock.recv, 1), (sock.send, b"x"), (sock.getpeername,))]
        found += [raised(sock.shutdown, socket.SHUT_WR), raised(sock.accept), sock.getsockname()]
        found += [sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), sock.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)]
        return found


@alone
async def calls_of_a_closed_socket(desk: Desk) -> Any:
    sock = socket.socket()
    sock.close()
    sock.close()
    calls = (sock.recv, 1), (sock.send, b"x"), (sock.getsockname,), (sock.bind, ("", 0)), (sock.listen,)
    return [raised(call, *args) for call, *args in calls], sock.fileno()


@alone
async def wrong_arguments(desk: Desk) -> Any:
    with socket.socket() as sock:
        sock.setblocking(False)
        return [
            raised(sock.bind, "everywhere"),
            raised(sock.bind, ("", 70_000)),
            raised(sock.connect, ("", "http")),
            raised(sock.recv, -1),
            raised(sock.send, "text"),
            raised(sock.setsockopt, socket.IPPROTO_TCP, 9_999, 1),
            raised(sock.settimeout, -1),
        ]


@behaviour
def recv_without_data_and_peek() -> Behaviour:
    async def client(desk: Desk) -> Any:
        loop = asyncio.get_running_loop()
        with socket.socket() as sock:
            sock.setblocking(False)
            address = desk.address, await desk.port()
            first = raised(sock.connect, address)
            await asyncio.sleep(0.05)
            found = [raised(sock.recv, 1), raised(sock.connect, address), raised(sock.connect, address)]
            await loop.sock_sendall(sock, b"hello")
            await asyncio.sleep(0.05)
            return first, found, sock.recv(3, socket.MSG_PEEK), sock.recv(9), raised(sock.recv, 1)

    return echo_server, client


@behaviour
def a_full_buffer() -> Behaviour:
    async def server(desk: Desk) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.transport.pause_reading()
            while not desk.seen:
                await asyncio.sleep(0.01)
            writer.transport.resume_reading()
            writer.write(b"%d" % len(await reader.read()))
            writer.close()

        await desk.serve(handle)

    async def client(desk: Desk) -> Any:
        loop = asyncio.get_running_loop()
        with socket.socket() as sock:
            sock.setblocking(False)
            await loop.sock_connect(sock, (desk.address, await desk.port()))
            sent, quiet = 0, 0
            while quiet < 5:
                found = raised(sock.send, b"x" * 100_000)
                if found[0] == "no error":
                    sent, quiet = sent + found[1], 0
                else:
                    quiet += 1
                    await asyncio.sleep(0.05)
            desk.seen.append("read")
            sock.shutdown(socket.SHUT_WR)
            return found, int(await loop.sock_recv(sock, 100)) == sent, sent > 100_000

    return server, client


@behaviour
def options_of_a_socket() -> Behaviour:
    async def client(desk: Desk) -> Any:
        _, writer = await desk.connect()
        sock = writer.get_extra_info("socket")
        found = [sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)]
        for level, option, value in (
            (socket.IPPROTO_TCP, socket.TCP_NODELAY, 0),
            (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
            (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 5000),
            (socket.SOL_SOCKET, socket.SO_SNDBUF, 50_000),
            (socket.SOL_SOCKET, socket.SO_RCVBUF, 50_000),
        ):
            sock.setsockopt(level, option, value)
            found.append(sock.getsockopt(level, option))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        found.append(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0"))
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        found += [len(info), info[0]]
        found.append(raised(sock.setsockopt, socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"nonesuch"))
        writer.close()
        return found

    return echo_server, client


@alone
async def a_pair_of_sockets(desk: Desk) -> Any:
    loop = asyncio.get_running_loop()
    one, other = socket.socketpair()
    with one, other:
        one.setblocking(False)
        other.setblocking(False)
        await loop.sock_sendall(one, b"through")
        found = await loop.sock_recv(other, 100)
        one.close()
        return found, await loop.sock_recv(other, 100)


@alone
async def a_socket_of_the_loop_is_watched(desk: Desk) -> Any:
    loop = asyncio.get_running_loop()
    one, other = socket.socketpair()
    seen: list[bytes] = []
    with one, other:
        other.setblocking(False)
        loop.add_reader(other, lambda: seen.append(other.recv(100)))
        one.send(b"a")
        await asyncio.sleep(0.01)
        one.send(b"b")
        await asyncio.sleep(0.01)
        removed = loop.remove_reader(other), loop.remove_reader(other)
        one.send(b"c")
        await asyncio.sleep(0.01)
    return seen, removed


# Datagrams.


class Letters(asyncio.DatagramProtocol):
    def __init__(self, answer: bool = False) -> None:
        self.answer, self.came, self.errors = answer, asyncio.Queue(), []

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, address: Any) -> None:
        self.came.put_nowait((data, address))
        if self.answer:
            self.transport.sendto(data.upper(), address)

    def error_received(self, error: Exception) -> None:
        self.errors.append(said(error))


async def letter_server(desk: Desk) -> None:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: Letters(True), local_addr=(desk.own, 0))
    desk.listens(transport)
    await desk.over.wait()
    transport.close()


@behaviour
def datagrams_there_and_back() -> Behaviour:
    async def client(desk: Desk) -> Any:
        loop = asyncio.get_running_loop()
        address = desk.address, await desk.port()
        transport, letters = await loop.create_datagram_endpoint(Letters, remote_addr=address)
        for word in (b"one", b"two", b"three"):
            transport.sendto(word)
        found = [await letters.came.get() for _ in range(3)]
        transport.close()
        return (
            [data for data, _ in found],
            {sender == address for _, sender in found},
            transport.get_extra_info("peername") == address,
        )

    return letter_server, client


@behaviour
def datagrams_that_are_too_large() -> Behaviour:
    async def client(desk: Desk) -> Any:
        loop = asyncio.get_running_loop()
        transport, letters = await loop.create_datagram_endpoint(Letters, remote_addr=(desk.address, await desk.port()))
        transport.sendto(b"x" * 70_000)
        await asyncio.sleep(0.01)
        transport.close()
        return letters.errors

    return letter_server, client


@alone
async def datagrams_to_a_closed_port(desk: Desk) -> Any:
    loop = asyncio.get_running_loop()
    with socket.socket(type=socket.SOCK_DGRAM) as free:
        free.bind(("", 0))
        address = desk.address, free.getsockname()[1]
    connected, letters = await loop.create_datagram_endpoint(Letters, remote_addr=address)
    connected.sendto(b"one")
    await asyncio.sleep(0.05)
    unconnected, other = await loop.create_datagram_endpoint(Letters, local_addr=("0.0.0.0", 0))
    unconnected.sendto(b"two", address)
    await asyncio.sleep(0.05)
    connected.close()
    unconnected.close()
    return letters.errors, other.errors


@alone
async def a_broadcast_is_refused(desk: Desk) -> Any:
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        return raised(sock.sendto, b"x", ("255.255.255.255", 9))


@behaviour
def a_connected_socket_hears_its_peer_alone() -> Behaviour:
    async def server(desk: Desk) -> None:
        loop = asyncio.get_running_loop()
        transport, letters = await loop.create_datagram_endpoint(Letters, local_addr=(desk.own, 0))
        desk.listens(transport)
        _, address = await letters.came.get()
        other, _ = await loop.create_datagram_endpoint(Letters, local_addr=(desk.own, 0))
        other.sendto(b"stranger", address)
        transport.sendto(b"peer", address)
        await desk.over.wait()

    async def client(desk: Desk) -> Any:
        loop = asyncio.get_running_loop()
        transport, letters = await loop.create_datagram_endpoint(Letters, remote_addr=(desk.address, await desk.port()))
        transport.sendto(b"hello")
        await asyncio.sleep(0.1)
        transport.close()
        return [letters.came.get_nowait()[0] for _ in range(letters.came.qsize())]

    return server, client


@alone
async def an_empty_datagram_and_a_short_read(desk: Desk) -> Any:
    loop = asyncio.get_running_loop()
    with socket.socket(type=socket.SOCK_DGRAM) as one, socket.socket(type=socket.SOCK_DGRAM) as other:
        for sock in (one, other):
            sock.setblocking(False)
            sock.bind(("127.0.0.1", 0))
        found = [raised(other.recv, 10), raised(one.send, b"no peer")]
        for data in (b"", b"twelve bytes", b"next"):
            await loop.sock_sendto(one, data, other.getsockname())
        found += [await loop.sock_recvfrom(other, 6) for _ in range(3)]
        return [(one_[0] if one_[1] == one.getsockname() else one_) for one_ in found]


# Protocols and transports.


class Recorder(asyncio.Protocol):
    """Notes the calls that it gets."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.lost = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self.calls.append("made")
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self.calls[-1] != "data":
            self.calls.append("data")

    def eof_received(self) -> None:
        self.calls.append("eof")

    def pause_writing(self) -> None:
        self.calls.append("pause")

    def resume_writing(self) -> None:
        self.calls.append("resume")

    def connection_lost(self, error: Exception | None) -> None:
        self.calls.append(("lost", error and said(error)))
        self.lost.set_result(None)


async def one_line_server(desk: Desk) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        writer.close()

    await desk.serve(handle)


@behaviour
def the_order_of_calls_of_a_protocol() -> Behaviour:
    async def client(desk: Desk) -> Any:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.create_connection(Recorder, desk.address, await desk.port())
        transport.write(b"line\n")
        await protocol.lost
        return protocol.calls, transport.is_closing()

    return one_line_server, client


@behaviour
def pause_reading() -> Behaviour:
    async def client(desk: Desk) -> Any:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.create_connection(Recorder, desk.address, await desk.port())
        transport.pause_reading()
        transport.pause_reading()
        transport.write(b"line\n")
        await asyncio.sleep(0.1)
        found = list(protocol.calls), transport.is_reading()
        transport.resume_reading()
        await protocol.lost
        return found, protocol.calls

    return one_line_server, client


@behaviour
def limits_of_the_write_buffer() -> Behaviour:
    async def server(desk: Desk) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.transport.pause_reading()
            await asyncio.sleep(0.1)
            writer.transport.resume_reading()
            await reader.read()
            writer.close()

        await desk.serve(handle)

    async def client(desk: Desk) -> Any:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.create_connection(Recorder, desk.address, await desk.port())
        found = [transport.get_write_buffer_limits()]
        transport.set_write_buffer_limits(high=1000)
        found += [transport.get_write_buffer_limits(), raised(transport.set_write_buffer_limits, 1, 2)]
        for _ in range(20):
            transport.write(b"x" * 1_000_000)
        found.append(transport.get_write_buffer_size() > 1000)
        transport.write_eof()
        await protocol.lost
        return found, protocol.calls, transport.get_write_buffer_size()

    return server, client


@behaviour
def a_buffered_protocol() -> Behaviour:
    class Buffered(asyncio.BufferedProtocol):
        def __init__(self) -> None:
            self.buffer, self.got = bytearray(7), b""
            self.lost = asyncio.get_running_loop().create_future()

        def get_buffer(self, hint: int) -> bytearray:
            return self.buffer

        def buffer_updated(self, count: int) -> None:
            self.got += self.buffer[:count]

        def connection_lost(self, error: Exception | None) -> None:
            self.lost.set_result(error)

    async def client(desk: Desk) -> Any:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.create_connection(Buffered, desk.address, await desk.port())
        transport.write(b"a line that is longer than the buffer\n")
        return await protocol.lost, protocol.got

    return one_line_server, client


@behaviour
def a_file_is_sent() -> Behaviour:
    async def client(desk: Desk) -> Any:
        loop = asyncio.get_running_loop()
        reader, writer = await desk.connect()
        with tempfile.TemporaryFile() as file:
            file.write(b"line one\n" + b"x" * 200_000 + b"\n")
            file.flush()
            sent = await loop.sendfile(writer.transport, file)
        found = sent, await reader.readline(), file.closed
        writer.close()
        return found

    async def server(desk: Desk) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            writer.write(b"%d\n" % len(await reader.readexactly(200_001)))
            writer.close()

        await desk.serve(handle)

    return server, client


# TLS.


async def tls_server(desk: Desk) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line.upper())
        writer.close()

    await desk.serve(handle, ssl=tls(server=True))


@behaviour
def tls_lines_and_its_end() -> Behaviour:
    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect(ssl=tls(server=False), server_hostname="server")
        writer.write(b"hello\n" + b"x" * 10_000 + b"\n")
        lines = [await reader.readline(), len(await reader.readline())]
        subject = dict(part[0] for part in writer.get_extra_info("peercert")["subject"])
        found = lines, subject, writer.can_write_eof(), writer.get_extra_info("cipher")[1]
        writer.close()
        await writer.wait_closed()
        return found, await reader.read()

    return tls_server, client


@behaviour
def a_certificate_for_another_name() -> Behaviour:
    async def client(desk: Desk) -> Any:
        found = await error_of(desk.connect(ssl=tls(server=False), server_hostname="elsewhere"))
        return found[0], await error_of(desk.connect(ssl=ssl.create_default_context(), server_hostname="server"))

    return tls_server, client


@behaviour
def tls_to_who_speaks_none() -> Behaviour:
    async def server(desk: Desk) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(100)
            writer.write(b"400 what do you say?\r\n")
            writer.close()

        await desk.serve(handle)

    async def client(desk: Desk) -> Any:
        return (await error_of(desk.connect(ssl=tls(server=False), server_hostname="server")))[0]

    return server, client


@behaviour
def start_tls() -> Behaviour:
    async def server(desk: Desk) -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            assert await reader.readline() == b"STARTTLS\n"
            writer.write(b"go on\n")
            await writer.drain()
            await writer.start_tls(tls(server=True))
            writer.write(b"secret " + await reader.readline())
            writer.close()

        await desk.serve(handle)

    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect()
        writer.write(b"STARTTLS\n")
        plain = await reader.readline()
        await writer.start_tls(tls(server=False), server_hostname="server")
        writer.write(b"word\n")
        found = await reader.readline(), await reader.read()
        writer.close()
        return plain, found

    return server, client


# Tasks, timeouts, signals.


@behaviour
def a_read_times_out() -> Behaviour:
    async def client(desk: Desk) -> Any:
        reader, writer = await desk.connect()
        found = [await error_of(asyncio.wait_for(reader.readline(), 0.05))]
        try:
            async with asyncio.timeout(0.05):
                await reader.readline()
        except TimeoutError as error:
            found.append(said(error))
        writer.write(b"now\n")
        found.append(await reader.readline())
        writer.close()
        return found

    return echo_server, client


@behaviour
def a_task_group_ends_its_tasks() -> Behaviour:
    async def client(desk: Desk) -> Any:
        ended: list[str] = []

        async def read(name: str) -> None:
            reader, writer = await desk.connect()
            try:
                await reader.readline()
            finally:
                ended.append(name)
                writer.close()

        async def fail() -> None:
            await asyncio.sleep(0.05)
            raise ValueError("enough")

        found: list[str] = []
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(read("a"))
                group.create_task(read("b"))
                group.create_task(fail())
        except* ValueError as errors:
            found += [str(error) for error in errors.exceptions]
        return sorted(ended), found

    return echo_server, client


@alone
async def gather_keeps_the_order(desk: Desk) -> Any:
    async def later(seconds: float, word: str) -> str:
        await asyncio.sleep(seconds)
        if word == "bad":
            raise ValueError(word)
        return word

    found = await asyncio.gather(later(0.03, "a"), later(0.01, "bad"), later(0.02, "c"), return_exceptions=True)
    return [str(one) for one in found]


@alone
async def waiters_are_woken_in_order(desk: Desk) -> Any:
    order: list[str] = []
    event, semaphore, queue = asyncio.Event(), asyncio.Semaphore(2), asyncio.Queue(1)

    async def wait(name: str) -> None:
        await event.wait()
        async with semaphore:
            order.append(f"{name} in")
            await asyncio.sleep(0.01)
            order.append(f"{name} out")

    async def put(name: str) -> None:
        await queue.put(name)
        order.append(f"put {name}")

    tasks = [asyncio.create_task(wait(name)) for name in "abc"] + [asyncio.create_task(put(name)) for name in "xyz"]
    await asyncio.sleep(0)
    event.set()
    got = [await queue.get() for _ in range(3)]
    await asyncio.gather(*tasks)
    return got, order


@alone
async def timers_ring_in_order(desk: Desk) -> Any:
    loop = asyncio.get_running_loop()
    rung: list[int] = []
    now = loop.time()
    for number in (3, 1, 2):
        loop.call_at(now + number / 100, rung.append, number)
    cancelled = loop.call_later(0.015, rung.append, 9)
    cancelled.cancel()
    loop.call_soon(rung.append, 0)
    await asyncio.sleep(0.05)
    return rung, cancelled.cancelled(), loop.time() >= now + 0.05


@alone
async def signals(desk: Desk) -> Any:
    loop = asyncio.get_running_loop()
    found = [raised(loop.add_signal_handler, signal.SIGKILL, print), raised(loop.add_signal_handler, 0, print)]
    found.append(raised(loop.add_signal_handler, signal.SIGUSR1, print))
    return found, loop.remove_signal_handler(signal.SIGUSR1), loop.remove_signal_handler(signal.SIGUSR1)


@alone
async def names_are_resolved(desk: Desk) -> Any:
    loop = asyncio.get_running_loop()
    numeric = await loop.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM)
    passive = await loop.getaddrinfo(None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    found = [await error_of(loop.getaddrinfo("nonesuch", 80, flags=socket.AI_NUMERICHOST))]
    found.append(await error_of(loop.getaddrinfo("127.0.0.1", "nonesuch")))
    found.append(await error_of(loop.getaddrinfo("::1", 80, family=socket.AF_INET)))
    named = await loop.getnameinfo(("127.0.0.1", 80), socket.NI_NUMERICHOST | socket.NI_NUMERICSERV)
    return numeric, passive[0], found, named


@alone
async def a_function_of_an_executor(desk: Desk) -> Any:
    loop = asyncio.get_running_loop()
    found = await loop.run_in_executor(None, sum, [1, 2, 3]), await asyncio.to_thread(sorted, [2, 1])
    return found, await error_of(loop.run_in_executor(None, int, "x"))
