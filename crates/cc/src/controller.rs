//! One connection's congestion controller: a congestion control, a slow start and the window they steer.
//!
//! What all congestion controls share lives here: the floor of one segment, slow start below `ssthresh` with the remainder of the
//! crossing ACK given to the congestion control, undo, and RFC 5681 section 3.1: a timer that expires again for the same segment
//! holds `ssthresh` constant.

use crate::algorithm::{
    self, CongestionControl, Drawing, EndpointDelays, OneWayDelays, Pacing, Probing, Rdma, Routers, Spec, Timer,
    WholeSegments, Wishes,
};
use crate::guest::Fault;
use crate::rdma::{Nic, Progress, Telemetry, Trim};
use crate::slow_start::{self, SlowStart};
use crate::train::{Arrival, Memory, Start, Train};
use crate::{Abe, Ack, Needs, Signal, Traits, Window};
use elephan_units::{Span, Time};
use growth::Segments;

/// The largest window, a thousand times what TCP can offer (2^30 bytes, RFC 7323).
pub const MAX_WINDOW_BYTES: f64 = (1u64 << 40) as f64;

/// One connection's controller: a congestion control, a slow start, and the window that they steer.
///
/// ```
/// use elephan_cc::{Ack, Controller, Signal, Spec};
/// use elephan_units::Time;
///
/// let mss = 1000;
/// let mut controller = Controller::new(&Spec::named("reno").unwrap(), mss, 10 * mss);
/// // In slow start the window grows by what an ACK acknowledges.
/// controller.on_ack(&Ack { acked: 10 * mss, inflight: 10 * mss, ..Ack::default() });
/// assert_eq!(controller.window(), 20_000.0);
/// // RFC 5681 equation 4: a loss halves what was in flight.
/// controller.on_congestion(&Signal::Loss { now: Time::ZERO, lost: mss, inflight: 20 * mss });
/// assert_eq!((controller.window(), controller.ssthresh()), (10_000.0, 10_000.0));
/// ```
#[derive(Clone, Debug)]
pub struct Controller {
    w: Window,
    algorithm: algorithm::Any,
    /// What the algorithm needs of the connection.
    needs: Needs,
    slow_start: slow_start::Any,
    /// Bytes that one ACK may add in slow start, in segments (L of RFC 3465); infinite without a limit.
    abc_limit: f64,
    /// ACKs are counted instead of bytes: none counts for more than a segment.
    counts_acks: bool,
    /// The stack counts in whole segments where the congestion control does too.
    whole_segments: bool,
    /// What is counted towards the next whole segment; `None` where the window is a fraction of a segment.
    segments: Option<Segments>,
    after_rto: bool,
    /// Per cent of a window a round trip at which the stack spaces it below half of ssthresh, and from there on; 0 for not at all.
    pace: (u16, u16),
    abe: Option<Abe>,
    /// Accurate ECN was negotiated, as far as the algorithm knows.
    accurate_ecn: bool,
    /// ABE has left more at the last ECN-Echo than a loss would have.
    spared: bool,
    /// Window and threshold before the last event, for undo.
    prior: Option<(f64, f64)>,
    /// The timer has expired and nothing was acknowledged since.
    backed_off: bool,
}

impl Controller {
    /// Returns a controller with classic slow start, without a limit on what one ACK adds.
    pub fn new(spec: &Spec, mss: u64, initial_window_bytes: u64) -> Controller {
        Controller::with_slow_start(spec, &slow_start::Spec::default(), None, mss, initial_window_bytes)
    }

