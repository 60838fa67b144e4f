//! JSON text to tree (RFC 8259), with the position of every key and value.

use elephan_units::stop;

use crate::error::Problem;
use crate::tree::{Entry, Node, Origin, Path, Table, Value};

/// Nesting beyond this is refused rather than followed to the end of the stack.
const DEPTH_MAX: usize = 100;

pub(crate) fn parse(text: &str) -> Result<Node> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    parser.space();
    let node = parser.value()?.ok_or_else(|| parser.wrong("null is not a scenario"))?;
    parser.space();
    if parser.at < text.len() {
        return Err(parser.wrong("text after the end of the value"));
    }
    Ok(node)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

type Result<T> = std::result::Result<T, Problem>;

impl Parser<'_> {
    fn wrong(&self, what: &str) -> Problem {
        Problem::new(Path::default(), Origin::Text(self.at), format!("not valid JSON: {what}"))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.wrong(&format!("expected `{}`", byte as char)))
    }

    /// A value; `None` for `null`, which means "not given".
    fn value(&mut self) -> Result<Option<Node>> {
        stop::look();
        let origin = Origin::Text(self.at);
        let value = match self.peek() {
            Some(b'{') => self.nested(Parser::object)?,
            Some(b'[') => self.nested(Parser::array)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(_) => return self.word().map(|v| v.map(|value| Node { value, origin })),
            None => return Err(self.wrong("the text ends where a value is needed")),
        };
        Ok(Some(Node { value, origin }))
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value>) -> Result<Value> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.wrong("nested too deeply"));
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn word(&mut self) -> Result<Option<Value>> {
        for (word, value) in [("true", Some(Value::Bool(true))), ("false", Some(Value::Bool(false))), ("null", None)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("expected a value"))
    }

    fn number(&mut self) -> Result<Value> {
        let rest = &self.text[self.at..];
        let end = rest
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E')))
            .unwrap_or(rest.len());
        let digits = &rest[..end];
        let value = match (digits.parse::<i64>(), digits.parse::<f64>()) {
            (Ok(i), _) => Value::Integer(i),
            (Err(_), Ok(f)) => Value::Float(f),
            _ => return Err(self.wrong("not a number")),
        };
        self.at += end;
        Ok(value)
    }

    fn array(&mut self) -> Result<Value> {
        self.expect(b'[')?;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            self.space();
            match self.value()? {
                Some(node) => items.push(node),
                None => return Err(self.wrong("null in an array")),
            }
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.wrong("expected `,` or `]`")),
            }
        }
        self.at += 1;
        Ok(Value::Array(items))
    }

    fn object(&mut self) -> Result<Value> {
        self.expect(b'{')?;
        let mut table = Table::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Table(table));
        }
        loop {
            self.space();
            let key_at = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.wrong("expected a key in quotes"));
            }
            let key = self.string()?;
            self.space();
            self.expect(b':')?;
            self.space();
            if let Some(node) = self.value()? {
                if table.contains_key(&key) {
                    let message = format!("not valid JSON: duplicate key {key:?}");
                    return Err(Problem::new(Path::default(), Origin::Text(key_at), message));
                }
                table.insert(key, Entry { key: Origin::Text(key_at), node });
            }
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.wrong("expected `,` or `}`")),
            }
        }
        self.at += 1;
        Ok(Value::Table(table))
    }

    /// A string, read to its closing quote and unescaped by serde_json.
    fn string(&mut self) -> Result<String> {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        while let Some(&byte) = bytes.get(end) {
            match byte {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        if end >= bytes.len() {
            return Err(self.wrong("a string without its closing quote"));
        }
        let string = serde_json::from_str(&self.text[self.at..=end]).map_err(|_| self.wrong("a malformed string"))?;
        self.at = end + 1;
        Ok(string)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values() {
        let text = r#" {"a": [1, -2.5e3, true, "x\u00e9\n"], "b": {"c": null, "d": {}}} "#;
        let expected = json!({"a": [1, -2500.0, true, "xé\n"], "b": {"d": {}}});
        assert_eq!(parse(text).unwrap().to_json(), expected);
    }

    #[test]
    fn errors_have_places() {
        for (text, offset) in
            [("{\"a\": }", 6), ("[1, 2", 5), ("{\"a\": 1, \"a\": 2}", 9), ("{} x", 3), ("\"abc", 0), ("nul", 0)]
        {
            assert_eq!(parse(text).unwrap_err().origin, Origin::Text(offset), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).unwrap_err().message.contains("deeply"));
    }
}
