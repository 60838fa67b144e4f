"""elephan: a laboratory for the performance of TCP.

`run` runs a scenario, `sweep` its variants, `branch` what would have come after a change, `compare` congestion controls
side by side. `virtual.run` runs real programs over the network of a scenario. `path` answers for one long path, `analyze` reads
a real capture, and `load` a result from its folder. Classes of the scenario language (`Scenario`, `Links`, `Bulk` ...) are names
of this module too. Names are imported when first used, so that `import elephan` costs nothing.

>>> import elephan as el
>>> run = el.run("incast", seed=1, set={"switches.sw.memory": "96 KiB"})
>>> run.flows.num_rows > 1, run.statistic("goodput_bps.sum") > 0
(True, True)
>>> pair = el.Dumbbell(pairs=1, rate="10 Mbps", delay="5 ms", queue=el.Fifo(limit="1 bdp"))
>>> bulk = el.Bulk(from_="sender", to="receiver", congestion_control="cubic")
>>> el.run(el.Scenario(duration="5 s", template=pair, traffic=[bulk])).flows["congestion_control"].to_pylist()
['cubic']
"""

from __future__ import annotations

# First: it handles the signals of the command while all else is loaded.
from elephan import _start  # noqa: F401  # isort: skip

import importlib
from typing import TYPE_CHECKING, Any

from elephan import _renamed
from elephan.base import executed, notebook

executed.listen()

if TYPE_CHECKING:
    from elephan.scenario.classes import *  # noqa: F403

    from . import testing, theory, virtual
    from .base import stats
    from .base.errors import ElephanError, InputError
    from .capture.trace import Trace, analyze
    from .experiment.compare.panel import Panel, compare
    from .experiment.conformance.conformance import Conformance, conformance
    from .experiment.path.answer import Answer
    from .experiment.path.path import path
    from .experiment.store.query import query
    from .experiment.sweep import Sweep, sweep
    from .open import load
    from .report.explain.story import Explanation, explain
    from .result.branch import branch
    from .result.run import Run, run
    from .scenario.controller import CongestionControl
    from .scenario.foreign.read import import_network
    from .scenario.guest import controller_factory
    from .statistic import measures
    from .step import cc, disk, host, l2, packetdrill, prr, queue, ranks, rounds, rtt, tcp
    from .table.burst import memory_from_burst, read_burst
    from .theory import hurst
    from .theory.linktraces import link_trace

__all__ = [
    "Answer",
    "Conformance",
    "CongestionControl",
    "ElephanError",
    "Explanation",
    "InputError",
    "Panel",
    "Run",
    "Sweep",
    "Trace",
    "analyze",
    "branch",
    "cc",
    "compare",
    "conformance",
    "controller_factory",
    "disk",
    "explain",
    "host",
    "hurst",
    "import_network",
    "l2",
    "link_trace",
    "load",
    "measures",
    "memory_from_burst",
    "packetdrill",
    "path",
    "prr",
    "query",
    "queue",
    "ranks",
    "read_burst",
    "rounds",
    "rtt",
    "run",
    "stats",
    "sweep",
    "tcp",
    "testing",
    "theory",
    "virtual",
]

_NAMES = {
    "branch": ("elephan.result.branch", "branch"),
    "run": ("elephan.result.run", "run"),
    "Explanation": ("elephan.report.explain.story", "Explanation"),
    "explain": ("elephan.report.explain.story", "explain"),
    "link_trace": ("elephan.theory.linktraces", "link_trace"),
    "load": ("elephan.open", "load"),
    "Run": ("elephan.result.run", "Run"),
    "import_network": ("elephan.scenario.foreign.read", "import_network"),
    "query": ("elephan.experiment.store.query", "query"),
    "sweep": ("elephan.experiment.sweep", "sweep"),
    "Sweep": ("elephan.experiment.sweep", "Sweep"),
    "analyze": ("elephan.capture.trace", "analyze"),
    "Trace": ("elephan.capture.trace", "Trace"),
    "memory_from_burst": ("elephan.table.burst", "memory_from_burst"),
    "read_burst": ("elephan.table.burst", "read_burst"),
    "path": ("elephan.experiment.path.path", "path"),
    "Answer": ("elephan.experiment.path.path", "Answer"),
    "compare": ("elephan.experiment.compare.panel", "compare"),
    "Panel": ("elephan.experiment.compare.panel", "Panel"),
    "Conformance": ("elephan.experiment.conformance.conformance", "Conformance"),
    "conformance": ("elephan.experiment.conformance.conformance", "conformance"),
    "CongestionControl": ("elephan.scenario.controller", "CongestionControl"),
    "controller_factory": ("elephan.scenario.guest", "controller_factory"),
    "ElephanError": ("elephan.base.errors", "ElephanError"),
    "InputError": ("elephan.base.errors", "InputError"),
    "ScenarioError": ("elephan.base.errors", "InputError"),
    "RunError": ("elephan.base.errors", "ElephanError"),
}
_MODULES = {
    "cc": "elephan.step.cc",
    "disk": "elephan.step.disk",
    "host": "elephan.step.host",
    "hurst": "elephan.theory.hurst",
    "l2": "elephan.step.l2",
    "measures": "elephan.statistic.measures",
    "packetdrill": "elephan.step.packetdrill",
    "prr": "elephan.step.prr",
    "queue": "elephan.step.queue",
    "ranks": "elephan.step.ranks",
    "rounds": "elephan.step.rounds",
    "rtt": "elephan.step.rtt",
    "stats": "elephan.base.stats",
    "tcp": "elephan.step.tcp",
    "testing": "elephan.testing",
    "theory": "elephan.theory",
    "virtual": "elephan.virtual",
}
_renamed.install()
notebook.install()


def _scenario_class(name: str) -> Any:
    """A class of the scenario language (`Scenario`, `Links`, `Bulk` ...), generated from its schema."""
    value = getattr(importlib.import_module("elephan.scenario.classes"), name, None)
    if not isinstance(value, type):
        raise AttributeError(f"module 'elephan' has no attribute {name!r}")
    return value


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        module, attribute = _NAMES[name]
        value = getattr(importlib.import_module(module), attribute)
    elif name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    elif name == "__version__":
        value = importlib.import_module("elephan._core").version()
    elif name.startswith("_"):
        raise AttributeError(f"module 'elephan' has no attribute {name!r}")
    else:
        value = _scenario_class(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    scenario = importlib.import_module("elephan.scenario.classes")
    classes = (name for name, value in vars(scenario).items() if getattr(value, "__module__", "") == scenario.__name__)
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*own, *_NAMES, *_MODULES, *__all__, *(name for name in classes if not name.startswith("_"))})
