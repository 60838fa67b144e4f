//! Why a model cannot have the parameters that it was given.

use std::borrow::Cow;

/// A parameter that cannot have its value, and why.
///
/// ```
/// use elephan_units::InvalidParameter;
///
/// let invalid = InvalidParameter::between("beta", 2.0, 0.0, 1.0).unwrap_err();
/// assert_eq!(invalid.to_string(), "beta: must be above 0 and below 1, not 2");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter}: {reason}")]
pub struct InvalidParameter {
    /// Its name, or its path below the model, such as `size.pareto.shape`. It is empty if the reason is about several parameters.
    pub parameter: Cow<'static, str>,
    /// One line.
    pub reason: String,
}

impl InvalidParameter {
    /// Returns what is wrong with `parameter`.
    pub fn new(parameter: impl Into<Cow<'static, str>>, reason: impl Into<String>) -> InvalidParameter {
        InvalidParameter { parameter: parameter.into(), reason: reason.into() }
    }

    /// Refuses a `value` that does not lie strictly between `low` and `high`.
    pub fn between(parameter: &'static str, value: f64, low: f64, high: f64) -> Result<(), InvalidParameter> {
        if value > low && value < high {
            return Ok(());
        }
        Err(InvalidParameter::new(parameter, format!("must be above {low} and below {high}, not {value}")))
    }

    /// Refuses a `value` that neither lies between `low` and `high` nor is one of them.
    pub fn within(parameter: &'static str, value: f64, low: f64, high: f64) -> Result<(), InvalidParameter> {
        if value >= low && value <= high {
            return Ok(());
        }
        Err(InvalidParameter::new(parameter, format!("must be between {low} and {high}, not {value}")))
    }

    /// Refuses a `value` that does not lie above `low`, or lies above `high`.
    pub fn above(parameter: &'static str, value: f64, low: f64, high: f64) -> Result<(), InvalidParameter> {
        if value > low && value <= high {
            return Ok(());
        }
        Err(InvalidParameter::new(parameter, format!("must be above {low} and at most {high}, not {value}")))
    }

    /// Refuses a `value` that lies below `low`, or does not lie below `high`.
    pub fn below(parameter: &'static str, value: f64, low: f64, high: f64) -> Result<(), InvalidParameter> {
        if value >= low && value < high {
            return Ok(());
        }
        Err(InvalidParameter::new(parameter, format!("must be at least {low} and below {high}, not {value}")))
    }
}
