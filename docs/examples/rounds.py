"""Draws the picture of docs/models/rounds.md: windows simulated packet by packet, and the same controllers by rounds.

python docs/examples/rounds.py docs/images/rounds.png
"""

import sys

import elephan as el

CONTROLLERS = ("reno", "cubic", "htcp")
RATE, RTT, MSS, END_S, FROM_S = "200 Mbps", "50 ms", 1448, 100, 20
SCENARIO = f"""
duration = "{END_S} s"
[template]
kind = "path"
hops = [
    {{ rate = "1 Gbps", delay = "0 s" }},
    {{ rate = "{RATE}", delay = "25 ms", queue = {{ kind = "fifo", limit = "400 KB" }} }},
]
[[traffic]]
name = "flow"
from = "sender"
to   = "receiver"
kind = "bulk"
[record]
every = "50 ms"
"""


def simulated(controller):
    rows = el.run(SCENARIO, set={"traffic.flow.congestion_control": controller}).flow_samples.to_pylist()
    return [row for row in rows if row["phase"] not in ("closed", "handshake")]


def follow(rounds, rows):
    """The controller lives through the samples, as `elephan path` does it."""
    before = [rows[0], *rows[:-1]]
    repairing = [row["phase"] == "recovery" for row in rows]
    rounds.follow(
        0,
        times=[row["time_ns"] / 1e9 for row in rows],
        acked=[row["delivered_bytes"] - last["delivered_bytes"] for row, last in zip(rows, before)],
        repairing=repairing,
        rtt=[row["sample_rtt_ns"] / 1e9 for row in rows],
        cut=[row["cong_signals"] > last["cong_signals"] for row, last in zip(rows, before)],
        cwnd=[row["ssthresh_bytes"] if busy else row["cwnd_bytes"] for row, busy in zip(rows, repairing)],
        ssthresh=[row["ssthresh_bytes"] or float("inf") for row in rows],
    )


def picture(file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from elephan.report.style import INK, SERIES, SETTINGS

    goodput = el.theory.max_goodput(RATE, 1500, True)
    with plt.rc_context(SETTINGS):
        figure, axes = plt.subplots(len(CONTROLLERS), 1, figsize=(9, 5.4), sharex=True, layout="constrained")
        for axis, controller, color in zip(axes, CONTROLLERS, SERIES):
            rows = simulated(controller)
            axis.plot([row["time_ns"] / 1e9 for row in rows], [row["cwnd_bytes"] / MSS for row in rows], color=INK, linewidth=0.8)
            rounds = el.rounds.new(controller, rate=goodput, rtt=RTT, queue=400e3 * MSS / 1518)
            follow(rounds, [row for row in rows if row["time_ns"] < FROM_S * 1e9])
            time, times, windows = float(FROM_S), [], []
            while time < END_S:
                time += rounds.run(1e18, 1)[0]
                times.append(time)
                windows.append(rounds.cwnd[0] / MSS)
            axis.plot(times, windows, color=color, linewidth=2.4, alpha=0.55)
            axis.set(xlim=(0, END_S), ylim=(0, 1500))
            axis.set_title(f"{controller}: window, segments", loc="left", fontsize=9)
        axes[-1].set_xlabel("time, s")
        figure.savefig(file, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/examples/rounds.py OUT.png")
    picture(sys.argv[1])
