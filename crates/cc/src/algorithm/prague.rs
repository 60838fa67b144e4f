//! Prague (draft-briscoe-iccrg-prague-congestion-control-04; TCP Prague of the L4S team, tcp_prague.c 0.7): DCTCP for the Internet.
//!
//! Packets leave as ECT(1). F is the share of acknowledged bytes that were marked, R the smoothed round-trip time, R* the target:
//!
//! ```text
//! once a round trip, and once R* from `transition` round trips after slow start on:
//!     alpha = (1 - g) alpha + g F
//! unmarked ACK:  cwnd += SMSS a acked / cwnd,   a = min(1, (R / R*)^2) from then on, before it 1; marked ACKs add nothing
//! mark:          cwnd = cwnd (1 - alpha / 2), once a round trip, and from then on once R*; the first mark halves
//! loss:          cwnd = cwnd / 2
//! pacing:        cwnd / R, twice that below half of ssthresh; bursts of 1/4096 s, a segment at least
//! cwnd < segments_min:  that many segments in flight, paced at cwnd / R, but not below rate_min
//! ```
//!
//! With a the flow gets the rate of one whose round trip is R*. A window grows on every ACK outside loss recovery, also where marks
//! have just cut it, so that the marking does not saturate. Where Accurate ECN was not negotiated nothing is ECN-capable and this is
//! Reno without pacing (draft section 2.4.1; Linux prague_reno).
//!
//! `classic_fallback` guesses whether the marks come from a classic queue and cuts more then ([`crate::classic`]).
//!
//! Presets: `linux` (the default), and `draft` with alpha = 1 at the beginning and 500 round trips before the rate is that of R*.
//! Left out: smaller segments and the rate-based mode at small windows, the other scalings of `prague_rtt_scaling`, a window that
//! comes down by a segment an ACK.

use super::{CongestionControl, Pacing};
use crate::classic::Classic;
use crate::declare::{parameters, states};
use crate::marks::Marks;
use crate::registry::Model;
use crate::train::Start;
use crate::{Ack, NeededMarks, Needs, Signal, Traits, Window};
use elephan_units::{Rate, Span, Time};

/// Time that a burst may last.
const BURST_S: f64 = 1.0 / 4096.0;

parameters! {
    /// Weight of the newest share of marks in alpha.
    g: f64 = 0.0625, "tcp_prague.c PRAGUE_SHIFT_G = 4; draft section 2.3.2" (min = 0, max = 1);
    /// alpha before the first mark, which halves the window whatever alpha is.
    alpha_initial: f64 = 0.0, "tcp_prague.c prague_alpha_mode = 0; draft section 2.3.2: 1" [min = 0, max = 1];
    /// Round-trip time whose rate a flow with a shorter one takes; 0 leaves it its own.
    rtt_target: Span = Span::from_ms(25), "tcp_prague.c RTT_TARGET; draft section 2.4.4";
    /// Round trips after slow start before it does.
    transition: u32 = 4, "tcp_prague.c DEFAULT_RTT_TRANSITION; draft section 2.4.4: 500";
    /// Fewest segments in flight; a smaller window is paced.
    segments_min: f64 = 2.0, "tcp_prague.c MIN_CWND_RTT" [min = 1, max = 1000];
    /// Smallest pacing rate.
    rate_min: Rate = Rate(100_000), "tcp_prague.c MINIMUM_RATE";
    /// The share of the window that a loss leaves.
    beta: f64 = 0.5, "tcp_prague.c prague_enter_loss; draft section 2.4.1" (min = 0, max = 1);
    /// Whether marks that seem to come from a classic queue cut more.
    classic_fallback: bool = false, "tcp_prague.c 0.6 prague_ecn_fallback = 0";
}

#[derive(Clone, Debug)]
pub struct Prague {
    p: Parameters,
    marks: Marks,
    /// The window over the least one in flight where it is smaller, else 1; and before the last event.
    fraction: f64,
    prior: f64,
    srtt: Option<Span>,
    /// Bytes until the round trip is over.
    left: u64,
    /// Round trips since slow start.
    rounds: u32,
    updated: Time,
    cut_at: Time,
    saw_mark: bool,
    in_loss: bool,
    /// Segments that leave together.
    burst: f64,
    /// Accurate ECN was negotiated.
    accurate: bool,
    classic: Classic,
}

impl Model for Prague {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["linux", "draft"];
    const NEEDS: Needs = Needs::LOSS_AFTER_MARK.and(Needs::L4S).and(Needs::STEERS_RECOVERY);

    fn new(p: &Parameters) -> Prague {
        Prague {
            p: p.clone(),
            marks: Marks::new(p.alpha_initial),
            fraction: 1.0,
            prior: 1.0,
            srtt: None,
            left: 0,
            rounds: 0,
            updated: Time::ZERO,
            cut_at: Time::ZERO,
            saw_mark: false,
            in_loss: false,
            burst: 1.0,
            accurate: true,
            classic: Classic::default(),
        }
    }

