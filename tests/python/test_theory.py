"""Closed forms against literals of papers, RFCs and hand arithmetic."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable

import elephan as el
import numpy as np
import pytest
from elephan.base.errors import InputError
from elephan.base.quantity import seconds
from elephan.statistic import measures
from elephan.theory import closed as theory


def test_max_goodput() -> None:
    # 1460 / 1538 and 1448 / 1538 of 10 Gb/s; 8948 / 9038 of 1 Gb/s
    assert theory.max_goodput("10 Gbps") == pytest.approx(9.4928e9, rel=1e-5)
    assert theory.max_goodput(10e9, 1500, timestamps=True) == pytest.approx(9.4148e9, rel=1e-5)
    assert theory.max_goodput(1e9) == pytest.approx(949.3e6, rel=1e-4)
    assert theory.max_goodput(1e9, timestamps=True) == pytest.approx(941.5e6, rel=1e-4)
    assert theory.max_goodput(1e9, 9000, timestamps=True) == pytest.approx(990.1e6, rel=1e-4)


def test_a_small_mtu_is_named() -> None:
    with pytest.raises(InputError, match=r"^mtu must be more than the 52 bytes of TCP and IP headers, not 52$"):
        theory.max_goodput("1 Gbps", 52, timestamps=True)


def test_headroom_of_the_vendors() -> None:
    # 1538 + 84 + 1250 + 3840 + 1538 at 10 Gb/s, 100 m, 60 quanta
    assert theory.headroom(10e9, 100, 1538, 60) == 8250
    assert theory.headroom("10 Gbps", 100) == 8250
    assert theory.headroom(10e9, 0, 1538, 0) == 2 * 1538 + 84


def test_exact_headroom() -> None:
    # D = 6712, 4 whole and 5 started frames: 1517 + 5 * 1518 + 2 * 6 * 1518 = 27323; 49152 - 27323 = 21829
    assert theory.headroom_exact(10e9, 100, 1538, 60, ports=3) == 27323
    assert 49152 - theory.headroom_exact("10 Gbps", 100, ports=3) == 21829
    # 10 quanta: D = 3512, 2 whole and 3 started: 1517 + 4554 + 2 * 4 * 1518 = 18215
    assert theory.headroom_exact(10e9, 100, 1538, 10, ports=3) == 18215


def test_dynamic_threshold() -> None:
    # 0.21 / 1.21 of 4 MB; two ports and what is free have a third each at alpha 1.
    assert theory.dynamic_threshold("4 MB", 0.21) == pytest.approx(694_214.876)
    assert theory.dynamic_threshold(9000, 1, ports=2) == 3000
    for ports in (1, 2, 5):
        each, free = theory.dynamic_threshold(1e6, 0.5, ports=ports), 1e6 / (1 + 0.5 * ports)
        assert each == pytest.approx(0.5 * free)
        assert ports * each + free == pytest.approx(1e6)


def test_pause_time() -> None:
    assert theory.pause_time(10e9, 0xFFFF) == pytest.approx(3.355392e-3)
    assert theory.pause_time("10 Gbps", 60) == pytest.approx(3.072e-6)
    assert theory.pause_time(10e9, 1) == pytest.approx(51.2e-9)


def test_memory_needed() -> None:
    assert theory.memory_needed(1e9, 0.5e9, 0.016) == pytest.approx(0.5e6)  # s = f/2 at R = 4M/f needs exactly M
    assert theory.memory_needed(1e9, 2e9, 0.1) == 0
    assert theory.memory_needed("1 Gbps", "155.52 Mbps", "100 ms") == pytest.approx(0.84448 * 155.52e6 * 0.1 / 8)


def test_forbidden_area() -> None:
    low, high = theory.forbidden_area(1e9, 0.5e6, 0.05) or (0, 0)
    assert low == pytest.approx(87.69e6, rel=1e-4)
    assert high == pytest.approx(912.31e6, rel=1e-5)
    assert theory.forbidden_area("1 Gbps", "0.5 MB", "15 ms") is None
    assert theory.forbidden_rtt_min(1e9, 0.5e6) == pytest.approx(0.016)


def test_rtt_max_of_sonet_rates() -> None:
    assert theory.rtt_max(1e9, 51.84e6, 0.5e6) == pytest.approx(81.38e-3, rel=1e-4)
    assert theory.rtt_max(1e9, 155.52e6, 0.5e6) == pytest.approx(30.46e-3, rel=2e-4)
    assert theory.rtt_max(1e9, 1e9, 1) == math.inf


def test_mathis() -> None:
    # 1460 * 8 / 0.1 * 1.2247 / 0.01
    assert theory.mathis(1e-4, 0.1) == pytest.approx(116800 * 1.224745 * 100, rel=1e-6)
    assert theory.response("reno", 1e-4) == pytest.approx(122.4745, rel=1e-6)
    assert theory.response("reno", 1e-4, constant=0.87) == pytest.approx(87.0)


def test_pftk() -> None:
    # by hand, p = 0.01, R = 0.1, T0 = 1, b = 2, MSS 1460:
    # R sqrt(2bp/3) = 0.0115470; min(1, 3 sqrt(3bp/8)) = 0.2598076; * p (1 + 32 p^2) = 0.00260639
    assert theory.pftk(0.01, 0.1) == pytest.approx(11680 / (0.01154701 + 0.002606390), rel=1e-5)
    assert theory.pftk(1e-9, 0.1, window_max=44) == pytest.approx(44 * 11680 / 0.1)


def test_highspeed() -> None:
    # RFC 3649 table 2: p = 1e-7 gives about 83981 by the formula 0.12/p^0.835; Reno above 1e-3
    assert theory.response("highspeed", 1e-7) == pytest.approx(0.12 * 10**5.845, rel=1e-9)
    assert theory.response("highspeed", 1e-2) == pytest.approx(12.0)


def test_scalable_time_mean() -> None:
    assert theory.response("scalable", 1e-5) == pytest.approx(0.0745e5, rel=2e-3)


def test_cubic() -> None:
    # RFC 9438 equation 5: 1.0538 (R/p)^0.75; Reno-friendly where that is less
    assert theory.response("cubic", 1e-6, 0.1) == pytest.approx(1.0538 * 1e5**0.75, rel=1e-4)
    assert theory.response("cubic", 1e-3, 0.01) == pytest.approx(math.sqrt(1.5 / 1e-3))


@pytest.mark.parametrize(("p", "window"), [(1e-4, 319), (1e-5, 1694), (1e-6, 8614), (1e-7, 43319)])
def test_htcp_against_an_integration_of_the_controller(p: float, window: float) -> None:
    assert theory.response("htcp", p, 0.1, adaptive_backoff=False, rtt_scaling=False) == pytest.approx(window, rel=0.05)


@pytest.mark.parametrize("delay", ["20 ms", "75 ms"])
@pytest.mark.parametrize("options", [{}, {"adaptive_backoff": False, "rtt_scaling": False}])
def test_htcp_against_simulation(delay: str, options: dict[str, bool]) -> None:
    """One packet in 100 000 is lost on a path that is never full; the first two minutes are for the window to settle in."""
    run = el.run(
        f"""
        duration = "220 s"
        warmup = "120 s"
        stack = "rfc"
        [template]
        kind = "path"
        hops = [
            {{ rate = "10 Gbps", delay = "0 s" }},
            {{ rate = "10 Gbps", delay = "{delay}", loss = {{ periodic = 100000 }}, packets = "data",
              queue = {{ kind = "fifo", limit = "20 MB" }} }},
        ]
        [[traffic]]
        name = "flow"
        from = "sender"
        to = "receiver"
        kind = "bulk"
        """,
        set={"traffic.flow.congestion_control": {"kind": "htcp", **options}},
    )
    rtt = 2 * seconds(delay)
    window = run.statistic("goodput_bps.sum") * rtt / 8 / 1448
    assert theory.response("htcp", 1e-5, rtt, **options) == pytest.approx(window, rel=0.04)


def test_arrays_keep_their_shape() -> None:
    p = np.array([1e-3, 1e-4, 1e-5])
    for name in ("reno", "highspeed", "scalable", "cubic", "htcp"):
        window = theory.response(name, p, 0.1)
        assert window.shape == (3,)
        assert (np.diff(window) > 0).all()


def test_queues() -> None:
    # M/D/1 at 0.5: waits half a service time; at 0.9: 4.5
    assert theory.md1_wait(0.5, 1.0) == pytest.approx(0.5)
    assert theory.md1_wait(0.9, "1.2304 us") == pytest.approx(4.5 * 1.2304e-6)
    assert theory.md1_queue(0.5) == pytest.approx(0.25)
    # 250 kB at 40 Mb/s takes 50 ms alone, 125 ms at 60 %
    assert theory.ps_response("250 KB", "40 Mbps", 0.6) == pytest.approx(0.125)
    assert theory.bdp("1 Gbps", "12 ms") == 1.5e6


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: theory.response("renno", 0.01),
        lambda: theory.response("reno", 0),
        lambda: theory.response("reno", 0.1, gamma=3),
        lambda: theory.mathis(1.5, 0.1),
        lambda: theory.mathis(0.1, "5 parsec"),
        lambda: theory.max_goodput("10 Gbps", 40),
        lambda: theory.max_goodput(-1),
        lambda: theory.headroom(10e9, -1),
        lambda: theory.headroom_exact(10e9, 1, ports=0),
        lambda: theory.md1_wait(1.0, 1.0),
        lambda: theory.bdp("1 GB", "1 s"),
    ],
)
def test_wrong_values_give_one_line(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"^.+$") as caught:
        wrong()
    assert "\n" not in str(caught.value)


def test_texts_with_units_are_numbers() -> None:
    assert theory.headroom("10 Gbps", "100 m", "1538 B") == theory.headroom(10e9, 100, 1538) == 8250
    assert theory.headroom("10 Gbps", "0.1 km") == 8250
    assert theory.mathis(1e-4, "100 ms", mss="1460 B") == theory.mathis(1e-4, 0.1)
    assert theory.max_goodput("10 Gbps", "1500 B") == theory.max_goodput(10e9)


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (lambda: theory.headroom("10", 100), '"10" has no unit; write a rate like "10 Gbps"'),
        (lambda: theory.headroom([1], 100), '[1] is not a rate; write it like "10 Gbps" or a number of bit/s'),
        (lambda: theory.headroom("10 Gbps", "100"), '"100" has no unit; write a length like "100 m"'),
        (lambda: theory.headroom("10 Gbps", "5 us"), 'unknown unit "us" in "5 us"; write a length like "100 m"'),
        (lambda: theory.headroom("10 Gbps", None), 'None is not a length; write it like "100 m" or a number of metres'),
        (
            lambda: theory.headroom("10 Gbps", 1, quanta="60"),
            "'60' is not a number of pause quanta of 512 bit times; write it like 60",
        ),
        (lambda: theory.headroom_exact("10 Gbps", 1, ports="3"), "'3' is not a number of ports; write it like 3"),
        (lambda: theory.pause_time("10 Gbps", "3"), "'3' is not a number of pause quanta of 512 bit times; write it like 60"),
        (lambda: theory.md1_wait("0.5", "5 ms"), "'0.5' is not a load; write it like 0.5"),
        (lambda: theory.mathis("a", "5 ms"), "'a' is not a loss probability; write it like 1e-4"),
    ],
)
def test_texts_that_are_no_numbers_give_a_line_with_value_and_unit(wrong: Callable[[], object], line: str) -> None:
    with pytest.raises(InputError) as caught:
        wrong()
    assert str(caught.value) == line


def test_griddt_is_reno_by_default_and_mulTCP_with_n_streams() -> None:
    """A = n, B = 1 / (2n): sqrt(A (2 - B) / (2 B p)); for n = 2, p = 1e-4: sqrt(2 x 1.75 / 0.5e-4) = 264.6."""
    assert theory.response("griddt", 1e-4) == pytest.approx(122.47, abs=0.01)
    assert theory.response("griddt", 1e-4, a=2, b=0.25) == pytest.approx(264.58, abs=0.01)


def test_bic() -> None:
    """Xu, Harfoush and Rhee 2004, the step taken at every ACK: dx/dn = -d over round trips n, x the distance to the top.

    W = 25,600 and beta = 7/8, so x = 3200 at first. 98 round trips at 32 a round trip leave 64; 2 ln(64 / 0.02) = 16.142 at
    x / 2 leave 0.02, and 0.01 a round trip takes two more; one is recovery. Packets of those 117.142:
    22,400 + 98 (22,400 + 3136 / 2) + 16.142 x 25,600 - 2 (64 - 0.02) + 2 x 25,600 - 0.02 = 2,835,573.
    """
    p = 1 / 2_835_573
    assert theory.response("bic", p) == pytest.approx(2_835_573 / 117.142, rel=1e-5)


PERIODIC = """
duration = "{duration}"
stack = "rfc"
warmup = "{warmup}"
[tcp]
receive_window = "400 MB"
send_buffer = "400 MB"
delayed_ack_segments = 1
ssthresh_initial = "70 KB"
[template]
kind = "dumbbell"
rate = "100 Gbps"
access_rate = "100 Gbps"
access_delay = "0 s"
delay = "5 ms"
loss = {{ periodic = {every} }}
packets = "data"
[[traffic]]
name = "flow"
from = "sender"
to = "receiver"
kind = "bulk"
congestion_control = {controller}
"""


@pytest.mark.parametrize(
    ("controller", "every"),
    [
        ('{ kind = "bic", fast_convergence = false }', 1000),
        ('"bic"', 1000),
        ('"scalable"', 200),  # at its low window
        ('"scalable"', 150),  # below it
        ('"scalable"', 1000),
    ],
)
def test_forms_against_simulations_with_periodic_loss(controller: str, every: int) -> None:
    """A path of 10 ms. Scalable's form leaves recovery out, one round trip of 14."""
    done = el.run(PERIODIC.format(duration="300 s", warmup="200 s", every=every, controller=controller), seed=1)
    window = measures.statistic(done, "window_segments.mean")
    name = "bic" if "bic" in controller else "scalable"
    assert window == pytest.approx(theory.response(name, 1 / every), rel=0.05 if name == "bic" else 0.1)


