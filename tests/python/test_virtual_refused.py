"""What is not possible in virtual time is one line: who, where, and what to do instead."""

from __future__ import annotations

import asyncio
import datetime
import os
import random
import secrets
import select
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from virtual_behaviours import SCENARIO

HERE = Path(__file__).name


def play(client: Callable[[], Any], server: Callable[[], Any] | None = None, **more: Any) -> el.virtual.ProgramRun:
    return el.virtual.run(SCENARIO, {"client": client, **({"server": server} if server else {"server": _done})}, seed=1, **more)


async def _done() -> None:
    return


def blocking_connect() -> None:
    socket.create_connection(("server", 80))


def blocking_read() -> None:
    one, _ = socket.socketpair()
    one.recv(1)


def real_select() -> None:
    one, _ = socket.socketpair()
    select.select([one], [], [], 1)


def watch_a_file() -> None:
    asyncio.get_running_loop().add_reader(0, print)


@pytest.mark.parametrize(
    ("what", "line"),
    [
        (lambda: time.sleep(1), "time.sleep(1) sleeps for real; use await asyncio.sleep"),
        (lambda: os.fork(), "os.fork; a simulated host has one process"),
        (lambda: os.system("true"), "os.system; a simulated host has one process"),
        (lambda: subprocess.run(["true"], check=True), "the subprocess true is started; a simulated host has one process"),
        (lambda: threading.Thread(target=print, name="t").start(), "the thread t is started; a simulated host has one thread"),
        (blocking_connect, "a blocking connect of a socket; use asyncio, or setblocking(False)"),
        (lambda: urllib.request.urlopen("http://server/"), "a blocking connect of a socket"),
        (blocking_read, "a blocking recv of a socket"),
        (real_select, "select.select waits; use asyncio"),
        (watch_a_file, "the loop is to watch descriptor 0; it watches sockets of the simulated network only"),
        (lambda: socket.socket(socket.AF_UNIX), "a socket of family AF_UNIX; simulated hosts have AF_INET and AF_INET6"),
    ],
)
def test_what_is_refused_names_host_and_place(what: Callable[[], Any], line: str) -> None:
    async def client() -> None:
        try:
            what()
        except Exception:
            await asyncio.sleep(1)  # a program that catches everything does not hide it

    with pytest.raises(el.InputError) as caught:
        play(client)
    assert str(caught.value).startswith(f"client: {HERE}:")
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_host_that_the_scenario_does_not_have() -> None:
    with pytest.raises(el.InputError, match='no host or switch is called "sever"; did you mean "server"'):
        el.virtual.run(SCENARIO, {"client": _done, "sever": _done})
    joined = SCENARIO + '[[traffic]]\nkind = "program"\nfrom = "client"\nto = "server"\n'
    with pytest.raises(el.InputError, match='no host "sever"; did you mean "server"'):
        el.virtual.run(joined, {"client": _done, "sever": _done})


def test_a_name_that_nobody_has() -> None:
    async def client() -> None:
        await asyncio.open_connection("sever", 80)

    with pytest.raises(socket.gaierror, match="Name or service not known") as caught:
        play(client)
    assert caught.value.__notes__[0] == 'the scenario has no host "sever"; did you mean "server"?'


@pytest.mark.parametrize("given", [{}, None, {"client": 3}, {"client": lambda: 3}])
def test_what_is_no_program(given: Any) -> None:
    with pytest.raises(el.InputError, match=r"a dict such as|a coroutine or a function"):
        el.virtual.run(SCENARIO, given)


def test_programs_that_wait_for_what_cannot_come_are_told() -> None:
    async def client() -> None:
        reader, _ = await asyncio.open_connection("server", 80)
        await reader.readline()

    async def server() -> None:
        await (await asyncio.start_server(lambda reader, writer: None, port=80)).serve_forever()

    with pytest.raises(el.ElephanError) as caught:
        play(client, server)
    assert "nothing can happen any more: client waits for data (test_virtual_refused.py:" in str(caught.value)
    assert "server serves (test_virtual_refused.py:" in str(caught.value)


