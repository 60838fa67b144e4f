"""Disks and transfer programs: the points of their experiments, and their figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.base.quantity import show
from elephan.experiment.claims import interval_text
from elephan.experiment.study import Point, Results
from elephan.report.figure import draw as d
from elephan.report.figure.declared.copy import STAGES
from elephan.report.page.page import Cell, Column, Table
from elephan.report.style import BLUE, GREEN, INK, MUTED, VERMILLION, Drawing, new_figure
from elephan.step.disk import Disk
from elephan.studies.ucl_2004.common import NAMES, PAINT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ARRAYS = (
    "icp-33x4",
    "icp-66x4",
    "3ware-ata-33x4",
    "3ware-ata-66x4",
    "3ware-ata-33x8",
    "3ware-ata-66x8",
    "3ware-sata-66x4",
    "3ware-sata-66x8",
)
LEVELS = ("raid0", "raid5")
WAYS = {"read": "source", "write": "sink"}
# Windows of Linux 2.4 in pages of 4 KiB: 31 is its default, the others are about the powers of two that it was tuned to.
PAGES = (3, 7, 15, 31, 63, 127, 255, 511, 1200)
TUNED = ("icp-66x4", "3ware-ata-66x4", "3ware-ata-66x8")
PROGRAMS: dict[str, dict[str, Any]] = {
    "bbcp, 1 stream": {"traffic.copy.program": "bbcp", "traffic.copy.streams": 1},
    "bbcp, 4 streams": {"traffic.copy.program": "bbcp", "traffic.copy.streams": 4},
    "GridFTP, MODE S": {"traffic.copy.program": "gridftp", "traffic.copy.streams": 1, "traffic.copy.mode": "s"},
    "GridFTP, MODE E, 4 streams": {"traffic.copy.program": "gridftp", "traffic.copy.streams": 4, "traffic.copy.mode": "e"},
}
WINDOWS = ("64 kB", "128 kB", "256 kB", "600 kB", "1 MB", "4 MB")
CONTROLLERS = ("reno", "scalable", "highspeed", "htcp")
WIDTHS = (6.0, 4.2, 2.6, 1.1)  # of lines that lie on each other
RTT_S = 0.006
LINE_BPS = 1e9 * 1448 / 1538  # payload of 1 Gb/s
SUSTAINED_BPS = 538e6  # RAID 5 on the ICP controller, written: the least of the stages


def arrays() -> Iterator[Point]:
    """Each array, level and way: the end that is measured has the disk, written through."""
    for array in ARRAYS:
        for level in LEVELS:
            for way, host in WAYS.items():
                disk = {"profile": array, "raid": level, "cache": "0 B"}
                yield Point(f"{array} {level} {way}", {f"hosts.{host}.disk": disk})


def windows() -> Iterator[Point]:
    """RAID 5 read with each read-ahead window."""
    for array in TUNED:
        for pages in PAGES:
            disk = {"profile": array, "raid": "raid5", "block": "4 KiB", "read_ahead": f"{pages * 4} KiB"}
            yield Point(f"{array} {pages}", {"hosts.source.disk": disk}, pages * 4096.0)


def programs() -> Iterator[Point]:
    """The programs of the slide."""
    for label, settings in PROGRAMS.items():
        yield Point(label, settings)


def buffers() -> Iterator[Point]:
    """Socket buffers."""
    for window in WINDOWS:
        number, unit = window.split()
        yield Point(window, {"traffic.copy.window": window}, float(number) * {"kB": 1e3, "MB": 1e6}[unit])


def _ticks(axes: Axes, unit: float, places: Sequence[float], label: str) -> None:
    """A logarithmic axis with a tick at each point that was run."""
    axes.set_xscale("log")
    axes.set_xticks([place / unit for place in places], [f"{place / unit:g}" for place in places])
    axes.minorticks_off()
    axes.set_xlabel(label)


def _rate(results: Results, experiment: str, variant: str, statistic: str = "copy_bps.sum") -> float:
    return results.interval(experiment, variant, statistic).mean


def answer(results: Results) -> str:
    """The sentence of the disks, with its numbers."""
    sockets = results.interval("socket-buffer", "reno/600 kB", "copy_bps.sum")
    long = results.interval("programs", "bbcp, 1 stream/600 kB", "copy_on_disk_bps.sum")
    small = results.interval("programs", "bbcp, 1 stream/64 kB", "copy_bps.sum")
    if not sockets.n or not long.n:
        return ""
    tail = f", with sockets of 64 kB at {interval_text(small, 'bps', 3)}" if small.n else ""
    return (
        f"Over MB-NG one stream with sockets of 600 kB carries {interval_text(sockets, 'bps', 3)} whatever the stack, the "
        f"slide's limit of about 800 Mb/s; from RAID 5 to RAID 5 a file that the sink's cache does not hold comes to its disks at "
        f"{interval_text(long, 'bps', 3)}, because these write 538 Mb/s{tail}."
    )


def raid_table(results: Results) -> Table:
    """Measured rates through the pipeline, and what RAID arithmetic makes of the same disks."""
    columns = [
        Column("array"),
        *(Column(f"{'RAID 0' if level == 'raid0' else 'RAID 5'} {way}", True) for level in LEVELS for way in WAYS),
    ]
    rows = []
    for array in ARRAYS:
        cells = [Cell(array)]
        for level in LEVELS:
            for way in WAYS:
                rate = _rate(results, "raid", f"{array} {level} {way}")
                arithmetic = _arithmetic(array, level, way)
                text = "n/a" if np.isnan(rate) else show(round(rate * 1e-6), "1", 9)
                numbers = {"copy": rate, "arithmetic": arithmetic}
                cells.append(Cell(text, more=f"arithmetic {show(round(arithmetic * 1e-6), '1', 9)}", numbers=numbers, unit="bit/s"))
        rows.append(cells)
    note = (
        "Mb/s through a copy over 10 Gb/s; the slides' figures are the model's input, so that their return shows that nothing else "
        "in the pipeline limits. Below each: RAID arithmetic for disks of a quarter of the RAID 0 read rate of the controller with "
        "four of them (writes of RAID 5 as whole stripes): what the controllers do not reach."
    )
    return Table(columns, rows, note)


def _arithmetic(array: str, level: str, way: str) -> float:
    """n disks of a quarter of what four of them read on this controller."""
    four = array[:-1] + "4"
    disk = Disk(disks=int(array[-1]), disk_rate=Disk(profile=four, raid="raid0").read_rate / 4, raid=level)
    return float(disk.read_rate if way == "read" else disk.write_rate)


def read_ahead(results: Results) -> Drawing:
    """Throughput against max-readahead."""
    fig, (axes,) = new_figure(height=3.0)
    top = 0.0
    for array, color in zip(TUNED, (BLUE, VERMILLION, INK), strict=True):
        points = [(p.value, _rate(results, "read-ahead", p.label)) for p in windows() if p.label.rsplit(" ", 1)[0] == array]
        points = [(x, y) for x, y in points if not np.isnan(y)]
        if points:
            x, y = np.asarray(points).T
            top = max(top, float(y.max()))
            axes.plot(x / 4096, y * 1e-6, "o-", color=color, markersize=4, linewidth=1.2, label=array)
    axes.set_ylim(0, top * 1.15e-6 or 1)
    axes.axvline(31, color=MUTED, linewidth=0.9, dashes=(2, 2))
    axes.annotate("default of Linux 2.4", (31, 0), xytext=(4, 6), textcoords="offset points", fontsize=8, color=MUTED)
    _ticks(axes, 1, PAGES, "max-readahead, pages of 4 KiB")
    d.heading(axes, "RAID 5 read", "Mb/s")
    d.legend(axes, loc="upper left")
    caption = "1/R(A) = 1/R + L/A with R the table's rate and L = 1 ms a request (assumed): the slide's own figure did not survive."
    return Drawing("read-ahead", "Throughput against read-ahead", caption, fig)


def programs_figure(results: Results) -> Drawing:
    """bbcp and GridFTP with each socket buffer, into the cache and onto the disk."""
    fig, panes = new_figure(1, 2, height=3.2, sharey=True)
    for axes, statistic, title in zip(
        panes, ("copy_cached_bps.sum", "copy_on_disk_bps.sum"), ("into the sink's cache", "onto the sink's disks"), strict=True
    ):
        for (label, settings), color, width in zip(PROGRAMS.items(), (INK, BLUE, VERMILLION, GREEN), WIDTHS, strict=True):
            found = [(p.value, _rate(results, "programs", f"{label}/{p.label}", statistic)) for p in buffers()]
            points = np.asarray([(x, y) for x, y in found if not np.isnan(y)]).reshape(-1, 2)
            if not points.size:
                continue
            style: dict[str, Any] = {"color": color, "markersize": 2 + width, "linewidth": width, "label": label}
            axes.plot(points[:, 0] * 1e-3, points[:, 1] * 1e-6, "o-", **style)
            streams = int(settings["traffic.copy.streams"])
            x = np.geomspace(60e3, 4.2e6, 80)
            most = np.minimum(streams * x * 8 / RTT_S, LINE_BPS)
            axes.plot(x * 1e-3, most * 1e-6, color=MUTED, linewidth=0.7, zorder=0)
        _ticks(axes, 1e3, [point.value for point in buffers()], "socket buffer, kB")
        axes.set_ylim(0, 1050)
        d.heading(axes, title, "Mb/s")
        d.reference(axes, SUSTAINED_BPS * 1e-6, "RAID 5 write: 538", "right")
    d.legend(panes[0], loc="lower right", bbox_to_anchor=None)
    caption = (
        "A file of 1 GB from the 3ware to the ICP array over MB-NG. Grey: n B / R, or the line. A single stream needs 600 kB for "
        "the slide's 800 Mb/s; the disks that are written sustain 538 Mb/s whatever the sockets."
    )
    return Drawing("programs", "bbcp and GridFTP over MB-NG", caption, fig)


def limits_table(results: Results) -> Table:
    """What each copy waited for."""
    columns = [Column("program"), *(Column(window, True) for window in WINDOWS)]
    rows = []
    for label in PROGRAMS:
        cells = [Cell(label)]
        for window in WINDOWS:
            shares = {s: _rate(results, "programs", f"{label}/{window}", f"copy_{s}_limited.mean") for s in STAGES}
            known = {s: share for s, share in shares.items() if not np.isnan(share)}
            if not known:
                cells.append(Cell("n/a"))
                continue
            first = max(known, key=lambda s: known[s])
            cells.append(Cell(STAGES[first][0], more=f"{show(known[first], '%', 2)} of the time"))
        rows.append(cells)
    return Table(columns, rows, "The stage that the others waited for longest, from the start until the last byte is on the disk.")


def stacks(results: Results) -> Drawing:
    """Socket buffers and congestion controls."""
    fig, (axes,) = new_figure(height=3.0)
    for controller, width in zip(CONTROLLERS, WIDTHS, strict=True):
        found = [(p.value, _rate(results, "socket-buffer", f"{controller}/{p.label}")) for p in buffers()]
        points = np.asarray([(x, y) for x, y in found if not np.isnan(y)]).reshape(-1, 2)
        style: dict[str, Any] = {
            "color": PAINT[controller],
            "markersize": 2 + width,
            "linewidth": width,
            "label": NAMES[controller],
        }
        axes.plot(points[:, 0] * 1e-3, points[:, 1] * 1e-6, "o-", **style)
    x = np.geomspace(60e3, 4.2e6, 80)
    axes.plot(x * 1e-3, np.minimum(x * 8 / RTT_S, LINE_BPS) * 1e-6, color=MUTED, linewidth=0.9, dashes=(3, 2), zorder=0)
    _ticks(axes, 1e3, [point.value for point in buffers()], "socket buffer, kB")
    axes.set_ylim(0, 1050)
    d.heading(axes, "one stream, no disks", "Mb/s")
    d.legend(axes, loc="lower right", bbox_to_anchor=None)
    caption = "Dashed: B / R, or the line. Below the BDP of 750 kB the congestion control never matters: no packet is lost."
    return Drawing("socket-buffer", "Socket buffers and stacks", caption, fig)


def example(results: Results) -> list[Drawing]:
    """The single bbcp stream over time."""
    from elephan.report.figure.run_figures import draw

    found = results.runs("copy-example", "bbcp, 1 stream")
    return [draw(found[0], "copy")] if found else []
