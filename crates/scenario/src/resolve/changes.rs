//! `[[change]]`: what the run is told of them.
//!
//! The scenario is resolved again with the values of each entry over those before it, by the machinery of overrides, so
//! that a change is checked as if it had been written so from the start. Steps of links need less ([`super::steps`]). Only what a run can change may differ: a link's
//! rate, delay, up or down, loss and queue limits, a traffic entry's congestion control. Queues are hardware: a limit in `bdp` keeps
//! the bytes that it had until an entry sets it again.

use std::collections::{BTreeMap, BTreeSet};

use elephan_cc::guest::Interpreter;
use elephan_link::queue::{Limit, QueueSpec};
use elephan_units::{Size, Time, parse_size, stop};
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::Outcome;
use super::crossing::Crossing;
use super::groups::Groups;
use super::links::sets_queue;
use super::steps::Ground;
use crate::error::Problem;
use crate::plan::{Change, CongestionControlChange, Link, LinkChange, Node as PlanNode, NodeKind};
use crate::tree::{Node, Origin, Path, Step, at};
use crate::types::typed;
use crate::walk::walk;
use crate::written::{Links, PortOf, Scenario};
use crate::{Override, schema};

/// Entries of one run, at most.
const CHANGES_MAX: usize = 100_000;
const CAN_CHANGE: &str = "rate, delay, up, loss and queue limits of links and congestion controls can";

/// Fills in the plan's changes, and spells out in the words what they set.
pub(crate) fn resolve(
    outcome: &mut Outcome,
    tree: &Node,
    interpreter: Option<&dyn Interpreter>,
) -> Result<(), Vec<Problem>> {
    let entries = std::mem::take(&mut outcome.words.change);
    if entries.is_empty() {
        return Ok(());
    }
    if entries.len() > CHANGES_MAX {
        let message = format!("{} entries, more than {CHANGES_MAX}", entries.len());
        return Err(vec![Problem::at(tree, at!["change"], message)]);
    }
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|&i| entries[i].at);
    let mut state = State::new(outcome, tree, interpreter);
    let mut problems = Vec::new();
    let mut spelt = entries;
    for i in order {
        stop::look();
        let at = at!["change", i, "at"];
        if spelt[i].at >= outcome.words.duration {
            let message = format!("{} is not before the end of the run, {}", spelt[i].at, outcome.words.duration);
            problems.push(Problem::between(tree, at, &at!["duration"], message));
            continue;
        }
        match state.next(Time(spelt[i].at.0), &Entry::of(tree, i)) {
            Ok((change, set)) => {
                spelt[i].set = set;
                outcome.plan.changes.push(change);
            }
            Err(more) => problems.extend(more),
        }
    }
    outcome.words.change = spelt;
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// One `[[change]]` as it is written.
pub(super) struct Entry<'a> {
    at: Path,
    /// Where the entry stands.
    origin: Origin,
    /// Path, where it stands, and the value.
    pub set: Vec<(String, Origin, &'a Node)>,
}

impl Entry<'_> {
    fn of(tree: &Node, i: usize) -> Entry<'_> {
        let at = at!["change", i, "set"];
        let node = tree.deepest(&at).0;
        let mut set = Vec::new();
        flatten(node, "", &mut set);
        Entry { at, origin: node.origin, set }
    }

    /// Something is wrong with this entry, seen at `place` of the scenario: at the entry's own value if that is to blame.
    fn problem(&self, place: &Path, origin: Origin, message: &str) -> Problem {
        let own = self.set.iter().any(|(_, key, node)| *key == origin || node.has_origin(origin));
        let message = if place.0.is_empty() { message.to_owned() } else { format!("{place}: {message}") };
        Problem::new(self.at.clone(), if own { origin } else { self.origin }, message)
    }
}

/// Paths and values of `set`; a path may also be written as nested tables, as TOML's dotted keys are.
fn flatten<'a>(node: &'a Node, prefix: &str, out: &mut Vec<(String, Origin, &'a Node)>) {
    /// `links[0].rate`: fewer steps lead to no parameter.
    const STEPS: usize = 3;
    for (key, entry) in node.as_table().into_iter().flatten() {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{}", at![key]) };
        let short = Override::node(&path, entry.node.clone()).is_ok_and(|o| o.place(node).0.len() < STEPS);
        if short && entry.node.as_table().is_some_and(|t| !t.is_empty()) {
            flatten(&entry.node, &path, out);
        } else {
            out.push((path, entry.key, &entry.node));
        }
    }
}

