"""Checks the register of requirements, prints its counts, and writes docs/reference/requirements.md.

    python docs/requirements.py [--write]

`docs/requirements/rfcNUMBER.toml` has the rules of one RFC, in our words. A rule names the places that do it and the tests that
break without it, or says what is missing and why. Places are `file: item`, tests `file: function`, or a script of packetdrill.
Every name must resolve, and the page must be what the files say; with --write it is written.
"""

from __future__ import annotations

import re
import sys
import textwrap
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs/requirements"
PAGE = ROOT / "docs/reference/requirements.md"
# The order of the page: the base first, then what extends it.
ORDER = (9293, 5681, 6298, 6675, 8985, 7323, 9937, 9438, 9406, 3168, 9768, 7413)
LEVELS = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT")
# What a rule says instead of a test or a place, and what it then is.
REASONS = {"untested": "untested", "not_done": "not done", "left_out": "left out"}
STATES = ("tested", "untested", "not done", "left out")
COLUMNS = 100
HEAD = """\
# Requirements of the RFCs

<!-- Written by docs/requirements.py from docs/requirements/; `make requirements` checks it. -->

This page lists the rules of the RFCs on which the TCP model stands. It is for readers who want
to know whether elephan follows a certain rule. The words are ours; the RFC decides.

- **Tested**: a place in the source does it, and the named test breaks without it.
- **Untested**: a place does it, but no test was found that breaks without it.
- **Not done**: the rule would apply, and elephan does not follow it.
- **Left out**: the rule is about something that the model does not have.

A place or a test stands for the stack that follows the RFC, unless the rule says otherwise.
`make requirements` prints the counts and checks that each place and each test exists.
"""


@dataclass
class Rule:
    """One rule: where it stands, how strong it is, what it says, who does it, and what `state` it has here."""

    rfc: int
    section: str
    level: str
    text: str
    name: str = ""
    place: list[str] = field(default_factory=list)
    test: list[str] = field(default_factory=list)
    reason: str = ""
    state: str = "tested"
    # A line of the first place, and what takes its place when the mutation is tried.
    cut: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        """Returns the number of the rule, or its section and strength."""
        return f"RFC {self.rfc} section {self.section}, {self.name or self.level}"


@dataclass
class Document:
    """One RFC: its title, what is to be known of its list, and its rules."""

    title: str
    note: str
    rules: list[Rule]


def _names(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or [])


def read(path: Path) -> Document:
    """Returns what the file of an RFC says."""
    held = tomllib.loads(path.read_text(encoding="utf-8"))
    rules = []
    for one in held["rule"]:
        known = {"section", "level", "id", "text", "place", "test", "cut", *REASONS}
        if unknown := set(one) - known:
            raise ValueError(f"{path.name}: section {one.get('section')}: unknown key {sorted(unknown)[0]}")
        given = [key for key in REASONS if key in one]
        rules.append(
            Rule(
                rfc=held["number"],
                section=one["section"],
                level=one["level"],
                text=one["text"],
                name=one.get("id", ""),
                place=_names(one.get("place")),
                test=_names(one.get("test")),
                reason=one[given[0]] if given else "",
                state=REASONS[given[0]] if given else "tested",
                cut=one.get("cut", []),
            )
        )
    return Document(held["title"], held.get("note", ""), rules)


def register(folder: Path = FOLDER) -> dict[int, Document]:
    """Returns the RFCs by number, in the order of the page."""
    return {number: read(folder / f"rfc{number}.toml") for number in ORDER if (folder / f"rfc{number}.toml").is_file()}


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _defines(text: str, item: str, language: str) -> bool:
    if language == ".py":
        return re.search(rf"^\s*(?:async )?(?:def|class) {item}\b|^{item}\b.*=", text, re.MULTILINE) is not None
    kinds = r"(?:fn|struct|enum|trait|const|static|type|mod)"
    # A field, a parameter or an option of a stack is declared by its name and a colon, a variant of an enum by its name alone.
    declared = rf"\b{kinds} {item}\b|^\s+(?:pub(?:\([a-z]+\))? )?{item}: |^\s+{item}(?:,| = |\(|$)"
    return re.search(declared, text, re.MULTILINE) is not None


def _is_test(text: str, name: str, language: str) -> bool:
    if language == ".py":
        return re.search(rf"^\s*def {name}\(", text, re.MULTILINE) is not None and name.startswith("test_")
    marked = rf"#\[test\](?:\s*#\[[^\n]*\]|\s*//[^\n]*)*\s*fn {name}\("
    return re.search(marked, text) is not None


