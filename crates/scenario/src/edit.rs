//! One key of a scenario's TOML changed: comments, order and all else stay as they are.

use serde_json::Value as Json;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value as Toml};

use crate::error::{Errors, Problem};
use crate::tree::{Node, Path, Step, Value};
use crate::{Override, Source, schema};

/// Returns the text of a scenario in TOML with `value` at `path`, which follows the rules of overrides; without a value, with that key
/// taken out. A new `kind` takes out the keys that it does not know. The result is not checked beyond the path.
///
/// ```
/// let text = "[[links]]\nrate = \"10 Mbps\" # of the uplink\n";
/// let edited = elephan_scenario::edit(text, "links[0].rate", Some(&"12 Mbps".into())).unwrap();
/// assert_eq!(edited, "[[links]]\nrate = \"12 Mbps\" # of the uplink\n");
/// ```
pub fn edit(text: &str, path: &str, value: Option<&Json>) -> Result<String, Errors> {
    let source = Source::toml("scenario", text);
    let fail = |problem: Problem| source.errors(vec![problem], &[]);
    let mut tree = source.tree().map_err(fail)?;
    let mut document: DocumentMut =
        text.parse().map_err(|_| Errors::one("scenario", path, "the text is no TOML that can be edited"))?;
    let root = document.as_table_mut();
    match value {
        None => {
            let place = Override::parse(&format!("{path}=0"))?.place(&tree);
            remove(Spot::Table(root), &place.0);
        }
        Some(value) => {
            let change = match value {
                Json::String(text) => Override::parse(&format!("{path}={text}"))?,
                other => Override::json(path, other.clone())?,
            };
            let place = change.place(&tree);
            let dropped = change.apply(schema(), &mut tree, 0);
            let dropped = dropped.map_err(|problem| source.errors(vec![problem], &[change]))?;
            if let Some(node) = tree.at(&place) {
                set(Spot::Table(root), &place.0, node);
            }
            for path in &dropped {
                if let Ok(path) = Override::parse(&format!("{path}=0")) {
                    remove(Spot::Table(root), &path.place(&tree).0);
                }
            }
        }
    }
    Ok(document.to_string())
}

/// A place in the document that has parts.
enum Spot<'a> {
    Table(&'a mut Table),
    Inline(&'a mut InlineTable),
    Tables(&'a mut ArrayOfTables),
    Array(&'a mut toml_edit::Array),
}

/// The parts of an item; none of a value.
fn spot(item: &mut Item) -> Option<Spot<'_>> {
    match item {
        Item::Table(table) => Some(Spot::Table(table)),
        Item::ArrayOfTables(tables) => Some(Spot::Tables(tables)),
        Item::Value(value) => spot_in(value),
        Item::None => None,
    }
}

fn spot_in(value: &mut Toml) -> Option<Spot<'_>> {
    match value {
        Toml::InlineTable(table) => Some(Spot::Inline(table)),
        Toml::Array(array) => Some(Spot::Array(array)),
        _ => None,
    }
}

fn remove(spot_: Spot<'_>, steps: &[Step]) {
    let Some((step, rest)) = steps.split_first() else { return };
    if rest.is_empty() {
        match (spot_, step) {
            (Spot::Table(table), Step::Key(key)) => take_out(table, key),
            (Spot::Inline(table), Step::Key(key)) => keeping_end(table, |table| drop(table.remove(key))),
            (Spot::Tables(tables), Step::Index(i)) if *i < tables.len() => drop(tables.remove(*i)),
            (Spot::Array(array), Step::Index(i)) if *i < array.len() => drop(array.remove(*i)),
            _ => {}
        }
    } else if let Some(inner) = within(spot_, step) {
        remove(inner, rest);
    }
}

/// Takes a key out of a table; comments above it go to the next key.
fn take_out(table: &mut Table, key: &str) {
    let above = table.key(key).and_then(|key| key.leaf_decor().prefix()?.as_str().map(str::to_owned));
    let next = table.iter().skip_while(|(name, _)| *name != key).nth(1).map(|(name, _)| name.to_owned());
    table.remove(key);
    if let (Some(above), Some(next)) = (above.filter(|text| text.contains('#')), next)
        && let Some(mut key) = table.key_mut(&next)
    {
        let own = key.leaf_decor().prefix().and_then(|text| text.as_str()).unwrap_or_default().to_owned();
        key.leaf_decor_mut().set_prefix(above + &own);
    }
}

/// Changes an inline table, whose last value keeps the space before the brace.
fn keeping_end(table: &mut InlineTable, change: impl FnOnce(&mut InlineTable)) {
    let end = table.iter().last().and_then(|(_, value)| value.decor().suffix()?.as_str().map(str::to_owned));
    let set = |table: &mut InlineTable, suffix: &str| {
        if let (Some(_), Some((_, value))) = (&end, table.iter_mut().last()) {
            value.decor_mut().set_suffix(suffix);
        }
    };
    set(table, "");
    change(table);
    set(table, end.as_deref().unwrap_or_default());
}

/// The part of a place that a step leads to, if it is there and has parts itself.
fn within<'a>(place: Spot<'a>, step: &Step) -> Option<Spot<'a>> {
    match (place, step) {
        (Spot::Table(table), Step::Key(key)) => spot(table.get_mut(key)?),
        (Spot::Inline(table), Step::Key(key)) => spot_in(table.get_mut(key)?),
        (Spot::Tables(tables), Step::Index(i)) => tables.get_mut(*i).map(Spot::Table),
        (Spot::Array(array), Step::Index(i)) => spot_in(array.get_mut(*i)?),
        _ => None,
    }
}

