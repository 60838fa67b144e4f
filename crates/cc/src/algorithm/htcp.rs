//! H-TCP (Leith and Shorten 2004, draft-leith-tcp-htcp-06, Linux `tcp_htcp.c`): growth by the time since the last event.
//!
//! Windows in segments, Delta the time since the last congestion event in seconds:
//!
//! ```text
//! f      = 1 while Delta <= Delta_L, else 1 + 10 (Delta - Delta_L) + ((Delta - Delta_L) / 2)^2
//! f      = max(1, f / clamp(0.1 s / RTTmin, 0.5, 10))                              with RTT scaling
//! cwnd  += alpha / cwnd per acknowledged segment, alpha = 2 (1 - beta) f; never faster than slow start
//! event:   beta = clamp(RTTmin / RTTmax, 0.5, 0.8), or 0.5 if B, the largest throughput of the epoch, is not
//!          known to be within 20 % of the last                                        with adaptive backoff
//!          ssthresh = max(beta cwnd, 2), cwnd = ssthresh                           timer: cwnd = 1
//! ```
//!
//! Delta begins at the event and again when recovery is over. The throughput is that of Linux: over at least RTTmin and
//! cwnd - alpha, B = (3 B + sample) / 4, anew until 3 RTTmin after the event. RTTmax takes at most 20 ms more with one
//! sample and forgets 5 % of what it is above RTTmin at each event. Linux's further conditions on adaptive backoff are
//! `mode_switch` and `backoff_rtt_min`. With `beta_ecn` (ABE, RFC 8511) growth goes on by the beta that a loss would have left.
//!
//! Mean window, a loss every 1/p segments, beta 0.5, neither option, R = 0.1 s: 319 at 1e-4, 1694 at 1e-5. Left out:
//! integer f and window of Linux, that Linux takes RTTmax outside recovery only; Delta runs while the application
//! limits the flow, as in Linux.

use super::CongestionControl;
use crate::declare::{LIMIT, loss_based, states};
use crate::registry::Model;
use crate::{Ack, Signal, Traits, Window};
use elephan_units::{InvalidParameter, Span, Time};

loss_based! {
    /// The share of the window that an event leaves; with adaptive backoff the smallest.
    beta: f64 = 0.5, "draft-leith-tcp-htcp-06; Linux tcp_htcp.c BETA_MIN" (min = 0, max = 1);
    /// The largest share that adaptive backoff leaves.
    beta_max: f64 = 0.8, "draft-leith-tcp-htcp-06; Linux tcp_htcp.c BETA_MAX is 102/128" (min = 0, max = 1);
    /// Leave RTTmin / RTTmax of the window, so that the queue just empties.
    adaptive_backoff: bool = true, "draft-leith-tcp-htcp-06; Linux use_bandwidth_switch = 1; FreeBSD cc_htcp off";
    /// Change of the throughput from epoch to epoch beyond which adaptive backoff leaves `beta`, as a share.
    throughput_change: f64 = 0.2, "draft-leith-tcp-htcp-06; Linux htcp_beta_update" (min = 0);
    /// The first event after the throughput changed leaves `beta` too.
    mode_switch: bool = false, "Linux tcp_htcp.c modeswitch; not in the draft";
    /// RTTmin up to which adaptive backoff leaves `beta`.
    backoff_rtt_min: Span = Span::ZERO, "Linux htcp_beta_update, 10 ms; not in the draft";
    /// Growth in proportion to RTTmin, so that long paths are not slower.
    rtt_scaling: bool = true, "draft-leith-tcp-htcp-06 (optional); Linux use_rtt_scaling = 1; FreeBSD cc_htcp off";
    /// Delta_L: time after an event in which the congestion control is Reno's.
    delta_l: Span = Span::from_s(1), "draft-leith-tcp-htcp-06";
    /// Growth of f beyond Delta_L per second.
    f_linear: f64 = 10.0, "draft-leith-tcp-htcp-06; Linux htcp_alpha_update" [min = 0];
    /// Growth of f beyond Delta_L per second squared.
    f_square: f64 = 0.25, "draft-leith-tcp-htcp-06; Linux htcp_alpha_update" [min = 0];
    /// RTTmin that is not scaled, with `rtt_scaling`.
    scale_rtt: Span = Span::from_ms(100), "draft-leith-tcp-htcp-06; Linux htcp_alpha_update";
    /// The smallest scale: that of long paths.
    scale_min: f64 = 0.5, "Linux htcp_alpha_update" (min = 0);
    /// The largest scale: that of short paths.
    scale_max: f64 = 10.0, "Linux htcp_alpha_update" (min = 0);
    /// Most that one sample may add to RTTmax.
    rtt_max_step: Span = Span::from_ms(20), "Linux tcp_htcp.c measure_rtt";
    /// What an event leaves of RTTmax - RTTmin.
    rtt_max_kept: f64 = 0.95, "Linux htcp_param_update" [min = 0, max = 1];
    /// Round trips after an event in which the throughput is taken anew.
    fresh_rounds: f64 = 3.0, "Linux measure_achieved_throughput" [min = 0];
}

