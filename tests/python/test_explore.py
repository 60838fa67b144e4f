"""The server of `elephan explore`: its answers are the tables, and it is shut to strangers."""

import http.client
import json
import os
import re
import socket
from pathlib import Path

import elephan as el
import numpy as np
import pytest
from elephan.explore import server
from elephan.scenario.source import library
from pages import Failed, Page, array, served
from waiting import ANSWER_S, PATIENCE_S, end
from websockets.exceptions import ConnectionClosed, InvalidStatus

pytestmark = pytest.mark.alone  # how soon something answers is measured

SHORT = {"until_s": 12}
TEXT = library()["sawtooth"].path.read_text(encoding="utf-8")
# Longer than any test: 1 s takes about 0.1 s.
ENDLESS = TEXT.replace("60 s", "20000 s").replace("20 Mbps", "1 Gbps")


@pytest.fixture(scope="module")
def address():
    with served("sawtooth") as (found, _):
        yield found


@pytest.fixture
def page(address):
    with Page(address) as page:
        yield page


@pytest.fixture(scope="module")
def same():
    return el.run("sawtooth", set={"duration": "12 s"}, seed=1)


def line(page: Page, handle: int, **asked):
    head, body = page.ask("series", handle=handle, lines=[asked], points=10**6)
    one = head["lines"][0]
    return array(body, one["offset_t"], one["count"]), array(body, one["offset_y"], one["count"]), one


def test_series_are_the_tables_to_the_bit(page, same):
    handle = page.ask("run", text=TEXT, **SHORT)[0]["handle"]
    for table in ("flow_samples", "port_samples"):
        wanted = getattr(same, table)
        key = "flow" if table == "flow_samples" else "port"
        for column in wanted.schema.names:
            if not str(wanted.schema.field(column).type).startswith(("int", "double")):
                continue
            number = wanted[key][0].as_py()
            mask = wanted[key].to_numpy() == number
            t, y, head = line(page, handle, table=table, column=column, where={key: number})
            assert not head["thinned"]
            assert t.tobytes() == wanted["time_ns"].to_numpy()[mask].astype(float).tobytes()
            expected = wanted[column].to_numpy()[mask].astype(float)
            assert np.array_equal(y, expected, equal_nan=True), column


def test_rows_are_the_tables(page, same):
    handle = page.ask("run", text=TEXT, **SHORT)[0]["handle"]
    head, body = page.ask("rows", handle=handle, table="events", limit=10**6)
    assert head["count"] == head["of"] == same.events.num_rows > 0
    for column in head["columns"]:
        wanted = same.events[column["name"]]
        if column["type"] == "text":
            codes = array(body, column["offset"], head["count"], "<u4")
            assert [None if c == 2**32 - 1 else column["words"][c] for c in codes] == wanted.to_pylist()
        else:
            found = array(body, column["offset"], head["count"])
            assert np.array_equal(found, wanted.to_numpy().astype(float), equal_nan=True), column
    # The state at a time is the last row at or before it.
    head, body = page.ask("rows", handle=handle, table="port_samples", columns=["time_ns", "queue_bytes"], at_ns=3_025_000_000)
    assert set(array(body, head["columns"][0]["offset"], head["count"])) == {3_000_000_000.0}


def test_thinning_keeps_extremes(page):
    handle = page.ask("run", text=TEXT, **SHORT)[0]["handle"]
    asked = {"table": "flow_samples", "column": "cwnd_bytes", "where": {"flow": 0}}
    _, all_of_them, _ = line(page, handle, **asked)
    head, body = page.ask("series", handle=handle, lines=[asked], points=20)
    one = head["lines"][0]
    few = array(body, one["offset_y"], one["count"])
    assert one["thinned"]
    assert len(few) <= 40 < len(all_of_them)
    assert (np.nanmax(few), np.nanmin(few)) == (np.nanmax(all_of_them), np.nanmin(all_of_them))