fn set(place: Spot<'_>, steps: &[Step], node: &Node) {
    let Some((step, rest)) = steps.split_first() else { return };
    if rest.is_empty() {
        return put(place, step, node);
    }
    // `congestion_control = "cubic"` stays short when its kind changes, and is a table from its first parameter on.
    let is_kind = matches!(rest, [Step::Key(key)] if key == "kind");
    match (place, step) {
        (Spot::Table(table), Step::Key(key)) => {
            let at_top = table.position().is_none();
            let item = table.entry(key).or_insert_with(|| match at_top {
                true => Item::Table(Table::new()),
                false => Item::Value(Toml::InlineTable(InlineTable::new())),
            });
            match item {
                Item::Value(text @ Toml::String(_)) if is_kind => replace(text, node),
                Item::Value(value) => {
                    widen(value);
                    spot_in(value).into_iter().for_each(|inner| set(inner, rest, node));
                }
                item => spot(item).into_iter().for_each(|inner| set(inner, rest, node)),
            }
        }
        (Spot::Inline(table), Step::Key(key)) => {
            let value = table.get_or_insert(key, InlineTable::new());
            if is_kind && value.is_str() {
                return replace(value, node);
            }
            widen(value);
            spot_in(value).into_iter().for_each(|inner| set(inner, rest, node));
        }
        (place, step) => within(place, step).into_iter().for_each(|inner| set(inner, rest, node)),
    }
}

/// A name that stands for a table with that `kind` becomes the table.
fn widen(value: &mut Toml) {
    if let Toml::String(name) = value {
        let mut table = InlineTable::new();
        table.insert("kind", name.value().as_str().into());
        let decor = value.decor().clone();
        *value = Toml::InlineTable(table);
        *value.decor_mut() = decor;
    }
}

fn put(place: Spot<'_>, step: &Step, node: &Node) {
    match (place, step) {
        (Spot::Table(table), Step::Key(key)) => match table.get_mut(key) {
            Some(Item::Value(value)) => replace(value, node),
            Some(item) => *item = Item::Value(value_of(node)),
            None => drop(table.insert(key, Item::Value(value_of(node)))),
        },
        (Spot::Inline(table), Step::Key(key)) => match table.get_mut(key) {
            Some(value) => replace(value, node),
            None => keeping_end(table, |table| drop(table.insert(key, value_of(node)))),
        },
        (Spot::Array(array), Step::Index(i)) => array.get_mut(*i).into_iter().for_each(|value| replace(value, node)),
        _ => {}
    }
}

/// Another value with the spaces and the comment of the one before.
fn replace(value: &mut Toml, node: &Node) {
    let decor = value.decor().clone();
    *value = value_of(node);
    *value.decor_mut() = decor;
}

fn value_of(node: &Node) -> Toml {
    match &node.value {
        Value::Bool(b) => (*b).into(),
        Value::Integer(i) => (*i).into(),
        Value::Float(f) => (*f).into(),
        Value::Text(text) => text.as_str().into(),
        Value::Array(items) => Toml::Array(items.iter().map(value_of).collect()),
        Value::Table(table) => {
            Toml::InlineTable(table.iter().map(|(key, entry)| (key, value_of(&entry.node))).collect())
        }
    }
}

