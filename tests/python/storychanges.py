"""What statements about changes of a run say, counted again from plain rows: goodput and queues of stretches, and silences."""

from __future__ import annotations

import re
from itertools import pairwise

from stories import QUANTITY, Rows, near, value


def stretches(rows: Rows, parts: str) -> list[tuple[list[str], float, float]]:
    """What is said of each stretch of a run, and from when to when it lasts, in ns."""
    found = []
    for part in parts.split("; "):
        one = re.search(
            rf"(?:until ({QUANTITY})|from ({QUANTITY}) to ({QUANTITY})|\(from ({QUANTITY})\)|\(({QUANTITY}) to ({QUANTITY})\))",
            part,
        )
        assert one, part
        begin = value(one[2] or one[4] or one[5]) if one[2] or one[4] or one[5] else rows.run.warmup_ns
        end = value(one[1] or one[3] or one[6]) if one[1] or one[3] or one[6] else rows.run.duration_ns
        found.append((re.findall(QUANTITY, part[: one.start()]), begin, end))
    return found


def goodput(rows: Rows, said: re.Match[str]) -> None:
    """Of each stretch: no more than what came between the samples around it, and no less than between those within."""
    samples: dict[int, list[tuple[float, float]]] = {}
    for row in rows.run.flow_samples.select(["flow", "time_ns", "delivered_bytes"]).to_pylist():
        samples.setdefault(row["flow"], []).append((row["time_ns"], row["delivered_bytes"]))
    for (rate, *_), begin, end in stretches(rows, said["parts"]):
        least = most = 0.0
        for row in rows.run.flows.to_pylist():
            last = row["delivered_bytes"]
            own = [(0, 0), *sorted(samples.get(row["flow"], [])), (rows.run.duration_ns, last)]
            before = [max((y for t, y in own if t <= at), default=0) for at in (begin, end)]
            after = [min((y for t, y in own if t >= at), default=last) for at in (begin, end)]
            least += max(before[1] - after[0], 0)
            most += after[1] - before[0]
        bits = value(rate) * (end - begin) / 8e9
        slack = 0.02 * most + 2000
        assert least - slack <= bits <= most + slack, (said[0], rate, least, most)


def queue(rows: Rows, said: re.Match[str]) -> None:
    port = rows.ports[said["port"]]["port"]
    own = [row for row in rows.run.port_samples.to_pylist() if row["port"] == port]
    for (mean, most, *_), begin, end in stretches(rows, said["parts"]):
        held = [row["queue_bytes"] for row in own if begin < row["time_ns"] <= end]
        assert len(held) >= 10
        near(most, max(held))
        near(mean, sum(held) / len(held))


def apart(rows: Rows, said: re.Match[str]) -> None:
    times = sorted({row["time_ns"] for row in rows.run.flow_samples.select(["time_ns"]).to_pylist()})
    assert times[1] - times[0] == value(said["apart"])


def still(rows: Rows, said: re.Match[str]) -> None:
    """Each flow that stood still delivered nothing new for that long while or after the link was down."""
    for name, low, high in re.findall(rf"(\S+(?: \S+)*?) for ({QUANTITY})(?: to ({QUANTITY}))?(?=,| and \d|$)", said["each"]):
        number = rows.number(name)
        own = sorted(
            (row["time_ns"], row["delivered_bytes"])
            for row in rows.run.flow_samples.select(["flow", "time_ns", "delivered_bytes"]).to_pylist()
            if row["flow"] == number
        )
        news = [t for (t, y), (_, before) in zip(own[1:], own, strict=False) if y > before]
        edges = [rows.run.flows.to_pylist()[number]["start_ns"], *news, rows.run.duration_ns]
        longest = max(b - a for a, b in pairwise(edges))
        assert value(low) <= longest * 1.001 + 2 * (own[1][0] - own[0][0]), (name, low, longest)
        assert not high or value(low) < value(high)
