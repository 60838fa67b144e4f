//! TOML text to tree.

use elephan_units::stop;
use toml_edit::{Document, Item, Key, TableLike, Value as Toml};
use toml_parser::parser::{RecursionGuard, parse_document};
use toml_parser::{Expected, ParseError};

use crate::error::Problem;
use crate::tree::{Entry, Node, Origin, Path, Table, Value};

/// Nesting beyond which toml_edit gives up.
const DEPTH_MAX: u32 = 80;

pub(crate) fn parse(text: &str) -> Result<Node, Problem> {
    let table = |document: &Document<&str>| table(document.as_table(), 0, &Path::default());
    table(&document(text)?)
}

/// The document of a text. What toml_edit builds of a text that breaks the grammar it may then stumble over (a dotted key
/// into an unclosed inline table panics in 0.23): grammar comes first.
fn document(text: &str) -> Result<Document<&str>, Problem> {
    let invalid = |offset: usize, message: &str| {
        let message = message.trim().replace('\n', ", ");
        Problem::new(Path::default(), Origin::Text(offset), format!("not valid TOML: {message}"))
    };
    if let Some(error) = grammar(text) {
        return Err(invalid(error.unexpected().map_or(0, |s| s.start()), &described(&error)));
    }
    Document::parse(text).map_err(|e| {
        let span = e.span().unwrap_or(0..0);
        let key = text.get(span.clone()).filter(|_| e.message() == "duplicate key");
        invalid(
            span.start,
            &key.map_or(e.message().to_owned(), |key| format!("duplicate key \"{}\"", key.trim_matches('"'))),
        )
    })
}

/// The first breach of the grammar.
fn grammar(text: &str) -> Option<ParseError> {
    let source = toml_parser::Source::new(text);
    let tokens = source.lex().into_vec();
    let mut first = None;
    let mut nothing = ();
    let mut receiver = RecursionGuard::new(&mut nothing, DEPTH_MAX);
    parse_document(&tokens, &mut receiver, &mut first);
    first
}

/// A breach of the grammar in the words of toml_edit.
fn described(error: &ParseError) -> String {
    let word = |expected: &Expected| match expected {
        Expected::Literal("\n") => "newline".to_owned(),
        Expected::Literal("`") => "'`'".to_owned(),
        Expected::Literal(text) if text.chars().all(|c| c.is_ascii_control()) => format!("`{}`", text.escape_debug()),
        Expected::Literal(text) => format!("`{text}`"),
        Expected::Description(text) => (*text).to_owned(),
        _ => "etc".to_owned(),
    };
    match error.expected() {
        None => error.description().to_owned(),
        Some([]) => format!("{}, expected nothing", error.description()),
        Some(some) => {
            format!("{}, expected {}", error.description(), some.iter().map(word).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A single TOML value, as on the right of `-s key=value`; `None` if the text is not one.
pub(crate) fn parse_value(text: &str, origin: Origin) -> Option<Node> {
    let text = format!("value = {text}");
    let document = document(&text).ok()?;
    if document.as_table().len() != 1 {
        return None;
    }
    let node = item(document.as_table().get("value")?, 0, &Path::default()).ok()?;
    Some(reseat(node, origin))
}

fn reseat(mut node: Node, origin: Origin) -> Node {
    node.origin = origin;
    match &mut node.value {
        Value::Array(items) => {
            for item in items {
                let taken = std::mem::replace(item, Node::integer(0, origin));
                *item = reseat(taken, origin);
            }
        }
        Value::Table(table) => {
            for entry in table.values_mut() {
                entry.key = origin;
                let taken = std::mem::replace(&mut entry.node, Node::integer(0, origin));
                entry.node = reseat(taken, origin);
            }
        }
        _ => {}
    }
    node
}

fn table(from: &dyn TableLike, offset: usize, path: &Path) -> Result<Node, Problem> {
    let mut out = Table::new();
    for (name, value) in from.iter() {
        let key = from.get_key_value(name).and_then(|(k, _): (&Key, &Item)| k.span()).map_or(offset, |s| s.start);
        let node = item(value, key, &path.key(name))?;
        out.insert(name.to_owned(), Entry { key: Origin::Text(key), node });
    }
    Ok(Node { value: Value::Table(out), origin: Origin::Text(offset) })
}

fn item(from: &Item, near: usize, path: &Path) -> Result<Node, Problem> {
    stop::look();
    match from {
        Item::None => Ok(Node::table(Origin::Text(near))),
        Item::Value(v) => value(v, near, path),
        Item::Table(t) => table(t, t.span().map_or(near, |s| s.start), path),
        Item::ArrayOfTables(tables) => {
            let items: Result<Vec<Node>, Problem> = tables
                .iter()
                .enumerate()
                .map(|(i, t)| table(t, t.span().map_or(near, |s| s.start), &path.index(i)))
                .collect();
            Ok(Node::array(items?, Origin::Text(near)))
        }
    }
}

fn value(from: &Toml, near: usize, path: &Path) -> Result<Node, Problem> {
    let offset = from.span().map_or(near, |s| s.start);
    let origin = Origin::Text(offset);
    let value = match from {
        Toml::String(s) => Value::Text(s.value().clone()),
        Toml::Integer(i) => Value::Integer(*i.value()),
        Toml::Float(f) => Value::Float(*f.value()),
        Toml::Boolean(b) => Value::Bool(*b.value()),
        Toml::Datetime(d) => {
            let message = format!("{}: dates have no meaning here", d.value());
            return Err(Problem::new(path.clone(), origin, message));
        }
        Toml::Array(items) => {
            let items: Result<Vec<Node>, Problem> =
                items.iter().enumerate().map(|(i, v)| self::value(v, offset, &path.index(i))).collect();
            Value::Array(items?)
        }
        Toml::InlineTable(t) => return table(t, offset, path),
    };
    Ok(Node { value, origin })
}
