//! The desk from outside: what it answers are the tables of the same run.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use elephan_explore::{Desk, Entry, Limits, Reply, Setup, Trouble};
use elephan_record::{Recorder, TableData};
use elephan_scenario::{Source, read};
use serde_json::{Value, json};

const TEXT: &str = r#"
duration = "3 s"
[template]
kind = "dumbbell"
pairs = 2
rate = "10 Mbps"
delay = "10 ms"
queue = { kind = "fifo", limit = "1 bdp" }
[[traffic]]
name = "both"
from = "sender"
to = "receiver"
kind = "bulk"
[record]
every = "5 ms"
"#;

/// Each look at the clock is a tenth of a second later, so that pieces are due at every look of the run.
fn clock() -> f64 {
    static LOOKS: AtomicU64 = AtomicU64::new(0);
    LOOKS.fetch_add(1, Ordering::Relaxed) as f64 / 10.0
}

fn desk(limits: Limits) -> Desk {
    let library = vec![Entry { name: "one".to_owned(), text: TEXT.to_owned() }];
    let admit = Box::new(|source: Source| source.without_files("no files here"));
    Desk::new(Setup { name: "scenario".to_owned(), library, limits, clock, engine: "native", admit })
}

fn ask(desk: &Desk, method: &str, params: Value) -> Result<(Reply, Vec<Reply>), Trouble> {
    let mut pieces = Vec::new();
    let mut emit = |piece| {
        pieces.push(piece);
        true
    };
    let params = params.as_object().expect("a table").clone();
    let answer = desk.answer(method, &params, &[], &AtomicBool::new(false), &mut emit)?;
    Ok((answer, pieces))
}

fn tables() -> Vec<TableData> {
    let resolved = read(&Source::toml("t", TEXT), &[], None).unwrap();
    let (_, recorder) = elephan_sim::run(resolved.plan, Recorder::memory(), &mut |_| true).unwrap();
    recorder.finish().unwrap()
}

fn doubles(body: &[u8], offset: &Value, count: &Value) -> Vec<u64> {
    let (offset, count) = (offset.as_u64().unwrap() as usize, count.as_u64().unwrap() as usize);
    let one = |i: usize| u64::from_le_bytes(body[offset + 8 * i..offset + 8 * i + 8].try_into().unwrap());
    (0..count).map(one).collect()
}

/// Times and values of a column for one flow, as bits of doubles.
fn column(tables: &[TableData], name: &str, flow: i64) -> (Vec<u64>, Vec<u64>) {
    let table = tables.iter().find(|table| table.name == "flow_samples").unwrap();
    let (mut times, mut values) = (Vec::new(), Vec::new());
    for batch in &table.batches {
        let of = |name: &str| batch.column_by_name(name).unwrap();
        let (flows, time) = (of("flow").as_primitive::<Int64Type>(), of("time_ns").as_primitive::<Int64Type>());
        for row in (0..batch.num_rows()).filter(|&row| flows.value(row) == flow) {
            times.push((time.value(row) as f64).to_bits());
            values.push(of(name).as_primitive::<Float64Type>().value(row).to_bits());
        }
    }
    (times, values)
}

#[test]
fn series_are_the_tables_to_the_bit() {
    let desk = desk(Limits::default());
    let (done, _) = ask(&desk, "run", json!({ "text": TEXT })).unwrap();
    let lines = json!([{ "table": "flow_samples", "column": "cwnd_bytes", "where": { "flow": 1 } }]);
    let asked = json!({ "handle": done.head["handle"], "lines": lines, "points": 100_000 });
    let (reply, _) = ask(&desk, "series", asked).unwrap();
    let line = &reply.head["lines"][0];
    let (times, values) = column(&tables(), "cwnd_bytes", 1);
    assert_eq!(times.len(), 600, "3 s in steps of 5 ms");
    assert_eq!(doubles(&reply.body, &line["offset_t"], &line["count"]), times);
    assert_eq!(doubles(&reply.body, &line["offset_y"], &line["count"]), values);
}

