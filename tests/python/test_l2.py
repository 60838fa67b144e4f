"""Congestion management of layer 2, stepped by hand: expectations are arithmetic over the published equations."""

from __future__ import annotations

from typing import Any

import elephan as el
import pytest
from elephan.report.figure.run_figures import draw

SEED = {"preset": "seed-2007", "jitter": 0}
LINE = 10e9


def sampled(before: int, queue: int, **params: Any) -> float | None:
    """The feedback of a QCN sample with `queue` pages of 64 bytes waiting, after one with `before`."""
    cp = el.l2.qcn_congestion_point(**SEED, **params)
    size = 150_000  # a frame that makes a sample due, whatever the distance
    cp.enqueue(0.0, size, before * 64)
    return cp.enqueue(0.0, size, queue * 64)


@pytest.mark.parametrize(
    ("before", "queue", "expected"),
    [
        (409, 409, None),  # at the set point, at rest
        (409, 818, 38),  # |Fb| = 409 + 2 * 409 = 1227 of 2045: floor(1227 * 64 / 2045)
        (818, 409, None),  # it falls: Fb > 0
        (0, 2045, 63),  # more than six bits hold
        (0, 5000, 63),
    ],
)
def test_feedback_of_a_qcn_congestion_point(before: int, queue: int, expected: int | None) -> None:
    assert sampled(before, queue) == expected


def test_one_in_a_hundred_frames_is_sampled_and_one_in_ten_when_it_is_worst() -> None:
    cp = el.l2.qcn_congestion_point(**SEED)
    sampled = [n for n in range(1, 131) if cp.enqueue(n * 1e-6, 1500, 2045 * 64) is not None]
    # 1 % is 150 000 bytes; 63 then says 10 %. With q = q_old = 2045 the next is 1636 pages: 51, 8.3 %, 18 086 bytes.
    assert sampled == [100, 110, 123]


def test_a_qcn_reaction_point_recovers_in_five_cycles() -> None:
    rp = el.l2.qcn_reaction_point(line_rate=LINE, **SEED)
    assert (rp.rate, rp.limited, rp.next_timer()) == (LINE, False, None)
    rp.notify(0.0, 63)
    # 1 - 63/128; then each cycle halves the way to the target.
    assert (rp.rate, rp.target_rate) == (5.078125e9, LINE)
    gap = LINE - 5.078125e9
    for cycle in range(1, 6):
        for _ in range(101 if cycle == 1 else 100):  # a cycle ends when more than 150 000 bytes have gone
            rp.on_sent(0.0, 1500)
        while rp.rate < LINE - gap / 2**cycle - 1:
            rp.on_sent(0.0, 1500)
        assert rp.rate == pytest.approx(LINE - gap / 2**cycle)
    assert rp.rate == pytest.approx(9.846e9, rel=1e-4)


def test_a_second_notification_keeps_the_target_until_a_cycle_is_over() -> None:
    rp = el.l2.qcn_reaction_point(line_rate=LINE, **SEED)
    rp.notify(0.0, 63)
    rp.notify(1e-6, 63)
    assert (rp.rate, rp.target_rate) == (LINE * (65 / 128) ** 2, LINE)
    other = el.l2.qcn_reaction_point(line_rate=LINE, keep_target=False, **SEED)
    other.notify(0.0, 63)
    other.notify(1e-6, 63)
    assert other.target_rate == 5.078125e9


def test_drift_doubles_in_1387_periods() -> None:
    rp = el.l2.qcn_reaction_point(line_rate=LINE, **SEED)
    now = 0.0
    while rp.rate > 1e6:  # to the least rate
        rp.notify(now, 63)
    for _ in range(1386):
        now = rp.next_timer()
        rp.on_timer(now)
    assert rp.rate < 2e6
    now = rp.next_timer()
    rp.on_timer(now)
    assert rp.rate >= 2e6
    assert now == pytest.approx(0.2774)


