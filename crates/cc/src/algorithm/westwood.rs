//! Westwood+ (Grieco and Mascolo 2004; Linux `tcp_westwood.c`): after a loss the window is what the path has delivered.
//!
//! ```text
//! growth:   as Reno, cwnd += SMSS * acked / cwnd
//! sample:   b_k = bytes delivered / time, over max(RTT, 50 ms) or more
//! estimate: BWE = 7/8 BWE + 1/8 b_k; the first sample is taken whole      (Linux: this filter twice in series)
//! event:    ssthresh = max(BWE * RTTmin, 2 SMSS), cwnd = ssthresh      timer: cwnd = 1 SMSS
//! ```
//!
//! An event before the first sample halves, as Reno (`beta`). The pseudocode of Westwood+ (2004) sets the window to a threshold above
//! it, as Linux does at the end of recovery; with `raises = false` slow start follows instead, as in Westwood of 2001
//! (cwnd = min(cwnd, ssthresh)). Left out: Linux takes the threshold again at the end of recovery and RTTmin anew after a timeout.

use super::CongestionControl;
use crate::declare::{loss_based, states};
use crate::registry::Model;
use crate::{Ack, Signal, Traits, Window};
use elephan_units::{Span, Time};

loss_based! {
    /// Shortest time that a sample of the bandwidth takes.
    sample_min: Span = Span::from_ms(50), "Linux tcp_westwood.c TCP_WESTWOOD_RTT_MIN";
    /// The weight of a new sample in the estimate.
    gain: f64 = 0.125, "Grieco and Mascolo 2004; Linux westwood_do_filter" (min = 0, max = 1);
    /// The share of the window that an event leaves before the first sample.
    beta: f64 = 0.5, "RFC 5681 equation 4" (min = 0, max = 1);
    /// Filter the filtered samples once more.
    filter_twice: bool = false, "Linux westwood_filter; Grieco and Mascolo 2004: no";
    /// An event other than a timeout raises a window that is below the threshold to it.
    raises: bool = true, "Grieco and Mascolo 2004: cwnd = ssthresh; Linux tcp_westwood_event; Mascolo et al. 2001 (Westwood): no";
}

#[derive(Clone, Debug)]
pub struct Westwood {
    p: Parameters,
    /// Samples filtered once, and the estimate, in byte/s; zero before the first sample.
    once: f64,
    bandwidth: f64,
    rtt_min: Option<Span>,
    /// Beginning of the running sample and the bytes delivered then.
    from: Option<(Time, u64)>,
}

impl Model for Westwood {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["paper", "linux"];

    fn new(p: &Parameters) -> Westwood {
        Westwood { p: p.clone(), once: 0.0, bandwidth: 0.0, rtt_min: None, from: None }
    }

    fn preset(name: &str) -> Parameters {
        Parameters { filter_twice: name == "linux", ..Parameters::default() }
    }

    fn traits(p: &Parameters) -> Traits {
        Traits { cuts_by_rate: true, raises_on_events: p.raises, counts_segments: true, ..Traits::default() }
    }
}

states! {
    Westwood, cc, value;
    "bandwidth" ["B/s"] "estimate of the bandwidth (BWE)":
        cc.bandwidth, value >= 0.0 => (cc.once, cc.bandwidth) = (value, value);
    "rtt_min" ["s"] "smallest round-trip time":
        cc.rtt_min.unwrap_or(Span::ZERO).seconds(), value > 0.0 => cc.rtt_min = Some(Span::from_seconds(value));
}

impl CongestionControl for Westwood {
    fn on_delivery(&mut self, _w: &mut Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |min| min.min(rtt)));
        }
        let (since, delivered) = *self.from.get_or_insert((ack.now, ack.delivered));
        let Some(rtt) = ack.srtt.or(ack.rtt).or(self.rtt_min) else { return };
        let span = ack.now.since(since);
        if span < rtt.max(self.p.sample_min) || span == Span::ZERO {
            return;
        }
        self.sample(ack.delivered.saturating_sub(delivered) as f64 / span.seconds());
        self.from = Some((ack.now, ack.delivered));
    }

    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        w.grow(w.mss, ack);
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        let path = match self.rtt_min {
            Some(rtt) if self.bandwidth > 0.0 => self.bandwidth * rtt.seconds(),
            _ => self.p.beta * w.cwnd,
        };
        let most = if self.p.raises { f64::INFINITY } else { w.cwnd };
        w.cut(signal, path);
        w.cwnd = w.cwnd.min(most);
    }
}

impl Westwood {
    fn sample(&mut self, rate: f64) {
        if self.bandwidth == 0.0 {
            (self.once, self.bandwidth) = (rate, rate);
            return;
        }
        self.once += self.p.gain * (rate - self.once);
        let next =
            if self.p.filter_twice { self.bandwidth + self.p.gain * (self.once - self.bandwidth) } else { self.once };
        self.bandwidth = next;
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack, ack_limited, loss, state};
    use crate::{Ack, Controller, Signal, Spec};
    use elephan_units::Time;
    use serde_json::json;

