"""Rows of the series of a Flent test: a connection for each flow, a probe for each series of round-trip times."""

from __future__ import annotations

from elephan.capture.activity import HOLE
from elephan.capture.fields import COUNT, Fields, record, records
from elephan.capture.flenttest import OF_SOCKET, RATES, TIMES, Series, Test
from elephan.capture.logrows import PROBE, Line, Row, closed, round_trips

_MSS_MAX = 1 << 16
_CWND_MAX = 1 << 30  # segments


def lines(test: Test, fields: Fields) -> list[Line]:
    """Returns the flows and the probes of a test, as far as they have a value."""
    found = [_flow(test, one, fields) for one in test.series.values() if one.is_flow]
    found += [_probe(test, one) for one in test.series.values() if one.is_probe]
    return [line for line in found if line.samples]


def _probe(test: Test, series: Series) -> Line:
    samples = [
        {"time_ns": _ns(time + span), "span_ns": _ns(time + span) - _ns(time), "rtt_mean_ns": round(value * series.factor)}
        for time, span, value in zip(test.times, test.spans, series.values, strict=True)
        if value is not None
    ]
    samples = [one | {"rtt_min_ns": one["rtt_mean_ns"]} for one in samples]
    row: Row = {"protocol": PROBE, "source": test.local, "destination": test.host_of(series.name), "vantage": "sender"}
    if samples:
        row |= closed(samples) | {"data_start_ns": None, "data_end_ns": None}
        row |= round_trips([one["rtt_mean_ns"] for one in samples])
    return Line(row, samples, series.name)


def _flow(test: Test, series: Series, fields: Fields) -> Line:
    """The row of a flow. Where Flent kept what it measured, and that covers more time than its series does, the former counts."""
    steps = zip(test.times, test.spans, series.values, strict=True)
    of_grid = [(time, time + span, value * series.factor) for time, span, value in steps if value is not None]
    of_raw = _measured(test, series, fields)
    rates = of_raw if _lasts(of_raw) > _lasts(of_grid) + 1e-9 else of_grid
    samples: dict[int, Row] = {}
    delivered, whole = 0, True
    before = rates[0][0] if rates else 0.0
    for begin, end, rate in rates:
        octets = round(rate * (end - begin) / 8)
        delivered += octets
        whole &= begin <= before + HOLE * (end - begin)
        before = end
        total = delivered if whole else None  # behind a hole nobody knows it
        counts = {"data_octets_out": octets, "sent_bytes": total, "delivered_bytes": total}
        samples[_ns(end)] = {"time_ns": _ns(end), "span_ns": _ns(end) - _ns(begin), **counts}
    rows = list(samples.values())
    segment = fields.count(series.about, "TCP_MSS", _MSS_MAX) or None
    rtts = _add_socket(test, series, segment, samples, fields)
    upload = "download" not in series.name.lower()
    ends = (test.local, test.host_of(series.name))
    first = series.name.split(" ")[0].lower()
    row: Row = {
        "protocol": first if first in ("udp", "sctp") else "tcp",
        "source": ends[not upload],
        "destination": ends[upload],
        "vantage": "sender" if upload else "receiver",
        "delivered_bytes": delivered,
        "goodput_bps": delivered * 8 / _lasts(rates) if rates and _lasts(rates) else None,
        "mss_sent": segment,
        "segs_retrans": _retransmitted(series, fields) if upload else None,
        **round_trips(rtts),
    }
    ordered = [samples[time] for time in sorted(samples)]
    row |= closed(ordered) | {key: value for key, value in closed(rows).items() if key.startswith("data")} if rows else {}
    return Line(row, ordered if rows else [], series.name)


def _ns(time_s: float) -> int:
    return round(time_s * 1e9)


def _lasts(rates: list[tuple[float, float, float]]) -> float:
    return sum(end - begin for begin, end, _ in rates)


def _measured(test: Test, series: Series, fields: Fields) -> list[tuple[float, float, float]]:
    """Begin and end of each interval that was measured, s, and the rate in it, bit/s; nothing where a time or length is missing."""
    if test.begin_ns is None or not test.times:
        return []
    found = []
    latest = 0.0
    for one in records(test.raw.get(series.name)):
        if one.get("val") is None or one.get("dur") is None:
            continue
        time, lasted = fields.number(one, "t", 1e11), fields.number(one, "dur")
        rate = fields.number(one, "val", COUNT / 1e6)
        if time is None or not lasted or rate is None:
            continue
        end = time - test.begin_ns / 1e9
        begin = max(end - lasted, latest)
        if 0 <= begin < end <= test.times[-1] + test.spans[-1] + lasted:
            found.append((begin, end, rate * series.factor))
            latest = end
    return found


def _retransmitted(series: Series, fields: Fields) -> int | None:
    """What the sender of an upload retransmitted: a number, or a text of it in some versions."""
    value = series.about.get("TCP_RETRANSMIT", series.about.get("TCPI_TOTAL_RETRANS"))
    if isinstance(value, str) and value.isdecimal():
        value = int(value[:20])
    return fields.count({"TCP_RETRANSMIT": value}, "TCP_RETRANSMIT")


def _add_socket(test: Test, flow: Series, segment: int | None, samples: dict[int, Row], fields: Fields) -> list[float]:
    """Puts what `ss` saw of a flow into its samples; returns the round-trip times, ns."""
    rtts = []
    for key in OF_SOCKET:
        for time, span, value in _socket_values(test, flow, key, fields):
            if key == "tcp_rtt":
                rtts.append(value * TIMES["ms"])
                put: Row = {"rtt_mean_ns": round(value * TIMES["ms"])}
            elif key == "tcp_cwnd" and segment and value < _CWND_MAX:
                put = {"cwnd_bytes": round(value * segment)}
            elif key == "tcp_pacing_rate":
                put = {"pacing_bps": value * RATES["mbits/s"]}
            else:
                continue
            end = _ns(time + span)
            samples.setdefault(end, {"time_ns": end, "span_ns": 0}).update(put)
    return rtts


def _socket_values(test: Test, flow: Series, key: str, fields: Fields) -> list[tuple[float, float, float]]:
    """Times and lengths of steps, and values of what `ss` saw: of the series, else of what Flent kept with the flow."""
    series = test.series.get(f"{flow.name}::{key}")
    if series is not None:
        steps = zip(test.times, test.spans, series.values, strict=True)
        return [(time, span, value) for time, span, value in steps if value is not None]
    if test.begin_ns is None or not test.times:
        return []
    found = []
    for one in records(test.raw.get(flow.name)):
        time, value = (fields.number(one, "t", 1e11), fields.number(one, key)) if key in one else (None, None)
        if time is not None and value is not None and 0 <= time - test.begin_ns / 1e9 <= test.times[-1] + test.spans[-1]:
            found.append((time - test.begin_ns / 1e9, 0.0, value))
    return found


def seen_windows_without_size(test: Test) -> list[str]:
    """Returns the flows whose congestion windows are counted in segments of unknown size."""
    flows = (one for one in test.series.values() if one.is_flow)
    return [one.name for one in flows if f"{one.name}::tcp_cwnd" in test.series and not record(one.about).get("TCP_MSS")]
