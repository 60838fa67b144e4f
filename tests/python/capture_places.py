"""Forty simulated transfers, captured at the sender, in the middle and at the receiver, beside what the sender itself counted.

`python tests/python/capture_places.py --write` writes the table of docs/analyze.md again.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import elephan as el
from elephan.capture.limits import Limits, limits_of

PLACES = ("sender", "middle", "receiver")
PAGE = Path(__file__).parents[2] / "docs" / "analyze.md"
BEGIN, END = "<!-- places: written by tests/python/capture_places.py -->", "<!-- end of places -->"

_TEXT = """
duration = "8 s"
seed = 3
template = {{ kind = "dumbbell", pairs = 1, rate = "{rate}", delay = "{delay}", queue = {queue} }}
traffic = [{{ name = "transfer", from = "sender", to = "receiver", {traffic} }}]
[tcp]
{tcp}
[record]
captures = ["sender[0]", "receiver[0]", "left->right", "right->left"]
{more}
"""
_CHANGE = '[[change]]\nat = "{at}"\nset = {{ {set} }}\n'
_DOWN = '"links.left->right.up" = {0}, "links.right->left.up" = {0}'


def _fifo(limit: str) -> str:
    return f'{{ kind = "fifo", limit = "{limit}" }}'


def _link(set: str) -> str:
    return _CHANGE.format(at="50 ms", set=set)


def _outage(begin: str, end: str) -> str:
    return _CHANGE.format(at=begin, set=_DOWN.format("false")) + _CHANGE.format(at=end, set=_DOWN.format("true"))


def _scenario(
    *, rate: str = "20 Mbps", delay: str = "20 ms", queue: str = "", traffic: str = 'kind = "bulk"', tcp: str = "", more: str = ""
) -> str:
    return _TEXT.format(rate=rate, delay=delay, queue=queue or _fifo("1 bdp"), traffic=traffic, tcp=tcp, more=more)


def _controls() -> dict[str, str]:
    found = {}
    for control in ("reno", "cubic", "bbr"):
        for limit in ("10 p", "1 bdp", "1 MB"):
            found[f"{control}, queue of {limit}"] = _scenario(queue=_fifo(limit), tcp=f'congestion_control = "{control}"')
    return found


def _links() -> dict[str, str]:
    loss = '"links.left->right.loss" = {{ bernoulli = {} }}'
    found = {f"{share:.1%} lost".replace("%", " %"): _scenario(more=_link(loss.format(share))) for share in (0.001, 0.01, 0.05)}
    found["1 % lost, reno"] = _scenario(more=_link(loss.format(0.01)), tcp='congestion_control = "reno"')
    found["1 % lost, bbr"] = _scenario(more=_link(loss.format(0.01)), tcp='congestion_control = "bbr"')
    found["every hundredth lost"] = _scenario(more=_link('"links.left->right.loss" = { periodic = 100 }'))
    found["an outage of 1 s"] = _scenario(more=_outage("3 s", "4 s"))
    found["an outage of 3 s"] = _scenario(more=_outage("3 s", "6 s"))
    found["half the rate from 4 s on"] = _scenario(more=_CHANGE.format(at="4 s", set='"links.left->right.rate" = "10 Mbps"'))
    found["5 ms"] = _scenario(delay="5 ms")
    found["100 ms"] = _scenario(delay="100 ms")
    return found


def _queues() -> dict[str, str]:
    found = {kind: _scenario(queue=f'{{ kind = "{kind}" }}') for kind in ("codel", "pie", "fq_codel")}
    marks = '{ kind = "codel", ecn = true }'
    found["codel with ECN"] = _scenario(queue=marks, tcp='ecn = "classic"')
    found["dualpi2, prague with AccECN"] = _scenario(
        queue='{ kind = "dualpi2" }', tcp='congestion_control = "prague"\necn = "accurate"'
    )
    return found


def _ends() -> dict[str, str]:
    found = {f"receive buffer of {size}": _scenario(tcp=f'receive_buffer = "{size}"') for size in ("32 KB", "64 KB", "128 KB")}
    found["receive buffer of 64 KB, 5 ms"] = _scenario(delay="5 ms", tcp='receive_buffer = "64 KB"')
    found["receive buffer of 256 KB, 100 ms"] = _scenario(delay="100 ms", tcp='receive_buffer = "256 KB"')
    reader = '[hosts.receiver]\nreceive = { reader = "8 Mbps" }\n'
    found["a reader of 8 Mb/s"] = _scenario(more=reader)
    found["a reader of 2 Mb/s"] = _scenario(more=reader.replace("8", "2"))
    found["send buffer of 64 KB"] = _scenario(tcp='send_buffer = "64 KB"')
    found["Fast Open"] = _scenario(tcp='fast_open = "both"', traffic='kind = "bulk", fast_open = true')
    return found


def _applications() -> dict[str, str]:
    message = 'kind = "messages", size = "{}", gap = "{}"'
    found = {
        f"{size} each {gap}": _scenario(traffic=message.format(size, gap))
        for size, gap in (("20 KB", "50 ms"), ("100 KB", "400 ms"), ("2 KB", "20 ms"), ("500 KB", "1 s"))
    }
    found["20 KB each 50 ms, bbr"] = _scenario(traffic=message.format("20 KB", "50 ms"), tcp='congestion_control = "bbr"')
    found["100 KB each 400 ms, 1 % lost"] = _scenario(
        traffic=message.format("100 KB", "400 ms"), more=_link('"links.left->right.loss" = { bernoulli = 0.01 }')
    )
    return found


SCENARIOS: Mapping[str, str] = {**_controls(), **_links(), **_queues(), **_ends(), **_applications()}


@dataclass(frozen=True)
class Shares:
    """Shares of the time of a transfer: how long the receiver's window, and how long the application, held the sender back."""

    window: float
    application: float
    unknown: float


