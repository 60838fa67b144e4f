"""Writes docs/bands.md and its figure: congestion controls over each kind of link that varies.

    python docs/bands.py [--check]        (make bands)

Each kind of link has ten traces, and each trace is a repetition: seed N runs over trace N. The runs are ordinary sweeps whose
trials are kept, so that a second call only draws and writes. With --check nothing is written, and the exit status says whether the
page is what the runs say.
"""

import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import elephan as el
from elephan.base.quantity import show
from elephan.base.stats import Interval
from elephan.experiment.sweep import Sweep
from elephan.experiment.trials import Trial, Variant
from elephan.report import palette
from elephan.report.figure import draw
from elephan.report.style import Drawing, new_figure

HERE = Path(__file__).parent
PAGE, PICTURE = HERE / "bands.md", HERE / "images" / "bands.png"
SCENARIOS = HERE / "examples" / "bands"
WORK = HERE.parent / "results" / "bands"
SECONDS, TRACES = 60, 10
LEAST_MS = 20.0  # of the axis of delays
MSS = 1448  # bytes of a segment with time stamps

LINKS: Mapping[str, str] = {
    "fixed": "6 Mb/s all the time",
    "markov": "0 to 12 Mb/s in steps of 3 Mb/s, a step each second in the mean",
    "cellular": "wanders from 0 to 12 Mb/s, with outages",
    "wifi": "62.7 Mb/s in the mean, in aggregates of 32 packets",
    "leo": "50 to 250 Mb/s; rate and delay change each 15 s, with losses",
}
CONTROLS = {"bbr": "BBR", "cubic": "CUBIC", "reno": "Reno", "copa": "Copa", "prague": "Prague"}
# What a sender can do with marks: Prague needs accurate ECN, CUBIC and Reno answer a mark as a loss, the others do not answer.
ECN = {"prague": "accurate", "cubic": "classic", "reno": "classic"}
QUEUES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "fifo": ("FIFO", {"kind": "fifo", "limit": "2 bdp"}),
    "dualpi2": ("DualPI2", {"kind": "dualpi2"}),
}
USED, P50, P95 = "capacity_used.max", "last_rtt_ns.p50", "last_rtt_ns.p95"
GOODPUT, AGAIN, JAIN = "goodput_bps.sum", "each.retransmitted", "goodput_bps.jain"
COLUMNS = ((GOODPUT, "goodput", "bps"), (USED, "capacity used", "%"), (P50, "RTT p50", "s"), (P95, "RTT p95", "s"))


def with_share(values: Mapping[str, float]) -> dict[str, float]:
    """Returns the statistics of a run, and which share of its data segments were retransmissions."""
    again = values["retransmits.sum"]
    return {**values, AGAIN: again / (again + values[GOODPUT] * SECONDS / 8 / MSS)}


def trace_of(link: str, number: int) -> tuple[str, str]:
    """Returns the name and the text of a trace of a kind of link."""
    if link == "fixed":
        return "fixed.csv", f"time_s,rate_mbps\n0,6\n{SECONDS},6\n"
    text = el.link_trace(link, SECONDS, seed=number)
    return f"{link}.{'csv' if text.startswith('time') else 'trace'}", text


def point(link: str, file: str, control: str, queue: str, flows: int) -> dict[str, Any]:
    """Returns what a variant sets in its scenario."""
    trace = {"trace": file}
    found: dict[str, Any] = {"template.rate": trace, "template.queue": QUEUES[queue][1]}
    if link == "leo":
        found |= {"template.delay": trace, "template.loss": trace}
    for name in ("first", "second")[:flows]:
        found[f"traffic.{name}.congestion_control"] = control
        if queue == "dualpi2" and control in ECN:
            found[f"traffic.{name}.tcp.ecn"] = ECN[control]
    return found


def label(link: str, control: str, queue: str) -> str:
    """Returns the label of a variant."""
    return f"{link}/{control}/{queue}"


