//! The tree against the schema: unknown keys, missing keys, wrong types, bad quantities, each at its place.
//!
//! Serde would find most of these too, but its tagged enums lose positions; after this walk, deserialisation can fail
//! only where a type has rules of its own.

use elephan_units::stop;
use serde_json::Value as Json;

use crate::elsewhere;
use crate::error::Problem;
use crate::near::{hint, key_hint, nearest};
use crate::quantity::Quantity;
use crate::shape::{Mismatch, Shape, admits, branches, by_tag, expected, is_type, members, names, resolve};
use crate::tree::{Node, Path, Step, Value};

/// Checks `node` against `schema`; every problem found, in written order.
pub(crate) fn walk(root: &Json, schema: &Json, node: &Node, path: &Path) -> Vec<Problem> {
    let mut walker = Walker { root, problems: Vec::new() };
    walker.any(schema, node, path);
    walker.problems
}

struct Walker<'a> {
    root: &'a Json,
    problems: Vec<Problem>,
}

impl<'a> Walker<'a> {
    fn report(&mut self, path: &Path, node: &Node, message: String) {
        self.problems.push(Problem::new(path.clone(), node.origin, message));
    }

    fn any(&mut self, schema: &'a Json, node: &Node, path: &Path) {
        if *schema == Json::Bool(true) {
            return;
        }
        stop::look();
        let all = branches(self.root, schema);
        let fitting: Vec<&Json> = all.iter().copied().filter(|b| admits(b, node)).collect();
        match (&node.value, fitting.as_slice()) {
            (_, []) => self.mismatch(schema, &all, node, path),
            (Value::Text(text), some) => self.text(some, text, node, path),
            (Value::Table(_), some) => self.union(some, node, path),
            (_, [one]) => self.one(one, node, path),
            (_, [first, ..]) => self.one(first, node, path),
        }
    }

    /// Nothing that may stand here looks like this.
    fn mismatch(&mut self, schema: &Json, all: &[&Json], node: &Node, path: &Path) {
        let quantity = all.iter().find_map(|b| Quantity::of(b));
        let number = matches!(node.value, Value::Integer(_) | Value::Float(_));
        let message = match (quantity, number) {
            (Some(q), true) => format!("{}: a {} needs a unit, like \"{}\"", node.shown(), q.name(), q.example()),
            _ => format!("{}: expected {}", node.shown(), expected(self.root, schema)),
        };
        self.report(path, node, message);
    }

    fn text(&mut self, fitting: &[&Json], text: &str, node: &Node, path: &Path) {
        let known: Vec<&str> = fitting.iter().filter_map(|b| names(b)).flatten().collect();
        if known.contains(&text) {
            return;
        }
        let Some(open) = fitting.iter().find(|b| names(b).is_none()) else {
            let what = path
                .0
                .iter()
                .rev()
                .find_map(|s| if let Step::Key(key) = s { Some(key.replace('_', " ")) } else { None });
            let message = format!("unknown {} {text:?}{}", what.unwrap_or_default(), hint(text, &known));
            return self.report(path, node, message);
        };
        if let Some(quantity) = Quantity::of(open)
            && let Err(message) = quantity.check(text)
        {
            self.report(path, node, message);
        }
    }

