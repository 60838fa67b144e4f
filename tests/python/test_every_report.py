"""What holds for the reports of all kinds of results: paper is white, tables leave as numbers, words have one way of
writing numbers.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import elephan as el
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from elephan import cli
from elephan.report.words.few import few
from pyarrow import csv
from test_own_study import CLAIMS, SCENARIO, STUDY

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
KINDS = ("run", "sweep", "compare", "path", "analyze", "study", "conformance")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a result of each kind, with its report."""
    out = tmp_path_factory.mktemp("results")
    el.run("sawtooth", set={"duration": "4 s", "warmup": "1 s"}, pcap=True, out=out / "run")
    rates = {"duration": "3 s", "warmup": "1 s", "template.queue.limit": ["1 bdp", "5 bdp"], "template.rate": ["5 Mbps", "10 Mbps"]}
    el.sweep("bbr-vs-cubic", set=rates, repetitions=2, out=out / "sweep")
    el.compare("reno,cubic", quick=True, rate="5 Mbps", repetitions=2, out=out / "compare")
    few = {"loss": "1e-4", "size": "5 MB", "streams": "1,2", "congestion_control": "reno,cubic"}
    el.path("20 Mbps", "20 ms", buffer="100 KB", out=out / "path", **few)
    el.analyze(next((out / "run" / "captures").glob("sender*")), out=out / "analyze")
    folder = out / "buffers"
    folder.mkdir()
    for name, text in (("line.toml", SCENARIO), ("study.toml", STUDY), ("claims.toml", CLAIMS)):
        (folder / name).write_text(text)
    assert cli.status_of(["study", "run", str(folder), "--out", str(out / "study")]) == 0
    el.conformance("cubic", only=["joins", "leaves"], quick=True, stories=False, out=out / "conformance")
    return out


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    if BROWSER is None:
        pytest.skip("no browser")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


COLOURS = """() => {
    const of = node => {
        const style = getComputedStyle(node);
        return [style.color, style.backgroundColor, style.fill, style.stroke].join();
    };
    return [document.documentElement, document.body, ...document.querySelectorAll("main *")].map(of);
}"""


@pytest.mark.parametrize("chosen", [None, "dark"], ids=["of the system", "of the button"])
@pytest.mark.parametrize("kind", ["run", "sweep", "study", "conformance"])
def test_paper_is_white_however_dark_the_screen_is(results: Path, browser: Any, kind: str, chosen: str | None) -> None:
    page = browser.new_page()
    page.goto((results / kind / "report.html").as_uri())
    page.emulate_media(media="print", color_scheme="light")
    light = page.evaluate(COLOURS)
    page.emulate_media(media="screen", color_scheme="dark")
    if chosen:
        page.evaluate("scheme => { document.documentElement.dataset.scheme = scheme; }", chosen)
    dark = page.evaluate(COLOURS)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(COLOURS) == light != dark
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(254, 254, 254)"
    page.close()