def swept(flows: int) -> Sweep:
    """Returns the trials of all links, controls and queues: seed N is of trace N."""
    queues = list(QUEUES) if flows == 1 else ["fifo"]
    keys = [(link, control, queue) for link in LINKS for control in CONTROLS for queue in queues]
    variants = [Variant(label(*key), dict(zip(("link", "control", "queue"), key, strict=True))) for key in keys]
    rows: list[Trial] = []
    facts: dict[str, Any] = {}
    for number in range(1, TRACES + 1):
        folder = WORK / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        files = {}
        for link in LINKS:
            files[link], text = trace_of(link, number)
            (folder / files[link]).write_text(text, encoding="utf-8")
        name = ("one.toml", "two.toml")[flows - 1]
        (folder / name).write_text((SCENARIOS / name).read_text(encoding="utf-8"), encoding="utf-8")
        found = el.sweep(
            folder / name,
            design=[point(link, files[link], control, queue, flows) for link, control, queue in keys],
            seed=number,
            statistics=[GOODPUT, USED, P50, P95, "retransmits.sum", *([JAIN] if flows > 1 else [])],
            store=WORK / "trials",
        )
        if found.failures:
            sys.exit(f"trace {number}: {found.failures}")
        of = dict(zip(found.labels, (one.label for one in variants), strict=True))
        rows += [Trial(of[row.variant], row.seed, with_share(row.values)) for row in found.trials]
        facts = {**found.facts, "flows": {variant.label: flows for variant in variants}, "set": {}}
        print(f"{flows} flow{'s' if flows > 1 else ''}, trace {number}", file=sys.stderr, flush=True)
    return Sweep(f"bands-{flows}", variants, rows, facts)


def cell(interval: Interval, unit: str) -> str:
    """Returns a mean with its interval, in one unit."""
    if unit == "%":
        low, mean, high = (f"{100 * one:.1f}" for one in (interval.low, interval.mean, interval.high))
        return f"{mean} % ({low} to {high})"
    return f"{show(interval.mean, unit)} ({show(interval.low, unit)} to {show(interval.high, unit)})"


