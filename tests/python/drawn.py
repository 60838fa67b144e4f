"""Random small scenarios of many kinds: queues, controllers, marks, losses, links that fail, flows that come late or not at all."""

from __future__ import annotations

import random
from typing import Any

QUEUES: tuple[dict[str, Any], ...] = (
    {"kind": "fifo", "limit": "1 bdp"},
    {"kind": "fifo", "limit": "0.2 bdp"},
    {"kind": "fifo", "limit": "30 p"},
    {"kind": "fifo", "limit": "4 bdp"},
    {"kind": "fifo", "limit": "100 p", "mark_above": "20 p"},
    {"kind": "codel", "ecn": True},
    {"kind": "fq_codel"},
    {"kind": "pie"},
    {"kind": "red", "limit": "100 p"},
    {"kind": "dualpi2"},
)
CONTROLS = ("reno", "cubic", "cubic", "bbr", "bbr3", "dctcp", "prague", "vegas", "xcp", "htcp")
ECN = ("off", "classic", "accurate", "dctcp")


def traffic(draw: random.Random, i: int, rate: float, duration: float) -> dict[str, Any]:
    """One entry of traffic between a pair of hosts."""
    kind = draw.choice(["bulk"] * 6 + ["transfers", "cbr", "onoff", "messages", "incast"])
    one: dict[str, Any] = {"name": f"t{i}", "from": f"sender[{i}]", "to": f"receiver[{i}]", "kind": kind}
    late = draw.choice([0, 0, 0, draw.uniform(0, 0.8) * duration, duration - draw.choice([0.001, 0.02])])
    one["start"] = f"{late * 1e3:.0f} ms" if late < duration - 0.0005 else f"{duration * 1e3 - 1:.0f} ms"
    if kind in ("cbr", "onoff"):
        return one | {"rate" if kind == "cbr" else "load": f"{draw.uniform(0.05, 0.8) * rate:.0f} bps"}
    one["congestion_control"] = draw.choice(CONTROLS)
    tcp: dict[str, Any] = {}
    if draw.random() < 0.5:
        tcp["ecn"] = draw.choice(ECN)
    if draw.random() < 0.15:
        tcp["receive_window"] = f"{draw.choice([8, 20, 60])} KB"
    if draw.random() < 0.15:
        tcp["initial_window"] = draw.choice([2, 40, 200])
    if draw.random() < 0.1:
        tcp["rto_min"] = draw.choice(["20 ms", "1 s"])
    if draw.random() < 0.2:
        tcp["slow_start"] = draw.choice(["classic", "hystart"])
    one |= {"tcp": tcp} if tcp else {}
    if kind == "bulk":
        one |= {"size": f"{draw.randint(2, 900)} KB"} if draw.random() < 0.3 else {}
        one |= {"connections": draw.choice([2, 5])} if draw.random() < 0.15 else {}
    elif kind == "incast":
        one |= {"size": f"{draw.choice([4, 32])} KB", "every": {"exponential": "100 ms"}}
    else:
        one |= {"size": {"exponential": f"{draw.randint(2, 60)} KB"}, "load": f"{draw.uniform(0.1, 0.7) * rate:.0f} bps"}
    return one


def scenario(seed: int) -> dict[str, Any]:
    """A dumbbell of one to three pairs, of 1 to 4 s at 2 to 20 Mb/s."""
    draw = random.Random(seed)
    rate, duration, pairs = draw.choice([2e6, 10e6, 20e6]), draw.choice([1.0, 2.0, 4.0]), draw.randint(1, 3)
    delay = draw.choice([1, 10, 40])
    found: dict[str, Any] = {
        "title": f"Drawn from {seed}",
        "duration": f"{duration} s",
        "warmup": f"{draw.choice([0, 0, 200])} ms",
        "stack": draw.choice(["rfc", "linux", "windows", "freebsd"]),
        "template": {
            "kind": "dumbbell",
            "pairs": pairs,
            "rate": f"{rate:.0f} bps",
            "delay": f"{delay} ms",
            "access_rate": f"{rate * draw.choice([1, 10, 100]):.0f} bps",
            "queue": draw.choice([one for one in QUEUES if rate * delay >= 3e7 or "bdp" not in str(one)]),
            "loss": draw.choice(["none", "none", "none", {"bernoulli": 0.01}, {"bernoulli": 0.2}, {"bernoulli": 1.0}]),
        },
        "traffic": [traffic(draw, i, rate, duration) for i in range(pairs)],
        "record": {"every": f"{draw.choice([5, 20, 20, 50, 300, 1000])} ms"},
    }
    change = draw.random()
    name = "links.left->right.up"
    if change < 0.2:
        down = draw.choice([0.0, draw.uniform(0.1, 0.7) * duration])
        found["change"] = [{"at": f"{down * 1e3:.0f} ms", "set": {name: False}}]
        if draw.random() < 0.7:
            up = down + draw.uniform(0.05, 0.9) * (duration - down)
            found["change"].append({"at": f"{up * 1e3:.0f} ms", "set": {name: True}})
    elif change < 0.3:
        at = draw.uniform(0.2, 0.8) * duration * 1e3
        found["change"] = [{"at": f"{at:.0f} ms", "set": {"links.left->right.rate": f"{draw.choice([0.2, 3]) * rate:.0f} bps"}}]
    return found