def test_scalable_is_reno_below_its_low_window() -> None:
    """Kelly 2003: lwnd = 16 segments. sqrt(1.5 / 0.02) = 8.66; without it ln(1.01) / -ln(0.875) / 0.02 = 3.73."""
    assert theory.response("scalable", 0.02) == pytest.approx(8.660, abs=1e-3)
    assert theory.response("scalable", 0.005) == 16
    assert theory.response("scalable", 0.02, low_window=1) == pytest.approx(3.726, abs=1e-3)


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (lambda: theory.response("htcp", 1e-3, beta=1.0), 'beta of "htcp" must be above 0 and below 1, not 1'),
        (lambda: theory.response("htcp", 1e-3, rtt_scaling=1), 'rtt_scaling of "htcp" is True or False, not 1'),
        (lambda: theory.response("bic", 1e-3, beta=1.0), 'beta of "bic" must be above 0 and below 1, not 1'),
        (lambda: theory.response("bic", 1e-3, s_min=50), 's_min of "bic" must be at most s_max, 32, not 50'),
        (lambda: theory.response("scalable", 1e-3, b=1.5), 'b of "scalable" must be above 0 and below 1, not 1.5'),
        (lambda: theory.response("griddt", 1e-3, a=-1), 'a of "griddt" must be positive and finite, not -1'),
        (lambda: theory.response("cubic", 1e-3, beta=1.5), 'beta of "cubic" must be above 0 and below 1, not 1.5'),
        (lambda: theory.response("cubic", 1e-3, bet=0.7), '"cubic" does not take "bet"; did you mean "beta"?'),
        (lambda: theory.response("highspeed", 1e-3, beta=0.7), '"highspeed" does not take "beta" or any other parameter'),
        (lambda: theory.mathis(1e-3, "100 ms", constant=-1), "constant must be positive, not -1"),
        (lambda: theory.headroom(10e9, math.nan), "length must be 0 or more and finite, not nan"),
        (lambda: theory.headroom_exact(10e9, 1, ports=math.inf), "ports must be a whole number from 1 on, not inf"),
        (lambda: theory.txqueuelen_needed(100, growth=0.5), "the growth of a window in slow start is 1 or more, not 0.5"),
    ],
)
def test_values_outside_of_their_range_are_one_line(wrong: Callable[[], object], line: str) -> None:
    with pytest.raises(InputError) as caught:
        wrong()
    assert str(caught.value) == line


