//! From a tree that meets the schema to types. An error is at the smallest part of the tree that a type refuses.

use serde::de::DeserializeOwned;

use crate::error::{ERRORS_MAX, Problem};
use crate::from_tree::{Refused, from_tree};
use crate::tree::{Node, Path, Value};

/// Returns what a tree says as a type. The tree stands at `place`, and meets the schema.
pub(crate) fn typed<T: DeserializeOwned>(tree: &Node, place: &Path) -> Result<T, Vec<Problem>> {
    from_tree(tree).map_err(|refused| problems::<T>(tree, place, refused))
}

/// Returns all that a type refuses: the first value, and what it refuses if that value is left out.
fn problems<T: DeserializeOwned>(tree: &Node, place: &Path, mut refused: Refused) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut rest = tree.clone();
    loop {
        let at = smallest::<T>(&rest, &refused);
        let whole = Path([place.0.as_slice(), &at.0].concat());
        problems.push(Problem::new(whole, rest.deepest(&at).0.origin, refused.message));
        let Some(key) = rest.take_out(&at) else { return problems };
        match from_tree::<T>(&rest) {
            Err(next) if problems.len() < ERRORS_MAX && !lacks(&next, &key) => refused = next,
            _ => return problems,
        }
    }
}

/// Returns the place of the smallest part of what is refused. If serde has read a table as a whole, it is the part without which
/// the table would be accepted, or would only lack a key.
fn smallest<T: DeserializeOwned>(tree: &Node, refused: &Refused) -> Path {
    let table = refused.path();
    let mut place = table.clone();
    loop {
        let mut lacking = Vec::new();
        let cause = tree.at(&place).and_then(|node| {
            keys(node, &place).into_iter().find(|part| {
                let mut rest = tree.clone();
                let key = rest.take_out(part).unwrap_or_default();
                let next = from_tree::<T>(&rest).err().filter(|next| next.path().0.starts_with(&table.0));
                lacking.extend(next.as_ref().filter(|next| lacks(next, &key)).map(|_| part.clone()));
                next.is_none()
            })
        });
        let only = lacking.pop().filter(|_| lacking.is_empty());
        let Some(part) = cause.or(only) else { return place };
        place = part;
    }
}

/// Returns whether a type refuses a table only since `key` was taken out of it. Without its tag a table of several kinds is refused
/// whatever else it has.
fn lacks(refused: &Refused, key: &str) -> bool {
    key != "kind" && refused.message == format!("missing field `{key}`")
}

/// Returns the places of the keys of a table, or of the tables of an array.
fn keys(node: &Node, at: &Path) -> Vec<Path> {
    match &node.value {
        Value::Table(table) => table.keys().map(|key| at.key(key)).collect(),
        Value::Array(items) => items.iter().enumerate().flat_map(|(i, item)| keys(item, &at.index(i))).collect(),
        _ => Vec::new(),
    }
}
