"""The page of `elephan explore` in a browser: what it shows is what the tables have, and it can be used."""

import csv
import gzip
import io
import json
import re
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path

import elephan as el
import numpy as np
import pyarrow.compute as pc
import pytest
from explored import CHROMIUM, PAGE, ROOT, Server, ask, axe, becomes, cut_off, lines, move, open_scenario, settled, until
from pyarrow import parquet

LIMIT = "template.queue.limit"

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="no /usr/bin/chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def server():
    server = Server()
    yield server
    server.stop()


def test_the_page_is_light():
    sizes = [len(gzip.compress(file.read_bytes(), 6)) for file in PAGE.rglob("*") if file.is_file()]
    assert 10_000 < sum(sizes) < 600_000


def test_the_gallery_has_every_scenario_and_finds_one(page, server):
    page.goto(server.address)
    page.wait_for_selector(".card")
    names = page.locator(".card code").all_inner_texts()
    assert names == sorted(path.stem for path in (ROOT / "python/elephan/scenarios").glob("*.toml"))
    assert "token" not in page.url
    page.get_by_role("searchbox").fill("PFC no such word")
    assert page.get_by_text("No scenario has").is_visible()
    page.get_by_role("searchbox").fill("sawtooth")
    until(page, "document.querySelector('.thumb path:not(.ground)') !== null")


@pytest.mark.parametrize("name", ["sawtooth", "cubic-vs-reno"])
def test_lines_are_rows_of_the_tables(page, server, name):
    open_scenario(page, server.address, name)
    settled(page)
    run = el.run(name)
    seen = 0
    for panel, table, key in [
        ("window", run.flow_samples, "flow"),
        ("rtt", run.flow_samples, "flow"),
        ("queue", run.port_samples, "port"),
    ]:
        for line in lines(page, panel):
            if line["how"] != "value" or key not in line["where"] or "kind" in line["where"]:
                continue
            chosen = np.asarray(table[key]) == line["where"][key]
            times = np.asarray(table["time_ns"])[chosen]
            values = np.asarray(table[line["column"]].to_numpy(zero_copy_only=False), dtype=float)[chosen]
            known = dict(zip(times.tolist(), values.tolist(), strict=True))
            shown = {t: v for t, v in zip(line["t"], line["y"], strict=True) if v == v}
            assert shown, line["name"]
            assert all(known[t] == v for t, v in shown.items())
            assert max(shown.values()) == np.nanmax(values)
            assert min(shown.values()) == np.nanmin(values)
            seen += 1
    assert seen >= 4
    dropped = [line for line in lines(page, "queue") if line["where"].get("kind") == "drop" and line["t"]]
    assert dropped
    assert page.locator(".numbers div", has_text="drops").locator("dd").inner_text().startswith(str(run.summary["drops"]))


def test_a_slider_gives_a_new_picture_and_undo_the_old_one(page, server):
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    before = ask(page, "s.text")
    move(page, LIMIT, 0.2)
    until(page, "s.text !== x", before)
    settled(page)
    text = ask(page, "s.text")
    value = re.search(r'limit = "([^"]+)"', text)[1]
    assert re.sub(re.escape(value), "1 bdp", text) == before
    assert ask(page, "s.ghost.text") == before
    run = el.run("sawtooth", set={LIMIT: value})
    assert ask(page, "s.picture.summary.goodput_bps") == run.summary["goodput_bps"]
    assert ask(page, "s.picture.summary.drops") == run.summary["drops"]
    page.get_by_text("take away").click()
    words = shlex.split(page.locator(".sheet code").first.inner_text())
    assert words == ["elephan", "run", "sawtooth", "-s", f"{LIMIT}={value}"]
    page.get_by_text("take away").click()
    page.keyboard.press("Control+z")
    until(page, "s.text === x", before)
    settled(page)
    page.keyboard.press("Control+Shift+z")
    until(page, "s.text === x", text)


