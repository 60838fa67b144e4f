//! HPCC (Li et al., SIGCOMM 2019): the window follows the load of the most loaded link, which packets bring back.
//!
//! The ports of switches write into each packet as it leaves what they have sent, what waits, when, and their rate (in-band
//! network telemetry); ACKs bring it back. With T the base round-trip time, B a link's rate, and differences to the last ACK:
//!
//! ```text
//! u = min(qlen, qlen before) / (B T) + (change of txBytes / change of ts) / B        for each link; the largest is taken,
//! tau = min(its change of ts, T),    U = (1 - tau / T) U + tau / T u
//! U >= eta or stage >= max_stage:    W = Wc eta / U + W_AI      else    W = Wc + W_AI
//! once a round trip (an ACK of what was sent after the last time):    Wc = W, stage = 0 after the first rule, + 1 after the other
//! rate = W / T,    W_AI = W_init (1 - eta) / N,    W_init = B_nic T
//! ```
//!
//! A flow begins with W_init, the line rate. W stays between a packet and W_init. A link whose clock has not moved since the last
//! ACK says nothing; an ACK whose path is another than before only sets what the next is compared with.
//!
//! The paper puts T and N at one value for a whole network. Here T is the flow's own base round-trip time unless `base_rtt` is
//! given. U begins with 1 \[assumed]: what a start at the line rate makes of a link.
//!
//! Presets: `paper` (the default) and `simulator`, whose `max_stage` is 0 as in the run script of the authors' simulator, so that every
//! window follows U, and whose W_AI is 4e-4 of the line, its 10 Mb/s for 25 Gb/s.
//!
//! Left out: the header's short counters (sizes and clocks here are whole), what losses do.

use elephan_units::Span;

use super::{CongestionControl, Pacing, Rdma, Routers};
use crate::declare::{parameters, states};
use crate::rdma::{Hop, Progress, Telemetry};
use crate::registry::Model;
use crate::{Needs, Nic, Traits, Window};

/// Until a port tells them: rate and base round-trip time of the paper's network.
const LINE_BPS: f64 = 100e9;
const BASE_RTT: Span = Span::from_us(13);

parameters! {
    /// Utilisation that is aimed at.
    eta: f64 = 0.95, "Li et al. 2019" (min = 0, max = 1);
    /// Round trips of additive increase before the next adjustment by U.
    max_stage: u32 = 5, "Li et al. 2019: 5; run script of the authors' simulator: 0" [min = 0, max = 1000];
    /// Flows that additive increase expects to share a link (N).
    flows: f64 = 100.0, "Li et al. 2019: W_AI of 80 B at 100 Gb/s and 13 us" [min = 1];
    /// Base round-trip time (T); 0 s: that of the flow.
    base_rtt: Span = Span::ZERO, "assumption: the paper has one for a whole network";
}

#[derive(Clone, Debug)]
pub struct Hpcc {
    p: Parameters,
    line: f64,
    rtt: Span,
    /// Wc in bytes.
    reference: f64,
    load: f64,
    stage: u32,
    /// Bytes of the stream that had been sent when Wc was set last.
    sent: u64,
    last: Telemetry,
}

impl Model for Hpcc {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["paper", "simulator"];
    const NEEDS: Needs = Needs::TELEMETRY;

    fn preset(name: &str) -> Parameters {
        let (max_stage, flows) = if name == "simulator" { (0, 125.0) } else { (5, 100.0) };
        Parameters { max_stage, flows, ..Parameters::default() }
    }

    fn new(p: &Parameters) -> Hpcc {
        let rtt = if p.base_rtt == Span::ZERO { BASE_RTT } else { p.base_rtt };
        let reference = LINE_BPS / 8.0 * rtt.seconds();
        let last = Telemetry::default();
        Hpcc { p: p.clone(), line: LINE_BPS, rtt, reference, load: 1.0, stage: 0, sent: 0, last }
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { sets_its_window: true, ..Traits::rdma() }
    }
}

states! {
    Hpcc, cc, value;
    "reference" ["B"] "window that changes count from (Wc)": cc.reference, value > 0.0 => cc.reference = value;
    "load" ["1"] "load of the most loaded link (U)": cc.load, value >= 0.0 => cc.load = value;
    "stage" ["1"] "round trips of additive increase since the last adjustment":
        f64::from(cc.stage), (0.0..1e9).contains(&value) => cc.stage = value as u32;
    "line" ["bit/s"] "rate of the sender's port": cc.line, value > 0.0 => cc.line = value;
    "base_rtt" ["s"] "base round-trip time (T)":
        cc.rtt.seconds(), value > 0.0 => cc.rtt = Span::from_seconds(value).max(Span(1));
}

