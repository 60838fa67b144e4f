use crate::ReduceFrom;
use crate::algorithm::{Any, Spec, describe};
use crate::slow_start;
use serde_json::json;

fn read(value: serde_json::Value) -> Result<Spec, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[test]
fn a_name_and_a_table_without_parameters_say_the_same() {
    let named = Spec::named("cubic").unwrap();
    assert_eq!(read(json!("cubic")).unwrap(), named);
    assert_eq!(read(json!({ "kind": "cubic" })).unwrap(), named);
    assert_eq!(read(json!({ "c": 0.4, "kind": "cubic" })).unwrap(), named);
}

#[test]
fn parameters_are_read_whole_numbers_too() {
    let Spec::Cubic(p) = read(json!({ "kind": "cubic", "beta": 0.5, "c": 4, "reduce_from": "flight" })).unwrap() else {
        panic!("not cubic");
    };
    assert_eq!((p.beta, p.c, p.fast_convergence, p.reduce_from), (0.5, 4.0, true, ReduceFrom::Flight));
}

#[test]
fn what_is_written_spells_out_every_default_and_reads_back() {
    let spec = read(json!({ "kind": "cubic", "beta": 0.8 })).unwrap();
    let written = serde_json::to_value(&spec).unwrap();
    let expected = json!({
        "kind": "cubic", "c": 0.4, "beta": 0.8, "fast_convergence": true, "reduce_from": "cwnd", "beta_ecn": 0.0, "two_after_ecn": false,
        "curves_from": "cwnd", "reno_catches_up": true, "round_trip": "smoothed", "growth_max": 0.5, "s_max": 0.0,
        "idle_keeps_epoch": false, "first_growth": 0.0, "undo_restores": true,
    });
    assert_eq!(written, expected);
    assert_eq!(read(written).unwrap(), spec);
    let written = serde_json::to_value(slow_start::Spec::default()).unwrap();
    assert_eq!(written, json!({ "kind": "classic" }));
    assert_eq!(serde_json::from_value::<slow_start::Spec>(written).unwrap(), slow_start::Spec::default());
}

#[test]
fn wrong_text_gives_one_clear_line() {
    for (text, error) in [
        (json!("cubci"), "unknown congestion control `cubci`; known: reno, cubic*"),
        (
            json!({ "kind": "cubic", "bta": 1 }),
            "`cubic` has no parameter `bta`; known: c, beta, fast_convergence, reduce_from*",
        ),
        (json!({ "kind": "cubic", "beta": "x" }), "`beta` of `cubic`: invalid type: string \"x\", expected f64"),
        (json!({ "kind": "cubic", "beta": 1.0 }), "`beta` of `cubic`: must be above 0 and below 1, not 1"),
        (json!({ "kind": "cubic", "c": 0 }), "`c` of `cubic`: must be above 0 and below 1000000000, not 0"),
        (
            json!({ "kind": "reno", "reduce_from": "x" }),
            "`reduce_from` of `reno`: unknown variant `x`, expected `flight` or `cwnd`",
        ),
        (json!({ "beta": 0.5 }), "a congestion control is a name or a table with `kind` as a string"),
        (json!(7), "a congestion control is a name or a table with `kind` as a string"),
    ] {
        let given = read(text).unwrap_err();
        // More congestion controls or parameters may follow those that the line names.
        assert!(error.strip_suffix('*').map_or(given == error, |start| given.starts_with(start)), "{given}");
    }
    let slow = |value| serde_json::from_value::<slow_start::Spec>(value).unwrap_err().to_string();
    let limited = |most: serde_json::Value| slow(json!({ "kind": "limited", "max_ssthresh": most }));
    assert_eq!(limited(json!("x")), "`max_ssthresh` of `limited`: invalid type: string \"x\", expected f64");
    assert_eq!(limited(json!(0.5)), "`max_ssthresh` of `limited`: must be above 1 and below 1000000000, not 0.5");
    assert!(slow(json!("x")).starts_with("unknown slow start `x`; known: classic"));
}

#[test]
fn the_description_has_defaults_docs_and_sources() {
    let cubic = describe("cubic").unwrap();
    let beta = &cubic.parameters[1];
    assert_eq!(
        (beta.name.as_str(), &beta.default, beta.source.as_str()),
        ("beta", &json!(0.7), "RFC 9438 section 4.6")
    );
    assert_eq!(beta.doc, "The share of the window that a congestion event leaves.");
    assert_eq!(cubic.states[1].name, "k");
    assert_eq!(describe("x"), None);
}

#[test]
fn the_schema_offers_names_and_closed_tables() {
    let schema = serde_json::to_value(schemars::schema_for!(Spec)).unwrap();
    assert_eq!(schema["anyOf"][0]["enum"][1], "cubic");
    let cubic = &schema["anyOf"][1]["oneOf"][1];
    assert_eq!(cubic["properties"]["kind"]["const"], "cubic");
    assert_eq!(cubic["properties"]["beta"]["default"], 0.7);
    assert_eq!(cubic["additionalProperties"], false);
    assert_eq!(cubic["required"], json!(["kind"]));
}

#[test]
fn an_idle_connection_carries_little() {
    assert!(size_of::<Any>() <= 256, "box large models: an idle connection carries one of these");
}
