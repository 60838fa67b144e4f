//! The reference page: every table and key with its default, from the schema; the stack table from `elephan_tcp`.

use std::fmt::Write;

use serde_json::Value as Json;

use crate::catalog::{Catalog, Class, Field, Type};
use crate::python::compact;

const INTRODUCTION: &str = include_str!("introduction.md");

/// Sections in the order of a scenario: class or union, heading.
const ORDER: &[(&str, &str)] = &[
    ("Scenario", "The scenario"),
    ("TemplateChoice", "`[template]`"),
    ("Dumbbell", "template `dumbbell`"),
    ("Star", "template `star`"),
    ("Path", "template `path`"),
    ("Hop", "a hop of `path`"),
    ("ParkingLot", "template `parking-lot`"),
    ("FatTree", "template `fat-tree`"),
    ("LeafSpine", "template `leaf-spine`"),
    ("Host", "`[hosts.NAME]`"),
    ("Transmit", "transmit side of a host"),
    ("Receive", "receive side of a host"),
    ("Cpu", "processor of a host"),
    ("Switch", "`[switches.NAME]`"),
    ("Preset", "known switches"),
    ("FlowControlChoice", "flow control"),
    ("Pause", "flow control `pause`"),
    ("PausePer", "what PAUSE counts"),
    ("Pfc", "flow control `pfc`"),
    ("PfcPer", "what PFC counts"),
    ("PauseReaction", "reaction to PAUSE"),
    ("Link", "`[[links]]`"),
    ("Direction", "one direction of a link"),
    ("LinkPairing", "pairing of links"),
    ("DelayChoice", "delays"),
    ("Framing", "framing"),
    ("LossChoice", "loss"),
    ("Reorder", "reordering"),
    ("Jitter", "jitter"),
    ("Order", "order under jitter"),
    ("QueueChoice", "queues"),
    ("EtsClass", "a class of `ets`"),
    ("WrrClass", "a class of `wrr`"),
    ("CongestionManagementChoice", "`[congestion_management]`"),
    ("Qcn", "congestion management `qcn`"),
    ("QcnPreset", "known parameters of `qcn`"),
    ("Ecm", "congestion management `ecm`"),
    ("Traffic", "`[[traffic]]`"),
    ("Members", "hosts by name"),
    ("FlowPairing", "pairing of traffic"),
    ("StartChoice", "start"),
    ("SizeDistribution", "distributions of sizes and times"),
    ("Pareto", "distribution `pareto`"),
    ("Lognormal", "distribution `lognormal`"),
    ("CdfDistribution", "distribution `cdf`"),
    ("WhenFull", "when the send buffer is full"),
    ("GapDistribution", "distribution of gaps"),
    ("CongestionControlChoice", "congestion control"),
    ("Guest", "congestion control in Python"),
    ("Program", "congestion control in a program"),
    ("SlowStart", "slow start"),
    ("Change", "`[[change]]`"),
    ("Record", "`[record]`"),
    ("PortChoice", "ports"),
    ("CaptureChoice", "captures"),
    ("Vary", "`[sweep]`"),
];

/// Choices whose kinds follow them, each under the word and its own name.
const FAMILIES: &[(&str, &str)] = &[
    ("QueueChoice", "queue"),
    ("Traffic", "traffic"),
    ("CongestionControlChoice", "congestion control"),
    ("SlowStart", "slow start"),
];

pub fn page(catalog: &Catalog) -> String {
    let mut out = INTRODUCTION.to_owned();
    let mut done: Vec<&str> = vec!["Tcp", "TimeDistribution"];
    for (name, heading) in ORDER {
        done.push(name);
        section(&mut out, catalog, name, heading);
        kinds(&mut out, catalog, name, &mut done);
    }
    // What has been added since stands at the end under its own name.
    let names = catalog.classes.iter().map(|c| &c.name).chain(catalog.unions.iter().map(|u| &u.name));
    for name in names {
        let simple = catalog.class(name).is_some_and(is_simple);
        if !done.contains(&name.as_str()) && !simple {
            section(&mut out, catalog, name, &heading_of(catalog, name).unwrap_or_else(|| name.clone()));
            kinds(&mut out, catalog, name, &mut done);
        }
    }
    stacks(&mut out, catalog);
    out
}

