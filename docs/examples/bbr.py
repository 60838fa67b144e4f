"""The core of BBR version 1 as a class: `elephan conformance docs/examples/bbr.py:Bbr`.

Without its policer detection, its allowance for ACKs in bursts, and its random first phase.
"""

import math

import elephan as el

GAINS = (1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


class Bbr(el.CongestionControl):
    """Paces by the bandwidth and the round-trip time that it measures."""

    slow_start = False
    measures_rate = True
    states = ("bw", "min_rtt", "gain")

    def __init__(self, startup_gain=2.885, window_gain=2.0, bw_rounds=10, rtt_window=10.0, probe_time=0.2):
        self.startup_gain = startup_gain
        self.window_gain = window_gain
        self.bw_rounds = bw_rounds  # over which the largest rate counts
        self.rtt_window = rtt_window  # seconds over which the smallest round trip counts
        self.probe_time = probe_time  # seconds with little in flight
        self.mode = "startup"
        self.rates = {}  # bit/s by round
        self.bw = 0.0  # bit/s
        self.min_rtt = 0.0  # seconds, 0 before there is one
        self.min_rtt_at = 0.0
        self.round = 0
        self.round_end = 0  # bytes delivered at which the round is over
        self.full_bw = 0.0
        self.full_rounds = 0
        self.phase = 2
        self.phase_at = 0.0
        self.probe_until = None
        self.window_before = 0.0
        self.gain = startup_gain
        self.initial = 0.0  # bytes, the initial window
        self.expired = False

    def bdp(self, gain):
        return gain * self.bw / 8 * self.min_rtt

    def on_delivery(self, ack):
        if self.initial == 0.0:
            self.initial = self.cwnd
        new_round = ack.delivered >= self.round_end
        if new_round:
            self.round += 1
            self.round_end = ack.delivered + max(ack.inflight - ack.acked, 0)
        self.measure(ack)
        if self.bw == 0.0 or self.min_rtt == 0.0:
            return
        self.change_mode(ack, new_round)
        self.steer(ack)

    def measure(self, ack):
        if ack.rate is not None and (not ack.app_limited or ack.rate > self.bw):
            self.rates[self.round] = max(self.rates.get(self.round, 0.0), ack.rate)
            for old in [one for one in self.rates if one <= self.round - self.bw_rounds]:
                del self.rates[old]
            self.bw = max(self.rates.values())
        if ack.rtt is None:
            return
        self.expired = ack.now > self.min_rtt_at + self.rtt_window
        if self.min_rtt == 0.0 or ack.rtt <= self.min_rtt or self.expired:
            self.min_rtt = ack.rtt
            self.min_rtt_at = ack.now

    def change_mode(self, ack, new_round):
        inflight = ack.inflight - ack.acked
        if self.mode == "startup" and new_round and not ack.app_limited:
            if self.bw >= 1.25 * self.full_bw:
                self.full_bw = self.bw
                self.full_rounds = 0
            else:
                self.full_rounds += 1
            if self.full_rounds >= 3:
                self.mode = "drain"
                self.gain = 1 / self.startup_gain
        if self.mode == "drain" and inflight <= self.bdp(1.0):
            self.enter_probe_bw(ack.now)
        if self.mode == "probe_bw":
            self.cycle(ack.now, inflight)
        if self.expired and self.mode != "probe_rtt":
            self.mode = "probe_rtt"
            self.gain = 1.0
            self.window_before = self.cwnd
            self.probe_until = None
        if self.mode == "probe_rtt":
            self.probe_rtt(ack.now, inflight, ack.app_limited)

    def enter_probe_bw(self, now):
        self.mode = "probe_bw"
        self.phase = 2
        self.phase_at = now
        self.gain = GAINS[self.phase]

    def cycle(self, now, inflight):
        over = now - self.phase_at > self.min_rtt
        if self.gain > 1:
            over = over and inflight >= self.bdp(self.gain)
        elif self.gain < 1:
            over = over or inflight <= self.bdp(1.0)
        if over:
            self.phase = (self.phase + 1) % len(GAINS)
            self.phase_at = now
            self.gain = GAINS[self.phase]

    def probe_rtt(self, now, inflight, app_limited):
        if self.probe_until is None:
            if inflight <= 4 * self.mss:
                self.probe_until = now + self.probe_time
        elif now >= self.probe_until:
            self.min_rtt_at = now
            if not app_limited:
                self.cwnd = max(self.cwnd, self.window_before)
            if self.full_rounds >= 3:
                self.enter_probe_bw(now)
            else:
                self.mode = "startup"
                self.gain = self.startup_gain

    def steer(self, ack):
        rate = 0.99 * self.gain * self.bw
        if self.pacing_rate is None:
            self.pacing_rate = self.startup_gain * 8 * self.cwnd / self.min_rtt
        if self.full_rounds >= 3 or rate > self.pacing_rate:
            self.pacing_rate = rate
        gain = self.startup_gain if self.mode in ("startup", "drain") else self.window_gain
        target = max(self.bdp(gain) + 6 * self.mss, 4 * self.mss)
        grown = self.cwnd if ack.app_limited else self.cwnd + ack.acked
        if self.full_rounds >= 3:
            self.cwnd = min(grown, target)
        elif self.cwnd < target or ack.delivered < self.initial:
            self.cwnd = grown
        if self.mode == "probe_rtt":
            self.cwnd = min(self.cwnd, 4 * self.mss)

    def on_congestion(self, event):
        self.ssthresh = math.inf
        if event.kind == "rto":
            self.window_before = max(self.cwnd, self.window_before)
            self.cwnd = self.mss
