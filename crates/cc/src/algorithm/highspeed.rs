//! HighSpeed TCP (RFC 3649): growth and cut depend on the window, so that large windows need fewer losses.
//!
//! Windows w in segments; equations of section 5.
//!
//! ```text
//! w <= Low_Window:  a = 1, b = 1/2 (Reno)
//! beyond:  b(w) = (High_Decrease - 1/2) (ln w - ln Low_Window) / (ln High_Window - ln Low_Window) + 1/2
//!          a(w) = w^2 p(w) 2 b(w) / (2 - b(w)), at least 1,       p(w) = 0.078 / w^1.2
//! w += a(w) / w per acknowledged segment;   event: w = (1 - b(w)) w, at least 2;   timer: the same ssthresh, w = 1
//! ```
//!
//! Low_P = 1e-3 and High_P = 1e-7 enter through p(w), whose two rounded numbers the RFC gives. The congestion control is continuous;
//! with `table` it is appendix B instead: the last row whose window is reached gives a whole a and a b of two digits.
//! The rows follow from p(w) = 1 / (12.8 w^1.2) and a new row wherever a(w) exceeds that of the last row by one.
//!
//! Mean window with a loss every 1/p segments: 0.12 / p^0.835 for p from 1e-7 to 1e-3, Reno's above.
//!
//! Chosen where the RFC is silent: beyond High_Window b stays High_Decrease (the formula would reach 0 at 567000
//! segments) while a(w) keeps p(w); the last row of the table holds beyond it. Left out: limited slow start, which the
//! RFC recommends (`slow_start`).
//!
//! Presets: `rfc3649` (the default), `appendix-b` (the table) and `linux` (tcp_highspeed.c): the row above the window instead, so
//! that a is 2 from 39 segments on, with its b in whole 1/256; it counts ACKs, so that
//! delayed ones halve a.

use super::CongestionControl;
use crate::declare::{Internals, LIMIT, loss_based};
use crate::registry::Model;
use crate::{Ack, Signal, Traits, Window};
use elephan_units::InvalidParameter;

/// Increase in segments a round trip and decrease of Reno (RFC 5681 equations 3 and 4).
const RENO_A: f64 = 1.0;
const RENO_B: f64 = 0.5;
/// Appendix B: the window from which the increase is 1, 2, ... 73 segments.
const TABLE: [u32; 73] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778, 4177, 4596, 5036,
    5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10_661, 11_358, 12_082, 12_834, 13_614, 14_424, 15_265,
    16_137, 17_042, 17_981, 18_955, 19_965, 21_013, 22_101, 23_230, 24_402, 25_618, 26_881, 28_193, 29_557, 30_975,
    32_450, 33_986, 35_586, 37_253, 38_992, 40_808, 42_707, 44_694, 46_776, 48_961, 51_258, 53_677, 56_230, 58_932,
    61_799, 64_851, 68_113, 71_617, 75_401, 79_517, 84_035, 89_053, 94_717,
];
/// Rows that Linux has: `hstcp_aimd_vals` ends with that of 89053 segments.
const LINUX_ROWS: usize = 72;

loss_based! {
    reduce_from: Cwnd, "RFC 3649 section 5; Linux tcp_highspeed.c (cwnd)";
    /// Window in segments up to which the congestion control is Reno.
    low_window: f64 = 38.0, "RFC 3649 section 5: Low_Window" [min = 1];
    /// Window in segments at which an event takes `high_decrease`.
    high_window: f64 = 83_000.0, "RFC 3649 section 5: High_Window" (min = 1);
    /// The share of the window that an event takes at `high_window` and beyond.
    high_decrease: f64 = 0.1, "RFC 3649 section 5: High_Decrease" (min = 0, max = 1);
    /// Factor of the loss rate p(w) = factor / w^exponent at which a window of w segments is held.
    p_factor: f64 = 0.078, "RFC 3649 section 5: 0.078 / w^1.2" (min = 0);
    /// Exponent of p(w).
    p_exponent: f64 = 1.2, "RFC 3649 section 5: 0.078 / w^1.2" (min = 0, max = 2);
    /// Increase and decrease from the table instead, which none of the above changes.
    table: bool = false, "RFC 3649 appendix B";
    /// With `table`, the row above the window instead of the last that it has reached, with b in whole 1/256.
    row_above: bool = false, "Linux tcp_highspeed.c; RFC 3649 appendix B: no";
    /// An ACK counts as one segment, however many it acknowledges.
    per_ack: bool = false, "Linux tcp_highspeed.c hstcp_cong_avoid; RFC 3649: a(w) a round trip";
}

#[derive(Clone, Debug)]
pub struct Highspeed {
    p: Parameters,
    low_ln: f64,
    /// ln(high_window / low_window).
    span_ln: f64,
}

