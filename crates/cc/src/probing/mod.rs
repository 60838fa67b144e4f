//! The search of a congestion control that probes: when the next train goes and at which rate, what follows from it, and what
//! lowers the rate. Its rules are those of [`crate::algorithm::pcp`], whose parameters it reads.

mod backlog;
mod memory;
mod probe;

use crate::algorithm::pcp::Parameters;
use crate::draw::Draw;
use crate::event::SSTHRESH_MIN_SEGMENTS;
use crate::train::{Arrival, Memory, Start, Train};
use crate::{Ack, Nic, Signal, Window};
use backlog::{Backlog, Rule};
use elephan_units::{PS_PER_S, Span, Time};
use memory::Rates;
pub use memory::Remembered;
pub use probe::Test;
use probe::{Judge, Probe, duration};

/// The smallest share of the history's rate with which a connection begins.
const TRUST_MIN: f64 = 1.0 / 64.0;
/// A connection that is taken over is taken for one of full packets with headers of this size.
const HEADERS_BYTES: u64 = 40;
/// No rate is higher, bit/s, whatever the interface.
pub(crate) const RATE_MAX: f64 = 1e15;

/// What an undone event restores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steer {
    pub base_bps: f64,
    pub delta_bps: f64,
    /// Mean time to the next probe, seconds.
    pub interval_s: f64,
    /// No probe has failed.
    startup: bool,
    /// When a loss was last answered.
    cut_at: Option<Time>,
}

#[derive(Clone, Debug)]
pub(crate) struct Prober {
    p: Parameters,
    draw: Draw,
    begun: bool,
    packet_bits: f64,
    /// Seconds: smoothed, and the smallest.
    rtt_s: f64,
    rtt_min_s: f64,
    first_bps: f64,
    /// bit/s of the host's own interface, beyond which there is nothing to find.
    rate_max: f64,
    pub steer: Steer,
    prior: Steer,
    /// When the next probe begins; whether it has come.
    next_at: Time,
    due: bool,
    pub trains: u32,
    probe: Option<Probe>,
    pub backlog: Backlog,
    /// Share of the rate that is left free, and until when.
    pub drain: f64,
    drain_until: Time,
    /// Base packets known to have been sent, and those of which something came.
    bases: (u32, u32),
    /// Something has come at all.
    heard: bool,
    lost: u64,
    memory: Option<Memory>,
    rates: Rates,
    /// The rate of the history is being tried.
    predicted: bool,
    trust: f64,
}

impl Prober {
    pub fn new(p: &Parameters) -> Prober {
        let steer = Steer { base_bps: 0.0, delta_bps: 0.0, interval_s: 0.0, startup: true, cut_at: None };
        Prober {
            p: p.clone(),
            draw: Draw(0),
            begun: false,
            packet_bits: 0.0,
            rtt_s: p.rtt_max.seconds(),
            rtt_min_s: p.rtt_max.seconds(),
            first_bps: 0.0,
            rate_max: RATE_MAX,
            steer,
            prior: steer,
            next_at: Time::NEVER,
            due: false,
            trains: 0,
            probe: None,
            backlog: Backlog::new(),
            drain: 0.0,
            drain_until: Time::ZERO,
            bases: (0, 0),
            heard: false,
            lost: 0,
            memory: None,
            rates: Rates::default(),
            predicted: false,
            trust: 1.0,
        }
    }

    /// What is drawn by chance is drawn from here.
    pub fn set_seed(&mut self, seed: u64) {
        self.draw = Draw(seed);
    }

    /// No rate is higher than that of the host's interface.
    pub fn on_nic(&mut self, nic: &Nic) {
        self.rate_max = nic.rate_bps.min(RATE_MAX);
        self.steer.base_bps = self.steer.base_bps.min(self.rate_max);
        self.steer.delta_bps = self.steer.delta_bps.min(self.rate_max);
    }

