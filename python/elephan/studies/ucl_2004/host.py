"""What packets cost the sender: goodput with and without, and the silence of its logger."""

from __future__ import annotations

import numpy as np

from elephan.experiment.claims import interval_text
from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.style import BLUE, GREEN, INK, MUTED, ORANGE, VERMILLION, Drawing, new_figure
from elephan.studies.ucl_2004.common import LEFT_BPS, NAMES, ratio
from elephan.table.rows import Part, column

COSTS = ("no cost", "no walk", "fast path", "full walk")
PAINTS = {"no cost": INK, "no walk": GREEN, "fast path": BLUE, "full walk": VERMILLION}
STACKS = ("reno", "highspeed", "scalable", "htcp")
GOODPUT = "goodput_bps[tcp].sum"
NETWORKS = {"MB-NG": "6 ms", "DataTAG": "120 ms"}


def answer(results: Results) -> str:
    """SACK processing in a sentence."""
    found = [(cost, ratio(results, "host-cbr", GOODPUT, f"scalable/{cost}", "scalable/no cost")) for cost in COSTS[1:]]
    parts = [f"{100 * share.mean:.0f} % with the {cost}" for cost, share in found if share.n and cost != "no walk"]
    gap = results.interval("host-cbr", "scalable/full walk", "logger_gap_ns.max")
    if not parts:
        return ""
    silence = f"; the logger is silent for {interval_text(gap, 'ns', 3)}" if gap.n else ""
    return f"Beside 200 Mb/s of CBR a Scalable flow gets, of its goodput with hosts that cost nothing: {', '.join(parts)}{silence}."


def goodput(results: Results) -> Drawing:
    """Goodput of a single flow beside background for each cost, stack and network."""
    networks = [point.label for point in results.experiment("host-background").points["host_network"]]
    fig, axes = new_figure(1, len(networks), height=3.2, sharey=True)
    for ax, network in zip(axes, networks, strict=True):
        for place, stack in enumerate(STACKS):
            for shift, cost in enumerate(COSTS):
                found = results.interval("host-background", f"{stack}/{cost}/{network}", GOODPUT)
                if not found.n:
                    continue
                x = place + 0.18 * (shift - 1.5)
                ax.bar([x], [found.mean * 1e-6], width=0.16, color=PAINTS[cost], label=cost if place == 2 else "")
                if np.isfinite(found.low):
                    ax.plot([x, x], [found.low * 1e-6, found.high * 1e-6], color=MUTED, linewidth=1.0)
        ax.set_xticks(range(len(STACKS)), [NAMES[stack] for stack in STACKS])
        ax.set_ylim(0, 1000)
        d.reference(ax, LEFT_BPS * 1e-6, "left by the background", "right")
        d.heading(ax, f"{network} ({NETWORKS[network]}): Mb/s")
    axes[-1].legend(loc="upper left", ncols=2, fontsize=8, frameon=False)
    caption = (
        "A single flow beside 200 Mb/s of self-similar background, buffer of one BDP. Costs of packets at the sender: none; those "
        "of a server of 2003 without the walk of SACK blocks, with the fast path, with the full walk. Means with 95 % intervals."
    )
    return Drawing("host-goodput", "A single flow, with and without what packets cost", caption, fig)


def silence(results: Results) -> Drawing:
    """Window and processor of one Scalable flow beside CBR, under the fast path and under the full walk."""
    variants = [cost for cost in ("fast path", "full walk") if results.runs("host-cbr", f"scalable/{cost}")]
    fig, axes = new_figure(2, len(variants) or 1, height=4.2, sharex=True, sharey="row")
    for place, cost in enumerate(variants):
        run = results.runs("host-cbr", f"scalable/{cost}")[0]
        samples, hosts = Part(run, "tcp").flow_samples, run.host_samples
        time, window = column(samples, "time_ns") * 1e-9, column(samples, "cwnd_bytes") / 1448
        chosen = (time >= 10) & (time <= 20)
        axes[place].plot(*d.thin(time[chosen], window[chosen]), color=PAINTS[cost], linewidth=1.0)
        d.heading(axes[place], f"{cost}: congestion window, segments")
        below = axes[len(variants) + place]
        time, cpu = column(hosts, "time_ns") * 1e-9, 100 * column(hosts, "cpu")
        chosen = (time >= 10) & (time <= 20)
        below.plot(*d.thin(time[chosen], cpu[chosen]), color=ORANGE, linewidth=0.8)
        d.heading(below, "processor busy, %")
        below.set_xlabel("simulated time, s")
        gaps = run.logger_gaps
        for begin, end in zip(column(gaps, "begin_ns") * 1e-9, column(gaps, "end_ns") * 1e-9, strict=True):
            if end > 10 and begin < 20:
                for ax in (axes[place], below):
                    ax.axvspan(begin, end, color=MUTED, alpha=0.2, linewidth=0, zorder=0)
    axes[0].set_ylim(bottom=0)
    axes[-1].set_ylim(0, 105)
    axes[0].set_xlim(10, 20)
    caption = (
        "One Scalable flow on MB-NG beside 200 Mb/s of UDP, seed 1. Shaded: the logger at user level, due every 10 ms, is silent."
    )
    return Drawing("silence", "Periods of silence", caption, fig)