impl Model for Highspeed {
    type Parameters = Parameters;
    const PRESETS: &'static [&'static str] = &["rfc3649", "appendix-b", "linux"];

    fn preset(name: &str) -> Parameters {
        let linux = name == "linux";
        Parameters { table: name != "rfc3649", row_above: linux, per_ack: linux, ..Parameters::default() }
    }

    fn new(p: &Parameters) -> Highspeed {
        let (row_above, per_ack, reduce_from) = (p.row_above, p.per_ack, p.reduce_from);
        let of_the_table = Parameters { table: true, row_above, per_ack, reduce_from, ..Parameters::default() };
        let p = if p.table { of_the_table } else { p.clone() };
        let low_ln = libm::log(p.low_window);
        Highspeed { low_ln, span_ln: libm::log(p.high_window) - low_ln, p }
    }

    fn check(p: &Parameters) -> Result<(), InvalidParameter> {
        InvalidParameter::between("high_window", p.high_window, p.low_window, LIMIT)
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { counts_segments: true, ..Traits::default() }
    }
}

impl Highspeed {
    /// a(w): segments a round trip.
    #[inline]
    fn increase(&self, w: f64) -> f64 {
        let p = &self.p;
        if w <= p.low_window {
            return RENO_A;
        }
        if p.table {
            return self.row(w) as f64;
        }
        let w_ln = libm::log(w);
        let b = self.decrease_at(w_ln);
        (p.p_factor * libm::exp((2.0 - p.p_exponent) * w_ln) * 2.0 * b / (2.0 - b)).max(RENO_A)
    }

    /// b(w): the share of the window that an event takes.
    fn decrease(&self, w: f64) -> f64 {
        if w <= self.p.low_window {
            return RENO_B;
        }
        if self.p.table {
            let b = self.decrease_at(libm::log(f64::from(TABLE[self.row(w) - 1])));
            return if self.p.row_above { (256.0 * b).floor() / 256.0 } else { (100.0 * b).round() / 100.0 };
        }
        self.decrease_at(libm::log(w))
    }

    #[inline]
    fn decrease_at(&self, w_ln: f64) -> f64 {
        // The last row of the table lies beyond high_window, and its b follows the formula there.
        let most = if self.p.table { f64::INFINITY } else { 1.0 };
        RENO_B + (self.p.high_decrease - RENO_B) * ((w_ln - self.low_ln) / self.span_ln).min(most)
    }

    /// The row of the table that holds at `w`, from 1 on.
    fn row(&self, w: f64) -> usize {
        match self.p.row_above {
            true => (TABLE.partition_point(|from| f64::from(*from) < w) + 1).min(LINUX_ROWS),
            false => TABLE.partition_point(|from| f64::from(*from) <= w),
        }
    }
}

impl Internals for Highspeed {}

impl CongestionControl for Highspeed {
    #[inline]
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        let acked = w.counted(ack, self.p.per_ack) as u64;
        w.grow(self.increase(w.cwnd / w.mss) * w.mss, &Ack { acked, ..*ack });
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        let reduced = (1.0 - self.decrease(w.cwnd / w.mss)) * self.p.reduce_from.bytes(w, signal.inflight());
        w.cut(signal, reduced);
    }
}

#[cfg(test)]
mod tests {
    use super::TABLE;
    use crate::testing::{self, MSS, ack, ack_limited, loss};
    use crate::{Controller, Signal, Spec};
    use elephan_units::Time;
    use serde_json::json;

    const S: f64 = MSS as f64;

    fn spec(table: bool) -> Spec {
        Spec::with("highspeed", json!({ "table": table }).as_object().unwrap()).unwrap()
    }

    /// In congestion avoidance at a window of `segments`.
    fn at(table: bool, segments: f64) -> Controller {
        let mut c = Controller::new(&spec(table), MSS, 10 * MSS);
        c.poke("cwnd", segments * S);
        c.poke("ssthresh", segments * S);
        c
    }

    /// a: what ACKs of one window add. b: what a loss takes.
    fn a_and_b(table: bool, segments: f64) -> (f64, f64) {
        let (mut grown, mut cut) = (at(table, segments), at(table, segments));
        grown.on_ack(&ack(0.0, (segments * S) as u64, 0.1));
        cut.on_congestion(&loss(0.0, segments));
        (grown.window() / S - segments, 1.0 - cut.window() / S / segments)
    }

    /// Section 5 by hand, p(w) = 0.078 / w^1.2: b is 0.5 at 38, 0.3 at sqrt(38 * 83000) = 1775.95, 0.1 at 83000 and
    /// beyond; a has a floor of 1 (0.971 at 39) and is 70.73 at 83000.
    #[test]
    fn the_congestion_control_is_continuous() {
        for (w, a, b) in [
            (10.0, 1.0, 0.5),
            (38.0, 1.0, 0.5),
            (39.0, 1.0, 0.498649),
            (100.0, 1.801304, 0.449664),
            (1_000.0, 7.739808, 0.329878),
            (1_775.95, 10.948170, 0.3),
            (10_000.0, 29.020476, 0.210092),
            (83_000.0, 70.734856, 0.1),
            (830_000.0, 446.306767, 0.1),
        ] {
            let given = a_and_b(false, w);
            assert!((given.0 / a - 1.0).abs() < 1e-5 && (given.1 - b).abs() < 1e-6, "{w}: {given:?}");
        }
    }

