//! Veno (Fu and Liew 2003; ns-3 `TcpVeno`, Linux `tcp_veno.c`): Reno that tells losses by a full queue from random ones.
//!
//! Once a round trip, with the smallest RTT of the round and baseRTT the smallest ever, windows in segments:
//!
//! ```text
//! N = cwnd (1 - baseRTT / RTT)                            own segments in the queue
//! N < beta:  cwnd += 1 / cwnd per acknowledged segment;   else half of it, one segment in two round trips
//! event:     ssthresh = max(0.8 cwnd, 2) while N < beta (the loss was random), else max(cwnd / 2, 2)
//!            cwnd = ssthresh                                                                     timer: cwnd = 1
//! ```
//!
//! N is that of the last round trip with at least `samples_min` samples; a round trip with fewer grows as Reno. Before the
//! first N is known an event halves. The first round trip after an event, with what was sent before it, tells no N. As in
//! ns-3 and Linux a timer cuts as a loss does. Slow start is untouched.

use super::CongestionControl;
use crate::declare::{loss_based, states};
use crate::registry::Model;
use crate::round::Delay;
use crate::{Ack, Signal, Traits, Window};
use elephan_units::Time;

loss_based! {
    /// Own segments in the queue from which the path counts as congested.
    beta: f64 = 3.0, "Fu and Liew 2003; ns-3 TcpVeno Beta" (min = 0);
    /// The share of the window that an event leaves on a path that is not congested.
    backoff_random: f64 = 0.8, "Fu and Liew 2003; ns-3 TcpVeno" (min = 0, max = 1);
    /// The share of the window that an event leaves on a congested path.
    backoff_congested: f64 = 0.5, "RFC 5681 equation 4; Fu and Liew 2003" (min = 0, max = 1);
    /// Growth on a congested path, as a share of Reno's.
    queued_growth: f64 = 0.5, "Fu and Liew 2003: every second round trip" below [min = 0, max = 1];
    /// Samples of a round trip with fewer of which it counts as Reno's.
    samples_min: u32 = 3, "ns-3 TcpVeno, Linux tcp_veno.c: more than 2" [min = 1];
    /// What is sent with nothing in flight (after silence, or when all is lost) begins with a new baseRTT.
    base_restarts: bool = true, "Linux tcp_veno_cwnd_event";
}

#[derive(Clone, Debug)]
pub struct Veno {
    p: Parameters,
    delay: Delay,
    queued: Option<f64>,
    /// This round trip grows as Reno.
    whole: bool,
}

impl Model for Veno {
    type Parameters = Parameters;

    fn new(p: &Parameters) -> Veno {
        Veno { p: p.clone(), delay: Delay::new(), queued: None, whole: true }
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { counts_segments: true, ..Traits::default() }
    }
}

states! {
    Veno, cc, value;
    "base_rtt" ["s"] "smallest round-trip time (baseRTT)": cc.delay.base_s(), value > 0.0 => cc.delay.set_base(value);
    "queued" ["segments"] "own segments in the queue in the last round trip (N)":
        cc.queued.unwrap_or(0.0), true => (cc.queued, cc.whole) = (Some(value), value < cc.p.beta);
}

impl CongestionControl for Veno {
    /// Linux begins as a new connection does (`tcp_veno_init`), but that N of before counts at an event until there is another.
    #[inline]
    fn on_sent(&mut self, _w: &mut Window, _now: Time, _bytes: u64, inflight: u64) {
        if inflight == 0 && self.p.base_restarts {
            self.delay.forget();
        }
    }

    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        let Some(measured) = self.delay.advance(ack) else { return };
        let known = measured.samples >= self.p.samples_min;
        if known {
            self.queued = Some(measured.backlog(w, measured.min));
        }
        self.whole = !known || !self.congested();
    }

    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if !ack.app_limited {
            let growth = if self.whole { 1.0 } else { self.p.queued_growth };
            w.cwnd += w.per_round(growth * w.mss, ack.acked);
        }
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        self.delay.restart();
        let left = if self.congested() { self.p.backoff_congested } else { self.p.backoff_random };
        w.cut(signal, left * w.cwnd);
    }

    fn on_undo(&mut self, _w: &mut Window, _now: Time) {
        self.delay.restart();
    }
}