def test_a_wrong_text_says_its_line_and_the_picture_stays(page, server):
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    handle = ask(page, "s.picture.handle")
    page.get_by_role("tab", name="Text").click()
    page.locator(".cm-content").wait_for()
    ask(page, "void s.type(s.text.replace('20 Mbps', '20 Mpbs'))")
    error = page.locator(".errors button")
    error.wait_for()
    number = next(i for i, line in enumerate(ask(page, "s.text").splitlines(), 1) if "Mpbs" in line)
    assert error.inner_text().startswith(f"line {number}: ")
    assert "20 Mbps" in error.inner_text()
    assert ask(page, "s.picture.handle") == handle
    told = page.get_by_role("status").filter(has_text="Drawn from the text before the error")
    assert told.is_visible()
    weight = "getComputedStyle(document.querySelector('.numbers dd')).fontWeight"
    assert page.locator(".numbers small").all_inner_texts() == ["before"] * page.locator(".numbers dd").count()
    assert [ask(page, weight), page.locator(".panels.stale").count()] == ["400", 1]
    assert axe(page) == []
    ask(page, "void s.type(s.text.replace('20 Mpbs', '10 Mbps'))")
    settled(page)
    assert page.locator(".errors").count() == 0
    assert told.count() == 0
    assert [ask(page, weight), page.locator(".panels.stale").count()] == ["600", 0]


def test_a_legend_names_the_lines_that_are_drawn(page, server):
    open_scenario(page, server.address, "incast")
    settled(page)
    run = el.run("incast")
    assert len(lines(page, "rtt")) == run.flows.num_rows == 32
    chip = page.locator('[data-panel="rtt"] .chips li').first
    assert chip.inner_text() == "answer: 32 flows, one line each"
    at = run.flow_samples["time_ns"].to_numpy()
    ask(page, "void (s.cursor_ns = x)", 5_000_000)
    last = {flow: int(at[(run.flow_samples["flow"].to_numpy() == flow) & (at <= 5_000_000)].max()) for flow in range(32)}
    rows = [row for row in run.flow_samples.to_pylist() if row["time_ns"] == last[row["flow"]] and row["srtt_ns"] is not None]
    mean = np.mean([row["srtt_ns"] for row in rows]) / 1e3
    until(page, "document.querySelector('[data-panel=\"rtt\"] .chips b').innerText.startsWith('mean ')")
    assert chip.locator("b").inner_text() == f"mean {mean:.3g} µs"


def test_every_other_key_is_found_and_set(page, server):
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    page.keyboard.press("/")
    page.keyboard.type("initial_window")
    page.locator(".found .key").first.click()
    page.locator(".found .set input[type=text]").first.fill("30")
    page.keyboard.press("Enter")
    until(page, "/initial_window = 30/.test(s.text)")
    settled(page)
    run = el.run("sawtooth", set={"tcp.initial_window": 30})
    assert ask(page, "s.picture.summary.packet_hops") == run.summary["packet_hops"]


def test_a_link_keeps_the_scenario(page, server, browser):
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    before = until(page, "location.hash.startsWith('#s=') && location.hash")
    move(page, "template.rate", 0.7)
    settled(page)
    until(page, "location.hash !== x", before)
    text, link = ask(page, "s.text"), page.url
    page.reload()
    until(page, "s && s.drawn > 0 && s.text === x", text)
    other = page.context.new_page()
    other.goto(link)
    until(other, "s && s.drawn > 0 && s.text === x", text)


def test_zoom_asks_for_the_samples_in_view(page, server):
    open_scenario(page, server.address, "cubic-vs-reno")
    settled(page)
    ask(page, "s.zoom({from_ns: 3e9, to_ns: 3.5e9})")
    until(page, "s.picture.shown.to_ns === 3.5e9")
    window = next(line for line in lines(page, "window") if line["column"] == "cwnd_bytes")
    assert not window["thinned"]
    run = el.run("cubic-vs-reno")
    times = np.asarray(run.flow_samples["time_ns"])[np.asarray(run.flow_samples["flow"]) == window["where"]["flow"]]
    inside = times[(times >= 3e9) & (times <= 3.5e9)]
    assert [t for t in window["t"] if 3e9 <= t <= 3.5e9] == inside.tolist()
    page.keyboard.press("0")
    until(page, "s.view.from_ns === 0")


