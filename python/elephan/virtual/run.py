"""`el.virtual.run`: real programs over the network of a scenario, in virtual time."""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import seconds
from elephan.base.seed import seed_or_none
from elephan.result import folder
from elephan.result import run as runs
from elephan.scenario import core
from elephan.scenario.source import Source, open_source
from elephan.virtual.network import EPOCH, Network
from elephan.virtual.play import hosts_of, play
from elephan.virtual.returned import as_json, plain
from elephan.virtual.traffic import with_traffic


class ProgramRun(runs.Run):
    """The result of a run of programs: a `Run`, and what the programs returned.

    >>> pair = el.Scenario(duration="60 s", template=el.Dumbbell(pairs=1, rate="10 Mbps", delay="5 ms"))
    >>> async def main():
    ...     return 3
    >>> run = el.virtual.run(pair, {"sender": main, "receiver": main()})
    >>> run.returned, run.as_dict()["returned"]
    ({'sender': 3, 'receiver': 3}, {'sender': 3, 'receiver': 3})
    """

    def __init__(self, run: runs.Run, returned: Mapping[str, Any]) -> None:
        self.__dict__.update(run.__dict__)
        self.returned = dict(returned)  # what each program returned, by the name of its host; servers that were ended have none

    def as_dict(self) -> dict[str, Any]:
        """Returns what `Run.as_dict` returns, and `returned`: what JSON cannot hold as its `repr`."""
        return {**super().as_dict(), "returned": {name: plain(value) for name, value in self.returned.items()}}


def run(
    scenario: Any,
    programs: Mapping[str, Any],
    *,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    report: bool = True,
    pcap: bool = False,
    replace: bool = False,
    executor_time: Any = "0 s",
    epoch: float = EPOCH,
    python_from: Any = None,
    files_from: Any = None,
) -> ProgramRun:
    r"""Runs programs on the hosts of a scenario over its network, in virtual time; returns a `Run` that has what they returned.

    `programs`: for each host a coroutine, or a function without arguments that returns one. The programs use asyncio and what is
    built on it, such as aiohttp, httpx, websockets and aioquic, as on the real network. Hosts find one another by name; the group
    `worker` of three hosts has `worker-0` to `worker-2`. Clocks and random numbers are those of the run, so that the same
    programs give the same result each time.

    The run ends when the programs have returned. A program that listens and does not return is a server: it is ended when no other
    program is left, 5 simulated seconds after something last happened at a socket; 60 seconds if connections are left open. The
    scenario's `duration` is a bound: a program other than a server that has not returned by then is an ElephanError.

    `scenario`, `seed`, `set`, `out`, `report`, `pcap`, `replace`, `python_from`, `files_from`: as of `el.run`. Without traffic of
    kind `program`, the hosts of the programs are joined by their own TCP stacks. `executor_time`: how long each function takes
    that a program gives to an executor, which runs in place. `epoch`: what `time.time()` is at the beginning, seconds since 1970.

    Raises what a program raised; InputError for what is not possible in virtual time: threads, processes, calls that block or
    sleep for real, sockets of other kinds than TCP and UDP; ElephanError if nothing can happen any more, with who waits for what.

    >>> import asyncio
    >>> pair = el.Scenario(duration="60 s", template=el.Dumbbell(pairs=1, rate="10 Mbps", delay="5 ms"))
    >>> async def receiver():
    ...     async def answer(reader, writer):
    ...         writer.write(await reader.readline())
    ...         writer.close()
    ...     await (await asyncio.start_server(answer, port=80)).serve_forever()
    >>> async def sender():
    ...     reader, writer = await asyncio.open_connection("receiver", 80)
    ...     writer.write(b"hello\n")
    ...     line = await reader.readline()
    ...     writer.close()
    ...     return line, asyncio.get_running_loop().time() > 0.02
    >>> el.virtual.run(pair, {"sender": sender, "receiver": receiver}).returned
    {'sender': (b'hello\n', True)}
    """
    try:
        return _run(
            scenario,
            programs,
            seed_or_none(seed),
            core.as_overrides(set),
            out=out,
            report=report,
            pcap=pcap,
            replace=replace,
            trust=(python_from, files_from),
            times=(_executor_time(executor_time), _epoch(epoch)),
        )
    finally:
        _close(programs)