def table(sweep: Sweep, queue: str, link: str) -> Iterator[str]:
    """Yields the rows of a link and a queue, one for each control."""
    more = [(AGAIN, "retransmitted", "%"), *([(JAIN, "Jain's index", "1")] if JAIN in sweep.statistics else [])]
    columns = [*COLUMNS, *more]
    yield f"| control | {' | '.join(name for _, name, _ in columns)} |"
    yield "|---|" + "---|" * len(columns)
    for control, spoken in CONTROLS.items():
        cells = []
        for statistic, _, unit in columns:
            found = sweep.interval(label(link, control, queue), statistic)
            scale = 1e-9 if statistic.endswith(("p50", "p95")) else 1.0
            cells.append(cell(Interval(found.mean * scale, found.low * scale, found.high * scale, found.n), unit))
        yield f"| {spoken} | {' | '.join(cells)} |"


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def listed(names: list[str]) -> str:
    """Returns names as a sentence has them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def extremes(sweep: Sweep, link: str, queue: str, statistic: str, most: bool) -> tuple[str, list[str]]:
    """Returns the control with the highest or lowest mean, and those that its paired interval does not tell from it."""
    sign = 1 if most else -1
    best = max(CONTROLS, key=lambda one: sign * sweep.interval(label(link, one, queue), statistic).mean)
    alike = []
    for other in CONTROLS:
        if other != best:
            apart = sweep.difference(label(link, best, queue), label(link, other, queue), statistic)
            if apart.n < 2 or apart.low <= 0 <= apart.high:
                alike.append(CONTROLS[other])
    return best, alike


def follows(sweep: Sweep, link: str, queue: str) -> str:
    """Returns what the rows of a link and a queue say, in sentences."""
    said = []
    for statistic, most, verb in ((USED, True, "uses most of the link"), (P95, False, "has the shortest 95th percentile")):
        best, alike = extremes(sweep, link, queue, statistic, most)
        mean = sweep.interval(label(link, best, queue), statistic).mean
        value = percent(mean) if statistic == USED else show(mean * 1e-9, "s", 3)
        said.append(f"{CONTROLS[best]} {verb}: {value}.")
        if alike:
            said.append(f"The traces do not tell {listed(alike)} from it.")
    best, _ = extremes(sweep, link, queue, USED, True)
    calm, _ = extremes(sweep, link, queue, P95, False)
    if best == calm:
        return " ".join(said)
    share = sweep.ratio(label(link, calm, queue), label(link, best, queue), GOODPUT).mean
    longer = sweep.ratio(label(link, best, queue), label(link, calm, queue), P95).mean
    said.append(f"{CONTROLS[calm]} gets {percent(share)} of the goodput of {CONTROLS[best]}.")
    said.append(f"The 95th percentile of {CONTROLS[best]} is {longer:.1f} times as long.")
    return " ".join(said)


def against_fixed(sweep: Sweep) -> Iterator[str]:
    """Yields how much less of each link a control uses than of the fixed one, in points of per cent."""
    links = list(LINKS)[1:]
    yield f"| control | {' | '.join(links)} |"
    yield "|---|" + "---|" * len(links)
    for control, spoken in CONTROLS.items():
        found = [sweep.difference(label(link, control, "fifo"), label("fixed", control, "fifo"), USED) for link in links]
        cells = [f"{100 * one.mean:+.1f} ({100 * one.low:+.1f} to {100 * one.high:+.1f})" for one in found]
        yield f"| {spoken} | {' | '.join(cells)} |"


def worst_fall(sweep: Sweep) -> str:
    """Returns which control loses most against the fixed link, and where, in a sentence."""
    falls = {
        (link, control): sweep.difference(label(link, control, "fifo"), label("fixed", control, "fifo"), USED).mean
        for link in list(LINKS)[1:]
        for control in CONTROLS
    }
    link, control = min(falls, key=lambda key: falls[key])
    return f"{CONTROLS[control]} over `{link}` falls most: {100 * falls[link, control]:+.1f} points."


def against_fifo(sweep: Sweep) -> Iterator[str]:
    """Yields what DualPI2 instead of the FIFO does to each control on each link."""
    yield f"| link | {' | '.join(CONTROLS.values())} |"
    yield "|---|" + "---|" * len(CONTROLS)
    for link in LINKS:
        cells = []
        for control in CONTROLS:
            one, other = label(link, control, "dualpi2"), label(link, control, "fifo")
            cells.append(f"{sweep.difference(one, other, USED).mean * 100:+.1f}, {sweep.ratio(one, other, P95).mean:.2f}")
        yield f"| {link} | {' | '.join(cells)} |"


def marked(sweep: Sweep) -> str:
    """Returns for how many links and controls DualPI2 shortens the 95th percentile, and for how many the link is used less."""
    pairs = [(label(link, one, "dualpi2"), label(link, one, "fifo")) for link in LINKS for one in CONTROLS]
    shorter = sum(sweep.difference(*pair, P95).high < 0 for pair in pairs)
    less = sum(sweep.difference(*pair, USED).high < 0 for pair in pairs)
    return (
        f"Of {len(pairs)} pairs of link and control, DualPI2 shortens the 95th percentile in {shorter}."
        f" The link is used less in {less}. Only differences whose interval is without 0 count."
    )


def shares(sweep: Sweep) -> Iterator[str]:
    """Yields the controls whose two flows share each link most and least equally."""
    for link in LINKS:
        best, alike = extremes(sweep, link, "fifo", JAIN, True)
        worst, _ = extremes(sweep, link, "fifo", JAIN, False)
        high, low = (sweep.interval(label(link, one, "fifo"), JAIN).mean for one in (best, worst))
        yield f"- `{link}`: {CONTROLS[best]} has the highest index, {high:.3f}, and {CONTROLS[worst]} the lowest, {low:.3f}."
        if alike:
            yield f"  The traces do not tell {listed(alike)} from {CONTROLS[best]}."


def figure(sweep: Sweep) -> Drawing:
    """Returns a panel for each link: capacity used over the 95th percentile of the round trip, with both intervals."""
    drawn, axes = new_figure(rows=2, columns=3, height=5.6)
    for place, link in zip(axes, LINKS, strict=False):
        seen: list[float] = []
        for control, spoken in CONTROLS.items():
            look = palette.CONTROLS[control]
            for queue, marker in (("fifo", "o"), ("dualpi2", "^")):
                key = label(link, control, queue)
                delay, used = sweep.interval(key, P95), sweep.interval(key, USED)
                x, low, high = delay.mean / 1e6, max(delay.low / 1e6, LEAST_MS), delay.high / 1e6
                seen += [low, high]
                place.plot([low, high], [100 * used.mean] * 2, color=look.color, linewidth=1.1)
                place.plot([x, x], [100 * used.low, 100 * used.high], color=look.color, linewidth=1.1)
                name = {"label": spoken} if queue == "fifo" and link == "fixed" else {}
                place.plot([x], [100 * used.mean], color=look.color, marker=marker, markersize=5, linestyle="none", **name)
        place.set_title(link)
        draw.log_axis(place, "x", 0.8 * min(seen), 1.25 * max(seen))
        place.set_xlabel("RTT, 95th percentile (ms)")
        place.set_ylabel("capacity used (%)")
        place.set_ylim(0, 105)
    draw.legend(axes[0])
    axes[5].set_axis_off()
    return Drawing("bands", "Controls over links that vary", "", drawn)


def wrapped(words: str) -> str:
    """Returns a paragraph in lines of at most 100 columns."""
    return textwrap.fill(" ".join(words.split()), 100, break_long_words=False, break_on_hyphens=False)


HEAD = """# Bands: congestion controls over links that vary

