"""Runs what the tutorials show: `python tests/python/book.py --update [PAGE ...]` writes outputs and pictures again.

The blocks of a page run one after the other in one folder. A block after "Save ... as `NAME`" is written to that file. A
`console` block has commands after `$ ` and what they print; `...` stands for lines, or for text of a line, that are left out. A
`python` block with `>>> ` is a doctest. A folder or a file of `docs/examples` that the page links to is there. A picture below
`<!-- picture: EXPRESSION -->` is the figure or file that the expression gives.
"""

from __future__ import annotations

import difflib
import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import elephan as el
from prose import paragraphs

ROOT = Path(__file__).parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
PAGES = sorted(page for page in TUTORIALS.glob("*.md") if page.name != "index.md")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
LEFT_OUT = "..."
SECONDS_MAX = 300  # of one command

_PART = re.compile(
    r"^```(?P<language>\w*)\n(?P<text>.*?)^```$|^<!-- picture: (?P<figure>.+?) -->\n!\[[^\]]*\]\((?P<image>[^)]+)\)",
    re.MULTILINE | re.DOTALL,
)
_FILE = re.compile(r"\b[Ss]ave\b[^.`]*`([\w./-]+)`[^.]*:\s*$")
_EXAMPLES = re.compile(r"\]\(\.\./examples/([\w./-]+)\)")
_NUMBER = re.compile(r"(?<![\w.-])\d+(?: \d{3})*(?:\.\d+)?")
_NAMES = re.compile(r"\b(?:RFCs?|ADR|IEEE|Python|Linux|Windows|802\.\w+|Section|Figure|step) ?\d*[\w.]*|\b(?:19|20)\d\d\b")
SMALL = 12  # numbers up to it are words: two flows, the first 10 packets


@dataclass(frozen=True)
class Part:
    """A block or a picture of a page: where it is in the text, and what comes before it."""

    start: int
    end: int
    language: str
    text: str
    file: str
    figure: str
    image: str


def parts(text: str) -> list[Part]:
    """Returns the blocks and pictures of a page in their order."""
    found = []
    for one in _PART.finditer(text):
        name = _FILE.search(text[: one.start()].rstrip())
        kind = ("language", "text", "figure", "image")
        language, body, figure, image = (one[key] or "" for key in kind)
        found.append(Part(one.start(), one.end(), language, body, name[1] if name else "", figure, image))
    return found


def matches(expected: list[str], got: list[str]) -> bool:
    """Returns whether lines are the expected ones; a line `...` stands for any lines, and `...` within a line for any text."""
    within = re.escape(LEFT_OUT)
    pattern = "".join(".*" if line == LEFT_OUT else re.escape(line.rstrip()).replace(within, "[^\n]*") + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in got), re.DOTALL) is not None


def refreshed(expected: list[str], got: list[str]) -> list[str]:
    """Returns the expected lines with those that have changed replaced by the lines of the output that are most alike."""
    found, left = list[str](), got
    for line in expected:
        if line != LEFT_OUT:
            closest = difflib.get_close_matches(line, left, n=1, cutoff=0.5)
            if not closest:
                return shortened(got)
            line, left = closest[0].rstrip(), left[left.index(closest[0]) + 1 :]
        found.append(line)
    return found if found and matches(found, got) else shortened(got)


def shortened(got: list[str]) -> list[str]:
    """Returns an output without pictures made of characters, and without times that differ from run to run."""
    found: list[str] = []
    for line in got:
        noise = re.search(r"[\u2800-\u28ff]| packet-hops in | runs? in ", line)
        if not noise or found[-1:] != [LEFT_OUT]:
            found.append(LEFT_OUT if noise else line)
    return found


