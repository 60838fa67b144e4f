//! What there is: the language, the tables, the library.

use elephan_record::{Kind, Spec};
use elephan_scenario::{Source, schema, templates};
use serde_json::{Map, Value, json};

use crate::desk::Desk;
use crate::reply::Reply;

/// Schema, tables, templates of controls, version, engine, limits.
pub fn describe(desk: &Desk) -> Reply {
    let all = elephan_record::specs().into_iter().chain(elephan_record::trace_specs());
    let tables: Map<String, Value> = all.map(|spec| (spec.name.to_owned(), table(&spec))).collect();
    Reply::of(json!({
        "schema": schema(),
        "tables": tables,
        "controls": templates(),
        "version": env!("CARGO_PKG_VERSION"),
        "engine": desk.setup.engine,
        "limits": desk.setup.limits,
    }))
}

fn table(spec: &Spec) -> Value {
    let kind = |kind| match kind {
        Kind::Int => "i64",
        Kind::Float => "f64",
        Kind::Bool => "flag",
        Kind::Text => "text",
    };
    let columns: Vec<Value> = spec
        .columns
        .iter()
        .map(|c| json!({ "name": c.name, "unit": c.unit, "kind": kind(c.kind), "nullable": c.nullable, "text": c.description }))
        .collect();
    json!({ "text": spec.description, "columns": columns })
}

/// The scenarios of the library, with what they ask.
pub fn library(desk: &Desk) -> Reply {
    let one = |entry: &crate::Entry| {
        let values = Source::toml(entry.name.as_str(), entry.text.as_str()).to_json().unwrap_or_default();
        let answer = &values["answer"];
        json!({
            "name": entry.name, "title": values["title"], "question": values["question"], "text": entry.text,
            "look_for": answer["look_for"], "figure": answer["figure"], "statistics": answer["statistics"],
            "duration": values["duration"],
        })
    };
    Reply::of(desk.setup.library.iter().map(one).collect())
}
