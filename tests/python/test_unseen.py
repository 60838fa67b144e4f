"""Characters that command a terminal, hide, or turn a text around: they reach neither terminal nor page raw."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import elephan as el
import pytest
from elephan import cli

# ESC, CSI of C1, BEL, DEL, right-to-left override, isolate, zero-width space, line separator, byte order mark, a tag.
# Names of hosts, traffic and so on have letters, digits, _ and - only.
UNSEEN = "\x1b\x9b\x07\x7f\u202e\u2066\u200b\u2028\ufeff\U000e0041"
NAME = f"n{UNSEEN}e"


def quoted(text: str) -> str:
    """A text with all of it in TOML, which has no surrogate pairs."""
    return json.dumps(text + UNSEEN).replace("\\udb40\\udc41", "\\U000e0041")


TITLES = f"title={quoted('a')},{quoted('b')}"
SCENARIO = f"""# Look for: what \u202e\u200b hides
title = {quoted("t")}
question = {quoted("q")}
duration = "2 s"
[hosts.a]
[hosts.b]
[switches.s]
[[links]]
between = ["a", "s"]
rate = "100 Mbps"
delay = "1 ms"
[[links]]
between = ["s", "b"]
rate = "10 Mbps"
delay = "1 ms"
queue = {{ kind = "fifo", limit = "20 p" }}
[[traffic]]
kind = "bulk"
connections = 2
from = "a"
to = "b"
[record]
every = "20 ms"
"""


def raw(text: str) -> set[str]:
    return {letter for letter in text if letter not in "\n\t" and unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = Path("sc\x1b[31m\u202eario.toml")
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def pages(folder: Path) -> None:
    texts = [*folder.rglob("*.html"), *folder.rglob("*.svg")]
    assert texts
    for one in texts:
        text = one.read_text(encoding="utf-8")
        assert not raw(text), (one, raw(text))
        for series in re.findall(r'<script type="application/json" id="series">(.*?)</script>', text, re.DOTALL):
            assert not raw("".join(map(str, strings(json.loads(series)))))


def strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [one for key, inner in value.items() for one in (key, *strings(inner))]
    if isinstance(value, list):
        return [one for inner in value for one in strings(inner)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize(
    "words",
    [
        ("run", "FILE", "--out", "out"),
        ("run", "FILE", "--out", "out", "--json"),
        ("sweep", "FILE", "-s", TITLES, "-n", "2", "--out", "out"),
        ("sweep", "FILE", "-s", TITLES, "--out", "out", "--json"),
        ("compare", "reno,cubic", "--scenario", "FILE", "-n", "1", "--out", "out"),
        ("run", "FILE", "--out", f"out{UNSEEN}"),
        ("report", "FOLDER"),
        ("diff", "FOLDER", "FOLDER"),
    ],
)
def test_names_and_titles(file: Path, words: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    if "FOLDER" in words:
        assert cli.status_of(["run", str(file), "--out", f"first{UNSEEN}"]) == 0
        capfd.readouterr()
    words = tuple(str(file) if word == "FILE" else f"first{UNSEEN}" if word == "FOLDER" else word for word in words)
    assert cli.status_of(words) == 0
    out, err = capfd.readouterr()
    assert not raw(out + err), raw(out + err)
    if "--json" in words:
        assert json.loads(out)["name"].startswith("sc\x1b[31m\u202eario")
    if words[0] != "diff" and "--json" not in words:
        pages(Path())


def test_in_python(file: Path) -> None:
    run = el.run(file)
    assert run.title == "t" + UNSEEN
    assert not raw(repr(run))
    assert not raw(run._repr_html_())
    with pytest.raises(el.ElephanError) as caught:
        el.run(file, set={f"traffic[0].{UNSEEN}": 1})
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("kind", ["ss", "iperf"])
def test_logs(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    log = Path(f"l{UNSEEN}og.txt")
    if kind == "ss":
        state = "wscale:7,7 rto:204 rtt:1.5/0.7 mss:1448 cwnd:10 bytes_acked:{}\n"
        one = f"ESTAB 0 0 10.0.0.1:5001 10.0.0.2:5002\n\t cu\x1b[31mbic {state}"
        log.write_text("".join(f"{1700000000 + i}.0\n" + one.format(1000 * (i + 1)) for i in range(5)), encoding="utf-8")
    else:
        stream = {"socket": 5, "start": 0, "end": 1, "seconds": 1, "bytes": 1000, "bits_per_second": 8000.0, "rtt": 1000}
        interval = {"streams": [stream], "sum": stream}
        start = {"connected": [{"socket": 5, "local_host": NAME, "local_port": 1, "remote_host": NAME, "remote_port": 2}]}
        start |= {"version": f"iperf {UNSEEN}", "tcp_mss_default": 1448}
        log.write_text(json.dumps({"title": NAME, "start": start, "intervals": [interval], "end": {}}), encoding="utf-8")
    status = cli.status_of(["analyze", str(log), "--out", "out"])
    out, err = capfd.readouterr()
    assert not raw(out + err), raw(out + err)
    if status == 0:
        pages(Path("out"))
