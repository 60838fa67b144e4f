"""Draws the picture of dynamic thresholds in docs/models/ports.md: what three busy ports hold of one shared memory.

python docs/examples/thresholds.py docs/images/thresholds.png
"""

import sys

import elephan as el

MEMORY_BYTES = 400_000
ALPHA = 1.0
STARTS_MS = (0, 10, 20)
SCENARIO = f"""
duration = "30 ms"
[template]
kind = "star"
clients = 6
servers = 3
rate = "1 Gbps"
delay = "1 us"
memory = "{MEMORY_BYTES} B"
[record]
every = "100 us"
""" + "".join(
    f"""
[[traffic]]
name = "to {port}"
from = "client[{2 * port}-{2 * port + 1}]"
to = "server[{port}]"
kind = "cbr"
rate = "1 Gbps"
start = "{start} ms"
"""
    for port, start in enumerate(STARTS_MS)
)


def draw(axes, alpha):
    from elephan.report.style import SERIES

    run = el.run(SCENARIO, set={} if alpha is None else {"template.alpha": alpha})
    names = {row["name"]: row["port"] for row in run.ports.to_pylist()}
    for port, color in zip(range(3), SERIES, strict=False):
        number = names[f"sw->server[{port}]"]
        samples = [row for row in run.port_samples.to_pylist() if row["port"] == number]
        held = [row["queue_bytes"] / 1e3 for row in samples]
        axes.plot([row["time_ns"] / 1e6 for row in samples], held, color=color, linewidth=1.1, label=f"port {port}")
    if alpha is not None:
        for busy, start in enumerate(STARTS_MS, start=1):
            each = el.theory.dynamic_threshold(MEMORY_BYTES, alpha, ports=busy) / 1e3
            axes.plot([start, start + 10], [each, each], color="0.2", linewidth=0.8, linestyle="--")
    axes.set(xlabel="time (ms)", xlim=(0, 30), ylim=(0, 420))


def picture(file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from elephan.report.style import SETTINGS

    with plt.rc_context(SETTINGS):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
        draw(left, None)
        draw(right, ALPHA)
        left.set_title("Complete sharing: waiting (KB)")
        right.set_title("alpha = 1: waiting (KB), theory dashed")
        left.legend(loc="center right", frameon=False)
        figure.savefig(file, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/examples/thresholds.py OUT.png")
    picture(sys.argv[1])
