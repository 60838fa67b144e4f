"""Draws the picture of docs/models/swift.md: what waits for a slow processor, with one window and with two.

python docs/examples/swift_endpoint.py docs/images/swift-endpoint.png
"""

import sys

import elephan as el

COST_US = 20
SCENARIO = """
duration = "60 ms"
stack = "linux"
[hosts.sender]
count = 4
[hosts.receiver]
receive = { interrupts_per_s = 0, backlog = "3000 p", ring = "3000 p" }
cpu = { transmit = "0 s", interrupt = "0 s", receive = "20 us", ack = "0 s", segment = "0 s" }
[switches.sw]
[[links]]
between = ["sender", "sw"]
rate = "1 Gbps"
delay = "5 us"
[[links]]
between = ["sw", "receiver"]
rate = "1 Gbps"
delay = "5 us"
[[traffic]]
from = "sender"
to = "receiver"
kind = "bulk"
congestion_control = { kind = "swift", base_target = "80 us", per_hop = "0 s", fs_range = "0 s"TARGET }
[record]
every = "200 us"
"""


def picture(file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from elephan.report.style import SERIES, SETTINGS

    with plt.rc_context(SETTINGS):
        figure, axes = plt.subplots(figsize=(9, 3.6), layout="constrained")
        for target, color in zip((None, 200, 400), SERIES, strict=False):
            words = f', endpoint_target = "{target} us"' if target else ""
            run = el.run(SCENARIO.replace("TARGET", words))
            samples = [row for row in run.host_samples.to_pylist() if row["ring_packets"] is not None]
            waits = [(row["ring_packets"] + row["backlog_packets"]) * COST_US for row in samples]
            label = f"endpoint_target {target} us" if target else "one window"
            axes.plot([row["time_ns"] / 1e6 for row in samples], waits, color=color, linewidth=1.0, label=label)
            if target:
                axes.axhline(target, color="0.4", linewidth=0.8, linestyle="--")
        axes.set(xlabel="time (ms)", xlim=(0, 60), ylim=(0, 720))
        axes.set_title("Wait for the processor of the receiver (us)")
        axes.legend(loc="upper right", frameon=False, ncols=3)
        figure.savefig(file, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/examples/swift_endpoint.py OUT.png")
    picture(sys.argv[1])