def test_a_program_that_never_ends_is_told() -> None:
    async def client() -> None:
        while True:
            await asyncio.sleep(1)

    with pytest.raises(el.ElephanError, match=r"the scenario ended at 1.000 s before every program returned: client sleeps"):
        play(client)


def test_a_server_that_ticks_is_ended() -> None:
    async def server() -> None:
        await asyncio.start_server(lambda reader, writer: writer.close(), port=80)
        while True:
            await asyncio.sleep(0.1)

    async def client() -> bytes:
        reader, writer = await asyncio.open_connection("server", 80)
        found = await reader.read()
        writer.close()
        return found

    run = play(client, server)
    assert run.returned == {"client": b""}
    assert 5 < run.summary["simulated_s"] < 7


def test_what_a_program_raises_comes_out_with_its_host() -> None:
    async def client() -> None:
        await asyncio.sleep(2)
        raise ValueError("wrong")

    ended: list[str] = []

    async def server() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("server")

    with pytest.raises(ValueError, match="wrong") as caught:
        play(client, server)
    assert caught.value.__notes__ == ["the program of client raised this at 2 s"]
    assert ended == ["server"]


def test_polling_lets_time_pass() -> None:
    async def client() -> float:
        loop = asyncio.get_running_loop()
        while loop.time() < 0.01:
            await asyncio.sleep(0)
        return loop.time()

    assert play(client).returned["client"] == pytest.approx(0.01, abs=1e-5)


def test_an_executor_takes_no_time_but_what_is_stated_and_slept() -> None:
    async def client() -> list[float]:
        loop = asyncio.get_running_loop()
        times = []
        for function in (sum, lambda _: time.sleep(2)):
            await loop.run_in_executor(None, function, [1])
            times.append(loop.time())
        return times

    assert play(client).returned["client"] == [0.0, 2.0]
    assert play(client, executor_time="1 s").returned["client"] == [1.0, 4.0]


def clocks() -> tuple[Any, ...]:
    return time.time(), time.monotonic(), time.perf_counter_ns(), datetime.datetime.now(datetime.UTC).isoformat(), time.gmtime()[:6]


def chances() -> tuple[Any, ...]:
    generator = random.Random()
    return (
        random.random(),
        secrets.token_hex(4),
        uuid.uuid4().hex,
        os.urandom(4),
        generator.random(),
        random.SystemRandom().random(),
    )


@pytest.mark.slow
def test_clocks_and_chances_are_those_of_the_run_and_put_back() -> None:
    async def client() -> Any:
        await asyncio.sleep(90)
        return clocks(), chances()

    before = time.time, time.sleep, socket.socket.__new__, random.getstate(), os.urandom, datetime.datetime, threading.Thread.start
    found, again = play(client).returned["client"], play(client).returned["client"]
    assert found == again
    assert found[0] == (1_767_225_690.0, 90.0, 90 * 10**9, "2026-01-01T00:01:30+00:00", (2026, 1, 1, 0, 1, 30))
    assert play(client, epoch=0).returned["client"][0][0] == 90.0
    assert el.virtual.run(SCENARIO, {"client": client, "server": _done}, seed=2).returned["client"][1] != found[1]
    after = time.time, time.sleep, socket.socket.__new__, random.getstate(), os.urandom, datetime.datetime, threading.Thread.start
    assert before == after
    assert "__new__" not in vars(socket.socket)
    assert time.time() > 1_767_225_690