    /// Returns a controller with this slow start. `abc_limit` is L of RFC 3465: the most segments that one ACK may add in slow start.
    ///
    /// ```
    /// use elephan_cc::{Ack, Controller, Spec, slow_start};
    ///
    /// let slow_start = slow_start::Spec::default();
    /// let mut controller = Controller::with_slow_start(&Spec::named("reno").unwrap(), &slow_start, Some(2.0), 1000, 10_000);
    /// controller.on_ack(&Ack { acked: 10_000, inflight: 10_000, ..Ack::default() });
    /// assert_eq!(controller.window(), 12_000.0);
    /// ```
    pub fn with_slow_start(
        spec: &Spec,
        slow_start: &slow_start::Spec,
        abc_limit: Option<f64>,
        mss: u64,
        initial_window_bytes: u64,
    ) -> Controller {
        let mut controller = Controller {
            w: Window { cwnd: 1.0, ssthresh: f64::INFINITY, mss: 1.0 },
            algorithm: algorithm::Any::new(spec),
            needs: spec.needs(),
            slow_start: slow_start::Any::new(slow_start),
            abc_limit: abc_limit.unwrap_or(f64::INFINITY),
            counts_acks: false,
            whole_segments: false,
            segments: None,
            after_rto: false,
            pace: (0, 0),
            abe: spec.abe(),
            accurate_ecn: true,
            spared: false,
            prior: None,
            backed_off: false,
        };
        controller.slow_start.on_congestion_control(spec);
        controller.establish(mss, initial_window_bytes);
        controller
    }

    /// Counts ACKs instead of bytes, as RFC 2581 has it: an ACK adds as if it acknowledged one segment at most. Delayed ACKs then halve the
    /// growth of a congestion control that goes by ACKs ([`Needs::ALL_ACKED`]).
    pub fn counting_acks(mut self) -> Controller {
        (self.abc_limit, self.counts_acks) = (1.0, true);
        self
    }

    /// Counts in whole segments, as Linux does: the window of a congestion control with [`crate::Traits::counts_segments`] is whole, and
    /// acknowledged segments are counted until one more is due. Every other congestion control keeps the window that it sets.
    ///
    /// ```
    /// use elephan_cc::{Ack, Controller, Spec};
    ///
    /// let reno = Spec::named("reno").unwrap();
    /// let mut controller = Controller::new(&reno, 1000, 3000).counting_segments(&reno);
    /// controller.poke("ssthresh", 3000.0);
    /// let windows = [0; 3].map(|_| {
    ///     controller.on_ack(&Ack { acked: 1000, inflight: 3000, ..Ack::default() });
    ///     controller.window()
    /// });
    /// assert_eq!(windows, [3000.0, 3000.0, 4000.0]);
    /// ```
    pub fn counting_segments(mut self, spec: &Spec) -> Controller {
        self.whole_segments = true;
        self.begin_counting(&spec.traits());
        self
    }

    /// Returns whether stack and congestion control count in whole segments.
    #[inline]
    pub fn counts_segments(&self) -> bool {
        self.segments.is_some()
    }

    /// Begins to count, if stack and congestion control do.
    fn begin_counting(&mut self, traits: &Traits) {
        self.segments = (self.whole_segments && traits.counts_segments).then(Segments::default);
        self.algorithm.on_counting(self.segments.is_some());
        self.cut_to_whole();
    }

    /// Sets segment size and initial window. Call it when the handshake has settled them.
    pub fn establish(&mut self, mss: u64, initial_window_bytes: u64) {
        self.w.mss = mss.max(1) as f64;
        self.w.cwnd = initial_window_bytes as f64;
        self.algorithm.on_establish(&mut self.w);
        self.bound();
    }

    /// Replaces the congestion control. The new one begins with the window and the threshold that it finds, and begins to measure. Slow start
    /// and a backed-off timer stay as they are. An event of the old congestion control is no longer undone.
    ///
    /// ```
    /// use elephan_cc::{Controller, Spec};
    ///
    /// let mut controller = Controller::new(&Spec::named("reno").unwrap(), 1000, 10_000);
    /// controller.switch_congestion_control(&Spec::named("cubic").unwrap());
    /// assert_eq!((controller.name(), controller.window()), ("cubic", 10_000.0));
    /// ```
    pub fn switch_congestion_control(&mut self, spec: &Spec) {
        self.algorithm = algorithm::Any::new(spec);
        (self.needs, self.accurate_ecn) = (spec.needs(), true);
        self.abe = spec.abe();
        self.slow_start.on_congestion_control(spec);
        self.prior = None;
        self.begin_counting(&spec.traits());
    }

