//! The written scenario as a tree of values that remember where they came from.
//!
//! TOML and JSON both become this tree; overrides, presets and templates change it; the schema is checked on it; only
//! then is it turned into types. So every error, of whatever stage, can name a place.

use std::fmt;

use elephan_units::stop;
use indexmap::IndexMap;
use serde_json::Value as Json;

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Byte offset in the text.
    Text(usize),
    /// Index into the list of overrides.
    Override(usize),
    /// Filled in by a template's or preset's own default.
    Filled,
    /// Given, without a position (a value handed over by a program).
    Program,
}

/// A value and its origin.
#[derive(Clone, Debug)]
pub struct Node {
    pub value: Value,
    pub origin: Origin,
}

#[derive(Clone, Debug)]
pub enum Value {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    Array(Vec<Node>),
    Table(Table),
}

/// Keys in written order.
pub type Table = IndexMap<String, Entry>;

/// What a key holds, and where the key stands.
#[derive(Clone, Debug)]
pub struct Entry {
    pub key: Origin,
    pub node: Node,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Key(String),
    Index(usize),
}

/// A place in the tree: `traffic[0].load`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(pub Vec<Step>);

impl Path {
    pub fn key(&self, name: &str) -> Path {
        let mut steps = self.0.clone();
        steps.push(Step::Key(name.to_owned()));
        Path(steps)
    }

    pub fn index(&self, i: usize) -> Path {
        let mut steps = self.0.clone();
        steps.push(Step::Index(i));
        Path(steps)
    }

    pub fn begins_with(&self, key: &str) -> bool {
        self.0.first() == Some(&Step::Key(key.to_owned()))
    }

    /// The path without its last step.
    pub fn parent(&self) -> Path {
        Path(self.0[..self.0.len().saturating_sub(1)].to_vec())
    }
}

impl From<&str> for Step {
    fn from(key: &str) -> Step {
        Step::Key(key.to_owned())
    }
}
impl From<&String> for Step {
    fn from(key: &String) -> Step {
        Step::Key(key.clone())
    }
}
impl From<usize> for Step {
    fn from(i: usize) -> Step {
        Step::Index(i)
    }
}