/// What an undone event restores. Rates in byte/s.
#[derive(Clone, Copy, Debug, Default)]
struct Epoch {
    delta: Span,
    /// Recovery is over.
    open: bool,
    beta: f64,
    rtt_max_s: f64,
    rate: f64,
    rate_max: f64,
    /// `rate_max` of the epoch before.
    rate_before: f64,
    /// An event has been seen since the throughput changed.
    switched: bool,
}

#[derive(Clone, Debug)]
pub struct Htcp {
    p: Parameters,
    epoch: Epoch,
    prior: Epoch,
    /// The event before which `prior` was.
    prior_until: Time,
    alpha: f64,
    /// Zero before the first sample.
    rtt_min_s: f64,
    /// Up to when Delta has run.
    seen: Time,
    /// Beginning of the throughput's sample, and the bytes delivered then.
    sample_from: (Time, u64),
}

impl Model for Htcp {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["linux", "freebsd"];

    fn new(p: &Parameters) -> Htcp {
        let epoch = Epoch { open: true, beta: p.beta, ..Epoch::default() };
        Htcp {
            p: p.clone(),
            epoch,
            prior: epoch,
            prior_until: Time::ZERO,
            alpha: 1.0,
            rtt_min_s: 0.0,
            seen: Time::NEVER,
            sample_from: (Time::ZERO, 0),
        }
    }

    fn preset(name: &str) -> Parameters {
        match name {
            "linux" => Parameters {
                beta_max: 102.0 / 128.0,
                mode_switch: true,
                backoff_rtt_min: Span::from_ms(10),
                ..Parameters::default()
            },
            _ => Parameters { adaptive_backoff: false, rtt_scaling: false, ..Parameters::default() },
        }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        InvalidParameter::within("scale_max", p.scale_max, p.scale_min, LIMIT)?;
        InvalidParameter::within("beta_max", p.beta_max, p.beta, 1.0)
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { counts_segments: true, ..Traits::default() }
    }
}

states! {
    Htcp, cc, value;
    "alpha" ["segments"] "growth in a round trip": cc.alpha, value >= 0.0 => cc.alpha = value;
    "beta" ["1"] "share of the window that the last event left":
        cc.epoch.beta, (0.0..=1.0).contains(&value) => cc.epoch.beta = value;
    "delta" ["s"] "time since the last event (Delta)":
        cc.epoch.delta.seconds(), value >= 0.0 => cc.epoch.delta = Span::from_seconds(value);
    "rtt_min" ["s"] "smallest round-trip time": cc.rtt_min_s, value >= 0.0 => cc.rtt_min_s = value;
    "rtt_max" ["s"] "largest round-trip time, forgotten slowly":
        cc.epoch.rtt_max_s, value >= 0.0 => cc.epoch.rtt_max_s = value;
    "rate_max" ["B/s"] "largest throughput since the last event (B)":
        cc.epoch.rate_max, value >= 0.0 => cc.epoch.rate_max = value;
}

