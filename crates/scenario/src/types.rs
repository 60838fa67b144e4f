//! From a tree that meets the schema to types; what a type refuses is blamed on the smallest part that is refused by itself.

use serde_json::Value as Json;

use crate::error::Problem;
use crate::tree::{Node, Origin, Path, Step, Value};
use crate::written::{Hosts, Links, RecordWords, Scenario, Switches, TrafficWords};
use crate::{schema, shape};

/// The words of a tree that meets the schema.
pub(crate) fn typed(tree: &Node) -> Result<Scenario, Vec<Problem>> {
    serde_json::from_value(tree.to_json()).map_err(|error| blame(tree, &error.to_string()))
}

/// The schema was met, yet a type refused its value: finds the smallest part that is refused by itself.
fn blame(tree: &Node, message: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let root = schema();
    descend(root, root, tree, &Path::default(), &mut problems);
    if problems.is_empty() {
        problems.push(Problem::new(Path::default(), tree.origin, message.replace('\n', " ")));
    }
    problems
}

pub(crate) fn descend(root: &Json, schema: &Json, node: &Node, at: &Path, problems: &mut Vec<Problem>) {
    let before = problems.len();
    match &node.value {
        Value::Table(table) => {
            for (key, entry) in table {
                let inner = shape::branches(root, schema).into_iter().find_map(|branch| {
                    let all = std::iter::once(branch).chain(shape::members(root, branch));
                    all.map(shape::Shape::of).find_map(|s| s.property(key).or(s.free))
                });
                if let Some(inner) = inner {
                    descend(root, inner, &entry.node, &at.key(key), problems);
                }
            }
        }
        Value::Array(items) => {
            let of = shape::branches(root, schema).into_iter().find_map(|b| b.get("items"));
            for (i, item) in items.iter().enumerate() {
                if let Some(of) = of {
                    descend(root, of, item, &at.index(i), problems);
                }
            }
        }
        _ => {}
    }
    if problems.len() == before
        && let Err(message) = trial(node, at)
    {
        let (at, origin) = culprit(node, at).unwrap_or_else(|| (at.clone(), node.origin));
        problems.push(Problem::new(at, origin, message));
    }
}

/// The key of a refused table without which it would not be refused, if there is one.
fn culprit(node: &Node, at: &Path) -> Option<(Path, Origin)> {
    let Value::Table(table) = &node.value else { return None };
    table.iter().find_map(|(key, entry)| {
        let mut rest = table.clone();
        rest.shift_remove(key);
        let without = Node { value: Value::Table(rest), origin: node.origin };
        trial(&without, at).is_ok().then(|| (at.key(key), entry.node.origin))
    })
}

/// Deserialises the parts that have types of their own, by the last key of their path.
fn trial(node: &Node, at: &Path) -> Result<(), String> {
    fn typed<T: serde::de::DeserializeOwned>(node: &Node) -> Result<(), String> {
        serde_json::from_value::<T>(node.to_json()).map(drop).map_err(|e| e.to_string().replace('\n', " "))
    }
    let keys: Vec<&str> = at.0.iter().map(|s| if let Step::Key(key) = s { key.as_str() } else { "[]" }).collect();
    match keys.as_slice() {
        [.., "congestion_control"] => typed::<elephan_cc::Spec>(node),
        [.., "tcp"] => typed::<elephan_tcp::Overrides>(node),
        [.., "loss"] => typed::<elephan_link::Loss>(node),
        [.., "queue" | "host_queue"] => typed::<elephan_link::queue::QueueSpec>(node),
        ["congestion_management"] => typed::<elephan_link::CongestionManagement>(node),
        ["hosts", _, "disk"] => typed::<elephan_host::disk::DiskSpec>(node),
        [.., "flow_control"] => typed::<elephan_link::FlowControl>(node),
        [.., "start"] => typed::<elephan_traffic::Start>(node),
        ["hosts", _] => typed::<Hosts>(node),
        ["switches", _] => typed::<Switches>(node),
        ["links", "[]"] => typed::<Links>(node),
        ["traffic", "[]"] => typed::<TrafficWords>(node),
        ["record"] => typed::<RecordWords>(node),
        _ => Ok(()),
    }
}