/// Load of a link between two packets, in units of 1, and the time between them; none if no time has passed.
fn load(before: &Hop, after: &Hop, rtt_s: f64) -> Option<(f64, f64)> {
    let tau = after.at.since(before.at).seconds();
    let waits = before.queue_bytes.min(after.queue_bytes) as f64;
    let sent = after.tx_bytes.saturating_sub(before.tx_bytes) as f64;
    (tau > 0.0).then(|| ((waits / rtt_s + sent / tau) * 8.0 / after.rate_bps, tau))
}

impl Hpcc {
    /// W_init.
    fn most(&self, w: &Window) -> f64 {
        (self.line / 8.0 * self.rtt.seconds()).max(w.mss)
    }

    /// U with what `now` says beside the last; answers whether the two are of the same path.
    fn measure(&mut self, now: &Telemetry) -> bool {
        let before = std::mem::replace(&mut self.last, *now);
        if before.hops().is_empty() || !before.hops().iter().map(|h| h.port).eq(now.hops().iter().map(|h| h.port)) {
            return false;
        }
        let rtt = self.rtt.seconds();
        let loads = before.hops().iter().zip(now.hops()).filter_map(|(b, a)| load(b, a, rtt));
        if let Some((u, tau)) = loads.max_by(|a, b| a.0.total_cmp(&b.0)) {
            let weight = tau.min(rtt) / rtt;
            self.load += weight * (u - self.load);
        }
        true
    }
}

impl CongestionControl for Hpcc {
    fn on_establish(&mut self, w: &mut Window) {
        (w.cwnd, self.reference) = (self.most(w), self.most(w));
    }

    fn grows_by_ack(&self) -> bool {
        false
    }
}

impl Pacing for Hpcc {
    fn pacing_rate(&self, w: &Window) -> Option<f64> {
        Some((w.cwnd * 8.0 / self.rtt.seconds()).min(self.line))
    }
}

impl Routers for Hpcc {
    fn on_telemetry(&mut self, w: &mut Window, telemetry: &Telemetry, progress: Progress) {
        if !self.measure(telemetry) {
            return;
        }
        let most = self.most(w);
        let step = most * (1.0 - self.p.eta) / self.p.flows;
        let adjusts = self.load >= self.p.eta || self.stage >= self.p.max_stage;
        // A load of nothing lets the window open as far as it may.
        let window = if adjusts { self.reference * self.p.eta / self.load.max(1e-9) } else { self.reference } + step;
        w.cwnd = window.max(w.mss).min(most);
        if progress.acked > self.sent {
            self.sent = progress.sent;
            self.reference = w.cwnd;
            self.stage = if adjusts { 0 } else { self.stage + 1 };
        }
    }
}

impl Rdma for Hpcc {
    fn on_nic(&mut self, w: &mut Window, nic: &Nic) {
        self.line = nic.rate_bps;
        self.rtt = if self.p.base_rtt == Span::ZERO { nic.base_rtt.max(Span(1)) } else { self.rtt };
        self.on_establish(w);
    }
}

#[cfg(test)]
mod tests {
    use crate::rdma::{Hop, Progress, Telemetry};
    use crate::testing::{MSS, state};
    use crate::{Controller, Nic, Question, Spec};
    use elephan_units::{Span, Time};
    use serde_json::json;

    /// 100 Gb/s and 8 us: W_init is 100 000 B. W_AI = 100 000 * 0.05 / 10 = 500 B.
    fn hpcc() -> Controller {
        let table = json!({ "flows": 10 });
        let mut c = Controller::new(&Spec::with("hpcc", table.as_object().unwrap()).unwrap(), MSS, 10 * MSS);
        c.on_nic(&Nic { rate_bps: 100e9, base_rtt: Span::from_us(8) });
        c
    }

