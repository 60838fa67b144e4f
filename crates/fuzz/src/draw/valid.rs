//! From a drawn scenario to one that the language accepts.

use elephan_scenario::{Errors, Source, read};
use serde_json::Value as Json;

use super::Draw;
use crate::{Finding, plans};

/// Name of a drawn scenario in its errors.
const NAME: &str = "x.json";
/// Scenarios drawn for one seed before it is given up, and keys dropped from one of them.
const ATTEMPTS: u64 = 10;
const DROPS: usize = 60;

/// Returns the first valid scenario that a seed leads to; none if its attempts are all refused. `look` sees each text before it
/// is read.
pub fn valid(schema: &Json, seed: u64, look: &mut dyn FnMut(&Json)) -> Result<Option<Json>, Finding> {
    for attempt in 0..ATTEMPTS {
        let drawn = Draw::new(schema, seed.wrapping_mul(ATTEMPTS).wrapping_add(attempt)).scenario();
        if let Some(valid) = repaired(drawn, look)? {
            return Ok(Some(valid));
        }
    }
    Ok(None)
}

/// Returns a scenario without the keys that the language refuses; none if there is no end to them. Each error must be a
/// readable line.
pub fn repaired(mut scenario: Json, look: &mut dyn FnMut(&Json)) -> Result<Option<Json>, Finding> {
    for _ in 0..DROPS {
        look(&scenario);
        let Err(Errors(errors)) = read(&source(&scenario), &[], None) else { return Ok(Some(scenario)) };
        plans::lines(errors.iter().map(ToString::to_string))?;
        if !errors.first().is_some_and(|error| drop_refused(&mut scenario, &error.path)) {
            break;
        }
    }
    Ok(None)
}

/// Returns a scenario as the language reads it: with lines, so that errors have places.
pub fn source(scenario: &Json) -> Source {
    Source::json(NAME, format!("{scenario:#}"))
}

/// Removes what the path of an error names, or the deepest part of it that exists; false if nothing of it exists.
fn drop_refused(scenario: &mut Json, path: &str) -> bool {
    let steps = steps(path);
    let depth = (0..steps.len()).take_while(|n| at(scenario, &steps[..=*n]).is_some()).count();
    let Some((last, above)) = steps[..depth].split_last() else { return false };
    match (at(scenario, above), last) {
        (Some(Json::Object(map)), last) => map.shift_remove(last).is_some(),
        (Some(Json::Array(items)), last) => match last.parse::<usize>() {
            Ok(index) if index < items.len() => {
                items.remove(index);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

/// Returns the part of a tree at a path.
fn at<'a>(tree: &'a mut Json, steps: &[String]) -> Option<&'a mut Json> {
    steps.iter().try_fold(tree, |here, step| match here {
        Json::Object(map) => map.get_mut(step),
        Json::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
        _ => None,
    })
}

/// Splits the path of an error, such as `change[0].set."links[2].rate"`, into keys and indices.
fn steps(path: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        let (step, after) = match first {
            '"' => rest[1..].split_once('"').unwrap_or((&rest[1..], "")),
            '[' => rest[1..].split_once(']').unwrap_or((&rest[1..], "")),
            '.' => {
                rest = &rest[1..];
                continue;
            }
            _ => rest.split_at(rest.find(['.', '[', '"']).unwrap_or(rest.len())),
        };
        steps.push(step.to_owned());
        rest = after;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn drops_what_an_error_names() {
        let mut scenario =
            json!({ "change": [{ "set": { "links[2].rate": "1 bps" } }], "traffic": [{ "stop": "1 s" }] });
        assert!(drop_refused(&mut scenario, r#"change[0].set."links[2].rate""#));
        assert!(drop_refused(&mut scenario, "traffic[0].stop.unit"));
        assert_eq!(scenario, json!({ "change": [{ "set": {} }], "traffic": [{}] }));
        assert!(!drop_refused(&mut scenario, "hosts.a"));
    }
}