/// The scenario as it is when an entry comes.
#[derive(Clone)]
pub(super) struct State<'a> {
    pub tree: Node,
    interpreter: Option<&'a dyn Interpreter>,
    pub scenario: Scenario,
    /// All words with their defaults.
    pub words: Json,
    pub nodes: Vec<PlanNode>,
    pub groups: Groups,
    pub links: Vec<Link>,
    pub entries: Vec<(usize, bool)>,
    pub own_port: BTreeMap<u32, String>,
    pub crossings: Vec<Crossing>,
    pub limits: Vec<[Limit; 2]>,
    congestion_controls: Vec<elephan_cc::Spec>,
    pub ground: Ground,
}

/// A change, and its `set` with everything spelled out.
pub(super) type Applied = (Change, IndexMap<String, Json>);

impl<'a> State<'a> {
    fn new(outcome: &Outcome, tree: &Node, interpreter: Option<&'a dyn Interpreter>) -> State<'a> {
        let mut tree = tree.clone();
        if let Some(table) = tree.as_table_mut() {
            table.shift_remove("change");
        }
        let roce = outcome.plan.traffic.iter().any(|traffic| traffic.rdma.is_some());
        State {
            interpreter,
            words: serde_json::to_value(&outcome.words).unwrap_or_default(),
            nodes: outcome.plan.nodes.clone(),
            groups: outcome.groups.clone(),
            links: outcome.plan.links.clone(),
            entries: outcome.entries.clone(),
            own_port: outcome.own_port.clone(),
            crossings: outcome.crossings.clone(),
            limits: outcome.plan.links.iter().map(|l| limits(&l.queue, l.bdp_bytes)).collect(),
            congestion_controls: outcome.plan.traffic.iter().map(|t| t.congestion_control.clone()).collect(),
            ground: Ground::of(&tree, &outcome.words, &outcome.entries, roce),
            scenario: outcome.words.clone(),
            tree,
        }
    }

    fn next(&mut self, time: Time, entry: &Entry<'_>) -> Result<Applied, Vec<Problem>> {
        let mut before = (cfg!(debug_assertions) && self.ground.is_sample()).then(|| self.clone());
        let Some(applied) = self.step(time, entry) else { return self.apply(time, entry) };
        if let Some(whole) = before.as_mut().map(|before| before.apply(time, entry)) {
            debug_assert_eq!(
                whole.map(|whole| format!("{whole:?}")).ok(),
                Some(format!("{applied:?}")),
                "a step and the whole"
            );
        }
        Ok(applied)
    }

    fn apply(&mut self, time: Time, entry: &Entry<'_>) -> Result<Applied, Vec<Problem>> {
        let one = |place: &Path, origin, message: &str| vec![entry.problem(place, origin, message)];
        if entry.set.is_empty() {
            return Err(one(&Path::default(), entry.origin, "nothing is set; name a parameter and its new value"));
        }
        let mut tree = self.tree.clone();
        let mut places = Vec::new();
        for kinds in [true, false] {
            for (path, origin, node) in &entry.set {
                let set = Override::node(path, (*node).clone())
                    .map_err(|errors| one(&Path::default(), *origin, &errors.0[0].message))?;
                if set.is_kind() != kinds {
                    continue;
                }
                if set.is_template() {
                    let message = "a template is expanded before the run; name its links, like links.left->right.rate";
                    return Err(one(&set.place(&tree), *origin, message));
                }
                let place = set.place(&tree);
                let known = !place.begins_with("change") && !place.begins_with("sweep");
                if known {
                    set.apply(schema(), &mut tree, 0).map_err(|p| one(&p.path, *origin, &p.message))?;
                }
                if !known || !(can_change(&place) || has_more(&place)) {
                    let message = format!("{place} cannot change during a run; {CAN_CHANGE}");
                    return Err(one(&Path::default(), *origin, &message));
                }
                places.push((place, *origin, path.as_str()));
            }
        }
        let again = |problems: Vec<Problem>| -> Vec<Problem> {
            problems.iter().map(|p| entry.problem(&p.path, p.origin, &p.message)).collect()
        };
        let problems = walk(schema(), schema(), &tree, &Path::default());
        if !problems.is_empty() {
            return Err(again(problems));
        }
        let set: Vec<Path> = places.iter().map(|(place, ..)| place.clone()).collect();
        let next = super::resolve(typed(&tree, &Path::default()).map_err(again)?, &tree, Some(&set), self.interpreter)
            .map_err(again)?;
        let words = serde_json::to_value(&next.words).unwrap_or_default();
        let mut problems = Vec::new();
        self.refuse(&words, entry, &places, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let change = self.differences(time, &next, &set, entry)?;
        let set = spelt_out(&words, &tree, &places);
        self.ground = Ground::of(&tree, &next.words, &next.entries, !self.ground.is_plain());
        (self.tree, self.words, self.scenario) = (tree, words, next.words);
        (self.links, self.own_port, self.crossings) = (next.plan.links, next.own_port, next.crossings);
        Ok((change, set))
    }

    /// Reports what differs and cannot.
    fn refuse(&self, words: &Json, entry: &Entry<'_>, places: &[(Path, Origin, &str)], problems: &mut Vec<Problem>) {
        let mut different = Vec::new();
        differing(Some(&self.words), Some(words), &Path::default(), &mut different);
        let mut blamed = BTreeSet::new();
        for path in different.iter().filter(|p| !can_change(p)) {
            let cause = places.iter().find(|(place, ..)| path.0.starts_with(&place.0));
            let origin = cause.map_or(entry.origin, |(_, origin, _)| *origin);
            if blamed.insert(cause.map(|(place, ..)| place.to_string())) {
                let message = format!("{path} cannot change during a run; {CAN_CHANGE}");
                problems.push(Problem::new(entry.at.clone(), origin, message));
            }
        }
    }

    /// What the run is told.
    fn differences(
        &mut self,
        at: Time,
        next: &Outcome,
        set: &[Path],
        entry: &Entry<'_>,
    ) -> Result<Change, Vec<Problem>> {
        let mut links = Vec::new();
        for (i, (old, new)) in self.links.iter().zip(&next.plan.links).enumerate() {
            let change = self.difference((&next.words, &next.own_port), (i, old, new), set);
            links.extend(change.map_err(|(place, message)| vec![entry.problem(&place, entry.origin, message)])?);
        }
        for change in links.iter().filter(|change| change.limit.is_some() || change.mark_above.is_some()) {
            let link = &next.plan.links[change.link as usize];
            self.limits[change.link as usize] = limits(&link.queue, link.bdp_bytes);
        }
        let mut congestion_controls = Vec::new();
        for (traffic, (congestion_control, new)) in
            self.congestion_controls.iter_mut().zip(&next.plan.traffic).enumerate()
        {
            if *congestion_control != new.congestion_control {
                congestion_control.clone_from(&new.congestion_control);
                congestion_controls.push(CongestionControlChange {
                    traffic: traffic as u32,
                    congestion_control: congestion_control.clone(),
                });
            }
        }
        Ok(Change { at, links, congestion_controls })
    }

    /// What is different at a direction of a link, or where and why it cannot be.
    pub(super) fn difference(
        &self,
        (words, own_port): (&Scenario, &BTreeMap<u32, String>),
        (i, old, new): (usize, &Link, &Link),
        set: &[Path],
    ) -> Result<Option<LinkChange>, (Path, &'static str)> {
        let (entry, forward) = self.entries[i];
        if old.queue != new.queue && fixed(&old.queue) != fixed(&new.queue) {
            let place = at!["links", entry, words.links[entry].direction(forward).0, "queue"];
            return Err((place, "only the limits of a queue can change during a run"));
        }
        let begins = |old: bool, new: bool, same: bool| new && !(old && same);
        let [was, is] = [&old.driven, &new.driven];
        for (key, begins) in [
            ("rate", begins(was.rate.is_some(), is.rate.is_some(), was.rate == is.rate)),
            ("delay", begins(was.delay.is_some(), is.delay.is_some(), was.delay == is.delay)),
        ] {
            if begins {
                let place = at!["links", entry, words.links[entry].direction(forward).0, key];
                return Err((place, "a trace begins with the run: no change can begin one"));
            }
        }
        let none = LinkChange { link: i as u32, ..LinkChange::default() };
        let mut change = LinkChange {
            rate: (old.rate != new.rate || was.rate != is.rate).then_some(new.rate),
            delay: (old.delay != new.delay || was.delay != is.delay).then_some(new.delay),
            up: (old.up != new.up).then_some(new.up),
            loss: (old.loss != new.loss).then(|| new.loss.clone()),
            ..none
        };
        let single = own_port.get(&(i as u32)).map(String::as_str);
        let host = matches!(self.nodes[new.from as usize].kind, NodeKind::Host);
        if sets_queue(words, PortOf { entry, forward, single, host }, set) {
            let [limit, mark_above] = limits(&new.queue, new.bdp_bytes);
            change.limit = (limit != self.limits[i][0]).then_some(limit);
            change.mark_above = (mark_above != self.limits[i][1]).then_some(mark_above);
        }
        Ok((change != none).then_some(change))
    }
}

/// Limit and marking threshold of a queue.
pub(super) fn limits(queue: &QueueSpec, bdp_bytes: u64) -> [Limit; 2] {
    let json = serde_json::to_value(queue).unwrap_or_default();
    let size = |key: &str| -> Option<Size> { parse_size(json.get(key)?.as_str()?).ok() };
    [Limit::of(size("limit"), bdp_bytes), Limit::of(size("mark_above"), bdp_bytes)]
}

/// What of a queue cannot change: everything but its limits.
fn fixed(queue: &QueueSpec) -> Json {
    let mut json = serde_json::to_value(queue).unwrap_or_default();
    if let Some(map) = json.as_object_mut() {
        map.shift_remove("limit");
        map.shift_remove("mark_above");
    }
    json
}

/// What an entry sets, whole: a part of a value (`loss.bernoulli`, `congestion_control.kind`) would mean something else over a scenario
/// that spells out the values before it.
pub(super) fn spelt_out(words: &Json, tree: &Node, places: &[(Path, Origin, &str)]) -> IndexMap<String, Json> {
    let mut set = IndexMap::new();
    for (place, _, key) in places {
        let whole = whole(place);
        let value = value_at(words, &whole).cloned().or_else(|| tree.at(&whole).map(Node::to_json));
        let key = if whole == *place { (*key).to_owned() } else { whole.to_string() };
        set.insert(key, value.unwrap_or_default());
    }
    set
}

/// The place of the value that a place is part of. A congestion control among TCP options is the entry's.
fn whole(place: &Path) -> Path {
    let steps = match place.0.as_slice() {
        [Step::Key(list), Step::Index(i), ..] if list == "traffic" => return at!["traffic", *i, "congestion_control"],
        [_, _, Step::Key(part), ..] if part == "ports" => 5,
        [_, _, Step::Key(part), ..] if part == "forward" || part == "backward" => 4,
        _ => 3,
    };
    Path(place.0.iter().take(steps).cloned().collect())
}

fn value_at<'a>(json: &'a Json, path: &Path) -> Option<&'a Json> {
    path.0.iter().try_fold(json, |json, step| match step {
        Step::Key(key) => json.get(key),
        Step::Index(i) => json.get(i),
    })
}

