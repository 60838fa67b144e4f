"""A scenario names the programs of its hosts: it runs, sweeps and is kept as any other."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import sys
import threading
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
import pytest
from elephan.base.errors import ElephanError, InputError

APP = """
import asyncio
from lengths import LENGTH


async def server():
    async def answer(reader, writer):
        writer.write(bytes(int(await reader.readline())))
        writer.close()

    await (await asyncio.start_server(answer, port=80)).serve_forever()


async def client(host, size=LENGTH, fail=False):
    if fail:
        raise ValueError("as asked")
    begin = asyncio.get_running_loop().time()
    reader, writer = await asyncio.open_connection("server", 80)
    writer.write(b"%d\\n" % size)
    got = len(await reader.read())
    writer.close()
    return {"bytes": got, "seconds": asyncio.get_running_loop().time() - begin, "host": host, "nested": {"half": got / 2}}


def plain():
    pass


VALUE = 3
"""
SCENARIO = """
duration = "100 s"

[hosts.client]
count = 2
[hosts.server]
[switches.middle]

[[links]]
between = ["client", "middle"]
rate = "10 Mbps"
delay = "5 ms"

[[links]]
between = ["server", "middle"]
rate = "10 Mbps"
delay = "5 ms"

[[traffic]]
kind = "program"
from = "client"
to = "server"

