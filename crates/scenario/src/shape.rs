//! Reading the JSON Schema: references followed, unions flattened, the branch of a union that a value means.

use serde_json::Value as Json;

use crate::quantity::Quantity;
use crate::tree::{Node, Value};

/// The schema of one thing, all references resolved at the top.
pub(crate) fn resolve<'a>(root: &'a Json, mut schema: &'a Json) -> &'a Json {
    while let Some(target) = schema.get("$ref").and_then(Json::as_str) {
        match target.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

/// The alternatives of a schema, nested unions flattened, `null` (not given) left out.
pub(crate) fn branches<'a>(root: &'a Json, schema: &'a Json) -> Vec<&'a Json> {
    let mut out = Vec::new();
    collect(root, schema, &mut out);
    out
}

fn collect<'a>(root: &'a Json, schema: &'a Json, out: &mut Vec<&'a Json>) {
    let schema = resolve(root, schema);
    if schema.get("properties").is_none() {
        for union in ["oneOf", "anyOf"] {
            if let Some(members) = schema.get(union).and_then(Json::as_array) {
                for member in members {
                    collect(root, member, out);
                }
                return;
            }
        }
    }
    if schema.get("type").and_then(Json::as_str) != Some("null") {
        out.push(schema);
    }
}

/// Whether `type` of a branch admits `name` (`"string"`, or an array that has it).
pub(crate) fn is_type(schema: &Json, name: &str) -> bool {
    match schema.get("type") {
        Some(Json::String(t)) => t == name,
        Some(Json::Array(types)) => types.iter().any(|t| t == name),
        _ => false,
    }
}

/// The names that a text may have: `const`, with the `x-aliases` that are read for it, or `enum`.
pub(crate) fn names(schema: &Json) -> Option<Vec<&str>> {
    if let Some(name) = schema.get("const").and_then(Json::as_str) {
        let aliases = schema.get("x-aliases").and_then(Json::as_array).into_iter().flatten();
        return Some(std::iter::once(name).chain(aliases.filter_map(Json::as_str)).collect());
    }
    let members = schema.get("enum").and_then(Json::as_array)?;
    Some(members.iter().filter_map(Json::as_str).collect())
}

/// A table of known keys: its properties and, where it carries a tagged union (`kind`), those of the chosen member.
pub(crate) struct Shape<'a> {
    pub properties: Vec<(&'a str, &'a Json)>,
    pub required: Vec<&'a str>,
    /// The schema of keys that are names of the user's choice.
    pub free: Option<&'a Json>,
}

impl<'a> Shape<'a> {
    pub fn of(schema: &'a Json) -> Shape<'a> {
        let properties = match schema.get("properties").and_then(Json::as_object) {
            Some(map) => map.iter().map(|(k, v)| (k.as_str(), v)).collect(),
            None => Vec::new(),
        };
        let required = match schema.get("required").and_then(Json::as_array) {
            Some(list) => list.iter().filter_map(Json::as_str).collect(),
            None => Vec::new(),
        };
        let free = schema.get("additionalProperties").filter(|a| a.is_object() || **a == Json::Bool(true));
        Shape { properties, required, free }
    }

    pub fn property(&self, key: &str) -> Option<&'a Json> {
        self.properties.iter().find(|(name, _)| *name == key).map(|(_, schema)| *schema)
    }

    pub fn keys(&self) -> Vec<&'a str> {
        self.properties.iter().map(|(name, _)| *name).collect()
    }

    /// The tag that says which member of a union this is: (`"kind"`, `"fifo"`).
    pub fn tag(&self) -> Option<(&'a str, &'a str)> {
        self.properties.iter().find_map(|(key, schema)| schema.get("const").and_then(Json::as_str).map(|v| (*key, v)))
    }

    /// The only key of an externally tagged member such as `{ exponential = "8 KB" }`.
    pub fn sole(&self) -> Option<&'a str> {
        match (self.properties.as_slice(), self.required.as_slice()) {
            ([(key, schema)], [required]) if key == required && schema.get("const").is_none() => Some(key),
            _ => None,
        }
    }
}

