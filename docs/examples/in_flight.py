"""Draws the picture of docs/models/dcqcn.md: the queue of eight flows that begin together, by what bounds their bytes in flight.

python docs/examples/in_flight.py docs/images/in-flight.png
"""

import sys

import elephan as el

BOUNDS = ("unbounded", "bdp", "rate")
SCENARIO = """
duration = "2 ms"
[template]
kind = "star"
clients = 8
rate = "10 Gbps"
delay = "1 us"
server_delay = "1 us"
[template.queue]
kind = "red"
min = "5 kB"
max = "200 kB"
probability = 0.01
weight = 1
spaced = false
ecn = true
mark_only = true
limit = "16 MB"
[[traffic]]
name = "bulk"
from = "client"
to = "server"
kind = "bulk"
transport = "roce"
congestion_control = { kind = "CONTROL", in_flight = "BOUND" }
[record]
every = "5 us"
"""


def picture(file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from elephan.report.style import SERIES, SETTINGS

    with plt.rc_context(SETTINGS):
        figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
        for axes, control in zip(panels, ("dcqcn", "timely"), strict=True):
            for bound, color in zip(BOUNDS, SERIES, strict=False):
                run = el.run(SCENARIO.replace("CONTROL", control).replace("BOUND", bound))
                port = next(row["port"] for row in run.ports.to_pylist() if row["name"] == "sw->server")
                samples = [row for row in run.port_samples.to_pylist() if row["port"] == port]
                times = [row["time_ns"] / 1e6 for row in samples]
                axes.plot(times, [max(row["queue_bytes"] / 1e3, 0.5) for row in samples], color=color, label=bound)
            axes.set(yscale="log", ylim=(0.5, 5000), xlabel="time (ms)", xlim=(0, 2))
            axes.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
            axes.minorticks_off()
            axes.set_title(f"{control}: waiting (KB)")
        panels[0].legend(loc="lower left", frameon=False, title="in_flight")
        figure.savefig(file, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/examples/in_flight.py OUT.png")
    picture(sys.argv[1])
