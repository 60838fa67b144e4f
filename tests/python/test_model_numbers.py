"""Numbers that a run gave stand on the pages of models: each is computed again, or a ledger says which test has it.

`held_models` has the words and their runs. A passage tells results if its heading or its words do. All its numbers are held, are
names or settings of what was run (`SETTINGS`), or the passage is in `ELSEWHERE` with the test that holds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conformance_numbers import SCORES
from held import Held, free
from held_models import HELD, LONG
from model_ledger import ELSEWHERE, SETTINGS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(f"models/{page.stem}" for page in sorted((DOCS / "models").glob("*.md")) if page.stem != "stacks"),  # written by the build
    *(f"explanation/{page.stem}" for page in sorted((DOCS / "explanation").glob("*.md"))),
    "statistics",
    "compare",
    "conformance",
]

_HEADINGS = re.compile(r"#+ (?:Checked|Numbers|Conformance$|Measured|What (?:it|each) )")
_VERBS = (
    r"gets?|keeps?|loses?|lost|lets?|leaves|left with|takes?|carry|uses?|used|agrees?|paces|share|has|needs?|dropped|regain|sees"
)
_WORDS = re.compile(
    r"\b(?:seeds?|[Mm]easured|Jain|goodput|in the mean|on (?:the )?average|[Mm]eans? of|utilisation|median|times as \w+"
    rf"|(?:{_VERBS}) (?:\w+ ){{0,3}}\d[\d.]*|within \d[\d.]* %|tests? (?:also )?(?:shows?|have)|show (?:these|this)"
    r"|[Hh]ere (?:it|they) (?:is|are)|seen (?:here|with))\b"
)
# Tables of what a user writes, of rules and of what exists tell no results.
_REFERENCE = re.compile(
    r"\| *(?:parameter|option|traffic|what changes|profile|preset|distribution|experiment|design|what \|)\b"
    r"|\| *\| *(?:rule|\|)|\| check \| compared"
)


def passages(text: str) -> Iterator[str]:
    """The paragraphs and tables of a page that tell results, each as one line."""
    heading, before = "", ""
    for block in re.split(r"\n\s*\n", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)):
        line = " ".join(block.split())
        if line.startswith("#"):
            heading = line
        follows = line.startswith(("|", "- ")) and before.endswith(":")
        results = bool(_HEADINGS.match(heading) or _WORDS.search(line) or follows)
        if results and not line.startswith(("#", "![", "<!--")) and not _REFERENCE.match(line):
            yield line
        before = line if results else ""


def raw(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def text(name: str) -> str:
    return " ".join(raw(name).split())


def held(name: str) -> list[Held]:
    return [*HELD.get(name, []), *LONG.get(name, []), *SCORES.get(name, [])]


def elsewhere(name: str, passage: str) -> bool:
    return any(passage.startswith(words) for words, _ in ELSEWHERE.get(name, []))


@pytest.mark.parametrize("name", PAGES)
def test_every_result_on_a_page_is_held(name: str) -> None:
    unheld = {
        passage[:60]: found
        for passage in passages(raw(name))
        if not elsewhere(name, passage) and (found := free(passage, SETTINGS.get(name, ""), held(name)))
    }
    assert unheld == {}


@pytest.mark.parametrize("name", sorted(HELD))
def test_results_on_a_page_are_right(name: str) -> None:
    assert [wrong for one in HELD[name] for wrong in one.wrong(text(name))] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LONG))
def test_results_of_long_runs_are_right(name: str) -> None:
    assert [wrong for one in LONG[name] for wrong in one.wrong(text(name))] == []


@pytest.mark.parametrize("name", sorted(SCORES))
def test_scores_on_a_page_are_those_of_the_reports(name: str) -> None:
    assert [wrong for one in SCORES[name] for wrong in one.wrong(text(name))] == []


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_the_ledger_names_passages_and_tests_that_are_there(name: str) -> None:
    """A reason that begins with a file names a test in it."""
    found = list(passages(raw(name)))
    for words, reason in ELSEWHERE[name]:
        assert [passage for passage in found if passage.startswith(words)], f"{name}: no passage begins with {words!r}"
        file, _, test = reason.partition("::")
        if test:
            assert (ROOT / file).is_file(), file
            assert re.search(rf"(?:fn|def) {test}\b", (ROOT / file).read_text(encoding="utf-8")), reason


def test_results_are_found_by_their_words() -> None:
    page = "# A\n\nA rule names 3 things.\n\n## Checked\n\nAt 7.\n\n## B\n\nIt loses 5 % here.\n\nMeans of two runs:\n\n| a | 9 |\n"
    assert list(passages(page)) == ["At 7.", "It loses 5 % here.", "Means of two runs:", "| a | 9 |"]
    assert free("It loses 5 % here.", "", []) == ["...It loses 5 % here...."]
