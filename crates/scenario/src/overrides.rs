//! Overrides: `-s traffic.upload.load="2 Gbps"`. A path into the scenario, then a value.
//!
//! A path follows the schema, so a key that the language does not have is an error even before the value is looked at;
//! entries of arrays go by index (`links[0].rate`) or by name (`traffic.upload.load`, `links.sw->server.rate`). A link whose
//! name is of no entry but of one direction of some links of an entry (`links.sw->client[2].rate`) means what these ports have
//! of their own.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::error::{Errors, Label, Problem};
use crate::near::nearest;
use crate::shape::{Shape, admits, branches, by_tag, is_type, members, names};
use crate::tree::{Entry, Node, Origin, Path, Step, Value, at};
use crate::{elsewhere, near, toml};

/// One parameter given from outside the text.
#[derive(Clone, Debug)]
pub struct Override {
    label: Label,
    steps: Path,
    value: Given,
}

#[derive(Clone, Debug)]
enum Given {
    Text(String),
    Json(Json),
    /// From `[sweep]`: a value of the text itself.
    Node(Node),
}

impl Override {
    /// `key=value`: the value as TOML, or a bare text.
    pub fn parse(argument: &str) -> Result<Override, Errors> {
        let label = format!("-s {}", one_line(argument));
        match argument.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Override::new(key.trim(), label, Given::Text(value.trim().to_owned()))
            }
            _ => Err(Errors::one(label, "", "write it as key=value, like hosts.client.count=3")),
        }
    }

    /// Refuses `null`, alone or in a list: it says neither a value nor that there is none.
    pub fn refuse_null(key: &str, value: &Json) -> Result<(), Errors> {
        let none = value.is_null() || value.as_array().is_some_and(|items| items.iter().any(Json::is_null));
        let label = || format!("-s {}={}", key.trim(), one_line(&value.to_string()));
        if none { Err(Errors::one(label(), "", "null is no value; leave it out")) } else { Ok(()) }
    }

    /// A path and a value, as from a program.
    pub fn json(key: &str, value: Json) -> Result<Override, Errors> {
        Override::refuse_null(key, &value)?;
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Override::new(key.trim(), format!("-s {}={}", key.trim(), one_line(&shown)), Given::Json(value))
    }

    /// A value of the text's own `[sweep]`; errors then point there.
    pub(crate) fn node(key: &str, value: Node) -> Result<Override, Errors> {
        Override::new(key, format!("-s {key}"), Given::Node(value))
    }

    fn new(key: &str, label: String, value: Given) -> Result<Override, Errors> {
        match parse_path(key) {
            Ok(steps) => Ok(Override { label: Label { key: steps.to_string(), shown: label }, steps, value }),
            Err(message) => Err(Errors::one(label, "", message)),
        }
    }

    /// The path in its usual form.
    pub fn key(&self) -> &str {
        &self.label.key
    }

    /// How messages call it.
    pub fn label(&self) -> &str {
        &self.label.shown
    }

    pub(crate) fn named(&self) -> &Label {
        &self.label
    }

    /// The path in `tree`, entries named by their index.
    pub(crate) fn place(&self, tree: &Node) -> Path {
        self.place_in(&names_of(tree))
    }

    /// The same in a tree of these names.
    pub(crate) fn place_in(&self, names: &Names) -> Path {
        let mut steps = names.to_ports(&self.steps).0;
        if let [Step::Key(list), entry @ Step::Key(_), ..] = steps.as_mut_slice()
            && let Step::Key(name) = &*entry
            && let Some(i) = names.list(list).iter().position(|n| n == name)
        {
            *entry = Step::Index(i);
        }
        Path(steps)
    }

    pub(crate) fn is_template(&self) -> bool {
        self.steps.0.first() == Some(&Step::Key("template".to_owned()))
    }

    /// Whether it chooses a member of a tagged union; those go first.
    pub(crate) fn is_kind(&self) -> bool {
        self.steps.0.last() == Some(&Step::Key("kind".to_owned()))
    }

    fn to_node(&self, origin: Origin) -> Result<Node, String> {
        match &self.value {
            Given::Node(node) => Ok(node.clone()),
            Given::Json(json) => Ok(Node::from_json(json, origin)),
            Given::Text(text) => {
                if let Some(node) = toml::parse_value(text, origin) {
                    return Ok(node);
                }
                if text.starts_with(['"', '\'', '[', '{']) {
                    return Err(format!("{} is not a TOML value", one_line(text)));
                }
                Ok(Node::text(text.clone(), origin))
            }
        }
    }

    /// Changes the tree. Returns the keys dropped because a new `kind` does not know them.
    pub(crate) fn apply(&self, root: &Json, tree: &mut Node, index: usize) -> Result<Vec<String>, Problem> {
        let names = names_of(tree);
        self.apply_in(root, tree, &names, index)
    }

    /// The same to a tree of these names.
    pub(crate) fn apply_in(
        &self,
        root: &Json,
        tree: &mut Node,
        names: &Names,
        index: usize,
    ) -> Result<Vec<String>, Problem> {
        let origin = Origin::Override(index);
        let wrong = |message: String| Problem::new(self.steps.clone(), origin, message);
        let value = self.to_node(origin).map_err(wrong)?;
        let steps = names.to_ports(&self.steps);
        let origin = if let Given::Node(node) = &self.value { node.origin } else { origin };
        let raw = if let Given::Text(text) = &self.value { Some(text.as_str()) } else { None };
        let mut cursor = Cursor { root, names, origin, raw };
        cursor.set(root, tree, &steps.0, &mut Path::default(), value).map_err(|(at, message)| {
            // The override's own label says the path; only another place is worth naming.
            let path = if at == self.steps || !matches!(self.value, Given::Node(_)) { self.steps.clone() } else { at };
            Problem::new(path, origin, message)
        })
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// `a.b[0]."c d"` to steps.
fn parse_path(text: &str) -> Result<Path, String> {
    let bad = || format!("\"{}\" is not a path like traffic.upload.load or links[0].rate", one_line(text));
    let mut steps = Vec::new();
    let mut rest = text;
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find('"').ok_or_else(bad)?;
            steps.push(Step::Key(quoted[..end].to_owned()));
            rest = &quoted[end + 1..];
        } else {
            let of_name = rest.find('.').unwrap_or(rest.len());
            // `links.sw->client[2].rate`: the brackets are the name's own.
            let end = if steps == [Step::Key("links".to_owned())] && rest[..of_name].contains("->") {
                of_name
            } else {
                rest.find(['.', '[', '"']).unwrap_or(rest.len())
            };
            if end == 0 {
                return Err(bad());
            }
            steps.push(Step::Key(rest[..end].trim().to_owned()));
            rest = &rest[end..];
        }
        while let Some(inside) = rest.strip_prefix('[') {
            let end = inside.find(']').ok_or_else(bad)?;
            steps.push(Step::Index(inside[..end].trim().parse().map_err(|_| bad())?));
            rest = &inside[end + 1..];
        }
        match rest.strip_prefix('.') {
            Some(more) => rest = more,
            None if rest.is_empty() => return Ok(Path(steps)),
            None => return Err(bad()),
        }
    }
}