    fn preset(name: &str) -> Parameters {
        match name {
            "draft" => Parameters { alpha_initial: 1.0, transition: 500, ..Parameters::default() },
            _ => Parameters::default(),
        }
    }

    fn traits(_: &Parameters) -> Traits {
        let marks = NeededMarks { by: &["accurate"], without: "without marks prague is Reno" };
        Traits { needs_marks: Some(marks), ..Traits::default() }
    }
}

states! {
    Prague, cc, value;
    "alpha" ["1"] "moving share of the bytes that met congestion":
        cc.marks.alpha, (0.0..=1.0).contains(&value) => cc.marks.alpha = value;
    "fraction" ["1"] "the window over the fewest segments in flight where it is smaller, else 1":
        cc.fraction, value > 0.0 && value <= 1.0 => cc.fraction = value;
    "rounds" ["1"] "round trips since slow start": f64::from(cc.rounds), value >= 0.0 => cc.rounds = value as u32;
    "classic" ["1"] "how sure it is that a classic queue marks, from 8 (not) to 9":
        cc.classic.certainty, (0.0..=17.0).contains(&value) => cc.classic.certainty = value;
}

impl CongestionControl for Prague {
    fn begin(&mut self, _w: &mut Window, start: &Start) {
        self.accurate = start.accurate_ecn;
        (self.updated, self.srtt) = (start.now, start.rtt);
    }

    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        let marked = ack.ce.min(ack.acked);
        self.srtt = ack.srtt.or(ack.rtt).or(self.srtt);
        self.saw_mark |= marked > 0;
        self.marks.count(ack);
        if self.p.classic_fallback
            && let Some(rtt) = ack.rtt
        {
            self.classic.sample(rtt.seconds(), w);
        }
        if !w.in_slow_start() && !self.in_loss && !ack.app_limited {
            let window = self.window(w);
            let unmarked = (ack.acked - marked) as f64;
            self.set(w, window + self.increase() * w.mss * unmarked.min(window) / window);
        }
        self.burst = self.rate(w).map_or(1.0, |rate| (rate / 8.0 * BURST_S / w.mss).floor().max(1.0));
        if ack.acked <= self.left {
            self.left -= ack.acked;
        } else if self.is_independent(w) && ack.now.since(self.updated) < self.p.rtt_target {
            self.left = 0;
        } else {
            self.end_round(w, ack);
        }
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        self.prior = self.fraction;
        let window = self.window(w);
        match *signal {
            Signal::Ecn { now, .. } => {
                if self.is_independent(w) && now.since(self.cut_at) < self.p.rtt_target {
                    return;
                }
                let first = std::mem::replace(&mut self.cut_at, now) == Time::ZERO;
                let share = if first { 1.0 } else { self.marks.alpha.max(self.classic.share()) };
                self.set(w, window * (1.0 - share / 2.0));
                w.ssthresh = w.cwnd;
            }
            Signal::Rto { .. } => {
                (self.in_loss, self.fraction) = (true, 1.0);
                w.cut(signal, self.p.beta * window);
            }
            _ => {
                self.in_loss = matches!(signal, Signal::Loss { .. });
                self.set(w, self.p.beta * window);
                w.ssthresh = w.cwnd;
            }
        }
    }

    fn on_recovered(&mut self, _w: &mut Window) {
        self.in_loss = false;
    }

    fn on_undo(&mut self, _w: &mut Window, _now: Time) {
        (self.fraction, self.in_loss) = (self.prior, false);
    }
}

impl Pacing for Prague {
    fn pacing_rate(&self, w: &Window) -> Option<f64> {
        self.rate(w)
    }

    fn burst_segments(&self) -> f64 {
        self.burst
    }
}

impl Prague {
    /// bit/s, once a round-trip time is known.
    fn rate(&self, w: &Window) -> Option<f64> {
        let srtt_s = self.srtt.filter(|_| self.accurate)?.max(Span::from_ns(1)).seconds();
        let rate = self.window(w) * 8.0 / srtt_s;
        let doubled = if w.cwnd < w.ssthresh / 2.0 { 2.0 * rate } else { rate };
        Some(doubled.max(self.p.rate_min.0 as f64))
    }

    /// Bytes.
    fn floor(&self, w: &Window) -> f64 {
        self.p.segments_min * w.mss
    }

    /// The window that is paced, bytes: less than is in flight where that is the least.
    fn window(&self, w: &Window) -> f64 {
        if w.cwnd > self.floor(w) { w.cwnd } else { w.cwnd * self.fraction }
    }

