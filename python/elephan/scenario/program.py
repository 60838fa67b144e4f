"""A program in any language as a congestion control: a controller in Python whose methods ask the program over a pipe.

One process serves all connections of a run. `docs/programs.md` has the protocol.
"""

from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError, nearest
from elephan.base.quantity import seconds
from elephan.scenario import core
from elephan.scenario.controller import CongestionControl
from elephan.scenario.pack import Pack
from elephan.scenario.pipe import Pipe, ProgramError

PROTOCOL = 1
CALLS = ("init", "on_sent", "on_delivery", "on_ack", "on_round", "on_congestion", "on_undo", "on_timer")
_GROWTH = ("on_ack", "on_round", "on_delivery")
_SETS = ("cwnd", "ssthresh", "pacing_rate", "timer")
_ANSWERS = ("protocol", "calls", "slow_start", "measures_rate", "states")
_DEADLINE = "10 s"
_IMPATIENT = 0.3  # seconds for an answer of a program that has missed its deadline once in a run


@dataclass(frozen=True)
class Asked:
    """A program with what it is told at its start."""

    path: Path = field(compare=False)  # of the copy that is started
    shown: Path = field(compare=False)  # of the program itself
    content: str  # tells it, or its file, from what it was before
    params: str  # JSON
    deadline: float  # seconds
    missed: float = 0.0  # seconds of a deadline that it has missed in this run, 0 for none
    keeps: Pack | None = field(default=None, compare=False, repr=False)  # the copy is there as long as its pack is

    def start(self) -> tuple[Pipe, Hello]:
        """Starts the program; returns it with its answer to `hello`."""
        pipe = Pipe(self.path, self.shown, self.deadline, core.stopped, self.missed)
        answer = pipe.ask(f'"call":"hello","protocol":{PROTOCOL},"params":{self.params}')
        try:
            return pipe, _read_hello(answer)
        except InputError as error:
            raise pipe.failed(f"answered hello with {error}") from None


@dataclass(frozen=True)
class Hello:
    """What a program answers at its start."""

    calls: tuple[str, ...]
    slow_start: bool
    measures_rate: bool
    states: tuple[str, ...]


def _read_hello(answer: Mapping[str, Any]) -> Hello:
    if answer.get("protocol") != PROTOCOL:
        raise InputError(f"protocol {json.dumps(answer.get('protocol'))}; this elephan speaks protocol {PROTOCOL}")
    for key in answer:
        if key not in _ANSWERS:
            raise InputError(f'"{key}", which nothing asks for{nearest(key, list(_ANSWERS), "there are")}')
    calls, states = (_names(answer, key) for key in ("calls", "states"))
    for call in calls:
        if call not in CALLS:
            raise InputError(f'the call "{call}", which nothing makes{nearest(call, list(CALLS), "there are")}')
    if not any(call in calls for call in _GROWTH):
        raise InputError("none of on_ack, on_round and on_delivery in calls: its window would never grow")
    for state in states:
        if not state.isidentifier() or state in ("n", "error", *_SETS) or hasattr(CongestionControl, state):
            raise InputError(f'the state "{state}", which is no name of its own')
    switches = {key: answer.get(key, default) for key, default in (("slow_start", True), ("measures_rate", False))}
    for key, value in switches.items():
        if not isinstance(value, bool):
            raise InputError(f"{key} {json.dumps(value)}, which is neither true nor false")
    return Hello(calls, switches["slow_start"], switches["measures_rate"], states)