/// Returns what a scenario says at each path, as text without quotes: `links[0].rate` is `10 Mbps`. A table that names its kind is
/// there as that kind too.
pub fn written(source: &Source) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if let Ok(tree) = source.tree() {
        leaves(&tree, &Path::default(), &mut found);
    }
    found
}

fn leaves(node: &Node, at: &Path, found: &mut Vec<(String, String)>) {
    match &node.value {
        Value::Table(table) => {
            if let Some(kind) = node.get("kind").and_then(Node::as_text) {
                found.push((at.to_string(), kind.to_owned()));
            }
            table.iter().for_each(|(key, entry)| leaves(&entry.node, &at.key(key), found));
        }
        Value::Text(text) => found.push((at.to_string(), text.clone())),
        Value::Array(items) if items.iter().any(|item| item.as_table().is_some()) => {
            items.iter().enumerate().for_each(|(i, item)| leaves(item, &at.index(i), found));
        }
        _ => found.push((at.to_string(), value_of(node).to_string().trim().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TEXT: &str = r#"# A comment.
duration = "60 s"   # long
tcp = { rto_min = "200 ms" } # RFC 6298 says 1 s

[template]
kind  = "dumbbell"
rate  = "20 Mbps"
queue = { kind = "codel", target = "5 ms" }

[[traffic]]
name = "reno"   # the old one
congestion_control = "reno"
"#;

    fn edited(path: &str, value: Json) -> String {
        edit(TEXT, path, Some(&value)).unwrap()
    }

    #[test]
    fn a_value_changes_and_all_else_stays() {
        assert_eq!(edited("duration", json!("30 s")), TEXT.replace("60 s", "30 s"));
        assert_eq!(edited("template.rate", json!("1 Gbps")), TEXT.replace("20 Mbps", "1 Gbps"));
        assert_eq!(edited("tcp.rto_min", json!("1 s")), TEXT.replace("200 ms", "1 s"));
        assert_eq!(edited("traffic[0].name", json!("new")), TEXT.replace("\"reno\"   #", "\"new\"   #"));
        assert_eq!(edited("traffic.reno.name", json!("new")), TEXT.replace("\"reno\"   #", "\"new\"   #"));
    }

    #[test]
    fn a_key_that_is_not_there_is_added() {
        assert!(edited("template.pairs", json!(4)).contains("target = \"5 ms\" }\npairs = 4\n"));
        assert!(edited("tcp.sack", json!(false)).contains("{ rto_min = \"200 ms\", sack = false } # RFC"));
        assert!(edited("record.every", json!("10 ms")).ends_with("\n[record]\nevery = \"10 ms\"\n"));
        assert!(edited("template.queue.interval", json!("1 s")).contains("target = \"5 ms\", interval = \"1 s\" }"));
    }

    #[test]
    fn kinds() {
        let bbr = edited("traffic[0].congestion_control.kind", json!("bbr"));
        assert_eq!(bbr, TEXT.replace("control = \"reno\"", "control = \"bbr\""));
        let table = edited("traffic[0].congestion_control.reduce_from", json!("cwnd"));
        assert!(table.contains("control = { kind = \"reno\", reduce_from = \"cwnd\" }\n"), "{table}");
        // `fifo` knows no `target`.
        assert_eq!(
            edited("template.queue.kind", json!("fifo")),
            TEXT.replace("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"fifo\" }")
        );
    }

    #[test]
    fn a_key_is_taken_out() {
        assert_eq!(edit(TEXT, "duration", None).unwrap(), TEXT.replace("duration = \"60 s\"   # long\n", ""));
        assert_eq!(edit(TEXT, "no.such[3].key", None).unwrap(), TEXT);
    }

    #[test]
    fn wrong_paths_are_errors() {
        let error = edit(TEXT, "template.rat", Some(&json!("1 Gbps"))).unwrap_err().to_string();
        assert!(error.contains("did you mean \"template.rate\""), "{error}");
        assert!(edit("a = [", "a", None).is_err());
        assert!(edit(TEXT, "links[0].rate", Some(&json!("1 Gbps"))).is_err());
    }

    #[test]
    fn what_is_written() {
        let found = written(&Source::toml("t", TEXT));
        for (path, text) in [
            ("template.queue.target", "5 ms"),
            ("template.queue", "codel"),
            ("traffic[0].congestion_control", "reno"),
            ("duration", "60 s"),
        ] {
            assert!(found.contains(&(path.to_owned(), text.to_owned())), "{path}");
        }
    }
}
