//! BBR version 1 (Cardwell et al. 2016, draft-cardwell-iccrg-bbr-congestion-control-00, Linux `tcp_bbr.c`): the sender
//! keeps a model of the path, its bandwidth and its round-trip time, and sends by that model, not by losses.
//!
//! Every ACK updates the model (`crate::path`) and then sets rate and window:
//!
//! ```text
//! bw           = largest delivery rate of the last 10 rounds,  min_rtt = smallest round-trip time of the last 10 s
//! inflight(g)  = ceil(g bw min_rtt) + what ACKs brought beyond bw once the pipe is full + 3 bursts,
//!                rounded up to even, + 2 in the probing phase                                     (segments)
//! pacing rate  = 0.99 pacing_gain bw            (before the pipe is full: never lowered)
//! target       = inflight(cwnd_gain)
//! cwnd         = min(cwnd + acked, target), at least 4     (before the pipe is full: cwnd + acked below the target)
//! ```
//!
//! | mode | pacing gain | window gain | leaves it |
//! |---|---|---|---|
//! | STARTUP | 2.885 | 2.885 | three rounds with less than 1.25 times the bandwidth |
//! | DRAIN | 1 / 2.885 | 2.885 | inflight <= inflight(1) |
//! | PROBE_BW (`probe_bw.rs`) | 1.25, 0.75, 1 six times | 2 | to PROBE_RTT |
//! | PROBE_RTT | 1 | 1, at most 4 segments | 200 ms and a round at 4 segments |
//!
//! A loss makes the window what is in flight for one round (packet conservation), from where it grows by what is
//! delivered; a timer leaves one segment. With the end of recovery the window is at least what it was before. No other
//! reduction (PRR) is at work meanwhile. ECN-Echo and local drops do nothing.
//!
//! Behind a policer (`crate::policer`) `bw` is the mean rate of two intervals from loss to loss that lose much (Linux
//! `bbr_lt_bw_sampling`):
//!
//! ```text
//! interval     = 4 to 16 rounds, lost >= 50/256 delivered,    rate = delivered / time
//! seen         : |rate - rate before| <= max(rate before / 8, 4 kbit/s);    bw = (rate + rate before) / 2 for 48 rounds, gain 1
//! ```
//!
//! What follows silence in PROBE_BW leaves at bw; with the first ACK the gain of the phase is back (Linux `bbr_cwnd_event`). Silence
//! ends a PROBE_RTT whose 200 ms are over. An ACK that the receiver may have held replaces no smallest round-trip time that is too old.
//!
//! PROBE_BW begins with a phase drawn from 0 and 2 to 7, alike each, so that flows do not probe in step (Linux
//! `bbr_reset_probe_bw_mode`); with `phase` always with that one.
//!
//! Different from Linux: pacing lets out bursts of `burst_segments`, Linux's least; longer ones at high rates, which belong to
//! segmentation offload, are left out. The window has room for them all the same.

mod parameters;
mod probe_bw;
#[cfg(test)]
mod tests;

use super::{CongestionControl, Drawing, Pacing};
use crate::declare::states;
use crate::draw::Draw;
use crate::path::{BURSTS, PROBE_EXTRA_SEGMENTS, Path, RTT_ASSUMED, ceiling, drained, pace, window_rate};
use crate::policer::{Moment, Policer};
use crate::registry::Model;
use crate::repair::{Repair, Stay, Visit};
use crate::train::Start;
use crate::{Ack, Needs, Signal, Traits, Window};
use elephan_units::{InvalidParameter, Span, Time};
pub use parameters::Parameters;

/// Below this pacing rate a burst is one segment (Linux `bbr_min_tso_rate`).
const SLOW_BPS: f64 = 1.2e6;
/// What Linux asks its devices to segment at once: the bytes of a millisecond (`sk_pacing_shift` 10: 1/1024 s), at most those of a packet
/// of 64 KiB less headers (`GSO_LEGACY_MAX_SIZE`, `MAX_TCP_HEADER`).
const OFFLOAD_PER_S: f64 = 1024.0;
const OFFLOAD_MAX_BYTES: f64 = 65_215.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw { phase: u32, since: Time },
    ProbeRtt(Stay),
}