For readers who choose a congestion control for a cellular, satellite or Wi-Fi link. Written by
`make bands` from its runs; do not edit. Each number has a band: the 95 % interval over {traces} traces.

![Capacity used over the 95th percentile of the round trip, for five links](images/bands.png)

In the figure a circle is the FIFO and a triangle is DualPI2. The lines are the intervals of both
numbers. Up and to the left is better.

## What runs

One bulk flow runs for {seconds} s over a bottleneck that follows a trace. The propagation delay is 20 ms
one way, and `leo` has its own. The links are [models](models/link-traces.md) with their defaults:

{links}

Seed N runs over trace N of its kind, so all controls meet the same {traces} traces. Differences are
taken trace by trace. The first queue is a FIFO of two bandwidth-delay products of the mean rate. The
second is DualPI2 with its defaults. There Prague has accurate ECN, CUBIC and Reno classic ECN, and
BBR and Copa none, because they do not answer marks. Over the FIFO nobody has ECN. All numbers count
from the start of the flow, slow start included. The round trips are samples of the last round trip,
every 20 ms.
"""
LIMITS = """## What this cannot say

- The parameters of the links are assumptions, and no measurements. Another cellular link has another
  order of controls.
- A trace lasts {seconds} s, so what a control does in hours is not here.
- A model of Wi-Fi without collisions, and one flow per queue, leave out much of what happens at home.
- The scenarios are in `docs/examples/bands`. Change them and run `make bands` again.
"""


def text(one: Sweep, two: Sweep) -> str:
    """Returns the page."""
    links = "\n".join(f"- `{link}`: {words}." for link, words in LINKS.items())
    lines = [HEAD.format(traces=TRACES, seconds=SECONDS, links=links)]
    for link in LINKS:
        lines += [f"## One flow over `{link}`", ""]
        for queue, (spoken, _) in QUEUES.items():
            lines += [wrapped(f"**{spoken}.** {follows(one, link, queue)}"), ""]
            lines += [*table(one, queue, link), ""]
    lines += ["## Against the fixed link", ""]
    lines += [
        wrapped(f"How many points of capacity a control uses more or less than over `fixed`, with the FIFO. {worst_fall(one)}"),
        "",
    ]
    lines += [*against_fixed(one), "", "## DualPI2 instead of the FIFO", ""]
    lines += [
        wrapped(f"The first number is the points of capacity used, the second the ratio of the 95th percentiles. {marked(one)}"),
        "",
    ]
    lines += [*against_fifo(one), "", "## Two flows of one control", ""]
    lines += [
        wrapped(
            "Two flows of one control share the FIFO. Jain's index says how equally they share: 1 is equal, 0.5 is one flow alone."
        ),
        "",
    ]
    lines += [*shares(two), ""]
    for link in LINKS:
        lines += [f"**`{link}`**", "", *table(two, "fifo", link), ""]
    return "\n".join([*lines, LIMITS.format(seconds=SECONDS)])


def main(words: list[str]) -> int:
    """Writes the page and its figure, or says whether the page is current."""
    one, two = swept(1), swept(2)
    found = text(one, two)
    if "--check" not in words:
        PAGE.write_text(found, encoding="utf-8")
        PICTURE.write_bytes(figure(one).png())
        return 0
    if PAGE.read_text(encoding="utf-8") != found:
        print(f"{PAGE} is not current: python docs/bands.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