#[test]
fn pieces_are_the_beginning_of_the_tables() {
    let long = TEXT.replace("3 s", "60 s").replace("10 Mbps", "100 Mbps");
    let series = json!({ "points": 100_000, "lines": [{ "table": "flow_samples", "column": "cwnd_bytes", "where": { "flow": 0 } }] });
    let (done, pieces) = ask(&desk(Limits::default()), "run", json!({ "text": long, "series": series })).unwrap();
    let values = |reply: &Reply| {
        let line = &reply.head["lines"][0];
        doubles(&reply.body, &line["offset_y"], &line["count"])
    };
    let whole = values(&done);
    assert!(pieces.len() > 3, "{}", pieces.len());
    let mut before = 0;
    for piece in &pieces {
        let part = values(piece);
        assert!(part.len() >= before && whole.starts_with(&part), "{} of {}", part.len(), whole.len());
        assert!(piece.head["share"].as_f64().is_some_and(|share| share > 0.0 && share < 1.0));
        before = part.len();
    }
    assert!(before > whole.len() / 2);
}

#[test]
fn limits_and_stops_end_a_run_that_stays_open() {
    let long = TEXT.replace("3 s", "600 s").replace("10 Mbps", "100 Mbps");
    let few = desk(Limits { events: 100_000, ..Limits::default() });
    let trouble = ask(&few, "run", json!({ "text": long })).unwrap_err();
    assert!(trouble.message.contains("the limit of 100000 events is reached"), "{}", trouble.message);
    let small = desk(Limits { table_bytes: 1 << 20, ..Limits::default() });
    let trouble = ask(&small, "run", json!({ "text": long })).unwrap_err();
    assert!(trouble.message.contains("the limit of 1 MB of tables is reached"), "{}", trouble.message);
    let (rows, _) = ask(&small, "rows", json!({ "handle": 1, "table": "flow_samples", "limit": 5 })).unwrap();
    assert_eq!(rows.head["count"], 5);
    let mut emit = |_| false;
    let params = json!({ "text": long }).as_object().unwrap().clone();
    let stopped = few.answer("run", &params, &[], &AtomicBool::new(false), &mut emit).unwrap_err();
    assert_eq!(stopped.message, "stopped");
}

#[test]
fn the_oldest_run_is_closed() {
    let desk = desk(Limits { open: 2, ..Limits::default() });
    let run = |params: Value| ask(&desk, "run", params).unwrap().0.head["handle"].as_u64().unwrap();
    let handles: Vec<u64> = (0..3).map(|_| run(json!({ "text": TEXT, "until_s": 0.1 }))).collect();
    assert_eq!(handles, [1, 2, 3]);
    let trouble = ask(&desk, "flows", json!({ "handle": 1 })).unwrap_err();
    assert_eq!(trouble.message, "nothing is open under handle 1; run it again");
    assert!(ask(&desk, "flows", json!({ "handle": 3 })).is_ok());
    assert_eq!(run(json!({ "text": TEXT, "until_s": 0.1, "handle": 3 })), 3);
}

#[test]
fn wrong_requests_are_one_line() {
    let desk = desk(Limits::default());
    ask(&desk, "run", json!({ "text": TEXT, "until_s": 0.1 })).unwrap();
    let wrong = [
        ("series", json!({ "handle": 1, "lines": 5 }), "lines: expected a list"),
        ("rows", json!({ "handle": 1, "table": "nope" }), "no table \"nope\": flows, messages"),
        (
            "rows",
            json!({ "handle": 1, "table": "flows", "columns": ["nope"] }),
            "no column \"nope\" in flows: flow, traffic",
        ),
        ("run", json!({}), "text is missing: a text"),
        ("run", json!({ "text": "duration = 5" }), "5: a time needs a unit"),
        ("packets", json!({ "handle": 1, "flow": 9 }), "no flow 9"),
        ("dance", json!({}), "no method \"dance\": describe, library"),
    ];
    for (method, params, message) in wrong {
        let trouble = ask(&desk, method, params).unwrap_err();
        assert!(trouble.message.contains(message), "{}", trouble.message);
    }
    // One line that cannot be drawn leaves the others.
    let lines = json!([{ "table": "nope", "column": "x" }, { "table": "flow_samples", "column": "cwnd_bytes" }]);
    let (reply, _) = ask(&desk, "series", json!({ "handle": 1, "lines": lines })).unwrap();
    assert!(reply.head["lines"][0]["error"].is_string() && reply.head["lines"][1]["count"].as_u64() > Some(0));
}

