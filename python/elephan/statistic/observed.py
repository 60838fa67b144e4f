"""What a run shows, as arrays: a value for each flow, port, message, window of time ... `elephan.statistic.measures` names them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from elephan.base import stats
from elephan.base.errors import InputError
from elephan.base.quantity import show
from elephan.scenario import kinds
from elephan.table.burst import read_burst
from elephan.table.rows import EMPTY, Array, Part, column, delivered_curves, texts, windows
from elephan.theory import hurst as estimators

if TYPE_CHECKING:
    import pyarrow as pa

    from elephan.result.run import Run


def flow_column(name: str) -> Callable[[Run], Array]:
    return lambda run: column(run.flows, name)


def port_column(name: str) -> Callable[[Run], Array]:
    return lambda run: column(run.ports, name)


def timeouts(run: Run) -> Array:
    """Expiries of the retransmission timer of each flow, those of a back-off included."""
    return np.asarray(column(run.flows, "timeouts") + column(run.flows, "subsequent_timeouts"))


def loss(run: Run) -> Array:
    sent, drops = column(run.ports, "tx_packets"), column(run.ports, "drops")
    return np.asarray(drops / np.where(sent + drops > 0, sent + drops, np.nan), dtype=np.float64)


def receiver_ports(run: Run) -> list[int]:
    """Ports whose peer receives the data of a flow: the last hop."""
    destinations = set(texts(run.flows, "destination"))
    ids = column(run.ports, "port")
    return [int(i) for i, peer in zip(ids, texts(run.ports, "peer"), strict=True) if peer in destinations]


def wire(run: Run) -> Array:
    """Wire bits a second on the last hops, within the measured time: between samples, else by the busy time of each port."""
    last = receiver_ports(run)
    samples = run.port_samples
    ids, time, tx = (column(samples, name) for name in ("port", "time_ns", "tx_bytes"))
    rates = []
    for port in last:
        t, b = time[ids == port], tx[ids == port]
        first = int(np.searchsorted(t, run.warmup_ns))
        if first < t.size - 1:
            rates.append((b[-1] - b[first]) * 8e9 / (t[-1] - t[first]))
        elif not _is_timed(run):
            row = column(run.ports, "port") == port
            rates += list(column(run.ports, "utilisation")[row] * column(run.ports, "rate_bps")[row])
    return np.asarray(rates)


def _is_timed(run: Run) -> bool:
    """Whether a run is the part of one between two times."""
    if not isinstance(run, Part):
        return False
    whole = run.of_all_times()
    return (run.warmup_ns, run.duration_ns) != (whole.warmup_ns, whole.duration_ns)


def latency(run: Run) -> Array:
    """Latency of each message; the table has transfers too, which are of flows with a size."""
    messages, flows = run.messages, run.flows
    enter, latency = column(messages, "enter_ns"), column(messages, "latency_ns")
    endless = column(flows, "flow")[np.isnan(column(flows, "size_bytes"))]
    return np.asarray(latency[(enter >= run.warmup_ns) & ~np.isnan(latency) & np.isin(column(messages, "flow"), endless)])


def completed(name: str, timeouts: bool | None = None) -> Callable[[Run], Array]:
    """A column of the finite flows that began after the warm-up and came to their end; those with or without timeouts."""

    def values(run: Run) -> Array:
        start, found = column(run.flows, "start_ns"), column(run.flows, name)
        chosen = (start >= run.warmup_ns) & ~np.isnan(column(run.flows, "fct_ns")) & ~np.isnan(found)
        if timeouts is not None:
            chosen &= (column(run.flows, "timeouts") > 0) == timeouts
        return np.asarray(found[chosen])

    return values


def _rounds(run: Run) -> list[tuple[list[int], Array, Array]]:
    """Of each entry and receiver of `incast` the flows, and when each round that began after the warm-up began and was complete.

    The senders of an entry answer a receiver's rounds in turn: the k-th message of each of its flows is one of round k.
    """
    entries = {str(entry["name"]) for entry in run.resolved.get("traffic", []) if kinds.traffic(entry).get("has_rounds")}
    messages, flows = run.messages, run.flows
    if not entries or not messages.num_rows:
        return []
    flow, enter, exit = (column(messages, name) for name in ("flow", "enter_ns", "exit_ns"))
    order = np.lexsort((enter, flow))
    flow, enter, exit = flow[order], enter[order], exit[order]
    groups: dict[tuple[str, str], list[int]] = {}
    for number, entry, receiver in zip(column(flows, "flow"), texts(flows, "traffic"), texts(flows, "destination"), strict=True):
        if entry in entries:
            groups.setdefault((entry, receiver), []).append(int(number))
    found = []
    for members in groups.values():
        answers = [slice(*np.searchsorted(flow, [number, number + 1])) for number in members]
        rounds = min(answer.stop - answer.start for answer in answers)
        begun = np.min([enter[answer][:rounds] for answer in answers], axis=0)
        over = np.max([exit[answer][:rounds] for answer in answers], axis=0)
        complete = (begun >= run.warmup_ns) & ~np.isnan(over)
        found.append((members, begun[complete], over[complete]))
    return found


def round_time(run: Run) -> Array:
    """Time of each complete round of `incast`, from where its first answer enters TCP until the last is in."""
    found = [over - begun for _, begun, over in _rounds(run)]
    return np.concatenate(found) if found else EMPTY


def rounds_timed_out(run: Run) -> Array:
    """1 for each complete round of `incast` in which a retransmission timer of its answers expired, 0 for each other round."""
    expired = np.asarray([kind == "rto" for kind in texts(run.events, "kind")], dtype=bool)
    time, flow = column(run.events, "time_ns")[expired], column(run.events, "flow")[expired]
    found = []
    for members, begun, over in _rounds(run):
        mine = np.sort(time[np.isin(flow, members)])
        found.append((np.searchsorted(mine, over, side="right") > np.searchsorted(mine, begun)).astype(np.float64))
    return np.concatenate(found) if found else EMPTY


def after_warmup(table: str, name: str) -> Callable[[Run], Array]:
    def values(run: Run) -> Array:
        rows = getattr(run, table)
        found = column(rows, name)[column(rows, "time_ns") >= run.warmup_ns]
        return found[~np.isnan(found)]

    return values


def busiest_queue(run: Run) -> Array:
    samples = run.port_samples
    if not samples.num_rows:
        return EMPTY
    ids, queue = column(samples, "port"), column(samples, "queue_bytes")
    measured = column(samples, "time_ns") >= run.warmup_ns
    ports = np.unique(ids)
    totals = [queue[(ids == port) & measured].sum() for port in ports]
    return np.asarray(queue[(ids == ports[int(np.argmax(totals))]) & measured])


def nonempty(run: Run) -> Array:
    """Stretches of the measured time in which samples of the busiest port show a queue: each ends where nothing waits."""
    queue = busiest_queue(run)
    if not queue.size:
        return EMPTY
    time = np.unique(column(run.port_samples, "time_ns"))
    time = time[time >= run.warmup_ns][: queue.size]
    empty = np.flatnonzero(queue == 0)
    if not empty.size:
        return np.asarray([time[-1] - time[0]])
    stretches = np.diff(empty)
    return np.asarray(np.diff(time[empty])[stretches > 1])


def _by(rows: pa.Table, key: str, name: str) -> list[tuple[Array, Array]]:
    """Times and values of the samples of each flow or port."""
    if not rows.num_rows:
        return []
    ids, time, values = column(rows, key), column(rows, "time_ns"), column(rows, name)
    order = np.lexsort((time, ids))
    ids, time, values = ids[order], time[order], values[order]
    edges = np.append(np.unique(ids, return_index=True)[1], ids.size)
    return [(time[a:b], values[a:b]) for a, b in itertools.pairwise(edges)]


def _lived(run: Run) -> tuple[Array, Array, Array]:
    """When each flow began and ended within the measured time, in ns, and what it delivered between; flows without such a time
    are left out."""
    if not _is_timed(run):
        return _counted(run)
    whole = run.of_all_times() if isinstance(run, Part) else run
    found = []
    for time, total in delivered_curves(whole).values():
        begin, end = max(time[0], float(run.warmup_ns)), min(time[-1], float(run.duration_ns))
        if end > begin:
            first, last = np.interp([begin, end], time, total, left=0.0)
            found.append((begin, end, last - first))
    begins, ends, counts = np.asarray(found, dtype=np.float64).reshape(-1, 3).T
    return begins, ends, counts


def _counted(run: Run) -> tuple[Array, Array, Array]:
    """The same of a whole run, by the counts of its flows: no sample decides."""
    start, end, counts = (column(run.flows, name) for name in ("start_ns", "end_ns", "measured_bytes"))
    begin = np.maximum(start, run.warmup_ns)
    end = np.minimum(np.where(np.isnan(end), run.duration_ns, end), run.duration_ns)
    ran = end > begin
    return begin[ran], end[ran], counts[ran]


def delivered(run: Run) -> Array:
    begin, end, counts = _lived(run)
    return np.asarray(counts * 8e9 / (end - begin))


def delivered_together(run: Run) -> float:
    """What all flows delivered, from when the first began to when the last ended."""
    begin, end, counts = _lived(run)
    return float(counts.sum() * 8e9 / (end.max() - begin.min())) if counts.size else 0.0


def jain_together(run: Run) -> float:
    """Jain's index of what flows delivered in the time that all of them share; of their goodput if that is the measured time.

    NaN of flows that share no time. Raises InputError where flows share a part of the measured time that only samples tell.
    """
    flows = run.flows
    start, end = column(flows, "start_ns"), column(flows, "end_ns")
    begin = max(float(start.max(initial=0.0)), float(run.warmup_ns))
    until = min(float(np.nanmin(np.append(end, run.duration_ns))), float(run.duration_ns))
    whole = run.of_all_times() if isinstance(run, Part) else run
    if begin <= whole.warmup_ns and until >= whole.duration_ns:
        return stats.jain(column(flows, "goodput_bps"))
    if until <= begin:
        return math.nan
    if not whole.flow_samples.num_rows:
        span = f"{show(begin, 'ns')} to {show(until, 'ns')}"
        raise InputError(f"the flows share the time from {span} only: set record.every")
    curves = delivered_curves(whole).values()
    return stats.jain(np.asarray([np.diff(np.interp([begin, until], time, total, left=0.0))[0] for time, total in curves]))


def silence(run: Run) -> Array:
    found = []
    for time, values in _by(run.flow_samples, "flow", "delivered_bytes"):
        moved = np.flatnonzero(np.diff(values) > 0)
        # From a sample that shows something new to the next that does: at most an interval of samples too long.
        gaps = np.diff(np.concatenate([[time[0]], time[moved + 1], [time[-1]]]))
        found.append(float(gaps.max()))
    return np.asarray(found)


def dropped_for(reason: str) -> Callable[[Run], Array]:
    """Packets of the whole run that were dropped for one reason."""
    return lambda run: np.array([float(run.summary["drops_by_reason"].get(reason, 0))])


def sampled_drops(run: Run) -> Array:
    return np.asarray([v[-1] - v[0] for _, v in _by(run.port_samples, "port", "drops")])


def sent_per_sample(run: Run) -> list[tuple[float, Array]]:
    """Bytes that each port sent between samples after the warm-up, and the time in seconds between two samples."""
    found = []
    for time, sent in _by(run.port_samples, "port", "tx_bytes"):
        measured = time >= run.warmup_ns
        steps, counts = np.diff(time[measured]), np.diff(sent[measured])
        # A run that does not end with a sample has a shorter last step.
        whole = steps == steps[:1]
        found.append((float(steps[0]) * 1e-9 if steps.size else 0.0, counts[whole]))
    return found


def hurst(method: str) -> Callable[[Run], Array]:
    """The Hurst parameter of the bytes that each port sent between samples, by an estimator of `elephan.theory.hurst`.

    It is estimated over the range of times that the statistic says (`between 10 ms-1 s`) or that the estimator takes by itself. A
    port whose samples are too few or all alike, or do not hold that range, has none.
    """

    def values(run: Run) -> Array:
        found = []
        between = getattr(run, "scales", None)
        for bin_s, counts in sent_per_sample(run):
            try:
                found.append(float(getattr(estimators, method)(counts, bin_s, between).h))
            except ValueError:
                continue
        return np.asarray(found)

    return values


def jain_windows(window_ns: int) -> Callable[[Run], Array]:
    def values(run: Run) -> Array:
        shares = windows(run, window_ns)[1]
        if not shares.size:
            return EMPTY
        index = stats.jain_per_window(shares)
        return index[~np.isnan(index)]

    return values


def goodput_windows(window_ns: int) -> Callable[[Run], Array]:
    def values(run: Run) -> Array:
        shares = windows(run, window_ns, datagrams=True)[1]
        return np.asarray(shares.sum(axis=1) * 8e9 / window_ns) if shares.size else EMPTY

    return values


def limited(part: str) -> Callable[[Run], Array]:
    def values(run: Run) -> Array:
        parts = {key: column(run.flows, f"snd_lim_time_{key}_ns") for key in ("rwin", "cwnd", "snd")}
        total = np.sum(list(parts.values()), axis=0)
        return np.asarray(parts[part][total > 0] / total[total > 0], dtype=np.float64)

    return values


def burst(name: str) -> Callable[[Run], Array]:
    """What the log of a run's first burst says; nothing where there is no such log, or nothing was lost."""

    def values(run: Run) -> Array:
        try:
            found = getattr(read_burst(run), name)
        except InputError:
            return EMPTY
        return EMPTY if found is None else np.asarray([float(found)])

    return values