[traffic.programs]
client = { python = "app.py:client" }
server = { python = "app.py:server" }
"""
ONE = """
duration = "100 s"
[hosts.client]
[hosts.server]
[[links]]
between = ["client", "server"]
rate = "10 Mbps"
delay = "5 ms"
[[traffic]]
kind = "program"
from = "client"
to = "server"
"""
SIZE = "traffic[0].programs.client.params.size"


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "lengths.py").write_text("LENGTH = 100_000\n")
    (tmp_path / "lab.toml").write_text(SCENARIO)
    return tmp_path / "lab.toml"


def test_numbers_that_programs_return_are_statistics(lab: Path) -> None:
    run = el.run(lab, seed=1)
    returned = run.summary["returned"]
    assert {host: row["host"] for host, row in returned.items()} == {"client[0]": "client-0", "client[1]": "client-1"}
    seconds = [row["seconds"] for row in returned.values()]
    assert run.statistic("returned[bytes].sum") == 200_000
    assert run.statistic("returned[seconds].max") == max(seconds)
    assert run.statistic("returned[nested.half].mean") == 50_000
    # 100 000 B in packets of 1448 B with 78 B more on the wire, two of them over 10 Mb/s: 168.5 ms.
    assert max(seconds) > 0.1685
    assert el.measures.usual(run)["returned[bytes].mean"] == 100_000
    assert el.measures.describe("returned[seconds].max") == "max: number that each program returned: seconds"
    with pytest.raises(InputError, match='no program returned byte; did you mean "bytes"'):
        run.statistic("returned[byte].sum")
    assert [row["python"] for row in run.manifest["guests"]] == ["app.py:client", "app.py:server"]


def test_a_result_in_a_folder_has_what_was_returned(lab: Path, tmp_path: Path) -> None:
    run = el.run(lab, out=tmp_path / "out", pcap=True)
    assert el.load(tmp_path / "out").statistic("returned[bytes].sum") == 200_000
    assert (tmp_path / "out" / "report.html").is_file()
    assert len(run.captures) == 3
    assert str(el.explain(run))


@pytest.mark.parametrize("place", ["threads", "processes"])
def test_a_sweep_over_programs(lab: Path, tmp_path: Path, place: str) -> None:
    kept = tmp_path / place
    asked = {"set": {SIZE: [10_000, 300_000]}, "repetitions": 2, "workers": 2, "on": place, "store": kept, "progress": False}
    sweep = el.sweep(lab, statistics=["returned[bytes].sum", "returned[seconds].max"], **asked)
    rows = sweep.trials.table(["returned[bytes].sum", "returned[seconds].max"]).to_pylist()
    assert sorted(row["returned[bytes].sum"] for row in rows) == [20_000, 20_000, 600_000, 600_000]
    alone = {el.run(lab, seed=row["seed"], set={SIZE: row[SIZE]}).statistic("returned[seconds].max") for row in rows}
    assert alone == {row["returned[seconds].max"] for row in rows}


def test_trials_are_kept_under_what_their_programs_are(lab: Path, tmp_path: Path) -> None:
    def swept(**more: str) -> el.Sweep:
        return el.sweep(lab, repetitions=2, store=tmp_path / "kept", statistics=["returned[bytes].sum"], **more)

    whole = swept()
    assert swept(on="kept").table.equals(whole.table)
    for file, text in (("lengths.py", "LENGTH = 90_000\n"), ("app.py", APP + "\n# another text\n")):
        (lab.parent / file).write_text(text)
        with pytest.raises(ElephanError):
            swept(on="kept")
        assert swept().table.num_rows == 2
        assert swept(on="kept").table.num_rows == 2


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("app.py:client", "ap.py:client", "No such file or directory"),
        ("app.py:client", "app.py:clients", 'has no "clients"; did you mean "client"'),
        ("app.py:client", "app.py:plain", "plain is a plain function, not a coroutine function"),
        ("app.py:client", "app.py:VALUE", "VALUE is int, not a coroutine function"),
        ("app.py:client", "app.py", "path/to/file.py:function"),
        ('app.py:client"', 'app.py:client", params = { sizes = 3 }', 'has no parameter "sizes"; did you mean "size"'),
        ("client = {", "clint = {", 'no host or switch is called "clint"; did you mean "client"'),
        ("client = {", '"client[2]" = {', "members of client are counted from 0 to 1"),
        ("client = {", "middle = {", "middle is a switch; programs run on hosts"),
        ("app.py:client", "../app.py:client", "its code runs only where the caller names it"),
    ],
)
def test_a_program_that_is_not_there_is_one_line_with_its_place(lab: Path, old: str, new: str, line: str) -> None:
    if new.startswith("../"):
        (lab.parent / "inner").mkdir()
        lab = lab.rename(lab.parent / "inner" / "lab.toml")
    lab.write_text(SCENARIO.replace(old, new))
    with pytest.raises(InputError) as raised:
        el.run(lab)
    assert line in str(raised.value)
    assert f"{lab}:2" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_a_program_raises_is_one_line(lab: Path) -> None:
    with pytest.raises(ElephanError, match=r"app\.py:\d+: ValueError: as asked; the program of client\[0\] raised this at 0 s"):
        el.run(lab, set={"traffic[0].programs.client.params.fail": True})


def test_two_programs_for_one_host_are_refused(lab: Path) -> None:
    lab.write_text(SCENARIO + '"client[1]" = { python = "app.py:client" }\n')
    with pytest.raises(InputError, match=r"two programs are for host client\[1\]"):
        el.run(lab)


def test_programs_given_twice_are_refused(lab: Path) -> None:
    async def client() -> None: ...

    with pytest.raises(InputError, match=r"names its own programs, which el\.run and elephan run start"):
        el.virtual.run(lab, {"client": client})


def test_an_engine_without_python_refuses_them(lab: Path) -> None:
    run = el.run(lab)
    with pytest.raises(ElephanError, match="traffic program is what programs send, and these do not run here"):
        el.branch(run, at="1 s", set={"links[0].rate": "1 Mbps"})


def test_the_time_of_executors_is_of_the_entry(lab: Path) -> None:
    (lab.parent / "app.py").write_text(
        "import asyncio\n\nasync def client(host):\n    loop = asyncio.get_running_loop()\n"
        "    await loop.run_in_executor(None, min, 1, 2)\n    return loop.time()\n\nasync def server():\n    pass\n"
    )
    text = SCENARIO.replace('to = "server"\n', 'to = "server"\nexecutor_time = "250 ms"\n')
    lab.write_text(text)
    assert el.run(lab).statistic("returned.max") == 0.25


def test_a_result_says_where_its_programs_are(lab: Path, tmp_path: Path) -> None:
    bare = SCENARIO.partition("[traffic.programs]")[0]

    async def client() -> int:
        return 3

    run = el.virtual.run(bare, {"client[0]": client}, out=tmp_path / "out", report=False)
    told = run.manifest["programs"]["client[0]"]
    assert told["function"].endswith("<locals>.client")
    assert told["file"] == __file__
    assert told["source_sha256"] == hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    assert run.statistic("returned.max") == 3


def test_each_trial_begins_with_its_module_anew(lab: Path, tmp_path: Path) -> None:
    (lab.parent / "counts.py").write_text("SEEN = []\n")
    (lab.parent / "app.py").write_text(
        "from counts import SEEN\nOWN = []\n\nasync def client(host):\n    OWN.append(1)\n    SEEN.append(1)\n"
        "    return len(OWN) + len(SEEN)\n\nasync def server():\n    pass\n"
    )
    alone = el.run(lab, seed=2).statistic("returned.max")
    for place in ("threads", "processes"):
        sweep = el.sweep(lab, repetitions=3, workers=1, on=place, statistics=["returned.max"], store=tmp_path / place)
        assert sweep.table["returned.max"].to_pylist() == [alone] * 3
    assert alone == 4  # two hosts, which share the module of their run


@pytest.mark.parametrize("name", ["client-0", "client0", "client[0]", "CLIENT-0"])
def test_members_of_groups_have_the_names_that_programs_use(name: str) -> None:
    async def program() -> int:
        return 1

    bare = SCENARIO.partition("[[traffic]]")[0]
    assert el.virtual.run(bare, {name: program, "server": program}).returned == {name: 1, "server": 1}
    with pytest.raises(InputError, match='"client-2"'):
        el.virtual.run(bare, {"client-2": program, "server": program})


def test_a_group_may_be_made_larger() -> None:
    async def program() -> int:
        return 1

    bare = SCENARIO.partition("[[traffic]]")[0]
    assert el.virtual.run(bare, {"client-4": program}, set={"hosts.client.count": 5}).returned == {"client-4": 1}


async def _stops() -> int:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(1)
    return 1


async def _cancels_itself() -> None:
    raise asyncio.CancelledError


async def _groups() -> None:
    raise ExceptionGroup("both", [ValueError("one"), TypeError("two")])


async def _no_text() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    raise Mute


async def _own_errno() -> None:
    raise ConnectionResetError(104, "mine")


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (_stops, "a program stopped the event loop: client sleeps (test_virtual_scenario.py:"),
        (_cancels_itself, "the program of client ended at 0 s by CancelledError"),
        (_groups, "ValueError: one; TypeError: two; the program of client raised this"),
        (_no_text, "Mute: its text cannot be had"),
        (_own_errno, "ConnectionResetError: [Errno 104] mine"),
    ],
)
def test_odd_ends_are_one_line(program: Any, line: str, tmp_path: Path) -> None:
    text = ONE + f'[traffic.programs]\nclient = {{ python = "{program.__module__}:{program.__name__}" }}\n'
    with pytest.raises(ElephanError) as raised:
        el.run(text, python_from=program.__module__, out=tmp_path / "out")
    assert line in str(raised.value)
    assert not (tmp_path / "out").exists()


def test_an_error_of_a_program_stays_its_own(tmp_path: Path) -> None:
    with pytest.raises(ConnectionResetError, match="mine"):
        el.virtual.run(ONE, {"client": _own_errno}, out=tmp_path / "out")


def test_what_no_table_can_hold_is_text() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop

    async def odd() -> Any:
        return {"huge": 10**400, "nan": float("nan"), "set": {1}, "half": "\ud800", "two": 2, "numpy": np.int64(3), "deep": loop}

    run = el.virtual.run(ONE, {"client": odd})
    told = run.summary["returned"]["client"]
    assert (told["huge"], told["nan"], told["set"], told["half"]) == (str(10**400), "nan", "{1}", "\\ud800")
    assert run.statistic("returned[two].max") == 2
    assert run.statistic("returned[numpy].max") == 3


def test_a_folder_that_a_program_leaves_is_gone_back_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def leaves() -> None:
        os.chdir("/")

    el.virtual.run(ONE, {"client": leaves}, out="here", report=False)
    assert (tmp_path / "here" / "manifest.json").is_file()


def test_waiting_for_ever_and_polling_come_to_the_end() -> None:
    async def waits() -> None:
        await asyncio.sleep(float("inf"))

    async def polls() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(ElephanError, match="nothing can happen any more: client"):
        el.virtual.run(ONE, {"client": waits})
    with pytest.raises(ElephanError, match="the scenario ended at 100 s before every program returned: client"):
        el.virtual.run(ONE, {"client": polls})


def test_writers_in_a_set_have_an_order() -> None:
    async def server() -> list[int]:
        writers, ports = set(), []

        async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writers.add(writer)

        listening = await asyncio.start_server(greet, port=80)
        await asyncio.sleep(10)
        listening.close()
        for writer in writers:
            ports.append(writer.get_extra_info("peername")[1])
            writer.close()
        return ports

    async def client(host: str) -> None:
        pairs = [await asyncio.open_connection("server", 80) for _ in range(20)]
        await asyncio.sleep(20)
        for _, writer in pairs:
            writer.close()

    bare = SCENARIO.partition("[[traffic]]")[0]
    found = [el.virtual.run(bare, {"client-0": client, "server": server}).returned["server"] for _ in range(3)]
    assert found[0] == found[1] == found[2]
    assert len(set(found[0])) == 20


GIVEN = 1.0


async def _given(host: str) -> float:
    return GIVEN


def test_trials_of_functions_are_kept_under_what_they_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def swept() -> list[float]:
        asked = {"set": {"traffic[0].programs": {"client": _given}}, "store": tmp_path / "kept"}
        return el.sweep(ONE, repetitions=2, statistics=["returned.max"], **asked).table["returned.max"].to_pylist()

    assert swept() == [1.0, 1.0]
    monkeypatch.setattr(sys.modules[__name__], "GIVEN", 2.0)
    assert swept() == [2.0, 2.0]


def test_rates_are_over_the_time_until_the_programs_returned() -> None:
    async def brief() -> None:
        await asyncio.sleep(3)

    run = el.virtual.run(ONE, {"client": brief})
    assert (run.duration_ns, run.summary["simulated_s"]) == (3_000_000_000, 3.0)


def test_what_other_threads_draw_is_not_the_programs() -> None:
    async def draws() -> list[float]:
        found = []
        for _ in range(200):
            found.append(random.uniform(0, 1))
            await asyncio.sleep(0.001)
        return found

    over = threading.Event()

    def busy() -> None:
        while not over.is_set():
            random.random()

    alone = el.virtual.run(ONE, {"client": draws}, seed=3).returned
    other = threading.Thread(target=busy)
    other.start()
    try:
        assert el.virtual.run(ONE, {"client": draws}, seed=3).returned == alone
    finally:
        over.set()
        other.join()