def problem_of_name(name: str, is_test: bool) -> str:
    """Returns why a place or a test does not resolve, or an empty string."""
    file, _, item = name.partition(": ")
    path = ROOT / file
    if not path.is_file():
        return f"{file}: no such file"
    if path.suffix == ".pkt":
        return "" if is_test and not item else f"{name}: a script is a test, and has no item"
    if not item:
        return f"{name}: names no item"
    found = (_is_test if is_test else _defines)(_text(path), re.escape(item), path.suffix)
    return "" if found else f"{name}: no such {'test' if is_test else 'item'} in the file"


def problems(rule: Rule) -> list[str]:
    """Returns what is wrong with the entry of a rule."""
    found = [problem_of_name(name, False) for name in rule.place] + [problem_of_name(name, True) for name in rule.test]
    if rule.level not in LEVELS:
        found.append(f"level {rule.level!r} is none of {', '.join(LEVELS)}")
    if rule.state in ("tested", "untested") and not rule.place:
        found.append(f"is {rule.state} without a place")
    if rule.state == "tested" and not rule.test:
        found.append("names no test and gives no reason")
    if rule.state != "tested" and (rule.test or not rule.reason):
        found.append(f"is {rule.state}: that needs a reason and no test")
    if rule.cut and (len(rule.cut) != 2 or not rule.place or cut_file(rule).read_text(encoding="utf-8").count(rule.cut[0]) != 1):
        found.append("what `cut` replaces must stand in the file of the first place exactly once")
    return [f"{rule.label}: {problem}" for problem in found if problem]


def cut_file(rule: Rule) -> Path:
    """Returns the file in which the mutation of a rule is made."""
    return ROOT / rule.place[0].partition(": ")[0]


def counts(rules: list[Rule]) -> Counter[str]:
    """Returns how many rules have each state."""
    return Counter(rule.state for rule in rules)


def table(held: dict[int, Document]) -> list[tuple[str, ...]]:
    """Returns rows of words: RFC, `n of m`, the share of what applies, and the other states; the last row sums up."""
    every = [rule for one in held.values() for rule in one.rules]
    rows = [("RFC", "tested", "of what applies", *STATES[1:])]
    for name, rules in [*((str(number), one.rules) for number, one in held.items()), ("all", every)]:
        found = counts(rules)
        applies = len(rules) - found["left out"]
        share = f"{100 * found['tested'] / applies:.0f} %" if applies else "-"
        rows.append((name, f"{found['tested']} of {len(rules)}", share, *(str(found[state]) for state in STATES[1:])))
    return rows


def _entry(rule: Rule) -> str:
    where = f"{rule.section}, {rule.name} ({rule.level})" if rule.name else f"{rule.section} ({rule.level})"
    parts = [f"**{where}**: {rule.text}"]
    if rule.place:
        parts.append("Place: " + "; ".join(f"`{name}`" for name in rule.place) + ".")
    if rule.test:
        parts.append("Test: " + "; ".join(f"`{name}`" for name in rule.test) + ".")
    if rule.reason:
        parts.append(f"*{rule.state.capitalize()}*: {rule.reason}")
    return textwrap.fill(
        " ".join(parts), COLUMNS, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def page(held: dict[int, Document]) -> str:
    """Returns the page of the book."""
    first, *rows = table(held)
    lines = [HEAD, "| " + " | ".join(first) + " |", "|---" * len(first) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    for number, one in held.items():
        note = [textwrap.fill(one.note, COLUMNS), ""] if one.note else []
        lines += ["", f"## RFC {number}: {one.title}", "", *note, *(_entry(rule) for rule in one.rules)]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Checks the register, and writes or checks the page; returns the exit status."""
    held = register()
    found = [problem for one in held.values() for rule in one.rules for problem in problems(rule)]
    for problem in found:
        print(problem, file=sys.stderr)
    rows = table(held)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(word.rjust(width) for word, width in zip(row, widths, strict=True)))
    text = page(held)
    if "--write" in arguments:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
        print(f"{PAGE.relative_to(ROOT)} has drifted: python docs/requirements.py --write", file=sys.stderr)
        return 1
    return int(bool(found))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (KeyError, ValueError) as error:
        sys.exit(f"docs/requirements.py: {error}")
