//! YeAH (Baiocchi, Castellani and Vacirca 2007; Linux `tcp_yeah.c`): Scalable while its queue is short, Reno while not.
//!
//! Once a round trip, with the smallest RTT of the round and baseRTT the smallest ever, windows in segments:
//!
//! ```text
//! Q = cwnd (1 - baseRTT / RTT)                                own segments in the queue
//! slow mode if Q > alpha or RTT - baseRTT > baseRTT / phy, else fast mode
//! fast:   cwnd += 1 / min(cwnd, 100) per acknowledged segment (Scalable); more than zeta round trips: reno_count = 2
//! slow:   cwnd += 1 / cwnd per acknowledged segment; each round trip
//!         if Q > alpha and cwnd > reno_count: cwnd = max(cwnd - min(Q / gamma, cwnd 2^-epsilon), reno_count),
//!         ssthresh = cwnd;  reno_count = max(cwnd / 2, 2) if it is at most 2, else + 1
//! event:  cut = max(min(Q, cwnd / 2), cwnd 2^-delta) after fewer than rho round trips in slow mode, else cwnd / 2;
//!         ssthresh = max(cwnd - cut, 2), cwnd = ssthresh, reno_count = max(reno_count / 2, 2)       timer: cwnd = 1
//! ```
//!
//! reno_count guesses the window of a Reno flow beside this one and keeps the congestion control from giving way to it. The cut of slow
//! mode works in slow start too and ends it; else slow start is untouched. A round trip with fewer than `samples_min`
//! samples, and that of what an event found in flight, change nothing. Q of the last measured round trip is used at the
//! event, as in Linux; before the first one the window is halved.

use super::CongestionControl;
use crate::declare::{loss_based, states};
use crate::registry::Model;
use crate::round::{Delay, Measured};
use crate::{Ack, Signal, Traits, Window};
use elephan_units::Time;

/// Most of the window that an event takes, and what it takes after many round trips in slow mode (Linux `tcp_yeah.c`).
const HALF: f64 = 0.5;
/// Smallest window that a cut leaves, and reno_count to begin with, in segments (Linux `tcp_yeah.c`).
const MIN_SEGMENTS: f64 = 2.0;

loss_based! {
    /// Own segments in the queue above which slow mode holds.
    alpha: f64 = 80.0, "Linux tcp_yeah.c TCP_YEAH_ALPHA; ns-3 TcpYeah" (min = 0);
    /// Divisor of the queue that gives the cut of slow mode.
    gamma: f64 = 1.0, "Linux tcp_yeah.c TCP_YEAH_GAMMA; ns-3 TcpYeah" [min = 1];
    /// An event takes at least 2^-delta of the window.
    delta: u32 = 3, "Linux tcp_yeah.c TCP_YEAH_DELTA; ns-3 TcpYeah" [min = 1, max = 63];
    /// Slow mode takes at most 2^-epsilon of the window at once.
    epsilon: u32 = 1, "Linux tcp_yeah.c TCP_YEAH_EPSILON; ns-3 TcpYeah" [min = 1, max = 63];
    /// Divisor of the smallest round-trip time that gives the queueing delay of slow mode.
    phy: f64 = 8.0, "Linux tcp_yeah.c TCP_YEAH_PHY; ns-3 TcpYeah" [min = 1];
    /// Round trips in slow mode from which an event halves.
    rho: u32 = 16, "Linux tcp_yeah.c TCP_YEAH_RHO; ns-3 TcpYeah";
    /// Round trips in fast mode after which no Reno flow is presumed.
    zeta: u32 = 50, "Linux tcp_yeah.c TCP_YEAH_ZETA; ns-3 TcpYeah";
    /// Acknowledged segments for one more segment in fast mode, at most.
    scalable_count: f64 = 100.0, "Linux tcp_yeah.c: Scalable's TCP_SCALABLE_AI_CNT, 100" [min = 1];
    /// Samples that a round trip needs to count.
    samples_min: u32 = 3, "Linux tcp_yeah.c: more than 2" [min = 1];
    /// What is sent with nothing in flight (after silence, or when all is lost) begins with a new baseRTT.
    base_restarts: bool = true, "Linux tcp_yeah.c: tcp_vegas_cwnd_event";
}

/// What an undone event restores.
#[derive(Clone, Copy, Debug)]
struct Rival {
    /// Window in segments that a Reno flow beside this one may have.
    reno_count: f64,
    /// Round trips in fast mode since it was last presumed to be there.
    fast_rounds: u32,
}

#[derive(Clone, Debug)]
pub struct Yeah {
    p: Parameters,
    delay: Delay,
    rival: Rival,
    prior: Rival,
    /// Q of the last measured round trip, in segments.
    queued: Option<f64>,
    /// Round trips in slow mode so far; none in fast mode.
    slow_rounds: u32,
}

impl Model for Yeah {
    type Parameters = Parameters;