#[derive(Clone, Debug)]
pub struct Bbr {
    p: Parameters,
    draw: Draw,
    mode: Mode,
    path: Path,
    repair: Repair,
    policer: Policer,
    /// The bandwidth has stopped growing: STARTUP is done for good.
    full: bool,
    pacing_gain: f64,
    /// bit/s, 0 until a round-trip time is known.
    pacing: f64,
    /// A loss came since the last ACK.
    lost: bool,
}

impl Model for Bbr {
    type Parameters = Parameters;
    const NEEDS: Needs = Needs::RATE.and(Needs::STEERS_RECOVERY);

    fn new(p: &Parameters) -> Bbr {
        Bbr {
            draw: Draw(0),
            mode: Mode::Startup,
            path: Path::new(p.bw_rounds, p.extra_acked_rounds, p.extra_acked_max),
            repair: Repair::conserving(),
            policer: Policer::default(),
            full: false,
            pacing_gain: p.startup_gain,
            pacing: 0.0,
            lost: false,
            p: p.clone(),
        }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        if p.phase != Some(probe_bw::DRAINING) {
            return Ok(());
        }
        Err(InvalidParameter::new("phase", format!("must be 0 or 2 to 7, not {}", probe_bw::DRAINING)))
    }

    fn traits(_: &Parameters) -> Traits {
        Traits {
            is_random: Some(true),
            own_start: true,
            minds_loss: false,
            minds_marks: false,
            sets_its_window: true,
            grows_unused: true,
            ..Traits::default()
        }
    }
}

states! {
    Bbr, cc, value;
    "mode" ["1"] "0 STARTUP, 1 DRAIN, 2 PROBE_BW, 3 PROBE_RTT":
        cc.mode_number(), [0.0, 1.0, 2.0, 3.0].contains(&value) => cc.set_mode(value);
    "bw" ["bit/s"] "bandwidth of the path, 0 until it is measured": cc.path.bw(), value > 0.0 => cc.path.set_bw(value);
    "min_rtt" ["s"] "round-trip time of the path, 0 until it is measured":
        cc.path.min_rtt().map_or(0.0, Span::seconds), value > 0.0 => cc.path.set_min_rtt(Span::from_seconds(value));
    "policer" ["bit/s"] "rate of the policer that the flow has found, 0 while there is none":
        cc.policer.bps().unwrap_or(0.0), value >= 0.0 => cc.policer.set(value);
    "pacing_gain" ["1"] "pacing rate over bandwidth": cc.pacing_gain, value > 0.0 => cc.pacing_gain = value;
}

impl CongestionControl for Bbr {
    fn on_sent(&mut self, w: &mut Window, now: Time, _bytes: u64, inflight: u64) {
        self.path.sent(now, inflight);
        if inflight == 0 {
            self.end_silence(w, now);
        }
    }

    /// The first window is paced over the round trip of the handshake (Linux `bbr_init_pacing_rate_from_rtt`).
    fn begin(&mut self, w: &mut Window, start: &Start) {
        let Some(rtt) = start.rtt else { return };
        self.path.begin(start.now, rtt);
        self.pacing = self.first_rate(w, rtt);
    }