def _executor_time(given: Any) -> float:
    found = float(given) if isinstance(given, int | float) and not isinstance(given, bool) else seconds(given)
    if not 0 <= found < float("inf"):
        raise InputError(f'executor_time is a time such as "2 ms", not {given!r}')
    return found


def _epoch(given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < 4e9:
        raise InputError(f"epoch is a number of seconds since 1970, not {given!r}")
    return float(given)


def _close(programs: Any) -> None:
    """Closes coroutines that have not begun, because something was wrong before: nobody awaits them any more."""
    for one in programs.values() if isinstance(programs, Mapping) else ():
        if inspect.iscoroutine(one) and inspect.getcoroutinestate(one) == inspect.CORO_CREATED:
            one.close()


def _run(
    scenario: Any,
    programs: Mapping[str, Any],
    seed: int | None,
    overrides: Mapping[str, Any],
    *,
    out: str | os.PathLike[str] | None,
    report: bool,
    pcap: bool,
    replace: bool,
    trust: tuple[Any, Any],
    times: tuple[float, float],
) -> ProgramRun:
    core.not_while_loading()
    if not isinstance(programs, Mapping) or not programs:
        raise InputError(f'programs is a dict such as {{"client": client(), "server": server()}}, not {programs!r}')
    python_from, files_from = trust
    source = open_source(scenario).with_trust(python_from, overrides, files_from=files_from).packed()
    source = with_traffic(source, overrides, seed, [str(name) for name in programs])
    if pcap:
        if out is None:
            raise InputError("captures are files: say with out where to write them")
        overrides = runs.capturing(source, overrides, seed)
    runs.check_answer(source, overrides)
    resolved = core.resolved_toml(source, overrides, seed)
    values = core.toml_values(resolved)
    drawn = int(values.get("seed", 0))
    if any(one.get("programs") for one in values["traffic"]):
        raise InputError(f"{source.name}: names its own programs, which el.run and elephan run start")
    if out is not None and not replace:
        runs.check_same(out, resolved)

    sources = {str(name): _source_of(program) for name, program in programs.items()}

    def execute(where: Path | None) -> tuple[Any, dict[str, Any]]:
        network = _network(source, overrides, seed, where, times)
        hosts = hosts_of(network, programs)
        found = play(network, {host: programs[name] for host, name in hosts.items()}, drawn)
        result = network.core.finish(as_json({host.name: value for host, value in found.items()}))
        return result, {name: found[host] for host, name in hosts.items() if host in found}

    if out is None:
        result, returned = execute(None)
        return ProgramRun(runs.finish(source, overrides, result, runs.Tables(result.tables)), returned)
    with folder.result_folder(out, "run") as partial:
        result, returned = execute(partial)
        finished = runs.finish(source, overrides, result, runs.Tables(path=partial))
        runs.fill_words(finished, partial, {"programs": sources})
    done = ProgramRun(runs.load_run(out), returned)
    if report:
        done.add_report(Path(out), False)
    return done


def _source_of(program: Any) -> dict[str, str]:
    """For a manifest: where the function of a program is, and the SHA-256 of its file; no hash of one that was typed in."""
    inner = program
    while isinstance(inner, functools.partial):
        inner = inner.func
    code = getattr(inner, "cr_code", None) or getattr(inner, "__code__", None)
    file = Path(code.co_filename) if code is not None else None
    found = {"function": getattr(inner, "__qualname__", type(inner).__qualname__)}
    if file is not None and file.is_file():
        found |= {"file": str(file), "source_sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    return found


def _network(
    source: Source, overrides: Mapping[str, Any], seed: int | None, where: Path | None, times: tuple[float, float]
) -> Network:
    given, folder_ = core.override_text(overrides), str(where) if where else None
    made = core.build("Network", source.text, source.name, source.format, given, seed, folder=folder_, agreed=source.agreed)
    executor_time, epoch = times
    network = Network(made, epoch)
    for host in network.hosts:
        host.executor_time = executor_time
    return network
