"""Shared fixtures."""

from __future__ import annotations

import importlib
import signal
import sys

import fake
import hypothesis
import pytest
from elephan.result.run import Run, Tables, finish
from elephan.scenario.source import Source
from explored import browser, page  # noqa: F401 - fixtures of the tests of `elephan explore`

pytest_plugins = ["pytester"]

# How long a busy machine takes to draw a case says nothing about elephan.
hypothesis.settings.register_profile("elephan", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("elephan")

# A test run in the background of a shell ignores Ctrl-C, and hands that on to the commands whose answer to Ctrl-C is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def fake_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a made-up core in the place of the compiled one, but for modules that take theirs when they are imported."""
    import elephan

    for module in ("base.many", "base.stats", "report.words.reasons", "scenario.controller", "statistic.bounds", "table.rows"):
        importlib.import_module(f"elephan.{module}")
    monkeypatch.setitem(sys.modules, "elephan._core", fake)
    monkeypatch.setattr(elephan, "_core", fake, raising=False)


@pytest.fixture
def fake_run(fake_core: None) -> Run:
    """A run with losses from the made-up core."""
    result = fake.run("", "fake", "toml", '{"switches.sw.flow_control.kind": "none"}', 1, None, None, None)
    return finish(Source("", "fake", "toml", "fake"), {}, result, Tables(result.tables))
