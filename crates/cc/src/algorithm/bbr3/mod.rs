//! BBR version 3 (draft-ietf-ccwg-bbr): as version 1 a model of the path, and besides bounds that losses set.
//!
//! Every ACK updates the model (`crate::path`, shared with version 1) and the bounds (`bounds.rs`), then rate and window:
//!
//! ```text
//! max_bw       = largest delivery rate of the last 2 probes,   bw = min(max_bw, bw_lo)
//! min_rtt      = smallest round-trip time of the last 10 s
//! inflight(g)  = max(g bw min_rtt, 3 bursts, 4 segments), and 2 segments more in UP
//! pacing rate  = 0.99 pacing_gain bw            (before the pipe is full: never lowered)
//! cwnd         = min(cwnd + acked, inflight(cwnd_gain) with what ACKs brought beyond bw, bound), at least 4 segments
//! bound        = inflight_lo, and inflight_hi in DOWN, REFILL, UP, 0.85 inflight_hi in CRUISE and PROBE_RTT
//! ```
//!
//! | mode | pacing gain | window gain | leaves it |
//! |---|---|---|---|
//! | STARTUP | 2.77 | 2 | three rounds without a delivery rate 1.25 times as large, or a round losing > 2 % and >= 6 ranges |
//! | DRAIN | 0.5 | 2 | inflight <= inflight(1), or more than three rounds |
//! | DOWN | 0.9 | 2 | to CRUISE: inflight <= min(inflight(1), 0.85 inflight_hi) |
//! | CRUISE | 1 | 2 | to REFILL, as DOWN: 2 s and a time drawn from 0 to 1 s, or min(63, BDP in segments) rounds, of which none or one (drawn) is over |
//! | REFILL | 1 | 2 | a round; the low bounds are forgotten at its beginning |
//! | UP | 1.25 | 2.25 | the delivery rate stops growing below inflight_hi, or more than 2 % of a round is lost |
//! | PROBE_RTT | 1 | 0.5 | every 5 s without a smaller round-trip time: 200 ms and a round |
//!
//! Losses: more than 2 % of what was in flight, in UP or the round after it: inflight_hi = max(what was in flight,
//! 0.7 min(BDP, cwnd)), which then holds for a round; UP raises it by 1, 2, 4 ... segments a round while the window is at it. A round with losses in other
//! modes: bw_lo and inflight_lo = 0.7 of what they were, at least what the round has delivered. Losses that were none: bounds are no lower
//! than before, and the STARTUP or UP that they have ended goes on. What follows silence leaves at bw, and silence ends a PROBE_RTT
//! whose 200 ms are over. DOWN begins a round, and what UP has lost is not its own: only losses from there on lower its bounds for now.
//!
//! With `l4s` data leaves as ECT(1) over Accurate ECN, and marks set bounds as well (`l4s.rs`). Without it marks say nothing.
//!
//! Presets: `draft-05` (default) and `draft-04` (drain gain 0.35, as in all drafts before, and no end of DRAIN by rounds).
//!
//! Chosen where the draft asks what a congestion control is not told: losses are judged by rounds (lost in the round against in flight at
//! its beginning) instead of by segments. Left out: segmentation offload, a full round of fast recovery as a condition for leaving STARTUP by
//! losses, `bbr_ecn_reprobe_gain` (0 in tcp_bbr.c), and what -06 adds.

mod bounds;
mod l4s;
mod parameters;
mod probe_bw;
#[cfg(test)]
mod tests;

use super::{CongestionControl, Drawing, Pacing};
use crate::declare::states;
use crate::draw::Draw;
use crate::path::{BURSTS, MinRtt, PROBE_EXTRA_SEGMENTS, Path, RTT_ASSUMED, approach, drained, pace, window_rate};
use crate::registry::Model;
use crate::repair::{Repair, Stay, Visit};
use crate::tally::Tally;
use crate::train::Start;
use crate::{Ack, NeededMarks, Needs, Signal, Traits, Window};
use bounds::{Bounds, Climb};
use elephan_units::{Span, Time};
use l4s::L4s;
pub use parameters::Parameters;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt(Stay),
}

/// All but PROBE_RTT by their number.
const MODES: [Mode; 6] = [Mode::Startup, Mode::Drain, Mode::Down, Mode::Cruise, Mode::Refill, Mode::Up];

