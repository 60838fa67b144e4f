//! A scenario in few words: what is set in it, without what is the default anyway.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::Override;
use crate::error::Errors;
use crate::output::Origin;
use crate::read::{Source, read};
use crate::tree::{Path, Step};

/// Returns a scenario with its overrides and its seed as values, without what is the default anyway. A default stays if the scenario
/// would change without it.
///
/// ```
/// use elephan_scenario::{Source, brief};
///
/// let text = "
///     duration = '1 s'
///     template = { kind = 'dumbbell', rate = '1 Gbps', delay = '1 ms' }
///     traffic = [{ kind = 'bulk', from = 'sender', to = 'receiver' }]
/// ";
/// let found = brief(&Source::toml("x", text), &[], None).unwrap();
/// assert_eq!(found["duration"], "1 s");
/// assert!(found.get("stack").is_none());
/// ```
pub fn brief(source: &Source, overrides: &[Override], seed: Option<u64>) -> Result<Json, Errors> {
    let resolved = read(source, overrides, seed)?;
    let leaves = resolved.leaves();
    let is_given = |origin| origin == Origin::Given;
    let above = |path: &Path| (1..path.0.len()).map(|end| Path(path.0[..end].to_vec())).collect::<Vec<_>>();
    let mut seen: BTreeSet<String> = leaves
        .iter()
        .filter(|(_, leaf)| is_given(leaf.origin))
        .flat_map(|(path, _)| above(path))
        .map(|path| path.to_string())
        .collect();
    let mut paths: Vec<Path> =
        leaves.iter().filter(|(_, leaf)| !is_given(leaf.origin)).map(|(path, _)| path.clone()).collect();
    // Whole tables of which nothing is given.
    let tables = paths.iter().flat_map(above).filter(|path| seen.insert(path.to_string())).collect::<Vec<_>>();
    paths.extend(tables);
    let whole = Whole { source, toml: resolved.toml() };
    Ok(whole.without(resolved.values, &paths))
}

/// A scenario to which others are compared.
struct Whole<'a> {
    source: &'a Source,
    /// Its resolved text.
    toml: String,
}

impl Whole<'_> {
    /// Returns the values without as many of the paths as can be left out.
    fn without(&self, values: Json, paths: &[Path]) -> Json {
        let mut fewer = values.clone();
        paths.iter().rev().for_each(|path| remove(&mut fewer, &path.0));
        if self.is_same(&fewer) {
            return fewer;
        }
        if paths.len() < 2 {
            return values;
        }
        let (first, second) = paths.split_at(paths.len() / 2);
        self.without(self.without(values, first), second)
    }

    fn is_same(&self, values: &Json) -> bool {
        read(&self.source.with_values(values.clone()), &[], None).is_ok_and(|other| other.toml() == self.toml)
    }
}

fn remove(values: &mut Json, path: &[Step]) {
    let [above @ .., Step::Key(key)] = path else { return };
    let table = above.iter().try_fold(values, |values, step| match step {
        Step::Key(key) => values.get_mut(key),
        Step::Index(i) => values.get_mut(i),
    });
    if let Some(table) = table.and_then(Json::as_object_mut) {
        table.shift_remove(key);
    }
}