    /// Is called when `bytes` leave while `inflight` bytes were in flight before them.
    #[inline]
    pub fn on_sent(&mut self, now: Time, bytes: u64, inflight: u64) {
        self.algorithm.on_sent(&mut self.w, now, bytes, inflight);
    }

    /// Is called at a timeout in an episode that has already reduced the window for the same data. The threshold stays, and so does what an
    /// undo restores.
    pub fn on_timeout_in_episode(&mut self, signal: &Signal) {
        let (ssthresh, prior) = (self.w.ssthresh, self.prior);
        self.on_congestion(signal);
        (self.w.ssthresh, self.prior) = (ssthresh, prior);
    }

    /// Returns whether the reduction at `signal` also covers a loss in the same window of data.
    pub fn suffices(&self, signal: &Signal) -> bool {
        !matches!(signal, Signal::Ecn { .. }) || (!self.needs.has(Needs::LOSS_AFTER_MARK) && !self.spared)
    }

    /// Makes the last reduction final: no later [`Signal::Undo`] restores the window of before it.
    pub fn confirm(&mut self) {
        self.prior = None;
    }

    /// Is called with each ACK of new data in fast recovery. The window does not grow by it.
    pub fn on_ack_in_recovery(&mut self, ack: &Ack) {
        self.algorithm.on_ack_in_recovery(&mut self.w, ack);
        self.bound();
    }

    /// Is called when recovery, or what followed a timeout, is over, before the ACK that ends it.
    pub fn on_recovered(&mut self) {
        self.algorithm.on_recovered(&mut self.w);
        self.bound();
    }

    /// Sets the window that a timeout leaves to a controller whose window applies in recovery too (Linux `tcp_enter_loss`).
    pub fn leave_after_timeout(&mut self, bytes: f64) {
        if self.needs.has(Needs::STEERS_RECOVERY) {
            self.w.cwnd = bytes;
            self.bound();
        }
    }

    /// Is called at each congestion event. A timeout that follows another without progress in between keeps `ssthresh` (RFC 5681 section 3.1).
    pub fn on_congestion(&mut self, signal: &Signal) {
        let before = (self.w.cwnd, self.w.ssthresh);
        match signal {
            Signal::Undo { .. } => {
                let Some((cwnd, ssthresh)) = self.prior.take() else {
                    // What a later event has made final stays, and recovery is over all the same.
                    if self.needs.has(Needs::STEERS_RECOVERY) {
                        self.on_recovered();
                    }
                    return;
                };
                self.backed_off = false;
                self.w.ssthresh = ssthresh;
                // RFC 9438 section 4.9: a window that has passed the old one keeps its course.
                if self.w.cwnd >= cwnd && !self.needs.has(Needs::STEERS_RECOVERY) {
                    return;
                }
                self.w.cwnd = self.w.cwnd.max(cwnd);
            }
            Signal::Rto { now, .. } if self.backed_off => {
                self.algorithm.on_timeout_again(&mut self.w, *now);
                self.count_anew();
                self.bound();
                return;
            }
            _ => {
                self.prior = Some(before);
                self.backed_off = matches!(signal, Signal::Rto { .. });
            }
        }
        self.after_rto = matches!(signal, Signal::Rto { .. });
        self.slow_start.on_congestion(signal);
        match signal {
            Signal::Undo { now } => self.algorithm.on_undo(&mut self.w, *now),
            _ => self.algorithm.on_congestion(&mut self.w, signal),
        }
        if let (Signal::Ecn { inflight, .. }, Some(abe)) = (signal, self.abe) {
            let at_loss = std::mem::replace(&mut self.w.cwnd, before.0).max(self.w.mss);
            self.w.cut(signal, abe.left * abe.from.bytes(&self.w, *inflight));
            self.spared = self.w.cwnd > at_loss;
        }
        match signal {
            Signal::Undo { .. } => self.cut_to_whole(),
            _ => self.count_anew(),
        }
        self.bound();
    }

