"""What the page opens: kept results, captures, logs; and nothing else without trust."""

import gzip
import json
from pathlib import Path

import elephan as el
import numpy as np
import pytest
from pages import Failed, Page, array, served


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("work")
    el.run("sawtooth", set={"duration": "12 s"}, out=where / "results/kept", pcap=True)
    el.run("incast", set={"duration": "1 s"}, out=where / "elsewhere")
    return where


@pytest.fixture(scope="module")
def page(folder):
    with served(cwd=folder) as (address, _), Page(address) as page:
        yield page


def samples(page: Page, handle: int, table: str, column: str, **where: float) -> np.ndarray:
    lines = [{"table": table, "column": column, "where": where}]
    head, body = page.ask("series", handle=handle, lines=lines, points=10**6)
    return array(body, head["lines"][0]["offset_y"], head["lines"][0]["count"])


def test_a_kept_run_is_listed_and_opened(page, folder):
    listed = page.ask("results")[0]["value"]
    assert [(one["name"], one["kind"]) for one in listed] == [("kept", "run")]
    head, _ = page.ask("load", path=listed[0]["path"])
    run = el.load(folder / "results/kept")
    assert (head["kind_of"], head["seed"], head["text"]) == ("run", 1, run.scenario)
    window = samples(page, head["handle"], "flow_samples", "cwnd_bytes", flow=0)
    assert np.array_equal(window, run.flow_samples["cwnd_bytes"].to_numpy())
    assert page.ask("flows", handle=head["handle"])[0]["value"][0]["name"] == "reno"
    assert page.ask("events", handle=head["handle"])[0]["value"]


def test_other_places_stay_closed(page, folder):
    for path in (str(folder / "elsewhere"), "elsewhere", "results/../elsewhere", "/etc/passwd", "results/..", "", None, 5):
        with pytest.raises(Failed):
            page.ask("load", path=path)
    with pytest.raises(Failed, match="no such result folder"):
        page.ask("load", path="results/none")


def test_the_path_of_the_command_line_is_opened(folder):
    with served("elsewhere", cwd=folder) as (address, _), Page(address) as page:
        assert page.ask("load", path="elsewhere")[0]["kind_of"] == "run"
    with served("--trust", cwd=folder) as (address, _), Page(address) as page:
        assert page.ask("load", path=str(folder / "elsewhere"))[0]["kind_of"] == "run"


def test_a_capture_is_dropped_on_the_page(page, folder):
    capture = next((folder / "results/kept").rglob("sender*.pcapng"))
    trace = el.analyze(capture, report=False)
    for payload in (capture.read_bytes(), gzip.compress(capture.read_bytes())):
        head, _ = page.ask("open", name="sender.pcapng", payload=payload)
        assert head["kind_of"] == "capture"
        flows = page.ask("flows", handle=head["handle"])[0]["value"]
        assert flows[0]["delivered_bytes"] == trace.row(0)["delivered_bytes"]
        delivered = samples(page, head["handle"], "connection_samples", "delivered_bytes", connection=0)
        assert np.array_equal(
            delivered, trace.samples.filter(trace.samples["connection"].to_numpy() == 0)["delivered_bytes"].to_numpy()
        )
    for payload in (b"", b"nothing of the kind\n", capture.read_bytes()[:10]):
        with pytest.raises(Failed, match=r"^x\.txt: ") as error:
            page.ask("open", name="../../x.txt", payload=payload)
        assert "/tmp" not in str(error.value)
    with pytest.raises(Failed, match="a capture has no scenario"):
        page.ask("topology", handle=head["handle"])


def test_logs_are_dropped_on_the_page(page):
    data = Path(__file__).parent / "data"
    for name in ("iperf3.json", "ss.log", "rrul.flent", "server.qlog"):
        head, _ = page.ask("open", name=name, payload=(data / name).read_bytes())
        trace = el.analyze(data / name, report=False)
        found = samples(page, head["handle"], "connection_samples", "delivered_bytes")
        assert np.array_equal(np.sort(found), np.sort(trace.samples["delivered_bytes"].to_numpy()), equal_nan=True)
        assert len(found) > 1


def test_announced_bytes_must_come(page):
    page.number += 1
    page.socket.send(json.dumps({"id": page.number, "method": "open", "params": {}, "payload": 5}))
    page.socket.send(b"123")
    assert "3 bytes came; the request announces 5" in page.take()[0]["message"]