def test_what_happened_and_why_are_those_of_the_run(page, server):
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    until(page, "s.marks.length > 0 && s.why.length > 0")
    drops = ask(page, "s.marks.filter(m => m.kind === 'drop').reduce((sum, m) => sum + m.count, 0)")
    run = el.run("sawtooth")
    assert drops == run.summary["drops"]
    spans = ask(page, "s.why[0].spans")
    assert spans[-1]["to_ns"] == 60e9
    assert {span["reason"] for span in spans} >= {"slow start", "full link"}
    assert page.locator(".ribbon .chips li", has_text="full link").is_visible()
    first = page.locator(".events li button").first
    first.click()
    until(page, "s.view.to_ns - s.view.from_ns < 10e9")


def test_segments_of_a_flow_are_those_that_the_tables_count(page, server):
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    ask(page, "s.zoom({from_ns: 0, to_ns: 2e9})")
    page.get_by_label("Segments of one flow").check()
    again = page.locator(".segments .chips li", has_text="retransmitted, recovery")
    again.wait_for()
    run = el.run("sawtooth")
    at = run.flow_samples["time_ns"].to_pylist().index(2_000_000_000)
    assert int(again.locator("b").inner_text()) == run.flow_samples["segs_retrans"][at].as_py()


def test_a_capture_is_opened_and_shown(page, server, tmp_path):
    el.run("sawtooth", set={"duration": "3 s", "warmup": "0 s"}, pcap=True, out=tmp_path / "run", report=False)
    (capture, *_) = sorted((tmp_path / "run").glob("**/*.pcapng"))
    page.goto(server.address)
    page.locator(".file input").set_input_files(capture)
    until(page, "s && s.capture && s.drawn > 0")
    trace = el.analyze(capture, report=False)
    shown = ask(page, "s.capture.flows.map(f => f.delivered_bytes)")
    assert shown == trace.connections["delivered_bytes"].to_pylist()
    delivered = next(line for line in lines(page, "inflight") if line["column"] == "inflight_bytes")
    samples = dict(zip(trace.samples["time_ns"].to_pylist(), trace.samples["inflight_bytes"].to_pylist(), strict=True))
    assert [samples[t] for t in delivered["t"]] == delivered["y"]
    assert page.locator(".connections li").count() == trace.connections.num_rows
    page.get_by_label("Segments of one flow").check()
    again = page.locator(".segments .chips li", has_text="retransmitted, recovery")
    again.wait_for()
    assert int(again.locator("b").inner_text()) == trace.connections["segs_retrans_fast"][0].as_py() > 10


def test_panels_are_taken_away_as_csv_parquet_and_svg(page, server):
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    panel = page.locator('[data-panel="window"]')

    def saved(name):
        panel.locator("summary").click()
        with page.expect_download() as download:
            panel.get_by_role("button", name=name).click()
        return Path(download.value.path()).read_bytes()

    rows = [row for row in csv.DictReader(io.StringIO(saved("CSV").decode())) if row["column"] == "cwnd_bytes"]
    run = el.run("sawtooth")
    assert [float(row["value"]) for row in rows] == run.flow_samples["cwnd_bytes"].to_pylist()
    assert [int(row["time_ns"]) for row in rows] == run.flow_samples["time_ns"].to_pylist()
    table = parquet.read_table(io.BytesIO(saved("Parquet"))).filter(pc.field("column") == "cwnd_bytes")
    assert table["value"].to_pylist() == run.flow_samples["cwnd_bytes"].to_pylist()
    assert table["time_ns"].to_pylist() == run.flow_samples["time_ns"].to_pylist()
    assert set(table["unit"].to_pylist()) == {"B"}
    drawn = ET.fromstring(saved("SVG"))
    assert drawn.tag.endswith("svg")
    assert "Congestion window and threshold" in "".join(drawn.itertext())


def test_seeds_give_the_means_of_the_runs(page, server):
    open_scenario(page, server.address, "incast")
    settled(page)
    page.get_by_role("button", name="Chance", exact=True).click()
    page.get_by_label("Seeds").fill("4")
    page.get_by_role("button", name="run", exact=True).click()
    page.get_by_text("4 of 4 seeds").wait_for()
    means = [el.run("incast", seed=seed).summary["drops"] for seed in range(1, 5)]
    half = 3.182446 * np.std(means, ddof=1) / 2
    cell = page.locator(".chance tr", has_text="drops").locator("td").nth(1).inner_text()
    mean, interval = (float(number) for number in cell.split(" ± "))
    assert mean == pytest.approx(np.mean(means), rel=0.006)
    assert interval == pytest.approx(half, rel=0.006)