    const S: f64 = MSS as f64;

    /// In congestion avoidance at 40 segments after ACKs of one segment each `gap_ms`, with a round trip of 100 ms.
    fn westwood(preset: &str, gaps_ms: &[f64]) -> Controller {
        let spec = Spec::with("westwood", json!({ "preset": preset }).as_object().unwrap()).unwrap();
        let mut c = Controller::new(&spec, MSS, 10 * MSS);
        c.poke("cwnd", 40.0 * S);
        let (mut now, mut delivered) = (0.0, 0);
        c.on_ack(&ack_limited(0.0, MSS, 0.1));
        for gap_ms in gaps_ms {
            (now, delivered) = (now + gap_ms / 1e3, delivered + MSS);
            c.on_ack(&Ack { delivered, ..ack_limited(now, MSS, 0.1) });
        }
        c
    }

    /// 1000 B each 5 ms are 200 kB/s; times RTTmin 100 ms 20 segments.
    #[test]
    fn a_loss_leaves_bandwidth_times_the_smallest_round_trip() {
        let mut c = westwood("paper", &[5.0; 20]);
        assert!((state(&c, "bandwidth") - 200_000.0).abs() < 1e-6);
        c.on_congestion(&loss(0.1, 40.0));
        assert!((c.ssthresh() - 20.0 * S).abs() < 1e-6 && c.window() == c.ssthresh());
        c.on_congestion(&Signal::Rto { now: Time::from_seconds(1.0), inflight: 20 * MSS });
        assert!((c.ssthresh() - 20.0 * S).abs() < 1e-6 && c.window() == S);
    }

    /// A second sample of 100 kB/s: 7/8 of 200 + 1/8 of 100 = 187.5; filtered twice 7/8 of 200 + 1/8 of 187.5 = 198.4375.
    #[test]
    fn a_sample_enters_with_an_eighth() {
        let mut gaps = vec![5.0; 20];
        gaps.extend([10.0; 10]);
        for (preset, expected) in [("paper", 187_500.0), ("linux", 198_437.5)] {
            let bandwidth = state(&westwood(preset, &gaps), "bandwidth");
            assert!((bandwidth - expected).abs() < 1e-6, "{preset}: {bandwidth}");
        }
        // Ninety milliseconds are less than a round trip.
        assert!((state(&westwood("paper", &gaps[..29]), "bandwidth") - 200_000.0).abs() < 1e-6);
    }

    /// With `raises = false`, Westwood of 2001: cwnd = min(cwnd, ssthresh).
    #[test]
    fn westwood_of_2001_never_raises_the_window() {
        let table = json!({ "raises": false });
        let mut c = Controller::new(&Spec::with("westwood", table.as_object().unwrap()).unwrap(), MSS, 10 * MSS);
        c.on_ack(&ack_limited(0.0, MSS, 0.1));
        c.poke("bandwidth", 200_000.0);
        c.poke("cwnd", 10.0 * S);
        c.on_congestion(&loss(0.1, 10.0));
        assert!(c.window() == 10.0 * S && (c.ssthresh() - 20.0 * S).abs() < 1e-6);
        c.poke("bandwidth", 10_000.0);
        c.on_congestion(&loss(0.1, 10.0));
        assert_eq!((c.window(), c.ssthresh()), (2.0 * S, 2.0 * S));
    }

    /// Westwood+ (Grieco and Mascolo 2004: ssthresh = BWE RTTmin, cwnd = ssthresh) and Linux make the window what the path has
    /// delivered, 20 segments, also where it was 10; a timer leaves one.
    #[test]
    fn the_threshold_becomes_the_window() {
        let (now, inflight) = (Time::from_seconds(0.1), 10 * MSS);
        let events = [loss(0.1, 10.0), Signal::Ecn { now, inflight }, Signal::LocalDrop { now, inflight }];
        for (event, preset) in events.iter().flat_map(|event| [(event, "linux"), (event, "paper")]) {
            let mut c = westwood(preset, &[5.0; 20]);
            c.poke("cwnd", 10.0 * S);
            c.on_congestion(event);
            assert!((c.window() - 20.0 * S).abs() < 1e-6 && c.window() == c.ssthresh());
        }
        let mut c = westwood("linux", &[5.0; 20]);
        c.on_congestion(&Signal::Rto { now, inflight });
        assert!((c.ssthresh() - 20.0 * S).abs() < 1e-6 && c.window() == S);
    }

    /// RFC 5681 equations 3 and 4, as long as nothing is measured.
    #[test]
    fn without_samples_it_is_reno() {
        let mut c = Controller::new(&Spec::named("westwood").unwrap(), MSS, 10 * MSS);
        c.on_congestion(&loss(0.0, 10.0));
        assert_eq!((c.window(), c.ssthresh()), (5.0 * S, 5.0 * S));
        c.on_ack(&ack(0.0, MSS, 0.1));
        assert_eq!(c.window(), 5.2 * S);
    }
}
