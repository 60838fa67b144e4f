"""The engine in WebAssembly: its tables are those of the native one to the bit, and whatever goes wrong is one message.

`make web` builds it; where it was not built, or there is no Node, these tests are skipped.
"""

import base64
import gzip
import json
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from elephan.explore import server
from elephan.explore.engine import Engine
from elephan.scenario.source import library

ROOT = Path(__file__).parents[2]
WASM = server.WASM / "elephan.wasm"
pytestmark = [
    pytest.mark.skipif(not WASM.is_file(), reason="make web has not built the engine"),
    pytest.mark.skipif(shutil.which("node") is None, reason="no Node"),
]
# A run of more simulated time than this has nothing new for a comparison.
LONGEST_S = {"long-fat": 20.0, "sack-processing": 15.0}
QUICK = ("sawtooth", "incast", "qcn-hotspot", "short-flows", "udp-burst", "disk-to-disk", "pcp-start")


def in_wasm(requests: list[dict[str, Any]], *words: str) -> list[dict[str, Any]]:
    """Returns what the engine in WebAssembly answers, in Node."""
    command = ["node", str(ROOT / "tests/wasm/requests.mjs"), str(WASM), *words]
    done = subprocess.run(command, input=json.dumps(requests), capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Native:
    """The same desk in this process."""

    def __init__(self) -> None:
        self.engine = Engine({})

    def ask(self, method: str, params: dict[str, Any], payload: bytes = b"") -> tuple[dict[str, Any], bytes]:
        frames: list[bytes] = []
        request = json.dumps({"id": 1, "method": method, "params": params}).encode()
        self.engine.desk.serve(request, payload, lambda frame: frames.append(frame) or True, self.engine.token())
        length = struct.unpack("<I", frames[-1][:4])[0]
        return json.loads(frames[-1][4 : 4 + length]), frames[-1][4 + length :]


def same_tables(texts: dict[str, str]) -> dict[str, float]:
    """Runs scenarios in both engines and compares every column; returns the ratio of their times."""
    asked: list[dict[str, Any]] = []
    for name, text in texts.items():
        params = {"text": text, "handle": 1} | ({"until_s": LONGEST_S[name], "warmup_s": 0} if name in LONGEST_S else {})
        asked += [{"method": "run", "params": params}, {"method": "digests", "params": {"handle": 1}}]
    found, native, ratios = in_wasm(asked), Native(), {}
    for place, name in enumerate(texts):
        run, digests = found[2 * place], found[2 * place + 1]
        here, _ = native.ask("run", asked[2 * place]["params"])
        assert run["head"]["kind"] == here["kind"] == "done", (name, run["head"], here)
        assert run["head"]["digest"] == here["digest"], name
        assert run["head"]["summary"] == here["summary"], name
        expected, _ = native.ask("digests", {"handle": 1})
        tables = {key: value for key, value in digests["head"].items() if key != "id"}
        assert sum(table["rows"] for table in tables.values() if isinstance(table, dict)) > 0, name
        for table, columns in tables.items():
            assert columns == expected[table], (name, table)
        ratios[name] = run["head"]["wall_s"] / here["wall_s"]
    return ratios


def test_tables_are_the_same_to_the_bit():
    entries = library()
    same_tables({name: entries[name].path.read_text(encoding="utf-8") for name in QUICK})


@pytest.mark.slow
def test_every_scenario_has_the_same_tables():
    texts = {name: entry.path.read_text(encoding="utf-8") for name, entry in library().items()}
    golden = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests/golden").glob("*.toml"))}
    assert len(golden) >= 4
    ratios = same_tables(texts | golden)
    print({name: round(ratio, 2) for name, ratio in ratios.items()})


def test_answers_are_the_same():
    text = library()["sawtooth"].path.read_text(encoding="utf-8")
    line = {"table": "flow_samples", "column": "cwnd_bytes", "where": {"flow": 0}}
    asked = [
        {"method": "run", "params": {"text": text, "handle": 1}},
        {
            "method": "series",
            "params": {"handle": 1, "lines": [line, line | {"how": "rate", "column": "delivered_bytes"}], "points": 50},
        },
        *({"method": method, "params": {"handle": 1}} for method in ("flows", "ports", "topology", "events")),
        {"method": "why", "params": {"handle": 1, "flow": 0}},
        {"method": "packets", "params": {"handle": 1, "flow": 0, "from_ns": 0, "to_ns": 400_000_000}},
        {"method": "check", "params": {"text": text.replace("rate  =", "rat  =")}},
        {"method": "edit", "params": {"text": text, "path": "template.rate", "value": "5 Mbps"}},
        {"method": "library", "params": {}},
    ]
    native = Native()
    for request, found in zip(asked, in_wasm(asked, "bodies"), strict=True):
        head, body = native.ask(request["method"], request["params"])
        for one in (head, found["head"]):
            for changing in ("id", "wall_s"):
                one.pop(changing, None)
        assert found["head"] == head, request["method"]
        assert base64.b64decode(found["body"]) == body, request["method"]


def test_a_capture_is_read_in_the_page(tmp_path):
    import elephan as el

    el.run("sawtooth", set={"duration": "12 s"}, out=tmp_path / "run", pcap=True)
    capture = next((tmp_path / "run").rglob("sender*.pcapng")).read_bytes()
    asked = [
        {
            "method": "open",
            "params": {"name": "sender.pcapng", "handle": 1},
            "payload": base64.b64encode(gzip.compress(capture)).decode(),
        },
        {"method": "flows", "params": {"handle": 1}},
        {"method": "digests", "params": {"handle": 1}},
        {"method": "open", "params": {"name": "x.txt"}, "payload": base64.b64encode(b"no capture").decode()},
    ]
    found, native = in_wasm(asked), Native()
    head, _ = native.ask("open", asked[0]["params"], gzip.compress(capture))
    assert found[0]["head"]["summary"] == head["summary"]
    assert found[0]["head"]["summary"]["tcp_segments"] > 1000
    assert found[1]["head"]["value"] == native.ask("flows", {"handle": 1})[0]["value"]
    assert found[2]["head"]["connections"] == native.ask("digests", {"handle": 1})[0]["connections"]
    assert found[3]["head"]["message"] == "x.txt: not a capture: neither pcap nor pcapng"


def test_what_goes_wrong_is_one_message():
    text = library()["sawtooth"].path.read_text(encoding="utf-8")
    guest = text.replace('"reno"\n\n', '{ python = "evil.py:Evil" }\n\n')
    replay = text.replace('kind = "bulk"', 'kind = "replay"\nfile = "/etc/passwd"').replace('congestion_control = "reno"', "")
    asked = [
        {"method": "run", "params": {"text": guest}},
        {"method": "run", "params": {"text": replay}},
        {"method": "nope", "params": {}},
        {"method": "run", "params": {"text": text, "until_s": 12}},
    ]
    found = in_wasm(asked)
    for one in found[:-1]:
        assert one["head"]["kind"] in ("error", "trap"), one
        assert one["head"]["message"], one
        assert "\n" not in one["head"]["message"]
    assert "a page reads no files" in found[1]["head"]["message"]
    assert found[-1]["head"]["kind"] == "done"


@pytest.mark.slow
def test_more_rows_than_memory_are_one_message():
    text = library()["sawtooth"].path.read_text(encoding="utf-8")
    # 64 flows sampled each 200 us: more than the limit of tables after about 16 of 100 s.
    flood = text.replace('"50 ms"', '"200 us"').replace("60 s", "100 s").replace("pairs = 1", "pairs = 64")
    short = {"text": text, "until_s": 12}
    found = in_wasm([{"method": "run", "params": {"text": flood}}, {"method": "run", "params": short}])
    assert "the limit of 1024 MB of tables is reached" in found[0]["head"]["message"]
    assert found[1]["head"]["kind"] == "done"


def test_the_engine_is_small():
    assert len(gzip.compress(WASM.read_bytes())) < 2_700_000
