//! The distribution of many spans in bounded memory: exact count, mean, deviation and extremes (Welford 1962), quantiles
//! from a histogram of three significant digits.

use elephan_units::Span;
use hdrhistogram::Histogram;
use serde_json::{Value, json};

/// Spans seen so far.
pub struct Spread {
    count: u64,
    mean_s: f64,
    /// Sum of the squared deviations from the mean.
    squares: f64,
    min: Span,
    max: Span,
    /// In nanoseconds; grows with the range of the values, not with their number.
    histogram: Option<Histogram<u64>>,
}

impl Default for Spread {
    fn default() -> Self {
        Spread {
            count: 0,
            mean_s: 0.0,
            squares: 0.0,
            min: Span::MAX,
            max: Span::ZERO,
            histogram: Histogram::new(3).ok(),
        }
    }
}

impl Spread {
    pub fn add(&mut self, span: Span) {
        let seconds = span.seconds();
        self.count += 1;
        let off = seconds - self.mean_s;
        self.mean_s += off / self.count as f64;
        self.squares += off * (seconds - self.mean_s);
        self.min = self.min.min(span);
        self.max = self.max.max(span);
        if let Some(histogram) = &mut self.histogram {
            // Fails only where the histogram cannot grow any more; every i64 of nanoseconds fits.
            histogram.record(span.ns() as u64).ok();
        }
    }

    /// Seconds; null if nothing was seen.
    pub fn summary(&self) -> Value {
        if self.count == 0 {
            return Value::Null;
        }
        let quantile = |q: f64| {
            let ns = self.histogram.as_ref().map_or(0, |h| h.value_at_quantile(q));
            (ns as f64 / 1e9).clamp(self.min.seconds(), self.max.seconds())
        };
        json!({
            "count": self.count, "mean_s": self.mean_s, "sd_s": (self.squares / self.count as f64).sqrt(),
            "min_s": self.min.seconds(), "p50_s": quantile(0.5), "p95_s": quantile(0.95), "p99_s": quantile(0.99),
            "p999_s": quantile(0.999), "max_s": self.max.seconds(),
        })
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
        // Of 1..n: mean (n+1)/2, variance (n^2-1)/12.
        is("mean_s", 500.5e-6, 1e-9);
        is("sd_s", (999_999.0f64 / 12.0).sqrt() * 1e-6, 1e-9);
        is("p50_s", 500e-6, 1e-3);
        is("p99_s", 990e-6, 1e-3);
        is("max_s", 1e-3, 1e-12);
    }
}