def _names(answer: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = answer.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InputError(f"{key} {json.dumps(value)[:80]}, which is no list of names")
    return tuple(value)


@functools.lru_cache(maxsize=256)
def _hello(asked: Asked) -> Hello:
    """The answer of a program, asked once while neither it nor a file beside it changes."""
    pipe, hello = asked.start()
    pipe.close()
    return hello


class Run:
    """The program of one run: a process that starts with the first connection and serves them all."""

    def __init__(self, asked: Asked, hello: Hello) -> None:
        self._asked, self.hello = asked, hello
        self._pipe: Pipe | None = None
        self._connections = 0

    def connect(self) -> Connection:
        """Returns the controller of a new connection."""
        if self._pipe is None or not self._pipe.alive:
            if self._pipe is not None and self._pipe.hung and not self._asked.missed:
                # The harness looks for a shorter story, and each that hangs as well would cost the whole deadline.
                patience = min(_IMPATIENT, self._asked.deadline)
                self._asked = replace(self._asked, deadline=patience, missed=self._asked.deadline)
            self._pipe, hello = self._asked.start()
            core.at_end(self._pipe.close)
            self._connections = 0
            if hello != self.hello:
                _hello.cache_clear()  # what the file starts has changed, and the next run asks anew
                raise self._pipe.failed("answered hello otherwise than before")
        self._connections += 1
        return Connection(self, self._pipe, self._connections - 1)


class Connection(CongestionControl):
    """The controller of one connection: each call goes to the program, and what it answers is set."""

    def __init__(self, run: Run, pipe: Pipe, number: int) -> None:
        hello = run.hello
        self._run, self._pipe, self._number = run, pipe, number
        self._begun = "init" not in hello.calls
        self._decides = "on_congestion" in hello.calls
        self._states = hello.states
        for state in hello.states:
            setattr(self, state, 0.0)

    def __deepcopy__(self, memo: Any) -> Any:
        raise ProgramError("a program cannot be copied")

    def _ask(self, call: str, more: str) -> None:
        if not self._begun:
            self._begun = True
            self._ask("init", "")
        threshold = self.ssthresh
        answer = self._pipe.ask(
            f'"call":"{call}","id":{self._number},"now":{self.now!r},"mss":{self.mss!r},"cwnd":{self.cwnd!r},'
            f'"ssthresh":{"null" if threshold == math.inf else repr(threshold)}{more}'
        )
        for key, value in answer.items():
            self._set(key, value)

    def _set(self, key: str, value: Any) -> None:
        own = key in self._states
        if not own and key not in _SETS:
            raise self._pipe.failed(f'answered "{key}"{nearest(key, [*_SETS, *self._states], "it may set")}')
        if value is None and not own and key != "cwnd":
            value = math.inf if key == "ssthresh" else None
        elif type(value) is not int and type(value) is not float:
            raise self._pipe.failed(f"answered {key} {json.dumps(value)[:80]}, which is no number")
        try:
            setattr(self, key, value)
        except (ValueError, OverflowError) as error:
            raise self._pipe.failed(f"answered {key} {json.dumps(value)[:80]}: {error}") from None

    def on_ack(self, ack: Any) -> None:
        self._ask("on_ack", _ack(ack))

    def on_delivery(self, ack: Any) -> None:
        self._ask("on_delivery", f'{_ack(ack)},"in_recovery":{_bool(ack.in_recovery)}')

    def on_round(self, round: Any) -> None:
        self._ask(
            "on_round",
            f',"duration":{round.duration!r},"acks":{round.acks},"acked":{round.acked},"ce":{round.ce},"samples":{round.samples},'
            f'"rtt":{_maybe(round.rtt)},"rtt_min":{_maybe(round.rtt_min)},"rtt_max":{_maybe(round.rtt_max)},'
            f'"inflight":{round.inflight},"app_limited":{_bool(round.app_limited)},"delivered":{round.delivered},'
            f'"rate":{_maybe(round.rate)},"min_rtt":{_maybe(round.min_rtt)},"srtt":{_maybe(round.srtt)}',
        )

    def on_sent(self, now: float, bytes: int, inflight: int) -> None:
        self._ask("on_sent", f',"bytes":{bytes},"inflight":{inflight}')

    def on_congestion(self, event: Any) -> None:
        if not self._decides:
            super().on_congestion(event)
            return
        self._ask("on_congestion", f',"kind":"{event.kind}","lost":{event.lost},"inflight":{event.inflight}')

    def on_undo(self, now: float) -> None:
        self._ask("on_undo", "")

    def on_timer(self, now: float) -> None:
        self._ask("on_timer", "")


def _maybe(value: float | None) -> str:
    return "null" if value is None else repr(value)


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _ack(ack: Any) -> str:
    return (
        f',"acked":{ack.acked},"rtt":{_maybe(ack.rtt)},"inflight":{ack.inflight},"ce":{ack.ce},'
        f'"app_limited":{_bool(ack.app_limited)},"delivered":{ack.delivered},"rate":{_maybe(ack.rate)},'
        f'"min_rtt":{_maybe(ack.min_rtt)},"srtt":{_maybe(ack.srtt)}'
    )


def load(words: Mapping[str, Any], path: Path, pack: Pack) -> Run:
    """Returns what makes the connections of a run. It starts a copy of the program as `pack` has read it, with the files beside it.

    Raises InputError for a program that cannot be started or answers nonsense.
    """
    if os.name != "posix":
        raise InputError("programs as congestion controls need pipes as Linux and macOS have them")
    deadline = seconds(words.get("deadline", _DEADLINE))
    if not deadline > 0:
        raise InputError(f"a deadline is longer than 0 s, not {words['deadline']}")
    params = json.dumps(words.get("params", {}), separators=(",", ":"))
    copy, found = pack.copy_of(path), os.stat(path) if not pack.copies else None
    content = pack.content(path) if found is None else str((found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode))
    asked = Asked(copy, path, f"{path} {content}", params, deadline, keeps=pack)
    try:
        hello = _hello(replace(asked, keeps=None))
    except ProgramError as error:
        raise InputError(str(error)) from error
    return Run(asked, hello)
