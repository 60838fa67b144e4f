//! TCP options and queues given by a program, one at a time, checked as those of a scenario are.

use elephan_host::{Receive, Transmit};
use elephan_link::CongestionManagement;
use elephan_link::congestion::Handling;
use elephan_link::queue::{Parameters, QueueSpec};
use elephan_tcp::{Options, Overrides};
use elephan_units::{InvalidParameter, Size};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};

use crate::error::Errors;
use crate::near::hint;
use crate::preset::{expand_management, expand_queues};
use crate::quantity::Quantity;
use crate::resolve::limit_of;
use crate::schema;
use crate::shape::{Shape, branches, by_tag, resolve};
use crate::tree::{Node, Origin, Path};
use crate::types::typed;
use crate::walk::walk;

/// The options of `stack` with those in `table` over them. A number for a time is seconds, for a size bytes. `name` is what
/// errors call the place.
pub fn tcp_options(name: &str, stack: &str, table: Map<String, Json>) -> Result<Options, Errors> {
    let fail = |path: &str, message: String| Errors::one(name, path, message);
    let Some(mut options) = elephan_tcp::stack(stack) else {
        let names: Vec<&str> = elephan_tcp::stacks().iter().map(|(name, _)| *name).collect();
        return Err(fail("", format!("unknown stack {stack:?}{}", hint(stack, &names))));
    };
    let root = schema();
    let words = resolve(root, root.pointer("/properties/tcp").unwrap_or(&Json::Null));
    let table = table.into_iter().map(|(key, value)| with_unit(root, words, key, value)).collect();
    let table = Json::Object(table);
    let mut overrides: Overrides = checked(name, words, &Node::from_json(&table, Origin::Program))?;
    if let Some(congestion_control) = table
        .get("congestion_control")
        .and_then(|congestion_control| elephan_tcp::congestion_control_in(stack, congestion_control))
    {
        overrides.congestion_control = Some(congestion_control);
    }
    options.apply(&overrides).map_err(|e| fail(&e.parameter, format!("{} (stack {stack})", e.reason)))?;
    Ok(options)
}

/// The queue of this kind with the parameters in `table`. A number for a time is seconds, for a size bytes, for a rate bit/s.
/// `name` is what errors call the place, `bdp_bytes` what a limit in bdp refers to.
pub fn queue(name: &str, kind: &str, table: Map<String, Json>, bdp_bytes: u64) -> Result<QueueSpec, Errors> {
    let root = schema();
    let words = root.pointer("/$defs/QueueSpec").unwrap_or(&Json::Null);
    let tag = Node::from_json(&json!({ "kind": kind }), Origin::Program);
    let all = branches(root, words);
    let own = by_tag(&all, &tag).and_then(Result::ok).map_or(words, |member| resolve(root, member));
    let given = table.into_iter().map(|(key, value)| with_unit(root, own, key, value));
    let given = Json::Object(std::iter::once(("kind".to_owned(), Json::from(kind))).chain(given).collect());
    let mut tree = Node::from_json(&given, Origin::Program);
    expand_queues(&mut tree);
    let spec: QueueSpec = checked(name, words, &tree)?;
    let limit = match limit_of(&spec) {
        Some(Size::Packets(0) | Size::Bytes(0) | Size::NanoBdp(0)) => Some("0: a queue holds one packet at least"),
        Some(Size::NanoBdp(_)) if bdp_bytes == 0 => {
            Some("a limit in bdp needs bdp, the bandwidth-delay product in bytes")
        }
        _ => None,
    };
    match limit.map(|reason| InvalidParameter::new("limit", reason)).or_else(|| spec.problem()) {
        Some(invalid) => Err(Errors::one(name, invalid.parameter, invalid.reason)),
        None => Ok(spec),
    }
}

/// Congestion management of this kind with its parameters in `table`, numbers as for [`queue`]; `name` is what errors
/// call the place. How a network carries it out is refused: without a network it would say nothing.
pub fn congestion_management(name: &str, kind: &str, table: Map<String, Json>) -> Result<CongestionManagement, Errors> {
    let handling = serde_json::to_value(Handling { limiter_limit: Some(Size::Packets(1)), ..Handling::default() })
        .unwrap_or_default();
    if let Some(key) = table.keys().find(|key| handling.get(key).is_some()) {
        return Err(Errors::one(name, key, "is of the network, not of a point by itself"));
    }
    let root = schema();
    let words = root.pointer("/$defs/CongestionManagement").unwrap_or(&Json::Null);
    let tag = Node::from_json(&json!({ "kind": kind }), Origin::Program);
    let all = branches(root, words);
    let own = by_tag(&all, &tag).and_then(Result::ok).map_or(words, |member| resolve(root, member));
    let given = table.into_iter().map(|(key, value)| with_unit(root, own, key, value));
    let given = Json::Object(std::iter::once(("kind".to_owned(), Json::from(kind))).chain(given).collect());
    let mut tree = Node::from_json(&json!({ "congestion_management": given }), Origin::Program);
    expand_management(&mut tree);
    let given = tree.get("congestion_management").cloned().unwrap_or(tree);
    let management: CongestionManagement = checked(name, words, &given)?;
    match management.problem() {
        Some(invalid) => Err(Errors::one(name, invalid.parameter, invalid.reason)),
        None => Ok(management),
    }
}