#[derive(Clone, Debug)]
pub struct Bbr3 {
    p: Parameters,
    draw: Draw,
    mode: Mode,
    /// Since when, and for how many rounds, the cycle of PROBE_BW waits for its next probe.
    since: Time,
    rounds: u64,
    /// What was drawn of this wait: how long it is, and how many of its rounds are over before it begins.
    wait: (Span, u32),
    /// Probes so far: slots of the bandwidth filter.
    cycles: u64,
    path: Path,
    min_rtt: MinRtt,
    bounds: Bounds,
    tally: Tally,
    climb: Climb,
    l4s: L4s,
    /// Losses and marks now are those of a probe.
    judging: bool,
    repair: Repair,
    /// As they were before the last event.
    prior: (Mode, Bounds),
    /// The bandwidth has stopped growing: STARTUP is done for good.
    full: bool,
    /// bit/s, 0 until a round-trip time is known.
    pacing: f64,
}

impl Model for Bbr3 {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["draft-05", "draft-04"];
    const NEEDS: Needs = Needs::RATE.and(Needs::STEERS_RECOVERY);

    fn new(p: &Parameters) -> Bbr3 {
        Bbr3 {
            draw: Draw(0),
            mode: Mode::Startup,
            since: Time::ZERO,
            rounds: 0,
            wait: (Span::ZERO, 0),
            cycles: 0,
            path: Path::new(p.bw_cycles, p.extra_acked_rounds, p.extra_acked_max),
            min_rtt: MinRtt::default(),
            bounds: Bounds::NONE,
            tally: Tally::default(),
            climb: Climb::default(),
            l4s: L4s::new(p.ecn_alpha_initial),
            judging: false,
            repair: Repair::default(),
            prior: (Mode::Startup, Bounds::NONE),
            full: false,
            pacing: 0.0,
            p: p.clone(),
        }
    }

    fn preset(name: &str) -> Parameters {
        let latest = Parameters::default();
        if name == "draft-04" { Parameters { drain_gain: 0.35, drain_rounds: u32::MAX, ..latest } } else { latest }
    }

    fn traits(p: &Parameters) -> Traits {
        let l4s = NeededMarks { by: &["accurate"], without: "without it l4s does nothing" };
        Traits {
            is_random: Some(true),
            own_start: true,
            minds_loss: false,
            minds_marks: p.l4s,
            needs_marks: p.l4s.then_some(l4s),
            sets_its_window: true,
            ..Traits::default()
        }
    }

    fn needs(p: &Parameters) -> Needs {
        Self::NEEDS.and_if(p.l4s, Needs::L4S)
    }
}

/// Bytes in flight after an ACK.
fn left(ack: &Ack) -> u64 {
    ack.inflight.saturating_sub(ack.acked)
}

/// What bounds, zero if nothing does.
fn bound(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

states! {
    Bbr3, cc, value;
    "mode" ["1"] "0 STARTUP, 1 DRAIN, 2 DOWN, 3 CRUISE, 4 REFILL, 5 UP, 6 PROBE_RTT":
        cc.mode_number(), (0.0..=6.0).contains(&value) => cc.set_mode(value);
    "bw" ["bit/s"] "bandwidth of the path, 0 until it is measured": cc.path.bw(), value > 0.0 => cc.path.set_bw(value);
    "min_rtt" ["s"] "round-trip time of the path, 0 until it is measured":
        cc.min_rtt.get().map_or(0.0, Span::seconds), value > 0.0 => cc.set_min_rtt(Span::from_seconds(value));
    "bw_lo" ["bit/s"] "bound of the rate for now, 0 if none": bound(cc.bounds.bw_lo), value > 0.0 => cc.bounds.bw_lo = value;
    "inflight_lo" ["B"] "bound of the flight for now, 0 if none":
        bound(cc.bounds.inflight_lo), value > 0.0 => cc.bounds.inflight_lo = value;
    "inflight_hi" ["B"] "bound of the flight, 0 if none":
        bound(cc.bounds.inflight_hi), value > 0.0 => cc.bounds.inflight_hi = value;
    "alpha" ["1"] "moving share of the bytes that met congestion, with l4s":
        cc.l4s.marks.alpha, (0.0..=1.0).contains(&value) => cc.l4s.marks.alpha = value;
}

impl CongestionControl for Bbr3 {
    fn on_sent(&mut self, w: &mut Window, now: Time, _bytes: u64, inflight: u64) {
        self.path.sent(now, inflight);
        if inflight == 0 {
            self.end_silence(w, now);
        }
    }

    /// The first window is paced over the round trip of the handshake (draft, `BBRInitPacingRate`).
    fn begin(&mut self, w: &mut Window, start: &Start) {
        self.l4s.accurate = start.accurate_ecn;
        let Some(rtt) = start.rtt else { return };
        self.path.begin(start.now, rtt);
        self.min_rtt = MinRtt::new(rtt, start.now);
        self.pacing = window_rate(w, self.p.startup_gain, rtt);
    }

    fn grows_by_ack(&self) -> bool {
        false
    }

    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        let new_round = self.path.count(ack, w.cwnd);
        self.path.sample_rate(ack, self.cycles);
        self.path.sample_extra(ack, self.path.bw(), w.cwnd, new_round);
        self.repair.conserving &= !new_round;
        self.tally.count(ack);
        self.look_at_marks(w, ack, new_round);
        self.look_for_full_pipe(w, ack, new_round);
        self.look_at_losses(w, ack, new_round);
        self.drain(w, ack);
        self.cycle(w, ack, new_round);
        self.watch_min_rtt(w, ack, new_round);
        self.pace(w);
        self.set_window(w, ack);
        self.path.restarted = false;
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        let before = (self.mode, self.bounds);
        if self.repair.event(w, signal, self.probing_rtt()) {
            self.prior = before;
        }
    }

    fn on_recovered(&mut self, _w: &mut Window) {
        self.repair.over();
    }

    fn on_undo(&mut self, _w: &mut Window, _now: Time) {
        self.repair.undo();
        let (mode, bounds) = self.prior;
        self.bounds.raise(&bounds);
        if matches!(mode, Mode::Startup | Mode::Up) && !self.probing_rtt() {
            (self.mode, self.full, self.judging) = (mode, mode == Mode::Up, mode == Mode::Up);
        }
    }
}

