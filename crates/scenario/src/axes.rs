//! The table `[sweep]`: which parameters it varies, and whether a scenario has them.

use serde_json::Value as Json;

use crate::Override;
use crate::elsewhere;
use crate::error::Problem;
use crate::near::nearest;
use crate::tree::{Node, Origin, Table, Value, at};
use crate::walk::walk;

/// The axes of `[sweep]`: path, position of the key, values. Nested tables are paths too.
pub(crate) fn axes(table: &Table, prefix: &str, out: &mut Vec<(String, Origin, Node)>) {
    for (key, entry) in table {
        if prefix.is_empty() && matches!(key.as_str(), "repetitions" | "zip") {
            continue;
        }
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match &entry.node.value {
            Value::Table(inner) => axes(inner, &path, out),
            _ => out.push((path, entry.key, entry.node.clone())),
        }
    }
}

/// What is wrong with `[sweep]`, seen from the scenario that it varies.
/// `template` is what has been expanded already.
pub(crate) fn check(root: &Json, tree: &Node, template: Option<Node>) -> Vec<Problem> {
    let Some(sweep) = tree.get("sweep") else { return Vec::new() };
    let Some(table) = sweep.as_table() else {
        return vec![Problem::new(at!["sweep"], sweep.origin, format!("{}: expected a table", sweep.shown()))];
    };
    let mut problems = walk(root, root.pointer("/$defs/Sweep").unwrap_or(&Json::Null), sweep, &at!["sweep"]);
    let mut found = Vec::new();
    axes(table, "", &mut found);
    let mut only_template = Node::table(Origin::Program);
    if let Some(template) = template {
        only_template.set("template", template);
    }
    for (key, origin, node) in &found {
        let at = at!["sweep", key];
        if let Err((origin, message)) = check_axis(root, tree, &only_template, (key, *origin, node)) {
            problems.push(Problem::new(at, origin, message));
        }
    }
    let zip = sweep.get("zip").is_some_and(|z| matches!(z.value, Value::Bool(true)));
    let lengths: Vec<usize> = found.iter().map(|(_, _, n)| n.items().len()).collect();
    if zip && lengths.windows(2).any(|w| w[0] != w[1]) {
        let message = format!("zip needs as many values for each parameter, not {lengths:?}");
        problems.push(Problem::at(tree, at!["sweep", "zip"], message));
    }
    problems
}

pub(crate) const NOT_SWEPT: &str = "cannot be swept; repetitions vary the seed";

pub(crate) fn may_vary(key: &str) -> bool {
    !matches!(key, "seed" | "sweep" | "template") && !key.starts_with("sweep.")
}

/// One parameter: it exists, and it has values.
fn check_axis(
    root: &Json,
    tree: &Node,
    template: &Node,
    (key, origin, node): (&str, Origin, &Node),
) -> Result<(), (Origin, String)> {
    let Value::Array(values) = &node.value else {
        let own = ["repetitions", "zip"];
        if let Some(name) = elsewhere::key(key, &own).or_else(|| nearest(key, own)) {
            return Err((origin, format!("unknown key; did you mean \"{name}\"?")));
        }
        return Err((node.origin, format!("{}: expected an array of values", node.shown())));
    };
    let Some(first) = values.first() else {
        return Err((node.origin, "an empty array: give the values to try".to_owned()));
    };
    let one = Override::node(key, first.clone()).map_err(|errors| (origin, errors.to_string()))?;
    if !may_vary(one.key()) {
        return Err((origin, NOT_SWEPT.to_owned()));
    }
    let mut target = if one.is_template() { template.clone() } else { tree.clone() };
    one.apply(root, &mut target, 0).map(drop).map_err(|problem| (origin, problem.message))
}
