//! Vegas (Brakmo and Peterson 1995; Linux `tcp_vegas.c`): keeps a few segments of its own in the queue.
//!
//! Once a round trip, with the smallest RTT of the round and baseRTT the smallest ever, windows in segments:
//!
//! ```text
//! diff = cwnd (1 - baseRTT / RTT)                        paper: (expected - actual rate) * baseRTT
//! diff = cwnd (RTT - baseRTT) / baseRTT                  Linux
//! diff < alpha: cwnd grows by one in the next round trip;  diff > beta: it falls by one;  else it stays
//! slow start ends when diff > gamma:
//!   paper: the window doubles every other round trip and is compared after the one in which it stood still
//!   Linux: it doubles every round trip; cwnd = min(cwnd, cwnd baseRTT / RTT + 1)
//! event: ssthresh = max(cwnd / 2, 2), cwnd = ssthresh                                            timer: cwnd = 1
//! ```
//!
//! Both ways slow start ends with ssthresh = cwnd, and a window that falls takes ssthresh along, so that it does not slow
//! start again. The congestion control holds the window still itself; the slow start of the flow does not see those round trips. A round
//! trip with fewer than `samples_min` samples, the first after an event and that of what an event found in flight grow as
//! Reno. The step of one is spread over the round trip by bytes, as the paper says.
//!
//! Left out: the paper's retransmission on the first duplicate ACK and its finer timer (recovery is TCP's), and a window of
//! two after a timeout; Linux's ssthresh of at least 3/4 cwnd.

use super::CongestionControl;
use crate::declare::{LIMIT, parameters, states};
use crate::registry::Model;
use crate::round::{Delay, Measured};
use crate::{Ack, Needs, Signal, Traits, Window};
use elephan_units::{InvalidParameter, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Smallest window that delay leaves, and smallest `ssthresh`, in segments (Linux `tcp_vegas_cong_avoid`).
const MIN_SEGMENTS: f64 = 2.0;

/// How the segments in the queue are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// cwnd (1 - baseRTT / RTT): what waits in the queue.
    Queued,
    /// cwnd (RTT - baseRTT) / baseRTT, larger by RTT / baseRTT.
    OverBase,
}

/// How the window grows below `ssthresh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Every other round trip.
    EveryOther,
    /// Every round trip; at the end the window falls to its share baseRTT / RTT and one segment.
    EachCut,
}

parameters! {
    /// Segments in the queue below which the window grows.
    alpha: f64 = 2.0, "Linux tcp_vegas.c alpha = 2; Brakmo and Peterson 1995: 1 or 2" (min = 0);
    /// Segments in the queue above which the window falls.
    beta: f64 = 4.0, "Linux tcp_vegas.c beta = 4; Brakmo and Peterson 1995: 3 or 4" (min = 0);
    /// Segments in the queue above which slow start ends.
    gamma: f64 = 1.0, "Brakmo and Peterson 1995: one buffer; Linux tcp_vegas.c gamma = 1" (min = 0);
    /// How the segments in the queue are counted: `queued` or `over_base`.
    difference: Difference = Difference::Queued, "Brakmo and Peterson 1995 (queued); Linux tcp_vegas.c (over_base)";
    /// Slow start: `every_other` round trip, or `each_cut`.
    start: Start = Start::EveryOther, "Brakmo and Peterson 1995 (every_other); Linux tcp_vegas.c (each_cut)";
    /// Samples of a round trip with fewer of which it counts as Reno's.
    samples_min: u32 = 1, "Linux tcp_vegas.c: more than 2; Brakmo and Peterson 1995: any" [min = 1];
    /// What is sent with nothing in flight (after silence, or when all is lost) begins with a new baseRTT.
    base_restarts: bool = false, "Linux tcp_vegas_cwnd_event; Brakmo and Peterson 1995: no";
    /// The share of the window that an event leaves.
    backoff: f64 = 0.5, "RFC 5681 equation 4; Linux tcp_vegas.c (Reno's)" (min = 0, max = 1);
}

#[derive(Clone, Debug)]
pub struct Vegas {
    p: Parameters,
    delay: Delay,
    diff: f64,
    /// Segments by which this round trip changes the window, and before the last event.
    step: f64,
    prior_step: f64,
    /// This round trip of slow start leaves the window as it is.
    holding: bool,
}

impl Model for Vegas {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["paper", "linux"];
    const NEEDS: Needs = Needs::ALL_ACKED;

    fn new(p: &Parameters) -> Vegas {
        Vegas { p: p.clone(), delay: Delay::new(), diff: 0.0, step: 1.0, prior_step: 1.0, holding: false }
    }