    fn set(&mut self, w: &mut Window, window: f64) {
        let srtt_s = self.srtt.map_or(0.0, Span::seconds);
        let least = (self.p.rate_min.0 as f64 / 8.0 * srtt_s).clamp(1.0, self.floor(w));
        let window = window.max(least);
        w.cwnd = window.max(self.floor(w));
        self.fraction = window / w.cwnd;
    }

    /// Whether the flow takes the rate of one with the target round-trip time.
    fn is_independent(&self, w: &Window) -> bool {
        self.accurate && !w.in_slow_start() && self.rounds >= self.p.transition && self.p.rtt_target > Span::ZERO
    }

    /// The growth in a round trip, segments.
    fn increase(&self) -> f64 {
        let ratio = match self.srtt {
            Some(srtt) if self.accurate && self.rounds >= self.p.transition && srtt < self.p.rtt_target => {
                srtt.seconds() / self.p.rtt_target.seconds()
            }
            _ => 1.0,
        };
        ratio * ratio
    }

    /// An ACK ends a round trip.
    fn end_round(&mut self, w: &Window, ack: &Ack) {
        if self.saw_mark {
            self.marks.end_round(self.p.g);
            if self.p.classic_fallback {
                self.classic.update(ack.min_rtt.map_or(0.0, Span::seconds));
            }
        }
        self.marks.forget();
        self.updated = ack.now;
        self.left = ack.inflight.saturating_sub(ack.acked);
        if !w.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, loss, state};
    use crate::train::Start;
    use crate::{Ack, Controller, Signal, Spec};
    use elephan_units::{Span, Time};
    use serde_json::json;

    const S: f64 = MSS as f64;

    /// In congestion avoidance at a window of 20 segments, past the transition.
    fn prague(table: serde_json::Value) -> Controller {
        let spec = Spec::with("prague", table.as_object().unwrap()).unwrap();
        let mut c = Controller::new(&spec, MSS, 20 * MSS);
        c.poke("ssthresh", 20.0 * S);
        c.poke("rounds", 10.0);
        c
    }

    fn at(ms: u64) -> Time {
        Time::ZERO.saturating_add(Span::from_ms(ms))
    }

    fn ack(now: Time, srtt_ms: u64, acked: u64, ce: u64) -> Ack {
        let srtt = Some(Span::from_us(srtt_ms * 1000));
        Ack { now, acked: acked * MSS, ce: ce * MSS, inflight: 20 * MSS, srtt, rtt: srtt, ..Ack::default() }
    }