    /// One link of 100 Gb/s: bytes sent and waiting at a time in us.
    fn link(us: f64, tx_bytes: u64, queue_bytes: u64) -> Telemetry {
        let mut t = Telemetry::default();
        t.push(Hop { port: 0, tx_bytes, queue_bytes, at: Time::from_seconds(us * 1e-6), rate_bps: 100e9 });
        t
    }

    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-9, "{value} is not {expected}");
    }

    fn progress(acked: u64, sent: u64) -> Progress {
        Progress { acked, sent }
    }

    /// In 4 us the link has sent 50 000 B, all it can: 1; 25 000 B waited at least: 0.25. u = 1.25, tau / T = 1/2, U = 0.625: below
    /// 0.95, so W grows by 500 B but not beyond W_init. Again: U = 0.9375. Again: U = 1.09375, W = 100 000 * 0.95 / 1.09375 + 500.
    #[test]
    fn the_load_of_a_link() {
        let mut c = hpcc();
        c.poke("load", 0.0);
        assert_eq!((c.asks_routers(), c.window(), c.pacing_rate()), (Some(Question::Telemetry), 1e5, Some(100e9)));
        c.on_telemetry(&link(0.0, 0, 25_000), progress(1000, 100_000));
        assert_eq!((c.window(), state(&c, "load")), (1e5, 0.0));
        c.on_telemetry(&link(4.0, 50_000, 40_000), progress(2000, 100_000));
        near(state(&c, "load"), 0.625);
        assert_eq!((c.window(), state(&c, "stage")), (1e5, 1.0));
        c.on_telemetry(&link(8.0, 100_000, 25_000), progress(3000, 103_000));
        near(state(&c, "load"), 0.9375);
        assert_eq!(state(&c, "stage"), 1.0);
        c.on_telemetry(&link(12.0, 150_000, 25_000), progress(4000, 104_000));
        near(state(&c, "load"), 1.093_75);
        near(c.window(), 1e5 * 0.95 / 1.093_75 + 500.0);
        near(c.pacing_rate().unwrap(), c.window() * 1e6);
        // Wc is still 100 000: no round trip is over. With the first byte sent after the last time it is.
        assert_eq!(state(&c, "reference"), 1e5);
        c.on_telemetry(&link(20.0, 250_000, 0), progress(100_001, 200_000));
        near(c.window(), 1e5 * 0.95 + 500.0);
        assert_eq!((state(&c, "reference"), state(&c, "stage")), (c.window(), 0.0));
    }

    /// Half a link's load: the authors' simulator goes by U at once, 40 000 * 0.95 / 0.5 and W_AI of 40 B,
    /// 4e-4 of 100 000.
    #[test]
    fn the_simulator_has_no_additive_stages() {
        let table = json!({ "preset": "simulator" });
        let mut c = Controller::new(&Spec::with("hpcc", table.as_object().unwrap()).unwrap(), MSS, 10 * MSS);
        c.on_nic(&Nic { rate_bps: 100e9, base_rtt: Span::from_us(8) });
        c.poke("load", 0.5);
        c.poke("reference", 40_000.0);
        c.on_telemetry(&link(0.0, 0, 0), progress(1, 5));
        c.on_telemetry(&link(8.0, 50_000, 0), progress(2, 5));
        near(c.window(), 76_040.0);
    }

    /// Half a link's load: five round trips of 500 B, then Wc eta / U = 42 500 * 1.9.
    #[test]
    fn additive_stages_end() {
        let mut c = hpcc();
        c.poke("load", 0.0);
        c.poke("cwnd", 40_000.0);
        c.poke("reference", 40_000.0);
        for n in 0..=5u64 {
            c.on_telemetry(&link(8.0 * n as f64, 50_000 * n, 0), progress(10 * n + 1, 10 * n + 5));
            near(c.window(), 40_000.0 + 500.0 * n as f64);
        }
        assert_eq!(state(&c, "stage"), 5.0);
        c.on_telemetry(&link(48.0, 300_000, 0), progress(100, 105));
        near(c.window(), 42_500.0 * 0.95 / 0.5 + 500.0);
    }

    /// The most loaded of two links decides; another path only begins anew and moves no window.
    #[test]
    fn the_most_loaded_link() {
        let mut c = hpcc();
        c.poke("load", 0.0);
        let two = |us: f64, a: u64, b: u64| {
            let mut t = link(us, a, 0);
            t.push(link(us, b, 0).hops()[0]);
            t
        };
        c.on_telemetry(&two(0.0, 0, 0), progress(1, 2));
        c.on_telemetry(&two(8.0, 20_000, 70_000), progress(1, 2));
        near(state(&c, "load"), 0.7);
        let before = (c.window(), state(&c, "reference"), state(&c, "stage"));
        c.on_telemetry(&link(16.0, 1_000_000, 0), progress(1000, 2000));
        near(state(&c, "load"), 0.7);
        assert_eq!((c.window(), state(&c, "reference"), state(&c, "stage")), before);
    }
}
