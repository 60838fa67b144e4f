//! One connection's congestion controller: a congestion control, a slow start and the window they steer.
//!
//! What all congestion controls share lives here: the floor of one segment, slow start below `ssthresh` with the remainder of the
//! crossing ACK given to the congestion control, undo, and RFC 5681 section 3.1: a timer that expires again for the same segment
//! holds `ssthresh` constant.

use crate::algorithm::{self, CongestionControl, Spec, Wishes};
use crate::guest::Fault;
use crate::rdma::{Nic, Progress, Telemetry};
use crate::slow_start::{self, SlowStart};
use crate::train::{Arrival, Memory, Start, Train};
use crate::{Abe, Ack, Question, Signal, Window};
use elephan_units::{Span, Time};

/// No window grows beyond this: a thousand times the largest window that TCP can offer (2^30 bytes, RFC 7323).
pub const MAX_WINDOW_BYTES: f64 = (1u64 << 40) as f64;

#[derive(Clone, Debug)]
pub struct Controller {
    w: Window,
    algorithm: algorithm::Any,
    slow_start: slow_start::Any,
    /// Bytes that one ACK may add in slow start, in segments (L of RFC 3465); infinite without a limit.
    abc_limit: f64,
    /// ACKs are counted instead of bytes: none counts for more than a segment.
    counts_acks: bool,
    after_rto: bool,
    /// Per cent of a window a round trip at which the stack spaces it below half of ssthresh, and from there on; 0 for not at all.
    pace: (u16, u16),
    abe: Option<Abe>,
    /// ABE has left more at the last ECN-Echo than a loss would have.
    spared: bool,
    /// Window and threshold before the last event, for undo.
    prior: Option<(f64, f64)>,
    /// The timer has expired and nothing was acknowledged since.
    backed_off: bool,
}

impl Controller {
    /// A controller with classic slow start without a limit.
    pub fn new(spec: &Spec, mss: u64, initial_window_bytes: u64) -> Controller {
        Controller::with_slow_start(spec, &slow_start::Spec::default(), None, mss, initial_window_bytes)
    }