/// The kinds of a choice that have keys.
fn kinds<'a>(out: &mut String, catalog: &'a Catalog, name: &str, done: &mut Vec<&'a str>) {
    if !FAMILIES.iter().any(|(choice, _)| *choice == name) {
        return;
    }
    for (form, _) in catalog.union(name).map_or(&[][..], |union| &union.forms) {
        if let Type::Class(class) = form
            && !done.contains(&class.as_str())
            && !ORDER.iter().any(|(listed, _)| listed == class)
            && catalog.class(class).is_some_and(|class| !is_simple(class))
            && let Some(heading) = heading_of(catalog, class)
        {
            done.push(class);
            section(out, catalog, class, &heading);
        }
    }
}

fn section(out: &mut String, catalog: &Catalog, name: &str, heading: &str) {
    if let Some(class) = catalog.class(name) {
        let _ = writeln!(out, "\n## {heading}\n\n{}\n", class.doc);
        table(out, catalog, class);
    } else if let Some(union) = catalog.union(name) {
        let _ = writeln!(out, "\n## {heading}\n\n{}\n", union.doc);
        for (form, doc) in &union.forms {
            let shown = match form {
                Type::Class(class) => {
                    let shape = catalog.class(class).map(shape).unwrap_or_default();
                    // A kind with keys has a section of its own.
                    match heading_of(catalog, class) {
                        Some(heading) => format!("{shape} ({})", anchor(&heading, &heading)),
                        None => shape,
                    }
                }
                Type::Names(names) => names.iter().map(|n| format!("`\"{n}\"`")).collect::<Vec<_>>().join(", "),
                other => words(catalog, other),
            };
            let _ = writeln!(out, "- {shown}{}", if doc.is_empty() { String::new() } else { format!(": {doc}") });
        }
    }
}

/// Whether its shape says all about a table.
fn is_simple(class: &Class) -> bool {
    class.wrap.is_some() || class.fields.is_empty()
}

/// How a table of a union is written.
fn shape(class: &Class) -> String {
    match (&class.wrap, &class.tag) {
        (Some(key), _) => {
            let inner: Vec<&str> = class.fields.iter().map(|f| f.key.as_str()).filter(|k| k != key).collect();
            match (inner.is_empty(), class.fields.first().map(|f| &f.of)) {
                (false, _) => format!("`{{ {key} = {{ {} }} }}`", inner.join(", ")),
                (true, Some(Type::Array(_))) => format!("`{{ {key} = [..., ...] }}`"),
                _ => format!("`{{ {key} = ... }}`"),
            }
        }
        (_, Some((key, value))) if class.fields.is_empty() => format!("`{{ {key} = \"{value}\" }}`"),
        (_, Some((key, value))) => format!("`{{ {key} = \"{value}\" ... }}`"),
        _ => match class.fields.iter().find(|f| f.required) {
            Some(field) => format!("`{{ {} = ... }}`", field.key),
            None => "a table".to_owned(),
        },
    }
}

