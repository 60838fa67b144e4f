//! The model of the path that the BBR family keeps: rounds by what is delivered, bandwidth, round-trip time, and what ACKs
//! bring beyond the bandwidth.

use crate::event::SSTHRESH_MIN_SEGMENTS;
use crate::{Ack, Window};
use elephan_units::{Span, Time};

/// Rounds, after the last ACK in PROBE_RTT, whose samples still measure its small window: those of segments sent in it
/// and those of segments sent while they were in flight.
const AFTERMATH_ROUNDS: u64 = 2;
/// A sample is taken for at least and at most so much, bit/s.
const RATE_MIN: f64 = 1.0;
const RATE_MAX: f64 = 1e15;

/// Round-trip time that the first pacing rate assumes before one is measured (Linux `bbr_init_pacing_rate_from_rtt`,
/// draft-ietf-ccwg-bbr BBRInitPacingRate).
pub(crate) const RTT_ASSUMED: Span = Span::from_ms(1);
/// Bursts that the window has room for beyond bandwidth times delay: in the host, on the way, in the receiver (draft-ietf-ccwg-bbr,
/// BBRUpdateOffloadBudget).
pub(crate) const BURSTS: f64 = 3.0;
/// Segments added while the flow probes for more, so that small windows probe at all (Linux `bbr_quantization_budget`,
/// draft-ietf-ccwg-bbr QuantizationBudget).
pub(crate) const PROBE_EXTRA_SEGMENTS: f64 = 2.0;

#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// The number of the round.
    round: u64,
    /// What was delivered when the round began: it ends with the first segment sent since.
    round_start: u64,
    /// Where it is not known when a segment was sent: the round ends when more than so much is delivered.
    round_end: u64,
    delivered: u64,
    bw: MaxRate,
    /// Samples up to this round were limited by PROBE_RTT.
    limited_through: u64,
    least: MinRtt,
    extra: Extra,
    extra_max_s: f64,
    /// The window of the first ACK in bytes.
    initial: f64,
    /// Sending has begun again after silence, until the congestion control has looked: what comes next is no standing queue.
    pub restarted: bool,
}

impl Path {
    /// The bandwidth is the largest rate of `rate_slots` rounds (or what else the congestion control counts), the extra that of twice
    /// `extra_rounds` rounds, at most `extra_max` at the bandwidth.
    pub fn new(rate_slots: u32, extra_rounds: u32, extra_max: Span) -> Path {
        Path {
            round: 0,
            round_start: 0,
            round_end: 0,
            delivered: 0,
            bw: MaxRate::new(rate_slots),
            limited_through: 0,
            least: MinRtt::default(),
            extra: Extra { rounds_each: extra_rounds, ..Extra::default() },
            extra_max_s: extra_max.seconds(),
            initial: 0.0,
            restarted: false,
        }
    }

    /// Something is sent while `inflight` bytes are in flight before it.
    pub fn sent(&mut self, now: Time, inflight: u64) {
        if inflight == 0 {
            self.restarted = true;
            self.extra.begin(now);
        }
    }

    /// Counts what an ACK delivers at a window of `cwnd` bytes; answers whether it is the first of a new round.
    pub fn count(&mut self, ack: &Ack, cwnd: f64) -> bool {
        if self.initial == 0.0 {
            self.initial = cwnd;
        }
        self.delivered = ack.delivered;
        let new_round = match ack.prior_delivered {
            Some(prior) => prior >= self.round_start,
            None => ack.delivered > self.round_end,
        };
        if new_round {
            self.round += 1;
            self.restart_round(ack.left());
        }
        new_round
    }

    /// The same for a congestion control whose rounds only samples of the rate begin (Linux `bbr_update_bw`).
    pub fn count_sampled(&mut self, ack: &Ack, cwnd: f64) -> bool {
        let samples = ack.prior_delivered.is_none() || ack.rate_bps.is_some();
        if samples {
            return self.count(ack, cwnd);
        }
        self.delivered = ack.delivered;
        false
    }

    /// Takes in the delivery rate that an ACK measured, as one of slot `slot`.
    pub fn sample_rate(&mut self, ack: &Ack, slot: u64) {
        if let Some(rate) = ack.rate_bps.filter(|rate| *rate > 0.0) {
            let rate = rate.clamp(RATE_MIN, RATE_MAX);
            if !self.limited(ack) || rate >= self.bw.max {
                self.bw.push(slot, rate);
            }
        }
    }

