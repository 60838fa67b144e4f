"""Draws the picture of docs/models/aqm.md: the delay of the bottleneck's queue over time, for several disciplines.

python docs/examples/aqm.py docs/images/aqm.png
"""

import sys

import elephan as el

KINDS = ("fifo", "red", "pie", "codel", "fq_codel")
RATE_BPS = 20e6


def picture(file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from elephan.report.style import SERIES, SETTINGS

    with plt.rc_context(SETTINGS):
        figure, axes = plt.subplots(figsize=(9, 4.2), layout="constrained")
        for kind, color in zip(KINDS, SERIES, strict=False):
            run = el.run("aqm", set={"template.queue.kind": kind, "duration": "30 s"})
            ports = run.port_samples.to_pylist()
            names = {row["port"]: 0 for row in ports}
            for row in ports:
                names[row["port"]] += row["queue_bytes"]
            busiest = max(names, key=names.get)
            samples = [row for row in ports if row["port"] == busiest]
            times = [row["time_ns"] / 1e9 for row in samples]
            # What waits, at the rate of the link: 1538 B of wire for 1518 B charged.
            delays = [max(row["queue_bytes"] * 8 * 1538 / 1518 / RATE_BPS * 1e3, 0.3) for row in samples]
            axes.plot(times, delays, color=color, linewidth=0.9, label=kind)
        axes.set(yscale="log", ylim=(0.3, 1500), xlabel="time (s)", xlim=(0, 30))
        axes.set_yticks([1, 5, 15, 100, 600], ["1", "5", "15", "100", "600"])
        axes.minorticks_off()
        axes.set_title("Delay of the queue (ms): four downloads and a call at 20 Mbit/s")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=len(KINDS), frameon=False)
        figure.savefig(file, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/examples/aqm.py OUT.png")
    picture(sys.argv[1])