    /// RFC 3649 appendix B.
    #[test]
    fn the_table_is_that_of_the_rfc() {
        for (w, a, b) in [
            (30.0, 1.0, 0.50),
            (38.0, 1.0, 0.50),
            (117.0, 1.0, 0.50),
            (118.0, 2.0, 0.44),
            (220.9, 2.0, 0.44),
            (221.0, 3.0, 0.41),
            (347.0, 4.0, 0.38),
            (495.0, 5.0, 0.37),
            (1058.0, 8.0, 0.33),
            (89_053.0, 72.0, 0.10),
            (94_716.0, 72.0, 0.10),
            (94_717.0, 73.0, 0.09),
            (1e6, 73.0, 0.09),
        ] {
            let given = a_and_b(true, w);
            assert!((given.0 - a).abs() < 1e-6 && (given.1 - b).abs() < 1e-9, "{w}: {given:?}");
        }
    }

    /// tcp_highspeed.c: table[ai - 1] < cwnd <= table[ai], a = ai + 1, b = md / 256.
    #[test]
    fn linux_takes_the_row_above() {
        let spec = Spec::with("highspeed", json!({ "preset": "linux" }).as_object().unwrap()).unwrap();
        for (w, a, md) in [
            (38.0, 1.0, 128.0),
            (39.0, 2.0, 112.0),
            (118.0, 2.0, 112.0),
            (119.0, 3.0, 104.0),
            (347.0, 4.0, 98.0),
            (348.0, 5.0, 93.0),
            (48_962.0, 61.0, 32.0),
            (84_035.0, 71.0, 25.0),
            (84_036.0, 72.0, 24.0),
            (1e6, 72.0, 24.0),
        ] {
            let mut c = Controller::new(&spec, MSS, 10 * MSS);
            c.poke("cwnd", w * S);
            c.poke("ssthresh", w * S);
            let mut cut = c.clone();
            // hstcp_cong_avoid adds ai + 1 to snd_cwnd_cnt at each ACK, also at one of two segments.
            c.on_ack(&ack(0.0, 2 * MSS, 0.1));
            cut.on_congestion(&loss(0.0, w));
            assert!((c.window() / S - w - a / w).abs() < 1e-9, "{w}: {}", c.window());
            assert!((cut.window() / S - w * (1.0 - md / 256.0)).abs() < 1e-6, "{w}: {}", cut.window());
        }
    }

    /// Appendix B's generator: a row wherever a(w), by p(w) = 1 / (12.8 w^1.2), exceeds that of the last row by one.
    #[test]
    fn the_table_is_what_its_generator_gives() {
        let b = |w: f64| 0.5 - 0.4 * libm::log(w / 38.0) / libm::log(83_000.0 / 38.0);
        let a = |w: f64| libm::pow(w, 0.8) / 12.8 * 2.0 * b(w) / (2.0 - b(w));
        let (mut rows, mut last) = (vec![38], 1.0);
        for w in 39..=94_717 {
            let a = a(f64::from(w));
            if a > last + 1.0 {
                (rows, last) = ([rows, vec![w]].concat(), a);
            }
        }
        assert_eq!(rows.as_slice(), TABLE.as_slice());
    }

    #[test]
    fn events_and_acks_that_do_not_count() {
        let (now, inflight) = (Time::ZERO, 500 * MSS);
        for signal in [loss(0.0, 500.0), Signal::Ecn { now, inflight }, Signal::LocalDrop { now, inflight }] {
            let mut c = at(false, 83_000.0);
            c.on_congestion(&signal);
            assert_eq!(c.window(), c.ssthresh());
            assert!((c.window() / S - 74_700.0).abs() < 1e-6, "{}", c.window());
        }
        let mut c = at(false, 83_000.0);
        c.on_ack(&ack_limited(0.0, MSS, 0.1));
        assert_eq!(c.window(), 83_000.0 * S);
        c.on_congestion(&Signal::Rto { now, inflight });
        assert_eq!(c.window(), S);
        assert!((c.ssthresh() / S - 74_700.0).abs() < 1e-6);
        let mut c = at(false, 3.0);
        c.on_congestion(&loss(0.0, 3.0));
        assert_eq!(c.window(), 2.0 * S);
    }

    /// 0.12 / p^0.835 (section 5): 104.9 at 3e-4, 262.5 at 1e-4, 1795 at 1e-5. Reno's 1.2247 / sqrt(p) where p > 1e-3.
    #[test]
    fn the_response_function_is_that_of_the_rfc() {
        for (period, expected, tolerance) in
            [(3_333, 104.9, 0.05), (10_000, 262.5, 0.02), (100_000, 1795.0, 0.02), (400, 24.49, 0.015)]
        {
            let mean = testing::mean_window(&spec(false), period, 0.1, 1.1 * expected, 8);
            assert!((mean / expected - 1.0).abs() < tolerance, "{mean} is not {expected}");
        }
    }
}
