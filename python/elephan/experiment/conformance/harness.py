"""Checks without a network: the stories and the ten days that every built-in congestion control is put through."""

from __future__ import annotations

from elephan.base.machine import of_machine
from elephan.experiment.conformance.checks import Check
from elephan.experiment.conformance.judge import FAILED, NOT_SURE, PASSED, Finding
from elephan.scenario.congestion import Controller
from elephan.scenario.pipe import ProgramHung
from elephan.step.harness import broken

_SEED = 1


def judged(check: Check, controller: Controller) -> Finding:
    """Returns the finding of a check of the harness."""
    words = {"kind": controller.value} if isinstance(controller.value, str) else controller.value
    failure = broken(dict(words), check.stories, _SEED, check.days)
    if failure is None:
        return Finding(check, PASSED)
    hangs = isinstance(failure[1], ProgramHung)
    lost = failure[1] is not None and not hangs and of_machine(failure[1])
    return Finding(check, NOT_SURE if lost else FAILED, message=failure[0], hangs=hangs)
