"""CUBIC after RFC 9438 as a class; slow start is the stack's: `elephan conformance docs/examples/cubic.py:Cubic`."""

import elephan as el


class Cubic(el.CongestionControl):
    """A cubic function of the time since the last congestion event."""

    states = ("w_max", "k", "w_est")

    def __init__(self, c=0.4, beta=0.7):
        self.c = c  # segments per s^3
        self.beta = beta  # share of the window that congestion leaves
        self.alpha = 3 * (1 - beta) / (1 + beta)  # segments that the estimate of Reno gains each round trip
        self.epoch = False  # whether a curve is followed
        self.w_max = 0.0  # bytes, where the curve is flat
        self.k = 0.0  # seconds from the start of the curve to there
        self.w_est = 0.0  # bytes, what Reno would have
        self.t = 0.0  # seconds since the curve began in which the window was the limit
        self.last = 0.0  # seconds, the last ACK
        self.before = (0.0, 0.0, 0.0, 0.0, False)

    def begin(self):
        self.w_max = max(self.w_max, self.cwnd)
        self.k = ((self.w_max - self.cwnd) / (self.c * self.mss)) ** (1 / 3)
        self.w_est = self.cwnd
        self.t = 0.0
        self.epoch = True

    def on_ack(self, ack):
        rtt = ack.min_rtt or ack.srtt or 0.0
        if not self.epoch:
            self.begin()
            self.last = ack.now
        if ack.app_limited:
            self.last = ack.now
            return
        self.t += ack.now - self.last
        self.last = ack.now
        share = min(ack.acked, self.cwnd) / self.cwnd
        self.w_est += self.alpha * self.mss * share
        c = self.c * self.mss
        if c * (self.t - self.k) ** 3 + self.w_max < self.w_est:
            growth = self.w_est - self.cwnd
        else:
            target = c * (self.t + rtt - self.k) ** 3 + self.w_max
            growth = (min(target, 1.5 * self.cwnd) - self.cwnd) * share
        self.cwnd += min(max(growth, 0.0), ack.acked)

    def on_congestion(self, event):
        self.before = (self.w_max, self.k, self.w_est, self.t, self.epoch)
        if self.cwnd < self.w_max:
            self.w_max = self.cwnd * (1 + self.beta) / 2  # fast convergence
        else:
            self.w_max = self.cwnd
        self.epoch = False
        self.ssthresh = max(self.beta * self.cwnd, 2 * self.mss)
        if event.kind == "rto":
            self.cwnd = self.mss
            self.w_max = 0.0
        else:
            self.cwnd = self.ssthresh

    def on_undo(self, now):
        self.w_max, self.k, self.w_est, self.t, self.epoch = self.before

    def on_sent(self, now, bytes, inflight):
        if inflight == 0:  # what was idle does not count (RFC 9438 section 5.8)
            self.last = now
