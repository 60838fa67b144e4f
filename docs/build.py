"""Assembles the pages of the book and lets Sphinx make the site and the man page from them; any warning is an error.

Most pages are files below docs/. Some stand elsewhere in the repository, and some are generated from the package. All are written
to target/docs/source; a link between two pages leads from page to page there, and a link to any other file is an error.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

import elephan
from elephan.cli import app
from elephan.cli.command.list import KINDS, rows
from elephan.cli.parser import Argument, parameters
from elephan.explore.server import PAGE, WASM
from elephan.scenario.source import library

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TARGET = ROOT / "target" / "docs"
SITE = ROOT / "python" / "elephan" / "book"  # goes into the wheel
ELSEWHERE = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SUPPORT.md": "support.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "python/elephan/scenarios/README.md": "reference/library.md",
    **{
        f"python/elephan/studies/{name}/README.md": f"studies/{name.replace('_', '-')}.md"
        for name in sorted(path.parent.name for path in (ROOT / "python/elephan/studies").glob("*/README.md"))
    },
}
GENERATED = {"reference/commands.md", "reference/lists.md", "reference/python/index.md"}
LINK = re.compile(r"(?<!\\)(\]\()([^)\s]+)(\))")
PICTURES = (".png", ".svg")
LIVE = re.compile(r"^<!-- live: (.+?) -->$", re.MULTILINE)
FENCE = re.compile(r"^(```.*?^```)", re.MULTILINE | re.DOTALL)


def pages() -> dict[Path, str]:
    """Returns the files that are pages of the book, each with its place in the site."""
    own = {path: path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md"))}
    return own | {ROOT / path: place for path, place in ELSEWHERE.items()}


def copied(file: Path) -> str:
    """Copies a file that is no page, as text; returns its place."""
    place = f"files/{file.relative_to(ROOT).as_posix()}{'' if file.suffix == '.ipynb' else '.txt'}"
    (TARGET / "source" / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, TARGET / "source" / place)
    return place


def listed(folder: Path) -> str:
    """Writes a page with the files of a folder; returns its place."""
    place = f"files/{folder.relative_to(ROOT).as_posix()}/index.md"
    lines = [f"- [{file.name}]({Path(copied(file)).name})" for file in sorted(folder.iterdir()) if file.is_file()]
    text = "\n".join(["---", "orphan: true", "---", f"# {folder.relative_to(ROOT).as_posix()}", "", *lines, ""])
    (TARGET / "source" / place).parent.mkdir(parents=True, exist_ok=True)
    (TARGET / "source" / place).write_text(text, encoding="utf-8")
    return place


def relinked(text: str, page: Path, place: str, known: dict[Path, str], external: set[str], broken: list[str]) -> str:
    """Returns the text of a page with each link pointing to where the other page or picture is in the site."""

    def link(found: re.Match[str]) -> str:
        before, target, after = found.groups()
        path, hash_, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            external.add(target)
            return found[0]
        if not path:
            return found[0]
        whole = (page.parent / path).resolve()
        there = known.get(whole) or known.get(whole / "index.md")
        if whole.is_relative_to(DOCS) and (whole.suffix in PICTURES or whole.relative_to(DOCS).as_posix() in GENERATED):
            there = whole.relative_to(DOCS).as_posix()
        if there is None and whole.exists() and whole.is_relative_to(ROOT):
            there = listed(whole) if whole.is_dir() else copied(whole)
        if there is None:
            broken.append(f"{page.relative_to(ROOT)}: no page or file {target}")
            return found[0]
        return f"{before}{os.path.relpath(there, Path(place).parent)}{hash_}{anchor}{after}"

    parts = FENCE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def packed(text: str) -> str:
    """Returns a scenario as a fragment of an address, as the page of `elephan explore` keeps it (explore/src/model/link.ts)."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    data = deflate.compress(text.encode()) + deflate.flush()
    return "s=" + base64.urlsafe_b64encode(data).decode().rstrip("=")


