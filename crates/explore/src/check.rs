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
    let resolved = read(&source, &[], None);
    if ask.given("controls") != Some(&Value::Bool(false)) {
        let mut found = controls(&source);
        if let Ok(resolved) = &resolved {
            found.retain(|control| !is_refused(&resolved.plan, &control.path));
        }
        put("controls", json!(found));
    }
    match resolved {
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

/// Whether a key is one that the kind of its traffic refuses: a number of connections, where it opens them itself.
fn is_refused(plan: &Plan, path: &str) -> bool {
    let is_of = |i: usize| path == format!("traffic[{i}].connections");
    plan.traffic.iter().enumerate().any(|(i, traffic)| is_of(i) && traffic.kind.answers().opens_its_own)
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

#[cfg(test)]
mod tests {
    use elephan_scenario::Source;

    use super::*;

    #[test]
    fn a_number_of_connections_is_no_key_of_traffic_that_opens_them() {
        let text = |kind: &str| {
            format!(
                "duration = \"1 s\"\n[template]\nkind = \"path\"\nhops = [{{ rate = \"1 Gbps\", delay = \"1 ms\" }}, \
                 {{ rate = \"1 Gbps\", delay = \"1 ms\" }}]\n[[traffic]]\nfrom = \"sender\"\nto = \"receiver\"\n{kind}\n"
            )
        };
        for (kind, refused) in [
            ("kind = \"bulk\"", false),
            ("kind = \"cbr\"\nrate = \"1 Mbps\"", false),
            ("kind = \"transfers\"\nsize = \"1 MB\"\nload = \"1 Mbps\"", true),
            ("kind = \"users\"\nsize = \"1 MB\"\nthink = \"1 s\"", true),
            ("kind = \"disk-copy\"\nprogram = \"gridftp\"", true),
        ] {
            let resolved = read(&Source::toml("x", text(kind)), &[], None).unwrap();
            assert_eq!(is_refused(&resolved.plan, "traffic[0].connections"), refused, "{kind}");
            assert!(!is_refused(&resolved.plan, "traffic[0].start"));
        }
    }
}