    fn grows_by_ack(&self) -> bool {
        false
    }

    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        let new_round = self.path.count_sampled(ack, w.cwnd);
        self.lost |= ack.newly_lost > 0;
        self.watch_policer(ack, new_round);
        self.path.sample_rate(ack, self.path.round());
        self.path.sample_extra(ack, self.bw(), w.cwnd, new_round);
        self.repair.conserving &= !new_round;
        self.cycle(w, ack);
        if new_round && !self.full && !self.path.limited(ack) {
            self.full = self.repair.plateau.reached(self.path.bw(), self.p.full_growth, self.p.full_rounds);
        }
        self.drain(w, ack);
        self.watch_min_rtt(w, ack, new_round);
        let (pacing_gain, cwnd_gain) = self.gains();
        self.pacing_gain = pacing_gain;
        self.pace(w);
        self.set_window(w, ack, cwnd_gain);
        (self.lost, self.path.restarted) = (false, false);
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        self.lost |= self.repair.event(w, signal, self.probing_rtt());
        if let Signal::Rto { .. } = signal {
            self.policer.time_out();
        }
    }

    fn on_recovered(&mut self, _w: &mut Window) {
        self.repair.over();
    }

    fn on_undo(&mut self, _w: &mut Window, _now: Time) {
        self.repair.undo();
        self.policer.undo();
    }
}

impl Pacing for Bbr {
    fn pacing_rate(&self, w: &Window) -> Option<f64> {
        Some(if self.pacing > 0.0 { self.pacing } else { self.first_rate(w, RTT_ASSUMED) })
    }

    /// Of a slow flow one.
    fn burst_segments(&self) -> f64 {
        if self.pacing > 0.0 && self.pacing < SLOW_BPS { 1.0 } else { self.p.burst_segments }
    }
}

impl Drawing for Bbr {
    fn set_seed(&mut self, seed: u64) {
        self.draw = Draw(seed);
    }
}

impl Bbr {
    fn mode_number(&self) -> f64 {
        match self.mode {
            Mode::Startup => 0.0,
            Mode::Drain => 1.0,
            Mode::ProbeBw { .. } => 2.0,
            Mode::ProbeRtt(_) => 3.0,
        }
    }

    fn set_mode(&mut self, number: f64) {
        self.full = number == 1.0 || number == 2.0 || (number == 3.0 && self.full);
        match number {
            0.0 => self.mode = Mode::Startup,
            1.0 => self.mode = Mode::Drain,
            2.0 => self.begin_probe_bw(Time::ZERO),
            _ => self.mode = Mode::ProbeRtt(Stay::default()),
        }
    }

    /// What follows silence leaves at `bw`, and a PROBE_RTT that is over by the clock ends.
    fn end_silence(&mut self, w: &mut Window, now: Time) {
        match self.mode {
            Mode::ProbeBw { .. } => self.pacing = (1.0 - self.p.pacing_margin) * self.bw(),
            Mode::ProbeRtt(stay) if self.repair.leaves_in_silence(w, &mut self.path, stay, now) => {
                self.leave_probe_rtt(now);
            }
            _ => {}
        }
    }

    /// To what the flow did before (Linux `bbr_reset_mode`).
    fn leave_probe_rtt(&mut self, now: Time) {
        match self.full {
            true => self.begin_probe_bw(now),
            false => self.mode = Mode::Startup,
        }
    }

