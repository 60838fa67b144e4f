//! The JSON Schema of a scenario: what schemars derives, made readable for people and editors.

use std::sync::LazyLock;

use serde_json::{Map, Value as Json};

use crate::written::Scenario;

/// The JSON Schema (draft 2020-12) of a scenario. Beside the standard keywords it has `x-quantity` (`time`, `rate`,
/// `size`, `count`, `limit`) for texts that are numbers with units, and `x-source` for where a default comes from.
pub fn schema() -> &'static Json {
    static SCHEMA: LazyLock<Json> = LazyLock::new(|| {
        let mut schema = tidied(schemars::schema_for!(Scenario));
        if let Some(map) = schema.as_object_mut() {
            map.insert("title".to_owned(), "elephan scenario".into());
        }
        schema
    });
    &SCHEMA
}

/// What schemars derives, made readable.
pub(crate) fn tidied(schema: schemars::Schema) -> Json {
    let mut schema = schema.to_value();
    tidy(&mut schema);
    schema
}

/// Leaves out `null` (TOML has none: a key is given or not), joins the lines of descriptions, and closes the tables
/// that carry a tagged union beside their own keys.
fn tidy(json: &mut Json) {
    match json {
        Json::Object(map) => {
            map.values_mut().for_each(tidy);
            without_null(map);
            if let Some(pattern) = map.get("x-quantity").and_then(Json::as_str).and_then(pattern) {
                map.insert("pattern".to_owned(), pattern.into());
            }
            if let Some(Json::String(text)) = map.get_mut("description") {
                *text = text.replace("\\[", "[").replace("\\]", "]").replace("\n\n", "\0").replace('\n', " ");
                *text = text.replace('\0', "\n\n");
            }
            if map.contains_key("properties") && map.contains_key("oneOf") {
                map.insert("unevaluatedProperties".to_owned(), false.into());
            }
        }
        Json::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// What editors can check of a quantity; reading it checks the rest.
fn pattern(quantity: &str) -> Option<String> {
    const PREFIX: &str = "([KMGT]i?|k)?";
    let units = match quantity {
        "time" => "(ps|ns|us|µs|μs|ms|s|min|h|d)".to_owned(),
        "rate" => format!("{PREFIX}(bps|b/s|bit/s|Bps|B/s)"),
        "size" => format!("{PREFIX}(B|b)"),
        "count" => "(p|packets)".to_owned(),
        "limit" => format!("({PREFIX}(B|b)|p|packets|bdp|BDP)"),
        _ => return None,
    };
    Some(format!("^\\s*[0-9._]+([eE][+-]?[0-9]+)?\\s*{units}\\s*$"))
}

fn without_null(map: &mut Map<String, Json>) {
    if map.get("default").is_some_and(Json::is_null) {
        map.shift_remove("default");
    }
    if let Some(Json::Array(types)) = map.get_mut("type") {
        types.retain(|t| t != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            map.insert("type".to_owned(), one);
        }
    }
    let Some(Json::Array(members)) = map.get_mut("anyOf") else { return };
    members.retain(|m| m.get("type").is_none_or(|t| t != "null"));
    if let [Json::Object(one)] = members.as_slice() {
        let one = one.clone();
        map.shift_remove("anyOf");
        for (key, value) in one {
            map.entry(key).or_insert(value);
        }
    }
}