/// Names of the entries of `traffic` and `links`, and both ends of each of these.
#[derive(Clone)]
pub(crate) struct Names {
    traffic: Vec<String>,
    links: Vec<String>,
    ends: Vec<Vec<String>>,
}

impl Names {
    /// `links.sw->client[2].rate` as `links[0].ports."sw->client[2]".rate`, if no entry has that name and one has such a port.
    fn to_ports(&self, steps: &Path) -> Path {
        let [Step::Key(list), Step::Key(name), rest @ ..] = steps.0.as_slice() else { return steps.clone() };
        let Some((from, to)) = name.split_once("->") else { return steps.clone() };
        if list != "links" || self.links.contains(name) {
            return steps.clone();
        }
        let has = |ends: &Vec<String>| match ends.as_slice() {
            [a, b] => has_member(a, from) && has_member(b, to) || has_member(b, from) && has_member(a, to),
            _ => false,
        };
        let Some(entry) = self.ends.iter().position(has) else { return steps.clone() };
        let mut port = at![list.as_str(), entry, "ports", name.as_str()];
        port.0.extend_from_slice(rest);
        port
    }

    fn list(&self, key: &str) -> &[String] {
        match key {
            "traffic" => &self.traffic,
            "links" => &self.links,
            _ => &[],
        }
    }
}

pub(crate) fn names_of(tree: &Node) -> Names {
    let list = |key| tree.get(key).map(Node::items).unwrap_or_default();
    let ends = |node: &Node| -> Vec<String> {
        let both = node.get("between").map(Node::items).unwrap_or_default();
        both.iter().filter_map(Node::as_text).map(str::to_owned).collect()
    };
    let ends: Vec<Vec<String>> = list("links").iter().map(ends).collect();
    Names { traffic: traffic_names(list("traffic")), links: ends.iter().map(|e| e.join("->")).collect(), ends }
}

