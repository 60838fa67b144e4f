"""aioquic moves 20 times 1 MB over five networks, each way, and shares a link with TCP."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import elephan as el
import pytest

DATA = Path(__file__).parent / "data"
SCENARIO = Path(__file__).parents[2] / "docs" / "examples" / "virtual" / "quic.toml"
MEGABYTE = hashlib.shake_256(b"quic").digest(1_000_000)
LINK = '\nduration = "1000 s"\n[hosts.client]\n[hosts.server]\n[[links]]\nbetween = ["client", "server"]\n'
# What the link is, and the least seconds that 1 MB takes over it.
NETWORKS = {
    "fast": ('rate = "100 Mbps"\ndelay = "5 ms"\n', 0.08),
    "delay": ('rate = "20 Mbps"\ndelay = "150 ms"\n', 0.4 + 0.45),
    "loss": ('rate = "20 Mbps"\ndelay = "20 ms"\nloss = { bernoulli = 0.03 }\n', 0.4),
    "reordering": ('rate = "20 Mbps"\ndelay = "20 ms"\nreorder = { share = 0.1, extra = "15 ms" }\n', 0.4),
    "slow": ('rate = "1 Mbps"\ndelay = "20 ms"\nqueue = { kind = "fifo", limit = "60 p" }\n', 8.0),
}


def programs(upload: bool) -> dict[str, Any]:
    from aioquic.asyncio import connect, serve
    from aioquic.quic.configuration import QuicConfiguration

    async def server() -> None:
        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            got = await reader.read()
            writer.write(hashlib.sha256(got).digest() if upload else MEGABYTE)
            writer.write_eof()

        configuration = QuicConfiguration(is_client=False, alpn_protocols=["bulk"])
        configuration.load_cert_chain(DATA / "virtual-cert.pem", DATA / "virtual-key.pem")
        handler = lambda reader, writer: asyncio.ensure_future(talk(reader, writer))  # noqa: E731
        await serve("0.0.0.0", 4433, configuration=configuration, stream_handler=handler)
        await asyncio.Event().wait()

    async def client() -> Any:
        configuration = QuicConfiguration(is_client=True, alpn_protocols=["bulk"])
        configuration.load_verify_locations(str(DATA / "virtual-cert.pem"))
        async with connect("server", 4433, configuration=configuration) as session:
            begin = asyncio.get_running_loop().time()
            reader, writer = await session.create_stream()
            writer.write(MEGABYTE if upload else b"please")
            writer.write_eof()
            got = await reader.read()
            took = asyncio.get_running_loop().time() - begin
        return got == (hashlib.sha256(MEGABYTE).digest() if upload else MEGABYTE), took

    return {"client": client, "server": server}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("upload", [False, True], ids=["down", "up"])
@pytest.mark.parametrize("network", NETWORKS)
def test_a_megabyte_arrives_whole_and_no_sooner_than_the_link_allows(network: str, upload: bool, seed: int) -> None:
    words, least_s = NETWORKS[network]
    run = el.virtual.run(LINK + words, programs(upload), seed=seed)
    whole, took = run.returned["client"]
    assert whole
    assert least_s < took < 40 * least_s


@pytest.mark.slow
def test_its_congestion_control_shares_a_link_with_cubic() -> None:
    run = el.run(SCENARIO, seed=1)
    quic = run.statistic("returned[megabit_per_second].max")
    tcp = run.statistic("goodput_bps[tcp].sum") * 65 / 60 / 1e6  # over 65 s, of which it sends 60
    # Both fill the link, and neither starves.
    assert 4.2 < quic + tcp < 5
    assert 0.5 < quic < 4.5
