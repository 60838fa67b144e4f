"""Writes the README of each study from its README.in.md and from numbers of its full run.

    python docs/studies.py [--check] [RESULT ...]

A RESULT is the folder of a full run (`elephan study run NAME`): its numbers and verdicts become `numbers.json` of the study. Then
every README.md is written; with --check nothing is, and what has drifted is named. A template names numbers as the reasons in
`claims.toml` do (`elephan.experiment.numbers`).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from elephan.base import stats
from elephan.base.errors import InputError
from elephan.experiment.numbers import COUNTS, Number, check_places, fill
from elephan.experiment.study import Results, load_study, open_study
from elephan.scenario.source import studies

NUMBERS, TEMPLATE, README = "numbers.json", "README.in.md", "README.md"
HEAD = "<!-- Written by docs/studies.py from README.in.md and numbers.json. -->\n"
DIGITS = 8  # of a number in the file: more than any text shows


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def numbers_of(results: Results) -> dict[str, Any]:
    """Returns what `numbers.json` holds of a full run: the verdict of each claim, and each number with its interval and runs."""
    found = {
        name: [[[_short(x) for x in (one.mean, one.low, one.high)], [_short(run) for run in runs]] for one, runs in measured]
        for name, measured in results.numbers.items()
    }
    return {"claims": {verdict.claim.id: verdict.verdict for verdict in results.verdicts}, "numbers": found}


def readme(template: str, numbers: dict[str, Number], stored: dict[str, Any]) -> str:
    """Returns the README of a study, paragraph by paragraph."""
    check_places(template, numbers)
    found = {
        name: [(stats.Interval(*ends, len(runs)), runs) for ends, runs in measured] for name, measured in stored["numbers"].items()
    }
    if missing := [name for name in numbers if not found.get(name)]:
        raise InputError(f"no number {missing[0]} in {NUMBERS}: run the study in full, then python docs/studies.py RESULT")
    verdicts = Counter(stored["claims"].values())
    counts = {"claims": verdicts.total(), **{name: verdicts[name] for name in COUNTS[1:]}}
    return HEAD + "\n".join(fill(line, numbers, found, counts) for line in template.split("\n"))


def main(arguments: list[str]) -> int:
    """Writes, or checks; returns the exit status."""
    check, folders = "--check" in arguments, [Path(one) for one in arguments if one != "--check"]
    for folder in folders:
        results = load_study(folder)
        if results.study.quick or results.failures:
            raise InputError(f"{folder}: a quick run, or one with failed runs, gives no numbers")
        text = json.dumps(numbers_of(results), indent=0, separators=(",", ":")) + "\n"
        (studies()[results.study.name] / NUMBERS).write_text(text, encoding="utf-8")
    drifted = []
    for name, place in studies().items():
        if not (place / TEMPLATE).is_file():
            continue
        stored = json.loads((place / NUMBERS).read_text(encoding="utf-8"))
        text = readme((place / TEMPLATE).read_text(encoding="utf-8"), open_study(name).numbers, stored)
        if (place / README).read_text(encoding="utf-8") != text:
            drifted.append(name)
            if not check:
                (place / README).write_text(text, encoding="utf-8")
    if check and drifted:
        print(f"README.md has drifted of: {', '.join(drifted)}; python docs/studies.py writes it", file=sys.stderr)
    return int(check and bool(drifted))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except InputError as error:
        sys.exit(f"docs/studies.py: {error}")