def with_live_figures(text: str) -> str:
    """Returns the text of a page with a place for the page of `elephan explore` where it says `<!-- live: NAME -->`.

    NAME is a scenario of the library, or a file that the page lets its reader save.
    """

    def place(found: re.Match[str]) -> str:
        name = found[1]
        block = re.search(rf"`{re.escape(name)}`[^`]*:\n+```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        scenario = library()[name].path.read_text(encoding="utf-8") if name in library() else block[1] if block else ""
        if not scenario:
            sys.exit(f"live: {name} is no scenario of the library, and its page does not show it")
        said = f"<code>elephan explore {name}</code> shows this scenario as a page with sliders. "
        said += "<code>elephan docs --serve</code> shows it within this page."
        return f'```{{raw}} html\n<p class="live" data-scenario="{packed(scenario)}">{said}</p>\n```'

    return LIVE.sub(place, text)


def _escaped(text: str) -> str:
    """Returns words of a help as Markdown that shows them as they are."""
    return re.sub(r"([\\<>*_\[\]|`])", r"\\\1", text)


def command_page() -> str:
    """Returns the reference of the command line, from the parser and the docstrings of the commands."""
    parts = [
        "# The command line\n",
        "Generated from the commands. `elephan COMMAND --help` prints the same. A command ends with the status 0 if it succeeds, "
        "1 if what it checked does not hold, 2 for wrong input, and 130 if Ctrl-C ends it.\n",
    ]
    for path, module in app.commands():
        expected = parameters(module.command)
        arguments = [one for one in expected if isinstance(one.about, Argument)]
        heads = [one.about.metavar if one.required else f"[{one.about.metavar.strip('[]')}]" for one in arguments]
        parts.append(f"## {path}\n\n```text\n{' '.join([path, '[OPTIONS]', *heads])}\n```\n")
        parts.append(_escaped(module.__doc__ or "").strip() + "\n")
        for one in [*arguments, *(one for one in expected if one not in arguments)]:
            parts.append(f"`{one.head()}`\n\n:   {_escaped(one.help())}\n")
    return "\n".join(parts)


def list_page() -> str:
    """Returns what `elephan list` knows, list by list."""
    parts = ["# Lists\n", "Generated from the package; `elephan list KIND` prints the same.\n"]
    for kind, (about, _) in KINDS.items():
        lines = [f"`{name}`\n:   {_escaped(text)}\n" for name, text in rows(kind)]
        parts.append(f"## {kind}\n\n{about[0].upper()}{about[1:]}.\n\n" + "\n".join(lines))
    return "\n".join(parts)


def _members(module: ModuleType) -> list[str]:
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return getattr(module, "__all__", None) or [name for name in own if not name.startswith("_")]


def _directive(name: str, value: Any) -> str:
    if isinstance(value, type):
        return f".. autoclass:: {name}\n   :members:\n   :exclude-members: fill\n"
    return f".. autofunction:: {name}\n" if callable(value) else f".. autodata:: {name}\n"


def python_pages() -> dict[str, str]:
    """Returns the pages of the Python interface: one for the names of `elephan`, and one for each module that it offers."""
    plain, modules = [], {}
    for name in elephan.__all__:
        value = getattr(elephan, name)
        if isinstance(value, ModuleType):
            modules[name] = value
        else:
            plain.append(name)
    order = [
        *(name for name in plain if not isinstance(getattr(elephan, name), type)),
        *(name for name in plain if isinstance(getattr(elephan, name), type)),
    ]
    parts = [
        "# Python\n",
        "Generated from docstrings. `import elephan as el` stands before each example. Every example runs in a test. "
        "Classes of the scenario language (`el.Scenario`, `el.Bulk`, `el.Fifo` ...) have the keys of "
        "[the scenario](../scenario.md) as arguments.\n",
    ]
    parts.append("```{toctree}\n:hidden:\n\n" + "\n".join(sorted(modules)) + "\n```\n")
    parts += [f"- [`elephan.{name}`]({name}.md): {_first(value)}" for name, value in sorted(modules.items())]
    body = "\n".join(_directive(f"elephan.{name}", getattr(elephan, name)) for name in order)
    found = {"index": "\n".join(parts) + f"\n\n## elephan\n\n```{{eval-rst}}\n{body}```\n"}
    for name, module in modules.items():
        inner = "\n".join(_directive(f"{module.__name__}.{one}", getattr(module, one)) for one in _members(module))
        head = f".. automodule:: {module.__name__}\n   :no-members:\n\n"
        found[name] = f"# elephan.{name}\n\n```{{eval-rst}}\n{head}{inner}```\n"
    return {f"reference/python/{name}.md": text for name, text in found.items()}


def _first(module: ModuleType) -> str:
    return _escaped((module.__doc__ or "").strip().partition("\n")[0])


def assemble() -> set[str]:
    """Writes all pages and pictures to target/docs/source; returns the addresses of other sites that they link to."""
    source = TARGET / "source"
    shutil.rmtree(TARGET, ignore_errors=True)
    shutil.copytree(
        DOCS, source, ignore=shutil.ignore_patterns("*.md", "build.py", "__pycache__", "*.lock", "examples", "notebooks")
    )
    shutil.copy(PAGE / "icon.svg", source / "_static")
    known, external, broken = pages(), set[str](), list[str]()
    written: dict[str, str] = {"reference/commands.md": command_page(), "reference/lists.md": list_page(), **python_pages()}
    for page, place in known.items():
        text = with_live_figures(page.read_text(encoding="utf-8"))
        written[place] = relinked(text, page, place, known, external, broken)
    for place, text in written.items():
        (source / place).parent.mkdir(parents=True, exist_ok=True)
        (source / place).write_text(text, encoding="utf-8")
    if broken:
        sys.exit("\n".join(broken))
    return external


def sphinx(builder: str, out: Path) -> None:
    """Runs Sphinx; ends this process if it warns."""
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "--quiet",
        "--fail-on-warning",
        "--keep-going",
        "--jobs",
        "auto",
        "--doctree-dir",
        str(TARGET / "read"),
    ]
    # Docstrings mention files and terminals; a fixed width keeps the pages the same everywhere.
    done = subprocess.run(
        [*command, "--builder", builder, str(TARGET / "source"), str(out)], check=False, env=os.environ | {"COLUMNS": "100"}
    )
    if done.returncode:
        sys.exit(f"the book is not made: Sphinx warned ({builder})")


def main() -> None:
    external = assemble()
    (TARGET / "external.txt").write_text("".join(f"{address}\n" for address in sorted(external)), encoding="utf-8")
    sphinx("html", TARGET / "html")
    sphinx("man", TARGET / "man")
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(TARGET / "html", SITE, ignore=shutil.ignore_patterns(".doctrees", ".buildinfo*", "objects.inv"))
    if WASM.is_dir():  # the site for a web server has live figures; an installed elephan serves them from where they are
        shutil.copytree(PAGE, TARGET / "html" / "live")
        shutil.copytree(WASM, TARGET / "html" / "live" / "wasm")
    size = sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file()) / 1e6
    print(f"the book: {SITE.relative_to(ROOT)}/index.html, {size:.1f} MB")
    print(f"links to other sites, which are not fetched: {len(external)}, in target/docs/external.txt")


if __name__ == "__main__":
    main()
