"""Additive increase, multiplicative decrease, as a class; aimd.c and aimd.rs are the same as programs."""

import elephan as el


class Aimd(el.CongestionControl):
    """Adds `increase` segments a round trip; a cut leaves the share `decrease` of the window."""

    states = ("cuts",)

    def __init__(self, increase=1, decrease=0.5):
        self.increase, self.decrease = increase, decrease
        self.cuts = 0

    def on_ack(self, ack):
        if not ack.app_limited:
            self.cwnd += self.increase * self.mss * min(ack.acked, self.cwnd) / self.cwnd

    def on_congestion(self, event):
        self.ssthresh = max(self.decrease * min(self.cwnd, event.inflight), 2 * self.mss)
        self.cwnd = self.mss if event.kind == "rto" else self.ssthresh
        self.cuts += 1


if __name__ == "__main__":
    el.testing.check_congestion_control(Aimd)