def _commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Gives the commands of a console block with the lines that stand below each."""
    for one in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = one.splitlines()
        length = 1
        while lines[length - 1].endswith("\\"):
            length += 1
        yield "\n".join(lines[:length]), lines[length:]


class Reader:
    """Does what a page says, in the current folder; `update`: writes what has changed into its text."""

    def __init__(self, page: Path, update: bool) -> None:
        self.page, self.update = page, update
        self.names: dict[str, Any] = {"el": el, "__name__": "tutorial"}
        self.problems: list[str] = []

    def read(self) -> str:
        """Returns the text of the page with fresh outputs."""
        text, shift = self.page.read_text(encoding="utf-8"), 0
        for name in _EXAMPLES.findall(text):
            place = ROOT / "docs" / "examples" / name
            for file in place.iterdir() if place.is_dir() else [place]:
                shutil.copy(file, file.name)
        for part in parts(text):
            fresh = self._do(part)
            if fresh is not None:
                begin, end = part.start + shift, part.end + shift
                text = f"{text[:begin]}```{part.language}\n{fresh}```{text[end:]}"
                shift += len(fresh) - len(part.text)
        return text

    def _do(self, part: Part) -> str | None:
        if part.figure:
            return self._picture(part)
        if part.file:
            Path(part.file).write_text(part.text, encoding="utf-8")
            return None
        if part.language == "console":
            return "".join(self._command(command, lines) for command, lines in _commands(part.text))
        if part.language == "python" and part.text.startswith(">>>"):
            return self._doctest(part.text)
        return None

    def _command(self, command: str, lines: list[str]) -> str:
        places = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        env = os.environ | {"PATH": places, "COLUMNS": "96", "NO_COLOR": "1"}
        seen = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}  # a reader sees both
        done = subprocess.run(command, shell=True, **seen, text=True, check=False, env=env, timeout=SECONDS_MAX)
        got = [line.rstrip() for line in done.stdout.replace("\u202f", " ").replace("\u00a0", " ").splitlines()]
        if done.returncode:
            self.problems.append(f"{command}: status {done.returncode}\n{done.stdout[-4000:]}")
        elif not matches(lines, got):
            wanted = "\n".join(difflib.unified_diff(lines, got, "the page", "the output", lineterm="", n=1))
            self.problems.append(f"{command}\n{wanted}")
            lines = refreshed(lines, got)
        return "".join(f"{line}\n" for line in (f"$ {command}", *lines))

    def _doctest(self, text: str) -> str:
        test = doctest.DocTestParser().get_doctest(text, {}, self.page.name, None, 0)
        for example in test.examples:
            said: list[str] = []
            one = doctest.DocTest([example], self.names, self.page.name, None, 0, text)
            runner = _Runner(optionflags=OPTIONS, verbose=False)
            runner.run(one, out=said.append, clear_globs=False)
            self.names |= one.globs
            if said:
                self.problems.append("".join(said))
                if example.want and runner.got is not None:
                    text = text.replace(example.want, runner.got, 1)
        return text

    def _picture(self, part: Part) -> None:
        file = (self.page.parent / part.image).resolve()
        figure = eval(part.figure, self.names)
        if self.update:
            file.parent.mkdir(parents=True, exist_ok=True)
            draw(figure, file)
        else:
            draw(figure, Path("fresh.png"))
            if different := unlike(file, Path("fresh.png")):
                self.problems.append(f"{part.image}: {different}; make docs-update")


class _Runner(doctest.DocTestRunner):
    """Keeps what an example printed."""

    got: str | None = None

    def report_failure(self, out: Any, test: Any, example: Any, got: str) -> None:
        self.got = got
        super().report_failure(out, test, example, got)


def draw(figure: Any, file: Path) -> None:
    """Writes a figure, or copies a picture, for a page of the book."""
    import matplotlib.pyplot as plt

    if isinstance(figure, str):
        shutil.copy(figure, file)
        return
    figure.set_size_inches(8, 8 * figure.get_figheight() / figure.get_figwidth())
    figure.savefig(file, dpi=110, metadata={"Software": None})
    plt.close(figure)


def unlike(old: Path, fresh: Path) -> str | None:
    """Returns how two pictures differ, by more than other versions of a font may do."""
    from matplotlib.testing.compare import compare_images

    if not old.is_file():
        return "is not there"
    return compare_images(str(old), str(fresh), tol=8)


def loose_numbers(page: Path) -> list[str]:
    """Returns the numbers of a page's prose that stand in none of its blocks, so that no test would notice if they were old."""
    text = page.read_text(encoding="utf-8")
    digits = re.compile(r"\d+(?: \d{3})*(?:\.\d+)?")
    shown = {float(number.replace(" ", "")) for part in parts(text) for number in digits.findall(part.text)}
    found = []
    for line, whole in paragraphs(text):
        plain = _NAMES.sub(" ", re.sub(r"`[^`]*`|\]\([^)]*\)", " ", whole))
        numbers = {one.replace(" ", "") for one in _NUMBER.findall(plain)}
        loose = {one for one in numbers if float(one) not in shown and (float(one) > SMALL or "." in one)}
        found += [f"{page.name}:{line}: {one}" for one in sorted(loose)]
    return found


def main(words: list[str]) -> int:
    update, failed = "--update" in words, False
    asked = [word for word in words if word != "--update"]
    for page in [page for page in PAGES if not asked or page.stem in asked]:
        with TemporaryDirectory() as place:
            here = os.getcwd()
            os.chdir(place)
            sys.path.insert(0, place)
            try:
                reader = Reader(page, update)
                text = reader.read()
            finally:
                sys.path.remove(place)
                os.chdir(here)
        if update:
            page.write_text(text, encoding="utf-8")
        print("\n".join([f"{page.name}: {len(reader.problems)} differ", *reader.problems, *loose_numbers(page)]))
        failed |= bool(reader.problems) and not update
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
