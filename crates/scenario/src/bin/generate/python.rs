//! The Python classes: one dataclass a table, one alias a union. Formatted as `ruff format` would.

use std::fmt::Write;

use crate::catalog::{Catalog, Class, Field, Type};

const WIDTH: usize = 132;
/// The class whose other keys are the user's.
const FREE: &str = "Vary";

const HEADER: &str = r#""""The scenario language as classes. Generated from the schema by `make generate`; do not edit.

A value that is not given stays out of the scenario, so that its default counts as a default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from elephan.scenario.model import ControllerFactory, ScenarioModel, Table

Time = str
"""A time such as "5 ms": ps, ns, us, ms, s, min, h, d."""
Rate = str
"""A rate such as "10 Gbps": decimal prefixes, b bit, B byte."""
Size = str
"""A size such as "48 KiB" or "8 KB"."""
Count = str
"""A count of packets such as "256 p"."""
Limit = str
"""A limit such as "2 MB", "100 p" (packets) or "1 bdp"."""
"#;

pub fn module(catalog: &Catalog) -> String {
    let mut out = HEADER.to_owned();
    for class in &catalog.classes {
        write_class(&mut out, catalog, class);
    }
    out.push('\n');
    let mut names: Vec<&str> = catalog.classes.iter().map(|c| c.name.as_str()).collect();
    names.sort_unstable();
    out.push_str("\n__all__ = [\n");
    for name in names {
        let _ = writeln!(out, "    \"{name}\",");
    }
    out.push_str("]\n");
    out
}

fn write_class(out: &mut String, catalog: &Catalog, class: &Class) {
    let base = if class.name == "Scenario" { "ScenarioModel" } else { "Table" };
    // A wrapped single value goes by position: Exponential("8 KB").
    let single = class.wrap.is_some()
        && class.fields.len() == 1
        && class.fields[0].key == *class.wrap.as_ref().unwrap_or(&String::new());
    let arguments = if single { "slots=True" } else { "kw_only=True, slots=True" };
    let _ = writeln!(out, "\n\n@dataclass({arguments})\nclass {}({base}):", class.name);
    write_doc(out, class);
    if let Some((key, value)) = &class.tag {
        let _ = writeln!(out, "    _tag: ClassVar[tuple[str, str] | None] = (\"{key}\", \"{value}\")");
    }
    if let Some(key) = &class.wrap {
        let _ = writeln!(out, "    _wrap: ClassVar[str | None] = \"{key}\"");
        let _ = writeln!(out, "    _single: ClassVar[bool] = {}", if single { "True" } else { "False" });
    }
    let free = class.name == FREE;
    if free {
        out.push_str("    _free: ClassVar[str | None] = \"parameters\"\n");
    }
    if class.tag.is_some() || class.wrap.is_some() || free {
        if !class.fields.is_empty() {
            out.push('\n');
        }
    } else if class.fields.is_empty() {
        out.push_str("    pass\n");
    }
    for field in &class.fields {
        write_field(out, catalog, class, field);
    }
    if free {
        out.push_str("    parameters: dict[str, list[Any]] | None = None\n");
    }
}

fn write_doc(out: &mut String, class: &Class) {
    let mut lines: Vec<String> = Vec::new();
    let first = if class.doc.is_empty() {
        format!("`{{ {} = ... }}`", class.wrap.as_deref().unwrap_or("..."))
    } else {
        class.doc.clone()
    };
    lines.extend(wrap(&first, WIDTH - 4 - 6, ""));
    if class.fields.iter().any(|f| !f.doc.is_empty()) {
        lines.push(String::new());
        for field in class.fields.iter().filter(|f| !f.doc.is_empty()) {
            let text = format!("{}: {}{}", python_name(&field.key), field.doc, default_text(field));
            lines.extend(wrap(text.trim_end(), WIDTH - 4, "    "));
        }
    }
    if class.name == FREE {
        lines.push("parameters: Path of each varied parameter with the list of its values.".to_owned());
    }
    let text = lines.join("\n    ").replace('\\', "\\\\");
    let text: Vec<&str> = text.lines().map(str::trim_end).collect();
    let text = text.join("\n");
    if lines.len() == 1 && !text.ends_with('"') {
        let _ = writeln!(out, "    \"\"\"{text}\"\"\"\n");
    } else {
        let _ = writeln!(out, "    \"\"\"{text}\n    \"\"\"\n");
    }
}

fn default_text(field: &Field) -> String {
    match &field.default {
        Some(serde_json::Value::Object(map)) if map.is_empty() => String::new(),
        Some(json) => format!(" Default: {}.", compact(json)),
        None => String::new(),
    }
}