_GOOD = {"p": 1e-3, "rtt": 0.1, "rate": 1e9, "length": 100, "f": 1e9, "s": 1e8, "memory": 5e5, "frame": 1000, "packets": 45_000}
_GOOD |= {"window": 100, "room": 356, "duration": 60, "buffer": 6e5, "read": 8e8, "network": 8e8, "write": 4e8, "cache": 1e8}
_GOOD |= {"inflow": 8e8, "read_ahead": 1e5, "latency": 1e-3, "load": 0.5, "service_time": 0.01, "size": 2.5e5, "quanta": 60}
_GOOD |= {"alpha": 0.5}
FORMS = [
    f
    for n, f in inspect.getmembers(theory, inspect.isfunction)
    if f.__module__ in ("elephan.theory", "elephan.theory.response") and n[0] != "_"
]


@pytest.mark.parametrize("form", [f for f in FORMS if f is not theory.response], ids=lambda form: form.__name__)
@pytest.mark.parametrize("wrong", [math.nan, -1, "x", None])
def test_every_form_refuses_nonsense(form: Callable[..., object], wrong: object) -> None:
    for name, about in inspect.signature(form).parameters.items():
        if about.default is None or isinstance(about.default, bool):  # given with another, or a switch
            continue
        others = {k: _GOOD[k] for k, v in inspect.signature(form).parameters.items() if v.default is v.empty}
        with pytest.raises(InputError, match=r"^.+$"):
            form(**{**others, name: wrong})
