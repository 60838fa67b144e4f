"""Faults planted in Reno, CUBIC and BBR: `elephan conformance` notices them.

The classes are those of docs/examples, the mutants are made mechanically (`mutants.py`). Each says what it implements (`like`). A
mutant is noticed if a check that its class passes fails, or if the class is refused. `data/mutants.toml` says which do not differ
from their class, and which are not noticed, each with the reason.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import elephan as el
import pytest
from mutants import Mutant, mutants

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
CLASSES = {"reno": "Reno", "cubic": "Cubic", "bbr": "Bbr"}
EVERY = {"reno": 1, "cubic": 4, "bbr": 8}  # every so many of a file's mutants are tried
LATER = {"cubic": 66}  # from this line on a class was written after its mutants had been chosen
KNOWN = tomllib.loads((Path(__file__).with_name("data") / "mutants.toml").read_text(encoding="utf-8"))


@cache
def planted(file: str) -> dict[str, Mutant]:
    """The mutants of a class that are tried, by name."""
    found = mutants((EXAMPLES / f"{file}.py").read_text(encoding="utf-8"))
    chosen = [one for one in found if one.line < LATER.get(file, one.line + 1)]
    return {one.name: one for one in chosen[:: EVERY[file]]}


def noticed(file: str, mutant: Mutant, checks: list[str], folder: Path) -> str:
    """The check that a mutant fails; empty if it fails none."""
    path = folder / f"{file}_mutant.py"
    path.write_text(mutant.source, encoding="utf-8")
    try:
        found = el.conformance(
            f"{path}:{CLASSES[file]}", like=file, only=checks, fail_fast=True, stories=False, store=folder / "store"
        )
    except el.InputError:
        return "refused"
    return next((one.check.id for one in found.findings if one.verdict == "failed"), "")


# A cut that is dropped, a wrong sign, a wrong constant, a swapped comparison, missing resets and caps, wrong rates and curves.
SAMPLE = [
    ("reno", "23: dropped 1: def on_congestion(self, event):", "bounds"),
    ("reno", "21: sign: self.cwnd += self.mss * min(ack.acked, self.cwnd) / self.cwnd", "buffer-0.1"),
    ("reno", "24: sign: self.ssthresh = max(self.left * self.cwnd, 2 * self.mss)", "buffer-0.5"),
    ("reno", "18: comparison: if self.cwnd < self.ssthresh:", "loss-alone"),
    ("reno", '25: dropped 1: if event.kind == "rto":', "outage-window"),
    ("reno", "19: no min, second: self.cwnd += min(ack.acked, self.limit * self.mss)", "start-every-ack"),
    ("cubic", "47: times ten: growth = (min(target, 1.5 * self.cwnd) - self.cwnd) * share", "like-after-timeouts"),
    ("bbr", "129: a tenth: self.pacing_rate = self.startup_gain * 8 * self.cwnd / self.min_rtt", "like-first-rounds"),
    ("cubic", "43: dropped 1: if c * (self.t - self.k) ** 3 + self.w_max < self.w_est:", "bounds"),
]


@pytest.mark.parametrize(("name", "mutant", "check"), SAMPLE, ids=[f"{name}-{check}" for name, _, check in SAMPLE])
def test_a_planted_fault_fails_a_check_that_its_class_passes(name: str, mutant: str, check: str, tmp_path: Path) -> None:
    control = f"{EXAMPLES / name}.py:{CLASSES[name]}"
    found = el.conformance(control, like=name, only=[check], stories=False, store=tmp_path / "store")
    assert found.finding(check).verdict == "passed"
    assert noticed(name, planted(name)[mutant], [check], tmp_path) == check


def test_a_mutant_is_one_change_and_each_kind_is_there() -> None:
    all_of = [name for file in CLASSES for name in planted(file)]
    assert len(all_of) >= 100
    for kind in ("sign", "unit", "times ten", "a tenth", "no min", "no max", "comparison", "dropped"):
        assert any(f": {kind}" in name for name in all_of)
    assert "pass" in planted("reno")["23: dropped 1: def on_congestion(self, event):"].source


def test_what_is_known_of_mutants_is_of_mutants_that_there_are() -> None:
    for entry in [*KNOWN["equivalent"], *KNOWN["unnoticed"]]:
        assert entry["name"] in planted(entry["file"])
        assert len(entry["reason"].split()) > 3


@pytest.mark.slow
def test_planted_faults_are_noticed_but_for_those_that_are_known(tmp_path: Path) -> None:
    alike, known = ({(one["file"], one["name"]) for one in KNOWN[key]} for key in ("equivalent", "unnoticed"))
    escaped, tried = set(), 0
    for file, name in CLASSES.items():
        whole = el.conformance(f"{EXAMPLES / file}.py:{name}", like=file, stories=False, store=tmp_path / "store")
        passed = [one.check.id for one in whole.findings if one.verdict == "passed"]
        for mutant in planted(file).values():
            if (file, mutant.name) not in alike:
                tried += 1
                escaped |= set() if noticed(file, mutant, passed, tmp_path) else {(file, mutant.name)}
    assert escaped <= known
    assert len(escaped) <= 0.05 * tried


@pytest.mark.slow
@pytest.mark.parametrize("file", CLASSES)
def test_the_classes_do_as_the_built_in_ones_do(file: str, tmp_path: Path) -> None:
    """BBR's class leaves fast recovery to the stack, which the built-in one steers; no more than that differs."""
    own = el.conformance(f"{EXAMPLES / file}.py:{CLASSES[file]}", stories=False, store=tmp_path / "store")
    built_in = el.conformance(file, stories=False, store=tmp_path / "store")
    clear = {"passed", "failed"}
    apart = [
        one.check.id for one, other in zip(own.findings, built_in.findings, strict=True) if {one.verdict, other.verdict} == clear
    ]
    assert set(apart) <= set(KNOWN["apart"].get(file, []))
