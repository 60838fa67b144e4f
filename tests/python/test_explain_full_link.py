"""Where the one link that all share is full, the link limits the flows: sampled often, seldom or never, few flows or many."""

from __future__ import annotations

import random
import re

import elephan as el

TEXT = """
duration = "6 s"
warmup = "2 s"
[hosts.a]
count = {flows}
[hosts.b]
[switches.s]
[[links]]
between = ["a", "s"]
rate = "1 Gbps"
delay = "1 ms"
[[links]]
between = ["s", "b"]
rate = "{rate} Mbps"
delay = "{delay} ms"
queue = {{ kind = "fifo", limit = "{limit} bdp" }}
[[traffic]]
name = "bulk"
from = "a"
to = "b"
kind = "bulk"
{window}
congestion_control = "{control}"
[record]
{every}
"""
WIRE, PAYLOAD = 1538, 1448  # bytes of a full packet on the wire, and of its payload with time stamps


def drawn(draw: random.Random) -> dict[str, object]:
    every = draw.choice(["", 'every = "2 s"', 'every = "50 ms"'])
    values = {"flows": draw.choice([1, 2, 10]), "rate": draw.choice([4, 8]), "delay": draw.choice([5, 20]), "every": every}
    return values | {
        "limit": draw.choice([1, 2]),
        "control": draw.choice(["reno", "cubic", "bbr"]),
        "window": draw.choice(["", "", 'tcp = { receive_window = "4 kB" }']),
    }


def test_the_binding_limit_of_a_full_link_is_the_link() -> None:
    draw = random.Random(43)
    full = free = 0
    for _ in range(24):
        values = drawn(draw)
        run = el.run(TEXT.format(**values))
        # By another path than utilisation: what receivers got after the warm-up, on the wire.
        busy = sum(run.flows.column("goodput_bps").to_pylist()) * WIRE / PAYLOAD / (float(str(values["rate"])) * 1e6)
        lines = el.explain(run).limit_lines()
        share = [float(found[1]) for line in lines if (found := re.search(r"full link ([\d.]+) %", line))]
        # A link that is idle for 2 % of the time after cuts is not full: there the window binds in some samples.
        if busy > 0.985 and not values["window"]:
            full += 1
            assert len(share) == len(lines), (values, lines)
            assert all(one >= 80 for one in share), (values, busy, lines)
        elif busy < 0.9 and not values["every"]:
            free += 1
            assert not share, (values, busy, lines)
    assert full > 6
    assert free > 0