    /// Takes in what an ACK brings beyond the bandwidth `bw`.
    pub fn sample_extra(&mut self, ack: &Ack, bw: f64, cwnd: f64, new_round: bool) {
        self.extra.update(ack, bw, cwnd, new_round);
    }

    /// Less than the first window is delivered, `before` bytes counting beside the data.
    pub fn young(&self, before: f64) -> bool {
        self.delivered as f64 + before < self.initial
    }

    /// Bytes delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The number of the round.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// A round begins now, with `inflight` bytes in flight.
    pub fn restart_round(&mut self, inflight: u64) {
        self.round_start = self.delivered;
        self.round_end = self.delivered.saturating_add(inflight);
    }

    /// Whether this ACK's sample says nothing about the path: the application or PROBE_RTT kept the sender slow.
    pub fn limited(&self, ack: &Ack) -> bool {
        ack.rate_app_limited || self.round <= self.limited_through
    }

    /// Samples of what is sent now will be limited.
    pub fn limit(&mut self) {
        self.limited_through = self.round + AFTERMATH_ROUNDS;
    }

    /// bit/s, 0 until it is known.
    pub fn bw(&self) -> f64 {
        self.bw.max
    }

    pub fn set_bw(&mut self, bps: f64) {
        self.bw.only(bps.clamp(RATE_MIN, RATE_MAX));
    }

    pub fn min_rtt(&self) -> Option<Span> {
        self.least.get()
    }

    pub fn set_min_rtt(&mut self, rtt: Span) {
        self.least.set(rtt);
    }

    /// Takes in a round-trip time; answers whether `window` has passed since the smallest was measured. One that the receiver may have
    /// `held` is taken only if it is the smallest.
    pub fn sample_rtt(&mut self, ack: &Ack, window: Span, held: bool) -> bool {
        let rtt = ack.rtt.filter(|rtt| !held || *rtt < self.least.rtt);
        self.least.sample(ack.now, rtt, window)
    }

    /// The handshake took `rtt`.
    pub fn begin(&mut self, now: Time, rtt: Span) {
        self.least = MinRtt::new(rtt, now);
    }

    /// PROBE_RTT has seen the round-trip time of the path.
    pub fn confirm_min_rtt(&mut self, now: Time) {
        self.least.at = now;
    }

    /// Bandwidth `bw` times delay in bytes.
    pub fn bdp(&self, bw: f64) -> Option<f64> {
        (bw > 0.0 && self.least.rtt != Span::MAX).then(|| bw * self.least.seconds / 8.0)
    }

    /// Bytes that the window has to have room for because ACKs come in lumps, at the bandwidth `bw`.
    pub fn extra_bytes(&self, bw: f64) -> f64 {
        let most = bw * self.extra_max_s / 8.0;
        self.extra.bytes[0].max(self.extra.bytes[1]).min(most)
    }
}

/// The smallest round-trip time, until it is too old.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinRtt {
    rtt: Span,
    /// The same in seconds, as every ACK asks for it.
    seconds: f64,
    /// When it was measured.
    at: Time,
}

impl Default for MinRtt {
    fn default() -> MinRtt {
        MinRtt::new(Span::MAX, Time::ZERO)
    }
}

impl MinRtt {
    /// `rtt`, measured at `at`.
    pub fn new(rtt: Span, at: Time) -> MinRtt {
        MinRtt { rtt, seconds: rtt.seconds(), at }
    }

    pub fn get(&self) -> Option<Span> {
        (self.rtt != Span::MAX).then_some(self.rtt)
    }

    pub fn set(&mut self, rtt: Span) {
        *self = MinRtt::new(rtt, self.at);
    }

    /// Takes in a round-trip time; answers whether `window` has passed since the smallest was measured.
    pub fn sample(&mut self, now: Time, rtt: Option<Span>, window: Span) -> bool {
        let expired = self.rtt != Span::MAX && now.since(self.at) > window;
        if let Some(rtt) = rtt
            && (rtt < self.rtt || expired)
        {
            *self = MinRtt::new(rtt, now);
        }
        expired
    }
}

/// What the window makes of an ACK. Once the pipe is full it grows to `cap`; without one while it is below
/// `target` or the flow `young`; where it is the limit it is `least` bytes at least.
pub(crate) fn approach(w: &mut Window, ack: &Ack, least: f64, cap: Option<f64>, target: f64, young: bool) {
    let growth = if ack.app_limited { 0.0 } else { ack.acked as f64 };
    match cap {
        Some(cap) => w.cwnd = (w.cwnd + growth).min(cap),
        None if w.cwnd < target || young => w.cwnd += growth,
        None => {}
    }
    if !ack.app_limited {
        w.cwnd = w.cwnd.max(least);
    }
}