    fn union(&mut self, fitting: &[&'a Json], node: &Node, path: &Path) {
        match by_tag(fitting, node) {
            Some(Ok(member)) => return self.table(member, node, path),
            Some(Err(mismatch)) => return self.bad_tag(mismatch, node, path),
            None => {}
        }
        if let [one] = fitting {
            return self.table(one, node, path);
        }
        let given = node.as_table().map(|t| t.keys().map(String::as_str).collect::<Vec<_>>()).unwrap_or_default();
        let by_key = fitting.iter().find(|b| Shape::of(b).sole().is_some_and(|key| given.contains(&key)));
        if let Some(member) = by_key {
            return self.table(member, node, path);
        }
        let known: Vec<&str> = fitting.iter().filter_map(|b| Shape::of(b).sole()).collect();
        match (node.as_table().and_then(|t| t.first()), known.is_empty()) {
            (Some((key, entry)), false) => {
                let message = format!("unknown key \"{key}\"{}", hint(key, &known));
                self.problems.push(Problem::new(path.clone(), entry.key, message));
            }
            (None, false) => self.report(path, node, format!("an empty table: expected one of {}", known.join(", "))),
            // A plain table among tagged ones: the first is as good as any for a message.
            _ => self.table(fitting[0], node, path),
        }
    }

    fn bad_tag(&mut self, mismatch: Mismatch<'_>, node: &Node, path: &Path) {
        match mismatch {
            Mismatch::NoTag(key, known) => {
                // A misspelt `kind` is more likely than a forgotten one.
                let close = node.as_table().and_then(|t| t.iter().find(|(k, _)| nearest(k, [key]).is_some()));
                match close {
                    Some((wrong, entry)) => {
                        let message = format!("unknown key \"{wrong}\"; did you mean \"{key}\"?");
                        self.problems.push(Problem::new(path.clone(), entry.key, message));
                    }
                    None => self.report(path, node, format!("missing key \"{key}\": one of {}", known.join(", "))),
                }
            }
            Mismatch::BadTag(key, known) => {
                let Some(given) = node.get(key) else { return };
                let other = given.as_text().filter(|_| in_traffic(path)).and_then(elsewhere::traffic_kind);
                let message = match given.as_text() {
                    Some(text) if let Some(other) = other => format!("unknown {key} {text:?}; write {other}"),
                    Some(text) => format!("unknown {key} {text:?}{}", hint(text, &known)),
                    None => format!("{}: expected one of {}", given.shown(), known.join(", ")),
                };
                self.report(&path.key(key), given, message);
            }
        }
    }

    fn table(&mut self, schema: &'a Json, node: &Node, path: &Path) {
        let schema = resolve(self.root, schema);
        let Some(table) = node.as_table() else { return };
        let mut shape = Shape::of(schema);
        let members = members(self.root, schema);
        match by_tag(&members, node) {
            Some(Ok(member)) => {
                let own = Shape::of(member);
                shape.properties.extend(own.properties);
                shape.required.extend(own.required);
            }
            Some(Err(mismatch)) => return self.bad_tag(mismatch, node, path),
            None => {}
        }
        for (key, entry) in table {
            let inner = path.key(key);
            match shape.property(key).or(shape.free) {
                Some(property) => self.any(property, &entry.node, &inner),
                None => {
                    let message = format!("unknown key \"{}\"{}", key.escape_debug(), key_hint(key, &shape.keys()));
                    self.problems.push(Problem::new(path.clone(), entry.key, message));
                }
            }
        }
        for required in &shape.required {
            if !table.contains_key(*required) {
                let what = shape.property(required).map(|p| expected(self.root, p)).unwrap_or_default();
                self.report(path, node, format!("missing key \"{required}\": {what}"));
            }
        }
    }

    /// Numbers, booleans, arrays.
    fn one(&mut self, schema: &'a Json, node: &Node, path: &Path) {
        match &node.value {
            Value::Float(f) if !f.is_finite() => {
                self.report(path, node, format!("{}: must be a finite number", node.shown()))
            }
            Value::Float(f) => self.range(schema, *f, node, path),
            Value::Integer(i) => self.range(schema, *i as f64, node, path),
            Value::Array(items) => self.array(schema, items, node, path),
            _ => {}
        }
    }

    fn range(&mut self, schema: &Json, value: f64, node: &Node, path: &Path) {
        let bound = |key: &str| schema.get(key).and_then(Json::as_f64);
        let whole = is_type(schema, "integer");
        let message = if let Some(low) = bound("minimum").filter(|low| value < *low) {
            format!("{}: must be at least {}", node.shown(), plain(low, whole))
        } else if let Some(low) = bound("exclusiveMinimum").filter(|low| value <= *low) {
            format!("{}: must be above {}", node.shown(), plain(low, whole))
        } else if let Some(high) = bound("maximum").filter(|high| value > *high) {
            format!("{}: must be at most {}", node.shown(), plain(high, whole))
        } else if let Some(high) = bound("exclusiveMaximum").filter(|high| value >= *high) {
            format!("{}: must be below {}", node.shown(), plain(high, whole))
        } else if let Some(of) = bound("multipleOf").filter(|of| value % *of != 0.0) {
            format!("{}: must be a multiple of {}", node.shown(), plain(of, whole))
        } else if let Some(high) = largest(schema).filter(|high| value > *high) {
            format!("{}: must be at most {}", node.shown(), plain(high, whole))
        } else {
            return;
        };
        self.report(path, node, message);
    }

    fn array(&mut self, schema: &'a Json, items: &[Node], node: &Node, path: &Path) {
        let count = |key: &str| schema.get(key).and_then(Json::as_u64).map(|n| n as usize);
        let (min, max) = (count("minItems").unwrap_or(0), count("maxItems").unwrap_or(usize::MAX));
        if items.len() < min || items.len() > max {
            let wanted = match (min, max) {
                (a, b) if a == b => format!("{a}"),
                (a, usize::MAX) => format!("at least {a}"),
                (a, b) => format!("{a} to {b}"),
            };
            self.report(path, node, format!("an array of {}: expected {wanted}", values(items.len())));
            return;
        }
        let prefix = schema.get("prefixItems").and_then(Json::as_array);
        for (i, item) in items.iter().enumerate() {
            let of = prefix.and_then(|p| p.get(i)).or(schema.get("items"));
            if let Some(of) = of {
                self.any(of, item, &path.index(i));
            }
        }
    }
}

/// Whether the place is an entry of `[[traffic]]` itself, not a table within it.
fn in_traffic(path: &Path) -> bool {
    matches!(path.0.as_slice(), [Step::Key(list), Step::Index(_)] if list == "traffic")
}

fn values(count: usize) -> String {
    if count == 1 { "1 value".to_owned() } else { format!("{count} values") }
}

fn plain(bound: f64, whole: bool) -> String {
    if whole { format!("{bound:.0}") } else { bound.to_string() }
}

/// What the integer's type can hold, where the schema does not say it (as for 32 and 64 bits).
fn largest(schema: &Json) -> Option<f64> {
    match schema.get("format").and_then(Json::as_str)? {
        "uint32" => Some(f64::from(u32::MAX)),
        "int32" => Some(f64::from(i32::MAX)),
        "uint8" => Some(255.0),
        "uint16" => Some(65535.0),
        _ => None,
    }
}