impl Veno {
    fn congested(&self) -> bool {
        self.queued.is_none_or(|queued| queued >= self.p.beta)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack_limited, loss, round, state};
    use crate::{Ack, Controller, Signal, Spec};
    use elephan_units::Time;
    use serde_json::json;

    const S: f64 = MSS as f64;

    /// At 100 segments whose last round trip took `rtt_s` instead of 100 ms.
    fn veno(rtt_s: f64) -> Controller {
        let mut c = Controller::new(&Spec::named("veno").unwrap(), MSS, 10 * MSS);
        c.poke("cwnd", 100.0 * S);
        c.poke("ssthresh", 100.0 * S);
        c.poke("base_rtt", 0.1);
        round(&mut c, 0.0, rtt_s);
        c.poke("cwnd", 100.0 * S);
        // Begins the next round trip.
        c.on_ack(&Ack { inflight: 100 * MSS, ..ack_limited(1.0, MSS, rtt_s) });
        c
    }

    /// N = 100 (1 - 100 / 103) = 2.91 is below 3, 100 (1 - 100 / 104) = 3.85 is not: 0.8 and 0.5 (ns-3, Fu and Liew).
    #[test]
    fn a_loss_with_a_short_queue_is_random() {
        for (rtt_s, queued, left) in [(0.103, 2.9126, 80.0), (0.104, 3.8462, 50.0)] {
            let mut c = veno(rtt_s);
            assert!((state(&c, "queued") - queued).abs() < 1e-4, "{}", state(&c, "queued"));
            c.on_congestion(&loss(1.0, 100.0));
            assert_eq!((c.window(), c.ssthresh()), (left * S, left * S));
        }
        let mut c = veno(0.103);
        c.on_congestion(&Signal::Rto { now: Time::from_seconds(1.0), inflight: 100 * MSS });
        assert_eq!((c.window(), c.ssthresh()), (S, 80.0 * S));
    }

    /// One segment a round trip below beta, one in two from there.
    #[test]
    fn growth_halves_when_a_queue_builds() {
        for (rtt_s, growth) in [(0.1, 1.0), (0.103, 1.0), (0.104, 0.5), (0.2, 0.5)] {
            let mut c = veno(rtt_s);
            round(&mut c, 2.0, rtt_s);
            assert!((c.window() / S - 100.0 - growth).abs() < 0.02, "{rtt_s}: {}", c.window());
        }
    }

    /// No N yet: RFC 5681 equation 4.
    #[test]
    fn an_event_before_anything_is_measured_halves() {
        let mut c = Controller::new(&Spec::named("veno").unwrap(), MSS, 10 * MSS);
        c.on_congestion(&loss(0.0, 10.0));
        assert_eq!(c.window(), 5.0 * S);
    }

    /// Linux `tcp_veno_cwnd_event`: what is sent with nothing in flight begins with a new baseRTT; what is sent beside other data does not,
    /// and `base_restarts = false` keeps it.
    #[test]
    fn silence_forgets_the_base() {
        for (table, inflight, base) in
            [(json!({}), 0, 0.0), (json!({}), MSS, 0.1), (json!({ "base_restarts": false }), 0, 0.1)]
        {
            let spec = Spec::with("veno", table.as_object().unwrap()).unwrap();
            let mut c = Controller::new(&spec, MSS, 10 * MSS);
            c.poke("base_rtt", 0.1);
            c.on_sent(Time::from_seconds(1.0), MSS, inflight);
            assert_eq!(state(&c, "base_rtt"), base, "{table} {inflight}");
        }
    }
}
