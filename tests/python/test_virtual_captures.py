"""Captures of programs: what their packets carry is in them, with right checksums, as tshark reads them."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import elephan as el
import pytest

SCENARIO = """
duration = "30 s"
[hosts.client]
[hosts.server]
[[links]]
between = ["client", "server"]
rate = "10 Mbps"
delay = "10 ms"
{link}
[[traffic]]
kind = "program"
from = "client"
to = "server"
{traffic}
"""
BODY = b"".join(b"%08d" % line for line in range(6400))  # versions of tshark show other bytes in other ways
PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def scenario(folder: Path, link: str, ip: str) -> Path:
    file = folder / "s.toml"
    file.write_text(SCENARIO.format(link=link, traffic=f'ip = "{ip}"'))
    return file


async def server() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(PAGE)
        writer.close()

    async with await asyncio.start_server(answer, port=80) as listener:
        await listener.serve_forever()


async def client() -> bytes:
    reader, writer = await asyncio.open_connection("server", 80)
    writer.write(b"GET /page HTTP/1.1\r\nHost: server\r\n\r\n")
    got = await reader.read()
    writer.close()
    return got


def fields(file: Path, wanted: str, *names: str) -> list[list[str]]:
    """The fields of the packets that a filter wants, checksums checked."""
    check = [word for layer in ("tcp", "udp", "ip") for word in ("-o", f"{layer}.check_checksum:TRUE")]
    check += ["-o", "tcp.reassemble_out_of_order:TRUE"]
    shown = [word for name in names for word in ("-e", name)]
    command = ["tshark", "-r", str(file), *check, "-Y", wanted, "-T", "fields", *shown]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in text.splitlines()]


@pytest.mark.parametrize("ip", ["v4", "v6"])
def test_a_page_is_in_the_capture(tmp_path: Path, ip: str) -> None:
    file = scenario(tmp_path, "loss = { bernoulli = 0.1 }", ip)
    run = el.virtual.run(file, {"client": client(), "server": server()}, seed=3, out=tmp_path / "out", pcap=True)
    assert run.returned["client"] == PAGE
    file = tmp_path / "out" / "captures" / "client.pcapng"
    assert fields(file, "http.request", "http.request.uri", "http.host") == [["/page", "server"]]
    (answer,) = fields(file, "http.response", "http.content_length", "http.file_data")
    assert answer[0] == str(len(BODY))
    assert answer[1] in (BODY.decode(), BODY.hex())
    assert fields(file, "tcp.checksum.status == 0 || ip.checksum.status == 0 || _ws.malformed", "frame.number") == []
    assert fields(
        file, "tcp.analysis.retransmission || tcp.analysis.fast_retransmission || tcp.analysis.out_of_order", "frame.number"
    )


@pytest.mark.parametrize(
    ("ip", "kind"), [("v4", "icmp.type == 3 && icmp.code == 3"), ("v6", "icmpv6.type == 1 && icmpv6.code == 4")]
)
def test_a_closed_port_is_answered_by_icmp(tmp_path: Path, ip: str, kind: str) -> None:
    async def ask() -> str:
        loop = asyncio.get_running_loop()
        lost: asyncio.Future[str] = loop.create_future()

        class Protocol(asyncio.DatagramProtocol):
            def error_received(self, error: Exception) -> None:
                lost.set_result(type(error).__name__)

        transport, _ = await loop.create_datagram_endpoint(Protocol, remote_addr=("server", 40000))
        transport.sendto(b"who?")
        try:
            return await lost
        finally:
            transport.close()

    run = el.virtual.run(scenario(tmp_path, "", ip), {"client": ask()}, seed=1, out=tmp_path / "out", pcap=True)
    assert run.returned["client"] == "ConnectionRefusedError"
    file = tmp_path / "out" / "captures" / "client.pcapng"
    assert fields(file, kind, "udp.dstport", "udp.length") == [["40000", "12"]]
    assert fields(file, "udp.checksum.status == 0 || icmp.checksum.status == 0 || _ws.malformed", "frame.number") == []
