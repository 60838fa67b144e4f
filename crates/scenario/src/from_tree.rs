//! Reads types from a tree. An error says which value the type refuses.

use std::fmt;

use elephan_units::stop;
use indexmap::map::Iter;
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::tree::{Entry, Node, Path, Step, Value};

/// Returns what a tree says as a type.
pub(crate) fn from_tree<T: DeserializeOwned>(tree: &Node) -> Result<T, Refused> {
    T::deserialize(Reader(tree))
}

/// A value that a type refuses, and why.
#[derive(Debug)]
pub(crate) struct Refused {
    pub message: String,
    /// The steps from the value up to the root of the tree.
    up: Vec<Step>,
}

impl Refused {
    /// Returns the place of the value. It is that of a table around the value if serde reads the whole table before it looks at parts.
    pub fn path(&self) -> Path {
        Path(self.up.iter().rev().cloned().collect())
    }

    fn below(mut self, step: Step) -> Refused {
        self.up.push(step);
        self
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

impl de::Error for Refused {
    fn custom<T: fmt::Display>(message: T) -> Refused {
        Refused { message: message.to_string().replace('\n', " "), up: Vec::new() }
    }
}

struct Reader<'de>(&'de Node);

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        stop::look();
        match &self.0.value {
            Value::Bool(b) => visitor.visit_bool(*b),
            Value::Integer(i) => visitor.visit_i64(*i),
            Value::Float(f) => visitor.visit_f64(*f),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => {
                let mut left = Items { items, next: 0 };
                let value = visitor.visit_seq(&mut left)?;
                if left.next < items.len() {
                    let wanted = format!("{} values", left.next);
                    return Err(Refused::invalid_length(items.len(), &wanted.as_str()));
                }
                Ok(value)
            }
            Value::Table(table) => visitor.visit_map(Entries { left: table.iter(), value: None }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }

    /// Reads a name, or a table whose only key is the name.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        match &self.0.value {
            Value::Text(name) => visitor.visit_enum(named(name)),
            Value::Table(table) if table.len() == 1 => {
                let only = table.iter().next().map(|(name, entry)| Variant { name, node: &entry.node });
                only.map_or_else(|| Err(Refused::custom("an empty table")), |variant| visitor.visit_enum(variant))
            }
            _ => Err(Refused::custom(format!("{}: expected a name, or a table with one key", self.0.shown()))),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

fn named(name: &str) -> StrDeserializer<'_, Refused> {
    name.into_deserializer()
}

struct Items<'de> {
    items: &'de [Node],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Refused> {
        let i = self.next;
        self.next += 1;
        let read = |node| seed.deserialize(Reader(node)).map_err(|refused| refused.below(Step::Index(i)));
        self.items.get(i).map(read).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len().saturating_sub(self.next))
    }
}

struct Entries<'de> {
    left: Iter<'de, String, Entry>,
    /// The value of the key that was read last.
    value: Option<(&'de str, &'de Node)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refused> {
        let Some((key, entry)) = self.left.next() else { return Ok(None) };
        self.value = Some((key, &entry.node));
        seed.deserialize(named(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Refused> {
        let Some((key, node)) = self.value.take() else { return Err(Refused::custom("a value without a key")) };
        seed.deserialize(Reader(node)).map_err(|refused| refused.below(Step::from(key)))
    }
}

/// A variant of an enum that carries a value.
struct Variant<'de> {
    name: &'de str,
    node: &'de Node,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Refused;
    type Variant = Variant<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Variant<'de>), Refused> {
        Ok((seed.deserialize(named(self.name))?, self))
    }
}

impl<'de> Variant<'de> {
    fn read<T>(self, read: impl FnOnce(Reader<'de>) -> Result<T, Refused>) -> Result<T, Refused> {
        read(Reader(self.node)).map_err(|refused| refused.below(Step::from(self.name)))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Refused;

    fn unit_variant(self) -> Result<(), Refused> {
        self.read(<()>::deserialize)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Refused> {
        self.read(|reader| seed.deserialize(reader))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Refused> {
        self.read(|reader| reader.deserialize_any(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Refused> {
        self.read(|reader| reader.deserialize_any(visitor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Origin, at};
    use serde_json::{Value as Json, json};

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Shape {
        Point,
        Circle(f64),
        Box { width: u8, height: Option<u8> },
        Line(i32, i32),
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Drawing {
        name: Option<String>,
        shapes: Vec<Shape>,
    }

    fn read<T: DeserializeOwned>(json: Json) -> Result<T, Refused> {
        from_tree(&Node::from_json(&json, Origin::Program))
    }

    #[test]
    fn a_tree_is_read_as_serde_json_reads_its_text() {
        for json in [
            json!({ "shapes": [] }),
            json!({ "name": "x", "shapes": ["point", { "circle": 2 }, { "line": [-1, 2] }] }),
            json!({ "shapes": [{ "box": { "width": 255 } }, { "box": { "width": 1, "height": 2 } }] }),
        ] {
            let drawing: Drawing = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(read::<Drawing>(json).unwrap(), drawing);
        }
    }

    #[test]
    fn what_is_refused_has_its_place() {
        for (json, path) in [
            (json!({ "name": 1, "shapes": [] }), at!["name"]),
            (json!({ "shapes": ["point", "cone"] }), at!["shapes", 1]),
            (json!({ "shapes": [{ "box": { "width": 256 } }] }), at!["shapes", 0, "box", "width"]),
            (json!({ "shapes": [{ "point": 1 }] }), at!["shapes", 0, "point"]),
            (json!({ "shapes": [{ "line": [1] }] }), at!["shapes", 0, "line"]),
            (json!({ "shapes": [{ "line": [1, 2, 3] }] }), at!["shapes", 0, "line"]),
            (json!({ "shapes": [{ "circle": 1, "point": 1 }] }), at!["shapes", 0]),
            (json!({}), Path::default()),
        ] {
            assert_eq!(read::<Drawing>(json.clone()).unwrap_err().path(), path, "{json}");
        }
    }
}
