//! What of a scenario can be set by a control: a slider, a choice, a switch, a field of text.
//!
//! The schema says which keys there are and of which type; what is written says which of them a scenario has, and their values. A range
//! is where a slider is of use: within what the schema allows, and around what is written.

mod range;

use serde::Serialize;
use serde_json::Value as Json;

use crate::quantity::Quantity;
use crate::shape::{Shape, branches, by_tag, is_type, members, names, resolve};
use crate::tree::{Node, Path, Value};
use crate::{Source, schema};

/// How a control is drawn, and how its value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A text that is a number with a unit.
    Quantity,
    Number,
    /// A whole number.
    Count,
    Choice,
    Flag,
    Text,
}

/// A kind that must be chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct When {
    pub path: String,
    pub is: String,
}

/// One control. Texts and lists that are empty are left out of its JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Control {
    /// The key's path, as overrides and `edit` take it; in a template `[]` and `*` stand for any index and name.
    pub path: String,
    /// What it is called.
    pub title: String,
    /// What it is, a sentence of the schema.
    pub text: String,
    pub kind: Form,
    /// `time`, `rate`, `size`, `count` or `limit`; empty for what is no quantity.
    #[serde(skip_serializing_if = "is_empty")]
    pub quantity: &'static str,
    /// Unit of `number`, `low` and `high`: `s`, `bit/s`, `B`, `p` or `bdp`.
    #[serde(skip_serializing_if = "is_empty")]
    pub unit: &'static str,
    /// As it is written or, if it is not, its default; null without one.
    pub value: Json,
    /// The value in `unit`.
    pub number: Option<f64>,
    /// Whether the scenario says it.
    pub given: bool,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// `linear` or `log`.
    pub scale: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// How a number is written where the value is a table: `{ bernoulli = # }`; empty otherwise. 0 then is written `none`.
    #[serde(skip_serializing_if = "is_empty")]
    pub pattern: String,
    /// The table or list that it belongs to: `template`, `links[0]`, `traffic[1]`, or `run` for keys of none.
    pub group: String,
    /// Whether it is one of those that most scenarios turn on.
    pub main: bool,
    /// What holds if the scenario does not say it.
    pub default: Json,
    /// In a template: path and kind that must be chosen for the key to exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
}

fn is_empty(text: impl AsRef<str>) -> bool {
    text.as_ref().is_empty()
}

/// Keys that most questions turn on.
const MAIN: &[&str] = &[
    "rate",
    "delay",
    "access_delay",
    "server_rate",
    "server_delay",
    "pairs",
    "clients",
    "servers",
    "hops",
    "limit",
    "target",
    "interval",
    "mark_above",
    "memory",
    "xoff",
    "xon",
    "loss",
    "load",
    "size",
    "connections",
    "start",
    "duration",
    "seed",
    "stack",
    "congestion_control.kind",
    "queue.kind",
    "flow_control.kind",
    "template.queue",
    "ecn",
    "receive_window",
    "send_buffer",
    "rto_min",
    "initial_window",
];

/// Tables whose many keys are for who looks for them.
const DEEP: &[&str] = &["receive", "transmit", "disk", "roce", "uec", "answer", "sweep", "change", "record"];

/// Returns a control for every key that the scenario has or may have where it has tables. A text that is not TOML or JSON has none.
pub fn controls(source: &Source) -> Vec<Control> {
    let Ok(tree) = source.tree() else { return Vec::new() };
    let mut walk = Walk { root: schema(), all: false, found: Vec::new(), when: None };
    walk.table(schema(), Some(&tree), &Path::default(), "");
    walk.found
}

/// Returns a template of every control that there may be.
pub fn templates() -> Vec<Control> {
    let mut walk = Walk { root: schema(), all: true, found: Vec::new(), when: None };
    walk.table(schema(), None, &Path::default(), "");
    walk.found
}

struct Walk<'a> {
    root: &'a Json,
    /// Whether all kinds of a union are walked through, or the one that is written.
    all: bool,
    found: Vec<Control>,
    when: Option<When>,
}

/// Deeper than any table of the language.
const DEPTH_MAX: usize = 12;

impl<'a> Walk<'a> {
    /// The keys of a table; `shown` is its path in the words of a control.
    fn table(&mut self, schema: &'a Json, node: Option<&Node>, at: &Path, shown: &str) {
        let schema = resolve(self.root, schema);
        let own = Shape::of(schema);
        for (key, property) in &own.properties {
            if property.get("const").is_none() {
                self.property(key, property, node, at, shown);
            }
        }
        let kinds = members(self.root, schema);
        if !kinds.is_empty() {
            self.union(&kinds, node, at, shown);
        }
        if let Some(free) = own.free {
            self.named(free, node, at, shown);
        }
    }

    /// The entries of a table whose keys are names of the user's choice.
    fn named(&mut self, free: &'a Json, node: Option<&Node>, at: &Path, shown: &str) {
        match node.and_then(Node::as_table) {
            _ if self.all => self.property("*", free, None, at, shown),
            Some(table) => {
                let known: Vec<&String> = table.keys().collect();
                known.into_iter().for_each(|key| self.property(key, free, node, at, shown));
            }
            None => {}
        }
    }

