"""What the figure that a scenario chose says in words: the answer to its question, where the figure has one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from elephan.base.errors import InputError
from elephan.base.quantity import counted, show
from elephan.report.words.view import View, arrow
from elephan.table.burst import read_burst
from elephan.table.rows import Array, column, texts
from elephan.table.steps import find_step, path_ports
from elephan.theory import closed as theory

TOOTH = 10  # samples from a cut to the next, with fewer of which the swing of a window is not seen
ALIKE = 0.8  # correlation from which one line is said to follow another


def words(view: View) -> str:
    """One or two sentences; nothing where the run does not have what they are about."""
    say = WORDS.get(view.run.curated_figure)
    try:
        return say(view) if say else ""
    except (InputError, KeyError, ValueError):
        return ""


def _count(number: int) -> str:
    return show(float(number), "1", 9)


def burst(view: View) -> str:
    """Which packets of a burst were lost, and what that says about the memory."""
    reading = read_burst(view.run)
    if reading.first_lost is None:
        least = f": the memory is at least {show(reading.reached_bytes, 'bytes')}" if not math.isnan(reading.reached_bytes) else ""
        return f"All {_count(reading.packets)} packets came{least}."
    memory = f": {show(reading.memory_bytes, 'bytes')} of memory" if not math.isnan(reading.memory_bytes) else ""
    apart = f"Packets came {show(reading.spacing_s, 's')} apart, were sent {show(reading.gap_s, 's')} apart."
    return (
        f"The first packet lost is number {_count(reading.first_lost)}{memory}. Of those after it "
        f"{show(reading.lost_share, '%')} are lost, {_count(reading.lost)} in all."
    ) + (f" {apart}" if not math.isnan(reading.spacing_s) else "")


def _forbidden_area(view: View) -> str:
    step = find_step(view.run)
    if step is None:
        return ""
    needed = theory.memory_needed(step.fast_bps, step.slow_bps, step.rtt_s)
    names = texts(view.run.ports, "name")
    lost = int(column(view.run.ports, "drops")[names.index(step.port)])
    verdict = "forbidden" if needed > step.memory_bytes else "allowed"
    area = theory.forbidden_area(step.fast_bps, step.memory_bytes, step.rtt_s)
    others = ""
    if area and verdict == "forbidden":
        others = f"; at this round trip {show(area[0], 'bps')} to {show(area[1], 'bps')} are"
    return (
        f"{show(step.slow_bps, 'bps', 5)} is {verdict}{others}: a window for {show(step.rtt_s, 's')} that leaves at "
        f"{show(step.fast_bps, 'bps')} needs {show(needed, 'bytes')} of memory, {arrow(step.port)} has "
        f"{show(step.memory_bytes, 'bytes')}. It dropped {f'{_count(lost)} packets' if lost else 'nothing'}."
    )


def _after_warmup(view: View, series: tuple[Array, Array]) -> tuple[Array, Array]:
    time, value = series
    chosen = time >= view.run.warmup_ns
    return time[chosen], value[chosen]


def _sawtooth(view: View) -> str:
    """How far window and queue of a lone flow swing, and how closely the one follows the other."""
    series = view.flow_series("cwnd_bytes")
    queues = view.queues(1)
    if len(series) != 1 or len(queues) != 1 or view.run.flows.num_rows != 1 or view.changes():
        return ""
    (time, window), (at, queue) = (_after_warmup(view, next(iter(one.values()))) for one in (series, queues))
    _, signals = _after_warmup(view, next(iter(view.flow_series("cong_signals").values())))
    cuts = time[1:][np.diff(signals) > 0]
    if cuts.size < 2 or at.size < 2 or queue.std() == 0:
        return ""
    cut = counted(int(signals[-1] - signals[0]), "time")
    after = " after the warm-up" if view.run.warmup_ns else ""
    tooth = float(time[-1] - time[0]) / (signals[-1] - signals[0])
    if (step := view.interval_ns()) * TOOTH > tooth:
        return f"The window is cut {cut}{after}. Samples are {show(step, 'ns')} apart, too far to tell between what it swings."
    swing = [show(float(x), "bytes") for x in (window.min(), window.max(), queue.min(), queue.max())]
    alike = float(np.corrcoef(np.interp(at, time, window), queue)[0, 1])
    together = f" with it (correlation {alike:.2f})" if alike > ALIKE else f" (correlation {alike:.2f})"
    every = show(float(np.diff(cuts).mean()), "ns", 2)
    return (
        f"The window is cut {cut}{after}, about every {every}, and swings from {swing[0]} to "
        f"{swing[1]}; the queue swings from {swing[2]} to {swing[3]}{together}."
    )


def _transmit(view: View) -> str:
    """Where a full queue in the host ended the growth of the window, and what the path would carry."""
    run, flows = view.run, view.run.flows
    if flows.num_rows != 1:
        return ""
    source, destination = texts(flows, "source")[0], texts(flows, "destination")[0]
    limits = run.resolved["hosts"][source.partition("[")[0]]["transmit"]
    queue, ring = (int(str(limits[key]).split()[0]) for key in ("txqueuelen", "ring"))
    rows = {row["name"]: row for row in run.ports.to_pylist()}
    ports = [rows[f"{node}->{peer}"] for node, peer in path_ports(run, source, destination)]
    if not ports or not ports[0]["tx_packets"]:
        return ""
    frame = ports[0]["tx_bytes"] / ports[0]["tx_packets"]
    path = min(port["rate_bps"] for port in ports) * float(column(flows, "min_rtt_ns")[0]) * 1e-9 / 8 / frame
    said = f"Qdisc and ring hold {_count(queue)} + {ring} packets; the path holds {show(path, '1', 3)} (rate times round trip)."
    if not column(flows, "send_stall")[0]:
        return f"{said} They were never full."
    first = view.events("send_stall")
    signals = list(view.flow_series("cong_signals").values())
    if not first.size or not signals:
        return f"{said} They were full."
    full = f"{said} They were full after {show(float(first[0]), 'ns')}"
    time, count = signals[0]
    if count[time <= first[0]].max(initial=0.0) > 0:
        return f"{full}."
    # Slow start's largest window is the one at its end. The last sample before it may be half as large.
    window = float(column(flows, "max_ss_cwnd")[0]) / float(column(flows, "cur_mss")[0])
    return f"{full}, at a window of {_count(round(window))} segments."


WORDS: dict[str, Callable[[View], str]] = {
    "burst": burst,
    "forbidden-area": _forbidden_area,
    "sawtooth": _sawtooth,
    "transmit": _transmit,
}
