"""A long download over QUIC: aioquic at both ends, with its CUBIC."""

import asyncio
from pathlib import Path

from aioquic.asyncio import connect, serve
from aioquic.quic.configuration import QuicConfiguration

HERE = Path(__file__).parent
CERTIFICATE, KEY = str(HERE / "server-cert.pem"), str(HERE / "server-key.pem")
ENOUGH, SECONDS = 40_000_000, 60


def configured(**more):
    return QuicConfiguration(alpn_protocols=["download"], congestion_control_algorithm="cubic", **more)


async def server():
    def answer(reader, writer):
        writer.write(bytes(ENOUGH))

    configuration = configured(is_client=False)
    configuration.load_cert_chain(CERTIFICATE, KEY)
    await serve("0.0.0.0", 4433, configuration=configuration, stream_handler=answer)
    await asyncio.Event().wait()


async def client():
    clock, got = asyncio.get_running_loop().time, 0
    configuration = configured(is_client=True)
    configuration.load_verify_locations(CERTIFICATE)
    async with connect("server", 4433, configuration=configuration) as session:
        reader, writer = await session.create_stream()
        writer.write(b"all of it")
        while clock() < SECONDS:
            got += len(await reader.read(65_536))
    return {"megabit_per_second": round(8e-6 * got / SECONDS, 2)}
