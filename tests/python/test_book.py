"""The book: its tutorials do what they say, its prose keeps the rules, and `elephan docs` opens it.

`make docs` makes the site itself, in `make lint`.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any

import book
import prose
import pytest
from elephan import cli
from elephan.base.errors import InputError
from elephan.cli.command import docs
from elephan.explore import server
from elephan.explore.book import application
from explored import CHROMIUM

QUICK = ("sawtooth",)
TUTORIALS = [pytest.param(page, marks=[] if page.stem in QUICK else [pytest.mark.slow], id=page.stem) for page in book.PAGES]


@pytest.mark.parametrize("page", TUTORIALS)
def test_a_tutorial_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    reader = book.Reader(page, update=False)
    assert reader.read() == page.read_text(encoding="utf-8"), reader.problems
    assert reader.problems == []


@pytest.mark.parametrize("page", book.PAGES, ids=lambda page: page.stem)
def test_each_number_of_a_tutorial_stands_in_an_output(page: Path) -> None:
    assert book.loose_numbers(page) == []


def test_what_a_tutorial_says_wrongly_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "It takes 17 s, not 18.\n\nSave this as `a.toml`:\n\n```toml\nx = 18\n```\n\n```console\n$ cat a.toml\nx = 20\n```\n\n"
        "```python\n>>> 2 + 2\n5\n```\n"
    )
    reader = book.Reader(page, update=True)
    fresh = reader.read()
    assert len(reader.problems) == 2
    assert "$ cat a.toml\nx = 18\n" in fresh
    assert ">>> 2 + 2\n4\n" in fresh
    assert book.loose_numbers(page) == ["page.md:1: 17"]


def test_lines_that_are_left_out_match_any() -> None:
    assert book.matches(["a", "...", "c"], ["a", "b", "b", "c"])
    assert not book.matches(["a", "...", "d"], ["a", "b", "c"])
    assert book.refreshed(["speed 12", "..."], ["head", "speed 13", "tail"]) == ["head", "speed 13", "tail"]
    assert book.refreshed(["...", "speed 12", "..."], ["head", "speed 13", "tail"]) == ["...", "speed 13", "..."]


def test_the_pages_keep_the_rules_of_prose() -> None:
    assert [line for page in prose.pages() for line in prose.problems(page)] == []


def test_prose_that_breaks_a_rule_is_seen() -> None:
    long = " ".join(["word"] * 26)
    text = f"# A title\n\nThe law is sent again. {long.capitalize()}.\nLittle's law holds.\n\n```\n{long} law\n```\n\n| {long} |\n"
    assert [word for _, word, _ in prose.wrong_words(text)] == ["law", "sent again"]
    assert [prose.words(one) for _, one in prose.long_sentences(text)] == [26]
    (one,) = prose.sentences("It takes 1 000 ms, or `el.run(a, b)` of [the page](x.md).")
    assert prose.words(one) == 8
    assert len(prose.sentences("elephan runs it. elephan draws it, see Fig. 3 of it. `elephan run` does too.")) == 3


def _book(folder: Path) -> Path:
    for name in ("index", "tutorials/index", "tutorials/sawtooth", "models/dctcp"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.html").write_text(name)
    return folder


def test_docs_finds_a_page(tmp_path: Path) -> None:
    site = _book(tmp_path)
    assert docs.find(None, site) == site / "index.html"
    for word in ("dctcp", "models/dctcp", "models/dctcp.html", "/models/dctcp.md"):
        assert docs.find(word, site) == site / "models" / "dctcp.html"
    assert docs.find("index", site) == site / "index.html"
    with pytest.raises(InputError, match='no page "dctpc"; did you mean "dctcp"'):
        docs.find("dctpc", site)
    with pytest.raises(InputError, match=r'no page "slow disk"; its search: file://.*/search\.html\?q=slow%20disk$'):
        docs.find("slow disk", site)
    with pytest.raises(InputError, match="no page"):
        docs.find("../secret", site)


def test_docs_without_a_book_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(docs, "BOOK", tmp_path)
    assert cli.status_of(["docs"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n"), "make docs" in said.err) == ("", 1, True)
    monkeypatch.setattr(docs, "BOOK", _book(tmp_path))
    assert cli.status_of(["docs", "dctcp"]) == 0
    assert capsys.readouterr().out == f"{(tmp_path / 'models' / 'dctcp.html').as_uri()}\n"


@pytest.mark.parametrize("there", [True, False])
def test_a_book_whose_figures_stand_still_says_so(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if there:
        (tmp_path / "elephan.wasm").write_bytes(b"\0asm")
    monkeypatch.setattr(docs, "BOOK", _book(tmp_path / "site"))
    monkeypatch.setattr(server, "WASM", tmp_path)
    monkeypatch.setattr(server.Server, "run", lambda *_: None)
    assert cli.status_of(["docs", "--serve"]) == 0
    assert capsys.readouterr().err.startswith("The figures stand still") != there


def test_an_address_that_leads_nowhere_is_seen() -> None:
    code = """import build
