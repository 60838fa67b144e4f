"""elephan: a laboratory for the performance of TCP.

    import elephan as el
    run = el.run("incast", seed=1, set={"switches.sw.memory": "96 KiB"})
    run.flows, run.flow_samples          # pyarrow Tables
    runs = el.sweep("buffer-sizing", repetitions=10)
    panel = el.compare(["reno", "cubic", "bbr"])
    answer = el.path("1 Gbps", "196 ms", mtu=9000)
    trace = el.analyze("transfer.pcapng")

Names are imported when first used, so that `import elephan` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elephan._scenario import *  # noqa: F403

    from . import cc, disk, host, hurst, l2, measures, packetdrill, prr, queue, rounds, rtt, stats, tcp, testing, theory
    from .analysis.trace import Trace, analyze
    from .burst import memory_from_burst, read_burst
    from .controller import CongestionControl
    from .errors import ElephanError, InputError
    from .guest import controller_factory
    from .longpath.path import Answer, path
    from .panel.panel import Panel, compare
    from .results import load
    from .runs import Run, run
    from .sweeps import Sweep, sweep

__all__ = [
    "Answer",
    "CongestionControl",
    "ElephanError",
    "InputError",
    "Panel",
    "Run",
    "Sweep",
    "Trace",
    "analyze",
    "cc",
    "compare",
    "controller_factory",
    "disk",
    "host",
    "hurst",
    "l2",
    "load",
    "measures",
    "memory_from_burst",
    "packetdrill",
    "path",
    "prr",
    "queue",
    "read_burst",
    "rounds",
    "rtt",
    "run",
    "stats",
    "sweep",
    "tcp",
    "testing",
    "theory",
]

_NAMES = {
    "run": ("elephan.runs", "run"),
    "load": ("elephan.results", "load"),
    "Run": ("elephan.runs", "Run"),
    "sweep": ("elephan.sweeps", "sweep"),
    "Sweep": ("elephan.sweeps", "Sweep"),
    "analyze": ("elephan.analysis.trace", "analyze"),
    "Trace": ("elephan.analysis.trace", "Trace"),
    "memory_from_burst": ("elephan.burst", "memory_from_burst"),
    "read_burst": ("elephan.burst", "read_burst"),
    "path": ("elephan.longpath.path", "path"),
    "Answer": ("elephan.longpath.path", "Answer"),
    "compare": ("elephan.panel.panel", "compare"),
    "Panel": ("elephan.panel.panel", "Panel"),
    "CongestionControl": ("elephan.controller", "CongestionControl"),
    "controller_factory": ("elephan.guest", "controller_factory"),
    "ElephanError": ("elephan.errors", "ElephanError"),
    "InputError": ("elephan.errors", "InputError"),
    "ScenarioError": ("elephan.errors", "InputError"),
    "RunError": ("elephan.errors", "ElephanError"),
}
_MODULES = (
    "cc",
    "disk",
    "host",
    "hurst",
    "l2",
    "measures",
    "packetdrill",
    "prr",
    "queue",
    "rounds",
    "rtt",
    "stats",
    "tcp",
    "testing",
    "theory",
)


def _scenario_class(name: str) -> Any:
    """A class of the scenario language (`Scenario`, `Links`, `Bulk` ...), generated from its schema."""
    value = getattr(importlib.import_module("elephan._scenario"), name, None)
    if not isinstance(value, type):
        raise AttributeError(f"module 'elephan' has no attribute {name!r}")
    return value


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        module, attribute = _NAMES[name]
        value = getattr(importlib.import_module(module), attribute)
    elif name in _MODULES:
        value = importlib.import_module(f"elephan.{name}")
    elif name == "__version__":
        value = importlib.import_module("elephan._core").version()
    elif name.startswith("_"):
        raise AttributeError(f"module 'elephan' has no attribute {name!r}")
    else:
        value = _scenario_class(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    scenario = importlib.import_module("elephan._scenario")
    classes = (name for name, value in vars(scenario).items() if getattr(value, "__module__", "") == scenario.__name__)
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*own, *_NAMES, *_MODULES, *__all__, *(name for name in classes if not name.startswith("_"))})
