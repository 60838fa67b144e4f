"""What `elephan explore` takes as its argument, and what it says of everything else before a server starts."""

import gzip
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import elephan as el
import pytest
from elephan import InputError
from elephan.explore.start import start
from elephan.scenario.source import library

DATA = Path(__file__).parent / "data"
TAKES = "; explore takes a scenario, the folder of a result or a store, a capture, or a log of iperf3, ss, Flent or QUIC (qlog)"
GENTLE = Path(__file__).parents[2] / "docs/examples/gentle.py"


def test_scenarios_logs_results_and_captures_are_taken(tmp_path):
    text = library()["sawtooth"].path.read_text(encoding="utf-8")
    assert start("sawtooth", False).scenario == {"name": "sawtooth", "text": text}
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace("20 Mbps", "20 Mpbs"), encoding="utf-8")  # the page shows the line of the error
    assert start(str(mine), False).scenario["name"] == "mine"
    mine.write_text("[template\n", encoding="utf-8")
    assert start(str(mine), False).scenario == {"name": "mine", "text": "[template\n"}
    table = tmp_path / "table.json"
    table.write_text(json.dumps(tomllib.loads(text)), encoding="utf-8")
    shown = start(str(table), False).scenario["text"]
    assert el.run(shown).summary == el.run("sawtooth").summary
    run = el.run("sawtooth", set={"duration": "2 s", "warmup": "0 s"}, pcap=True, out=tmp_path / "run", report=False)
    assert run.summary["packet_hops"] > 0
    capture = next((tmp_path / "run").glob("**/*.pcapng"))
    (packed := tmp_path / "packed.gz").write_bytes(gzip.compress(capture.read_bytes()))
    logs = [DATA / name for name in ("iperf3.json", "ss.log", "rrul.flent", "server.qlog")]
    for path in (tmp_path / "run", capture, packed, *logs):
        assert start(str(path), False).load == str(path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with files that are none of what explore takes."""
    monkeypatch.chdir(tmp_path)
    made = {
        "gentle.py": GENTLE.read_bytes(),
        "plain.py": b"print(1)\n",
        "empty": b"",
        "noise": bytes(range(256)) * 40,
        "a.png": b"\x89PNG\r\n\x1a\n\0\0",
        "a.html": b"<html>hi</html>",
        "zipped.html.gz": gzip.compress(b"<html>hi</html>"),
        "damaged.gz": b"\x1f\x8bxx",
        "a.json": b'{"a": 1}',
        "other.toml": b"x = 1\n",
        "latin.txt": "naïve".encode("latin-1"),
        "mine/study.toml": b'name = "mine"\n[axes]\n',
        "results/one/manifest.json": b"{}",
        "results/one/figures/a.svg": b"<svg/>",
        "nothing/x": b"",
    }
    for name, data in made.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


@pytest.mark.parametrize(
    ("what", "words"),
    {
        "gentle.py": f"a Python program{TAKES}; Gentle is a congestion control: elephan conformance gentle.py:Gentle checks it,"
        " and a scenario names it by congestion_control",
        "plain.py": f"a Python program{TAKES}; python plain.py runs it",
        "empty": f"an empty file{TAKES}",
        "noise": f"not text{TAKES}",
        "a.png": f"a picture{TAKES}",
        "a.html": f"a page in HTML{TAKES}",
        "zipped.html.gz": f"none of what the page shows{TAKES}",
        "damaged.gz": "zlib inflate failed: unknown compression method",
        "a.json": f"none of what the page shows{TAKES}",
        "other.toml": f"none of what the page shows{TAKES}",
        "latin.txt": f"none of what the page shows{TAKES}",
        "mine/study.toml": f"none of what the page shows{TAKES}; elephan study run mine runs the study",
        "results": "a folder without manifest.json and store.json; name one in it: results/one",
        "results/one/figures/a.svg": f"a picture{TAKES}; this is a part of a result: elephan explore results/one",
        "nothing": f"a folder without manifest.json and store.json{TAKES}",
        "pipe": "is no regular file",
        "nope.toml": "No such file or directory",
    }.items(),
)
def test_everything_else_is_one_line_with_what_helps(folder, what, words):
    with pytest.raises(InputError) as error:
        start(what, False)
    assert str(error.value) == f"{what}: {words}"


def test_the_command_ends_before_a_server_starts(folder):
    told = subprocess.run(
        [sys.executable, "-m", "elephan", "explore", "gentle.py", "--no-open"], capture_output=True, text=True, timeout=60
    )
    assert told.returncode == 2
    assert told.stdout == ""
    assert told.stderr.count("\n") == 1
    assert "elephan conformance gentle.py:Gentle" in told.stderr
    with pytest.raises(InputError, match=r"results/one/manifest\.json"):
        start("results/one", False)
