"""Wrong arguments of the public Python API: each is one line of an `ElephanError`, never a raw error of Python or numpy."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import elephan as el
import numpy as np
import pytest

WRONG: dict[str, Any] = {
    "None": None, "huge": 10**400, "surrogate": "\ud800", "array": np.array([1.0, 2.0]), "nan": math.nan, "infinite": math.inf,
    "negative": -1, "bytes": b"x", "long": "x" * 100_000, "list": [], "dict": {}, "object": object(),
}  # fmt: skip
RIGHT: dict[str, Any] = {
    "rate": "1 Gbps", "f": "1 Gbps", "s": "100 Mbps", "rtt": "10 ms", "memory": "1 MB", "length": "10 m", "quanta": 60, "load": 0.5,
    "service_time": "1 ms", "size": "1 MB", "frame": 1500, "packets": 100, "window": 100, "room": 100, "duration": "10 s",
    "buffer": "1 MB", "read": "1 Gbps", "network": "1 Gbps", "write": "1 Gbps", "cache": "1 MB", "inflow": "2 Gbps",
    "read_ahead": "1 MB", "latency": "1 ms", "p": 0.01, "values": [1.0, 2.0], "series": list(range(40)), "shares": [[1, 2]],
    "counts": list(range(4000)), "n": 100, "h": 0.7, "shape": 1.5, "a": [1.0, 2.0], "b": [1.0, 3.0],
}  # fmt: skip
CALLS: dict[str, Callable[[Any], Any]] = {
    "path rate": lambda w: el.path(w, "10 ms"),
    "path stack": lambda w: el.path("1 Gbps", "10 ms", stack=w),
    "compare": el.compare,
    "run": el.run,
    "load": el.load,
    "analyze": el.analyze,
    "cc": el.cc.new,
    "cc mss": lambda w: el.cc.new("reno", mss=w),
    "queue": el.queue.new,
    "l2": lambda w: el.l2.qcn_reaction_point(line_rate=w),
    "tcp": el.tcp.Endpoint,
    "host rate": lambda w: el.host.Transmit(rate=w),
    "host packet": lambda w: el.host.Receive(packet=w),
    "disk": lambda w: el.disk.Disk(profile=w),
    "rtt": lambda w: el.rtt.Estimator(rto_min=w),
    "prr": lambda w: el.prr.Recovery(mss=w),
    "rounds": lambda w: el.rounds.new("reno", rate=w, rtt="1 ms"),
}


def _with_one_wrong(call: Any, needed: dict[str, Any], key: str) -> Any:
    """A call whose other arguments are right."""
    return lambda wrong: call(**{**needed, key: wrong})


def _method(make: Any, name: str) -> Any:
    """A method of an object that is made anew for each call."""
    return lambda **named: getattr(make(), name)(**named)


def pure() -> dict[str, Callable[[Any], Any]]:
    """Every parameter of every function of el.theory, el.stats and el.hurst."""
    found: dict[str, Callable[[Any], Any]] = {}
    for module in (el.theory, el.stats, el.hurst):
        for name in dir(module):
            function = getattr(module, name)
            if not inspect.isfunction(function) or name.startswith("_") or function.__module__ != module.__name__:
                continue
            parameters = inspect.signature(function).parameters
            needed = {key: RIGHT.get(key, 1.0) for key, one in parameters.items() if one.default is one.empty}
            for key in parameters:
                found[f"{name} {key}"] = _with_one_wrong(function, needed, key)
    return found


STEPPED: dict[str, Callable[[], Any]] = {
    "cc": lambda: el.cc.new("reno"),
    "cc bbr": lambda: el.cc.new("bbr"),
    "queue": lambda: el.queue.new("fifo", limit="10 p"),
    "qcn point": el.l2.qcn_congestion_point,
    "ecm point": el.l2.ecm_congestion_point,
    "qcn reaction": el.l2.qcn_reaction_point,
    "ecm reaction": el.l2.ecm_reaction_point,
    "tcp": el.tcp.Endpoint,
    "transmit": el.host.Transmit,
    "receive": el.host.Receive,
    "sack walk": el.host.SackWalk,
    "disk": lambda: el.disk.Disk(profile="icp-66x4"),
    "rtt": el.rtt.Estimator,
    "prr": lambda: started(el.prr.Recovery()),
    "rounds": lambda: el.rounds.new("reno", rate="1 Gbps", rtt="10 ms"),
}
VALUES: dict[str, Any] = {
    "seg": {"seq": 1}, "hops": [(1.0, 1.0, 1.0, 1e9)], "blocks": [(1, 2)], "stream": 0, "rounds": 3, "times": [1.0],
    "acked": 1000.0, "feedback": 5, "size": 1000, "ack": 1,
}  # fmt: skip


def started(recovery: Any) -> Any:
    recovery.start(10_000, 5000, 8000)
    return recovery


def stepped() -> dict[str, Callable[[Any], Any]]:
    """Every parameter of every method of every object that is stepped by hand."""
    found: dict[str, Callable[[Any], Any]] = {}
    for kind, make in STEPPED.items():
        one = make()
        for name in dir(type(one)):
            method = getattr(type(one), name)
            if name.startswith("__") or not callable(method):
                continue
            parameters = {key: at for key, at in inspect.signature(method).parameters.items() if key != "self"}
            needed = {key: VALUES.get(key, 1.0) for key, at in parameters.items() if at.default is at.empty}
            for key, at in parameters.items():
                if at.kind is not at.VAR_KEYWORD:
                    found[f"{kind} {name} {key}"] = _with_one_wrong(_method(make, name), needed, key)
    return found


RUNS: dict[str, Callable[[Any], Any]] = {
    "sweep": el.sweep,
    "sweep set": lambda w: el.sweep("sawtooth", set=w, repetitions=w),
    "sweep value": lambda w: el.sweep("sawtooth", set={"duration": w}, repetitions=1),
    "sweep repetitions": lambda w: el.sweep("sawtooth", repetitions=w, set={"duration": "nothing"}),
    "sweep workers": lambda w: el.sweep("sawtooth", workers=w, set={"duration": "nothing"}),
    "compare scenario": lambda w: el.compare(["reno"], scenario=w, set={"duration": "nothing"}),
    "compare repetitions": lambda w: el.compare(["reno"], repetitions=w, scenario="sawtooth", set={"duration": "nothing"}),
    "run seed": lambda w: el.run("sawtooth", seed=w, set={"duration": "nothing"}),
    "run sets": lambda w: el.run("sawtooth", set=w, seed="nothing"),
    "run set": lambda w: el.run("sawtooth", set={"duration": "nothing", "warmup": w}),
    "path size": lambda w: el.path("1 Gbps", "10 ms", size=w, whole=False, streams=[w]),
    "path loss": lambda w: el.path("1 Gbps", "10 ms", loss=w, streams=[w]),
    "path buffer": lambda w: el.path("1 Gbps", "10 ms", buffer=w, streams=[w]),
    "path window": lambda w: el.path("1 Gbps", "10 ms", window=w, streams=[w]),
    "path controls": lambda w: el.path("1 Gbps", "10 ms", congestion_control=w, streams=[w]),
    "measures": el.measures.describe,
    "statistic": lambda w: short().statistic(w),
    "spreading": lambda w: short().spreading(w),
    "phases": lambda w: short().phases(w),
    "figure": lambda w: short().figure(w),
}


@functools.cache
def short() -> el.Run:
    return el.run("sawtooth", set={"duration": "11 s"})


EVERY = CALLS | RUNS | pure() | stepped()


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", EVERY)
def test_a_wrong_argument_is_one_line(name: str, wrong: str) -> None:
    said = ""
    try:
        EVERY[name](WRONG[wrong])
    except el.ElephanError as error:
        said = str(error)
    assert len(said.splitlines()) <= 1
    assert not said or said.isprintable()


@pytest.mark.parametrize("wrong", ["None", "huge", "surrogate", "nan", "infinite", "negative", "list", "object"])
def test_a_wrong_mtu(wrong: str) -> None:
    with pytest.raises(el.InputError, match=r"^mtu: "):
        el.path("1 Gbps", "10 ms", mtu=WRONG[wrong])
