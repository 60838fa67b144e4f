"""What the study shows: its answer, and the slides again."""

from __future__ import annotations

import math
from collections.abc import Sequence

from elephan.base.quantity import show
from elephan.experiment.study import Results
from elephan.report.page.page import Section
from elephan.studies.uva_2003 import layer2, streams
from elephan.studies.uva_2003.layer2 import value


def answer(results: Results) -> list[str]:
    """The answer, with its numbers."""
    sentences = [_memory(results), _early(results), _remedies(results), _receiver(results), _ideal(results)]
    return [
        *(s for s in sentences if s),
        "Nothing is random but the starts of some streams and the cross traffic of the last experiment: else one run is enough.",
    ]


def _rate(results: Results, experiment: str, variant: str, statistic: str = streams.GOODPUT) -> str:
    found = value(results, experiment, variant, statistic)
    return "" if math.isnan(found) else show(found, "bps")


def _memory(results: Results) -> str:
    words = layer2.lost_words(results)
    return (
        "A window that leaves at f loses before a slower link s exactly where (f - s) / f x s x RTT is more than the "
        "memory there, and the first packet "
        f"that a burst of UDP loses measures this memory: {words} times what it is."
        if words
        else ""
    )


def _early(results: Results) -> str:
    loss = _rate(results, "early", "loss at the slow link/Reno")
    stall = _rate(results, "early", "stall in the sender/Reno")
    better = [_rate(results, "early", f"{v}/HSTCP") for v in ("loss at the slow link", "stall in the sender")]
    if not loss or not stall or not all(better):
        return ""
    return (
        f"One Reno stream over 100 ms gets {loss} in its first minute after a loss in slow start (622.08 Mb/s, 0.5 MB "
        f"of memory), and {stall} of a "
        f"gigabit when only its own host's queue of 100 packets refuses a segment; HSTCP gets {better[0]} and {better[1]}."
    )


def _remedies(results: Results) -> str:
    paced = _rate(results, "modifications", "622 Mb/s/pacing 600 Mb/s, TXQ 10000")
    plain = _rate(results, "modifications", "622 Mb/s/TXQ 10000")
    short, deep = (_rate(results, "txqueuelen", label) for label in ("100", "2000"))
    parts = []
    if paced and plain:
        parts.append(f"Pacing at the device at 600 Mb/s makes {plain} into {paced} with the same memory")
    if short and deep:
        parts.append(f"a txqueuelen of 2000 instead of 100 makes {short} of a gigabit into {deep}")
    return "; ".join(parts) + "." if parts else ""


def _receiver(results: Results) -> str:
    lost = value(results, "receiver", "5000 at 1 Gb/s/throttle", "burst_lost.sum")
    even = value(results, "receiver", "20000 at 700 Mb/s/throttle", "burst_lost.sum")
    if math.isnan(lost) or math.isnan(even):
        return ""
    return (
        f"A receiver that takes 15 µs a packet loses {lost:.0f} of 5000 that come back to back, and {even:.0f} of 20 000 that "
        "come at 700 Mb/s."
    )


def _ideal(results: Results) -> str:
    ideal = _rate(results, "jumbo", "Reno/none", "goodput_1s_bps[flow, during 50-60 s].mean")
    after = [
        _rate(results, "jumbo", f"{controller}/a second at 40 s", "goodput_1s_bps[flow, during 60-119 s].mean")
        for controller in ("Reno", "HSTCP")
    ]
    if not ideal:
        return ""
    rest = (
        f"; after one second of congestion {after[0]} with Reno and {after[1]} with HSTCP in the next minute" if all(after) else ""
    )
    return f"Jumbo frames over 196 ms without congestion carry {ideal} with plain Reno{rest}."


def sections(results: Results) -> Sequence[Section]:
    """The body of the report."""
    clock, long = layer2.clock(results), streams.long(results)
    return [
        Section(
            "Layer 2: from fast to slow",
            "Slides 3 to 6. TCP is bursty; where a fast link meets a slower one a memory has to hold what a window brings.",
            [layer2.bursts(results), *([clock] if clock else []), layer2.forbidden(results)],
        ),
        Section(
            "A stream and its hosts",
            "Slides 7 to 11: phases, the receiver, falling out of slow start without a loss, and what was changed.",
            [streams.early(results), layer2.receiver(results), streams.modifications(results)],
            [streams.phase_table(results)],
        ),
        Section(
            "Throughput",
            "Slides 12 to 17.",
            [*([long] if long else []), streams.txqueuelen(results), streams.jumbo(results)],
            [streams.table(results), streams.receivers(results), streams.starts(results)],
        ),
        Section(
            "Future work", "What slide 19 names: faster interfaces, and lambdas against routed networks.", streams.future(results)
        ),
    ]