    fn new(p: &Parameters) -> Yeah {
        let rival = Rival { reno_count: MIN_SEGMENTS, fast_rounds: 0 };
        Yeah { p: p.clone(), delay: Delay::new(), rival, prior: rival, queued: None, slow_rounds: 0 }
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { counts_segments: true, ..Traits::default() }
    }
}

states! {
    Yeah, cc, value;
    "base_rtt" ["s"] "smallest round-trip time (baseRTT)": cc.delay.base_s(), value > 0.0 => cc.delay.set_base(value);
    "queued" ["segments"] "own segments in the queue in the last round trip (Q)":
        cc.queued.unwrap_or(0.0), value >= 0.0 => cc.queued = Some(value);
    "slow_rounds" ["1"] "round trips in slow mode so far, zero in fast mode":
        cc.slow_rounds.into(), value >= 0.0 => cc.slow_rounds = value as u32;
    "reno_count" ["segments"] "window that a Reno flow beside this one may have":
        cc.rival.reno_count, value >= 0.0 => cc.rival.reno_count = value;
}

impl CongestionControl for Yeah {
    #[inline]
    fn on_sent(&mut self, _w: &mut Window, _now: Time, _bytes: u64, inflight: u64) {
        if inflight == 0 && self.p.base_restarts {
            self.delay.forget();
        }
    }

    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        match self.delay.advance(ack) {
            Some(measured) if measured.samples >= self.p.samples_min => self.begin_round(w, &measured),
            _ => {}
        }
    }

    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if ack.app_limited {
            return;
        }
        let acked = (ack.acked as f64).min(w.cwnd);
        let per = if self.slow_rounds > 0 { w.cwnd } else { w.cwnd.min(self.p.scalable_count * w.mss) };
        w.cwnd += (w.mss * acked / per).min(acked);
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        self.delay.restart();
        self.prior = self.rival;
        let half = HALF * w.cwnd;
        let cut = match self.queued {
            Some(queued) if self.slow_rounds < self.p.rho => (queued * w.mss).min(half).max(share(self.p.delta, w)),
            _ => half,
        };
        self.rival = Rival { reno_count: (HALF * self.rival.reno_count).max(MIN_SEGMENTS), fast_rounds: 0 };
        w.cut(signal, w.cwnd - cut);
    }

    fn on_undo(&mut self, _w: &mut Window, _now: Time) {
        self.delay.restart();
        self.rival = self.prior;
    }
}

/// 2^-power of the window, in bytes.
fn share(power: u32, w: &Window) -> f64 {
    libm::ldexp(w.cwnd, -(power as i32))
}

impl Yeah {
    fn begin_round(&mut self, w: &mut Window, measured: &Measured) {
        let queued = measured.backlog(w, measured.min);
        self.queued = Some(queued);
        let waits = measured.min.ps().saturating_sub(measured.base.ps()) as f64;
        if queued <= self.p.alpha && waits <= measured.base.ps() as f64 / self.p.phy {
            self.slow_rounds = 0;
            self.rival.fast_rounds += 1;
            if self.rival.fast_rounds > self.p.zeta {
                self.rival = Rival { reno_count: MIN_SEGMENTS, fast_rounds: 0 };
            }
            return;
        }
        let rival = self.rival.reno_count * w.mss;
        if queued > self.p.alpha && w.cwnd > rival {
            let cut = (queued * w.mss / self.p.gamma).min(share(self.p.epsilon, w));
            w.cwnd = (w.cwnd - cut).max(rival);
            w.ssthresh = w.cwnd.max(MIN_SEGMENTS * w.mss);
        }
        let first = self.rival.reno_count <= MIN_SEGMENTS;
        let half = (HALF * w.cwnd / w.mss).max(MIN_SEGMENTS);
        self.rival.reno_count = if first { half } else { self.rival.reno_count + 1.0 };
        self.slow_rounds = self.slow_rounds.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack_limited, loss, round, state};
    use crate::{Ack, Controller, Signal, Spec};
    use elephan_units::Time;
    use serde_json::json;

    const S: f64 = MSS as f64;

    fn yeah(segments: f64) -> Controller {
        let mut c = Controller::new(&Spec::named("yeah").unwrap(), MSS, 10 * MSS);
        c.poke("cwnd", segments * S);
        c.poke("ssthresh", segments * S);
        c.poke("base_rtt", 0.1);
        c
    }

    /// `n` round trips of `rtt_s` without growth, judged by the ACK that begins the next.
    fn judge(c: &mut Controller, n: u32, rtt_s: f64) {
        for _ in 0..4 * n {
            let quarter = (c.window() / 4.0) as u64;
            c.on_ack(&Ack { inflight: 4 * quarter, ..ack_limited(0.0, quarter, rtt_s) });
        }
    }

