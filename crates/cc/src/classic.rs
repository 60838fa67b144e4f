//! A guess whether the marks that a scalable flow gets come from a classic queue, which holds a queue of milliseconds (Briscoe and
//! Ahmed, arXiv 1911.00710; L4S team, tcp_prague.c 0.6).
//!
//! S and D are the smoothed round-trip time and its deviation at gains of 2^-i and 2^-(i+1), i = 1 + 1.5 lg(ssthresh / SMSS) and 18 at
//! most; M is the smallest round-trip time:
//!
//! ```text
//! c += lg(D / 750 us) / 2 + max(0, lg((S - M) / 2 ms) / 2), once per update of alpha,   0 <= c <= 17
//! alpha is 0.625 (min(c, 9) - 8) at least
//! ```

use crate::Window;

/// Where the guess begins to count, and is certain.
const FROM: f64 = 8.0;
const CERTAIN: f64 = 9.0;
const MAX: f64 = 17.0;
/// What a certain guess makes of alpha: 1/2 + 1/8 in tcp_prague.c.
const ALPHA: f64 = 0.625;
const REFERENCE_DEVIATION_S: f64 = 750e-6;
const REFERENCE_QUEUE_S: f64 = 2e-3;
/// Below it a time says nothing more.
const LEAST_S: f64 = 1e-6;

/// The guess about a classic queue: smoothed round-trip time and its deviation, seconds, and how sure it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Classic {
    pub srtt_s: f64,
    pub deviation_s: f64,
    pub certainty: f64,
}

impl Classic {
    pub fn sample(&mut self, rtt_s: f64, w: &Window) {
        if self.srtt_s == 0.0 {
            (self.srtt_s, self.deviation_s) = (rtt_s, 0.0);
            return;
        }
        let segments = (w.ssthresh.min(1e9) / w.mss).max(2.0);
        let gain = libm::exp2(-(1.0 + 1.5 * libm::log2(segments)).min(18.0));
        let error = rtt_s - self.srtt_s;
        self.srtt_s += gain * error;
        self.deviation_s += gain / 2.0 * (error.abs() - self.deviation_s);
    }

    pub fn update(&mut self, min_s: f64) {
        let deviation = libm::log2(self.deviation_s.max(LEAST_S) / REFERENCE_DEVIATION_S) / 2.0;
        let queue = libm::log2((self.srtt_s - min_s).max(LEAST_S) / REFERENCE_QUEUE_S) / 2.0;
        self.certainty = (self.certainty + deviation + queue.max(0.0)).clamp(0.0, MAX);
    }

    /// What alpha is at least.
    pub fn share(&self) -> f64 {
        ALPHA * (self.certainty.min(CERTAIN) - FROM).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Classic;

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    }

    /// A deviation of 3 ms and a queue of 8 ms: lg(4) / 2 + lg(4) / 2 = 2 an update; certain from 9 on, with 0.625.
    #[test]
    fn marks_of_a_classic_queue_cut_more() {
        let mut c = Classic { srtt_s: 0.028, deviation_s: 0.003, certainty: 0.0 };
        c.update(0.020);
        near(c.certainty, 2.0);
        assert_eq!(c.share(), 0.0);
        for _ in 0..4 {
            c.update(0.020);
        }
        near(c.share(), 0.625);
        let mut calm = Classic { srtt_s: 0.0201, deviation_s: 0.0001, certainty: 3.0 };
        calm.update(0.020);
        assert!(calm.certainty < 2.0);
    }

    /// With a threshold of 16 segments i is 7: a step of 12.8 ms moves S by 0.1 ms and D by 12.8 / 256 = 0.05 ms.
    #[test]
    fn the_mean_is_slower_where_windows_are_larger() {
        let w = crate::Window { cwnd: 16e3, ssthresh: 16e3, mss: 1e3 };
        let mut c = Classic::default();
        c.sample(0.02, &w);
        c.sample(0.0328, &w);
        near(c.srtt_s, 0.0201);
        near(c.deviation_s, 0.000_05);
    }
}