/// Whether `client` or `client[0-3]` has the member, or members, `client[2]`.
fn has_member(words: &str, member: &str) -> bool {
    let parts = |text: &str| -> (String, Option<(u32, u32)>) {
        let Some((name, inside)) = text.split_once('[') else { return (text.trim().to_owned(), None) };
        let inside = inside.trim_end_matches(']');
        let (low, high) = inside.split_once('-').unwrap_or((inside, inside));
        (name.trim().to_owned(), low.trim().parse().ok().zip(high.trim().parse().ok()))
    };
    let ((group, all), (name, some)) = (parts(words), parts(member));
    group == name
        && match (all, some) {
            (None, _) => true,
            (Some((low, high)), Some((from, to))) => low <= from && to <= high,
            (Some(_), None) => false,
        }
}

/// The name of every traffic entry: given, or its kind, numbered from the second on.
pub(crate) fn traffic_names(entries: &[Node]) -> Vec<String> {
    let text = |node: &Node, key: &str| node.get(key).and_then(Node::as_text).map(str::to_owned);
    let mut taken: BTreeSet<String> = entries.iter().filter_map(|e| text(e, "name")).collect();
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let name = |entry: &Node| {
        text(entry, "name").unwrap_or_else(|| {
            let kind = text(entry, "kind").unwrap_or_else(|| "traffic".to_owned());
            let count = counts.entry(kind.clone()).or_insert(0u32);
            loop {
                *count += 1;
                let name = if *count == 1 { kind.clone() } else { format!("{kind}-{count}") };
                if taken.insert(name.clone()) {
                    return name;
                }
            }
        })
    };
    entries.iter().map(name).collect()
}

struct Cursor<'a> {
    root: &'a Json,
    names: &'a Names,
    origin: Origin,
    /// The value as it was written on the command line.
    raw: Option<&'a str>,
}

type Wrong = (Path, String);

impl<'a> Cursor<'a> {
    fn set(
        &mut self,
        schema: &'a Json,
        node: &mut Node,
        steps: &[Step],
        at: &mut Path,
        value: Node,
    ) -> Result<Vec<String>, Wrong> {
        let Some((step, rest)) = steps.split_first() else {
            *node = value;
            return Ok(Vec::new());
        };
        match (&mut node.value, step) {
            (Value::Array(items), step) => {
                let i = self.index_of(items, step, at)?;
                let of = self.items(schema).ok_or_else(|| (at.clone(), "no such key".to_owned()))?;
                at.0.push(Step::Index(i));
                self.set(of, &mut items[i], rest, at, value)
            }
            (_, Step::Index(_)) => Err((at.clone(), format!("{at} is not an array"))),
            (Value::Text(text), Step::Key(_)) if self.tagged(schema) => {
                // `congestion_control = "cubic"` is short for `{ kind = "cubic" }`.
                let kind = Node::text(text.clone(), node.origin);
                let mut table = Node::table(node.origin);
                table.set("kind", kind);
                *node = table;
                self.key(schema, node, steps, at, value)
            }
            (Value::Table(_), Step::Key(_)) => self.key(schema, node, steps, at, value),
            _ => Err((at.clone(), format!("no such key: {at} is {}, not a table", node.shown()))),
        }
    }

    fn key(
        &mut self,
        schema: &'a Json,
        node: &mut Node,
        steps: &[Step],
        at: &mut Path,
        value: Node,
    ) -> Result<Vec<String>, Wrong> {
        let Some((Step::Key(key), rest)) = steps.split_first() else { return Ok(Vec::new()) };
        let (known, free) = self.properties(schema);
        let property = known.iter().find(|(name, _)| name == key).map(|(_, schema)| *schema);
        let Some(table) = node.as_table_mut() else { return Ok(Vec::new()) };
        let inner = match (property, free) {
            (Some(property), _) => property,
            (None, Some(free)) if *free == Json::Bool(true) || table.contains_key(key) || is_ports(at) => free,
            _ => {
                let candidates: Vec<&str> =
                    known.iter().map(|(name, _)| *name).chain(table.keys().map(String::as_str)).collect();
                return Err((at.key(key), no_such_key(at, key, &candidates)));
            }
        };
        at.0.push(Step::Key(key.clone()));
        let origin = self.origin;
        if rest.is_empty() && key == "kind" {
            node.set(key, value);
            at.0.pop();
            return Ok(self.drop_unknown(schema, node, at));
        }
        let entry = table.entry(key.clone()).or_insert_with(|| Entry { key: origin, node: Node::table(origin) });
        if rest.is_empty() {
            *entry = Entry { key: origin, node: self.as_text(inner, value) };
            return Ok(Vec::new());
        }
        self.set(inner, &mut entry.node, rest, at, value)
    }