def test_a_sweep_fills_its_map_and_opens_a_run(page, server):
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    page.get_by_role("button", name="Sweep", exact=True).click()
    page.locator(".sweep select").first.select_option(LIMIT)
    page.get_by_label("Values across").fill("0.25 bdp, 1 bdp, 0.0001 bdp")
    page.get_by_role("button", name="run", exact=True).click()
    page.get_by_text("3 of 3 points").wait_for()
    goodput = el.run("sawtooth", set={LIMIT: "0.25 bdp"}).summary["goodput_bps"]
    cells = page.locator(".heat td button").all_inner_texts()
    assert float(cells[0].split()[0]) == pytest.approx(goodput / 1e6, rel=0.005)
    assert cells[2] == "no such network"
    page.locator(".heat td button").first.click()
    settled(page)
    assert ask(page, "s.picture.summary.goodput_bps") == goodput


def test_pairs_fill_a_matrix_as_compare_does(page, server):
    open_scenario(page, server.address, "cubic-vs-reno")
    settled(page)
    ask(page, """void s.type(s.text.replace('"120 s"', '"20 s"').replace('"20 s"\\ntcp', '"2 s"\\ntcp'))""")
    settled(page)
    page.get_by_role("button", name="Compare", exact=True).click()
    boxes = page.locator(".choose input")
    boxes.first.wait_for()
    for name, wanted in {"cubic": False, "bbr": False, "vegas": True}.items():
        page.locator(f".choose label:text-is('{name}') input").set_checked(wanted)
    page.get_by_role("textbox", name="Rate", exact=True).fill("1 Mbps")
    page.get_by_label("Seeds").fill("2")
    page.get_by_role("button", name="run", exact=True).click()
    page.get_by_text("6 of 6 runs").wait_for()
    panel = el.compare(["reno", "vegas"], quick=True, repetitions=2, rate="1 Mbps")
    cells = page.locator(".heat td button")

    def shown():
        return [text.split("\n")[0].split("±")[0].strip() for text in cells.all_inner_texts()]

    pairs = [(a, b) for a in panel.labels for b in panel.labels]
    assert shown() == [f"{100 * panel.share(a, b).mean:.3g} %" for a, b in pairs]
    page.get_by_label("Show").select_option("jain")
    becomes(page, shown, [f"{panel.jain(a, b).mean:.3g}" for a, b in pairs])
    assert page.locator(".heat caption").inner_text().startswith("Jain's index: ")
    page.locator('.sweep label:has-text("On") select').first.select_option("true")
    page.get_by_label("Seeds").fill("1")
    page.get_by_role("button", name="run", exact=True).click()
    page.get_by_text("4 of 4 runs").wait_for()
    page.get_by_label("Show").select_option("goodput")
    run = el.run(ask(page, "s.text"), set={"traffic[0].congestion_control": "vegas", "traffic[1].congestion_control": "reno"})
    becomes(page, lambda: shown()[2], f"{run.flows['goodput_bps'][0].as_py() / 1e6:.3g} Mb/s")
    cells.nth(2).click()
    until(page, "/vegas/.test(s.picture.text) && s.picture.share >= 1")
    assert ask(page, "s.picture.summary.goodput_bps") == run.summary["goodput_bps"]