/// `at!["links", 3, "rate"]`
macro_rules! at {
    ($($step:expr),* $(,)?) => { $crate::tree::Path(vec![$($crate::tree::Step::from($step)),*]) };
}
pub(crate) use at;

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(i) => write!(f, "[{i}]")?,
                Step::Key(key) => {
                    if n > 0 {
                        f.write_str(".")?;
                    }
                    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
                    if !key.is_empty() && key.chars().all(plain) {
                        f.write_str(key)?;
                    } else {
                        write!(f, "{key:?}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Node {
    pub fn text(text: impl Into<String>, origin: Origin) -> Node {
        Node { value: Value::Text(text.into()), origin }
    }

    pub fn integer(i: i64, origin: Origin) -> Node {
        Node { value: Value::Integer(i), origin }
    }

    pub fn table(origin: Origin) -> Node {
        Node { value: Value::Table(Table::new()), origin }
    }

    pub fn array(items: Vec<Node>, origin: Origin) -> Node {
        Node { value: Value::Array(items), origin }
    }

    /// A tree of one origin.
    pub fn from_json(json: &Json, origin: Origin) -> Node {
        stop::look();
        let value = match json {
            // `null` means "not given" and is left out of tables; elsewhere it is as good as nothing.
            Json::Null => Value::Table(Table::new()),
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(n) => match (n.as_i64(), n.as_f64()) {
                (Some(i), _) => Value::Integer(i),
                (None, f) => Value::Float(f.unwrap_or(f64::NAN)),
            },
            Json::String(s) => Value::Text(s.clone()),
            Json::Array(items) => Value::Array(items.iter().map(|i| Node::from_json(i, origin)).collect()),
            Json::Object(map) => {
                let entry =
                    |(k, v): (&String, &Json)| (k.clone(), Entry { key: origin, node: Node::from_json(v, origin) });
                Value::Table(map.iter().filter(|(_, v)| !v.is_null()).map(entry).collect())
            }
        };
        Node { value, origin }
    }

    pub fn to_json(&self) -> Json {
        stop::look();
        match &self.value {
            Value::Bool(b) => Json::Bool(*b),
            Value::Integer(i) => Json::from(*i),
            Value::Float(f) => Json::from(*f),
            Value::Text(s) => Json::String(s.clone()),
            Value::Array(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::Table(table) => Json::Object(table.iter().map(|(k, e)| (k.clone(), e.node.to_json())).collect()),
        }
    }

    pub fn as_table(&self) -> Option<&Table> {
        if let Value::Table(table) = &self.value { Some(table) } else { None }
    }

    pub fn as_table_mut(&mut self) -> Option<&mut Table> {
        if let Value::Table(table) = &mut self.value { Some(table) } else { None }
    }

    pub fn as_text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_table().and_then(|t| t.get(key)).map(|e| &e.node)
    }

    pub fn items(&self) -> &[Node] {
        if let Value::Array(items) = &self.value { items } else { &[] }
    }

    /// The node at `path`, or the deepest one on the way to it, and how many steps were taken.
    pub fn deepest(&self, path: &Path) -> (&Node, usize) {
        let mut node = self;
        for (n, step) in path.0.iter().enumerate() {
            let next = match (step, &node.value) {
                (Step::Key(key), Value::Table(table)) => table.get(key).map(|e| &e.node),
                (Step::Index(i), Value::Array(items)) => items.get(*i),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => return (node, n),
            }
        }
        (node, path.0.len())
    }

    /// An entry of an array of this table.
    pub fn item_mut(&mut self, key: &str, i: usize) -> Option<&mut Node> {
        match &mut self.as_table_mut()?.get_mut(key)?.node.value {
            Value::Array(items) => items.get_mut(i),
            _ => None,
        }
    }

    /// Takes out the last key on the way to `path`, with its value, and returns the key.
    pub fn take_out(&mut self, path: &Path) -> Option<String> {
        let last = path.0.iter().rposition(|step| matches!(step, Step::Key(_)))?;
        let (Step::Key(key), above) = (&path.0[last], &path.0[..last]) else { return None };
        let mut node = self;
        for step in above {
            node = match (step, &mut node.value) {
                (Step::Key(key), Value::Table(table)) => &mut table.get_mut(key)?.node,
                (Step::Index(i), Value::Array(items)) => items.get_mut(*i)?,
                _ => return None,
            };
        }
        node.as_table_mut()?.shift_remove(key).map(|_| key.clone())
    }

    pub fn at(&self, path: &Path) -> Option<&Node> {
        let (node, steps) = self.deepest(path);
        (steps == path.0.len()).then_some(node)
    }

    /// Whether this value or one within it stands there.
    pub fn has_origin(&self, origin: Origin) -> bool {
        let inside = match &self.value {
            Value::Array(items) => items.iter().any(|item| item.has_origin(origin)),
            Value::Table(table) => table.values().any(|e| e.key == origin || e.node.has_origin(origin)),
            _ => false,
        };
        inside || self.origin == origin
    }

    /// Sets `key`; an existing key keeps its place.
    pub fn set(&mut self, key: &str, node: Node) {
        if let Some(table) = self.as_table_mut() {
            let origin = node.origin;
            match table.get_mut(key) {
                Some(entry) => *entry = Entry { key: origin, node },
                None => {
                    table.insert(key.to_owned(), Entry { key: origin, node });
                }
            }
        }
    }

    /// Adds what `below` has and `self` has not, table by table.
    pub fn fill_from(&mut self, below: &Node) {
        let (Some(mine), Some(theirs)) = (self.as_table_mut(), below.as_table()) else { return };
        for (key, entry) in theirs {
            match mine.get_mut(key) {
                Some(own) => own.node.fill_from(&entry.node),
                None => {
                    mine.insert(key.clone(), entry.clone());
                }
            }
        }
    }

    /// The value as an error message shows it, on one line.
    pub fn shown(&self) -> String {
        match &self.value {
            Value::Bool(b) => b.to_string(),
            Value::Integer(i) => i.to_string(),
            Value::Float(f) => f.to_string(),
            Value::Text(s) => format!("{s:?}"),
            Value::Array(_) => "an array".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }
}
