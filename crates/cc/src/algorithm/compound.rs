//! Compound TCP (Tan et al. 2006; draft-sridharan-tcpm-ctcp-02): Reno's window and one more that looks at delay.
//!
//! win = cwnd + dwnd is the window; the congestion control holds dwnd, cwnd is the rest. Once a round trip, with its mean RTT and baseRTT
//! the smallest ever, windows in segments:
//!
//! ```text
//! cwnd += 1 / win per acknowledged segment
//! diff  = win (1 - baseRTT / RTT)                                     own segments in the queue
//! diff < gamma: dwnd grows by max(alpha win^k - 1, 0) in the next round trip;  else dwnd = max(dwnd - zeta diff, 0)
//! win < low_window: dwnd does not grow
//! event:  cwnd = cwnd / 2, dwnd = max(win (1 - beta) - cwnd / 2, 0)   so that win is cut to 1 - beta
//!         ssthresh = max(win, 2)
//! timer:  the same ssthresh, cwnd = 1, dwnd = 0
//! ```
//!
//! With `beta_ecn` (ABE, RFC 8511) an ECN-Echo cuts dwnd as a loss does; what it leaves beyond that is cwnd.
//! The growth of dwnd is spread over the round trip by bytes. A window that falls takes ssthresh along, so that it does not
//! slow start again. dwnd grows in congestion avoidance only; slow start is Reno's. The round trip of what an event found in
//! flight tells nothing, and without samples dwnd does not grow. Chosen: RTT as the mean of the round. Left out: the gamma of
//! Windows that adapts to small buffers.

use super::CongestionControl;
use crate::declare::{loss_based, states};
use crate::registry::Model;
use crate::round::{Delay, Measured};
use crate::{Ack, Signal, Window};
use elephan_units::Time;

/// What an event leaves of cwnd (RFC 5681 equation 4).
const RENO_BETA: f64 = 0.5;
/// Smallest window that a cut leaves, in segments (RFC 5681 equation 4).
const MIN_SEGMENTS: f64 = 2.0;

loss_based! {
    /// Factor of the growth.
    alpha: f64 = 0.125, "draft-sridharan-tcpm-ctcp-02" (min = 0);
    /// The share of the window that an event takes.
    beta: f64 = 0.5, "draft-sridharan-tcpm-ctcp-02" (min = 0, max = 1);
    /// Power of the window in the growth.
    k: f64 = 0.75, "draft-sridharan-tcpm-ctcp-02" (min = 0, max = 1);
    /// Own segments in the queue from which dwnd falls.
    gamma: f64 = 30.0, "draft-sridharan-tcpm-ctcp-02" (min = 0);
    /// Segments by which dwnd falls for each in the queue.
    zeta: f64 = 1.0, "draft-sridharan-tcpm-ctcp-02" (min = 0);
    /// Window in segments below which the congestion control is Reno's.
    low_window: f64 = 38.0, "draft-sridharan-tcpm-ctcp-02; RFC 3649 Low_Window" [min = 0];
}

#[derive(Clone, Debug)]
pub struct Compound {
    p: Parameters,
    delay: Delay,
    /// Bytes; and before the last event.
    dwnd: f64,
    prior: f64,
    diff: f64,
    /// Segments by which dwnd grows in this round trip.
    gain: f64,
}

impl Model for Compound {
    type Parameters = Parameters;

    fn new(p: &Parameters) -> Compound {
        Compound { p: p.clone(), delay: Delay::new(), dwnd: 0.0, prior: 0.0, diff: 0.0, gain: 0.0 }
    }
}

states! {
    Compound, cc, value;
    "dwnd" ["B"] "the part of the window that looks at delay": cc.dwnd, value >= 0.0 => cc.dwnd = value;
    "base_rtt" ["s"] "smallest round-trip time (baseRTT)": cc.delay.base_s(), value > 0.0 => cc.delay.set_base(value);
    "diff" ["segments"] "own segments in the queue in the last round trip": cc.diff, true => cc.diff = value;
}

impl CongestionControl for Compound {
    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        if let Some(measured) = self.delay.advance(ack) {
            self.begin_round(w, &measured);
        }
    }

    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if ack.app_limited {
            return;
        }
        let acked = ack.acked as f64;
        let gain = if w.cwnd < self.p.low_window * w.mss { 0.0 } else { self.gain };
        let share = w.mss * acked.min(w.cwnd) / w.cwnd;
        let growth = ((1.0 + gain) * share).min(acked);
        self.dwnd += (growth - share).max(0.0);
        w.cwnd += growth;
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        self.delay.restart();
        self.gain = 0.0;
        self.prior = self.dwnd;
        let reno = RENO_BETA * (w.cwnd - self.dwnd).max(0.0);
        self.dwnd = ((1.0 - self.p.beta) * w.cwnd - reno).max(0.0);
        w.cut(signal, reno + self.dwnd);
        if matches!(signal, Signal::Rto { .. }) {
            self.dwnd = 0.0;
        }
    }

    fn on_undo(&mut self, _w: &mut Window, _now: Time) {
        self.gain = 0.0;
        self.delay.restart();
        self.dwnd = self.prior;
    }

    fn on_shrink(&mut self, w: &Window) {
        self.dwnd = self.dwnd.min((w.cwnd - w.mss).max(0.0));
    }
}

