//! The registry: names, one line each, schemas whose every key is described.

use schemars::SchemaGenerator;
use serde::Deserialize;

use crate::Kind;

#[test]
fn the_list() {
    let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name).collect();
    assert_eq!(
        names,
        [
            "bulk",
            "messages",
            "transfers",
            "users",
            "cbr",
            "burst",
            "frames",
            "incast",
            "onoff",
            "disk-copy",
            "writes",
            "program",
            "replay",
            "collective",
            "goal"
        ]
    );
    for kind in Kind::ALL {
        assert!(kind.about.ends_with('.') && !kind.about.contains('\n') && kind.about.len() <= 80, "{kind:?}");
    }
}

/// The name in the list is the tag in the text, and every key says what it is.
#[test]
fn names_are_tags() {
    let schema = serde_json::to_value(schemars::schema_for!(Kind)).unwrap();
    for (kind, variant) in Kind::ALL.iter().zip(schema["oneOf"].as_array().unwrap()) {
        assert_eq!(variant["properties"]["kind"]["const"], kind.name);
        assert_eq!(variant["description"], kind.about);
        let own = (kind.schema)(&mut SchemaGenerator::default()).to_value();
        for (key, property) in own["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].as_str().is_some_and(|text| text.len() > 10), "{}.{key}", kind.name);
        }
    }
    let defaults = |i: usize, key: &str| &schema["oneOf"][i]["properties"][key]["default"];
    assert_eq!(defaults(1, "when_full"), "block");
    assert_eq!(defaults(1, "gaps"), "exponential");
    assert_eq!(defaults(2, "gaps"), "exponential");
    assert_eq!(defaults(3, "users"), 1);
    assert_eq!(defaults(4, "gaps"), "fixed");
    assert_eq!(defaults(4, "packet_size"), "1.472 KB");
    assert_eq!(defaults(5, "packet_size"), "1 KB");
}

/// An entry of a scenario: common keys, and the kind's own beside them.
#[derive(Deserialize, Debug)]
struct Entry {
    name: String,
    #[serde(flatten)]
    kind: Kind,
}

#[test]
fn flattened_into_an_entry() {
    let text = r#"{"name": "upload", "kind": "messages", "size": {"exponential": "8000 B"}, "load": "3.6 Gbps"}"#;
    let entry: Entry = serde_json::from_str(text).unwrap();
    assert_eq!((entry.name.as_str(), entry.kind.name()), ("upload", "messages"));
    let error = |text: &str| serde_json::from_str::<Entry>(text).unwrap_err().to_string();
    let misspelt = r#"{"name": "a", "kind": "cbr", "rate": "1 Gbps", "packetsize": "100 B"}"#;
    assert!(error(misspelt).contains("unknown field `packetsize`, expected one of `rate`, `packet_size`, `gaps`"));
    assert!(error(r#"{"name": "a", "kind": "cbs"}"#).contains("expected one of `bulk`, `messages`"));
    assert!(error(r#"{"name": "a", "kind": "cbr", "rate": 5}"#).contains("invalid type: integer `5`"));
    assert!(error(r#"{"name": "a"}"#).contains("missing field `kind`"));
}
