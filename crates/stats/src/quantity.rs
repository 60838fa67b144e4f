//! What values a quantity can have.

/// A kind of quantity, by the values that it can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A part of a whole: 0 to 1.
    Share,
    /// Jain's index of at most so many flows: 1/n to 1. With 0 nobody knows how many flows there are.
    Index(u64),
    /// A rate, a size, a time or a count: 0 or more.
    Amount,
    /// A larger value over a smaller one: 1 or more.
    Multiple,
    /// A number without bounds.
    Number,
}

impl Quantity {
    /// Returns the kind that a word names; `flows` counts the flows of an index.
    pub fn named(word: &str, flows: u64) -> Option<Quantity> {
        Some(match word {
            "share" => Quantity::Share,
            "index" => Quantity::Index(flows),
            "amount" => Quantity::Amount,
            "multiple" => Quantity::Multiple,
            "number" => Quantity::Number,
            _ => return None,
        })
    }

    /// Returns the smallest and the largest value.
    pub fn bounds(self) -> (f64, f64) {
        match self {
            Quantity::Share | Quantity::Index(0) => (0.0, 1.0),
            Quantity::Index(flows) => (1.0 / flows as f64, 1.0),
            Quantity::Amount => (0.0, f64::INFINITY),
            Quantity::Multiple => (1.0, f64::INFINITY),
            Quantity::Number => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// Returns the smallest and the largest difference of two values.
    pub fn bounds_of_difference(self) -> (f64, f64) {
        let (low, top) = self.bounds();
        if top.is_finite() { (low - top, top - low) } else { (f64::NEG_INFINITY, f64::INFINITY) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds() {
        assert_eq!(Quantity::Index(4).bounds(), (0.25, 1.0));
        assert_eq!(Quantity::Index(0).bounds(), (0.0, 1.0));
        assert_eq!(Quantity::Share.bounds_of_difference(), (-1.0, 1.0));
        assert_eq!(Quantity::Index(2).bounds_of_difference(), (-0.5, 0.5));
        assert_eq!(Quantity::Amount.bounds_of_difference().0, f64::NEG_INFINITY);
        assert_eq!(Quantity::named("multiple", 0).map(Quantity::bounds), Some((1.0, f64::INFINITY)));
        assert_eq!(Quantity::named("percent", 0), None);
    }
}
