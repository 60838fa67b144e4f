//! What there is: registries, descriptions, schema, dictionary, version.

use std::sync::Arc;

use elephan_cc::Spec;
use elephan_cc::guest::Unloaded;
use elephan_host::receive::Refused;
use elephan_link::queue::{self, Parameters, QueueSpec};
use elephan_scenario::written::TrafficWords;
use elephan_scenario::{Advice, Link, Room, Source};
use elephan_traffic::Spec as _;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors::{ScenarioError, guard, guard_long, scenario_errors};
use crate::json;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(listing, module)?)?;
    module.add_function(wrap_pyfunction!(model_known_as, module)?)?;
    module.add_function(wrap_pyfunction!(describe_cc, module)?)?;
    module.add_function(wrap_pyfunction!(answers, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_answers, module)?)?;
    module.add_function(wrap_pyfunction!(data_dictionary, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)
}

const KINDS: &str = "congestion-controls, stacks, queues, traffic, templates, disks, host-drops";

/// The names in a registry, each with one line.
#[pyfunction]
fn listing(kind: &str) -> PyResult<Vec<(String, String)>> {
    let rows: Vec<(&str, &str)> = match kind {
        "congestion-controls" => elephan_cc::list().to_vec(),
        "stacks" => elephan_tcp::stacks().to_vec(),
        "queues" => elephan_link::queue::QUEUES.to_vec(),
        "traffic" => elephan_traffic::Kind::ALL.iter().map(|kind| (kind.name, kind.about)).collect(),
        "disks" => elephan_host::disk::PROFILES.iter().map(|profile| (profile.name, profile.about)).collect(),
        "templates" => elephan_scenario::template::TEMPLATES.to_vec(),
        "host-drops" => Refused::ALL.iter().map(|why| (why.name(), why.words())).collect(),
        _ => return Err(ScenarioError::new_err(format!("no list `{kind}`; there are {KINDS}"))),
    };
    Ok(rows.iter().map(|(name, line)| (name.to_string(), line.trim().to_string())).collect())
}

/// The name here of a model that papers and other tools call so, if it has another.
#[pyfunction]
fn model_known_as(word: &str) -> Option<&'static str> {
    elephan_scenario::model_known_as(word)
}

/// What one of a registry answers about itself with the keys that a scenario gives, as JSON. `words` is JSON too: a traffic entry, a
/// queue or a congestion control; of slow starts a table of `slow_start` and the `congestion_control` beside it.
#[pyfunction]
fn answers(registry: &str, words: &str) -> PyResult<String> {
    guard(|| {
        let value: Value = serde_json::from_str(words).map_err(bad)?;
        let found = match registry {
            "traffic" => json!(read::<TrafficWords>(between_any(value))?.kind.answers()),
            "queues" => {
                let queue = read::<QueueSpec>(value)?;
                let mut found = json!(queue.answers());
                found["title"] = queue::title(queue.name()).into();
                found
            }
            "congestion-controls" => json!(read::<Spec>(value)?.answers()),
            "slow-starts" => {
                let pair = read::<Pair>(value)?;
                json!({ "ends_by_delay": pair.slow_start.ends_by_delay(&pair.congestion_control) })
            }
            _ => return Err(ScenarioError::new_err(format!("no answers of `{registry}`"))),
        };
        json::text(&found)
    })
}

/// A traffic entry with hosts, which its kind says nothing of.
fn between_any(mut entry: Value) -> Value {
    if let Value::Object(keys) = &mut entry {
        for end in ["from", "to"] {
            keys.entry(end).or_insert_with(|| end.into());
        }
    }
    entry
}

/// A slow start and the congestion control that steers beside it.
#[derive(serde::Deserialize)]
struct Pair {
    slow_start: elephan_cc::slow_start::Spec,
    congestion_control: Spec,
}

fn bad(error: serde_json::Error) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> PyResult<T> {
    serde_json::from_value(value).map_err(bad)
}

/// What a resolved scenario answers about itself, as JSON: `draws`, the places that are drawn at random, and `short_rooms`, where a switch
/// that pauses has too little room for what still arrives, and `small_mtus`, links that packets are too large for. Congestion controls from outside are not loaded.
#[pyfunction]
fn scenario_answers(py: Python<'_>, text: String, name: String) -> PyResult<String> {
    let source = Source::toml(name, text)
        .without_files("a resolved scenario names no files")
        .with_interpreter(Arc::new(Unloaded));
    let answered = || {
        let resolved = elephan_scenario::read(&source, &[], None).map_err(scenario_errors)?;
        let plan = &resolved.plan;
        let named = |link: u32| plan.links[link as usize].name.as_str();
        let advised = |one: &Advice| {
            let queues: Vec<Value> = one.queues.iter().map(|(link, bytes)| json!([named(*link), bytes])).collect();
            json!({
                "memory_bytes": one.memory_bytes,
                "headroom_bytes": one.headroom_bytes,
                "queues": queues,
                "xoff_bytes": one.xoff_bytes,
                "xon_bytes": one.xon_bytes,
            })
        };
        let room = |room: Room| {
            let advice: Vec<Value> = room.advice.iter().map(advised).collect();
            json!({
                "switch": plan.nodes[room.node as usize].name,
                "what": room.what,
                "link": room.link.map(named),
                "has_bytes": room.has_bytes,
                "needs_bytes": room.needs_bytes,
                "xoff_bytes": room.xoff_bytes,
                "advice": advice,
            })
        };
        let small = |link: &Link| {
            let (mtu, traffic) =
                (link.mtu.filter(|mtu| mtu.0 < link.ip_bytes)?, &plan.traffic[link.largest_of? as usize]);
            Some(json!({
                "link": link.name,
                "mtu_bytes": mtu.0,
                "packet_bytes": link.ip_bytes,
                "traffic": traffic.name,
                "ip": traffic.ip,
                "tcp": traffic.kind.carrier().is_tcp() && traffic.rdma.is_none(),
            }))
        };
        let small_mtus: Vec<Value> = plan.links.iter().filter_map(small).collect();
        let rooms: Vec<Value> = plan.short_rooms().into_iter().map(room).collect();
        json::text(&json!({
            "draws": resolved.draws(),
            "short_rooms": rooms,
            "small_mtus": small_mtus,
            "largest_packet_bytes": plan.largest_packet(),
        }))
    };
    py.detach(|| guard_long(None, answered))
}

/// A congestion control as JSON: name, summary, parameters with default and source, states.
#[pyfunction]
fn describe_cc(name: &str) -> PyResult<String> {
    guard(|| {
        elephan_cc::Spec::named(name).map_err(crate::errors::scenario_error)?;
        json::text(&elephan_cc::describe(name))
    })
}

/// The data dictionary of the tables, Markdown.
#[pyfunction]
fn data_dictionary() -> String {
    elephan_record::data_dictionary()
}

/// The version of elephan.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
