"""Reno after RFC 5681 as a class, slow start included: `elephan conformance docs/examples/reno.py:Reno`."""

import elephan as el


class Reno(el.CongestionControl):
    """A segment more each round trip, half the window at a sign of congestion."""

    slow_start = False

    def __init__(self, left=0.5, limit=2):
        self.left = left  # share of the window that congestion leaves
        self.limit = limit  # segments that an ACK adds at most in slow start (RFC 3465)

    def on_ack(self, ack):
        if ack.app_limited:
            return
        if self.cwnd < self.ssthresh:
            self.cwnd += min(ack.acked, self.limit * self.mss)
        else:
            self.cwnd += self.mss * min(ack.acked, self.cwnd) / self.cwnd

    def on_congestion(self, event):
        self.ssthresh = max(self.left * self.cwnd, 2 * self.mss)
        if event.kind == "rto":
            self.cwnd = self.mss
        else:
            self.cwnd = self.ssthresh