def test_flows_ports_topology(page, same):
    handle = page.ask("run", text=TEXT, **SHORT)[0]["handle"]
    flows = page.ask("flows", handle=handle)[0]["value"]
    assert [(f["name"], f["congestion_control"], f["delivered_bytes"]) for f in flows] == [
        ("reno", "reno", same.flows["delivered_bytes"][0].as_py())
    ]
    ports = page.ask("ports", handle=handle)[0]["value"]
    assert [p["name"] for p in ports] == same.ports["name"].to_pylist()
    assert [p["drops"] for p in ports] == same.ports["drops"].to_pylist()
    drawn = page.ask("topology", handle=handle)[0]
    places = {node["name"]: node["x"] for node in drawn["nodes"]}
    assert places["sender[0]"] < places["left"] < places["right"] < places["receiver[0]"]
    assert [link["ports"] for link in drawn["links"]] == [[0, 1], [2, 3], [4, 5]]


def test_a_run_in_progress_is_seen_and_stopped(page):
    number = page.send("run", {"text": ENDLESS, "series": {"lines": [{"table": "flow_samples", "column": "cwnd_bytes"}]}})
    head, body = page.take()
    assert (head["kind"], head["share"] < 1) == ("piece", True), "of a run that goes on"
    handle = head["handle"]
    while not head["lines"][0]["count"]:
        head, body = page.take()
    seen = array(body, head["lines"][0]["offset_y"], head["lines"][0]["count"])
    page.send("cancel", {"id": number})
    while (head := page.take()[0])["kind"] == "piece" or head["id"] != number:
        pass
    assert (head["kind"], head["message"]) == ("error", "stopped")
    # What had come is still there, and more of it.
    _, after, _ = line(page, handle, table="flow_samples", column="cwnd_bytes")
    assert len(after) >= len(seen)
    assert np.array_equal(after[: len(seen)], seen)
    assert [flow["name"] for flow in page.ask("flows", handle=handle)[0]["value"]] == ["reno"]


def test_limits_end_a_run():
    with served("--limit", "1") as (address, _), Page(address) as page:
        with pytest.raises(Failed, match="the limit of 1 s of computing is reached"):
            page.ask("run", text=ENDLESS)
        with pytest.raises(Failed, match="at most 86400 s are simulated"):
            page.ask("run", text=TEXT.replace("60 s", "2 d"))


def test_edit_and_check(page):
    head, _ = page.ask("edit", text=TEXT, path="template.rate", value="50 Mbps")
    assert head["ok"]
    assert head["text"] == TEXT.replace('"20 Mbps"', '"50 Mbps"')
    head, _ = page.ask("check", text=TEXT.replace("rate  =", "rat  ="))
    assert not head["ok"]
    assert (head["errors"][0]["line"], head["errors"][0]["nearest"]) == (18, "rate")
    with pytest.raises(Failed, match=r'did you mean "template\.rate"') as error:
        page.ask("edit", text=TEXT, path="template.rat", value="50 Mbps")
    assert error.value.head["kind"] == "error"


def test_no_file_and_no_code_without_trust(page, tmp_path):
    replay = TEXT.replace('kind = "bulk"', 'kind = "replay"\nfile = "/etc/passwd"').replace('congestion_control = "reno"', "")
    with pytest.raises(Failed, match="start elephan explore with --trust"):
        page.ask("run", text=replay)
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    guest = TEXT.replace('"reno"\n\n', f'{{ python = "{tmp_path}/evil.py:Evil" }}\n\n')
    assert guest != TEXT
    with pytest.raises(Failed):
        page.ask("run", text=guest)
    assert not (tmp_path / "ran").exists()


def test_strangers_are_refused(address):
    host = address.removeprefix("http://").split("/")[0]
    for origin in (None, "http://evil.example", "null", f"https://{host}", f"http://{host}.evil.example"):
        with pytest.raises(InvalidStatus) as refused:
            Page(address, origin=origin)
        assert refused.value.response.status_code == 403
    with Page(address) as first:  # a second page is welcome
        assert first.ask("library")[0]["value"]
    for token in ("", "x", address.split("token=")[1][:-1], None, 5, ["a"]):
        stranger = Page(address)
        with pytest.raises(Failed, match="token"):
            stranger.ask("hello", token=token)
        with pytest.raises(ConnectionClosed):
            stranger.ask("library")
    unsaid = Page(address)
    with pytest.raises(Failed):
        unsaid.ask("library")