def test_the_keyboard_reaches_everything(page, server):
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    reached = set()
    for _ in range(70):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("document.activeElement.dataset.path ?? document.activeElement.id ?? ''")
            or page.evaluate("document.activeElement.textContent")
        )
    assert {LIMIT, "template.rate", "search", "Network", "Sweep"} <= reached
    slider = page.locator(f'[data-path="{LIMIT}"]')
    slider.focus()
    before = ask(page, "s.text")
    page.keyboard.press("ArrowRight")
    until(page, "s.text !== x", before)
    page.locator("#picture").focus()
    page.keyboard.press("ArrowRight")
    assert ask(page, "s.cursor_ns") > 0
    width = ask(page, "s.view.to_ns - s.view.from_ns")
    page.keyboard.press("+")
    assert ask(page, "s.view.to_ns - s.view.from_ns") == pytest.approx(width / 2)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_can_be_read_by_everybody(page, server, scheme):
    page.emulate_media(color_scheme=scheme)
    page.goto(server.address)
    page.wait_for_selector(".card")
    assert axe(page) == []
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    for view in ("Time", "Network", "Chance", "Sweep", "Compare"):
        page.get_by_role("button", name=view, exact=True).click()
        assert axe(page) == [], view
    page.get_by_role("tab", name="Text").click()
    page.locator(".cm-content").wait_for()
    assert axe(page) == []


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_nothing_is_cut_off(page, server, width):
    page.set_viewport_size({"width": width, "height": 844 if width == 390 else 1000})
    page.goto(server.address)
    page.wait_for_selector(".card")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    open_scenario(page, server.address, "bbr-vs-cubic")
    settled(page)
    for view in ("Time", "Network", "Chance", "Sweep", "Compare"):
        page.get_by_role("button", name=view, exact=True).click()
        page.wait_for_timeout(50)
        main = page.evaluate("(() => { const m = document.querySelector('main'); return m.scrollWidth - m.clientWidth; })()")
        assert main <= 0, view
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
        assert cut_off(page) == [], view
    page.locator("#search").fill("kind")
    page.locator(".found .key").first.click()
    page.get_by_text("take away").click()
    assert cut_off(page) == []


def test_a_killed_server_gives_one_message_and_nothing_is_lost(page):
    server = Server()
    port = server.port
    try:
        open_scenario(page, server.address, "sawtooth")
        settled(page)
        before = until(page, "location.hash.startsWith('#s=') && location.hash")
        move(page, "template.rate", 0.7)
        settled(page)
        until(page, "location.hash !== x", before)
        text, link = ask(page, "s.text"), page.url
        server.stop()
        message = page.get_by_role("alert")
        message.wait_for()
        assert page.get_by_role("alert").count() == 1
        assert "elephan explore" in message.inner_text()
        move(page, "template.rate", 0.3)
        page.wait_for_timeout(300)
        assert page.get_by_role("alert").count() == 1
        assert ask(page, "s.picture.text") == text
        changed = ask(page, "s.text")
    finally:
        server.stop()
    again = Server("--port", port)
    try:
        page.goto(again.address)  # in the same tab: the scenario goes on
        until(page, "s && s.drawn > 0 && s.picture.text === x", changed)
        page.goto(link)
        until(page, "s && s.drawn > 0 && s.text === x", text)
    finally:
        page.close()
        again.stop()
        page.said[:] = [line for line in page.said if "WebSocket" not in line and "ERR_CONNECTION" not in line]


def test_the_engine_in_the_page_gives_the_same_lines(page):
    if not (PAGE.parent / "wasm/elephan.wasm").exists():
        pytest.skip("no python/elephan/explore/wasm: make web")
    server = Server("--wasm")
    try:
        open_scenario(page, server.address, "sawtooth")
        settled(page)
        assert ask(page, "s.engine.kind") == "wasm"
        window = next(line for line in lines(page, "window") if line["column"] == "cwnd_bytes")
        assert window["y"] == el.run("sawtooth").flow_samples["cwnd_bytes"].to_pylist()
        for share in (0.3, 0.35, 0.4):  # what is taken back ends a worker
            move(page, LIMIT, share)
            page.wait_for_timeout(30)
        settled(page)
        value = re.search(r'limit = "([^"]+)"', ask(page, "s.picture.text"))[1]
        assert ask(page, "s.picture.summary.goodput_bps") == el.run("sawtooth", set={LIMIT: value}).summary["goodput_bps"]
    finally:
        page.close()  # it asks for nothing more
        server.stop()


