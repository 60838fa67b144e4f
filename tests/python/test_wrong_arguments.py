"""Wrong arguments of the public Python API: each is one line of an `ElephanError`, never a raw error of Python or numpy."""

from __future__ import annotations

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
    "a": [1.0, 2.0], "b": [1.0, 3.0],
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


def pure() -> dict[str, Callable[[Any], Any]]:
    """Every parameter of every function of el.theory and el.stats."""
    found: dict[str, Callable[[Any], Any]] = {}
    for module in (el.theory, el.stats):
        for name in dir(module):
            function = getattr(module, name)
            if not inspect.isfunction(function):
                continue
            parameters = inspect.signature(function).parameters
            needed = {key: RIGHT.get(key, 1.0) for key, one in parameters.items() if one.default is one.empty}
            for key in parameters:
                found[f"{name} {key}"] = lambda w, f=function, k=key, n=needed: f(**{**n, k: w})  # type: ignore[misc]
    return found


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", [*CALLS, *pure()])
def test_a_wrong_argument_is_one_line(name: str, wrong: str) -> None:
    said = ""
    try:
        (CALLS | pure())[name](WRONG[wrong])
    except el.ElephanError as error:
        said = str(error)
    assert len(said.splitlines()) <= 1
    assert not said or said.isprintable()


@pytest.mark.parametrize("wrong", ["None", "huge", "surrogate", "nan", "infinite", "negative", "list", "object"])
def test_a_wrong_mtu(wrong: str) -> None:
    with pytest.raises(el.InputError, match=r"^mtu: "):
        el.path("1 Gbps", "10 ms", mtu=WRONG[wrong])
