//! Where a slider of a key is of use.

use elephan_tcp::options::stack;
use serde_json::Value as Json;

use super::Control;
use crate::quantity::Quantity;

impl Control {
    /// Bounds of the schema; without both of them, around the value.
    pub(super) fn bounds(&mut self, schema: &Json) {
        let bound = |key: &str, exclusive: &str| schema.get(key).or(schema.get(exclusive)).and_then(Json::as_f64);
        let (low, high) = (bound("minimum", "exclusiveMinimum"), bound("maximum", "exclusiveMaximum"));
        let number = self.number.unwrap_or(1.0);
        self.low = Some(low.unwrap_or(if number < 0.0 { 10.0 * number } else { 0.0 }));
        self.high = Some(high.unwrap_or(if number > 0.0 { 10.0 * number } else { 10.0 }));
    }

    pub(super) fn count(&mut self, schema: &Json) {
        let mut low = schema.get("minimum").and_then(Json::as_f64).unwrap_or(0.0);
        let mut high = schema.get("maximum").and_then(Json::as_f64).unwrap_or(f64::INFINITY);
        // The schema has the ranges of types alone; those of TCP's options are the stack's.
        if let Some((_, option)) = self.path.rsplit_once("tcp.")
            && let Some((least, most)) = stack("linux").and_then(|options| options.range(option))
        {
            (low, high) = (f64::from(least), f64::from(most));
        }
        let number = self.number.unwrap_or(low);
        (self.low, self.high) = (Some(low), Some(high.min(nice(10.0 * number).max(64.0))));
        self.scale = if low >= 1.0 { "log" } else { "linear" };
    }

    /// A quantity: its number in base units, and the range in which such a key is of use.
    pub(super) fn measure(&mut self, quantity: Quantity) {
        let text = self.value.as_str().unwrap_or_default();
        let said = quantity.number(text).ok();
        let (number, unit) = (said.map(|(number, _)| number), said.map_or(quantity.unit(), |(_, unit)| unit));
        (self.quantity, self.unit, self.number, self.scale) = (quantity.name(), unit, number, "log");
        let last = self.path.rsplit('.').next().unwrap_or_default();
        let (low, high) = match (unit, last) {
            ("s", "duration") => (1.0, 600.0),
            ("s", "delay" | "access_delay" | "server_delay") => (10e-6, 0.3),
            ("s", "start" | "stop" | "warmup") => (0.0, number.unwrap_or(0.0).max(5.0) * 4.0),
            ("s", _) => (10e-6, 1.0),
            ("bit/s", _) => (1e6, 10e9),
            ("bdp", _) => (0.05, 20.0),
            ("p", _) => (1.0, 10_000.0),
            _ => (1500.0, 64e6),
        };
        self.low = Some(number.filter(|n| *n > 0.0 && low > 0.0).map_or(low, |n| low.min(nice(n / 10.0))));
        self.high = Some(number.map_or(high, |n| high.max(nice(n * 10.0))));
        if low == 0.0 {
            self.scale = "linear";
        }
    }
}

/// The nearest power of ten, so that a range does not follow its value step by step.
fn nice(value: f64) -> f64 {
    libm::pow(10.0, libm::round(libm::log10(value.max(1e-12))))
}
