//! The resolved scenario as text, and where each of its values comes from.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use elephan_units::stop;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value as Toml, value};

use crate::preset;
use crate::shape::{Shape, branches, members};
use crate::tree::{self, Node, Path, Step};
use crate::written::Scenario;

/// Where a parameter's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The scenario or an override says it.
    Given,
    /// A documented default with a source, or a plain absence (no latency, no loss).
    Default,
    /// A default that nothing published supports.
    Assumed,
}

/// A parameter of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Provenance {
    pub value: Json,
    pub origin: Origin,
    /// For a stack's default, where it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Returns the values of a resolved scenario, without what is not given.
pub(crate) fn values(words: &Scenario) -> Json {
    let mut json = serde_json::to_value(words).unwrap_or_default();
    prune(&mut json);
    json
}

/// Returns the origin of each leaf of a resolved scenario but `answer`, which has words for a reader and no parameter.
pub(crate) fn provenance(words: &Scenario, tree: &Node, values: &Json, root: &Json) -> Vec<(Path, Provenance)> {
    let mut leaves = Vec::new();
    if values.is_object() {
        let mut marker = Marker { tree, words, root, stacks: stack_origins(), out: &mut leaves };
        marker.mark(root, values, &Path::default());
    }
    leaves
}

/// Returns a scenario that is a JSON value as TOML, laid out as a resolved one is.
pub fn to_toml(scenario: &Json) -> String {
    let mut out = Looking::default();
    // Nothing that writes to a text in memory fails.
    let _ = scenario.as_object().map(|map| write!(out, "{}", document(map)));
    out.text
}

/// Collects a text and looks, as it grows, whether the work is to stop.
#[derive(Default)]
struct Looking {
    text: String,
    seldom: stop::Seldom,
}

impl Write for Looking {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.seldom.look();
        self.text.push_str(part);
        Ok(())
    }
}

/// Leaves out what is not given and tables without content.
fn prune(json: &mut Json) {
    stop::look();
    if let Json::Object(map) = json {
        map.values_mut().for_each(prune);
        map.retain(|_, v| !v.is_null() && v.as_object().is_none_or(|m| !m.is_empty()));
    } else if let Json::Array(items) = json {
        items.iter_mut().for_each(prune);
    }
}

fn document(map: &Map<String, Json>) -> DocumentMut {
    let mut document = DocumentMut::new();
    for (key, json) in map {
        let item = match (key.as_str(), json) {
            ("hosts" | "switches", Json::Object(groups)) => {
                let mut section = Table::new();
                section.set_implicit(true);
                for (name, group) in groups {
                    section.insert(name, Item::Table(table(group)));
                }
                Item::Table(section)
            }
            ("links" | "traffic" | "change", Json::Array(entries)) => {
                let mut tables = ArrayOfTables::new();
                entries.iter().for_each(|entry| tables.push(table(entry)));
                Item::ArrayOfTables(tables)
            }
            ("answer" | "record" | "congestion_management", _) => Item::Table(table(json)),
            _ => value(inline(json)),
        };
        document.insert(key, item);
    }
    document
}

/// A table with its `tcp` as a table of its own, everything else on one line each.
fn table(json: &Json) -> Table {
    let mut out = Table::new();
    for (key, json) in json.as_object().into_iter().flatten() {
        let item = if key == "tcp" { Item::Table(table(json)) } else { value(inline(json)) };
        out.insert(key, item);
    }
    out
}

fn inline(json: &Json) -> Toml {
    stop::look();
    match json {
        Json::Null => Toml::from(""),
        Json::Bool(b) => Toml::from(*b),
        Json::Number(n) => n.as_i64().map(Toml::from).unwrap_or_else(|| Toml::from(n.as_f64().unwrap_or_default())),
        Json::String(s) => Toml::from(s.as_str()),
        Json::Array(items) => Toml::Array(items.iter().map(inline).collect::<Array>()),
        Json::Object(map) => {
            Toml::InlineTable(map.iter().map(|(k, v)| (k.as_str(), inline(v))).collect::<InlineTable>())
        }
    }
}

struct Marker<'a> {
    tree: &'a Node,
    words: &'a Scenario,
    root: &'a Json,
    stacks: StackOrigins,
    out: &'a mut Vec<(Path, Provenance)>,
}

/// Origin and source of every option of every stack.
type StackOrigins = BTreeMap<(&'static str, &'static str), (Origin, String)>;

fn stack_origins() -> StackOrigins {
    let mut out = BTreeMap::new();
    for (stack, _) in elephan_tcp::stacks() {
        for row in elephan_tcp::stack(stack).into_iter().flat_map(|s| s.provenance()) {
            let of = match row.origin {
                elephan_tcp::options::Origin::Assumed(source) => (Origin::Assumed, source.to_owned()),
                elephan_tcp::options::Origin::Default(source) => (Origin::Default, source.to_owned()),
                elephan_tcp::options::Origin::Given => continue,
            };
            out.insert((*stack, row.name), of);
        }
    }
    out
}

impl<'a> Marker<'a> {
    fn mark(&mut self, schema: &'a Json, json: &Json, at: &Path) {
        match json {
            Json::Object(map) => {
                for (key, inner) in map.iter().filter(|(key, _)| !at.0.is_empty() || *key != "answer") {
                    match self.property(schema, json, key) {
                        Some(of) if inner.is_object() || has_tables(inner) => self.mark(of, inner, &at.key(key)),
                        of => self.leaf(of, inner, at.key(key)),
                    }
                }
            }
            Json::Array(items) => {
                let of = branches(self.root, schema).into_iter().find_map(|b| b.get("items"));
                for (i, item) in items.iter().enumerate() {
                    match of {
                        Some(of) if item.is_object() => self.mark(of, item, &at.index(i)),
                        _ => self.leaf(of, item, at.index(i)),
                    }
                }
            }
            _ => self.leaf(Some(schema), json, at.clone()),
        }
    }