/// The transmit side of a host with the parameters in `table`, numbers as for [`queue`], and packets for a count; `name` is what errors
/// call the place.
pub fn transmit(name: &str, table: Map<String, Json>) -> Result<Transmit, Errors> {
    let words: Transmit = host_model(name, "Transmit", table)?;
    match words.problem() {
        Some(invalid) => Err(Errors::one(name, invalid.parameter, invalid.reason)),
        None => Ok(words),
    }
}

/// The receive side of a host with the parameters in `table`, as [`transmit`].
pub fn receive(name: &str, table: Map<String, Json>) -> Result<Receive, Errors> {
    let words: Receive = host_model(name, "Receive", table)?;
    match words.problem() {
        Some(invalid) => Err(Errors::one(name, invalid.parameter, invalid.reason)),
        None => Ok(words),
    }
}

/// The words of a host's model, which the schema calls `definition`.
fn host_model<T: DeserializeOwned>(name: &str, definition: &str, table: Map<String, Json>) -> Result<T, Errors> {
    let root = schema();
    let words = root.get("$defs").and_then(|all| all.get(definition)).unwrap_or(&Json::Null);
    let given = Json::Object(table.into_iter().map(|(key, value)| with_unit(root, words, key, value)).collect());
    checked(name, words, &Node::from_json(&given, Origin::Program))
}

/// Returns what a tree says as a type, checked against the schema `words` of the type first.
fn checked<T: DeserializeOwned>(name: &str, words: &Json, tree: &Node) -> Result<T, Errors> {
    let problems = walk(schema(), words, tree, &Path::default());
    let found = if problems.is_empty() { typed(tree, &Path::default()) } else { Err(problems) };
    found.map_err(|problems| Errors::of_program(problems, name))
}

/// A bare number of a quantity as a scenario writes it.
pub(crate) fn with_unit(root: &Json, words: &Json, key: String, value: Json) -> (String, Json) {
    let property = Shape::of(words).property(&key);
    let quantity = property.and_then(|of| branches(root, of).into_iter().find_map(Quantity::of));
    let text = quantity.and_then(|quantity| quantity.written(&value));
    (key, text.map_or(value, Json::String))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephan_units::{Bytes, Span};

    fn read(stack: &str, table: Json) -> Result<Options, String> {
        let table = table.as_object().cloned().unwrap_or_default();
        tcp_options("Endpoint", stack, table).map_err(|e| e.to_string())
    }

    #[test]
    fn numbers_are_seconds_and_bytes() {
        let table = json!({ "rto_min": 0.25, "rto_initial": "2 s", "receive_window": 20000, "sack": false });
        let options = read("rfc", table).unwrap();
        assert_eq!((options.rto_min, options.rto_initial), (Span::from_ms(250), Span::from_s(2)));
        assert_eq!((options.receive_window, options.sack, options.stack), (Bytes(20_000), false, "rfc"));
    }

    #[test]
    fn what_is_wrong_is_said_as_in_a_scenario() {
        for (stack, table, error) in [
            ("rcf", json!({}), "Endpoint: unknown stack \"rcf\"; did you mean \"rfc\"?"),
            ("rfc", json!({ "rto_mn": 1 }), "Endpoint: unknown key \"rto_mn\"; did you mean \"rto_min\"?"),
            ("rfc", json!({ "rto_min": "1 sec" }), "Endpoint: rto_min: unknown unit \"sec\"*"),
            ("rfc", json!({ "sack": 1 }), "Endpoint: sack: 1: expected true or false"),
            ("rfc", json!({ "mss": 10 }), "Endpoint: mss: must be from 88 B to 65495 B, not 10 B (stack rfc)"),
            (
                "rfc",
                json!({ "congestion_control": "cubci" }),
                "Endpoint: congestion_control: unknown congestion control*",
            ),
        ] {
            let given = read(stack, table).unwrap_err();
            assert!(error.strip_suffix('*').map_or(given == error, |start| given.starts_with(start)), "{given}");
        }
        assert!(read("rfc", json!({ "rto_min": -1 })).is_err());
    }

    #[test]
    fn queues_are_checked_as_in_a_scenario() {
        let read = |kind: &str, table: Json| {
            let table = table.as_object().cloned().unwrap_or_default();
            queue("Queue", kind, table, 0).map_err(|e| e.to_string())
        };
        let tbf = read("tbf", json!({ "rate": 8e6, "burst": 3000, "latency": 0.01, "limit": "10 p" })).unwrap();
        let words = serde_json::to_value(&tbf).unwrap();
        assert_eq!([&words["rate"], &words["burst"], &words["latency"]], ["8 Mbps", "3 KB", "10 ms"]);
        for (kind, table, error) in [
            ("fiffo", json!({}), "Queue: kind: unknown kind \"fiffo\"; did you mean \"fifo\"?"),
            ("fifo", json!({ "limt": "1 p" }), "Queue: unknown key \"limt\"; did you mean \"limit\"?"),
            ("fifo", json!({ "limit": 5 }), "Queue: limit: 5: a limit needs a unit, like \"100 p\""),
            ("prio", json!({ "bands": 17 }), "Queue: bands: 17: must be at most 16"),
            ("prio", json!({ "map": [1, 2] }), "Queue: map: *"),
            ("drr", json!({ "quantum": 0 }), "Queue: quantum: *must be at least 1 B"),
        ] {
            let given = read(kind, table).unwrap_err();
            let (start, end) = error.split_once('*').unwrap_or((error, error));
            assert!(given.starts_with(start) && given.ends_with(end), "{given}");
        }
    }
}
