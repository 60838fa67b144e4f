//! Which of the rates that a connection had the next one to the same host begins with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rate that is left for the next connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Remembered {
    /// The rate at the end.
    Last,
    /// The largest of all.
    Largest,
    /// The mean over the packets that have arrived.
    Mean,
}

/// The rates that a connection had when its packets arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rates {
    largest_bps: f64,
    sum_bps: f64,
    count: f64,
}

impl Rates {
    pub fn note(&mut self, rate_bps: f64) {
        if rate_bps > 0.0 {
            self.largest_bps = self.largest_bps.max(rate_bps);
            self.sum_bps += rate_bps;
            self.count += 1.0;
        }
    }

    /// Returns the rate to remember, if the connection ends with `last_bps`.
    pub fn remembered(&self, which: Remembered, last_bps: f64) -> f64 {
        match which {
            Remembered::Last => last_bps,
            Remembered::Largest => self.largest_bps.max(last_bps),
            Remembered::Mean if self.count > 0.0 => self.sum_bps / self.count,
            Remembered::Mean => last_bps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_three_rates_is_remembered() {
        let mut rates = Rates::default();
        let all = |rates: &Rates, last| {
            [Remembered::Last, Remembered::Largest, Remembered::Mean].map(|which| rates.remembered(which, last))
        };
        assert_eq!(all(&rates, 5.0), [5.0, 5.0, 5.0]);
        [0.0, 2.0, 9.0, 4.0].into_iter().for_each(|rate| rates.note(rate));
        assert_eq!(all(&rates, 4.0), [4.0, 9.0, 5.0]);
    }
}
