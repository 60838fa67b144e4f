"""Draws the picture of docs/models/traffic.md: the published distributions of sizes, and the slowdown of flows by size.

python docs/examples/sizes.py docs/images/sizes.png
"""

import sys
from pathlib import Path

import elephan as el
from elephan.statistic import measures

DATA = Path(__file__).parents[2] / "crates" / "traffic" / "data"
BINS = (100, 1_000, 10_000, 100_000, 1_000_000)
CONTROLS = {
    "DCQCN": '{ kind = "dcqcn", preset = "mellanox-cx4" }',
    "DCQCN, in_flight rate": '{ kind = "dcqcn", preset = "mellanox-cx4", in_flight = "rate" }',
    "HPCC": '"hpcc"',
}
SCENARIO = """
duration = "20 ms"
[template]
kind = "star"
clients = 8
servers = 0
rate = "25 Gbps"
delay = "1 us"
memory = "32 MB"
flow_control = { kind = "pfc", alpha = 0.11 }
[template.queue]
kind = "red"
min = "100 kB"
max = "400 kB"
probability = 0.2
weight = 1
spaced = false
ecn = true
mark_only = true
limit = "32 MB"
[[traffic]]
from = "client"
to = "client"
kind = "transfers"
size = { cdf = "hadoop" }
pairing = "random"
load = "100 Gbps"
transport = "roce"
congestion_control = CONTROL
"""


def distributions(axes, colors):
    for file, color in zip(sorted(DATA.glob("*.csv")), colors, strict=False):
        lines = [line for line in file.read_text().splitlines() if line[0].isdigit()]
        sizes, shares = zip(*(map(float, line.split(",")) for line in lines), strict=True)
        axes.plot([max(size, 1) for size in sizes], shares, color=color, label=file.stem)
    axes.set(xscale="log", xlim=(30, 1e9), ylim=(0, 1), xlabel="size (B)")
    axes.set_title("Share of the flows up to a size")
    axes.legend(loc="lower right", frameon=False)


def slowdowns(axes, colors):
    for (name, control), color in zip(CONTROLS.items(), colors, strict=False):
        run = el.run(SCENARIO.replace("CONTROL", control))
        for take, style in (("p50", ":"), ("p99", "-")):
            parts = [f"slowdown[size > {low} B, size <= {10 * low} B].{take}" for low in BINS]
            values = [measures.statistic(run, part) for part in parts]
            axes.plot([3 * low for low in BINS], values, style, color=color, marker="o", markersize=3, label=f"{name}, {take}")
    axes.set(xscale="log", yscale="log", xlabel="size (B), bins of a decade")
    axes.set_yticks([1, 3, 10, 30, 100, 300, 1000], ["1", "3", "10", "30", "100", "300", "1000"])
    axes.minorticks_off()
    axes.set_title("Slowdown of flows, hadoop at half the load")
    axes.legend(loc="upper right", frameon=False, fontsize=7)


def picture(file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from elephan.report.style import SERIES, SETTINGS

    with plt.rc_context(SETTINGS):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
        distributions(left, SERIES)
        slowdowns(right, SERIES)
        figure.savefig(file, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/examples/sizes.py OUT.png")
    picture(sys.argv[1])