@pytest.mark.slow
def test_what_runs_elsewhere_is_not_touched() -> None:
    """Another thread has real sockets and the real clock while programs run."""
    seen: dict[str, Any] = {}
    started, over = threading.Event(), threading.Event()

    def other() -> None:
        started.wait(30)
        with socket.socket() as sock:
            seen["fd"] = sock.fileno()
        seen["time"] = time.time()
        over.set()

    thread = threading.Thread(target=other)
    thread.start()

    async def client() -> int:
        started.set()
        over.wait(30)
        with socket.socket() as sock:
            return sock.fileno()

    assert play(client).returned["client"] >= 1 << 20
    thread.join()
    assert seen["fd"] < 1 << 20
    assert seen["time"] > 1_767_225_600


def command(folder: Path, program: str, *more: str) -> subprocess.CompletedProcess[str]:
    (folder / "app.py").write_text(textwrap.dedent(program))
    (folder / "s.toml").write_text(SCENARIO)
    words = [sys.executable, "-m", "elephan", "virtual", "app.py", "--scenario", "s.toml", "--json", *more]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (
            "import asyncio\nasync def client():\n    raise KeyError('x')\n",
            "app.py:3: KeyError: 'x'; the program of client raised this",
        ),
        ("import time\nasync def main():\n    time.sleep(1)\n", "client: app.py:3: time.sleep(1) sleeps for real"),
        ("async def client(:\n", "app.py:1: invalid syntax"),
        ("import nonesuch\n", "app.py:1: ModuleNotFoundError: No module named 'nonesuch'"),
        ("async def nobody(): pass\n", "app.py: no coroutine function `main`, nor one named as a host: client, server"),
        ("import sys\nasync def main():\n    sys.exit(3)\n", "a program called sys.exit(3) at 0 s"),
    ],
)
def test_the_command_tells_each_in_one_line(tmp_path: Path, program: str, line: str) -> None:
    done = command(tmp_path, program)
    assert done.returncode in (1, 2), done
    assert line in done.stderr
    assert done.stderr.startswith("elephan: ")
    assert done.stderr.count("\n") == 1


def test_the_command_runs_programs(tmp_path: Path) -> None:
    program = """
        import asyncio

        async def server():
            async with await asyncio.start_server(lambda reader, writer: writer.close(), port=80) as server:
                await server.serve_forever()

        async def main(host):
            reader, writer = await asyncio.open_connection("server", 80)
            writer.close()
            return host
    """
    done = command(tmp_path, program)
    assert '"returned": {\n  "client": "client"\n }' in done.stdout, done
    assert (tmp_path / "results" / "app-0" / "manifest.json").is_file() or list((tmp_path / "results").glob("app-*"))


@pytest.mark.parametrize(
    "program",
    [
        "async def main():\n    print('now', flush=True)\n    while True: pass\n",
        "import asyncio\nasync def main():\n    print('now', flush=True)\n    while True: await asyncio.sleep(0)\n",
        "import asyncio\nasync def main():\n    print('now', flush=True)\n    while True: await asyncio.sleep(1e-6)\n",
    ],
)
@pytest.mark.slow
def test_ctrl_c_ends_within_a_second(tmp_path: Path, program: str) -> None:
    (tmp_path / "app.py").write_text(program)
    (tmp_path / "s.toml").write_text(SCENARIO)
    words = [sys.executable, "-m", "elephan", "virtual", "app.py", "--scenario", "s.toml"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
        took = time.monotonic() - begin
    assert process.returncode == 130
    assert told == "elephan: interrupted\n"
    assert took < 3  # a second where the machine is not busy


def test_the_fixture_finds_a_scenario_beside_the_test(pytester: pytest.Pytester) -> None:
    pytester.makefile(".toml", slow=SCENARIO)
    pytester.makepyfile(
        """
        import asyncio

        async def client():
            await asyncio.sleep(3600 / 4)
            return "hello"

        def test_hello(network):
            bench = network("slow.toml", seed=1)
            assert bench.run({"client": client(), "server": asyncio.sleep(0)}).returned["client"] == "hello"
        """
    )
    pytester.runpytest_subprocess("-p", "elephan.virtual.fixture").assert_outcomes(passed=1)
