//! JSON text to tree. serde_json reads the text; a part of it that serde_json leaves as it is shows where a key or a value stands.

use std::fmt;

use elephan_units::stop;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use crate::error::Problem;
use crate::tree::{Entry, Node, Origin, Path, Table, Value};

/// Nesting beyond which a text is refused: each level of it is read once more.
const DEPTH_MAX: usize = 100;

pub(crate) fn parse(text: &str) -> Result<Node> {
    let reader = Reader { text };
    let whole: &RawValue = reader.part(text)?;
    reader.node(whole.get(), 0)?.ok_or_else(|| reader.wrong(whole.get(), "null is not a scenario"))
}

type Result<T> = std::result::Result<T, Problem>;

struct Reader<'a> {
    text: &'a str,
}

impl<'a> Reader<'a> {
    /// Returns where a part of the text stands.
    fn origin(&self, part: &str) -> Origin {
        Origin::Text(part.as_ptr().addr().saturating_sub(self.text.as_ptr().addr()))
    }

    fn wrong(&self, part: &str, what: &str) -> Problem {
        Problem::new(Path::default(), self.origin(part), format!("not valid JSON: {what}"))
    }

    /// Returns what a part of the text says, or an error at the place in it that serde_json names.
    fn part<T: Deserialize<'a>>(&self, part: &'a str) -> Result<T> {
        serde_json::from_str(part).map_err(|error| {
            let message = error.to_string();
            let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
            let lines: usize = part.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
            let at = (lines + error.column().saturating_sub(1)).min(part.len());
            self.wrong(part.get(at..).unwrap_or(part), what)
        })
    }

    /// Returns the node of a part of the text; `None` for `null`, which means "not given".
    fn node(&self, part: &'a str, depth: usize) -> Result<Option<Node>> {
        stop::look();
        let value = match part.as_bytes().first() {
            _ if depth > DEPTH_MAX => return Err(self.wrong(part, "nested too deeply")),
            Some(b'{') => self.table(part, depth)?,
            Some(b'[') => self.array(part, depth)?,
            _ => match self.part(part)? {
                Json::Null => return Ok(None),
                scalar => Node::from_json(&scalar, Origin::Program).value,
            },
        };
        Ok(Some(Node { value, origin: self.origin(part) }))
    }

    fn array(&self, part: &'a str, depth: usize) -> Result<Value> {
        let items: Vec<&RawValue> = self.part(part)?;
        let item = |raw: &&'a RawValue| {
            self.node(raw.get(), depth + 1)?.ok_or_else(|| self.wrong(raw.get(), "null in an array"))
        };
        items.iter().map(item).collect::<Result<_>>().map(Value::Array)
    }

    fn table(&self, part: &'a str, depth: usize) -> Result<Value> {
        let Pairs(pairs) = self.part(part)?;
        let mut table = Table::with_capacity(pairs.len());
        for (key, value) in pairs {
            let name: String = self.part(key.get())?;
            let Some(node) = self.node(value.get(), depth + 1)? else { continue };
            if table.contains_key(&name) {
                return Err(self.wrong(key.get(), &format!("duplicate key {name:?}")));
            }
            table.insert(name, Entry { key: self.origin(key.get()), node });
        }
        Ok(Value::Table(table))
    }
}

/// The keys and values of an object, as they stand in the text.
struct Pairs<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Pairs<'de>, D::Error> {
        struct Each;

        impl<'de> Visitor<'de> for Each {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> std::result::Result<Pairs<'de>, M::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values() {
        let text = r#" {"a": [1, -2.5e3, true, "x\u00e9\n"], "b": {"c": null, "d": {}}, "\u0065": 1e400} "#;
        let expected = json!({"a": [1, -2500.0, true, "xé\n"], "b": {"d": {}}});
        assert!(parse(text).unwrap_err().message.contains("out of range"));
        assert_eq!(parse(&text.replace("1e400", "null")).unwrap().to_json(), expected);
    }

    #[test]
    fn keys_and_values_have_places() {
        let tree = parse("{\n \"a\" : [ 1, {\"b\":\n\"x\"} ]}").unwrap();
        let (a, b) = (&tree.as_table().unwrap()["a"], tree.at(&crate::tree::at!["a", 1, "b"]).unwrap());
        assert_eq!((a.key, a.node.origin, b.origin), (Origin::Text(3), Origin::Text(9), Origin::Text(20)));
    }

    #[test]
    fn errors_have_places() {
        for (text, offset) in [
            ("{\"a\": }", 6),
            ("[1, 2", 4),
            ("{\"a\": 1, \"\\u0061\": 2}", 9),
            ("{} x", 3),
            ("\"abc", 3),
            ("[\n  nul]", 7),
            // At its last digit.
            ("[1,\n {\"a\": 1e999}]", 15),
            ("[1, null]", 4),
        ] {
            assert_eq!(parse(text).unwrap_err().origin, Origin::Text(offset), "{text}");
        }
        for open in ["[", "{\"a\":"] {
            assert!(parse(&open.repeat(100_000)).is_err());
            let close = if open == "[" { "]" } else { "}" };
            let whole = format!("{}1{}", open.repeat(1000), close.repeat(1000));
            assert!(parse(&whole).unwrap_err().message.contains("deeply"));
        }
    }
}