    fn mark(now: Time) -> Signal {
        Signal::Ecn { now, inflight: 20 * MSS }
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9 * expected.abs().max(1.0), "{value} is not {expected}");
    }

    /// Draft section 2.3.3 with a round trip of the target: a segment a window of data; marked bytes add nothing.
    #[test]
    fn unmarked_bytes_add_a_segment_a_round_trip() {
        let mut c = prague(json!({}));
        c.on_ack(&ack(at(100), 25, 20, 0));
        near(c.window(), 21.0 * S);
        let mut c = prague(json!({}));
        c.on_ack(&ack(at(100), 25, 20, 20));
        near(c.window(), 20.0 * S);
        let mut c = prague(json!({}));
        c.on_ack(&ack(at(100), 25, 20, 5));
        near(c.window(), 20.75 * S);
    }

    /// Draft section 2.4.4: (5 / 25)^2 = 1/25 of a segment; as before during the transition, and without a target.
    #[test]
    fn a_short_round_trip_grows_by_the_square_of_its_share_of_the_target() {
        for (table, rounds, grown) in
            [(json!({}), 10.0, 0.04), (json!({}), 3.0, 1.0), (json!({ "rtt_target": "0 s" }), 10.0, 1.0)]
        {
            let mut c = prague(table);
            c.poke("rounds", rounds);
            c.on_ack(&ack(at(100), 5, 20, 0));
            near(c.window(), (20.0 + grown) * S);
        }
    }

    /// The same from the round-trip times of ACKs alone, as a controller that is stepped without a smoothed one gets them.
    #[test]
    fn a_measured_round_trip_serves_where_nobody_smooths() {
        let mut c = prague(json!({}));
        c.on_ack(&Ack { srtt: None, ..ack(at(100), 5, 20, 0) });
        near(c.window(), 20.04 * S);
        near(c.pacing_rate().unwrap(), 20.0 * S * 8.0 / 0.005 * 20.04 / 20.0);
    }

    /// Linux 0.7: the first mark halves, the next cut by half of alpha: 20, 10, 10 (1 - 0.2 / 2) = 9.
    #[test]
    fn the_first_mark_halves_and_the_next_follow_alpha() {
        let mut c = prague(json!({}));
        c.on_congestion(&mark(at(100)));
        near(c.window(), 10.0 * S);
        c.poke("alpha", 0.2);
        c.on_congestion(&mark(at(200)));
        near(c.window(), 9.0 * S);
        assert_eq!(c.ssthresh(), c.window());
    }

    /// Once in 25 ms past the transition, once a round trip, which TCP counts, before it.
    #[test]
    fn an_independent_flow_is_cut_once_in_the_target_round_trip() {
        let mut c = prague(json!({ "alpha_initial": 1.0 }));
        c.on_congestion(&mark(at(100)));
        c.on_congestion(&mark(at(124)));
        near(c.window(), 10.0 * S);
        c.on_congestion(&mark(at(125)));
        near(c.window(), 5.0 * S);
        c.poke("rounds", 0.0);
        c.on_congestion(&mark(at(126)));
        near(c.window(), 2.5 * S);
    }

    /// alpha = 1 - 1/16 after a round without marks, 15/16 + (1 - 15/16) / 16 after one with marks alone.
    #[test]
    fn alpha_follows_the_share_of_marked_bytes() {
        let mut c = prague(json!({ "preset": "draft" }));
        c.on_ack(&ack(at(100), 25, 1, 1));
        assert_eq!(state(&c, "alpha"), 1.0);
        for n in 0..20 {
            c.on_ack(&ack(at(126 + n), 25, 1, 0));
        }
        assert_eq!(state(&c, "alpha"), 0.9375);
        for n in 0..20 {
            c.on_ack(&ack(at(152 + n), 25, 1, 1));
        }
        near(state(&c, "alpha"), 0.941_406_25);
    }

    #[test]
    fn nothing_is_known_of_alpha_before_the_first_mark() {
        let mut c = prague(json!({ "alpha_initial": 0.5 }));
        for n in 0..100 {
            c.on_ack(&ack(at(100 + n), 1, 1, 0));
        }
        assert_eq!(state(&c, "alpha"), 0.5);
    }

    #[test]
    fn a_loss_halves_and_nothing_grows_until_it_is_repaired() {
        let mut c = prague(json!({}));
        c.on_congestion(&loss(0.0, 20.0));
        near(c.window(), 10.0 * S);
        c.on_ack_in_recovery(&ack(at(100), 25, 10, 0));
        near(c.window(), 10.0 * S);
        c.on_recovered();
        c.on_ack(&ack(at(130), 25, 10, 0));
        near(c.window(), 11.0 * S);
    }

    /// Two segments stay in flight; half a segment in 25 ms is paced, which is 500 B * 8 / 25 ms, but 100 kb/s at least.
    #[test]
    fn a_window_below_two_segments_is_paced() {
        let mut c = prague(json!({}));
        c.on_ack(&ack(at(100), 25, 1, 0));
        c.poke("cwnd", 2.0 * S);
        c.poke("ssthresh", 2.0 * S);
        c.poke("fraction", 0.5);
        near(c.pacing_rate().unwrap(), S * 8.0 / 0.025);
        c.poke("alpha", 1.0);
        c.on_congestion(&mark(at(200)));
        near(c.window(), 2.0 * S);
        near(c.pacing_rate().unwrap(), S / 2.0 * 8.0 / 0.025);
        for n in 1..10 {
            c.on_congestion(&mark(at(200 + 25 * n)));
        }
        near(c.pacing_rate().unwrap(), 100e3);
    }

    /// tcp_prague.c: twice the rate below half of ssthresh; bursts of a 4096th of a second.
    #[test]
    fn pacing_follows_the_window() {
        let mut c = prague(json!({}));
        c.on_ack(&ack(at(100), 20, 20, 20));
        near(c.pacing_rate().unwrap(), 20.0 * S * 8.0 / 0.02);
        c.poke("ssthresh", 41.0 * S);
        near(c.pacing_rate().unwrap(), 2.0 * 20.0 * S * 8.0 / 0.02);
        assert_eq!(c.wishes().burst_segments, 1.0);
        c.poke("cwnd", 2500.0 * S);
        c.on_ack(&ack(at(101), 20, 1, 1));
        // 2500 segments in 20 ms are 125,000 a second: 30.5 in 1/4096 s.
        assert_eq!(c.wishes().burst_segments, 30.0);
    }

    #[test]
    fn without_accurate_ecn_it_is_reno() {
        let mut c = prague(json!({}));
        assert!(c.sends_ect1());
        let rtt = Some(Span::from_ms(5));
        c.begin(&Start { now: at(1), rtt, packet_bytes: 1052, takes_over: false, accurate_ecn: false });
        assert!(!c.sends_ect1());
        assert_eq!(c.pacing_rate(), None);
        c.on_ack(&ack(at(100), 5, 20, 0));
        near(c.window(), 21.0 * S);
    }
}
