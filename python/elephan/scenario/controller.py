"""The base class of congestion controls written in Python.

    class Mine(el.CongestionControl):
        def on_ack(self, ack):
            if not ack.app_limited:
                self.cwnd += self.mss * min(ack.acked, self.cwnd) / self.cwnd

    el.run("sawtooth", set={"traffic.bulk.congestion_control": Mine})

In a scenario: `congestion_control = { python = "module:Class", params = { ... } }`, or `"path/to/file.py:Class"` relative to the
scenario. Times are seconds, sizes bytes, rates bit/s.
"""

from __future__ import annotations

from elephan import _core


class CongestionControl(_core.Guest):
    """The base of congestion controls in Python. Each connection has an object of its own.

    Constructor keywords are the parameters (`params` in a scenario). There is no connection yet in `__init__`: `cwnd`,
    `ssthresh` and `mss` are known from the first call on.

    What a class sets, in any method but `on_sent` (which may set the last two):

    - `cwnd`: congestion window, bytes, float. Below one segment a run takes it for one segment.
    - `ssthresh`: slow-start threshold, bytes; before the first congestion event infinite, or where the stack begins (`winxp`:
      64 KiB). Below two segments it is taken for two.
    - `pacing_rate`: bit/s of payload, as `ack.rate` is, or None: not paced.
    - `timer`: when `on_timer` is to be called, seconds of simulated time, or None.

    NaN, a pacing rate that is not positive and a timer that is not after now raise `ValueError` where they are set.
    What a class can read: these, `mss` (bytes), `in_slow_start` (cwnd < ssthresh) and `now` (seconds).

    What a class defines: `on_ack`, `on_round` or `on_delivery`, and the others as needed. Methods that it does not define are
    not called and cost nothing; `on_round` is called once a round trip, so that a slow method is affordable.

    Slow start is the stack's: below `ssthresh` it grows the window, and `on_ack` and `on_round` are called above it. With
    `slow_start = False` they are called below as well and growth is theirs. Fast recovery is the stack's too: `on_congestion`
    is called once when it begins, and `on_ack` is not called until it is over.

    >>> class Careful(el.CongestionControl):
    ...     def on_ack(self, ack):
    ...         if not ack.app_limited:
    ...             self.cwnd += self.mss * min(ack.acked, self.cwnd) / self.cwnd
    ...     def on_congestion(self, event):
    ...         self.ssthresh = self.cwnd = max(0.7 * self.cwnd, 2 * self.mss)
    ...     def on_sent(self, now, bytes, inflight):
    ...         self.pacing_rate = 8 * self.cwnd / 0.05
    ...     def on_undo(self, now):
    ...         self.timer = None
    ...     def on_timer(self, now):
    ...         self.timer = None
    ...     def on_delivery(self, ack):
    ...         self.timer = ack.now + 1.0
    ...
    >>> run = el.run("sawtooth", set={"traffic.reno.congestion_control": Careful, "duration": "12 s"})
    >>> run.flows["congestion_control"].to_pylist()
    ['Careful']
    >>> class Slow(el.CongestionControl):
    ...     def on_round(self, round):
    ...         self.cwnd += self.mss / 2
    ...
    >>> el.cc.new(Slow, initial_window=4).cwnd
    5792.0
    """

    slow_start: bool = True
    """Whether the stack's slow start grows the window below `ssthresh`."""

    measures_rate: bool = False
    """Whether `rate` is measured, which costs memory for every segment in flight."""

    states: tuple[str, ...] = ()
    """Attributes that are numbers and worth watching: `state` of `elephan.step.cc.new` shows them."""

    def on_ack(self, ack: _core.Ack) -> None:
        """Is called for an ACK of new data outside fast recovery and, unless `slow_start` is False, outside slow start.

        `ack` has `now`, `acked`, `rtt` (None without a sample), `inflight` (before the ACK), `ce` (of `acked`, what met
        congestion marks), `app_limited` (the window was not the limit: no growth), `delivered` (since the connection began),
        `rate` (with `measures_rate`), `min_rtt`, `srtt`.
        """

    def on_round(self, round: _core.Round) -> None:
        """Is called after `on_ack` when a round trip is over: what was in flight when it began is acknowledged.

        `round` has the sums and extremes of its ACKs: `now`, `duration`, `acks`, `acked`, `ce`, `samples` of `rtt` (the mean),
        `rtt_min`, `rtt_max`, `rate` (the largest), `app_limited` (at one ACK at least); and of the last ACK `inflight`,
        `delivered`, `min_rtt`, `srtt`.
        """

    def on_delivery(self, ack: _core.Ack) -> None:
        """Is called for any ACK of new data, before `on_ack`: in slow start and in fast recovery (`ack.in_recovery`) too."""

    def on_sent(self, now: float, bytes: int, inflight: int) -> None:
        """Is called when `bytes` are sent behind `inflight` bytes in flight."""

    def on_congestion(self, event: _core.Congestion) -> None:
        """Is called for a congestion event.

        `event` has `kind` ("loss", "ecn", "rto", "local_drop"), `now`, `lost` and `inflight` (FlightSize).
        What it leaves is the window after recovery. By default the cut of Reno, RFC 5681 equation 4.
        """
        self.ssthresh = max(min(self.cwnd, event.inflight) / 2, 2 * self.mss)
        self.cwnd = self.mss if event.kind == "rto" else self.ssthresh

    def on_undo(self, now: float) -> None:
        """Is called when the last event was spurious. `cwnd` and `ssthresh` are restored already; restore what else changed."""

    def on_timer(self, now: float) -> None:
        """Is called when the time set as `timer` has come; `timer` is None then."""