fn table(out: &mut String, catalog: &Catalog, class: &Class) {
    if class.fields.is_empty() {
        return;
    }
    out.push_str("| key | value | default | |\n|---|---|---|---|\n");
    for field in &class.fields {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            field.key,
            match &field.of {
                // The same distribution serves sizes and times.
                Type::Quantity(_) if class.wrap.is_some() => "size or time".to_owned(),
                of => words(catalog, of),
            },
            default(field),
            cell(&match &field.source {
                Some(source) => format!("{} ({source})", field.doc),
                None => field.doc.clone(),
            })
        );
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn default(field: &Field) -> String {
    match &field.default {
        Some(Json::Object(map)) if map.is_empty() => String::new(),
        Some(Json::Array(items)) if items.is_empty() => String::new(),
        Some(Json::String(text)) if text.is_empty() => String::new(),
        Some(json) => format!("`{}`", compact(json)),
        None if field.required => "**required**".to_owned(),
        None => String::new(),
    }
}

/// What a value may be, in words.
fn words(catalog: &Catalog, of: &Type) -> String {
    match of {
        Type::Any => "anything".to_owned(),
        Type::Text => "text".to_owned(),
        Type::Quantity(quantity) => quantity.clone(),
        Type::Names(names) => names.iter().map(|n| format!("`\"{n}\"`")).collect::<Vec<_>>().join(", "),
        Type::Integer => "whole number".to_owned(),
        Type::Number => "number".to_owned(),
        Type::Boolean => "`true` or `false`".to_owned(),
        Type::Array(inner) => format!("array of {}", words(catalog, inner)),
        Type::Map(inner) if matches!(**inner, Type::Any) => "table of paths and values".to_owned(),
        Type::Map(inner) => format!("tables by name: {}", words(catalog, inner)),
        Type::Class(name) => match catalog.class(name) {
            // What has no section of its own is written out, or has one at the end.
            Some(class) if heading_of(catalog, name).is_none() && is_simple(class) => shape(class),
            Some(_) if heading_of(catalog, name).is_none() => anchor(name, name),
            _ => link(catalog, name),
        },
        Type::Union(name) => {
            let Some(union) = catalog.union(name) else { return name.clone() };
            if heading_of(catalog, name).is_some() {
                return link(catalog, name);
            }
            let forms: Vec<String> = union.forms.iter().map(|(form, _)| words(catalog, form)).collect();
            forms.join(" or ")
        }
    }
}

fn heading_of(catalog: &Catalog, name: &str) -> Option<String> {
    match name {
        "Tcp" => return Some("TCP options".to_owned()),
        "TimeDistribution" => return heading_of(catalog, "SizeDistribution"),
        _ => {}
    }
    if let Some((_, heading)) = ORDER.iter().find(|(n, _)| *n == name) {
        return Some((*heading).to_owned());
    }
    let class = catalog.class(name).filter(|class| !is_simple(class))?;
    let (_, kind) = class.tag.as_ref()?;
    let has = |choice: &str| {
        let forms = catalog.union(choice).map_or(&[][..], |union| &union.forms);
        forms.iter().any(|(form, _)| matches!(form, Type::Class(class) if class == name))
    };
    let (_, word) = FAMILIES.iter().find(|(choice, _)| has(choice))?;
    Some(format!("{word} `{kind}`"))
}

/// A link to a section, by the rule that GitHub makes anchors with.
fn link(catalog: &Catalog, name: &str) -> String {
    let Some(heading) = heading_of(catalog, name) else { return format!("table `{name}`") };
    anchor(&heading, &heading)
}

fn anchor(text: &str, heading: &str) -> String {
    let kept = heading.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>();
    format!("[{text}](#{})", kept.replace(' ', "-"))
}

/// The stack table: every TCP option with its value in every stack.
fn stacks(out: &mut String, catalog: &Catalog) {
    out.push_str(
        "\n## TCP options\n\nFor `tcp` of the scenario, of hosts and of traffic. Defaults are those of the stack:\n\n",
    );
    for (name, about) in elephan_tcp::stacks() {
        let _ = writeln!(out, "- `{name}`: {about}");
    }
    out.push_str("\n| option | value | |\n|---|---|---|\n");
    let tcp = catalog.class("Tcp").map(|c| c.fields.as_slice()).unwrap_or_default();
    for field in tcp {
        let _ = writeln!(out, "| `{}` | {} | {} |", field.key, words(catalog, &field.of), cell(&field.doc));
    }
    let _ = write!(
        out,
        "\n### Stacks\n\nWhere each value comes from: [stacks](../models/stacks.md).\n\n{}",
        elephan_tcp::options::table()
    );
}
