//! Parameters of a request: what is missing or of another type is one line.

use serde_json::{Map, Value};

use crate::reply::Trouble;

/// The parameters of one request.
#[derive(Clone, Copy)]
pub struct Ask<'a>(pub &'a Map<String, Value>);

impl<'a> Ask<'a> {
    /// A value that is there and not null.
    pub fn given(self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    pub fn text(self, key: &str) -> Result<&'a str, Trouble> {
        self.maybe_text(key)?.ok_or_else(|| missing(key, "a text"))
    }

    pub fn maybe_text(self, key: &str) -> Result<Option<&'a str>, Trouble> {
        self.read(key, "a text", Value::as_str)
    }

    pub fn maybe_f64(self, key: &str) -> Result<Option<f64>, Trouble> {
        self.read(key, "a number", Value::as_f64)
    }

    pub fn maybe_u64(self, key: &str) -> Result<Option<u64>, Trouble> {
        self.read(key, "a whole number", whole)
    }

    /// A time in ns, which may have a fraction; what is beyond all times is the nearest of them.
    pub fn maybe_ns(self, key: &str) -> Result<Option<i64>, Trouble> {
        Ok(self.maybe_f64(key)?.map(|ns| ns as i64))
    }

    pub fn handle(self) -> Result<u64, Trouble> {
        self.maybe_u64("handle")?.ok_or_else(|| missing("handle", "the handle of a run"))
    }

    pub fn list(self, key: &str) -> Result<&'a [Value], Trouble> {
        Ok(self.read(key, "a list", Value::as_array)?.map_or(&[], Vec::as_slice))
    }

    pub fn table(self, key: &str) -> Result<Option<&'a Map<String, Value>>, Trouble> {
        self.read(key, "a table", Value::as_object)
    }

    fn read<T>(self, key: &str, what: &str, as_it: impl Fn(&'a Value) -> Option<T>) -> Result<Option<T>, Trouble> {
        let Some(value) = self.given(key) else { return Ok(None) };
        as_it(value).map(Some).ok_or_else(|| format!("{key}: expected {what}").into())
    }
}

/// JSON of a page has no integers of its own: 3.0 is 3.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|n| *n >= 0.0 && *n <= 9.0e15 && n.fract() == 0.0)?;
        Some(number as u64)
    })
}

fn missing(key: &str, what: &str) -> Trouble {
    format!("{key} is missing: {what}").into()
}