def test_drift_of_ecm_is_300_mbps_in_300_ms() -> None:
    rp = el.l2.ecm_reaction_point(line_rate=LINE)
    rp.notify(0.0, -1875)
    for _ in range(300):
        rp.on_timer(rp.next_timer())
    assert rp.rate == 5.078125e9 + 300e6


def test_feedback_of_ecm() -> None:
    rp = el.l2.ecm_reaction_point(line_rate=LINE)
    rp.notify(0.0, -1875, point=4)
    assert (rp.rate, rp.point) == (LINE * (1 - 63 / 128), 4)  # 0.508
    rp.notify(0.0, 1875, point=5)
    assert rp.rate == 5.078125e9, "of another congestion point"
    rp.notify(0.0, 1875, point=4)
    assert rp.rate == pytest.approx(5.078125e9 + 1e9, rel=1e-5)
    small = el.l2.ecm_reaction_point(line_rate=LINE, gi_unit="q6")
    small.notify(0.0, -1875)
    small.notify(0.0, 1875)
    assert small.rate == pytest.approx(5.078125e9 + 33.6e6, rel=1e-5)


def test_an_ecm_congestion_point_and_its_options() -> None:
    cp = el.l2.ecm_congestion_point()
    assert cp.enqueue(0.0, 74_999, 750 * 64) is None
    assert cp.enqueue(0.0, 1, 750 * 64) == -375 - 2 * 750  # from empty: the change counts up to 750
    assert cp.enqueue(0.0, 75_000, 375 * 64) is None, "it falls, but the source is not limited by this point"
    assert cp.enqueue(0.0, 75_000, 0, tagged=True) == 375 + 2 * 375
    worst = el.l2.ecm_congestion_point(max_above="48 kB", zero_above="96 kB", oversample_above="40 kB")
    assert worst.enqueue(0.0, 75_000, 60_000) == -1875
    assert worst.enqueue(0.0, 15_000, 100_000) == 0.0
    rp = el.l2.ecm_reaction_point()
    rp.notify(0.0, 0.0)
    assert rp.rate == 1e6
    assert 0.0 < rp.stopped_until < 1e-3


def test_fairness_by_source() -> None:
    """Of 4000 and 1000 bytes the share is 2500: AF-QCN adds half of floor(64 * 0.375) = 24 to half of the queue's 33."""
    cp = el.l2.qcn_congestion_point(jitter=0, sample_base=5000, fair="af-qcn")
    assert cp.enqueue(0.0, 2000, 2000, source=1) is None
    assert cp.enqueue(0.0, 1000, 3000, source=2) is None
    assert cp.enqueue(0.0, 2000, 31_500, source=1) == 28
    cp = el.l2.qcn_congestion_point(jitter=0, sample_base=4000, fair="fqcn")
    cp.enqueue(0.0, 2000, 2000, source=2)
    assert cp.enqueue(0.0, 2000, 31_500, source=1) == 16
    assert cp.told == [(1, 16.0), (2, 16.0)]


def test_parameters() -> None:
    found = el.l2.parameters(el.l2.qcn_congestion_point(preset="seed-2007"))
    assert {k: found[k] for k in ("set_point", "page", "rate_min", "active_increase", "drift_period", "efr_max")} == {
        "set_point": "26.176 KB",
        "page": "64 B",
        "rate_min": "1 Mbps",
        "active_increase": "12 Mbps",
        "drift_period": "200 us",
        "efr_max": 1_000_000,
    }
    assert el.l2.parameters(el.l2.ecm_reaction_point(drift=2e6))["drift"] == "2 Mbps"


