//! TCP options given by a program, one end at a time, checked as those of a scenario are.

use elephan_tcp::{Options, Overrides};
use elephan_units::Span;
use serde_json::{Map, Value as Json};

use crate::error::Errors;
use crate::near::hint;
use crate::shape::{Shape, branches, resolve};
use crate::tree::{Node, Origin, Path};
use crate::walk::walk;
use crate::{Source, schema};

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
    let problems = walk(root, words, &Node::from_json(&table, Origin::Program), &Path::default());
    if !problems.is_empty() {
        return Err(Errors::from(problems, &Source::value(name, Json::Null), &[]));
    }
    let overrides: Overrides = serde_json::from_value(table).map_err(|e| fail("", e.to_string().replace('\n', " ")))?;
    options.apply(&overrides).map_err(|e| fail(e.option, format!("{} (stack {stack})", e.reason)))?;
    Ok(options)
}

/// A bare number of a quantity as a scenario writes it.
fn with_unit(root: &Json, words: &Json, key: String, value: Json) -> (String, Json) {
    let property = Shape::of(words).property(&key);
    let quantity = property.and_then(|of| branches(root, of).into_iter().find_map(|b| b.get("x-quantity")));
    let text = match (quantity.and_then(Json::as_str), value.as_f64()) {
        (Some("time"), Some(seconds)) if seconds >= 0.0 => Some(format!("{} ps", Span::from_seconds(seconds).ps())),
        (Some("time"), Some(seconds)) => Some(format!("{seconds} s")),
        (Some("size"), Some(_)) => Some(format!("{value} B")),
        _ => None,
    };
    (key, text.map_or(value, Json::String))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephan_units::Bytes;
    use serde_json::json;

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
}
