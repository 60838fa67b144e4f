"""Behaviours of sockets are the same on the real loop over loopback and on two simulated hosts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

import elephan as el
import pytest
import virtual_behaviours_low
from virtual_behaviours import BEHAVIOURS, SCENARIO, Desk

assert virtual_behaviours_low


def programs(name: str, desk: Desk) -> tuple[Coroutine[Any, Any, Any], Coroutine[Any, Any, Any]]:
    server, client = BEHAVIOURS[name]

    async def serve() -> None:
        desk.started, desk.over = asyncio.get_running_loop().create_future(), asyncio.Event()
        desk.ready.set()
        await server(desk)

    async def ask() -> Any:
        await desk.ready.wait()
        try:
            return await client(desk)
        finally:
            desk.over.set()

    return serve(), ask()


def on_loopback(name: str) -> Any:
    async def both() -> Any:
        desk = Desk("127.0.0.1", "127.0.0.1")
        server, client = programs(name, desk)
        task = asyncio.create_task(server)
        try:
            return await client
        finally:
            task.cancel()

    return asyncio.run(asyncio.wait_for(both(), 30))


def simulated(name: str) -> Any:
    desk = Desk("10.0.0.2", "0.0.0.0")
    server, client = programs(name, desk)
    return el.virtual.run(SCENARIO, {"server": server, "client": client}, seed=1).returned["client"]


@pytest.mark.parametrize("name", sorted(BEHAVIOURS))
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_behaviour_is_that_of_the_real_loop(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "asyncio")
    assert simulated(name) == on_loopback(name)


def test_there_are_forty_behaviours() -> None:
    assert len(BEHAVIOURS) >= 40