def test_a_hot_port_in_a_run_and_its_figure() -> None:
    """Until 20 ms there is no hotspot; then the four senders are limited to what the port can take."""
    run = el.run("qcn-hotspot", set={"duration": "81 ms"})
    rows = [row for row in run.limiter_samples.to_pylist() if 50_000_000 < row["time_ns"] < 80_000_000]
    assert {(row["host"], row["destination"], row["flow"]) for row in rows} == {
        (f"sender[{i}]", "receiver", None) for i in range(4)
    }
    instants = len({row["time_ns"] for row in rows})
    assert sum(row["rate_bps"] for row in rows) / instants == pytest.approx(2e9, rel=0.15)
    assert run.summary["notifications_sent"] == sum(run.ports["notifications_sent"].to_pylist())
    drawing = draw(run, "limiters")
    assert drawing.svg().startswith("<?xml")
    with pytest.raises(el.InputError):
        draw(el.run("qcn-hotspot", set={"duration": "81 ms", "congestion_management.kind": "none"}), "limiters")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: el.l2.qcn_congestion_point(wieght=2), 'CongestionPoint: unknown key "wieght"; did you mean "weight"?'),
        (lambda: el.l2.qcn_congestion_point(page=0), 'CongestionPoint: page: "0 B": must be above zero'),
        (lambda: el.l2.qcn_congestion_point(stop_at=0), "CongestionPoint: stop_at: is of the network, not of a point by itself"),
        (lambda: el.l2.qcn_reaction_point(line_rate=0), "line_rate must be from 1 to 1e14 bit/s, not 0"),
        (lambda: el.l2.qcn_reaction_point(line_rate=1e6), "rate_min 5 Mbps is above line_rate, 1 Mbps"),
        (lambda: el.l2.qcn_reaction_point(jitter=2), "ReactionPoint: jitter: 2: must be at most 1"),
        (lambda: el.l2.qcn_reaction_point().notify(0.0, 64), "feedback must be a whole number from 0 to 63, not 64"),
        (
            lambda: el.l2.ecm_reaction_point().notify(0.0, 1876),
            "feedback must be from -1875 to 1875 pages, (1 + 2 weight) set_point",
        ),
        (lambda: el.l2.ecm_reaction_point(weight=0).notify(0.0, -376), "feedback must be from -375 to 375 pages"),
        (lambda: el.l2.ecm_reaction_point().notify(0.0, float("nan")), "feedback"),
        (lambda: el.l2.ecm_reaction_point().on_sent(-1.0, 1500), "now must be from 0 to 18446744 s, not -1"),
        (lambda: el.l2.ecm_congestion_point(preset="seed-2007"), 'CongestionPoint: unknown key "preset"'),
    ],
)
def test_what_is_wrong_is_said_in_one_line(make: Any, message: str) -> None:
    with pytest.raises(el.InputError) as error:
        make()
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_wrong_arguments_give_a_line_with_value_and_unit() -> None:
    cp, rp = el.l2.qcn_congestion_point(**SEED), el.l2.ecm_reaction_point(line_rate="10 Gbps")
    assert rp.rate == 10e9
    for wrong, line in (
        (lambda: cp.enqueue("1 ms", 1500, 3000), "now is a number of seconds, not '1 ms'"),
        (lambda: cp.enqueue(0.0, "1500 B", 3000), "size is a number of bytes, not '1500 B'"),
        (lambda: cp.enqueue(0.0, 1500, "3 kB"), "queue_bytes is a number of bytes, not '3 kB'"),
        (lambda: cp.enqueue(0.0, 1500, 3000, source=-1), "source is a whole number from 0 to 4294967295, not -1"),
        (lambda: rp.notify(0.0, "-1"), "feedback is a number of pages, not '-1'"),
        (lambda: rp.on_sent(0.0, None), "size is a number of bytes, not None"),
        (lambda: rp.on_timer("soon"), "now is a number of seconds, not 'soon'"),
        (lambda: el.l2.qcn_reaction_point(line_rate="10"), '"10" has no unit; write a rate like "10 Gbps"'),
        (lambda: el.l2.qcn_reaction_point(seed="a"), "a seed is a whole number from 0 to 2^63 - 1, not 'a'"),
        (lambda: el.l2.parameters(3), "parameters are those of a congestion or reaction point, not of 3"),
    ):
        with pytest.raises(el.InputError) as error:
            wrong()
        assert str(error.value) == line
