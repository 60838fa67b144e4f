"""The book as a browser shows it, from file:// as `elephan docs` opens it: search, width of a phone, light and dark.

Skipped where the book is not made (`make docs`), or where there is no Chromium.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from elephan.cli.command.docs import BOOK
from explored import CHROMIUM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="no /usr/bin/chromium: apt-get install chromium"),
    pytest.mark.skipif(not (BOOK / "index.html").is_file(), reason="the book is not made: make docs"),
]
PAGES = ("index", "tutorials/sawtooth", "tutorials/your-study", "reference/commands", "reference/scenario", "models/tcp", "kernel")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_phone_and_says_no_error(chromium: Any, name: str, scheme: str) -> None:
    page = chromium.new_page(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((BOOK / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    shade = sum(map(int, ground.removeprefix("rgb(").removesuffix(")").split(","))) / 3
    assert (shade < 64) == (scheme == "dark"), ground
    assert said == []
    page.close()


def test_search_works_without_a_server(chromium: Any) -> None:
    page = chromium.new_page()
    page.goto((BOOK / "index.html").as_uri())
    page.fill("input[name=q]", "incast")
    page.press("input[name=q]", "Enter")
    page.wait_for_selector("#search-results li a")
    found = page.locator("#search-results li a").all_inner_texts()
    assert any("Incast" in title for title in found), found
    page.locator("#search-results li a", has_text="Incast and DCTCP").first.click()
    page.locator("h1", has_text="Incast").wait_for()
    page.close()


def test_a_live_figure_without_a_server_says_what_to_type(chromium: Any) -> None:
    page = chromium.new_page()
    page.goto((BOOK / "tutorials" / "sawtooth.html").as_uri())
    assert "elephan explore sawtooth" in page.locator("p.live").inner_text()
    assert page.locator("p.live button").count() == 0
    page.close()