/// In DRAIN, which may begin with this ACK: whether what STARTUP has queued is gone, no more than `pipe` bytes in flight. Nothing in
/// these congestion controls reads the threshold; others see by it that slow start is over.
pub(crate) fn drained(ack: &Ack, pipe: f64, w: &mut Window, begins: bool) -> bool {
    if begins {
        w.ssthresh = pipe.max(SSTHRESH_MIN_SEGMENTS * w.mss);
    }
    ack.left() as f64 <= pipe
}

/// The pacing rate, bit/s, 0 until it is known: `first` to begin with, then `rate`, which lowers it once the pipe is full.
pub(crate) fn pace(pacing: &mut f64, first: impl FnOnce() -> Option<f64>, rate: f64, full: bool) {
    if *pacing == 0.0 {
        *pacing = first().unwrap_or(0.0);
    }
    if rate > 0.0 && (full || rate > *pacing) {
        *pacing = rate;
    }
}

/// Pacing rate of `gain` windows in a round-trip time, bit/s: before a bandwidth is known.
pub(crate) fn window_rate(w: &Window, gain: f64, rtt: Span) -> f64 {
    gain * w.cwnd * 8.0 / rtt.max(Span::from_ns(1)).seconds()
}

/// The least whole number that is not below `x`, which is not negative and below 2^52: added to 2^52 it is rounded to a whole number.
/// (`f64::ceil` is a call where the processor that is built for need not have an instruction for it, as x86-64 without SSE4.1.)
#[inline]
pub(crate) fn ceiling(x: f64) -> f64 {
    const WHOLE: f64 = (1_u64 << 52) as f64;
    let near = (x + WHOLE) - WHOLE;
    if near < x { near + 1.0 } else { near }
}

/// The largest rate of the last rounds. A round leaves only when a newer one has a sample: a flow that measures nothing
/// forgets nothing.
#[derive(Clone, Debug)]
struct MaxRate {
    /// Of the rounds before the newest, in a circle; at `at` the place of the newest, which is not written yet.
    slots: Vec<f64>,
    at: usize,
    newest: u64,
    /// Of the newest round.
    latest: f64,
    max: f64,
}

impl MaxRate {
    fn new(slots: u32) -> MaxRate {
        MaxRate { slots: vec![0.0; slots as usize], at: 0, newest: 0, latest: 0.0, max: 0.0 }
    }

    fn push(&mut self, round: u64, rate: f64) {
        if round > self.newest {
            self.turn(round);
        }
        if rate > self.latest {
            self.latest = rate;
            self.max = self.max.max(rate);
        }
    }

    #[cold]
    fn turn(&mut self, round: u64) {
        self.slots[self.at] = self.latest;
        for _ in (self.newest..round).take(self.slots.len()) {
            self.at = (self.at + 1) % self.slots.len();
            self.slots[self.at] = 0.0;
        }
        (self.newest, self.latest) = (round, 0.0);
        self.max = self.slots.iter().copied().fold(0.0, f64::max);
    }

    /// Forgets all but this rate.
    fn only(&mut self, rate: f64) {
        self.slots.fill(0.0);
        (self.latest, self.max) = (rate, rate);
    }
}

/// How many bytes ACKs bring beyond what the bandwidth would have brought: two maxima, over this interval of rounds and
/// over the one before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extra {
    rounds_each: u32,
    rounds: u32,
    bytes: [f64; 2],
    since: Time,
    acked: f64,
}

impl Extra {
    /// The comparison with the bandwidth begins now.
    pub fn begin(&mut self, now: Time) {
        (self.since, self.acked) = (now, 0.0);
    }

    fn update(&mut self, ack: &Ack, bw: f64, cwnd: f64, new_round: bool) {
        if new_round {
            self.rounds += 1;
            if self.rounds >= self.rounds_each {
                (self.rounds, self.bytes) = (0, [0.0, self.bytes[0]]);
            }
        }
        let mut expected = bw * ack.now.since(self.since).seconds() / 8.0;
        if self.acked <= expected {
            self.begin(ack.now);
            expected = 0.0;
        }
        self.acked += ack.acked as f64;
        let extra = (self.acked - expected).min(cwnd);
        if extra > self.bytes[0] {
            self.bytes[0] = extra;
        }
    }
}
