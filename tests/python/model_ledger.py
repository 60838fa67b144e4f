"""What `test_model_numbers` need not compute: settings of what a page says that it ran, and results that another test holds.

`SETTINGS` are numbers with their units, as a scenario has them. `ELSEWHERE` has the first words of a passage and the reason, which
is `FILE::TEST` where a test has the numbers as literals; `RULE` where they are no results but a rule, a parameter or a
value of a source.
"""

from __future__ import annotations

RULE = "a rule, a parameter or a value of a source"
TIME = "processor time of one machine: no test judges by the clock"

_TRANSMIT, _SMALL = "crates/sim/tests/transmit.rs", "crates/sim/tests/small_queues.rs"
_PCP, _ROCE = "crates/sim/tests/pcp.rs", "crates/sim/tests/roce.rs"
_JITTER = "tests/python/test_l4s.py::test_jitter_costs_prague_what_its_page_says"
_DESIGNS = "tests/python/test_designs.py::test_coverage_of_the_sequential_rule"

SETTINGS: dict[str, str] = {
    "models/aqm": "30 s 20 1 ms 10 Mb/s 4 Mb/s",
    "models/bbr": "100 Mbps 40 ms 10 Mbps 200 KB 1 MB 20 50 KB 30 s 100 8",
    "models/bbr3": "1 2 % 3 40 Mb/s 160 Mb/s 5 ms 20 ms 100 ms",
    "models/copa": "0 5 10 15 s 20 s 5 s 10 s 1 us 10 us 1 ms 100 Mbps 1 Gbps 3 s 1 %",
    "models/dctcp": "17 2010 10 1 Gb/s 46, 475, 54 Mb/s 65 20 packets",
    "models/ecm": "30 s 40 70 ms 100 ms 130 kB 5 ms 33.6 Mb/s 0 85 % 10",
    "models/fair-queueing": "40 Mbps 100 15 35 ms 200 packets 1250 390 s 50 ms 25 ms 15 % 30 % 45 % 60 % 75 % 90 % 1 0 0.5 1.5",
    "models/fast": "200 segments 1 Gb/s 10 Mb/s 34",
    "models/highspeed": "1 %",
    "models/hybla": "25 ms 100 ms",
    "models/illinois": "1 %",
    "models/lp": "949, 193 Mbit/s 1 ms 100 us 1 us 20 Mbit/s 100 ms 60 s",
    "models/pcp": "15 ms 35 ms 125 5 % 1 ms 15 60 s 20 s 1 2 5 10 20 25 ms 40 Mbit/s",
    "models/pfc": "3 0 7.9 Gb/s 2 Gb/s",
    "models/prague": "1 2 2:1 3 4 12 40 Mb/s 120 Mb/s 200 Mb/s 100 Mb/s 50 Mb/s 10 Mb/s 4 Mb/s 12 Mb/s 0 5 10 20 80 5 ms 10 ms "
    "20 ms 25 ms 50 ms 80 ms 100 ms 15 ms 120 s 90 60 s 40 1 ms 99 % 160 Mb/s 90 % 2 ms 0.5 8 10 %",
    "models/qcn": "10 ms 2 Gb/s 1.2 Gb/s 95 % 0.5 Gb/s 300 ms 100 0 2.2 100 ms 50 ms",
    "models/receive": "5000, 1538 B, 1 Gb/s, 15 us, 1, 50 000",
    "models/reno": "20 000 packets, 50 Mb/s 100 ms 20 s",
    "models/swift": "10 Gb/s 0 5 10 ms 20 us",
    "models/timely": "10 Gb/s 90 % 300 ms 5 us 4 10 20 40",
    "models/traffic": "1.2, 8000 B, 4 B, 10",
    "models/vegas": "20 ms",
    "models/westwood": "1 % 600 ms",
    "models/xcp": "2 ms 10 Gb/s 1 2 4 40 ms 100 Mbit/s 330 ms 40",
    "models/yeah": "1 %",
}