def test_figures_on_paper_are_as_wide_as_paper(results: Path, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto((results / "run" / "report.html").as_uri())
    wide = "() => document.querySelector('.sketch svg').getAttribute('viewBox').split(' ')[2]"
    assert float(page.evaluate(wide)) < 390
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert float(page.evaluate(wide)) == 760
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert float(page.evaluate(wide)) < 390
    page.close()


def taken(page: Any, folder: Path) -> dict[str, pa.Table]:
    """All tables of a page as its buttons give them, by the names of their files."""
    found = {}
    for button in page.get_by_role("button", name="this table as CSV").all():
        with page.expect_download() as download:
            button.click()
        name = download.value.suggested_filename
        assert name not in found
        download.value.save_as(folder / name)
        text = (folder / name).read_text(encoding="utf-8")
        assert not re.search("[\u00a0\u202f]|n/a", text), name
        found[name] = csv.read_csv(folder / name, convert_options=csv.ConvertOptions(strings_can_be_null=True))
    return found


NAMES = {
    "run": {"what-happened.csv", "flows.csv", "ports.csv"},
    "sweep": {"what-each-parameter-does.csv", "all-variants.csv"},
    "compare": {"figures-of-merit.csv", "the-capacity-changes.csv", "what-was-run.csv"},
    "path": {"results.csv", "limits.csv", "closed-forms.csv"},
    "analyze": {"connections.csv", "limits.csv"},
    "study": {"claims.csv", "all-variants.csv"},
    "conformance": {"fairness.csv", "what-each-check-asks.csv"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_tables_leave_as_numbers_in_base_units(results: Path, browser: Any, kind: str, tmp_path: Path) -> None:
    page = browser.new_page(accept_downloads=True)
    page.goto((results / kind / "report.html").as_uri())
    tables = taken(page, tmp_path)
    assert NAMES[kind] <= {*tables}
    for name, table in tables.items():
        for column in table.schema:
            with_unit = re.search(r" \((bit/s|B|s|1|segments|packets|bdp)\)$", column.name)
            assert not with_unit or pa.types.is_floating(column.type) or pa.types.is_integer(column.type), (name, column)
        assert len({*table.column_names}) == table.num_columns
    page.close()
    if kind == "run":
        flows = parquet.read_table(results / "run" / "flows.parquet")
        assert tables["flows.csv"]["goodput (bit/s)"].to_pylist() == flows["goodput_bps"].to_pylist()
        assert tables["flows.csv"]["least RTT (s)"].to_pylist() == [least / 1e9 for least in flows["min_rtt_ns"].to_pylist()]
    if kind == "sweep":
        means, given = parquet.read_table(results / "sweep" / "means.parquet"), tables["all-variants.csv"]
        assert sorted(given["rate (bit/s)"].to_pylist()) == [5e6, 5e6, 10e6, 10e6]
        for suffix, kind_of in (("", "mean"), ("_low", "low"), ("_high", "high")):
            own = given[f"total goodput of bbr {kind_of} (bit/s)"].to_pylist()
            assert own == pytest.approx(means[f"goodput_bps[bbr].sum{suffix}"].to_pylist(), rel=1e-6)
    if kind == "study":
        assert tables["claims.csv"]["claim"].to_pylist() == ["A", "B"]
        assert tables["claims.csv"]["observed unit"].to_pylist() == ["bit/s", "1"]


SEEN = """() => {
    const left = "#parameters, #reproduce, noscript, pre, code, script, button, .tools, .kicker, h1";
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const node = walker.currentNode;
        if (!node.parentElement.closest(left)) found.push(node.textContent.trim());
    }
    return found.filter(Boolean);
}"""
# Years, numbers of standards and documents, and what a user has written have no separators.
NAMES_OF_NUMBERS = re.compile(r"\b(RFCs? \d+|(19|20)\d\d|802\.\d+\w*|sections? [\d.]+|ns-3|MTU \d+)\b|\[\d+\]|\S*(=|-s )\S+")
NO_PLURALS = "ms|ns|less|loss|is|has|was|fails|holds|means|stands"
ODD = {
    "an exponent": re.compile(r"\d(e[-+]?\d+)\b"),
    "1 with a plural": re.compile(rf"(?<![\w.,\u202f])1[ \u00a0](?!({NO_PLURALS})\b)[a-zA-Z-]+s\b"),
    "thousands without a separator": re.compile(r"(?<![\w.\u202f])\d{4,}(?![\w])"),
    "thousands with a comma": re.compile(r"\d,\d{3}\b"),
    "a part of a byte": re.compile(r"(?<![\d.])0\.\d+[ \u00a0]B\b"),
    "a number that nobody formatted": re.compile(r"\d\.\d{6,}|\bnan\b|\bNone\b|\binf\b"),
}


def odd(texts: list[str]) -> list[tuple[str, str]]:
    plain = [NAMES_OF_NUMBERS.sub("", text) for text in texts]
    return [(what, text) for text in plain for what, pattern in ODD.items() if pattern.search(text)]


def test_the_scan_sees_what_is_odd() -> None:
    texts = ["1.3e+3 times", "1 packet-hops", "1631 packets", "1,631 packets", "0.00122 B", "0.12345678 of it", "mean nan"]
    assert len(odd(texts)) == len(texts)
    assert odd(["1 packet", "1\u202f631 packets", "1 ms", "2.1 packets", "RFC 9743", "in 2017", "1.0 times", "1 less"]) == []


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_written_in_one_way(results: Path, browser: Any, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = browser.new_page()
    page.goto((results / kind / "report.html").as_uri())
    seen = page.evaluate(SEEN)
    page.close()
    assert len(seen) > 30
    capsys.readouterr()
    assert cli.status_of(["show", str(results / kind)]) == 0
    seen += [line for line in capsys.readouterr().out.splitlines() if "report:" not in line and "/" not in line[:3]]
    assert odd(seen) == []


def test_few_runs_say_that_their_intervals_are_wide(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Student's t at 97.5 % is 12.706 with 1 degree of freedom, 4.303 with 2 and 2.776 with 4, each over the root of the number.
    assert "about 7 times as wide" in few(2)
    assert "about 2 times as wide" in few(3)
    assert (few(1), few(4), few(5)) == ("", "", "")
    for kind in ("sweep", "compare", "study"):
        assert "Two runs: the intervals are wide" in (results / kind / "report.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert cli.status_of(["show", str(results / "sweep")]) == 0
    assert "Two runs: the intervals are wide" in " ".join(capsys.readouterr().out.split())
    # Drawn and told they end where the quantity does; what is kept is whole.
    means = parquet.read_table(results / "sweep" / "means.parquet")
    assert min(means["goodput_bps.jain_low"].to_pylist()) >= 0.5
    assert min(means["goodput_bps[cubic].sum_low"].to_pylist()) >= 0
