//! A scenario looked at without running it, and changed.

use elephan_scenario::{NodeKind, Plan, controls, read, written};
use serde_json::{Map, Value, json};

use crate::ask::Ask;
use crate::desk::Desk;
use crate::reply::{Reply, Trouble, places};

/// Whether a text is a scenario: its errors, or its values, its resolved text, the paths that it says itself, and its controls unless `controls` is false.
pub fn check(desk: &Desk, ask: Ask<'_>) -> Result<Reply, Trouble> {
    Ok(Reply::of(Value::Object(looked_at(desk, ask, ask.text("text")?)?)))
}

fn looked_at(desk: &Desk, ask: Ask<'_>, text: &str) -> Result<Map<String, Value>, Trouble> {
    let source = desk.source(text)?;
    let given: Map<String, Value> = written(&source).into_iter().map(|(path, value)| (path, value.into())).collect();
    let mut head = Map::new();
    let mut put = |key: &str, value: Value| drop(head.insert(key.to_owned(), value));
    put("given", given.into());
    if ask.given("controls") != Some(&Value::Bool(false)) {
        put("controls", json!(controls(&source)));
    }
    match read(&source, &[], None) {
        Err(errors) => {
            put("ok", false.into());
            put("errors", places(source.name(), &errors).into());
        }
        Ok(resolved) => {
            put("ok", true.into());
            put("errors", json!([]));
            put("notes", notes(&resolved.plan, resolved.has_sweep).into());
            put("resolved", resolved.toml().into());
            put("plan", summary(&resolved.plan));
            put("values", resolved.values);
        }
    }
    Ok(head)
}

/// What a reader of the text would want to know.
fn notes(plan: &Plan, has_sweep: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if has_sweep {
        notes.push("The scenario has a [sweep], which a single run ignores.".to_owned());
    }
    if plan.record.every.is_none() {
        notes.push("The scenario records no samples: set record.every to see lines over time.".to_owned());
    }
    notes
}

/// What will be built, in figures.
pub fn summary(plan: &Plan) -> Value {
    let hosts = plan.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Host)).count();
    json!({
        "title": plan.title,
        "question": plan.question,
        "duration_ns": plan.duration.ns(),
        "warmup_ns": plan.warmup.ns(),
        "every_ns": plan.record.every.map(elephan_units::Span::ns),
        "seed": plan.seed,
        "hosts": hosts,
        "switches": plan.nodes.len() - hosts,
        "links": plan.links.len() / 2,
        "flows": plan.traffic.iter().map(|traffic| traffic.flows.len()).sum::<usize>(),
        "traffic": plan.traffic.iter().map(|traffic| traffic.name.as_str()).collect::<Vec<_>>(),
    })
}

/// One key changed in the text, or taken out.
pub fn edit(desk: &Desk, ask: Ask<'_>) -> Result<Reply, Trouble> {
    let (text, path) = (ask.text("text")?, ask.text("path")?);
    desk.source(text)?;
    let edited =
        elephan_scenario::edit(text, path, ask.given("value")).map_err(|errors| Trouble::of("scenario", &errors))?;
    let mut head = looked_at(desk, ask, &edited)?;
    head.insert("text".to_owned(), edited.into());
    Ok(Reply::of(Value::Object(head)))
}