/// Members of the union beside `properties` of a flattened table (a traffic entry: common keys and a kind's own).
pub(crate) fn members<'a>(root: &'a Json, schema: &'a Json) -> Vec<&'a Json> {
    match schema.get("oneOf").or(schema.get("anyOf")).and_then(Json::as_array) {
        Some(list) => list.iter().flat_map(|m| branches(root, m)).collect(),
        None => Vec::new(),
    }
}

/// Why no member of a tagged union fits.
pub(crate) enum Mismatch<'a> {
    /// The tag is missing: its key and what it may be.
    NoTag(&'a str, Vec<&'a str>),
    /// The tag is not a text, or not one of these.
    BadTag(&'a str, Vec<&'a str>),
}

/// The member that the table's tag names; without a tag, the untagged member of which it has all required keys.
pub(crate) fn by_tag<'a>(members: &[&'a Json], node: &Node) -> Option<Result<&'a Json, Mismatch<'a>>> {
    let (tagged, plain): (Vec<&Json>, Vec<&Json>) = members.iter().partition(|m| Shape::of(m).tag().is_some());
    let tags: Vec<(&str, &str)> = tagged.iter().filter_map(|m| Shape::of(m).tag()).collect();
    let (key, _) = *tags.first()?;
    let known: Vec<&str> = tags.iter().map(|(_, v)| *v).collect();
    let Some(given) = node.get(key) else {
        let whole = |m: &&&Json| {
            let required = Shape::of(m).required;
            !required.is_empty() && required.iter().all(|k| node.get(k).is_some())
        };
        return Some(plain.iter().find(whole).copied().ok_or(Mismatch::NoTag(key, known)));
    };
    let found = given.as_text().and_then(|text| known.iter().position(|k| *k == text));
    Some(match found {
        Some(i) => Ok(tagged[i]),
        None => Err(Mismatch::BadTag(key, known)),
    })
}

/// What a schema asks for, in words.
pub(crate) fn expected(root: &Json, schema: &Json) -> String {
    let mut words: Vec<String> = Vec::new();
    let all = branches(root, schema);
    let tags: Vec<(&str, &str)> = all.iter().filter_map(|branch| Shape::of(branch).tag()).collect();
    for branch in all {
        let word = match (tags.as_slice(), Shape::of(branch).tag()) {
            ([(key, first), ..], Some(_)) => {
                let known: Vec<&str> = tags.iter().map(|(_, tag)| *tag).collect();
                format!("a table like {{ {key} = \"{first}\" }} ({key}: {})", known.join(", "))
            }
            _ => word(branch),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(" or ")
}

fn word(schema: &Json) -> String {
    if let Some(names) = names(schema) {
        return names.iter().map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(" or ");
    }
    if let Some(quantity) = Quantity::of(schema) {
        return format!("a {} like \"{}\"", quantity.name(), quantity.example());
    }
    let named = |name| is_type(schema, name);
    if named("string") {
        "a text".to_owned()
    } else if named("boolean") {
        "true or false".to_owned()
    } else if named("integer") {
        "a whole number".to_owned()
    } else if named("number") {
        "a number".to_owned()
    } else if named("array") {
        "an array".to_owned()
    } else {
        match Shape::of(schema).sole() {
            Some(key) => {
                let inner = Shape::of(schema).property(key);
                let quantity = inner.and_then(Quantity::of);
                match (quantity, inner.is_some_and(|inner| is_type(inner, "integer"))) {
                    (Some(quantity), _) => format!("{{ {key} = \"{}\" }}", quantity.example()),
                    (None, true) => format!("{{ {key} = 1000 }}"),
                    (None, false) => format!("{{ {key} = ... }}"),
                }
            }
            None => "a table".to_owned(),
        }
    }
}

/// Whether a value is of the kind (text, number, table ...) that a branch takes at all.
pub(crate) fn admits(schema: &Json, node: &Node) -> bool {
    let named = |name| is_type(schema, name);
    match &node.value {
        Value::Text(_) => named("string") || names(schema).is_some(),
        Value::Bool(_) => named("boolean"),
        Value::Integer(_) => named("integer") || named("number"),
        Value::Float(_) => named("number"),
        Value::Array(_) => named("array"),
        Value::Table(_) => named("object") || schema.get("properties").is_some(),
    }
}