impl CongestionControl for Htcp {
    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        self.run_to(ack.now);
        if let Some(rtt) = ack.rtt {
            self.sample_rtt(rtt.seconds());
        }
        if !self.epoch.open {
            self.sample_from = (ack.now, ack.delivered);
        } else if self.p.adaptive_backoff {
            self.sample_rate(w, ack);
        }
    }

    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if !self.epoch.open {
            self.on_recovered(w);
        }
        if ack.app_limited {
            return;
        }
        self.alpha = 2.0 * (1.0 - self.epoch.beta) * self.f();
        w.cwnd += w.per_round(self.alpha * w.mss, ack.acked).min(ack.acked as f64);
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        self.run_to(signal.now());
        (self.prior, self.prior_until) = (self.epoch, signal.now());
        let beta = if self.p.adaptive_backoff { self.backoff() } else { self.p.beta };
        let epoch = &mut self.epoch;
        epoch.beta = beta;
        epoch.rtt_max_s = self.rtt_min_s + self.p.rtt_max_kept * (epoch.rtt_max_s - self.rtt_min_s);
        (epoch.delta, epoch.open) = (Span::ZERO, false);
        w.cut(signal, beta * w.cwnd);
    }

    fn on_recovered(&mut self, _w: &mut Window) {
        (self.epoch.open, self.epoch.delta) = (true, Span::ZERO);
    }

    fn on_undo(&mut self, _w: &mut Window, now: Time) {
        self.run_to(now);
        self.epoch = self.prior;
        self.epoch.delta = self.epoch.delta.saturating_add(now.since(self.prior_until));
    }
}

impl Htcp {
    fn run_to(&mut self, now: Time) {
        self.epoch.delta = self.epoch.delta.saturating_add(now.since(self.seen));
        self.seen = now;
    }

    fn sample_rtt(&mut self, rtt_s: f64) {
        if self.rtt_min_s == 0.0 || rtt_s < self.rtt_min_s {
            self.rtt_min_s = rtt_s;
        }
        let max = self.epoch.rtt_max_s.max(self.rtt_min_s);
        self.epoch.rtt_max_s = if rtt_s <= max + self.p.rtt_max_step.seconds() { max.max(rtt_s) } else { max };
    }

    fn sample_rate(&mut self, w: &Window, ack: &Ack) {
        let bytes = ack.delivered.saturating_sub(self.sample_from.1) as f64;
        let span_s = ack.now.since(self.sample_from.0).seconds();
        if bytes < w.cwnd - self.alpha * w.mss || span_s < self.rtt_min_s || span_s == 0.0 {
            return;
        }
        self.sample_from = (ack.now, ack.delivered);
        let (sample, epoch) = (bytes / span_s, &mut self.epoch);
        // Linux counts whole round trips.
        if epoch.delta.seconds() < (self.p.fresh_rounds + 1.0) * self.rtt_min_s {
            (epoch.rate, epoch.rate_max) = (sample, sample);
        } else {
            epoch.rate = 0.75 * epoch.rate + 0.25 * sample;
            epoch.rate_max = epoch.rate_max.max(epoch.rate);
        }
    }

    /// The share that adaptive backoff leaves.
    fn backoff(&mut self) -> f64 {
        let (p, epoch) = (&self.p, &mut self.epoch);
        let before = std::mem::replace(&mut epoch.rate_before, epoch.rate_max);
        let steady = before > 0.0 && (epoch.rate_max - before).abs() <= p.throughput_change * before;
        if !steady {
            epoch.switched = false;
            return p.beta;
        }
        let measured = epoch.rtt_max_s > 0.0 && self.rtt_min_s > p.backoff_rtt_min.seconds();
        if !measured || (p.mode_switch && !epoch.switched) {
            epoch.switched = true;
            return p.beta;
        }
        (self.rtt_min_s / epoch.rtt_max_s).clamp(p.beta, p.beta_max)
    }