    fn probing_rtt(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt(_))
    }

    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (self.p.startup_gain, self.p.startup_gain),
            Mode::Drain => (1.0 / self.p.startup_gain, self.p.startup_gain),
            Mode::ProbeBw { .. } if self.policer.bps().is_some() => (1.0, self.p.cwnd_gain),
            Mode::ProbeBw { phase, .. } => (self.phase_gain(phase), self.p.cwnd_gain),
            Mode::ProbeRtt(_) => (1.0, 1.0),
        }
    }

    /// bit/s: that of a policer if one was found, else the largest of the last rounds.
    fn bw(&self) -> f64 {
        self.policer.bps().unwrap_or(self.path.bw())
    }

    fn watch_policer(&mut self, ack: &Ack, new_round: bool) {
        let probing = matches!(self.mode, Mode::ProbeBw { .. });
        let moment = Moment { new_round, lost: self.lost, limited: self.path.limited(ack), probing };
        if self.p.policer && self.policer.watch(&self.p, ack, moment) {
            self.begin_probe_bw(ack.now);
        }
    }

    /// Bytes in flight at `gain` times `bw` and delay and `extra` bytes, with room for bursts; none while the path is unknown.
    fn inflight(&self, w: &Window, bw: f64, gain: f64, extra: f64) -> Option<f64> {
        let segments = ceiling(gain * self.path.bdp(bw)? / w.mss) + (extra / w.mss).floor();
        let room = segments + BURSTS * self.offloaded_segments(w);
        let probing = matches!(self.mode, Mode::ProbeBw { phase: probe_bw::PROBING, .. });
        let probe = if probing { PROBE_EXTRA_SEGMENTS } else { 0.0 };
        Some(w.mss * (2.0 * ceiling(room / 2.0) + probe))
    }

    /// Segments that the sender's system may hold back to send them together (Linux `bbr_tso_segs_goal`).
    fn offloaded_segments(&self, w: &Window) -> f64 {
        let bytes = (self.pacing / 8.0 / OFFLOAD_PER_S).min(OFFLOAD_MAX_BYTES);
        (bytes / w.mss).floor().max(self.burst_segments())
    }

    /// STARTUP doubles the rate each round until the bandwidth stops growing; DRAIN then empties the queue that this built.
    fn drain(&mut self, w: &mut Window, ack: &Ack) {
        let begins = self.mode == Mode::Startup && self.full;
        if begins {
            self.mode = Mode::Drain;
        }
        let pipe = |cc: &Bbr| cc.inflight(w, cc.path.bw(), 1.0, 0.0).unwrap_or(f64::INFINITY);
        if self.mode == Mode::Drain && drained(ack, pipe(self), w, begins) {
            self.begin_probe_bw(ack.now);
        }
    }

    /// PROBE_RTT: when the smallest round-trip time is old, the flow drains its queue to see whether the path has a smaller one.
    fn watch_min_rtt(&mut self, w: &Window, ack: &Ack, new_round: bool) {
        let expired = self.path.sample_rtt(ack, self.p.min_rtt_window, ack.may_be_delayed(w.mss));
        let stay = if let Mode::ProbeRtt(stay) = self.mode { Some(stay) } else { None };
        let little = (self.p.min_segments * w.mss, self.p.probe_rtt_time);
        match self.repair.visit((stay, expired), (w, &mut self.path, ack), new_round, little) {
            Visit::None => {}
            Visit::Stays(stay) => self.mode = Mode::ProbeRtt(stay),
            Visit::Over => self.leave_probe_rtt(ack.now),
        }
    }

    fn pace(&mut self, w: &Window) {
        let first = || self.path.min_rtt().map(|rtt| self.first_rate(w, rtt));
        let rate = self.pacing_gain * (1.0 - self.p.pacing_margin) * self.bw();
        let mut pacing = self.pacing;
        pace(&mut pacing, first, rate, self.full);
        self.pacing = pacing;
    }

    /// The window at STARTUP's gain over `rtt`, less the margin (Linux `bbr_init_pacing_rate_from_rtt`).
    fn first_rate(&self, w: &Window, rtt: Span) -> f64 {
        (1.0 - self.p.pacing_margin) * window_rate(w, self.p.startup_gain, rtt)
    }

    /// The window grows by what is delivered, used or not: to the target once the pipe is full, before that while it is below the target
    /// or less than the first window is delivered (Linux `bbr_set_cwnd`).
    fn set_window(&mut self, w: &mut Window, ack: &Ack, gain: f64) {
        if ack.acked > 0 && !self.repair.steer(w, ack, &mut self.path) {
            let extra = if self.full { self.path.extra_bytes(self.bw()) } else { 0.0 };
            let target = self.inflight(w, self.bw(), gain, extra).unwrap_or(f64::INFINITY);
            let grown = w.cwnd + ack.acked as f64;
            if self.full {
                w.cwnd = grown.min(target);
            // The SYN counts as delivered.
            } else if w.cwnd < target || self.path.young(w.mss) {
                w.cwnd = grown;
            }
            w.cwnd = w.cwnd.max(self.p.min_segments * w.mss);
        }
        if self.probing_rtt() {
            w.cwnd = w.cwnd.min(self.p.min_segments * w.mss);
        }
    }
}