    /// Is called with the one-way delay that the next ACK shows. Only differences count, so the two clocks need not agree.
    pub fn on_one_way_delay(&mut self, delay: Span) {
        if self.needs.has(Needs::ONE_WAY_DELAY) {
            self.algorithm.on_one_way_delay(delay);
        }
    }

    /// Is called with the delay of the end hosts that the next ACK shows, in its round-trip time.
    pub fn on_endpoint_delay(&mut self, delay: Span) {
        if self.needs.has(Needs::ENDPOINT_DELAY) {
            self.algorithm.on_endpoint_delay(delay);
        }
    }

    /// Is called when routers have answered: the window may change by `bytes`, which is infinite if no router has set it. The next ACK applies
    /// the change.
    pub fn on_feedback(&mut self, bytes: f64) {
        self.algorithm.on_feedback(bytes);
    }

    /// Sets the seed of what the congestion control draws at random.
    pub fn set_seed(&mut self, seed: u64) {
        self.algorithm.set_seed(seed);
    }

    /// Is called before [`Controller::begin`] with what the last connection to the same destination has left.
    pub fn recall(&mut self, memory: &Memory) {
        self.algorithm.recall(memory);
    }

    /// Returns what the next connection to the same destination may start from, if the congestion control keeps anything.
    pub fn remember(&self) -> Option<Memory> {
        self.algorithm.remember()
    }

    /// Is called once after the handshake, and on a controller that replaces a running one.
    pub fn begin(&mut self, start: &Start) {
        self.accurate_ecn = start.accurate_ecn;
        self.algorithm.begin(&mut self.w, start);
        self.bound();
    }

    /// Is called when a packet of a controller that probes has arrived, before its ACK.
    pub fn on_arrival(&mut self, now: Time, arrival: &Arrival) {
        self.algorithm.on_arrival(&mut self.w, now, arrival);
        self.bound();
    }

    /// Returns the train to send from `now` on, if the controller wants one while `segments` of new data are waiting.
    pub fn next_train(&mut self, now: Time, segments: u64) -> Option<Train> {
        self.algorithm.next_train(now, segments)
    }

    /// Is called when only `packets` packets of the last train could be sent.
    pub fn on_train_cut(&mut self, now: Time, packets: u32) {
        self.algorithm.on_train_cut(&mut self.w, now, packets);
        self.bound();
    }

    /// Is called when routers report the flow's fair rate, in bit/s of packets with their IP headers, and how many of the flow's bytes wait there.
    pub fn on_fair_rate(&mut self, rate_bps: f64, queue_bytes: f64) {
        self.algorithm.on_fair_rate(&mut self.w, rate_bps, queue_bytes);
        self.bound();
    }

    /// Is called with the sender's network interface when a sender of RDMA, or a controller that probes, begins or replaces another.
    pub fn on_nic(&mut self, nic: &Nic) {
        self.algorithm.on_nic(&mut self.w, nic);
        self.bound();
    }

    /// Is called when the receiver has notified the sender of a marked packet (RoCE).
    pub fn on_notification(&mut self, now: Time) {
        self.algorithm.on_notification(&mut self.w, now);
        self.bound();
    }

    /// Is called when a packet has lost its payload on the way (Ultra Ethernet).
    pub fn on_trim(&mut self, trim: &Trim) {
        self.algorithm.on_trim(&mut self.w, trim);
        self.bound();
    }

    /// Is called with what a packet has met at each port, before the ACK that brings it.
    pub fn on_telemetry(&mut self, telemetry: &Telemetry, progress: Progress) {
        self.algorithm.on_telemetry(&mut self.w, telemetry, progress);
        self.bound();
    }