    fn property(&mut self, key: &str, schema: &'a Json, node: Option<&Node>, at: &Path, shown: &str) {
        let at = at.key(key);
        let shown = match (self.all, shown) {
            (false, _) => at.to_string(),
            (true, "") => key.to_owned(),
            (true, shown) => format!("{shown}.{key}"),
        };
        let inner = node.and_then(|node| node.get(key));
        self.any(schema, inner, &at, &shown);
    }

    fn any(&mut self, schema: &'a Json, node: Option<&Node>, at: &Path, shown: &str) {
        if at.0.len() > DEPTH_MAX || *schema == Json::Bool(true) {
            return;
        }
        let all = branches(self.root, schema);
        let about = About::of(self.root, schema);
        let tagged: Vec<&'a Json> = all.iter().copied().filter(|b| Shape::of(b).tag().is_some()).collect();
        if !tagged.is_empty() {
            return self.kinds(&all, &tagged, (node, at, shown), about);
        }
        let fits = |test: fn(&Json) -> bool| all.iter().copied().find(|branch| test(branch));
        let is_table = |branch: &Json| {
            branch.get("properties").is_some() || branch.get("additionalProperties").is_some_and(Json::is_object)
        };
        let plain =
            fits(|b| is_type(b, "string") || is_type(b, "number") || is_type(b, "integer") || is_type(b, "boolean"));
        let plain = plain.or(fits(|b| names(b).is_some()));
        match (plain, fits(|b| is_type(b, "array")), fits(is_table)) {
            (Some(_), _, _) => self.plain(&all, (node, at, shown), about),
            (None, Some(list), _) => self.list(list, (node, at, shown), about),
            // A table that no scenario needs is offered by its keys only where it is written or common.
            (None, None, Some(table)) if self.all || node.is_some() || OFFERED.contains(&shown) => {
                self.table(table, node, at, shown);
            }
            _ => {}
        }
    }

    fn list(&mut self, schema: &'a Json, (node, at, shown): (Option<&Node>, &Path, &str), about: About<'a>) {
        let Some(of) = schema.get("items") else { return };
        let tables = branches(self.root, of).iter().any(|b| b.get("properties").is_some());
        match (tables, node) {
            (true, _) if self.all => self.any(of, None, &at.index(0), &format!("{shown}[]")),
            (true, Some(node)) => {
                for (i, item) in node.items().iter().enumerate() {
                    let at = at.index(i);
                    self.any(of, Some(item), &at, &at.to_string());
                }
            }
            (true, None) => {}
            (false, _) => self.push(Form::Text, (node, at, shown), about, |_| {}),
        }
    }

