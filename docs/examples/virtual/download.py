"""A download over HTTP, written for the real network: an aiohttp server and client."""

import asyncio
import contextlib

from aiohttp import ClientSession, web

SECONDS = 30


async def server():
    async def endless(request):
        answer = web.StreamResponse()
        await answer.prepare(request)
        with contextlib.suppress(ConnectionError):  # the client has enough
            while True:
                await answer.write(bytes(65_536))
        return answer

    app = web.Application()
    app.add_routes([web.get("/", endless)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, port=80).start()
    await asyncio.Event().wait()


async def client():
    loop = asyncio.get_running_loop()
    end, got = loop.time() + SECONDS, 0
    async with ClientSession() as session, session.get("http://server/") as answer:
        while loop.time() < end:
            got += len(await answer.content.read(65_536))
    return {"megabit_per_second": round(8e-6 * got / SECONDS, 1)}