    /// A title such as `2004` needs no quotes.
    fn as_text(&self, schema: &Json, value: Node) -> Node {
        let all = branches(self.root, schema);
        let free = |b: &&Json| is_type(b, "string") && b.get("x-quantity").is_none() && names(b).is_none();
        match self.raw {
            Some(raw) if all.iter().any(free) && !all.iter().any(|b| admits(b, &value)) => Node::text(raw, self.origin),
            _ => value,
        }
    }

    /// All keys that a table of this schema may have, whatever its kind, and the schema of free names.
    fn properties(&self, schema: &'a Json) -> (Vec<(&'a str, &'a Json)>, Option<&'a Json>) {
        let mut known = Vec::new();
        let mut free = None;
        for branch in branches(self.root, schema) {
            for part in std::iter::once(branch).chain(members(self.root, branch)) {
                let shape = Shape::of(part);
                known.extend(shape.properties);
                free = free.or(shape.free);
            }
        }
        (known, free)
    }

    fn items(&self, schema: &'a Json) -> Option<&'a Json> {
        branches(self.root, schema).into_iter().find_map(|b| b.get("items"))
    }

    fn tagged(&self, schema: &Json) -> bool {
        branches(self.root, schema).into_iter().any(|b| Shape::of(b).tag().is_some())
    }

    fn index_of(&self, items: &[Node], step: &Step, at: &Path) -> Result<usize, Wrong> {
        let names = self.names.list(&at.to_string());
        match step {
            Step::Index(i) if *i < items.len() => Ok(*i),
            Step::Index(i) => Err((at.index(*i), format!("{at} has {} entries, counted from 0", items.len()))),
            Step::Key(name) => names.iter().position(|n| n == name).ok_or_else(|| {
                let candidates: Vec<&str> = names.iter().map(String::as_str).collect();
                (at.key(name), no_such_key(at, name, &candidates))
            }),
        }
    }

    /// After a change of `kind`: the keys that the new kind does not know, or not in this form.
    fn drop_unknown(&self, schema: &'a Json, node: &mut Node, at: &Path) -> Vec<String> {
        let mut known: Vec<(&str, &Json)> = Vec::new();
        let all = branches(self.root, schema);
        let tagged: Vec<&Json> = all.iter().copied().filter(|b| Shape::of(b).tag().is_some()).collect();
        let inner = all.iter().map(|b| (Some(*b), members(self.root, b)));
        for (base, members) in inner.chain([(None, tagged)]) {
            match by_tag(&members, node) {
                Some(Ok(member)) => {
                    known.extend(base.into_iter().flat_map(|b| Shape::of(b).properties));
                    known.extend(Shape::of(member).properties);
                }
                // An unknown kind is for the schema to report.
                Some(Err(_)) => return Vec::new(),
                None => {}
            }
        }
        let Some(table) = node.as_table_mut() else { return Vec::new() };
        let fits = |key: &str, value: &Node| {
            let of = known.iter().find(|(name, _)| *name == key);
            of.is_some_and(|(_, of)| branches(self.root, of).iter().any(|b| admits(b, value)))
        };
        let dropped: Vec<String> = table.iter().filter(|(k, e)| !fits(k, &e.node)).map(|(k, _)| k.clone()).collect();
        for key in &dropped {
            table.shift_remove(key);
        }
        dropped.iter().map(|key| at.key(key).to_string()).collect()
    }
}

/// Where the ports of links have names that need not be there yet.
fn is_ports(at: &Path) -> bool {
    matches!(at.0.as_slice(), [Step::Key(links), Step::Index(_), Step::Key(ports)] if links == "links" && ports == "ports")
}

fn no_such_key(at: &Path, key: &str, candidates: &[&str]) -> String {
    match elsewhere::key(key, candidates).or_else(|| nearest(key, candidates.iter().copied())) {
        Some(name) => format!("no such key; did you mean \"{}\"?", at.key(name)),
        None => {
            let hint = near::hint(key, candidates);
            let path = if at.0.is_empty() { at![key].to_string() } else { at.key(key).to_string() };
            // A path with an odd name has quotes already.
            let quote = if path.contains('"') { "" } else { "\"" };
            format!("no such key {quote}{path}{quote}{hint}")
        }
    }
}