    /// A tagged union: a choice of its kind, and the keys of the kind that is chosen.
    fn kinds(
        &mut self,
        all: &[&'a Json],
        tagged: &[&'a Json],
        (node, at, shown): (Option<&Node>, &Path, &str),
        about: About<'a>,
    ) {
        let Some((tag, _)) = Shape::of(tagged[0]).tag() else { return };
        let mut choices: Vec<String> = Vec::new();
        let known = all.iter().flat_map(|b| names(b).unwrap_or_default());
        let known = known.chain(tagged.iter().filter_map(|b| Shape::of(b).tag().map(|(_, kind)| kind)));
        known.for_each(|kind| {
            if !choices.iter().any(|have| have == kind) {
                choices.push(kind.to_owned());
            }
        });
        let written = node.and_then(|node| node.get(tag).or(Some(node))).filter(|node| node.as_text().is_some());
        let default = about.default.map(|d| d.get(tag).unwrap_or(d).clone());
        let key = at.key(tag);
        let kind_shown = format!("{shown}.{tag}");
        let about = About { default: default.as_ref(), ..about };
        self.push(Form::Choice, (written, &key, &kind_shown), about, |control| control.choices = choices);
        self.union(tagged, node, at, shown);
    }

    /// The keys of the members of a union: of all, or of the one that is written.
    fn union(&mut self, kinds: &[&'a Json], node: Option<&Node>, at: &Path, shown: &str) {
        if self.all && self.when.is_some() {
            // Of a kind within a kind the scenario that has it knows the keys.
        } else if self.all {
            for kind in kinds {
                let Some((tag, name)) = Shape::of(kind).tag() else { continue };
                let before = self.when.replace(When { path: format!("{shown}.{tag}"), is: name.to_owned() });
                self.properties(kind, None, at, shown);
                self.when = before;
            }
        } else if let Some(node) = node {
            let named = node.as_text().and_then(|name| {
                kinds.iter().copied().find(|kind| Shape::of(kind).tag().is_some_and(|(_, known)| known == name))
            });
            let chosen = named.or_else(|| by_tag(kinds, node).and_then(Result::ok));
            chosen.into_iter().for_each(|kind| self.properties(kind, Some(node), at, shown));
        }
    }

    fn properties(&mut self, schema: &'a Json, node: Option<&Node>, at: &Path, shown: &str) {
        for (key, property) in Shape::of(schema).properties {
            if property.get("const").is_none() {
                self.property(key, property, node, at, shown);
            }
        }
    }

    /// Something that is no table, or only in rarer forms.
    fn plain(&mut self, all: &[&'a Json], (node, at, shown): (Option<&Node>, &Path, &str), about: About<'a>) {
        let place = (node, at, shown);
        let is_table = node.is_some_and(|node| node.as_table().is_some());
        let sole = all.iter().find_map(|b| {
            let (shape, key) = (Shape::of(b), Shape::of(b).sole()?);
            shape.property(key).filter(|inner| is_type(inner, "number")).map(|inner| (key, inner))
        });
        let quantity = all.iter().find_map(|b| Quantity::of(b));
        let words: Vec<String> = all.iter().flat_map(|b| names(b).unwrap_or_default()).map(str::to_owned).collect();
        if let Some((key, inner)) = sole {
            // `loss = "none"` and `loss = { bernoulli = 0.01 }` are 0 and 0.01 of one slider.
            let number = match node {
                Some(node) if is_table => node.get(key).and_then(number_of),
                _ => Some(0.0),
            };
            if number.is_some() || !is_table {
                return self.push(Form::Number, place, about, |control| {
                    control.pattern = format!("{{ {key} = # }}");
                    control.number = number;
                    control.bounds(inner);
                    (control.low, control.high, control.scale) = (Some(0.0), Some(0.1), "log");
                });
            }
        }
        if is_table {
            return self.push(Form::Text, place, about, |_| {});
        }
        if let Some(quantity) = quantity {
            return self.push(Form::Quantity, place, about, |control| control.measure(quantity));
        }
        let is = |name: &str| all.iter().copied().find(|b| is_type(b, name));
        if !words.is_empty() && is("integer").or(is("number")).is_none() {
            return self.push(Form::Choice, place, about, |control| control.choices = words);
        }
        if is("boolean").is_some() {
            return self.push(Form::Flag, place, about, |_| {});
        }
        match (is("integer"), is("number")) {
            (Some(inner), _) => self.push(Form::Count, place, about, |control| control.count(inner)),
            (None, Some(inner)) => self.push(Form::Number, place, about, |control| control.bounds(inner)),
            _ => self.push(Form::Text, place, about, |_| {}),
        }
    }

    fn push(
        &mut self,
        kind: Form,
        place: (Option<&Node>, &Path, &str),
        about: About<'_>,
        more: impl FnOnce(&mut Control),
    ) {
        let (node, at, shown) = place;
        let (first, rest) = shown.split_once(['.', '[']).map_or((shown, ""), |(first, rest)| (first, rest));
        let group = match shown.get(first.len()..first.len() + 1) {
            Some("[") => shown.split_once(']').map_or(shown.to_owned(), |(entry, _)| format!("{entry}]")),
            Some(_) if matches!(first, "hosts" | "switches") => {
                rest.split('.').next().map_or(first.to_owned(), |name| format!("{first}.{name}"))
            }
            Some(_) => first.to_owned(),
            None => "run".to_owned(),
        };
        let given = node.is_some();
        let keys: Vec<&str> =
            at.0.iter()
                .filter_map(|s| if let crate::tree::Step::Key(key) = s { Some(key.as_str()) } else { None })
                .collect();
        let last = keys.last().copied().unwrap_or_default();
        let pair = keys[keys.len().saturating_sub(2)..].join(".");
        let deep = keys.iter().any(|key| DEEP.contains(key));
        let title = if last == "kind" && keys.len() > 1 { keys[keys.len() - 2] } else { last };
        let mut control = Control {
            path: shown.to_owned(),
            title: title.replace('_', " "),
            text: about.text.to_owned(),
            kind,
            quantity: "",
            unit: "",
            value: node.map(Node::to_json).or(about.default.cloned()).unwrap_or_default(),
            default: about.default.cloned().unwrap_or_default(),
            number: None,
            given,
            low: None,
            high: None,
            scale: "linear",
            choices: Vec::new(),
            pattern: String::new(),
            group,
            main: !deep && (MAIN.contains(&last) || MAIN.contains(&pair.as_str())) && (given || keys.len() <= 3),
            when: self.when.clone(),
        };
        control.number = control.value.as_f64();
        more(&mut control);
        self.found.push(control);
    }
}

/// Tables that a scenario may not have written, whose keys are offered all the same.
const OFFERED: &[&str] = &["tcp", "record"];

/// What the schema says of a key.
#[derive(Clone, Copy)]
struct About<'a> {
    text: &'a str,
    default: Option<&'a Json>,
}

impl<'a> About<'a> {
    fn of(root: &'a Json, schema: &'a Json) -> About<'a> {
        let own = |key| schema.get(key).or_else(|| resolve(root, schema).get(key));
        About { text: own("description").and_then(Json::as_str).unwrap_or_default(), default: schema.get("default") }
    }
}

fn number_of(node: &Node) -> Option<f64> {
    match node.value {
        Value::Integer(i) => Some(i as f64),
        Value::Float(f) => Some(f),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
