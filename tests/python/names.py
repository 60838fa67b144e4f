"""Finds what pages and docstrings name and what is not there: `python tests/python/names.py` prints it.

A code span that looks like a path, a module, a function, a command, an option, a key of a scenario or a name of the code must be
one. Names of other programs (the kernel's, a tool's) are told apart by `tests/python/data/foreign-names.txt`.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import io
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import prose

ROOT = Path(__file__).parents[2]
FOREIGN = ROOT / "tests/python/data/foreign-names.txt"
_OWN = ("tests/python/names.py", "tests/python/test_names.py")  # name what is not there
# Lists of alike things.
GENERATED = (
    *("docs/conformance-reports.md", "docs/models/stacks.md", "docs/reference/requirements.md"),
    *("docs/bands.md", "docs/studies/before-and-after.md", "docs/studies/verdicts.md"),
)
_SUFFIXES = ("py", "rs", "md", "toml", "ts", "svelte", "js", "sh", "json", "parquet", "txt", "csv", "html", "svg", "pcapng")
_SPAN = re.compile(r"``([^`]+)``|`([^`]+)`")
_PATH = re.compile(rf"(?:[\w.*{{}},-]+/)*[\w.*{{}},-]+\.(?:{'|'.join(_SUFFIXES)})(?:::?[\w:]+)?")
_FOLDER = re.compile(r"(?:[\w.-]+/)+")
_DOTTED = re.compile(r"(?:el|elephan)(?:\.\w+)+")
_RUST = re.compile(r"\w+(?:::\w+)+(?:\(\))?")
_CALL = re.compile(r"([A-Za-z_][\w.]*)\(.*\)", re.DOTALL)
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
_KEY = re.compile(r"([A-Za-z_][\w.\[\]-]*)\s*=\s*\S.*", re.DOTALL)
_SNAKE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@functools.cache
def tracked() -> frozenset[str]:
    """The files of the repository, and its folders with a slash."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [file for file in listed.stdout.splitlines() if (ROOT / file).exists()]
    folders = {f"{folder.as_posix()}/" for file in files for folder in Path(file).parents if folder != Path(".")}
    return frozenset(files) | folders


@functools.cache
def words() -> frozenset[str]:
    """Every word of the sources, the schema and the tables: what a name may be."""
    kinds = (".rs", ".py", ".pyi", ".ts", ".svelte", ".toml", ".json", ".js", ".yml", ".cc", ".h")
    found: set[str] = set()
    for file in tracked():
        if (file.endswith(kinds) and not file.startswith(("docs/", *_OWN))) or file == "Makefile":
            found.update(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", _code(ROOT / file)))
    return frozenset(found)


def _code(file: Path) -> str:
    """The text of a source without the comments of Rust, which may name what is gone."""
    text = file.read_text(encoding="utf-8", errors="replace")
    return re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE) if file.suffix == ".rs" else text


@functools.cache
def options() -> frozenset[str]:
    """The long options of every command, and what else begins so in the sources of the command line and of the tools."""
    found = {"--help", "--version"}
    for file in tracked():
        if file.startswith(("python/elephan/", "crates/", "tests/", "docs/build.py", "Makefile")) and not file.startswith(_OWN):
            found.update(
                _OPTION.findall((ROOT / file).read_text(encoding="utf-8", errors="replace")) if (ROOT / file).is_file() else ()
            )
    fields = re.findall(r"^    (\w+): Annotated", "\n".join(_commands()), re.MULTILINE)
    fields += re.findall(r"^    (\w+): [A-Z]\w+ = ", "\n".join(_commands()), re.MULTILINE)
    return frozenset(found | {f"--{field.replace('_', '-')}" for field in fields})


def _commands() -> list[str]:
    return [
        (ROOT / file).read_text() for file in sorted(tracked()) if file.startswith("python/elephan/cli/") and file.endswith(".py")
    ]


@functools.cache
def foreign() -> frozenset[str]:
    """Names of other programs, one a line; after `#` whose they are."""
    lines = FOREIGN.read_text(encoding="utf-8").splitlines() if FOREIGN.exists() else []
    return frozenset(line.partition("#")[0].strip() for line in lines) - {""}


def _path(span: str, examples: str) -> bool:
    name = re.sub(r"::?[\w:]+$", "", span)
    if (
        any(letter in name for letter in "*{}")
        or name.upper() == name.rpartition(".")[0] + name[name.rfind(".") :]
        or re.search(r"NAME|KIND|CHECK|TARGET", name)
    ):
        return True  # a pattern, or a place for a name
    known = tracked()
    if name in known or f"{name}/" in known:
        return True
    if any(file.endswith(f"/{name}") for file in known):
        return True
    if name in examples or name in words_of_files():
        return True
    # What a program writes, or a reader: its folder and its file are named apart.
    folder, _, file = name.rpartition("/")
    of_repository = name.endswith((".py", ".rs", ".md", ".ts", ".svelte"))
    return bool(folder) and not of_repository and any(file in where for where in (examples, words_of_files()))


@functools.cache
def words_of_files() -> frozenset[str]:
    """Names of files that the sources write or read: `manifest.json`."""
    found: set[str] = set()
    for file in tracked():
        if file.endswith((".py", ".rs", ".ts", ".svelte", "Makefile", ".sh", ".toml")) and not file.startswith(_OWN):
            found.update(re.findall(r"[\w./-]+\.[a-z]+\b", (ROOT / file).read_text(encoding="utf-8", errors="replace")))
    return frozenset(found)