def test_a_finished_result_is_opened(page, tmp_path):
    run = el.run(
        "sawtooth",
        seed=3,
        set={"template.rate": "12 Mbps", "duration": "5 s", "warmup": "1 s"},
        out=tmp_path / "kept",
        report=False,
    )
    server = Server(str(tmp_path / "kept"))
    try:
        page.goto(server.address)
        until(page, "s && s.drawn > 0")
        assert ask(page, "[s.picture.seed, s.picture.summary.goodput_bps]") == [3, run.summary["goodput_bps"]]
    finally:
        page.close()  # it asks for nothing more
        server.stop()


SCENARIOS = {"sawtooth": LIMIT, "cubic-vs-reno": LIMIT, "incast": LIMIT, "bbr-vs-cubic": LIMIT}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_network_answers_while_the_slider_moves(page, server, name, record_property):
    """100 moves, each after the picture before it: docs/performance.md has the table."""
    open_scenario(page, server.address, name)
    settled(page)
    page.wait_for_timeout(500)
    for i in range(100):
        drawn = ask(page, "s.timings.length")
        move(page, SCENARIOS[name], 0.35 + 0.005 * ((37 * i) % 100))
        until(page, "s.timings.length > x", drawn)
    found = ask(page, "s.timings.slice(-100).map(t => [t.first - t.asked, t.whole - t.asked, t.engine])")
    first, whole, engine = np.asarray(found).T
    told = {
        "first": np.percentile(first, [50, 95]),
        "whole": np.percentile(whole, [50, 95]),
        "engine": np.percentile(engine, [50, 95]),
    }
    print(name, json.dumps({key: [round(v) for v in value] for key, value in told.items()}))
    assert np.percentile(first, 95) < 150
    assert np.percentile(whole - engine, 95) < 120


@pytest.mark.slow
def test_a_million_points_are_dragged_and_zoomed(page, server):
    """Samples every 60 us for 60 s: a drag, wheels and moves; the longest frame, and how soon the samples in view come."""
    open_scenario(page, server.address, "sawtooth")
    settled(page)
    ask(page, """void s.type(s.text.replace(/every\\s*=\\s*"[^"]*"/, 'every = "60 us"'))""")
    until(page, "/60 us/.test(s.picture.text) && s.picture.share >= 1 && !s.running", seconds=60)
    wanted = "{handle: s.picture.handle, table: 'flow_samples', columns: ['flow'], limit: 1}"
    rows = ask(page, f"s.engine.request('rows', {wanted}).then(r => r.head.of)")
    assert rows >= 1_000_000
    page.wait_for_timeout(1000)
    box = page.locator('[data-panel="window"] .u-over').bounding_box()
    x, y = box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2
    ask(
        page,
        """void (() => {
            globalThis.frames_ms = []; globalThis.fresh_ms = [];
            let last = performance.now(), view = s.view, shown = s.picture.shown;
            const asked = new Map();
            const look = () => {
                const now = performance.now();
                globalThis.frames_ms.push(now - last);
                last = now;
                if (s.view !== view) asked.set(view = s.view, now);
                if (s.picture.shown !== shown && asked.has(shown = s.picture.shown))
                    globalThis.fresh_ms.push(now - asked.get(shown));
                requestAnimationFrame(look);
            };
            requestAnimationFrame(look);
        })()""",
    )
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(20):
        page.mouse.move(x + 15 * step, y)
    page.mouse.up()
    page.keyboard.down("Control")
    for _ in range(15):
        page.mouse.wheel(0, -60)
        page.wait_for_timeout(60)
    page.keyboard.up("Control")
    page.keyboard.down("Shift")
    for way in (40, -40) * 8:
        page.mouse.wheel(0, way)
        page.wait_for_timeout(60)
    page.keyboard.up("Shift")
    until(page, "s.picture.shown === s.view")
    frames, fresh = ask(page, "[globalThis.frames_ms, globalThis.fresh_ms]")
    told = {
        "frame p50": np.percentile(frames, 50),
        "p99": np.percentile(frames, 99),
        "longest": max(frames),
        "data p95": np.percentile(fresh, 95),
    }
    print("a million points", {name: round(value, 1) for name, value in told.items()}, len(fresh))
    assert len(fresh) >= 5
    assert np.percentile(frames, 99) < 100
    assert np.percentile(fresh, 50) < 200
