"""Every Python block of README and docs runs, and so does every `elephan` line of their shell blocks.

The blocks of a page run one after the other, in one namespace that knows `el`, in a folder with what the pages name: first.toml
(README's first scenario), a capture, a log, congestion controls, networks to import. A block below
`<!-- not run: why -->` is left out. Lines of
commands that take minutes are run by `make test-all`, panels of `compare` as quick ones. Other programs than elephan are not run,
and of `make` the target must be there.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan import cli
from segments import Capture

ROOT = Path(__file__).parents[2]
FOLDERS = ("", "models", "how-to", "explanation")  # tutorials are run by test_book.py
PAGES = [ROOT / "README.md", *(page for folder in FOLDERS for page in sorted((ROOT / "docs" / folder).glob("*.md")))]
BLOCK = re.compile(r"(?:<!-- not run: (?P<why>[^>]+) -->\n+)?^```(?P<language>\w*)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?(elephan .*|make .*)$", re.MULTILINE)
SLOW = ("compare", "conformance", "path", "bench")
ELSEWHERE = ("study",)  # test_full_study.py runs whole studies
MINE = """import elephan as el


class Mine(el.CongestionControl):
    def __init__(self, share=0.5):
        self.share = share

    def on_round(self, round):
        self.cwnd += self.share * self.mss
"""


@dataclass(frozen=True)
class Block:
    page: Path
    language: str
    text: str
    why_not: str


def _blocks(page: Path) -> list[Block]:
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(page, one["language"], one["text"], one["why"] or "") for one in found]


def _lines(page: Path) -> list[str]:
    shells = [one.text for one in _blocks(page) if one.language in ("", "sh") and not one.why_not]
    return [line for text in shells for line in LINE.findall(text)]


def _python(page: Path) -> list[str]:
    return [one.text for one in _blocks(page) if one.language == "python" and not one.why_not]


def _is_slow(line: str) -> bool:
    return line.split()[1] in SLOW


def _param(page: Path, slow: bool = False) -> Any:
    """A page for a test: how-to guides have many commands and are run by `make test-all`."""
    return pytest.param(page, marks=[pytest.mark.slow] if slow or page.parent.name == "how-to" else [], id=_name(page))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the pages name."""
    place = tmp_path_factory.mktemp("docs")
    (first,) = (one.text for one in _blocks(ROOT / "README.md") if one.language == "toml")
    (place / "first.toml").write_text(first)
    (place / "mine.py").write_text(MINE)
    transfer = Capture(hosts=("192.0.2.1", "198.51.100.2"))
    for port in range(40_000, 40_005):
        transfer.ports = (port, 443)
        transfer.handshake(seq=1000)
        transfer.exchange(1.1, 1001, 700 if port == 40_000 else 20)
    transfer.frames.sort(key=lambda frame: frame[0])
    half = len(transfer.frames) // 2
    transfer.write(place / "transfer.pcapng")
    transfer.write(place / "sender.pcap")
    Capture(frames=[(at + 0.005, *rest) for at, *rest in transfer.frames]).write(place / "receiver.pcap")
    Capture(frames=transfer.frames[:half]).write(place / "ring_1.pcap")
    Capture(frames=transfer.frames[half:]).write(place / "ring_2.pcap")
    for name in ("iperf3.json", "ss.log", "ping.log", "rrul.flent", "server.qlog", "client.qlog"):
        shutil.copy(ROOT / "tests" / "python" / "data" / name, place / name)
    shutil.copytree(ROOT / "docs" / "examples" / "import", place, dirs_exist_ok=True)
    if shutil.which("cc"):
        subprocess.run(["cc", "-o", place / "aimd", ROOT / "docs" / "examples" / "pipe" / "aimd.c"], check=True, timeout=60)
    (place / "tests").symlink_to(ROOT / "tests")
    el.run("sawtooth", set={"duration": "30 s"}, out=place / "results" / "long-fat-1")
    return place


@pytest.fixture
def folder(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    shutil.copytree(prepared, tmp_path / "here", symlinks=True)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.syspath_prepend(tmp_path / "here")
    return tmp_path / "here"


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _run(lines: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    for line in lines:
        _, *words = shlex.split(line, comments=True)
        files = [[str(path) for path in sorted(Path().glob(word))] if "*" in word else [word] for word in words]
        quick = ["--quick"] if words[0] == "compare" and "--scenario" not in words else []
        status = cli.status_of([*(word for some in files for word in some), *quick])
        expected = (0, 1) if words[0] == "conformance" else (0,)  # 1: the class of the docs fails a check
        assert status in expected, f"{line}\n{capfd.readouterr().err}"


def test_the_blocks_are_found() -> None:
    assert len([line for page in PAGES for line in _lines(page)]) > 30
    assert len([text for page in PAGES for text in _python(page)]) > 10


def test_each_block_that_does_not_run_says_why() -> None:
    left_out = [one.why_not for page in PAGES for one in _blocks(page) if one.why_not]
    assert all(len(why.split()) > 2 for why in left_out)
    assert len(left_out) < 7


@pytest.mark.parametrize("page", [page for page in PAGES if any(line.startswith("make") for line in _lines(page))], ids=_name)
def test_make_targets_are_there(page: Path) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert [line for line in _lines(page) if line.startswith("make") and line.split()[1] not in targets] == []


WHOLE = re.compile(r"el\.(compare|conformance|path)\(")
PYTHON = [_param(page, WHOLE.search("".join(_python(page))) is not None) for page in PAGES if _python(page)]


@pytest.mark.filterwarnings("error::elephan._renamed.Renamed")
@pytest.mark.parametrize("page", PYTHON)
def test_python_blocks_run(page: Path, folder: Path) -> None:
    names = {"el": el, "__name__": "docs"}
    for text in _python(page):
        exec(compile(text, page.name, "exec"), names)


def _of_elephan(page: Path, slow: bool) -> list[str]:
    lines = [line for line in _lines(page) if line.startswith("elephan") and line.split()[1] not in ELSEWHERE]
    return [line for line in lines if _is_slow(line) == slow]


@pytest.mark.parametrize("page", [_param(page) for page in PAGES if _of_elephan(page, False)])
def test_shell_blocks_run(page: Path, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _run(_of_elephan(page, False), capfd)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if _of_elephan(page, True)], ids=_name)
def test_long_shell_blocks_run(page: Path, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _run(_of_elephan(page, True), capfd)
