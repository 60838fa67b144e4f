"""A browser and a server of `elephan explore`, for the tests of its page."""

import re
import subprocess
import sys
import time
from pathlib import Path

CHROMIUM = Path("/usr/bin/chromium")
WAIT_S = 20


class Server:
    """`elephan explore`, started; `stop` ends it."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "elephan", "explore", *arguments, "--no-open"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://"), self.process.stderr.read()

    @property
    def port(self) -> str:
        return re.search(r":(\d+)/", self.address)[1]

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(10)
        self.process.stdout.close()
        self.process.stderr.close()


def ask(page, code, given=None):
    """Returns what JavaScript gives in the page; `s` is the page's session."""
    return page.evaluate(f"(x) => {{ const s = globalThis.elephan; return ({code}); }}", given)


def until(page, code, given=None, seconds=WAIT_S):
    """Waits until JavaScript gives something true, and returns it."""
    end = time.monotonic() + seconds
    while True:
        try:
            if found := ask(page, code, given):
                return found
        except Exception as error:  # of playwright, which not every machine has
            if "context was destroyed" not in str(error):  # the page is loaded again
                raise
        assert time.monotonic() < end, f"never: {code}"
        page.wait_for_timeout(20)


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