impl Compound {
    fn begin_round(&mut self, w: &mut Window, measured: &Measured) {
        self.gain = 0.0;
        if measured.samples == 0 || w.in_slow_start() {
            return;
        }
        self.diff = measured.backlog(w, measured.mean);
        if self.diff < self.p.gamma {
            self.gain = (self.p.alpha * libm::pow(w.cwnd / w.mss, self.p.k) - 1.0).max(0.0);
            return;
        }
        let cut = self.dwnd.min(self.p.zeta * self.diff * w.mss).min((w.cwnd - MIN_SEGMENTS * w.mss).max(0.0));
        self.dwnd -= cut;
        w.cwnd -= cut;
        w.leave_slow_start();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{self, MSS, loss, round, state};
    use crate::{Controller, Signal, Spec};
    use elephan_units::Time;

    const S: f64 = MSS as f64;

    /// At `segments`, of which `dwnd`, after a round trip of `rtt_s` whose smallest ever is 100 ms.
    fn compound(segments: f64, dwnd: f64, rtt_s: f64) -> Controller {
        let mut c = Controller::new(&Spec::named("compound").unwrap(), MSS, 10 * MSS);
        c.poke("base_rtt", 0.1);
        for name in ["cwnd", "ssthresh"] {
            c.poke(name, segments * S);
        }
        round(&mut c, 0.0, rtt_s);
        c.poke("dwnd", dwnd * S);
        c.poke("cwnd", segments * S);
        c.poke("ssthresh", segments * S);
        c
    }

    /// 256^0.75 / 8 = 8 and 10000^0.75 / 8 = 125: growth of win, one of which is cwnd's; 16^0.75 / 8 = 1 is Reno's, and
    /// 37^0.75 / 8 = 1.875 is below the low window.
    #[test]
    fn the_delay_window_grows_with_the_power_of_the_window() {
        for (segments, growth) in [(256.0, 8.0), (10_000.0, 125.0), (16.0, 1.0), (37.0, 1.0)] {
            let mut c = compound(segments, 0.0, 0.1);
            round(&mut c, 1.0, 0.1);
            assert!((c.window() / S / (segments + growth) - 1.0).abs() < 0.002, "{segments}: {}", c.window());
            assert!((state(&c, "dwnd") / S - (growth - 1.0)).abs() < 0.02 * growth, "{}", state(&c, "dwnd"));
        }
    }

    /// diff = 256 (1 - 100 / RTT): 28.4 at 112.5 ms grows; 51.2 at 125 ms takes 51.2 of dwnd, or all of it.
    #[test]
    fn a_queue_of_gamma_takes_the_delay_window_back() {
        let mut c = compound(256.0, 100.0, 0.1125);
        round(&mut c, 1.0, 0.1125);
        assert!((state(&c, "diff") - 28.444).abs() < 1e-3 && state(&c, "dwnd") > 106.0 * S);
        for (dwnd, left) in [(100.0, 48.8), (20.0, 0.0)] {
            let mut c = compound(256.0, dwnd, 0.125);
            round(&mut c, 1.0, 0.125);
            assert!((state(&c, "diff") - 51.2).abs() < 1e-3, "{}", state(&c, "diff"));
            assert!((state(&c, "dwnd") / S - left).abs() < 1e-3);
            // The 256 ACKs of the round trip add a segment for each window that is left, 1.25 at most.
            let grown = c.window() / S - (256.0 - dwnd + left);
            assert!((1.0..1.26).contains(&grown) && !c.in_slow_start(), "{grown}");
        }
    }

    /// Draft: win is halved, cwnd is halved, dwnd the rest: 200 = 120 + 80 becomes 100 = 60 + 40. A timer ends dwnd.
    #[test]
    fn a_loss_halves_both_windows() {
        let mut c = compound(200.0, 80.0, 0.1);
        c.on_congestion(&loss(1.0, 200.0));
        assert_eq!((c.window(), c.ssthresh(), state(&c, "dwnd")), (100.0 * S, 100.0 * S, 40.0 * S));
        c.on_congestion(&Signal::Rto { now: Time::from_seconds(2.0), inflight: 100 * MSS });
        assert_eq!((c.window(), c.ssthresh(), state(&c, "dwnd")), (S, 50.0 * S, 0.0));
        c.on_congestion(&Signal::Undo { now: Time::from_seconds(2.0) });
        assert_eq!((c.window(), state(&c, "dwnd")), (100.0 * S, 40.0 * S));
    }

    /// Below the low window Reno: 1.2247 / sqrt(1e-3) = 38.7 has a peak of 52, 1.2247 / sqrt(1/300) = 21.2 one of 28.
    #[test]
    fn small_windows_are_renos() {
        let mean = testing::mean_window(&Spec::named("compound").unwrap(), 300, 0.1, 20.0, 20);
        assert!((mean / 21.21 - 1.0).abs() < 0.015, "{mean}");
    }
}