    fn preset(name: &str) -> Parameters {
        match name {
            "linux" => Parameters {
                difference: Difference::OverBase,
                start: Start::EachCut,
                samples_min: 3,
                base_restarts: true,
                ..Parameters::default()
            },
            _ => Parameters::default(),
        }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        InvalidParameter::within("beta", p.beta, p.alpha, LIMIT)
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { own_start: true, counts_segments: true, ..Traits::default() }
    }
}

states! {
    Vegas, cc, value;
    "base_rtt" ["s"] "smallest round-trip time (baseRTT)": cc.delay.base_s(), value > 0.0 => cc.delay.set_base(value);
    "diff" ["segments"] "own segments in the queue in the last round trip": cc.diff, true => cc.diff = value;
    "step" ["segments"] "change of the window in this round trip": cc.step, value.abs() <= 1.0 => cc.step = value;
}

impl CongestionControl for Vegas {
    /// Linux begins as a new connection does (`tcp_vegas_init`): no queue is known.
    #[inline]
    fn on_sent(&mut self, _w: &mut Window, _now: Time, _bytes: u64, inflight: u64) {
        if inflight == 0 && self.p.base_restarts {
            self.delay.forget();
        }
    }

    fn grows_by_ack(&self) -> bool {
        !self.holding
    }

    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        if let Some(measured) = self.delay.advance(ack) {
            self.begin_round(w, &measured);
        }
    }

    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if ack.app_limited {
            return;
        }
        let change = w.per_round(self.step * w.mss, ack.acked);
        if change < 0.0 {
            w.cwnd = (w.cwnd + change).max(w.cwnd.min(MIN_SEGMENTS * w.mss));
            enter_avoidance(w);
        } else {
            w.cwnd += change;
        }
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        self.delay.restart();
        self.holding = false;
        (self.prior_step, self.step) = (self.step, 1.0);
        w.cut(signal, self.p.backoff * w.cwnd);
    }

    fn on_undo(&mut self, _w: &mut Window, _now: Time) {
        self.holding = false;
        self.delay.restart();
        self.step = self.prior_step;
    }
}

/// Lets congestion avoidance follow at the window of now.
fn enter_avoidance(w: &mut Window) {
    w.leave_slow_start();
}

impl Vegas {
    fn begin_round(&mut self, w: &mut Window, measured: &Measured) {
        let held = std::mem::replace(&mut self.holding, false);
        let known = measured.samples >= self.p.samples_min && measured.samples > 0;
        if known {
            self.diff = self.difference(w, measured);
        }
        if !w.in_slow_start() {
            self.step = match self.diff {
                _ if !known => 1.0,
                diff if diff < self.p.alpha => 1.0,
                diff if diff > self.p.beta => -1.0,
                _ => 0.0,
            };
            return;
        }
        match self.p.start {
            Start::EveryOther if held && known && self.diff > self.p.gamma => enter_avoidance(w),
            Start::EveryOther => self.holding = !held && known,
            Start::EachCut if known && self.diff > self.p.gamma => {
                let unqueued = w.cwnd - measured.backlog(w, measured.min) * w.mss;
                w.cwnd = w.cwnd.min(unqueued + w.mss);
                enter_avoidance(w);
            }
            Start::EachCut => {}
        }
        // Congestion avoidance that has just begun waits for its first round trip.
        self.step = if w.in_slow_start() { 1.0 } else { 0.0 };
    }