def reply(address: str, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    host = address.removeprefix("http://").split("/")[0]
    connection = http.client.HTTPConnection(host, timeout=PATIENCE_S)
    connection.request(method, path, headers={"Host": host, **headers})
    found = connection.getresponse()
    found.read()
    connection.close()
    return found


def test_hosts_methods_and_headers(address):
    assert reply(address, "/", Host="evil.example").status == 421
    assert reply(address, "/", Origin="http://evil.example").status == 403
    assert reply(address, "/", "POST").status == 405
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/no-such", "/assets/../../server.py"):
        assert reply(address, path).status in (404, 503), path
    page = reply(address, "/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"


def test_only_this_machine_is_listened_to(address):
    port = int(address.removeprefix("http://").split("/")[0].rpartition(":")[2])
    with socket.socket() as other:
        other.bind(("127.0.0.2", port))  # taken if the server listened to all addresses


def test_a_port_in_use_is_one_line():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(el.ElephanError, match=f"port {port} of 127.0.0.1: Address already in use; --port takes another"):
            server.listen("127.0.0.1", port)
    with pytest.raises(el.ElephanError, match="no such address"):
        server.listen("no.such.host.invalid", 0)


def test_ctrl_c_ends_it():
    with served() as (address, process), Page(address) as page:
        page.send("run", {"text": ENDLESS})
        page.take()
        used_s = end(process)[2]
        assert process.returncode == 0
        assert used_s < ANSWER_S


def test_names_stay_text(page):
    evil = "<script>alert(1)</script>"
    head, _ = page.ask("run", text=TEXT.replace("The sawtooth of Reno", evil), until_s=12)
    assert head["plan"]["title"] == evil
    with pytest.raises(Failed, match="a name has letters"):
        page.ask("run", text=TEXT.replace('name = "reno"', f'name = "{evil}"'))


def test_messages_that_are_none(page):
    for text in (
        "",
        "{",
        "[]",
        "5",
        '"x"',
        '{"id": 1}',
        '{"id": {}, "method": "library"}',
        json.dumps({"method": "run", "params": []}),
    ):
        page.socket.send(text)
        assert page.take()[0]["kind"] == "error", text
    page.socket.send(b"\x00\x01")
    assert "announces" in page.take()[0]["message"]
    assert page.ask("library")[0]["kind"] == "done"


def test_the_static_site_has_no_engine_and_no_token():
    with served("--wasm") as (address, _):
        assert "#" not in address
        assert "'wasm-unsafe-eval'" in reply(address, "/").headers["content-security-policy"]
        host = address.removeprefix("http://").strip("/")
        with pytest.raises((InvalidStatus, ConnectionClosed)), Page(f"http://{host}/#token=x") as page:
            page.ask("library")


def cpu_s(pid: int) -> float:
    """Returns the processor time that a process has used, which other processes of the machine do not lengthen."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
def test_a_zoom_over_a_million_rows_is_answered_within_100_ms():
    text = re.sub(r'every\s*=\s*"[^"]*"', 'every = "60 us"', TEXT)
    of_flow = ("delivered_bytes", "cwnd_bytes", "ssthresh_bytes", "srtt_ns", "inflight_bytes")
    asked = [
        {"table": "flow_samples", "column": name, "where": {"flow": 0}, "how": "rate" if name == "delivered_bytes" else "value"}
        for name in of_flow
    ]
    with served() as (address, process), Page(address) as page:
        handle = page.ask("run", text=text)[0]["handle"]
        ports = page.ask("ports", handle=handle)[0]["value"]
        port = next(one["port"] for one in ports if one["sampled"] and one["bottleneck"])
        asked.append({"table": "port_samples", "column": "queue_bytes", "where": {"port": port}})
        asked.append({"table": "events", "column": "packet_bytes", "where": {"kind": "drop", "port": port}})
        took = {}
        for name, width in {"whole": 60.0, "a tenth": 6.0, "1 s": 1.0, "10 ms": 0.01}.items():
            ends = {"from_ns": int((30 - width / 2) * 1e9), "to_ns": int((30 + width / 2) * 1e9)}
            head, _ = page.ask("series", handle=handle, lines=asked, points=900, **ends)
            assert head["lines"][0]["count"] >= 100
            before = cpu_s(process.pid)
            for _ in range(20):
                page.ask("series", handle=handle, lines=asked, points=900, **ends)
            took[name] = (cpu_s(process.pid) - before) / 20
        print({name: f"{1e3 * seconds:.1f} ms" for name, seconds in took.items()})
        assert max(took.values()) < 0.1
        assert took["1 s"] < 0.03
