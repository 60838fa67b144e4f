"""A browser and a server of `elephan explore`, for the tests of its page."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from waiting import PATIENCE_S

CHROMIUM = Path("/usr/bin/chromium")
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "python/elephan/explore/page"
_AXE = ROOT / "explore/node_modules/axe-core/axe.min.js"


class Server:
    """`elephan explore`, started; `stop` ends it."""

    def __init__(self, *arguments: str, cwd: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "elephan", "explore", *arguments, "--no-open"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
        )
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://"), self.process.stderr.read()

    @property
    def port(self) -> str:
        return re.search(r":(\d+)/", self.address)[1]

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


# What comes from the engine is seen by the page only after this time. A test that reads a text right after an action, and does not
# wait for it, then fails on every machine, not on a busy one alone.
LATE_MS = 60
_LATE = """(late_ms) => {
    for (const name of ["WebSocket", "Worker"]) {
        const Plain = globalThis[name];
        globalThis[name] = class extends Plain {
            set onmessage(take) { super.onmessage = (event) => setTimeout(() => take(event), late_ms); }
        };
    }
}"""


@pytest.fixture
def page(browser, request):
    """A page that must say nothing to the console and must ask nobody but its server. Answers of the engine come late, except in
    slow tests, some of which measure times.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(1000 * PATIENCE_S)
    if request.node.get_closest_marker("slow") is None:
        context.add_init_script(f"({_LATE})({LATE_MS})")
    page = context.new_page()
    said, foreign = [], []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None if "//127.0.0.1:" in request.url or request.url.startswith(("blob:", "data:")) else foreign.append(request.url)
        ),
    )
    page.said = said
    yield page
    context.close()
    assert said == []
    assert foreign == []


def ask(page, code, given=None):
    """Returns what JavaScript gives in the page; `s` is the page's session."""
    return page.evaluate(f"(x) => {{ const s = globalThis.elephan; return ({code}); }}", given)


def until(page, code, given=None, seconds=PATIENCE_S):
    """Waits until JavaScript gives something true, and returns it."""
    end = time.monotonic() + seconds
    while True:
        try:
            if found := ask(page, code, given):
                return found
        except Exception as error:  # of playwright, which not every machine has
            if "context was destroyed" not in str(error):  # the page is loaded again
                raise
        if time.monotonic() > end:
            raise AssertionError(f"never: {code}")
        page.wait_for_timeout(20)


def becomes(page, read, right):
    """Waits until `read()` returns `right`, and fails with what it returns at last."""
    end = time.monotonic() + PATIENCE_S
    while (found := read()) != right and time.monotonic() < end:
        page.wait_for_timeout(20)
    assert found == right, f"{found!r} does not become {right!r}"


def open_scenario(page, address, name):
    """Opens a scenario of the library from the gallery, and waits for its picture."""
    page.goto(address)
    page.locator(f'.card:has(code:text-is("{name}"))').click()
    until(page, "s && s.drawn > 0")


def move(page, path, share):
    """Moves the slider of a key to a share of its way, and lets go."""
    page.evaluate(
        """([path, share]) => {
            const slider = document.querySelector(`[data-path="${path}"]`);
            slider.value = Math.round(share * Number(slider.max));
            slider.dispatchEvent(new Event("input", { bubbles: true }));
            slider.dispatchEvent(new Event("change", { bubbles: true }));
        }""",
        [path, share],
    )


def settled(page):
    """Waits until what is on the screen is the picture of the text."""
    until(page, "s.picture && s.picture.share >= 1 && s.picture.text === s.text && !s.running && s.drawn > 0")


def lines(page, panel):
    """Returns the lines of a panel: name, column, times and values."""
    return ask(
        page,
        """s.picture.lines.filter(l => l.panel === x).map(l => ({name: l.name, column: l.ask.column, where: l.ask.where,
           how: l.ask.how, thinned: l.thinned, t: Array.from(l.t), y: Array.from(l.y)}))""",
        panel,
    )


def axe(page):
    """Returns where people with a screen reader, or poor sight, would have trouble: WCAG 2.1 AA."""
    if not _AXE.exists():
        pytest.skip("no explore/node_modules: make page")
    rules = '{runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}'
    page.evaluate(_AXE.read_text(encoding="utf-8"))
    found = page.evaluate(f"async () => (await axe.run(document, {rules})).violations")
    return [(one["id"], node["target"], node.get("failureSummary", "")[:200]) for one in found for node in one["nodes"]]


def fits(page):
    """Returns whether nothing sticks out at the side."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


_CUT = """() => {
    const pen = document.createElement("canvas").getContext("2d");
    const ARROW = 18;  // of a select box
    const room = (e, style) => e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const found = [];
    const looked = "select, input, button, summary, h1, h2, h3, .chips li, .found span, dt, dd, .badge, .state";
    for (const e of document.querySelectorAll(looked)) {
        const style = getComputedStyle(e);
        const text = e.tagName === "SELECT" || e.tagName === "INPUT";
        const shown = e.tagName === "SELECT" ? e.selectedOptions[0]?.textContent ?? "" : text ? e.value || e.placeholder : "";
        if (!e.checkVisibility() || e.clientWidth === 0 || /^(range|checkbox|file)$/.test(e.type)) continue;
        if (e.matches(".list input")) continue;  // a list that a person types may be longer than any screen
        pen.font = style.font;
        const needs = pen.measureText(shown).width;
        const wide = text ? needs - room(e, style) + (e.tagName === "SELECT" ? ARROW : 0) : e.scrollWidth - e.clientWidth;
        const box = e.getBoundingClientRect();
        const out = e.closest(".scroll, .numbers") ? 0 : Math.max(box.right - innerWidth, -box.left);
        const name = e.id || e.getAttribute("aria-label") || e.className || e.tagName;
        if (wide > 1 || out > 1) found.push([name, shown || e.textContent.slice(0, 40), Math.round(wide), Math.round(out)]);
    }
    return found;
}"""


def cut_off(page):
    """Returns controls, headings and legends of which the text has no room, or that stick out of the screen."""
    return page.evaluate(_CUT)