    /// Q above 80 segments, or a queueing delay above an eighth of baseRTT, is slow mode.
    #[test]
    fn queue_and_delay_decide_the_mode() {
        // 400 segments: 12.4 ms are 44 segments in the queue, 12.6 ms too long a delay.
        for (segments, rtt_s, slow) in [
            (400.0, 0.1, 0.0),
            (400.0, 0.1124, 0.0),
            (400.0, 0.1126, 1.0),
            (1000.0, 0.1086, 0.0),
            (1000.0, 0.1088, 1.0),
        ] {
            let mut c = yeah(segments);
            judge(&mut c, 1, rtt_s);
            c.on_ack(&ack_limited(0.0, 2 * segments as u64 * MSS, 0.1));
            assert_eq!(state(&c, "slow_rounds"), slow, "{segments} {rtt_s}");
        }
    }

    /// 1000 segments at 125 ms: Q = 200 leave at once, 800 remain and reno_count is 400; the next round trip has Q = 160.
    #[test]
    fn slow_mode_empties_the_queue_but_not_below_a_reno_flow() {
        let mut c = yeah(1000.0);
        judge(&mut c, 1, 0.125);
        c.on_ack(&ack_limited(0.0, 2000 * MSS, 0.125));
        assert!((c.window() / S - 800.0).abs() < 1e-9 && c.ssthresh() == c.window());
        assert!((state(&c, "queued") - 200.0).abs() < 1e-9 && (state(&c, "reno_count") - 400.0).abs() < 1e-9);
        let mut c = yeah(1000.0);
        c.poke("reno_count", 900.0);
        judge(&mut c, 1, 0.125);
        c.on_ack(&ack_limited(0.0, 2000 * MSS, 0.125));
        assert_eq!((c.window() / S, state(&c, "reno_count")), (900.0, 901.0));
        // At 300 ms two thirds would wait; half is the most that goes.
        let mut c = yeah(1000.0);
        judge(&mut c, 1, 0.3);
        c.on_ack(&ack_limited(0.0, 2000 * MSS, 0.3));
        assert!((c.window() / S - 500.0).abs() < 1e-9);
    }

    /// Fast: 1 per 100 acknowledged, 400 -> 404 a round trip. Slow: one a round trip.
    #[test]
    fn growth_is_scalable_or_reno() {
        for (slow, growth) in [(0.0, 4.0), (1.0, 1.0)] {
            let mut c = yeah(400.0);
            c.poke("slow_rounds", slow);
            round(&mut c, 0.0, 0.1);
            assert!((c.window() / S - 400.0 - growth).abs() < 0.01, "{}", c.window());
        }
        // Below 100 segments: one for each window.
        let mut c = yeah(50.0);
        round(&mut c, 0.0, 0.1);
        assert!((c.window() / S - 51.0).abs() < 0.02);
    }

    /// The cut is Q within [1/8, 1/2] of the window, half after 16 round trips in slow mode or before anything is known.
    #[test]
    fn a_loss_takes_the_queue() {
        for (queued, slow, left) in [(20.0, 0.0, 350.0), (80.0, 0.0, 320.0), (300.0, 15.0, 200.0), (80.0, 16.0, 200.0)]
        {
            let mut c = yeah(400.0);
            c.poke("queued", queued);
            c.poke("slow_rounds", slow);
            c.poke("reno_count", 100.0);
            c.on_congestion(&loss(0.0, 400.0));
            assert_eq!((c.window(), c.ssthresh(), state(&c, "reno_count")), (left * S, left * S, 50.0));
        }
        let mut c = yeah(400.0);
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 400 * MSS });
        assert_eq!((c.window(), c.ssthresh()), (S, 200.0 * S));
    }

    /// The 51st round trip in fast mode forgets the Reno flow.
    #[test]
    fn a_long_time_in_fast_mode_presumes_no_reno_flow() {
        let mut c = yeah(400.0);
        c.poke("reno_count", 100.0);
        judge(&mut c, 51, 0.1);
        assert_eq!(state(&c, "reno_count"), 100.0);
        judge(&mut c, 1, 0.1);
        assert_eq!(state(&c, "reno_count"), 2.0);
    }

    /// Linux `tcp_vegas_cwnd_event, which YeAH has too`: what is sent with nothing in flight begins with a new baseRTT; what is sent beside other data does not,
    /// and `base_restarts = false` keeps it.
    #[test]
    fn silence_forgets_the_base() {
        for (table, inflight, base) in
            [(json!({}), 0, 0.0), (json!({}), MSS, 0.1), (json!({ "base_restarts": false }), 0, 0.1)]
        {
            let spec = Spec::with("yeah", table.as_object().unwrap()).unwrap();
            let mut c = Controller::new(&spec, MSS, 10 * MSS);
            c.poke("base_rtt", 0.1);
            c.on_sent(Time::from_seconds(1.0), MSS, inflight);
            assert_eq!(state(&c, "base_rtt"), base, "{table} {inflight}");
        }
    }
}
