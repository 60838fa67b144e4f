"""A congestion control of one's own, and the picture that compares it with Reno: `python docs/examples/gentle.py OUT.png`."""

import sys

import elephan as el


class Gentle(el.CongestionControl):
    """A segment more a round trip while the queue is shorter than a share of the round-trip time, one less while it is longer."""

    slow_start = False
    states = ("queueing",)

    def __init__(self, share=0.25):
        self.share = share
        self.queueing = 0.0  # seconds

    def on_round(self, round):
        if round.rtt is None or round.min_rtt is None:
            return
        self.queueing = round.rtt_min - round.min_rtt
        if self.queueing > self.share * round.min_rtt:
            self.cwnd = max(self.cwnd - self.mss, 2 * self.mss)
            self.ssthresh = min(self.ssthresh, self.cwnd)  # slow start is over
        elif not round.app_limited:
            self.cwnd += min(round.acked, self.cwnd) if self.in_slow_start else self.mss


def picture(file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(9, 5), layout="constrained")
    for name, controller in (("reno", "reno"), ("Gentle", Gentle)):
        run = el.run("sawtooth", set={"traffic.reno.congestion_control": controller, "warmup": "0 s"})
        flow = run.flow_samples.to_pylist()
        above.plot([row["time_ns"] / 1e9 for row in flow], [row["cwnd_bytes"] / 1e3 for row in flow], label=name)
        ports = run.port_samples.to_pylist()
        total = {port: sum(row["queue_bytes"] for row in ports if row["port"] == port) for port in {row["port"] for row in ports}}
        bottleneck = [row for row in ports if row["port"] == max(total, key=total.get)]
        below.plot([row["time_ns"] / 1e9 for row in bottleneck], [row["queue_bytes"] / 1e3 for row in bottleneck], label=name)
    above.set(ylabel="congestion window (KB)", title="Reno, and a congestion control of fifteen lines in Python", ylim=(0, None))
    below.set(ylabel="queue at the bottleneck (KB)", xlabel="time (s)", ylim=(0, None))
    above.legend(loc="upper right", frameon=False)
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/examples/gentle.py OUT.png")
    el.testing.check_congestion_control(Gentle)
    picture(sys.argv[1])