seen, broken = set(), []
text = "[a](nowhere.md) [b](reno.md#x) [c](../../CONTRIBUTING.md) [d](https://example.org)"
print(build.relinked(text, build.DOCS / "models" / "x.md", "models/x.md", build.pages(), seen, broken), broken, seen)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=book.ROOT / "docs")
    links, found, others = done.stdout.partition(" ['docs/models/x.md: no page or file nowhere.md'] ")
    assert found, done.stdout
    assert links == "[a](nowhere.md) [b](reno.md#x) [c](../contributing.md) [d](https://example.org)"
    assert others == "{'https://example.org'}\n"


def test_rows_of_an_output_stay_whole() -> None:
    code = """import conf
for line in ("flow  rate", "it ends. Then", "   What would help: it", "loss.max &gt;   0.1 %"):
    print('row' in conf.with_rows(f'<span class="go">{line}</span>'))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=book.ROOT / "docs")
    assert done.stdout.split() == ["True", "False", "False", "True"]


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM.exists(), reason="no /usr/bin/chromium: apt-get install chromium")
def test_a_title_with_the_words_of_the_question_comes_first(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "search.html").write_text(f'<script src="{(book.ROOT / "docs/scorer.js").as_uri()}"></script>')
    page = browser.new_page()
    page.goto(f"{(tmp_path / 'search.html').as_uri()}?q=my+own+congestion+control")
    titles = ["A congestion control in Python", "Your own congestion control", "Comparing"]
    scores = [page.evaluate("(title) => Scorer.score(['page', title, '', null, 5, 'page.md'])", title) for title in titles]
    assert sorted(scores, reverse=True) == [scores[1], scores[0], 5]


def test_a_live_figure_has_its_scenario() -> None:
    code = """import base64, build, sys, zlib
text = "Save this as `a.toml`:\\n\\n```toml\\nx = 1\\n```\\n\\n<!-- live: a.toml -->\\n"
text += "`sawtooth`:\\n```toml\\n```\\n<!-- live: sawtooth -->\\n"
for part in build.with_live_figures(text).split('data-scenario="s=')[1:]:
    kept = part.partition('"')[0]
    print(zlib.decompress(base64.urlsafe_b64decode(kept + "=" * (-len(kept) % 4)), -15).decode().splitlines()[-1])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=book.ROOT / "docs")
    assert done.stdout.splitlines() == ["x = 1", 'every = "50 ms"']


def test_the_book_is_served_with_live_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = tmp_path / "wasm"
    engine.mkdir()
    (engine / "elephan.wasm").write_bytes(b"\0asm")
    monkeypatch.setattr("elephan.explore.book.WASM", engine)
    site = _book(tmp_path / "site")
    with server.listen("127.0.0.1", None) as listening:
        started = threading.Event()
        running = server.Server(application(site), started.set)
        thread = threading.Thread(target=running.run, args=([listening],), daemon=True)
        thread.start()
        try:
            assert started.wait(10)
            root = f"http://127.0.0.1:{listening.getsockname()[1]}"
            for path, begin in (
                ("models/dctcp.html", b"models"),
                ("", b"index"),
                ("live/", b"<!doctype"),
                ("live/wasm/elephan.wasm", b"\0asm"),
            ):
                with urllib.request.urlopen(f"{root}/{path}", timeout=10) as answer:
                    assert answer.read().lower().startswith(begin), path
        finally:
            running.should_exit = True
            thread.join(10)