    fn difference(&self, w: &Window, measured: &Measured) -> f64 {
        let queued = measured.backlog(w, measured.min);
        match self.p.difference {
            Difference::Queued => queued,
            Difference::OverBase if measured.base == Span::ZERO => 0.0,
            Difference::OverBase => queued * measured.min.ps() as f64 / measured.base.ps() as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack, loss, round, state};
    use crate::{Controller, Signal, Spec};
    use elephan_units::Time;
    use serde_json::json;

    const S: f64 = MSS as f64;

    fn vegas(preset: &str) -> Controller {
        let spec = Spec::with("vegas", json!({ "preset": preset }).as_object().unwrap()).unwrap();
        Controller::new(&spec, MSS, 10 * MSS)
    }

    /// In congestion avoidance at 100 segments, whose round trips take `rtt_s` instead of 100 ms at the least.
    fn avoiding(preset: &str, rtt_s: f64) -> Controller {
        let mut c = vegas(preset);
        c.poke("cwnd", 100.0 * S);
        c.poke("ssthresh", 100.0 * S);
        c.poke("base_rtt", 0.1);
        c.poke("step", 0.0);
        round(&mut c, 0.0, rtt_s);
        c.poke("cwnd", 100.0 * S);
        c
    }

    /// Paper: diff = 100 (1 - 100 / RTT in ms), 3.94 at 104.1 ms; Linux: 100 (RTT / 100 - 1), 4.1.
    #[test]
    fn a_round_trip_adds_or_takes_one_segment() {
        let cases = [
            ("paper", 102.0, 1.96, 1.0),
            ("paper", 103.0, 2.91, 0.0),
            ("paper", 104.1, 3.94, 0.0),
            ("paper", 105.0, 4.76, -1.0),
            ("linux", 101.9, 1.9, 1.0),
            ("linux", 103.0, 3.0, 0.0),
            ("linux", 104.1, 4.1, -1.0),
        ];
        for (preset, rtt_ms, diff, step) in cases {
            let mut c = avoiding(preset, rtt_ms / 1e3);
            let before = c.window() / S;
            round(&mut c, 1.0, rtt_ms / 1e3);
            assert_eq!(state(&c, "step"), step, "{preset} {rtt_ms}");
            assert!((state(&c, "diff") - diff).abs() < 0.005, "{preset} {rtt_ms}: {}", state(&c, "diff"));
            assert!((c.window() / S - before - step).abs() < 0.02, "{preset} {rtt_ms}: {}", c.window());
            assert!(!c.in_slow_start());
        }
    }

    /// A path of 100 segments: what exceeds them waits, RTT = baseRTT cwnd / 100, and Vegas keeps alpha to beta there.
    #[test]
    fn it_settles_with_alpha_to_beta_segments_in_the_queue() {
        for preset in ["paper", "linux"] {
            for start in [60.0, 140.0] {
                let mut c = vegas(preset);
                c.poke("cwnd", start * S);
                c.poke("ssthresh", start * S);
                c.poke("base_rtt", 0.1);
                let mut now = 0.0;
                for _ in 0..80 {
                    let rtt_s = 0.1 * (c.window() / S / 100.0).max(1.0);
                    now = round(&mut c, now, rtt_s);
                }
                let queued = c.window() / S - 100.0;
                assert!((1.5..=4.5).contains(&queued), "{preset} from {start}: {queued}");
            }
        }
    }

    /// A path of 60. Paper: 10, 20, 20, 40, 40, 80, 80; the 80 that stand still are found to be more than 60 + 1. Linux: 10,
    /// 20, 40, 80; the 160 after that are cut to 160 * 60 / 80 + 1.
    #[test]
    fn slow_start_ends_before_the_queue_fills() {
        for (preset, windows, end) in [
            ("paper", vec![10.0, 20.0, 20.0, 40.0, 40.0, 80.0, 80.0], 80.0),
            ("linux", vec![10.0, 20.0, 40.0, 80.0], 121.0),
        ] {
            let mut c = vegas(preset);
            let (mut now, mut seen) = (0.0, vec![]);
            for _ in 0..20 {
                if !c.in_slow_start() {
                    break;
                }
                seen.push((c.window() / S).round());
                let rtt_s = 0.1 * (c.window() / S / 60.0).max(1.0);
                now = round(&mut c, now, rtt_s);
            }
            assert_eq!(seen[..windows.len()], windows, "{preset}: {seen:?}");
            assert!(
                (c.window() / S - end).abs() < 2.0 && (c.ssthresh() / S - end).abs() < 2.0,
                "{preset}: {}",
                c.window()
            );
        }
    }

    #[test]
    fn a_loss_halves_and_a_timeout_leaves_one() {
        let mut c = avoiding("paper", 0.1);
        c.poke("cwnd", 100.0 * S);
        c.on_congestion(&loss(1.0, 100.0));
        assert_eq!((c.window(), c.ssthresh()), (50.0 * S, 50.0 * S));
        c.on_congestion(&Signal::Rto { now: Time::from_seconds(2.0), inflight: 50 * MSS });
        assert_eq!((c.window(), c.ssthresh()), (S, 25.0 * S));
    }

    /// Linux: two samples of a round trip are too few; it is Reno's.
    #[test]
    fn a_round_trip_with_few_samples_is_renos() {
        let mut c = avoiding("linux", 0.2);
        for n in 0..3 {
            let now_s = 1.0 + f64::from(n);
            c.on_ack(&ack(now_s, 100 * MSS, 0.2));
        }
        assert_eq!(state(&c, "step"), 1.0);
    }

    /// Linux `tcp_vegas_cwnd_event`: what is sent with nothing in flight begins with a new baseRTT; what is sent beside other data does not,
    /// and `base_restarts = false` keeps it.
    #[test]
    fn silence_forgets_the_base() {
        for (table, inflight, base) in [
            (json!({ "preset": "linux" }), 0, 0.0),
            (json!({ "preset": "linux" }), MSS, 0.1),
            (json!({ "base_restarts": false }), 0, 0.1),
        ] {
            let spec = Spec::with("vegas", table.as_object().unwrap()).unwrap();
            let mut c = Controller::new(&spec, MSS, 10 * MSS);
            c.poke("base_rtt", 0.1);
            c.on_sent(Time::from_seconds(1.0), MSS, inflight);
            assert_eq!(state(&c, "base_rtt"), base, "{table} {inflight}");
        }
    }
}