    fn f(&self) -> f64 {
        let p = &self.p;
        let beyond = (self.epoch.delta.seconds() - p.delta_l.seconds()).max(0.0);
        let f = 1.0 + p.f_linear * beyond + p.f_square * beyond * beyond;
        if !p.rtt_scaling || self.rtt_min_s == 0.0 {
            return f;
        }
        (f / (p.scale_rtt.seconds() / self.rtt_min_s).clamp(p.scale_min, p.scale_max)).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{self, MSS, ack, ack_limited, loss, state};
    use crate::{Ack, Controller, Signal, Spec};
    use elephan_units::Time;
    use serde_json::{Value, json};

    const S: f64 = MSS as f64;

    fn spec(table: Value) -> Spec {
        Spec::with("htcp", table.as_object().unwrap()).unwrap()
    }

    /// After an event at time zero that left a window of 100 segments; the first ACK is at time zero as well.
    fn after_loss(table: Value, rtt_s: f64) -> Controller {
        let mut c = Controller::new(&spec(table), MSS, 10 * MSS);
        c.poke("cwnd", 200.0 * S);
        c.on_congestion(&loss(0.0, 200.0));
        assert_eq!((c.window(), c.ssthresh()), (100.0 * S, 100.0 * S));
        c.on_ack(&ack_limited(0.0, MSS, rtt_s));
        c
    }

    /// tcp.md 1.6: f(2 s) = 11.25, 1 up to Delta_L; alpha = 2 (1 - beta) f: 0.41 at beta 0.797.
    #[test]
    fn growth_follows_the_time_since_the_event() {
        for (now_s, beta, alpha) in [(0.5, 0.5, 1.0), (1.0, 0.5, 1.0), (2.0, 0.5, 11.25), (3.0, 0.5, 22.0)] {
            let mut c = after_loss(json!({ "preset": "freebsd" }), 0.1);
            c.poke("beta", beta);
            c.on_ack(&ack(now_s, MSS, 0.1));
            assert!((c.window() - (100.0 + alpha / 100.0) * S).abs() < 1e-6, "{now_s}: {}", c.window());
        }
        // Delta - Delta_L = 2 s: 1 + 2 * 2 + 3 * 4.
        let mut c = after_loss(json!({ "preset": "freebsd", "f_linear": 2, "f_square": 3 }), 0.1);
        c.on_ack(&ack(3.0, MSS, 0.1));
        assert!((state(&c, "alpha") - 17.0).abs() < 1e-9);
        let mut c = after_loss(json!({ "preset": "freebsd" }), 0.1);
        c.poke("beta", 0.797);
        c.on_ack(&ack(0.5, MSS, 0.1));
        assert!((state(&c, "alpha") - 0.406).abs() < 1e-9);
    }

    /// tcp.md 1.6: at 200 ms f doubles, at 10 ms it is a tenth, but at least one.
    #[test]
    fn rtt_scaling_gives_every_path_the_same_growth_in_time() {
        for (rtt_s, now_s, alpha) in [(0.1, 2.0, 11.25), (0.2, 2.0, 22.5), (0.01, 2.0, 1.125), (0.01, 1.5, 1.0)] {
            let mut c = after_loss(json!({}), rtt_s);
            c.on_ack(&ack(now_s, MSS, rtt_s));
            assert!((state(&c, "alpha") - alpha).abs() < 1e-9, "{rtt_s}: {}", state(&c, "alpha"));
        }
    }

    #[test]
    fn it_never_grows_faster_than_slow_start_and_not_when_limited() {
        let mut c = after_loss(json!({}), 0.1);
        c.on_ack(&ack_limited(1e5, MSS, 0.1));
        assert_eq!(c.window(), 100.0 * S);
        c.on_ack(&ack(1e5, MSS, 0.1));
        assert_eq!(c.window(), 101.0 * S);
    }

    /// Epochs of 100 segments a round trip of `rtt_s` until the queue has added `queue_s`: the share that each event left.
    fn shares(table: Value, rates: &[f64], rtt_s: f64, queue_s: f64) -> Vec<f64> {
        let mut c = Controller::new(&spec(table), MSS, 10 * MSS);
        let (mut now, mut delivered) = (0.0, 0.0);
        let mut out = Vec::new();
        for rate in rates {
            for n in 0..1000 {
                (now, delivered) = (now + 0.01, delivered + 0.01 * rate);
                c.poke("cwnd", 100.0 * S);
                let delay = ack(now, MSS, rtt_s + queue_s * f64::from(n) / 999.0);
                c.on_ack(&Ack { delivered: delivered as u64, app_limited: true, ..delay });
            }
            c.on_congestion(&loss(now, 100.0));
            out.push((1e4 * c.window() / (100.0 * S)).round() / 1e4);
        }
        out
    }

    /// tcp.md 1.6: RTTmin / RTTmax within [0.5, 0.8] while the throughput stays within 20 %, else 0.5. RTTmax falls by 5 %
    /// of what it is above RTTmin at each event and is found again in each epoch here.
    #[test]
    fn adaptive_backoff_empties_the_queue() {
        let steady = [1e6, 1e6, 1.1e6, 1.4e6, 1.4e6, 1.4e6];
        assert_eq!(shares(json!({}), &steady, 0.06, 0.02), [0.5, 0.75, 0.75, 0.5, 0.75, 0.75]);
        assert_eq!(shares(json!({}), &steady[..2], 0.06, 0.002), [0.5, 0.8]);
        assert_eq!(shares(json!({}), &steady[..2], 0.02, 0.04), [0.5, 0.5]);
        assert_eq!(shares(json!({ "adaptive_backoff": false }), &steady[..2], 0.06, 0.02), [0.5, 0.5]);
    }

    /// Linux: one event more at 0.5 after a change, at most 102/128, and 0.5 up to 10 ms.
    #[test]
    fn linux_has_further_conditions() {
        let linux = || json!({ "preset": "linux" });
        let steady = [1e6, 1e6, 1e6, 1.4e6, 1.4e6, 1.4e6];
        assert_eq!(shares(linux(), &steady, 0.06, 0.02), [0.5, 0.5, 0.75, 0.5, 0.5, 0.75]);
        assert_eq!(shares(linux(), &steady[..3], 0.06, 0.002), [0.5, 0.5, 0.7969]);
        assert_eq!(shares(linux(), &steady[..3], 0.009, 0.003), [0.5, 0.5, 0.5]);
    }

    /// A sample of 20 ms more is believed, one of 21 ms more is not; an event leaves 95 % of the difference.
    #[test]
    fn the_largest_round_trip_is_believed_in_steps() {
        let mut c = Controller::new(&spec(json!({})), MSS, 10 * MSS);
        for rtt_s in [0.1, 0.121, 0.12] {
            c.on_ack(&ack_limited(0.0, MSS, rtt_s));
        }
        assert_eq!((state(&c, "rtt_min"), state(&c, "rtt_max")), (0.1, 0.12));
        c.on_congestion(&loss(0.0, 10.0));
        assert!((state(&c, "rtt_max") - 0.119).abs() < 1e-12);
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_an_undone_one_the_time_that_ran() {
        let mut c = after_loss(json!({}), 0.1);
        c.on_ack(&ack_limited(2.0, MSS, 0.1));
        c.on_congestion(&Signal::Rto { now: Time::from_seconds(2.5), inflight: 100 * MSS });
        assert_eq!((c.window(), c.ssthresh(), state(&c, "delta")), (S, 50.0 * S, 0.0));
        c.on_congestion(&Signal::Undo { now: Time::from_seconds(3.0) });
        assert_eq!((c.window(), c.ssthresh(), state(&c, "delta")), (100.0 * S, 100.0 * S, 3.0));
    }

    /// tcp.md 1.6, deterministic loss, beta 0.5, no scaling, no adaptive backoff.
    #[test]
    fn the_response_function_depends_on_the_round_trip() {
        let plain = spec(json!({ "preset": "freebsd" }));
        for (period, rtt_s, expected) in
            [(10_000, 0.1, 319.0), (100_000, 0.1, 1694.0), (10_000, 0.01, 122.0), (100_000, 0.01, 574.0)]
        {
            let mean = testing::mean_window(&plain, period, rtt_s, 1.5 * expected, 5);
            assert!((mean / expected - 1.0).abs() < 0.1, "{mean} is not {expected}");
        }
    }
}