impl Pacing for Bbr3 {
    fn pacing_rate(&self, w: &Window) -> Option<f64> {
        Some(if self.pacing > 0.0 { self.pacing } else { window_rate(w, self.p.startup_gain, RTT_ASSUMED) })
    }

    fn burst_segments(&self) -> f64 {
        self.p.burst_segments
    }
}

impl Drawing for Bbr3 {
    fn set_seed(&mut self, seed: u64) {
        self.draw = Draw(seed);
    }
}

impl Bbr3 {
    fn mode_number(&self) -> f64 {
        MODES.iter().position(|mode| *mode == self.mode).map_or(6.0, |number| number as f64)
    }

    fn set_mode(&mut self, number: f64) {
        self.mode = MODES.get(number as usize).copied().unwrap_or(Mode::ProbeRtt(Stay::default()));
        self.full = self.mode != Mode::Startup;
        self.pick_wait();
    }

    fn set_min_rtt(&mut self, rtt: Span) {
        self.path.set_min_rtt(rtt);
        self.min_rtt.set(rtt);
    }

    /// What follows silence leaves at the bandwidth, and a PROBE_RTT that is over by the clock ends (draft, HandleRestartFromIdle).
    fn end_silence(&mut self, w: &mut Window, now: Time) {
        match self.mode {
            Mode::Startup | Mode::Drain => {}
            Mode::ProbeRtt(stay) => {
                if self.repair.leaves_in_silence(w, &mut self.path, stay, now) {
                    self.leave_probe_rtt(now, 0);
                }
            }
            _ => self.pacing = (1.0 - self.p.pacing_margin) * self.bw(),
        }
    }

