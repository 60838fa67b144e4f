"""Writes the README of each study from its README.in.md and from numbers of its full run, and the table of verdicts.

    python docs/studies.py [--check] [RESULT ...]

A RESULT is the folder of a full run (`elephan study run NAME`): its numbers and verdicts become `numbers.json` of the study. The
words about its readings do as well if they were run (`--readings`). Then every README.md is written, and the tables of
`studies/before-and-after.md`. With --check nothing is written, and what has drifted is named. A template names numbers as the
reasons in `claims.toml` do (`elephan.experiment.numbers`).
"""

from __future__ import annotations

import json
import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from elephan.base import stats
from elephan.base.errors import InputError
from elephan.base.quantity import counted
from elephan.experiment.claims import CAUSES, FAILS, HOLDS, Claim
from elephan.experiment.numbers import COUNTS, Number, check_places, fill
from elephan.experiment.study import Results, load_study, open_study
from elephan.scenario.source import studies

NUMBERS, TEMPLATE, README = "numbers.json", "README.in.md", "README.md"
HEAD = "<!-- Written by docs/studies.py from README.in.md and numbers.json. -->\n"
VARIED = ("readings", "without_effect")  # what only a run with readings gives
DIGITS = 8  # of a number in the file: more than any text shows
BEFORE = Path(__file__).parent / "studies" / "before.toml"
TABLES = Path(__file__).parent / "studies" / "before-and-after.md"
VERDICTS = Path(__file__).parent / "studies" / "verdicts.md"
BEGIN, END = "<!-- Written by docs/studies.py. -->", "<!-- The end of what docs/studies.py writes. -->"
COLUMNS = 100


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def numbers_of(results: Results, before: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what `numbers.json` holds of a full run: the verdict of each claim, and each number with its interval and runs.

    The words about readings are those of the run, or those of `before` if it ran without them. So is the processor time in seconds,
    of the planned runs and of those under readings: a run that took something from a store does not know it.
    """
    found = {
        name: [[[_short(x) for x in (one.mean, one.low, one.high)], [_short(run) for run in runs]] for one, runs in measured]
        for name, measured in results.numbers.items()
    }
    varied = {key: before[key] for key in VARIED if key in before}
    if results.facts.get("readings"):
        words = {
            name: {key: one.as_dict()[key] for key in ("word", "turns", "together")} for name, one in results.dependences.items()
        }
        varied = {"readings": words, "without_effect": [one.name for one in results.without_effect]}
    took = {key: float(f"{took:.2g}") for key, took in results.facts.get("processor_s", {}).items() if took}
    return {
        "claims": {verdict.claim.id: verdict.verdict for verdict in results.verdicts},
        **varied,
        "processor_s": {**before.get("processor_s", {}), **took},
        "numbers": found,
    }


def stored(name: str) -> dict[str, Any]:
    """Returns the `numbers.json` of a study; nothing if it has not been run in full yet."""
    file = studies()[name] / NUMBERS
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found


def _unnamed(text: str, claims: Sequence[Claim], verdicts: Mapping[str, str]) -> list[str]:
    """Returns the lines about claims that do not hold and that a text does not name, by verdict and cause."""
    found: dict[tuple[str, str], list[str]] = {}
    for claim in claims:
        verdict = verdicts.get(claim.id, HOLDS)
        if verdict != HOLDS and f"`{claim.id}`" not in text:
            found.setdefault((verdict, claim.cause), []).append(f"`{claim.id}`")
    if not found:
        return []
    rows = [_wrapped(f"{verdict}, cause {cause}: {', '.join(names)}.", "- ") for (verdict, cause), names in sorted(found.items())]
    return ["", "## Further claims that do not hold", "", "The report has the reason of each.", "", *rows, ""]


def readme(
    template: str, numbers: dict[str, Number], stored: dict[str, Any], claims: Sequence[Claim], assumed: bool = False
) -> str:
    """Returns the README of a study, paragraph by paragraph, and the claims that do not hold and that it does not name.

    `assumed`: also where a reading turns a verdict, which `before-and-after.md` tells of the studies that it has.
    """
    check_places(template, numbers)
    found = {
        name: [(stats.Interval(*ends, len(runs)), runs) for ends, runs in measured] for name, measured in stored["numbers"].items()
    }
    if missing := [name for name in numbers if not found.get(name)]:
        raise InputError(f"no number {missing[0]} in {NUMBERS}: run the study in full, then python docs/studies.py RESULT")
    verdicts = Counter(stored["claims"].values())
    counts = {"claims": verdicts.total(), **{name: verdicts[name] for name in COUNTS[1:]}}
    text = "\n".join(fill(line, numbers, found, counts) for line in template.split("\n"))
    return HEAD + text + "\n".join([*_unnamed(text, claims, stored["claims"]), *(_assumed(stored) if assumed else [])])


def _idle(stored: Mapping[str, Any]) -> list[str]:
    """Returns the sentence about the readings that change no number of any claim; nothing if there are none."""
    names = stored.get("without_effect", [])
    return [_wrapped(f"Without effect in this study: {', '.join(names)}. No number of any claim depends on it.")] if names else []


def _assumed(stored: Mapping[str, Any]) -> list[str]:
    """Returns the lines about claims whose verdict depends on a reading; nothing if the study was not run under its readings."""
    varied = stored.get("readings", {})
    if not varied:
        return []
    turned = {name: one["turns"] for name, one in varied.items() if one["turns"]}
    moved = f"Changed one at a time, the assumptions turn {len(turned) or 'none'} of them."
    kept = f"An assumption plays a part in {counted(len(varied), 'claim')}. {moved}"
    rows = _list("Where a reading turns a verdict:", _turns(turned))
    return [
        "",
        "## What depends on what is assumed",
        "",
        _wrapped(kept),
        *rows,
        *(["", *idle] if (idle := _idle(stored)) else []),
        "",
    ]


def _wrapped(text: str, lead: str = "") -> str:
    return textwrap.fill(
        text, COLUMNS, initial_indent=lead, subsequent_indent=" " * len(lead), break_long_words=False, break_on_hyphens=False
    )


def _turns(turned: Mapping[str, Iterable[str]]) -> list[str]:
    """Returns a line for each reading that turns verdicts, with the claims that it turns alike."""
    alike: dict[str, list[str]] = {}
    for claim, turns in turned.items():
        for turn in turns:
            alike.setdefault(turn, []).append(f"`{claim}`")
    return [f"{', '.join(claims)}: {turn}." for turn, claims in alike.items()]


def _list(title: str, points: list[str]) -> list[str]:
    """Returns the lines of a list under its title; nothing if it has no points."""
    return ["", title, "", *(_wrapped(one, "- ") for one in points)] if points else []


def _rows(claims: list[Claim], before: Mapping[str, str], found: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yields the claims that do not hold whatever is assumed, or whose verdict is another one than before."""
    for claim in claims:
        then, now = before.get(claim.id, "new"), found["claims"].get(claim.id, "not run")
        word = found.get("readings", {}).get(claim.id, {}).get("word", "")
        settled = not word or word.startswith(f"{HOLDS} in all")
        if (then, now) != (HOLDS, HOLDS) or not settled:
            yield [f"`{claim.id}`", claim.whose, then, now, claim.cause, word or "not varied"]


def table(name: str, known: Mapping[str, Any]) -> str:
    """Returns what before-and-after.md has of a study: verdicts, why one has changed, and where a reading turns one."""
    found, claims, before, why = stored(name), open_study(name).claims, known.get("verdicts", {}), known.get("why", {})
    changed = {one.id for one in claims if before.get(one.id) != found["claims"].get(one.id, "not run")}
    if wrong := changed ^ set(why):
        raise InputError(f"{BEFORE.name}: {name}: a reason goes with each verdict that changed: {', '.join(sorted(wrong))}")
    rows, varied = list(_rows(claims, before, found)), found.get("readings", {})
    others = f"{len(claims) - len(rows)} of {len(claims)} claims hold as before"
    others += ", and in every reading tried." if varied else ". The study has not been run under its readings yet."
    return "\n".join(
        [
            f"## {name}\n",
            _wrapped(f"{others} These are the other claims:") + "\n",
            "| claim | words of | before | now | cause | over the readings |",
            "|---|---|---|---|---|---|",
            *(f"| {' | '.join(row)} |" for row in rows),
            *_list(
                "Why a verdict is another one, or a claim is new:",
                [f"`{one.id}`: {why[one.id]}" for one in claims if one.id in why],
            ),
            *_list("Where a reading turns a verdict:", _turns({one.id: varied.get(one.id, {}).get("turns", ()) for one in claims})),
            *(["", *idle] if (idle := _idle(found)) else []),
        ]
    )


def tables() -> str:
    """Returns before-and-after.md with its tables."""
    head, _, rest = TABLES.read_text(encoding="utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    known = tomllib.loads(BEFORE.read_text(encoding="utf-8"))
    return head + "\n\n".join([BEGIN, *(table(name, one) for name, one in known.items()), END]) + tail


def _minutes(seconds: float | None) -> str:
    """Returns a processor time as the table has it: `3.9 min`, nothing if no run has told it."""
    return "" if seconds is None else f"{float(f'{seconds / 60:.2g}'):g} min"


def verdicts() -> str:
    """Returns verdicts.md with its table: a row for each study, of its last full run."""
    head, _, rest = VERDICTS.read_text(encoding="utf-8").partition(BEGIN)
    rows, total = [], Counter[str]()
    for name in studies():
        study, whole = open_study(name), stored(name)
        found = whole["claims"]
        causes = Counter(claim.cause for claim in study.claims if found.get(claim.id) == FAILS)
        counts = Counter(verdict if verdict in (HOLDS, FAILS) else "open" for verdict in found.values())
        whose = sum(claim.whose == "source" for claim in study.claims)
        took = [_minutes(whole.get("processor_s", {}).get(key)) for key in ("study", "readings")]
        total += Counter({**counts, **causes, "claims": len(found), "whose": whose})
        rows.append(
            [f"`{name}`", len(found), whose, counts[HOLDS], counts[FAILS], counts["open"], *(causes[one] for one in CAUSES), *took]
        )
    sums = [
        "all",
        total["claims"],
        total["whose"],
        total[HOLDS],
        total[FAILS],
        total["open"],
        *(total[one] for one in CAUSES),
        "",
        "",
    ]
    lines = [f"| {' | '.join(map(str, row))} |" for row in [*rows, sums]]
    columns = ["study", "claims", "as stated", "hold", "fail", "open", "theory", "model", "source", "unknown", "time", "readings"]
    table = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *lines]
    return head + "\n".join([BEGIN, "", *table, "", END]) + rest.partition(END)[2]


def main(arguments: list[str]) -> int:
    """Writes, or checks; returns the exit status."""
    check, folders = "--check" in arguments, [Path(one) for one in arguments if one != "--check"]
    for folder in folders:
        results = load_study(folder)
        if results.study.quick or results.failures:
            raise InputError(f"{folder}: a quick run, or one with failed runs, gives no numbers")
        text = json.dumps(numbers_of(results, stored(results.study.name)), indent=0, separators=(",", ":")) + "\n"
        (studies()[results.study.name] / NUMBERS).write_text(text, encoding="utf-8")
    written, before = {}, tomllib.loads(BEFORE.read_text(encoding="utf-8"))
    for name, place in studies().items():
        if (place / TEMPLATE).is_file():
            template = (place / TEMPLATE).read_text(encoding="utf-8")
            study = open_study(name)
            written[place / README] = readme(template, study.numbers, stored(name), study.claims, name not in before)
    written[TABLES], written[VERDICTS] = tables(), verdicts()
    drifted = [file for file, text in written.items() if not file.is_file() or file.read_text(encoding="utf-8") != text]
    for file in drifted if not check else ():
        file.write_text(written[file], encoding="utf-8")
    if check and drifted:
        names = ", ".join("/".join(file.parts[-2:]) for file in drifted)
        print(f"{names} has drifted; python docs/studies.py writes it", file=sys.stderr)
    return int(check and bool(drifted))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except InputError as error:
        sys.exit(f"docs/studies.py: {error}")