def merged(files: Sequence[Path], out: Path) -> Path:
    """Writes the packets of several pcapng files of elephan's in the order of their times (draft-ietf-opsawg-pcapng)."""
    head, interfaces, packets = b"", b"", []
    count = 0
    for file in files:
        data, at, first = file.read_bytes(), 0, count
        while at < len(data):
            kind, length = struct.unpack_from("<II", data, at)
            block = data[at : at + length]
            if kind == 0x0A0D0D0A:
                head = block
            elif kind == 1:
                interfaces, count = interfaces + block, count + 1
            elif kind == 6:
                interface, high, low = struct.unpack_from("<III", block, 8)
                packets.append((high << 32 | low, len(packets), block[:8] + struct.pack("<I", first + interface) + block[12:]))
            at += length
    out.write_bytes(head + interfaces + b"".join(block for _, _, block in sorted(packets)))
    return out


def _counted(run: el.Run) -> Shares:
    row = run.flows.to_pylist()[0]
    window, cwnd, sender = (row[f"snd_lim_time_{who}_ns"] for who in ("rwin", "cwnd", "snd"))
    whole = window + cwnd + sender
    return Shares(window / whole, sender / whole, 0.0)


def _told(file: Path) -> Shares:
    rows = el.analyze(file).connections.to_pylist()
    limits = limits_of(max(rows, key=lambda row: row["data_segs_out"] or 0))
    assert isinstance(limits, Limits)
    return Shares(limits.window + limits.closed, limits.idle, limits.unknown)


def measured(name: str, folder: Path) -> tuple[Shares, dict[str, Shares]]:
    """Returns what the sender of a scenario counted, and what captures at each place tell."""
    run = el.run(SCENARIOS[name], out=folder / "run", report=False)
    files = {file.stem: file for file in run.captures}
    middle = merged([files["left.to.right"], files["right.to.left"]], folder / "middle.pcapng")
    places = {"sender": files["sender[0]"], "middle": middle, "receiver": files["receiver[0]"]}
    return _counted(run), {place: _told(file) for place, file in places.items()}


def table() -> str:
    """The table of the page, in per cent."""
    lines = ["| transfer | counted | sender | middle | receiver |", "|---|---|---|---|---|"]
    for name in SCENARIOS:
        with TemporaryDirectory() as folder:
            counted, told = measured(name, Path(folder))
        cells = [f"{100 * one.window:.0f}, {100 * one.application:.0f}" for one in (counted, *told.values())]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    written = f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"
    if "--write" in sys.argv:
        PAGE.write_text(written, encoding="utf-8")
    elif written != text:
        sys.exit("docs/analyze.md: the table of places is old; write it with --write")


if __name__ == "__main__":
    main()
