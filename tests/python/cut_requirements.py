"""Takes rules of the register out, one at a time, and sees whether their tests break.

    python tests/python/cut_requirements.py [--count N] [--seed S] [--rfc NUMBER] [--list]

A rule of `docs/requirements/` may have a `cut`: a text of the file of its first place, and what takes its place when the rule is
taken out. The change is made in a copy of the sources. The first test of the rule that Rust runs must pass before the change, and
fail after it. A change that does not compile proves nothing and is a fault of the register, as is a test that does not notice.
Slow: each rule compiles its crate again.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import requirements  # noqa: E402

# What a build of the crates reads; schema and packetdrill scripts are read by tests.
SOURCES = ("Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "crates", "schema", "tests/packetdrill", "tests/golden")
SCRIPTS = ("-p", "elephan-packetdrill", "--test", "scripts", "every_script_passes")


def arguments_of(test: str) -> tuple[list[str], str]:
    """Returns the arguments of `cargo test` that run a test, and what its output says where the test itself fails."""
    file, _, name = test.partition(": ")
    path = Path(file)
    if path.suffix == ".pkt":
        return list(SCRIPTS), path.relative_to("tests/packetdrill").as_posix()
    crate, kind, *rest = path.parts[1:]
    package = ["-p", f"elephan-{crate}"]
    if kind == "tests":
        target, modules = (rest[0], Path(*rest[1:]).with_suffix("").parts) if len(rest) > 1 else (Path(rest[0]).stem, ())
        return [*package, "--test", target, "--", "--exact", "::".join([*modules, name])], name
    # Tests of a module stand in its `tests` module, or in a file of that name.
    modules = tuple(part for part in Path(*rest).with_suffix("").parts if part != "mod")
    inner = () if modules[-1:] and modules[-1].endswith("tests") else ("tests",)
    return [*package, "--lib", "--", "--exact", "::".join([*modules, *inner, name])], name


def candidates() -> list[requirements.Rule]:
    """Returns the rules that can be taken out and have a test of Rust."""
    every = [rule for one in requirements.register().values() for rule in one.rules]
    return [rule for rule in every if rule.cut and any(_of_rust(test) for test in rule.test)]


def _of_rust(test: str) -> bool:
    return not test.startswith("tests/python")


def copy_to(folder: Path) -> None:
    """Copies the sources that cargo reads. They are new to it: a target that was left behind may hold a rule that was cut."""
    for name in SOURCES:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, copy_function=shutil.copy)
        elif source.is_file():
            shutil.copy(source, target)


class Copy:
    """A copy of the sources in `folder`, in which tests are run; its compiled files stay in `target`."""

    def __init__(self, folder: Path, target: Path) -> None:
        copy_to(folder)
        self.folder, self.target = folder, target

    def _cargo(self, arguments: list[str]) -> subprocess.CompletedProcess[str]:
        command = ["cargo", "test", "--quiet", "--offline", "--target-dir", str(self.target), *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def run(self, test: str) -> str:
        """Returns `passes`, `fails`, `runs nothing` or `does not compile`."""
        arguments, name = arguments_of(test)
        if self._cargo([*itertools.takewhile(lambda word: word != "--", arguments), "--no-run"]).returncode:
            return "does not compile"
        ran = self._cargo(arguments)
        if not re.search(r"^running [1-9]", ran.stdout, re.MULTILINE):
            return "runs nothing"
        return "fails" if ran.returncode and name in ran.stdout + ran.stderr else "passes"

    def judge(self, rule: requirements.Rule) -> tuple[str, str]:
        """Returns the test of a rule that was run, and what it did after the rule was taken out, or why nothing is known."""
        test = next(test for test in rule.test if _of_rust(test))
        if (before := self.run(test)) != "passes":
            return test, f"{before} as it is"
        file = self.folder / requirements.cut_file(rule).relative_to(ROOT)
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(*rule.cut), encoding="utf-8")
        try:
            return test, self.run(test)
        finally:
            file.write_text(text, encoding="utf-8")


def results(rules: list[requirements.Rule], target: Path) -> Iterator[tuple[requirements.Rule, str, str]]:
    """Yields each rule with the test that was run and what it did."""
    with tempfile.TemporaryDirectory(prefix="elephan-cut-") as folder:
        copy = Copy(Path(folder), target)
        for rule in rules:
            yield rule, *copy.judge(rule)


def main() -> int:
    """Takes the rules of a sample out; returns the exit status."""
    parser = argparse.ArgumentParser(description="takes rules of the register out and sees whether their tests break")
    parser.add_argument("--count", type=int, default=60, help="how many rules")
    parser.add_argument("--seed", type=int, default=1, help="which of them")
    parser.add_argument("--rfc", type=int, help="of this RFC alone")
    parser.add_argument("--list", action="store_true", help="print the rules that can be taken out, and their tests")
    asked = parser.parse_args()
    rules = [rule for rule in candidates() if asked.rfc in (None, rule.rfc)]
    if asked.list:
        print("\n".join(f"{rule.label}: {rule.test[0]}" for rule in rules))
        return 0
    sample = random.Random(asked.seed).sample(rules, min(asked.count, len(rules)))
    wrong = 0
    for rule, test, found in results(sorted(sample, key=rules.index), ROOT / "target" / "requirements"):
        wrong += found != "fails"
        print(f"{'ok   ' if found == 'fails' else 'WRONG'} {rule.label}: {test} {found}", flush=True)
    print(f"{len(sample) - wrong} of {len(sample)} rules broke their test when they were taken out")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
