//! The distribution of many values in bounded memory: exact count, mean, deviation and extremes (Welford 1962), quantiles
//! from a histogram of three significant digits.

use elephan_units::Span;
use hdrhistogram::Histogram;
use serde_json::{Map, Value, json};

/// Values seen so far: spans in seconds, or plain numbers.
#[derive(Clone)]
pub struct Spread {
    count: u64,
    mean: f64,
    /// Sum of the squared deviations from the mean.
    squares: f64,
    min: f64,
    max: f64,
    /// In units of 1e-9; grows with the range of the values, not with their number.
    histogram: Option<Histogram<u64>>,
}

impl Default for Spread {
    fn default() -> Self {
        Spread { count: 0, mean: 0.0, squares: 0.0, min: f64::INFINITY, max: 0.0, histogram: Histogram::new(3).ok() }
    }
}

impl Spread {
    pub fn add(&mut self, span: Span) {
        self.note(span.seconds(), span.ns() as u64);
    }

    /// A number from 0.
    pub fn add_value(&mut self, value: f64) {
        self.note(value, (value * 1e9) as u64);
    }

    fn note(&mut self, value: f64, counted: u64) {
        self.count += 1;
        let off = value - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (value - self.mean);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if let Some(histogram) = &mut self.histogram {
            // Fails only where the histogram cannot grow any more; every i64 of nanoseconds fits.
            let _ = histogram.record(counted);
        }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The value that so large a share does not pass, to three digits, of spans in whole ns.
    pub fn quantile_ns(&self, q: f64) -> i64 {
        let counted = self.histogram.as_ref().map_or(0, |h| h.value_at_quantile(q));
        (counted as f64).clamp(self.min * 1e9, (self.max * 1e9).max(self.min * 1e9)).round() as i64
    }

    /// Seconds; null if nothing was seen.
    pub fn summary(&self) -> Value {
        self.summary_in("_s")
    }

    /// Names end with `unit`; null if nothing was seen.
    pub fn summary_in(&self, unit: &str) -> Value {
        if self.count == 0 {
            return Value::Null;
        }
        let quantile = |q: f64| {
            let counted = self.histogram.as_ref().map_or(0, |h| h.value_at_quantile(q));
            (counted as f64 / 1e9).clamp(self.min, self.max)
        };
        let mut out = Map::new();
        out.insert("count".into(), json!(self.count));
        for (name, value) in [
            ("mean", self.mean),
            // Of the sample, as statistics have it; of one value there is none.
            ("sd", (self.squares / (self.count - 1) as f64).sqrt()),
            ("min", self.min),
            ("p50", quantile(0.5)),
            ("p95", quantile(0.95)),
            ("p99", quantile(0.99)),
            ("p999", quantile(0.999)),
            ("max", self.max),
        ] {
            out.insert(format!("{name}{unit}"), json!(value));
        }
        Value::Object(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_to_a_thousand() {
        let mut spread = Spread::default();
        assert_eq!(spread.summary(), Value::Null);
        for us in 1..=1000 {
            spread.add(Span::from_us(us));
        }
        let s = spread.summary();
        let is = |key: &str, expected: f64, off: f64| {
            let value = s[key].as_f64().unwrap();
            assert!((value / expected - 1.0).abs() <= off, "{key}: {value}");
        };
        // Of 1..n: mean (n+1)/2, variance of the sample n(n+1)/12.
        is("mean_s", 500.5e-6, 1e-9);
        is("sd_s", (1_001_000.0f64 / 12.0).sqrt() * 1e-6, 1e-9);
        is("p50_s", 500e-6, 1e-3);
        is("p99_s", 990e-6, 1e-3);
        is("max_s", 1e-3, 1e-12);
        let mut one = Spread::default();
        one.add(Span::from_us(1));
        assert_eq!(one.summary()["sd_s"], Value::Null);
    }
}
