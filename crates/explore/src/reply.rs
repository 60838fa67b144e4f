//! What goes back: a head in JSON, a body of typed arrays, and both in one frame of bytes.

use elephan_scenario::Errors;
use serde_json::{Map, Value, json};

/// One answer, or a piece of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    pub head: Map<String, Value>,
    /// Arrays one after another, each at a multiple of 8; the head says where.
    pub body: Vec<u8>,
}

impl Reply {
    /// An answer without arrays. What is no object is the head's `value`.
    pub fn of(head: Value) -> Reply {
        let head = match head {
            Value::Object(head) => head,
            value => Map::from_iter([("value".to_owned(), value)]),
        };
        Reply { head, body: Vec::new() }
    }

    /// Puts numbers into the body and returns where they begin.
    pub fn put_f64(&mut self, values: impl Iterator<Item = f64>) -> usize {
        self.put(values.map(f64::to_le_bytes))
    }

    pub fn put_i64(&mut self, values: impl Iterator<Item = i64>) -> usize {
        self.put(values.map(i64::to_le_bytes))
    }

    pub fn put_u32(&mut self, values: impl Iterator<Item = u32>) -> usize {
        self.put(values.map(u32::to_le_bytes))
    }

    fn put<const N: usize>(&mut self, values: impl Iterator<Item = [u8; N]>) -> usize {
        self.body.resize(self.body.len().next_multiple_of(8), 0);
        let offset = self.body.len();
        values.for_each(|bytes| self.body.extend_from_slice(&bytes));
        offset
    }

    /// The frame: the length of the head in 4 bytes (little-endian), the head, blanks up to a multiple of 8, the body.
    pub fn frame(&self, id: &Value, kind: &str) -> Vec<u8> {
        let mut head = Map::from_iter([("id".to_owned(), id.clone()), ("kind".to_owned(), kind.into())]);
        head.extend(self.head.iter().map(|(key, value)| (key.clone(), value.clone())));
        let mut text = Value::Object(head).to_string().into_bytes();
        text.resize((4 + text.len()).next_multiple_of(8) - 4, b' ');
        let mut frame = Vec::with_capacity(4 + text.len() + self.body.len());
        frame.extend_from_slice(&(text.len() as u32).to_le_bytes());
        frame.extend_from_slice(&text);
        frame.extend_from_slice(&self.body);
        frame
    }
}

/// Why a request has no answer: one line, and the errors of a scenario with their places.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    pub message: String,
    pub errors: Vec<Value>,
}

impl<S: Into<String>> From<S> for Trouble {
    fn from(message: S) -> Trouble {
        Trouble { message: message.into(), errors: Vec::new() }
    }
}

impl Trouble {
    /// The errors of a scenario; the first is the message.
    pub fn of(name: &str, errors: &Errors) -> Trouble {
        let errors = places(name, errors);
        let message = errors.first().map_or("the scenario is wrong", |e| e["message"].as_str().unwrap_or_default());
        Trouble { message: message.to_owned(), errors }
    }

    /// Its frame: place and path of the first error stand in the head.
    pub fn frame(&self, id: &Value) -> Vec<u8> {
        let mut head = Map::new();
        head.insert("message".to_owned(), self.message.as_str().into());
        if let Some(Value::Object(first)) = self.errors.first() {
            let place = first.iter().filter(|(key, _)| matches!(key.as_str(), "line" | "column" | "path"));
            head.extend(place.map(|(key, value)| (key.clone(), value.clone())));
            head.insert("errors".to_owned(), Value::Array(self.errors.clone()));
        }
        Reply { head, body: Vec::new() }.frame(id, "error")
    }
}

/// Errors of a scenario called `name`: line, column, path, message, and the nearest valid name where the message has one.
pub fn places(name: &str, errors: &Errors) -> Vec<Value> {
    let one = |error: &elephan_scenario::Error| {
        let mut numbers = error.place.strip_prefix(name).unwrap_or_default().trim_start_matches(':').split(':');
        let mut number = || numbers.next().and_then(|text| text.parse::<u64>().ok());
        let (line, column) = (number(), number());
        let nearest = error.message.split_once("did you mean \"").and_then(|(_, rest)| Some(rest.split_once('"')?.0));
        json!({ "line": line, "column": column, "path": error.path, "message": error.message, "nearest": nearest })
    };
    errors.0.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_begins_at_a_multiple_of_eight() {
        for extra in 0..9 {
            let mut reply = Reply::of(json!({ "text": "x".repeat(extra) }));
            assert_eq!(reply.put_u32([7].into_iter()), 0);
            assert_eq!(reply.put_f64([0.5, -1.0].into_iter()), 8);
            let frame = reply.frame(&json!(3), "done");
            let length = u32::from_le_bytes(frame[..4].try_into().unwrap()) as usize;
            assert_eq!((4 + length) % 8, 0);
            let head: Value = serde_json::from_slice(&frame[4..4 + length]).unwrap();
            assert_eq!((&head["id"], &head["kind"]), (&json!(3), &json!("done")));
            assert_eq!(f64::from_le_bytes(frame[4 + length + 16..].try_into().unwrap()), -1.0);
        }
    }
}