    /// The schema of a key: of the members that have it, the one with the tag's value.
    fn property(&self, schema: &'a Json, json: &Json, key: &str) -> Option<&'a Json> {
        let mut fallback = None;
        for branch in branches(self.root, schema) {
            for part in std::iter::once(branch).chain(members(self.root, branch)) {
                let shape = Shape::of(part);
                let Some(of) = shape.property(key).or(shape.free) else { continue };
                match shape.tag() {
                    Some((tag, name)) if json.get(tag).and_then(Json::as_str) != Some(name) => fallback = Some(of),
                    _ => return Some(of),
                }
            }
        }
        fallback
    }

    fn leaf(&mut self, schema: Option<&Json>, json: &Json, at: Path) {
        stop::look();
        let (origin, source) = self.origin(schema, json, &at);
        self.out.push((at, Provenance { value: listed(json), origin, source }));
    }

    fn origin(&self, schema: Option<&Json>, json: &Json, at: &Path) -> (Origin, Option<String>) {
        if self.given(json, at) {
            return (Origin::Given, None);
        }
        let keys: Vec<&str> = at.0.iter().map(|s| if let Step::Key(key) = s { key } else { "[]" }).collect();
        match keys.as_slice() {
            ["hosts", name, "tcp", option, ..] => return self.option(schema, (name, option), json, at),
            ["hosts", _, "stack"] if self.tree.get("stack").is_some() => return (Origin::Given, None),
            ["switches", name, ..] if self.tree.at(at).is_some() => {
                let preset = self.words.switches.get(*name).and_then(|s| serde_json::to_value(s.preset).ok());
                let name = preset.as_ref().and_then(Json::as_str).map(|name| format!("preset {name}"));
                return (Origin::Assumed, name);
            }
            ["congestion_management", key] if self.tree.at(at).is_some() => {
                let preset =
                    self.tree.get("congestion_management").and_then(|m| m.get("preset")).and_then(Node::as_text);
                let origin = if preset::is_assumed_of_qcn(key) { Origin::Assumed } else { Origin::Default };
                return (origin, Some(format!("preset {}", preset.unwrap_or_default())));
            }
            ["traffic", _, "congestion_control", ..] => return self.congestion_control(schema, json, at),
            _ => {}
        }
        documented(schema)
    }

    /// A TCP option of a host: given for all hosts, or of its stack.
    fn option(
        &self,
        schema: Option<&Json>,
        (host, option): (&str, &str),
        json: &Json,
        at: &Path,
    ) -> (Origin, Option<String>) {
        let mut shared = Path(vec![Step::Key("tcp".to_owned())]);
        shared.0.extend_from_slice(&at.0[3..]);
        if self.given(json, &shared) {
            return (Origin::Given, None);
        }
        if at.0.len() > 4 && at.0.last() != Some(&Step::Key("kind".to_owned())) {
            return documented(schema);
        }
        let stack = self.words.hosts.get(host).and_then(|h| h.stack.as_deref()).unwrap_or_default();
        match self.stacks.get(&(stack, option)) {
            Some((origin, source)) => (*origin, Some(source.clone())),
            None => (Origin::Default, None),
        }
    }

    /// That of a traffic entry where it does not say one itself: of its TCP options, or of its senders.
    fn congestion_control(&self, schema: Option<&Json>, json: &Json, at: &Path) -> (Origin, Option<String>) {
        let below = |prefix: &[Step]| {
            let mut path = Path(prefix.to_vec());
            path.0.extend_from_slice(&at.0[2..]);
            path
        };
        let mut own = at.0[..2].to_vec();
        own.push("tcp".into());
        if self.given(json, &below(&own)) {
            return (Origin::Given, None);
        }
        let Step::Index(entry) = at.0[1] else { return (Origin::Default, None) };
        let sender = self.words.traffic.get(entry).and_then(|t| t.from.names().first().cloned()).unwrap_or_default();
        let group = sender.split('[').next().unwrap_or_default().trim();
        let path = below(&["hosts".into(), group.into(), "tcp".into()]);
        self.origin(schema, json, &path)
    }

    /// Whether the tree has this leaf; a text may stand for a table of which it is the `kind`.
    fn given(&self, json: &Json, at: &Path) -> bool {
        let (node, steps) = self.tree.deepest(at);
        if node.origin == tree::Origin::Filled {
            return false;
        }
        match node.as_text() {
            _ if steps == at.0.len() => true,
            Some(text) => at.0.last() == Some(&Step::Key("kind".to_owned())) && json.as_str() == Some(text),
            None => false,
        }
    }
}

/// A value as a list of parameters shows it: of a text of many lines the first, and how many there are.
fn listed(json: &Json) -> Json {
    match json.as_str().and_then(|text| text.trim().split_once('\n').map(|(first, _)| (first, text))) {
        Some((first, text)) => Json::from(format!("{first} ... ({} lines)", text.trim().lines().count())),
        None => json.clone(),
    }
}

/// What the schema says of a default: its source, or that it is assumed.
fn documented(schema: Option<&Json>) -> (Origin, Option<String>) {
    let text = |key: &str| schema.and_then(|s| s.get(key)).and_then(Json::as_str).unwrap_or_default();
    let (description, source) = (text("description"), text("x-source"));
    let assumed = description.contains("[assumed") || source.starts_with("assumed");
    let origin = if assumed { Origin::Assumed } else { Origin::Default };
    (origin, (!source.is_empty()).then(|| source.to_owned()))
}

fn has_tables(json: &Json) -> bool {
    json.as_array().is_some_and(|items| items.iter().any(Json::is_object))
}