ELSEWHERE: dict[str, list[tuple[str, str]]] = {
    "models/aqm": [
        ("**What all do alike.**", RULE),
        ("**Slow links.**", "the frame and the two ratios are in held_models"),
        ("It has 1024 queues", RULE),
    ],
    "models/bbr": [
        ("On a pipe of 8 Mbit/s", "crates/cc/src/algorithm/bbr/tests.rs::it_converges_to_the_rate_and_the_content_of_the_pipe"),
        ("Each flow draws", RULE),
        ("`extra` may stay", RULE),
    ],
    "models/bbr3": [("What is not given", RULE)],
    "models/collectives": [
        ("- The **bus bandwidth**", "tests/python/test_ranks.py::test_statistics_are_of_the_rows"),
        ("The time of a reduction itself", "crates/goal/src/collective/tests.rs::what_an_algorithm_does_not_do_is_told"),
    ],
    "models/copa": [("In equilibrium", "crates/cc/src/algorithm/copa.rs::it_fills_the_pipe_with_a_short_queue")],
    "models/cpu": [("- the mean wait of M/D/1", "crates/host/tests/cpu.rs::overload_begins_at_a_hundred_segments")],
    "models/dcqcn": [("The tests have literals", f"{_ROCE}::dcqcn_shares_a_port_alike")],
    "models/ecm": [
        ("Low-rate sources", "crates/sim/tests/congestion.rs::ecm_settles_at_its_set_point"),
        ("**Left out.**", RULE),
    ],
    "models/fast-open": [("**No answer to the option.**", RULE)],
    "models/fast-to-slow": [
        ("Rates are on the wire.", RULE),
        ("- Over five OC rates", "tests/python/test_bursts.py::test_the_border_over_the_grid"),
    ],
    "models/highspeed": [("Presets:", RULE)],
    "models/hpcc": [("The tests have literals", f"{_ROCE}::hpcc_keeps_the_queue_empty")],
    "models/illinois": [("Before the first round trip", RULE)],
    "models/link-traces": [("**Courses** (CSV).", RULE)],
    "models/pcp": [
        ("A lone flow has 200 packets", f"{_PCP}::a_lone_flow_doubles_its_probes"),
        ("| probe | 0.8", f"{_PCP}::a_lone_flow_doubles_its_probes"),
        ("Each success adds", f"{_PCP}::a_lone_flow_doubles_its_probes"),
        ("With history of a flow", f"{_PCP}::history_shortens_the_start"),
    ],
    "models/ports": [
        ("**Shared memory**", "crates/sim/tests/pause.rs::memory_in_cells"),
        ("Frames shorter than full ones", "crates/sim/tests/pfc.rs::drops_in_the_worst_case"),
        ("The switch of the DCTCP paper", "crates/sim/tests/thresholds.rs::one_busy_port_of_a_triumph"),
    ],
    "models/prague": [
        ("**Behind jitter.**", _JITTER),
        ("| mean of the jitter", _JITTER),
        ("So Prague loses", _JITTER),
        ("| queue | line, round trip", "the columns of measurements are those of the source, the others are in held_models"),
        ("At 50 Mb/s DualPI2 agrees", "what follows from the table above it, and a range that is in held_models"),
        ("The authors of RFC 9332", "what the source says; the two medians are in held_models"),
    ],
    "models/qcn": [("`crates/link/src/congestion/`", "crates/sim/tests/congestion.rs::qcn_settles_at_its_set_point")],
    "models/rack": [("RFC 8985 section 7.", RULE), ("- The search in the scoreboard", "the list is of tests")],
    "models/roce": [("on average: a loss", f"{_ROCE}::go_back_n_loses_what_its_closed_form_says")],
    "models/rounds": [("| what | equation", RULE), ("Which streams lose together", RULE)],
    "models/uec": [
        ("| what | rule", RULE),
        ("| `spray` |", RULE),
        ("Penalties are", RULE),
        ("`elephan sweep slow.toml`", RULE),
        ("**What to expect.**", "crates/sim/tests/uec.rs::one_flow_takes_what_the_reference_takes"),
        ("| | one path", "tests/python/test_uec.py::test_the_table_of_the_page_is_that_of_its_scenario"),
    ],
    "models/scalable": [
        ("Kelly's", "crates/cc/src/algorithm/scalable.rs::the_response_function_is_inverse_to_the_loss_rate"),
    ],
    "models/schedulers": [("Bytes are those charged", RULE)],
    "models/slow-start": [
        ("| kind | rule | ends", RULE),
        ("The ACKs of a round", "crates/tcp/tests/loopback/linux.rs::hystart_of_a_slow_link_ends_at_36"),
    ],
    "models/tcp": [
        ("On stack `linux`", RULE),
        ("- `accecn_option`", RULE),
        ("- The congestion control says how many", RULE),
        ("- **Charge.**", RULE),
        ("In flight, a segment is 16 bytes", RULE),
    ],
    "models/programs": [
        ("**Datagrams.** All from one", RULE),
    ],
    "models/traffic": [
        ("| name | from | mean", RULE),
        ("`gap = { bernoulli = p }`", RULE),
        ("Every draw comes", RULE),
    ],
    "models/transmit": [
        ("`crates/sim/tests/transmit.rs` shows", f"{_TRANSMIT}::a_short_queue_ends_slow_start"),
        ("| txqueuelen", f"{_TRANSMIT}::a_short_queue_ends_slow_start"),
        ("These are figures", f"{_TRANSMIT}::delayed_acks_stall_later"),
        ("The tests also show", f"{_TRANSMIT}::pacing_at_the_device_needs_no_buffer"),
        ("`crates/sim/tests/small_queues.rs` shows", f"{_SMALL}::the_bound_is_all_that_waits"),
    ],
    "models/swift": [("Four flows at 1 Gb/s end", "crates/sim/tests/swift.rs::flows_keep_a_slow_host_at_its_target")],
    "statistics": [
        ("| what | interval", RULE),
        ("The interval of a quantile", RULE),
        ("A sweep that compares", "an example of a sentence"),
        ("Repetitions without any difference", RULE),
        ("Drawn points come", RULE),
        ("`elephan study run NAME --until 40`", "an example of a command, and its rule"),
        ("A rule that stops", _DESIGNS),
        ("| needed | normal draws", _DESIGNS),
    ],
    "compare": [("One percent of the capacity", RULE)],
    "conformance": [
        ("An interval that is looked at", RULE),
        ("All checks of a class", TIME),
    ],
}
