"""The door of `elephan explore`: who finds the token, by which name one comes in, and what a stranger costs who has no token."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.base.browser import private
from elephan.explore import door, server, session
from pages import Failed, Page, served
from waiting import until
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

posix = pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[str, int, int]]:
    """A server: its token, its port and its process."""
    with served("sawtooth") as (address, process):
        yield address.split("token=")[1], int(address.split("/")[2].rpartition(":")[2]), process.pid


# Who finds the token


@posix
def test_a_browser_is_started_with_a_file_that_only_its_user_reads() -> None:
    secret = "http://127.0.0.1:8230/#token=a&b"
    with private(secret) as shown:
        file = Path(shown.removeprefix("file://"))
        assert "token" not in shown
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert 'content="0; url=http://127.0.0.1:8230/#token=a&amp;b"' in file.read_text()
    assert not file.parent.exists()


@posix
def test_no_command_line_has_the_token(tmp_path: Path) -> None:
    """A browser that notes what it was started with, and who may read that."""
    browser = tmp_path / "browser.py"
    browser.write_text(
        f"#!{sys.executable}\nimport os, pathlib, sys\nfile = pathlib.Path(sys.argv[1].removeprefix('file://'))\n"
        f"note = pathlib.Path({str(tmp_path / 'note.new')!r})\n"
        "note.write_text(f'{sys.argv[1]}\\n{os.stat(file).st_mode & 0o777:o}\\n{file.read_text()}')\n"
        f"note.rename({str(tmp_path / 'note')!r})\n"
    )
    browser.chmod(0o755)
    for words in (["explore", "sawtooth"], ["run", "sawtooth", "-s", "duration=11 s", "--out", str(tmp_path / "out"), "--live"]):
        (tmp_path / "note").unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, "-m", "elephan", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "BROWSER": f"{browser} %s &"},
        )
        try:
            until((tmp_path / "note").exists)
            shown, mode, page = (tmp_path / "note").read_text().split("\n", 2)
        finally:
            process.terminate()
            printed = process.communicate(timeout=60)[0]
        token = re.search(r"#token=([\w-]+)", printed)
        assert token is not None, printed
        assert "token" not in shown
        assert token[1] not in shown
        assert mode == "600"
        assert f"#token={token[1]}" in page


# By which name


def status(port: int, host: str, at: str = "127.0.0.1", **headers: str) -> int:
    connection = http.client.HTTPConnection(at, port, timeout=30)
    connection.request("GET", "/", headers={"Host": host, **headers})
    found = connection.getresponse()
    found.read()
    connection.close()
    return found.status


@contextmanager
def tunnel(port: int) -> Iterator[int]:
    """What `ssh -L` does: another port that leads there."""
    code = (
        "import asyncio, sys\n"
        "async def carry(reader, writer):\n"
        "    while data := await reader.read(65536):\n"
        "        writer.write(data)\n"
        "    writer.close()\n"
        "async def one(reader, writer):\n"
        f"    there, back = await asyncio.open_connection('127.0.0.1', {port})\n"
        "    await asyncio.gather(carry(reader, back), carry(there, writer))\n"
        "async def main():\n"
        "    server = await asyncio.start_server(one, '127.0.0.1', 0)\n"
        "    print(server.sockets[0].getsockname()[1], flush=True)\n"
        "    await server.serve_forever()\n"
        "asyncio.run(main())\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


def test_the_page_is_reached_through_a_tunnel(running: tuple[str, int, int]) -> None:
    token, port, _ = running
    with tunnel(port) as other, Page(f"http://localhost:{other}/#token={token}") as page:
        assert page.ask("library")[0]["value"]
        assert status(other, f"localhost:{other}") in (200, 503)


@pytest.mark.parametrize("name", ["localhost:9000", "LOCALHOST:9000", "localhost", "127.0.0.1:1", "[::1]:9000", "[::1]"])
def test_names_of_this_machine_are_answered_at_any_port(running: tuple[str, int, int], name: str) -> None:
    assert status(running[1], name) in (200, 503)


@pytest.mark.parametrize(
    "name",
    [
        *("evil.example", "evil.example:8230", "localhost.evil.example", "localhost:evil.example", "evil.example:80:8230"),
        *("127.0.0.1.evil.example", "localhost@evil.example", "localhost:", "localhost:9000:1", "", "[::1", "192.0.2.1:8230"),
    ],
)
def test_other_names_are_refused(running: tuple[str, int, int], name: str) -> None:
    """A stranger lets his name lead to this machine: his page then asks with his name (DNS rebinding)."""
    assert status(running[1], name) == 421
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://127.0.0.1:{running[1]}/engine", origin=f"http://{name}", additional_headers={}, sock=asked_as(running[1]))
    assert refused.value.response.status_code == 403


def asked_as(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 30)


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:9000", "https://localhost:9000", "http://localhost"])
def test_a_page_of_another_port_of_this_machine_may_not_ask(running: tuple[str, int, int], origin: str) -> None:
    assert status(running[1], "localhost:9000", Origin=origin) == 403
    assert status(running[1], "localhost:9000", Origin="http://localhost:9000") in (200, 503)


def test_a_server_for_other_machines_answers_to_its_own_addresses() -> None:
    with served("sawtooth", "--host", "0.0.0.0") as (address, _):
        port = int(address.split("/")[2].rpartition(":")[2])
        own = [socket.gethostname(), "192.0.2.7", "10.1.2.3:9000", "[2001:db8::5]:8230", "localhost:9000", f"127.0.0.1:{port}"]
        for name in own:
            assert status(port, name) in (200, 503), name
        for name in ("evil.example", "192.0.2.7.evil.example", f"evil-{socket.gethostname()}", "192.0.2", "999.1.1.1"):
            assert status(port, name) == 421, name
        with Page(address) as page:
            assert page.ask("library")[0]["value"]


def test_hosts_of_a_server() -> None:
    hosts = server.own_hosts("node17.cluster")
    assert hosts.has("node17.cluster:8230")
    assert hosts.has("localhost:9000")
    assert hosts.has("10.0.0.17:8230")
    assert not hosts.has("node18.cluster:8230")
    assert not server.own_hosts("127.0.0.1").has("10.0.0.17:8230")
    assert server.own_hosts("::").has("[fe80::1]:8230")


# What a stranger costs


def resident_mb(pid: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def upgraded(port: int) -> socket.socket:
    """A WebSocket without a token, with nothing but bytes."""
    one = socket.create_connection(("127.0.0.1", port), 30)
    host = f"127.0.0.1:{port}"
    lines = [
        *("GET /engine HTTP/1.1", f"Host: {host}", f"Origin: http://{host}", "Upgrade: websocket", "Connection: Upgrade"),
        *("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="),
    ]
    one.sendall("\r\n".join([*lines, "", ""]).encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        answer += one.recv(1)
    assert b" 101 " in answer.split(b"\r\n")[0]
    return one


def flood(one: socket.socket, piece: bytes, most: int) -> int:
    """Sends until the other side takes no more; returns how many bytes it has taken."""
    one.settimeout(2)
    sent = 0
    while sent < most:
        try:
            sent += one.send(piece)
        except OSError:  # closed, or not read for two seconds
            break
    return sent


MASK = b"\x00\x00\x00\x00"
# The start of a frame of the WebSocket (RFC 6455 section 5.2), and what follows without end.
FLOODS = {
    "one long text": (b"\x81\xff" + (200 << 20).to_bytes(8, "big") + MASK, b"x" * 65536),
    "one long message of bytes": (b"\x82\xff" + (200 << 20).to_bytes(8, "big") + MASK, b"x" * 65536),
    "pieces of a text without end": (b"\x01\x80" + MASK, (b"\x00\xfe" + (1000).to_bytes(2, "big") + MASK + b"x" * 1000) * 60),
    "empty pieces": (b"\x01\x80" + MASK, (b"\x00\x80" + MASK) * 10000),
    "pings that nobody reads the answers of": (b"", (b"\x89\xfd" + MASK + b"x" * 125) * 500),
    "small messages of bytes": (b"", (b"\x82\x81" + MASK + b"x") * 10000),
}


@linux
@pytest.mark.parametrize("kind", [*FLOODS, "a head without end", "a header line without end", "a body"])
def test_a_stranger_costs_little(running: tuple[str, int, int], kind: str) -> None:
    """Three sockets took 826 MB once."""
    token, port, pid = running
    with ExitStack() as stack:
        with Page(f"http://127.0.0.1:{port}/#token={token}") as page:  # what a page costs is in the memory by now
            page.ask("library")
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak begins anew
        before = resident_mb(pid)
        for _ in range(3):
            if kind in FLOODS:
                one = stack.enter_context(upgraded(port))
                head, piece = FLOODS[kind]
                one.sendall(head)
            else:
                one = stack.enter_context(socket.create_connection(("127.0.0.1", port), 30))
                host = f"Host: 127.0.0.1:{port}\r\n"
                begin, piece = {
                    "a head without end": (f"GET / HTTP/1.1\r\n{host}", b"X-More: yes\r\n" * 5000),
                    "a header line without end": (f"GET / HTTP/1.1\r\n{host}X-More: ", b"x" * 65536),
                    "a body": (f"GET / HTTP/1.1\r\n{host}Content-Length: 900000000\r\n\r\n", b"x" * 65536),
                }[kind]
                one.sendall(begin.encode())
            flood(one, piece, 30 << 20)
        assert resident_mb(pid) - before < 6
        with Page(f"http://127.0.0.1:{port}/#token={token}") as page:  # the owner is served as before
            assert page.ask("library")[0]["value"]


def test_a_page_with_the_token_may_send_much(running: tuple[str, int, int]) -> None:
    token, port, _ = running
    with Page(f"http://127.0.0.1:{port}/#token={token}") as page:
        with pytest.raises(Failed, match="capture"):
            page.ask("open", payload=b"x" * (8 << 20), name="mine.pcap")
        with pytest.raises(Failed, match="no method"):
            page.ask("x" * (1 << 20))


def test_who_says_nothing_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[bool] = []

    class Transport:
        def is_closing(self) -> bool:
            return False

        def get_protocol(self) -> Any:
            return request

        def close(self) -> None:
            closed.append(True)

    request = object.__new__(door.Request)
    request.scope, request.transport = None, Transport()  # type: ignore[assignment]
    request._give_up()
    assert closed == [True]
    request.scope = {"type": "http"}  # type: ignore[assignment, typeddict-item]
    request._give_up()
    assert closed == [True]


# Requests that lack something


def test_announced_bytes_that_do_not_come_are_one_line(running: tuple[str, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    token, port, _ = running
    with Page(f"http://127.0.0.1:{port}/#token={token}") as page:
        for announced, line in (
            (1 << 40, "1099511627776 bytes are announced; at most 268435456 are taken"),
            (-1, "payload: expected the number of bytes that follow"),
            ("5", "payload: expected the number of bytes that follow"),
        ):
            page.socket.send(json.dumps({"id": 7, "method": "open", "params": {}, "payload": announced}))
            head = page.take()[0]
            assert (head["kind"], head["id"], head["message"]) == ("error", 7, line)
        page.socket.send(json.dumps({"id": 8, "method": "open", "params": {}, "payload": 5}))
        page.socket.send(b"1234")
        assert page.take()[0]["message"] == "4 bytes came; the request announces 5"
        page.socket.send(json.dumps({"id": 9, "method": "open", "params": {}, "payload": 5}))
        page.socket.send(json.dumps({"id": 10, "method": "library", "params": {}}))
        assert page.take()[0]["message"] == "the bytes that the request announces did not come"
        assert page.take()[0]["id"] == 10


def test_a_page_does_not_wait_for_ever_for_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    monkeypatch.setattr(session, "PAYLOAD_S", 0.01)

    class Silent:
        async def receive(self) -> Any:
            await asyncio.Event().wait()

    async def main() -> bytes:
        page = session.Session(Silent(), None, "token", {})  # type: ignore[arg-type]
        await page._take(json.dumps({"id": 3, "method": "open", "params": {}, "payload": 1}))
        found = await page.unsent.get()
        assert found is not None
        return found

    assert b"the bytes that the request announces did not come" in asyncio.run(main())


@pytest.mark.parametrize(
    "key", ["name", "path", "part", "variant", "statistic", "where", "text", "value", "table", "column", "handle"]
)
def test_words_of_5000_characters_are_one_short_line(running: tuple[str, int, int], key: str) -> None:
    token, port, _ = running
    with Page(f"http://127.0.0.1:{port}/#token={token}") as page:
        for method in ("open", "load", "trials", "trial", "run", "check", "edit", "series", "rows", "explain", "parquet", "close"):
            for word in ("a" * 5000, "a/" * 2500, "é" * 5000):
                number = page.send(method, {key: word}, b"x" if method == "open" else None)
                while (head := page.take()[0])["kind"] == "piece":
                    pass
                assert head["id"] == number
                if head["kind"] == "error":
                    message = head["message"]
                    assert "\n" not in message
                    assert "internal error" not in message, (method, message[:300])
                    assert "Errno" not in message, (method, message[:300])
                    assert len(message) < 6000


# A port that is taken


def test_a_port_is_claimed_alone() -> None:
    asked: list[tuple[int, int, int]] = []

    class Socket:
        def setsockopt(self, *words: int) -> None:
            asked.append(words)  # type: ignore[arg-type]

    server.claim(Socket(), windows=True)  # type: ignore[arg-type]
    server.claim(Socket(), windows=False)  # type: ignore[arg-type]
    # SO_EXCLUSIVEADDRUSE is ~SO_REUSEADDR in winsock2.h.
    assert asked == [
        (socket.SOL_SOCKET, getattr(socket, "SO_EXCLUSIVEADDRUSE", ~socket.SO_REUSEADDR), 1),
        (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1),
    ]
    with server.listen("127.0.0.1", None) as first:
        port = first.getsockname()[1]
        with pytest.raises(el.InputError, match=f"port {port} of 127.0.0.1"):
            server.listen("127.0.0.1", port)


def test_a_stranger_without_the_token_is_shut_out(running: tuple[str, int, int]) -> None:
    _, port, _ = running
    host = f"127.0.0.1:{port}"
    for message in ("", "{", json.dumps({"token": "x"}), b"\x00", json.dumps({"id": 1, "method": "library"})):
        with connect(f"ws://{host}/engine", origin=f"http://{host}") as one:  # type: ignore[arg-type]
            one.send(message)
            assert b"token is missing" in one.recv(30)
            with pytest.raises(ConnectionClosed) as closed:
                one.recv(30)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4401