    /// The pipe is not fuller than it is meant to be: DOWN is over as it begins (draft, BBRExitProbeRTT).
    fn leave_probe_rtt(&mut self, now: Time, inflight: u64) {
        self.bounds.forget_low();
        if self.full {
            self.begin_down(now, inflight);
            self.mode = Mode::Cruise;
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn probing_rtt(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt(_))
    }

    /// Pacing and window gain.
    fn gains(&self) -> (f64, f64) {
        let p = &self.p;
        match self.mode {
            Mode::Startup => (p.startup_gain, p.cwnd_gain),
            Mode::Drain => (p.drain_gain, p.cwnd_gain),
            Mode::Down => (p.down_gain, p.cwnd_gain),
            Mode::Up => (p.up_gain, p.up_cwnd_gain),
            Mode::ProbeRtt(_) => (1.0, p.probe_rtt_gain),
            _ => (1.0, p.cwnd_gain),
        }
    }

    /// bit/s.
    fn bw(&self) -> f64 {
        self.path.bw().min(self.bounds.bw_lo)
    }

    /// `gain` times bandwidth and delay in bytes; none while the path is unknown.
    fn bdp(&self, gain: f64) -> Option<f64> {
        let rtt = self.min_rtt.get().filter(|_| self.path.bw() > 0.0)?;
        Some(gain * self.bw() * rtt.seconds() / 8.0)
    }

    /// Bytes in flight at `gain`, with room for bursts; infinite while the path is unknown.
    fn inflight(&self, w: &Window, gain: f64) -> f64 {
        self.bdp(gain).map_or(f64::INFINITY, |bdp| self.quantized(w, bdp))
    }

    /// Room for bursts, for an ACK at any time, and to probe (`BBRQuantizationBudget`).
    fn quantized(&self, w: &Window, bytes: f64) -> f64 {
        let extra = if self.mode == Mode::Up { PROBE_EXTRA_SEGMENTS } else { 0.0 };
        bytes.max((BURSTS * self.p.burst_segments).max(self.p.min_segments) * w.mss) + extra * w.mss
    }

    /// The upper bound less what is left to others.
    fn headroom(&self, w: &Window) -> f64 {
        let hi = self.bounds.inflight_hi;
        // Of no bound nothing can be left.
        let left = (1.0 - self.p.headroom) * hi;
        left.min(hi - w.mss).max(self.p.min_segments * w.mss)
    }

    fn look_for_full_pipe(&mut self, w: &Window, ack: &Ack, new_round: bool) {
        if self.full {
            return;
        }
        self.full = self.stops_growing(ack, new_round);
        if new_round && self.loses_too_much() && self.tally.ranges(ack) >= self.p.full_losses {
            self.fill(w);
        }
    }

    /// STARTUP has put more into the path than it takes.
    fn fill(&mut self, w: &Window) {
        self.full = true;
        self.bounds.inflight_hi = self.bdp(1.0).unwrap_or(0.0).max(self.tally.inflight as f64).max(w.mss);
    }

    fn drain(&mut self, w: &mut Window, ack: &Ack) {
        let begins = self.mode == Mode::Startup && self.full;
        if begins {
            (self.mode, self.rounds) = (Mode::Drain, 0);
        }
        let late = self.rounds > u64::from(self.p.drain_rounds);
        if self.mode == Mode::Drain && (drained(ack, self.inflight(w, 1.0), w, begins) || late) {
            self.begin_down(ack.now, left(ack));
        }
    }

    fn watch_min_rtt(&mut self, w: &Window, ack: &Ack, new_round: bool) {
        let expired = self.path.sample_rtt(ack, self.p.probe_rtt_interval, false);
        self.min_rtt.sample(ack.now, self.path.min_rtt(), self.p.min_rtt_window);
        let stay = if let Mode::ProbeRtt(stay) = self.mode { Some(stay) } else { None };
        let little = (self.probe_rtt_window(w), self.p.probe_rtt_time);
        match self.repair.visit((stay, expired), (w, &mut self.path, ack), new_round, little) {
            Visit::None => {}
            Visit::Stays(stay) => self.mode = Mode::ProbeRtt(stay),
            Visit::Over => self.leave_probe_rtt(ack.now, left(ack)),
        }
    }

    fn probe_rtt_window(&self, w: &Window) -> f64 {
        self.bdp(self.p.probe_rtt_gain).unwrap_or(0.0).max(self.p.min_segments * w.mss)
    }

    fn pace(&mut self, w: &Window) {
        let first = || self.min_rtt.get().map(|rtt| window_rate(w, self.p.startup_gain, rtt));
        let rate = self.gains().0 * (1.0 - self.p.pacing_margin) * self.bw();
        pace(&mut self.pacing, first, rate, self.full);
    }

    fn set_window(&mut self, w: &mut Window, ack: &Ack) {
        let (probing_rtt, least) = (self.probing_rtt(), self.p.min_segments * w.mss);
        if !self.repair.steer(w, ack, &mut self.path) {
            let extra = self.path.extra_bytes(self.path.bw());
            let target = self.bdp(self.gains().1).map_or(f64::INFINITY, |bdp| self.quantized(w, bdp + extra));
            approach(w, ack, least, self.full.then_some(target), target, self.path.young(0.0));
        }
        let hi = match self.mode {
            Mode::Startup | Mode::Drain => f64::INFINITY,
            Mode::Cruise | Mode::ProbeRtt(_) => self.headroom(w),
            _ => self.bounds.inflight_hi,
        };
        w.cwnd = w.cwnd.min(hi.min(self.bounds.inflight_lo).max(least));
        if probing_rtt {
            w.cwnd = w.cwnd.min(self.probe_rtt_window(w));
        }
    }
}