    /// What the last connection to the same host has left.
    pub fn recall(&mut self, memory: &Memory) {
        self.memory = Some(*memory).filter(|_| self.p.history);
    }

    /// What is left for the next.
    pub fn remember(&self) -> Option<Memory> {
        let rate_bps = self.rates.remembered(self.p.remembered, self.steer.base_bps);
        (self.p.history && rate_bps > 0.0).then_some(Memory { rate_bps, trust: self.trust })
    }

    /// The connection is there: the first probe is due.
    pub fn begin(&mut self, w: &mut Window, start: &Start) {
        self.measure(start.rtt, start.rtt);
        self.open(w, 8.0 * start.packet_bytes as f64);
        if let Some(memory) = self.memory {
            let first = self.p.history_share * memory.trust * memory.rate_bps;
            (self.trust, self.predicted) = (memory.trust, first > self.first_bps);
            self.steer.delta_bps = first.clamp(self.first_bps, self.rate_max);
        }
        if start.takes_over {
            self.steer.base_bps = self.rate_of(w.cwnd, w.mss);
        }
        self.settle(w);
    }

    /// An ACK of new data: round-trip times, and what was found lost.
    pub fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        self.measure(ack.srtt.or(ack.rtt), ack.min_rtt.or(ack.rtt));
        if !self.begun && ack.rtt.is_some() {
            // Nobody has told of a connection: it takes the rate that it finds.
            self.open(w, w.mss * 8.0 + (8 * HEADERS_BYTES) as f64);
            self.steer.base_bps = self.rate_of(w.cwnd, w.mss);
        }
        if ack.lost > self.lost {
            self.lost = ack.lost;
            self.on_loss(w, ack.now);
        }
    }

    /// A packet has arrived.
    pub fn on_arrival(&mut self, w: &mut Window, now: Time, arrival: &Arrival) {
        if !self.begun {
            return;
        }
        self.count(arrival);
        self.rates.note(self.steer.base_bps);
        self.backlog.add(now, arrival, &self.rule());
        if self.p.compensation {
            self.compensate(now);
        }
        if let Some(probe) = &mut self.probe {
            probe.add(arrival);
            if probe.is_over() {
                self.conclude(w, now);
            }
        }
        self.settle(w);
    }

    /// The train that is due, if there is one and data for it.
    pub fn next_train(&mut self, now: Time, segments: u64) -> Option<Train> {
        let alone = self.steer.base_bps == 0.0;
        if !self.due || segments == 0 || segments == 1 && !alone {
            return None;
        }
        self.due = false;
        let gap_s = self.packet_bits / self.steer.delta_bps;
        // As many as fit in half a round trip; the hair is for gaps that are an exact part of it.
        let fit = 1 + (self.rtt_min_s / 2.0 / gap_s * (1.0 + 1e-6)) as u64;
        let packets = fit.clamp(2, u64::from(self.p.probe_packets)).min(segments) as u32;
        self.trains = self.trains.wrapping_add(1);
        let train = Train { packets, gap: Span::from_seconds(gap_s).max(Span(1)), id: self.trains };
        let lasts = duration(&train);
        let patience = Span::from_seconds(self.p.probe_timeout * self.rtt_s);
        self.backlog.exclude(now, now.saturating_add(lasts).saturating_add(lasts));
        self.probe = Some(Probe::new(train, self.steer.delta_bps, now.saturating_add(lasts).saturating_add(patience)));
        Some(train)
    }

    /// Of the last train only `packets` could be sent.
    pub fn on_train_cut(&mut self, w: &mut Window, now: Time, packets: u32) {
        let Some(probe) = &mut self.probe else { return };
        probe.cut(packets);
        if probe.is_over() {
            self.conclude(w, now);
        }
    }

    /// The next probe, the end of one without an answer, or that of draining.
    pub fn next_timer(&self) -> Option<Time> {
        let probe = self.probe.map_or(Time::NEVER, |probe| probe.deadline);
        let drain = if self.drain > 0.0 { self.drain_until } else { Time::NEVER };
        Some(self.next_at.min(probe).min(drain)).filter(|at| *at != Time::NEVER)
    }

    /// Does what is due at `now`.
    pub fn on_timer(&mut self, w: &mut Window, now: Time) {
        if now >= self.next_at {
            (self.next_at, self.due) = (Time::NEVER, true);
        }
        if now >= self.drain_until {
            self.drain = 0.0;
        }
        if self.probe.is_some_and(|probe| now >= probe.deadline) {
            self.probe = None;
            self.fail(w, now);
        }
        if self.begun {
            self.settle(w);
        }
    }

    /// A loss, or what counts as one, or a timer.
    pub fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        self.prior = self.steer;
        let now = signal.now();
        if !matches!(signal, Signal::Rto { .. }) {
            self.on_loss(w, now);
        } else if self.begun {
            // As at the beginning; a rate that is lower still is not raised.
            let base = self.steer.base_bps;
            self.steer.base_bps = if base > 0.0 { base.min(self.first_bps) } else { self.first_bps };
            self.steer.delta_bps = self.first_bps;
            self.steer.cut_at = Some(now);
            self.distrust();
            self.leave_startup(w, now);
        }
        self.lower(w);
    }

    /// The last event was spurious.
    pub fn on_undo(&mut self) {
        self.steer = self.prior;
    }

    /// bit/s of base packets.
    pub fn pacing_rate(&self) -> f64 {
        (self.steer.base_bps * (1.0 - self.drain)).max(self.rate_min())
    }

    fn judge(&self) -> Judge {
        let p = &self.p;
        Judge {
            test: p.test,
            threshold: p.slope_max,
            error_max: p.error_max,
            error_min: p.error_min,
            pair_rise_s: p.pair_rise.seconds(),
        }
    }

    fn rule(&self) -> Rule {
        let p = &self.p;
        Rule {
            slope_min: p.growth_min,
            base_window: p.base_window,
            standing_min_s: p.standing_min.seconds(),
            drain_max: p.drain_max,
            patience: p.patience,
            divisor: p.tit_for_tat,
        }
    }

    fn measure(&mut self, rtt: Option<Span>, least: Option<Span>) {
        let seconds = |span: Option<Span>| span.map(|rtt| rtt.max(Span::from_ns(1)).seconds());
        self.rtt_s = seconds(rtt).unwrap_or(self.rtt_s);
        self.rtt_min_s = seconds(least).unwrap_or(self.rtt_min_s).min(self.rtt_s);
    }

    /// The first probe is due; until something is measured its rate is two packets a round trip.
    fn open(&mut self, w: &mut Window, packet_bits: f64) {
        self.begun = true;
        self.packet_bits = packet_bits.max(w.mss * 8.0);
        self.first_bps = (2.0 * self.packet_bits / self.rtt_s).min(self.rate_max);
        (self.steer.delta_bps, self.steer.interval_s) = (self.first_bps, self.rtt_s);
        self.due = true;
    }

    /// One packet in the longest time.
    fn rate_min(&self) -> f64 {
        self.packet_bits.max(1.0) / self.p.rtt_max.seconds().max(1e-9)
    }

    /// The rate on the wire of a window of `bytes` a round trip.
    fn rate_of(&self, bytes: f64, mss: f64) -> f64 {
        (bytes / mss * self.packet_bits / self.rtt_s).min(self.rate_max)
    }

    /// The cap on what is in flight, bytes.
    fn cap(&self, w: &Window) -> f64 {
        let packets = self.p.window_rounds * self.steer.base_bps * self.rtt_s / self.packet_bits;
        (packets + self.p.window_packets) * w.mss
    }

    fn settle(&mut self, w: &mut Window) {
        w.cwnd = self.cap(w);
        if !self.steer.startup {
            w.leave_slow_start();
        }
    }

    /// After an event: nothing is raised.
    fn lower(&self, w: &mut Window) {
        if self.begun {
            w.cwnd = w.cwnd.min(self.cap(w));
        }
        w.ssthresh = w.ssthresh.min(w.cwnd.max(SSTHRESH_MIN_SEGMENTS * w.mss));
    }

    /// Counts base packets, so that a loss can be told to be one of theirs.
    fn count(&mut self, arrival: &Arrival) {
        let d = &arrival.departure;
        self.heard = true;
        self.bases.0 = self.bases.0.max(d.bases);
        self.bases.1 = self.bases.1.saturating_add(u32::from(!d.in_train));
    }

    /// The queue of the last round trip lowers the rate.
    fn compensate(&mut self, now: Time) {
        let rtt = Span::from_seconds(self.rtt_s);
        let Some(reaction) = self.backlog.round(now, rtt, &self.rule()) else { return };
        self.steer.base_bps /= 1.0 + reaction.excess;
        (self.drain, self.drain_until) = (reaction.drain, now.saturating_add(rtt));
    }

    /// The probe is over.
    fn conclude(&mut self, w: &mut Window, now: Time) {
        let Some(probe) = self.probe.take() else { return };
        match probe.judge(&self.judge(), self.draw.uniform()) {
            Some(true) => self.succeed(now, probe.rate_bps),
            Some(false) => self.fail(w, now),
            None => self.schedule(now),
        }
    }

    fn succeed(&mut self, now: Time, rate_bps: f64) {
        if std::mem::take(&mut self.predicted) {
            self.trust = (2.0 * self.trust).min(1.0);
        }
        self.steer.base_bps = (self.steer.base_bps + rate_bps).min(self.rate_max);
        self.steer.delta_bps = (2.0 * rate_bps).min(self.rate_max);
        self.steer.interval_s = self.rtt_s;
        self.schedule(now);
    }

    fn fail(&mut self, w: &mut Window, now: Time) {
        if std::mem::take(&mut self.predicted) {
            self.distrust();
        }
        self.steer.delta_bps = (self.steer.delta_bps / 2.0).max(self.p.floor * self.first_bps);
        self.steer.interval_s = (2.0 * self.steer.interval_s).min(self.p.interval_max * self.rtt_s);
        self.steer.startup = false;
        w.leave_slow_start();
        self.schedule(now);
    }

    fn distrust(&mut self) {
        self.trust = (self.trust / 2.0).max(TRUST_MIN);
    }

    fn leave_startup(&mut self, w: &mut Window, now: Time) {
        self.steer.interval_s = self.rtt_s;
        self.steer.startup = false;
        w.leave_slow_start();
        if self.probe.is_none() {
            self.schedule(now);
        }
    }

    /// When the next probe begins.
    fn schedule(&mut self, now: Time) {
        if self.steer.startup {
            self.due = true;
            return;
        }
        let share = 1.0 + self.p.jitter * (2.0 * self.draw.uniform() - 1.0);
        let wait = Span::from_seconds((share * self.steer.interval_s).min(u64::MAX as f64 / PS_PER_S as f64));
        self.next_at = now.saturating_add(wait);
        self.due = false;
    }

    /// Something was lost. Where no base packet is missing it was one of a train, which fails for it and no more.
    fn on_loss(&mut self, w: &mut Window, now: Time) {
        let (sent, came) = self.bases;
        self.bases.1 = sent;
        if self.heard && came >= sent {
            return;
        }
        let recent = self.steer.cut_at.is_some_and(|at| now.since(at).seconds() < self.rtt_s);
        if recent || !self.begun {
            return;
        }
        self.steer.cut_at = Some(now);
        if self.steer.base_bps > 0.0 {
            self.steer.base_bps = (self.p.beta * self.steer.base_bps).max(self.rate_min());
        }
        self.lower(w);
    }
}
