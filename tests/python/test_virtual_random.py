"""Random programs of 20 connections: on the real loop and on a simulated network each end reads the same bytes in order."""

from __future__ import annotations

import asyncio
import hashlib
import random
from dataclasses import dataclass, field
from typing import Any

import elephan as el
import pytest

CONNECTIONS = 20
SCENARIO = """
duration = "1000 s"
[hosts.client]
[hosts.server]
[[links]]
between = ["client", "server"]
rate = "100 Mbps"
delay = "2 ms"
loss = { bernoulli = 0.01 }
reorder = { share = 0.01, extra = "1 ms" }
queue = { kind = "fifo", limit = "50 p" }
"""
Script = list[tuple[str, int]]


def script(draw: random.Random) -> Script:
    """Returns what one end of a connection does: writes, waits, drains, holds its reader, sets limits, and at the end EOF."""
    steps: Script = [("read", draw.choice([100, 10_000, 1_000_000]))]
    for _ in range(draw.randrange(6)):
        kind = draw.choice(["write", "write", "write", "lines", "sleep", "drain", "hold", "limit"])
        sizes = {"write": [1, 1_447, 20_000, 150_000], "lines": [1, 50], "sleep": [0, 1, 5], "hold": [1, 10], "limit": [0, 1_000]}
        steps.append((kind, draw.choice(sizes.get(kind, [0]))))
    return [*steps, ("eof", 0)]


@dataclass
class Case:
    """What 20 connections do."""

    seed: int
    scripts: list[tuple[Script, Script]] = field(default_factory=list)

    def __post_init__(self) -> None:
        draw = random.Random(self.seed)
        self.scripts = [(script(draw), script(draw)) for _ in range(CONNECTIONS)]


async def _read(reader: asyncio.StreamReader, most: int) -> tuple[int, str]:
    found, count = hashlib.sha256(), 0
    while data := await reader.read(most):
        found.update(data)
        count += len(data)
    return count, found.hexdigest()


async def end(name: str, steps: Script, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Any:
    """Does what a script says; returns what was read, and how writing went."""
    draw = random.Random(name)
    reading = asyncio.ensure_future(_read(reader, steps[0][1]))
    notes: list[str] = []
    for kind, amount in steps[1:]:
        if kind == "write":
            writer.write(draw.randbytes(amount))
        elif kind == "lines":
            writer.writelines([b"%d\n" % number for number in range(amount)])
        elif kind == "sleep":
            await asyncio.sleep(amount / 1000)
        elif kind == "drain":
            await writer.drain()
        elif kind == "hold":
            writer.transport.pause_reading()
            await asyncio.sleep(amount / 1000)
            writer.transport.resume_reading()
        elif kind == "limit":
            writer.transport.set_write_buffer_limits(high=amount)
        else:
            writer.write_eof()
    found = await reading
    await writer.drain()
    writer.close()
    try:
        await writer.wait_closed()
    except OSError as error:
        notes.append(type(error).__name__)
    return found, reader.at_eof(), notes


async def serve(case: Case, host: str, started: asyncio.Future[int], over: asyncio.Event, found: dict[int, Any]) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = int(await reader.readline())
        found[number] = await end(f"server {case.seed} {number}", case.scripts[number][1], reader, writer)

    server = await asyncio.start_server(handle, host, 0)
    started.set_result(server.sockets[0].getsockname()[1])
    await over.wait()
    server.close()


async def ask(case: Case, host: str, port: int) -> dict[int, Any]:
    async def one(number: int) -> Any:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"%d\n" % number)
        return await end(f"client {case.seed} {number}", case.scripts[number][0], reader, writer)

    return dict(enumerate(await asyncio.gather(*(one(number) for number in range(CONNECTIONS)))))


def programs(case: Case, own: str, other: str) -> Any:
    started: list[asyncio.Future[int]] = []
    over, found = asyncio.Event(), dict[int, Any]()

    async def server() -> None:
        started.append(asyncio.get_running_loop().create_future())
        await serve(case, own, started[0], over, found)

    async def client() -> Any:
        while not started:
            await asyncio.sleep(0.001)
        try:
            asked = await ask(case, other, await started[0])
            while len(found) < CONNECTIONS:
                await asyncio.sleep(0.01)
            return asked, dict(sorted(found.items()))
        finally:
            over.set()

    return server, client


def on_loopback(case: Case) -> Any:
    server, client = programs(case, "127.0.0.1", "127.0.0.1")

    async def both() -> Any:
        _, found = await asyncio.wait_for(asyncio.gather(server(), client()), 60)
        return found

    return asyncio.run(both())


def simulated(case: Case) -> Any:
    server, client = programs(case, "0.0.0.0", "server")
    return el.virtual.run(SCENARIO, {"server": server, "client": client}, seed=case.seed).returned["client"]


def check(seed: int) -> None:
    case = Case(seed)
    asked, answered = simulated(case)
    assert (asked, answered) == on_loopback(case)
    for number, (client, server) in enumerate(case.scripts):  # as many bytes as the scripts say
        for steps, (read, at_eof, _) in ((client, answered[number]), (server, asked[number])):
            lines = sum(sum(len(b"%d\n" % line) for line in range(amount)) for kind, amount in steps if kind == "lines")
            assert read[0] == lines + sum(amount for kind, amount in steps if kind == "write")
            assert at_eof


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_read_the_same_on_both_loops(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 2000, 50))
def test_a_thousand_random_programs_read_the_same_on_both_loops(first: int) -> None:
    for seed in range(first, first + 50):
        check(seed)