    /// `abc_limit` is L of RFC 3465: most segments that one ACK may add in slow start.
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
            slow_start: slow_start::Any::new(slow_start),
            abc_limit: abc_limit.unwrap_or(f64::INFINITY),
            counts_acks: false,
            after_rto: false,
            pace: (0, 0),
            abe: spec.abe(),
            spared: false,
            prior: None,
            backed_off: false,
        };
        controller.slow_start.on_congestion_control(spec);
        controller.establish(mss, initial_window_bytes);
        controller
    }

    /// The same without appropriate byte counting, as RFC 2581 has it: an ACK counts for one segment at most, in slow start
    /// and in congestion avoidance, however much it acknowledges. Delayed ACKs then halve what a congestion control adds, if it
    /// goes by ACKs ([`CongestionControl::counts_acks`]).
    pub fn counting_acks(mut self) -> Controller {
        (self.abc_limit, self.counts_acks) = (1.0, true);
        self
    }

    /// Sets segment size and initial window once the handshake has settled them.
    pub fn establish(&mut self, mss: u64, initial_window_bytes: u64) {
        self.w.mss = mss.max(1) as f64;
        self.w.cwnd = initial_window_bytes as f64;
        self.algorithm.on_establish(&mut self.w);
        self.bound();
    }

    /// Another congestion control steers from now on, from the window and the threshold that it finds. Slow start and a backed-off timer
    /// stay as they are; what the new congestion control measures it begins to measure. An event from before is not undone any more: it
    /// was the old congestion control's.
    pub fn switch_congestion_control(&mut self, spec: &Spec) {
        self.algorithm = algorithm::Any::new(spec);
        self.abe = spec.abe();
        self.slow_start.on_congestion_control(spec);
        self.prior = None;
    }

    /// `bytes` are being sent while `inflight` bytes were in flight before them.
    #[inline]
    pub fn on_sent(&mut self, now: Time, bytes: u64, inflight: u64) {
        self.algorithm.on_sent(&mut self.w, now, bytes, inflight);
    }

    /// An ACK of new data outside fast recovery.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) {
        self.backed_off = false;
        self.algorithm.on_delivery(&mut self.w, ack);
        if self.algorithm.grows_by_ack() {
            self.open(ack);
        }
        self.bound();
    }

    /// Opens the window by what an ACK acknowledges.
    #[inline]
    fn open(&mut self, ack: &Ack) {
        if self.w.in_slow_start() {
            self.on_ack_in_slow_start(ack);
        } else if self.counts_acks {
            let acked = self.counted(ack.acked);
            self.algorithm.on_ack(&mut self.w, &Ack { acked, ..*ack });
        } else {
            self.algorithm.on_ack(&mut self.w, ack);
        }
    }

    /// A timeout in an episode that has cut the window for the same data: the threshold stays, and what undo returns to.
    pub fn on_timeout_in_episode(&mut self, signal: &Signal) {
        let (ssthresh, prior) = (self.w.ssthresh, self.prior);
        self.on_congestion(signal);
        (self.w.ssthresh, self.prior) = (ssthresh, prior);
    }

    /// Whether a stack that counts ACKs instead of bytes slows the congestion control down ([`CongestionControl::counts_acks`]).
    pub fn goes_by_acks(&self) -> bool {
        self.algorithm.counts_acks()
    }

    /// Whether windows and ACKs say all about the congestion control, and means over a round trip of both are enough: it neither paces nor
    /// probes nor acts upon the delay of single ACKs. One that asks routers is on its own where none answers.
    pub fn goes_by_rounds(&self) -> bool {
        self.pacing_rate().is_none() && !self.algorithm.probes() && !self.algorithm.reads_each_delay()
    }

    /// What the congestion control sees of the bytes that an ACK acknowledges.
    fn counted(&self, acked: u64) -> u64 {
        if self.counts_acks && self.algorithm.counts_acks() { acked.min(self.w.mss as u64) } else { acked }
    }

    /// Whether a loss in a window of data that `signal` has cut takes nothing more.
    pub fn suffices(&self, signal: &Signal) -> bool {
        !matches!(signal, Signal::Ecn { .. }) || (self.algorithm.ecn_is_loss() && !self.spared)
    }

    /// The last reduction stands, whatever is found needless later.
    pub fn confirm(&mut self) {
        self.prior = None;
    }

    /// An ACK of new data in fast recovery: the window does not grow by it.
    pub fn on_ack_in_recovery(&mut self, ack: &Ack) {
        self.algorithm.on_ack_in_recovery(&mut self.w, ack);
        self.bound();
    }

    /// Recovery, or what followed a timeout, is over; to be told before the ACK that ends it.
    pub fn on_recovered(&mut self) {
        self.algorithm.on_recovered(&mut self.w);
        self.bound();
    }

    /// Whether the congestion control's window rules in recovery as well.
    pub fn steers_recovery(&self) -> bool {
        self.algorithm.steers_recovery()
    }

    fn on_ack_in_slow_start(&mut self, ack: &Ack) {
        if self.algorithm.has_slow_start() {
            self.algorithm.on_ack(&mut self.w, ack);
            return;
        }
        if ack.app_limited {
            return;
        }
        let limit = if self.after_rto && self.abc_limit.is_finite() { 1.0 } else { self.abc_limit };
        let allowed = (ack.acked as f64).min(limit * self.w.mss);
        let growth = self.slow_start.growth(&mut self.w, ack, allowed);
        let room = self.w.ssthresh - self.w.cwnd;
        if growth <= room {
            self.w.cwnd += growth;
            return;
        }
        self.w.cwnd = self.w.ssthresh;
        let rest = self.counted(ack.acked).saturating_sub(room as u64);
        if rest > 0 {
            self.algorithm.on_ack(&mut self.w, &Ack { acked: rest, ..*ack });
        }
    }

    pub fn on_congestion(&mut self, signal: &Signal) {
        let before = (self.w.cwnd, self.w.ssthresh);
        match signal {
            Signal::Undo { .. } => {
                let Some((cwnd, ssthresh)) = self.prior.take() else { return };
                self.backed_off = false;
                self.w.ssthresh = ssthresh;
                // RFC 9438 section 4.9: a window that has passed the old one keeps its course.
                if self.w.cwnd >= cwnd && !self.algorithm.steers_recovery() {
                    return;
                }
                self.w.cwnd = self.w.cwnd.max(cwnd);
            }
            Signal::Rto { now, .. } if self.backed_off => {
                self.algorithm.on_timeout_again(&mut self.w, *now);
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
        self.bound();
    }

    /// Whether the congestion control looks at delivery rates.
    pub fn measures_rate(&self) -> bool {
        self.algorithm.measures_rate()
    }

    /// Whether the congestion control goes by one-way delays.
    pub fn reads_one_way_delay(&mut self) -> bool {
        self.algorithm.one_way().is_some()
    }

    /// The next ACK shows this one-way delay, by clocks of which only differences say something; for a congestion control that reads them.
    pub fn on_one_way_delay(&mut self, delay: Span) {
        if let Some(delays) = self.algorithm.one_way() {
            delays.tell(delay);
        }
    }

    /// What packets ask routers in a congestion header.
    pub fn asks_routers(&self) -> Option<Question> {
        self.algorithm.asks_routers()
    }

    /// Routers have answered: `bytes` by which the window may change, infinite if none has. It changes with the next ACK.
    pub fn on_feedback(&mut self, bytes: f64) {
        self.algorithm.on_feedback(bytes);
    }

    /// Whether the congestion control sends trains of packets and looks at when each packet arrived.
    pub fn probes(&self) -> bool {
        self.algorithm.probes()
    }

    /// Whether the peer is to acknowledge each segment at once.
    pub fn acknowledged_each(&self) -> bool {
        self.algorithm.acknowledged_each()
    }

    /// Whether [`Controller::on_nic`] is to be called over TCP.
    pub fn reads_nic(&self) -> bool {
        self.algorithm.reads_nic()
    }

    /// What the congestion control draws by chance, it draws from here.
    pub fn set_seed(&mut self, seed: u64) {
        self.algorithm.set_seed(seed);
    }

    /// What the last connection to the same destination has left; to be told before [`Controller::begin`].
    pub fn recall(&mut self, memory: &Memory) {
        self.algorithm.recall(memory);
    }

    /// What the congestion control leaves for the next connection to the same destination.
    pub fn remember(&self) -> Option<Memory> {
        self.algorithm.remember()
    }

    /// The connection is there.
    pub fn begin(&mut self, start: &Start) {
        self.algorithm.begin(&mut self.w, start);
        self.bound();
    }

    /// A packet of a congestion control that probes has arrived; to be told before its ACK.
    pub fn on_arrival(&mut self, now: Time, arrival: &Arrival) {
        self.algorithm.on_arrival(&mut self.w, now, arrival);
        self.bound();
    }

    /// The train to be sent from `now` on, when `segments` of new data are there.
    pub fn next_train(&mut self, now: Time, segments: u64) -> Option<Train> {
        self.algorithm.next_train(now, segments)
    }

    /// Of the last train only `packets` could be sent.
    pub fn on_train_cut(&mut self, now: Time, packets: u32) {
        self.algorithm.on_train_cut(&mut self.w, now, packets);
        self.bound();
    }

    /// Routers have told the fair rate, of bytes with their IP headers, and how many such bytes of this flow wait there.
    pub fn on_fair_rate(&mut self, rate_bps: f64, queue_bytes: f64) {
        self.algorithm.on_fair_rate(&mut self.w, rate_bps, queue_bytes);
        self.bound();
    }

    /// The interface of a sender of RDMA, or behind a congestion control that probes, when it begins and when another congestion
    /// control takes over.
    pub fn on_nic(&mut self, nic: &Nic) {
        self.algorithm.on_nic(&mut self.w, nic);
        self.bound();
    }

    /// The receiver has notified of a marked packet.
    pub fn on_notification(&mut self, now: Time) {
        self.algorithm.on_notification(&mut self.w, now);
        self.bound();
    }

    /// An ACK has brought what a packet met at each port; to be told before the ACK.
    pub fn on_telemetry(&mut self, telemetry: &Telemetry, progress: Progress) {
        self.algorithm.on_telemetry(&mut self.w, telemetry, progress);
        self.bound();
    }

    /// When the congestion control wants [`Controller::on_timer`].
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        self.algorithm.next_timer()
    }

    pub fn on_timer(&mut self, now: Time) {
        self.algorithm.on_timer(&mut self.w, now);
        self.bound();
    }

    /// Lowers the window to `bytes` without a congestion event: the restart window after idle (RFC 5681 section 4.1)
    /// or a stack's burst moderation. Never raises it.
    pub fn shrink_to(&mut self, bytes: f64) {
        if bytes < self.w.cwnd {
            self.w.cwnd = bytes;
            self.bound();
            self.algorithm.on_shrink(&self.w);
        }
    }

    /// The congestion window in bytes.
    #[inline]
    pub fn window(&self) -> f64 {
        self.w.cwnd
    }

    /// The slow-start threshold in bytes, infinite before the first event.
    #[inline]
    pub fn ssthresh(&self) -> f64 {
        self.w.ssthresh
    }

    /// Segment size in bytes.
    pub fn mss(&self) -> f64 {
        self.w.mss
    }

    /// The stack spaces the segments of congestion controls that do not: so many per cent of a window a round trip while it is
    /// below half of ssthresh, and from there on (Linux `tcp_update_pacing_rate`).
    pub fn pacing(mut self, slow_start_percent: u16, beyond_percent: u16) -> Controller {
        self.pace = (slow_start_percent, beyond_percent);
        self.slow_start.on_pacing();
        self
    }

    /// Windows a round trip at which the stack spaces segments, if the congestion control does not; 0 for not at all.
    #[inline]
    pub fn pace(&self) -> f64 {
        let (slow_start, beyond) = self.pace;
        f64::from(if self.w.cwnd < self.w.ssthresh / 2.0 { slow_start } else { beyond }) / 100.0
    }

    /// The rate that the congestion control asks to be paced at, in bit/s of payload (or of whole packets, see
    /// [`CongestionControl::paces_packets`]); none for a congestion control that is driven by ACKs alone.
    #[inline]
    pub fn pacing_rate(&self) -> Option<f64> {
        self.algorithm.pacing_rate(&self.w)
    }

    /// Pacing and timer, as the congestion control wants them.
    #[inline]
    pub fn wishes(&self) -> Wishes {
        self.algorithm.wishes(&self.w)
    }

    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.w.in_slow_start()
    }

    /// The congestion control's name in the registry, or that of a guest's class.
    pub fn name(&self) -> &str {
        self.algorithm.name()
    }

    /// Why a guest has given up; none for the congestion controls of this crate.
    pub fn fault(&self) -> Option<&Fault> {
        self.algorithm.fault()
    }

    /// The congestion control's internals by name, always the same names in the same order (see [`crate::describe`]).
    pub fn observe(&self) -> Vec<(&'static str, f64)> {
        let mut out = Vec::new();
        self.algorithm.observe(&mut out);
        out
    }

    /// Sets `cwnd` or `ssthresh` (bytes) or a named internal; false if there is no such name or the value cannot be.
    /// For tests and the stepping interface.
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

#[cfg(test)]
mod tests;
