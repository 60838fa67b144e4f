"""Checks the prose of the pages: `python tests/python/prose.py` prints what does not hold, and ends with 1 if there is anything.

A sentence has at most 25 words, and a word of the glossary is not replaced by one that means something else here. Code, tables,
headings and addresses are no prose.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORDS_MAX = 25

# Words that the glossary forbids, and what to write; the words before and after tell other meanings apart.
FORBIDDEN = {
    r"(?<!Little's )(?<!response time )\blaws?\b": "congestion control, or distribution",
    r"\bbandwidth discovery\b": "slow start, or startup phase",
    r"\bclosures?\b": "pause interval",
    r"\blongpath\b": "path",
    r"\bunheard\b": "ignored settings",
    r"\b(?:is|are|was|were) (?:told|had)\b": "an agent and a verb: who says it to whom",
    r"\bsent again\b": "retransmitted",
    r"\breckon(?:s|ed|ing)?\b": "compute, or pre-computed",
}
# The changelog names what older versions were called.
LEFT_OUT = {"docs/data-dictionary.md", "docs/reference/scenario.md", "docs/reference/summary.md", "CHANGELOG.md"}

_FENCE = re.compile(r"^```.*?^```$|^<!--.*?-->$", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """Returns the pages that people write."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("python/elephan/**/README.md")]
    return sorted(page for page in found if page.relative_to(ROOT).as_posix() not in LEFT_OUT)


def paragraphs(text: str) -> list[tuple[int, str]]:
    """Returns the paragraphs and points of a page, each with the number of its first line."""
    text = _FENCE.sub(lambda found: re.sub(r"[^\n]", "", found[0]), text)
    found: list[tuple[int, str]] = []
    fresh = True
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or re.match(r"\s*(\||#|!\[|:?-{3}|\[[^\]]+\]:)", line):
            fresh = True
            continue
        point = re.match(r"\s*(?:[-*+]|\d+\.|:)\s+", line)
        words = line[point.end() :] if point else line.strip()
        if fresh or point:
            found.append((number, words))
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]} {words}")
        fresh = False
    return found


def sentences(paragraph: str) -> list[str]:
    """Returns the sentences of a paragraph; code is one word, so is a list of it, and of a link only its text stays."""
    plain = re.sub(r"``[^`]*``|`[^`]*`", "CODE", paragraph)
    plain = re.sub(r"CODE(?:(?:,| and| or|, and|, or) CODE)+", "CODE", plain)  # a list of names is one word
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", plain)
    plain = re.sub(r"\b(e\.g|i\.e|vs|cf|No|approx|et al|Fig|Sec)\.", r"\1", plain)
    return [one for one in re.split(r"(?<=[.!?])[)\"*_]*\s+(?=[\"(*_]*(?:[A-Z0-9]|elephan\b))|:\s+(?=[A-Z])", plain) if one.strip()]


def words(sentence: str) -> int:
    """Returns how many words a sentence has; a number with its unit is one."""
    joined = re.sub(r"(\d) (\d{3})\b", r"\1\2", sentence)
    joined = re.sub(r"(\d) (%|ms|us|µs|ns|s|[kMG]i?B|B|[kMG]?b/s|[kMG]bps|p)(?=\W|$)", r"\1", joined)
    return len(re.findall(r"\w[\w'./-]*", joined))


def long_sentences(text: str) -> list[tuple[int, str]]:
    """Returns sentences with too many words, each with the line on which its paragraph begins."""
    return [(line, one) for line, whole in paragraphs(text) for one in sentences(whole) if words(one) > WORDS_MAX]


def wrong_words(text: str) -> list[tuple[int, str, str]]:
    """Returns words that the glossary forbids, with the line and with what to write."""
    found = []
    for line, whole in paragraphs(text):
        plain = re.sub(r"`[^`]*`|\"[^\"]*\"|\]\([^)]*\)", " ", whole)
        for pattern, better in FORBIDDEN.items():
            found += [(line, one[0], better) for one in re.finditer(pattern, plain, re.IGNORECASE)]
    return found


def problems(page: Path) -> list[str]:
    """Returns what does not hold on a page, a line each."""
    name, text = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
    found = [f'{name}:{line}: "{word}": write {better}' for line, word, better in wrong_words(text)]
    return found + [f"{name}:{line}: {words(one)} words, at most {WORDS_MAX}: {one[:70]}..." for line, one in long_sentences(text)]


def main() -> int:
    found = [line for page in pages() for line in problems(page)]
    print("\n".join(found) or f"{len(pages())} pages keep the rules of prose")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
