//! The JSON Schema of a scenario: what schemars derives, made readable for people and editors.

use std::sync::LazyLock;

use serde_json::{Map, Value as Json};

use crate::quantity::Quantity;
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
            if let Some(quantity) = map.get("x-quantity").and_then(Json::as_str).and_then(Quantity::named) {
                map.insert("pattern".to_owned(), quantity.pattern().into());
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
