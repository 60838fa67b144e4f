//! What the tests of several models share.

pub mod pipe;

use crate::{Ack, Controller, Signal, Spec};
use elephan_units::{Span, Time};

pub const MSS: u64 = 1000;

pub fn ack(now_s: f64, acked: u64, rtt_s: f64) -> Ack {
    Ack {
        now: Time::from_seconds(now_s),
        acked,
        rtt: Some(Span::from_seconds(rtt_s)),
        inflight: acked,
        ..Ack::default()
    }
}

pub fn ack_limited(now_s: f64, acked: u64, rtt_s: f64) -> Ack {
    Ack { app_limited: true, ..ack(now_s, acked, rtt_s) }
}

pub fn loss(now_s: f64, inflight_segments: f64) -> Signal {
    let inflight = (inflight_segments * MSS as f64) as u64;
    Signal::Loss { now: Time::from_seconds(now_s), lost: MSS, inflight }
}

/// The internal called `name`.
pub fn state(c: &Controller, name: &str) -> f64 {
    c.observe().into_iter().find(|(n, _)| *n == name).map(|(_, value)| value).unwrap()
}

/// One round trip of `rtt_s`: a window of segments, acknowledged one by one. Returns when it ends.
pub fn round(c: &mut Controller, now_s: f64, rtt_s: f64) -> f64 {
    let window = (c.window() / MSS as f64) as u64;
    for n in 0..window {
        let now_s = now_s + rtt_s * n as f64 / window as f64;
        c.on_ack(&Ack { inflight: window * MSS, ..ack(now_s, MSS, rtt_s) });
    }
    now_s + rtt_s
}

/// Time mean of the window in segments when every `period`-th segment is lost, recovery takes no time and a segment is
/// acknowledged at a time: over 20 periods, after `discarded` ones that begin with a loss at `start` segments.
pub fn mean_window(spec: &Spec, period: u32, rtt_s: f64, start: f64, discarded: u32) -> f64 {
    const MEASURED: u32 = 20;
    let mut c = Controller::new(spec, MSS, 10 * MSS);
    c.poke("cwnd", start * MSS as f64);
    let (mut now, mut measured_s) = (0.0, 0.0);
    for n in 0..discarded + MEASURED {
        c.on_congestion(&loss(now, c.window() / MSS as f64));
        let start = now;
        for _ in 0..period {
            c.on_ack(&ack(now, MSS, rtt_s));
            now += rtt_s * MSS as f64 / c.window();
        }
        measured_s += if n >= discarded { now - start } else { 0.0 };
    }
    f64::from(MEASURED) * f64::from(period) * rtt_s / measured_s
}