@functools.cache
def _resolves(dotted: str) -> bool:
    """Whether a module, or what is in it, has this name."""
    parts = dotted.split(".")
    if parts[0] == "el":
        parts[0] = "elephan"
    import elephan

    found: object = elephan
    for place, part in enumerate(parts[1:], 2):
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # older names of modules are found too
                    found = importlib.import_module(".".join(parts[:place]))
            except ImportError:
                return _is_field(found, part) and place == len(parts)
    return True


def _is_field(owner: object, name: str) -> bool:
    return name in getattr(owner, "__annotations__", {}) or (name in words() and not isinstance(owner, type(sys)))


def wrong(span: str, examples: str = "") -> str:
    """Returns what a code span seems to be and is not; nothing if it is there, or looks like no name.

    `examples`: the blocks of its page, in which a reader is told to write files of his own.
    """
    span = " ".join(span.split())
    if span in foreign() or not span:
        return ""
    if _PATH.fullmatch(span):
        return "" if _path(span, examples) else "no such file"
    if _FOLDER.fullmatch(span) and not span.startswith("."):
        there = "NAME" in span or "TARGET" in span or span in tracked() or any(file.endswith(f"/{span}") for file in tracked())
        return "" if there or span.strip("/") in words() else "no such folder"
    if _DOTTED.fullmatch(head := _CALL.sub(r"\1", span)):
        return "" if _resolves(head) else "no such name of elephan"
    if span.startswith("elephan "):
        return _command(span)
    lost = [option for option in _OPTION.findall(span) if option not in options() and option not in foreign()]
    if lost:
        return f"no such option: {lost[0]}"
    if _RUST.fullmatch(span):
        gone = [part for part in re.findall(r"\w+", span) if part not in words() and part not in foreign()]
        return f"no such name: {gone[0]}" if gone else ""
    names = _names(span)
    gone = [name for name in names if name not in words() and name not in foreign()]
    return f"no such name: {gone[0]}" if gone else ""


def _names(span: str) -> list[str]:
    """Names in a span that is one name, a call, or a key with its value."""
    if match := _CALL.fullmatch(span):
        return [part for part in match[1].split(".") if len(part) > 1]
    if match := _KEY.fullmatch(span):
        return [part for part in re.split(r"[.\[\]-]", match[1]) if _SNAKE.fullmatch(part)]
    if re.fullmatch(r"[\w.]+", span):
        return [part for part in span.split(".") if _SNAKE.fullmatch(part) or _CONSTANT.fullmatch(part)]
    return []


def _command(span: str) -> str:
    """What is wrong with a command: its name, or an option that it does not have."""
    parts = span.split()[1:]
    folder = ROOT / "python/elephan/cli/command"
    name = parts[0].replace("-", "_") if parts else ""
    if not re.fullmatch(r"[a-z][a-z_]*", name):
        return ""
    file = folder / f"{name}.py"
    if (folder / name).is_dir():
        if len(parts) < 2 or not re.fullmatch(r"[a-z-]+", parts[1]):
            return ""
        file = folder / name / f"{parts[1].replace('-', '_')}.py"
    if not file.is_file():
        return f"no such command: {file.stem}"
    lost = [option for option in _OPTION.findall(span) if option not in _options_of(file)]
    return f"no such option of {file.stem}: {lost[0]}" if lost else ""


@functools.cache
def _options_of(file: Path) -> frozenset[str]:
    from elephan import cli

    of_command = [part.replace("_", "-") for part in file.relative_to(ROOT / "python/elephan/cli/command").with_suffix("").parts]
    with contextlib.redirect_stdout(io.StringIO()) as told:
        assert cli.status_of([*of_command, "--help"]) == 0
    return frozenset(_OPTION.findall(told.getvalue())) | {"--help"}


def spans(text: str) -> Iterator[tuple[int, str]]:
    """The code spans of a text in Markdown, outside of fenced blocks, with their lines."""
    text = _FENCE.sub(lambda found: re.sub(r"[^\n]", "", found[0]), text)
    for match in _SPAN.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1] or match[2]


def docstrings(file: Path) -> Iterator[tuple[int, str]]:
    """The docstrings of a file in Python, with the lines on which they begin."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            text := ast.get_docstring(node, False)
        ):
            yield node.body[0].lineno, text


def texts() -> Iterator[tuple[str, int, str]]:
    """Every page, and every docstring: where it stands, and its text."""
    for page in [*prose.pages(), ROOT / "docs/reference/scenario.md", ROOT / "docs/data-dictionary.md"]:
        yield page.relative_to(ROOT).as_posix(), 1, page.read_text(encoding="utf-8")
    for file in sorted((ROOT / "python/elephan").rglob("*.py")):
        for line, text in docstrings(file):
            yield file.relative_to(ROOT).as_posix(), line, text


def problems() -> list[str]:
    """Returns a line for each name that is not there."""
    return [
        f"{where}:{first + line - 1}: `{span}`: {why}"
        for where, first, text in texts()
        for line, span in spans(text)
        if (why := wrong(span, "\n".join(_FENCE.findall(text))))
    ]


def twice(text: str) -> list[tuple[int, str]]:
    """Returns sentences of at least six words that stand twice on a page, with the line of the second one's paragraph."""
    seen: set[str] = set()
    found = []
    for line, paragraph in prose.paragraphs(text):
        # Sentences that differ in what is code say different things.
        told = _SPAN.sub(lambda span: re.sub(r"\W", "_", span[1] or span[2]), paragraph)
        for sentence in prose.sentences(told):
            plain = " ".join(re.findall(r"\w+", sentence.lower()))
            if plain.count(" ") >= 5 and plain in seen:
                found.append((line, sentence))
            seen.add(plain)
    return found


if __name__ == "__main__":
    lines = problems()
    print("\n".join(lines))
    sys.exit(1 if lines else 0)
