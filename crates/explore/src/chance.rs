//! Means of repeated runs with their intervals, as reports have them: the page sends values and draws what comes back.

use std::sync::atomic::{AtomicBool, Ordering};

use elephan_stats::{Quantity, detectable, differences, interval};
use serde_json::{Map, Value, json};

use crate::ask::Ask;
use crate::reply::{Reply, Trouble};

/// The level of the intervals, and the power of the test that says what so many repetitions can see.
const LEVEL: f64 = 0.95;
const POWER: f64 = 0.8;
/// Rows for which the power is computed: each takes a few milliseconds.
const POWER_MAX: usize = 256;

/// What one sample asks for: `rows` rows of `count` values each and, if it is paired, as many to subtract.
struct Sample {
    kind: Quantity,
    count: usize,
    rows: usize,
    paired: bool,
    power: bool,
}

impl Sample {
    fn of(given: &Map<String, Value>) -> Result<Sample, Trouble> {
        let ask = Ask(given);
        let (word, flows) = (ask.text("kind")?, ask.maybe_u64("flows")?.unwrap_or(0));
        let kind = Quantity::named(word, flows)
            .ok_or_else(|| format!("kind: {word:?} is none of share, index, amount, multiple, number"))?;
        let whole = |key: &str, usual: u64| Ok::<_, Trouble>(ask.maybe_u64(key)?.unwrap_or(usual) as usize);
        let flag = |key: &str| given.get(key).and_then(Value::as_bool).unwrap_or(false);
        Ok(Sample {
            kind,
            count: whole("count", 0)?,
            rows: whole("rows", 1)?,
            paired: flag("paired"),
            power: flag("power"),
        })
    }

    /// The numbers of the payload that belong to it; `None` if there are more than a payload can have.
    fn numbers(&self) -> Option<usize> {
        self.count.checked_mul(self.rows)?.checked_mul(if self.paired { 2 } else { 1 })
    }
}

/// The numbers of an answer for each row, in this order.
const COLUMNS: [&str; 9] = ["n", "mean", "low", "high", "least", "most", "spread", "clear", "seen"];

/// Answers for each row of values its mean and interval, cut off where its quantity ends, and whether a difference is clear.
pub fn intervals(ask: Ask<'_>, payload: &[u8], stop: &AtomicBool) -> Result<Reply, Trouble> {
    let samples: Vec<Sample> = ask
        .list("samples")?
        .iter()
        .map(|one| Sample::of(one.as_object().ok_or("samples: expected a list of tables")?))
        .collect::<Result<_, Trouble>>()?;
    let wanted = samples.iter().try_fold(0usize, |sum, one| sum.checked_add(one.numbers()?));
    if wanted.and_then(|wanted| wanted.checked_mul(8)) != Some(payload.len()) {
        return Err(format!("samples: they do not say what the {} bytes that came are", payload.len()).into());
    }
    if samples.iter().filter(|one| one.power).map(|one| one.rows).sum::<usize>() > POWER_MAX {
        return Err(format!("power: of more than {POWER_MAX} rows").into());
    }
    let mut numbers =
        payload.chunks_exact(8).map(|b| b.iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte)));
    let mut take = |count: usize| numbers.by_ref().take(count).map(f64::from_bits).collect::<Vec<f64>>();
    let mut found = Vec::new();
    for sample in &samples {
        for _ in 0..sample.rows {
            if stop.load(Ordering::Relaxed) {
                return Err("stopped".into());
            }
            let mut values = take(sample.count);
            if sample.paired {
                values = differences(&values, &take(sample.count));
            }
            let bounds = if sample.paired { sample.kind.bounds_of_difference() } else { sample.kind.bounds() };
            let seen = if sample.power { detectable(&values, POWER, LEVEL) } else { f64::NAN };
            found.extend(interval(&values, LEVEL, bounds).row());
            found.push(seen);
        }
    }
    let rows = found.len() / COLUMNS.len();
    let mut reply = Reply::of(json!({ "columns": COLUMNS, "rows": rows }));
    let offset = reply.put_f64(found.into_iter());
    reply.head.insert("offset".to_owned(), offset.into());
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(samples: Value, values: &[f64]) -> Result<Vec<f64>, String> {
        let payload: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let params = json!({ "samples": samples });
        let reply = intervals(Ask(params.as_object().unwrap()), &payload, &AtomicBool::new(false));
        let reply = reply.map_err(|trouble| trouble.message)?;
        Ok(reply.body.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect())
    }

    #[test]
    fn values_come_back_as_intervals() {
        // Loss of 0.0003 and 0.0054: 0.00285 +- 12.7062 * 0.00255 ends at 0, and at 0.0352511.
        let found = asked(json!([{ "kind": "share", "count": 2 }]), &[0.0003, 0.0054]).unwrap();
        assert_eq!((found.len(), found[0], found[2], found[7]), (9, 2.0, 0.0, 0.0));
        assert!((found[1] - 0.00285).abs() < 1e-12 && (found[3] - 0.035_250_8).abs() < 1e-6, "{found:?}");
        // Pairs: 3 and 3, 4 and 2 in two rows of one pair each.
        let asks = json!([{ "kind": "amount", "count": 1, "rows": 2, "paired": true }]);
        let found = asked(asks, &[3.0, 3.0, 4.0, 2.0]).unwrap();
        assert_eq!((found[1], found[10]), (0.0, 2.0));
        // R: power.t.test(n = 5, sd = 0.8366600, power = 0.8, type = "paired") gives delta = 1.409.
        let asks = json!([{ "kind": "number", "count": 5, "power": true }]);
        assert!((asked(asks, &[4.0, 5.0, 6.0, 5.0, 4.0]).unwrap()[8] - 1.409).abs() < 0.005);
    }

    #[test]
    fn wrong_samples_are_one_line() {
        let wrong = [
            (json!([{ "kind": "percent", "count": 1 }]), "none of share"),
            (json!([{ "kind": "share", "count": 2 }]), "the 8 bytes"),
            (
                json!([{ "kind": "share", "count": 9_000_000_000_000_000u64, "rows": 9_000_000_000_000_000u64 }]),
                "the 8 bytes",
            ),
            (json!([5]), "a list of tables"),
        ];
        for (samples, message) in wrong {
            assert!(asked(samples, &[1.0]).unwrap_err().contains(message));
        }
    }
}
