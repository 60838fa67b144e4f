"""Pictures of the page, light and dark, on a phone and on a desk: for people to look at, in `ELEPHAN_PICTURES` or target/pictures.

Each is taken once what it shows has come, and nothing in it may be cut off.
"""

import os
from pathlib import Path

import elephan as el
import pytest
from explored import CHROMIUM, ROOT, Server, ask, cut_off, fits, open_scenario, settled, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="no /usr/bin/chromium: apt-get install chromium"),
]

FOLDER = Path(os.environ.get("ELEPHAN_PICTURES", ROOT / "target/pictures"))
SIZES = {390: 844, 1280: 900}


class Camera:
    """Takes pictures of a page, and fails where something is cut off."""

    def __init__(self, page, end):
        self.page, self.end = page, end

    def take(self, name, top=".panels"):
        """Takes what is on the screen; then scrolls `top` to its upper edge and takes that, if it says something else."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.page.wait_for_timeout(400)
        assert fits(self.page), name
        assert cut_off(self.page) == [], name
        self.page.screenshot(path=FOLDER / f"{name}-{self.end}.png")
        if top and self.page.evaluate("(top) => { const e = document.querySelector(top); e?.scrollIntoView(); return !!e; }", top):
            self.page.wait_for_timeout(400)
            self.page.screenshot(path=FOLDER / f"{name}-below-{self.end}.png")
            self.page.evaluate("(top) => document.querySelector(top).closest('main').scrollTo(0, 0)", top)

    def view(self, name):
        """Opens a view of the workbench."""
        self.page.get_by_role("button", name=name, exact=True).click()


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder with a kept run with captures and a kept sweep."""
    folder = tmp_path_factory.mktemp("kept")
    short = {"duration": "5 s", "warmup": "1 s"}
    el.run("sawtooth", set=short, pcap=True, out=folder / "run", report=False)
    varied = {"template.queue.limit": ["0.5 bdp", "1 bdp", "2 bdp"], "traffic[0].congestion_control": ["reno", "cubic"]}
    el.sweep("sawtooth", set=short | varied, repetitions=3, out=folder / "sweep", report=False)
    return folder


@pytest.fixture(params=[(width, scheme) for width in SIZES for scheme in ("light", "dark")], ids=lambda p: f"{p[0]}-{p[1]}")
def camera(request, page):
    width, scheme = request.param
    page.set_viewport_size({"width": width, "height": SIZES[width]})
    page.emulate_media(color_scheme=scheme)
    return Camera(page, f"{width}-{scheme}")


def test_pictures_of_scenarios(camera):
    page = camera.page
    server = Server()
    try:
        page.goto(server.address)
        page.wait_for_selector(".card")
        camera.take("gallery", top=".cards")
        open_scenario(page, server.address, "incast")
        settled(page)
        camera.take("many-flows")
        camera.view("Network")
        ask(page, "void (s.cursor_ns = 1e7)")
        camera.take("network")
        page.get_by_label("elephan: all scenarios").click()
        page.locator('.card:has(code:text-is("cubic-vs-reno"))').click()
        until(page, "/CUBIC and Reno/.test(s.plan?.title) && s.drawn > 0")
        settled(page)
        page.locator('[data-panel="window"] .u-over').hover()
        camera.take("run")
        page.get_by_label("Segments of one flow").check()
        ask(page, "void s.zoom({ from_ns: 6e9, to_ns: 8e9 })")
        page.locator(".segments .chips li").nth(3).wait_for()
        camera.take("packets", top=".segments")
        page.locator("#search").fill("kind")
        page.locator(".found .key").first.click()
        page.get_by_text("take away").click()
        camera.take("search", top=None)
        page.locator("#search").fill("")
        camera.view("Sweep")
        page.locator(".sweep select").first.select_option("template.queue.limit")
        page.get_by_label("Down").select_option("traffic[0].congestion_control.kind")
        page.get_by_label("Values down").fill("cubic, vegas")
        page.get_by_label("Values across").fill("0.25 bdp, 1 bdp, 4 bdp")
        page.get_by_role("button", name="run", exact=True).click()
        page.get_by_text("6 of 6 points").wait_for()
        camera.take("sweep")
        camera.view("Compare")
        page.get_by_role("textbox", name="Rate", exact=True).fill("2 Mbps")
        page.get_by_role("button", name="run", exact=True).click()
        page.get_by_text("6 of 6 runs").wait_for()
        camera.take("compare")
        camera.view("Chance")
        page.get_by_label("Seeds").fill("3")
        page.get_by_role("button", name="run", exact=True).click()
        page.get_by_text("3 of 3 seeds").wait_for()
        camera.take("chance")
        camera.view("Time")
        page.get_by_role("tab", name="Text").click()
        page.locator(".cm-content").wait_for()
        ask(page, "void s.type(s.text.replace('100 Mbps', '100 Mpbs'))")
        page.locator(".errors button").first.wait_for()
        camera.take("wrong-text")
    finally:
        page.close()
        server.stop()


@pytest.mark.parametrize(
    ("name", "words", "until_drawn", "top"),
    [
        ("lesson", ("--lesson", "sawtooth"), "s && s.drawn > 0 && document.querySelector('.lesson')", ".panels"),
        ("trials", ("sweep",), "document.querySelector('.trials tbody tr')", ".multiples"),
        ("capture", (), "s && s.capture && s.drawn > 0", ".panels"),
    ],
)
def test_pictures_of_what_is_opened(camera, kept, name, words, until_drawn, top):
    capture = sorted((kept / "run").glob("**/*.pcapng"))[0]
    server = Server(*(words or (str(capture),)), cwd=kept)
    try:
        camera.page.goto(server.address)
        until(camera.page, until_drawn)
        camera.take(name, top)
        if name == "capture":
            ask(camera.page, "void s.zoom({ from_ns: 4e8, to_ns: 9e8 })")
            camera.page.get_by_label("Segments of one flow").check()
            camera.page.locator(".segments .chips li", has_text="retransmitted").first.wait_for()
            camera.take("capture-packets", ".segments")
    finally:
        camera.page.close()
        server.stop()