fn can_change(path: &Path) -> bool {
    let keys: Vec<&str> = path.0.iter().map(|s| if let Step::Key(key) = s { key.as_str() } else { "[]" }).collect();
    match keys.as_slice() {
        ["links", "[]", "ports", _, what, ..]
        | ["links", "[]", "forward" | "backward", what, ..]
        | ["links", "[]", what, ..] => Links::can_change(what),
        ["traffic", "[]", "congestion_control", ..] | ["traffic", "[]", "tcp", "congestion_control", ..] => true,
        _ => false,
    }
}

/// A table of which a part can change.
fn has_more(path: &Path) -> bool {
    match path.0.as_slice() {
        [Step::Key(list), Step::Index(_), Step::Key(part), Step::Key(_)] => list == "links" && part == "ports",
        [Step::Key(list), Step::Index(_), Step::Key(part)] => {
            list == "links" && ["forward", "backward", "ports"].contains(&part.as_str())
                || list == "traffic" && part == "tcp"
        }
        _ => false,
    }
}

/// The leaves in which two values differ.
fn differing(a: Option<&Json>, b: Option<&Json>, at: &Path, out: &mut Vec<Path>) {
    match (a, b) {
        _ if a == b => {}
        (Some(Json::Object(_)) | None, Some(Json::Object(_)) | None) => {
            let of = |json: Option<&Json>| json.and_then(Json::as_object).cloned().unwrap_or_default();
            let (a, b) = (of(a), of(b));
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().for_each(|key| differing(a.get(key), b.get(key), &at.key(key), out));
        }
        (Some(Json::Array(a)), Some(Json::Array(b))) if a.len() == b.len() => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                differing(Some(a), Some(b), &at.index(i), out);
            }
        }
        _ => out.push(at.clone()),
    }
}