/// `{"kind":"fifo"}` with spaces.
pub fn compact(json: &serde_json::Value) -> String {
    match json {
        serde_json::Value::Object(map) => {
            let entries: Vec<String> = map.iter().map(|(k, v)| format!("{k} = {}", compact(v))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        serde_json::Value::Array(items) => format!("[{}]", items.iter().map(compact).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Words to lines of at most `width`; lines after the first begin with `indent`.
fn wrap(text: &str, width: usize, indent: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().map_or(0, |l| l.chars().count());
        if line > 0 && line + 1 + word.chars().count() > width {
            lines.push(indent.to_owned());
        }
        if let Some(line) = lines.last_mut() {
            if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

fn write_field(out: &mut String, catalog: &Catalog, class: &Class, field: &Field) {
    let mut parts = annotation(catalog, &field.of);
    if class.wrap.is_some() {
        // The same distribution serves sizes and times.
        for part in &mut parts {
            *part = part.replace("Size", "str").replace("Time", "str");
        }
    }
    if !field.required {
        parts.push("None".to_owned());
    }
    let mut seen: Vec<String> = Vec::new();
    parts.retain(|p| {
        if seen.contains(p) {
            false
        } else {
            seen.push(p.clone());
            true
        }
    });
    let default = if field.required { "" } else { " = None" };
    let name = python_name(&field.key);
    let line = format!("    {name}: {}{default}", parts.join(" | "));
    if line.chars().count() <= WIDTH {
        out.push_str(&line);
    } else {
        let _ = write!(out, "    {name}: (\n        {}\n    ){default}", in_parentheses(&parts));
    }
    out.push('\n');
}

/// The members of the union that a type is in Python.
/// The parts of a union as the formatter breaks them: on one line if they fit, else one a line, a long list of names again
/// one a line.
fn in_parentheses(parts: &[String]) -> String {
    const INDENT: usize = 8;
    let line = parts.join(" | ");
    if INDENT + line.len() <= WIDTH {
        return line;
    }
    let broken = |(i, part): (usize, &String)| {
        let within = |head: &str| part.strip_prefix(head).and_then(|rest| rest.strip_suffix(']'));
        let before = if i > 0 { "| " } else { "" };
        let long = INDENT + before.len() + part.len() > WIDTH;
        match (within("Literal["), within("list[")) {
            (Some(names), _) if long => {
                let lines: String = names.split(", ").map(|name| format!("            {name},\n")).collect();
                format!("{before}Literal[\n{lines}        ]")
            }
            (_, Some(types)) if long => {
                format!("{before}list[\n            {}\n        ]", types.replace(" | ", "\n            | "))
            }
            _ => format!("{before}{part}"),
        }
    };
    parts.iter().enumerate().map(broken).collect::<Vec<_>>().join("\n        ")
}

fn annotation(catalog: &Catalog, of: &Type) -> Vec<String> {
    let one = |text: &str| vec![text.to_owned()];
    match of {
        Type::Any => one("Any"),
        Type::Text => one("str"),
        Type::Quantity(quantity) => one(match quantity.as_str() {
            "time" => "Time",
            "rate" => "Rate",
            "limit" => "Limit",
            "count" => "Count",
            _ => "Size",
        }),
        Type::Names(names) => {
            vec![format!("Literal[{}]", names.iter().map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", "))]
        }
        Type::Integer => one("int"),
        Type::Number => one("float"),
        Type::Boolean => one("bool"),
        Type::Array(inner) => vec![format!("list[{}]", annotation(catalog, inner).join(" | "))],
        Type::Map(inner) => vec![format!("dict[str, {}]", annotation(catalog, inner).join(" | "))],
        Type::Class(name) => vec![name.clone(), "dict[str, Any]".to_owned()],
        Type::Union(name) => {
            let mut names: Vec<String> = Vec::new();
            let mut rest: Vec<String> = Vec::new();
            for (form, _) in catalog.union(name).map(|u| u.forms.as_slice()).unwrap_or_default() {
                match form {
                    Type::Names(own) => names.extend(own.clone()),
                    other => rest.extend(annotation(catalog, other)),
                }
            }
            let mut all = Vec::new();
            if !names.is_empty() {
                all.extend(annotation(catalog, &Type::Names(names)));
            }
            rest.retain(|r| r != "dict[str, Any]" && !all.contains(r));
            let tables = rest.iter().any(|r| catalog.class(r).is_some());
            all.extend(rest);
            if name == "CongestionControlChoice" {
                all.push("ControllerFactory".to_owned());
            }
            if tables {
                all.push("dict[str, Any]".to_owned());
            }
            all
        }
    }
}

/// Python's own words get an underscore: `from_`.
fn python_name(key: &str) -> String {
    match key {
        "from" => "from_".to_owned(),
        other => other.to_owned(),
    }
}