def window_segments(run: Run) -> Array:
    flows = run.flows
    goodput, rtt, mss = (column(flows, name) for name in ("goodput_bps", "min_rtt_ns", "cur_mss"))
    return np.asarray(goodput * rtt / 8e9 / mss)


def copy_column(name: str) -> Callable[[Run], Array]:
    return lambda run: column(run.copies, name)


def copies_together(name: str) -> Callable[[Run], float]:
    """The rate of all transfers from disk to disk together, over the time in which any of them ran."""

    def value(run: Run) -> float:
        copies = run.copies
        start = np.maximum(column(copies, "start_ns"), run.warmup_ns)
        ends = {"cached_bps": "cached_ns", "on_disk_bps": "on_disk_ns"}
        if name in ends:
            end = column(copies, ends[name])
        else:  # complete in the cache or on the disk, as the transfer asks
            on_disk = column(copies, "rate_bps") == column(copies, "on_disk_bps")
            end = np.where(on_disk, column(copies, "on_disk_ns"), column(copies, "cached_ns"))
        end = np.maximum(np.where(np.isnan(end), run.duration_ns, end), start)
        bits = (column(copies, name) * (end - start) * 1e-9).sum()
        order = np.argsort(start)
        latest = np.maximum.accumulate(end[order])
        covered = np.maximum(start[order], np.append(-np.inf, latest[:-1]))
        running = np.maximum(end[order] - covered, 0.0).sum()
        return float(bits * 1e9 / running) if running > 0 else 0.0

    return value


def copy_share(stage: str) -> Callable[[Run], Array]:
    """Share of the time of each transfer from disk to disk that the others waited for a stage."""

    def values(run: Run) -> Array:
        stages = ("read", "network", "send_buffer", "receive_buffer", "write")
        parts = {key: column(run.copies, f"limited_{key}_ns") for key in stages}
        total = np.sum(list(parts.values()), axis=0)
        return np.asarray(parts[stage][total > 0] / total[total > 0], dtype=np.float64)

    return values