    /// Returns when [`Controller::on_timer`] is due, if the controller wants it.
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        self.algorithm.next_timer()
    }

    /// Is called at the time that [`Controller::next_timer`] returned.
    pub fn on_timer(&mut self, now: Time) {
        self.algorithm.on_timer(&mut self.w, now);
        self.bound();
    }

    /// Lowers the window to `bytes` without a congestion event, as a restart after idle (RFC 5681 section 4.1) or burst moderation does. It
    /// never raises the window.
    pub fn shrink_to(&mut self, bytes: f64) {
        if bytes < self.w.cwnd {
            self.w.cwnd = bytes;
            self.cut_to_whole();
            self.bound();
            self.algorithm.on_shrink(&self.w);
        }
    }

    /// Returns the congestion window in bytes.
    #[inline]
    pub fn window(&self) -> f64 {
        self.w.cwnd
    }

    /// Returns the slow-start threshold in bytes. It is infinite before the first congestion event.
    #[inline]
    pub fn ssthresh(&self) -> f64 {
        self.w.ssthresh
    }

    /// Returns the segment size in bytes.
    pub fn mss(&self) -> f64 {
        self.w.mss
    }

    /// Lets the stack space the segments of a congestion control that does not pace. The rate is `slow_start_percent` per cent of a window a round
    /// trip below half of `ssthresh`, and `beyond_percent` from there on (Linux `tcp_update_pacing_rate`).
    pub fn pacing(mut self, slow_start_percent: u16, beyond_percent: u16) -> Controller {
        self.pace = (slow_start_percent, beyond_percent);
        self.slow_start.on_pacing();
        self
    }

    /// Returns how many windows a round trip the stack spaces segments at, or 0 if it does not space them.
    #[inline]
    pub fn pace(&self) -> f64 {
        let (slow_start, beyond) = self.pace;
        f64::from(if self.w.cwnd < self.w.ssthresh / 2.0 { slow_start } else { beyond }) / 100.0
    }

    /// Returns the rate that the congestion control paces at, in bit/s of payload (or of whole packets, see
    /// [`Controller::paces_packets`]), or `None` if only ACKs drive it.
    #[inline]
    pub fn pacing_rate(&self) -> Option<f64> {
        self.algorithm.pacing_rate(&self.w)
    }

    /// Returns pacing rate, burst and timer at once.
    #[inline]
    pub fn wishes(&self) -> Wishes {
        self.algorithm.wishes(&self.w)
    }

    /// Returns whether the window is below `ssthresh`.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.w.in_slow_start()
    }

    /// Returns the name in the registry, or that of a guest's class.
    pub fn name(&self) -> &str {
        self.algorithm.name()
    }

    /// Returns why a guest has given up. It is `None` for every congestion control of this crate.
    pub fn fault(&self) -> Option<&Fault> {
        self.algorithm.fault()
    }

    /// Returns the internals of the congestion control by name. The names and their order never change (see [`crate::describe`]).
    pub fn observe(&self) -> Vec<(&'static str, f64)> {
        let mut out = Vec::new();
        self.algorithm.observe(&mut out);
        out
    }

    /// Sets `cwnd` or `ssthresh` (bytes) or an internal by its name, for tests and the stepping interface. Returns `false` if there is no such
    /// name or the value is not possible.
    pub fn poke(&mut self, name: &str, value: f64) -> bool {
        match name {
            "cwnd" if value >= self.w.mss && value <= MAX_WINDOW_BYTES => self.w.cwnd = value,
            "ssthresh" if value > 0.0 => self.w.ssthresh = value,
            "cwnd" | "ssthresh" => return false,
            _ => return value.is_finite() && self.algorithm.poke(name, value),
        }
        self.backed_off = false;
        true
    }

    #[inline]
    fn bound(&mut self) {
        self.w.cwnd = self.w.cwnd.clamp(self.w.mss, MAX_WINDOW_BYTES.max(self.w.mss));
    }
}

mod growth;
mod needs;
#[cfg(test)]
mod tests;