/// The shares of time of the reasons that `why` gives for flow 0.
fn reasons(text: &str) -> std::collections::BTreeMap<String, f64> {
    let desk = desk(Limits::default());
    let (done, _) = ask(&desk, "run", json!({ "text": text })).unwrap();
    let (told, _) = ask(&desk, "why", json!({ "handle": done.head["handle"], "flow": 0 })).unwrap();
    let mut shares = std::collections::BTreeMap::new();
    for span in told.head["value"].as_array().unwrap() {
        let length = span["to_ns"].as_f64().unwrap() - span["from_ns"].as_f64().unwrap();
        assert_eq!(span["reason"] == "full link", span["port"].is_u64(), "{span}");
        *shares.entry(span["reason"].as_str().unwrap().to_owned()).or_insert(0.0) += length;
    }
    let whole: f64 = shares.values().sum();
    shares.values_mut().for_each(|share| *share /= whole);
    shares
}

#[test]
fn a_full_link_is_the_answer() {
    let share = |text: &str, reason: &str| reasons(text).get(reason).copied().unwrap_or(0.0);
    let long = TEXT.replace("3 s", "10 s");
    assert!(share(&long, "full link") > 0.8, "{:?}", reasons(&long));
    // A receiver whose buffer is a tenth of the path holds the flow back; one that is large fills it.
    let small = long.replace("pairs = 2", "pairs = 1") + "[tcp]\nreceive_window = \"8 KB\"\n";
    assert!(share(&small, "receive window") > 0.9, "{:?}", reasons(&small));
    // A host's own link, which is not sampled: 1 Mb/s of 10 Mb/s.
    let host = long.replace("delay = \"10 ms\"", "delay = \"10 ms\"\naccess_rate = \"1 Mbps\"");
    assert!(share(&host, "full link") > 0.8, "{:?}", reasons(&host));
    // With rate to spare the window is the answer: 3 s of slow start and growth do not fill 10 Gb/s over 200 ms.
    let wide = TEXT.replace("10 Mbps", "10 Gbps").replace("10 ms", "50 ms");
    assert_eq!(share(&wide, "full link"), 0.0, "{:?}", reasons(&wide));
}

#[test]
fn the_rate_of_all_flows_has_every_byte() {
    let text = TEXT.replace("pairs = 2", "pairs = 60").replace("5 ms\"\n", "50 ms\"\n");
    let desk = desk(Limits::default());
    let (done, _) = ask(&desk, "run", json!({ "text": text })).unwrap();
    let line = json!({ "table": "flow_samples", "column": "delivered_bytes", "how": "rate", "each": "flow" });
    let asked = json!({ "handle": done.head["handle"], "lines": [line], "points": 100_000 });
    let (reply, _) = ask(&desk, "series", asked).unwrap();
    let line = &reply.head["lines"][0];
    assert_eq!(line["unit"], "bit/s");
    let of = |key: &str| {
        doubles(&reply.body, &line[key], &line["count"]).into_iter().map(f64::from_bits).collect::<Vec<_>>()
    };
    let (times, rates) = (of("offset_t"), of("offset_y"));
    let mut before = 0.0;
    let bytes: f64 =
        times.iter().zip(&rates).map(|(t, rate)| rate * (t - std::mem::replace(&mut before, *t)) / 8e9).sum();
    let (flows, _) = ask(&desk, "flows", json!({ "handle": done.head["handle"] })).unwrap();
    let flows = flows.head["value"].as_array().unwrap();
    let delivered: f64 = flows.iter().map(|flow| flow["delivered_bytes"].as_f64().unwrap()).sum();
    assert_eq!(flows.len(), 60);
    assert!((bytes / delivered - 1.0).abs() < 1e-9, "{bytes} of {delivered}");
}

#[test]
fn code_is_refused_for_its_own_reason() {
    let admit =
        Box::new(|source: Source| elephan_explore::without_files_and_code(source, "no files here", "no code here"));
    let setup = Setup {
        name: "scenario".to_owned(),
        library: vec![],
        limits: Limits::default(),
        clock,
        engine: "native",
        admit,
    };
    let desk = Desk::new(setup);
    for code in ["{ python = \"lab.py:Mine\" }", "{ program = \"./mine.sh\" }"] {
        let text = TEXT.replace("kind = \"bulk\"", &format!("kind = \"bulk\"\ncongestion_control = {code}"));
        let trouble = ask(&desk, "run", json!({ "text": text })).unwrap_err();
        assert!(trouble.message.ends_with("no code here"), "{}", trouble.message);
        let (checked, _) = ask(&desk, "check", json!({ "text": text })).unwrap();
        assert_eq!(
            (&checked.head["ok"], &checked.head["errors"][0]["line"]),
            (&json!(false), &json!(14)),
            "{:?}",
            checked.head
        );
    }
}
