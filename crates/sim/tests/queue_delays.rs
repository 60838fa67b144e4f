//! Delays of each class in a queue against queueing theory, and that they are the same queue as without them.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use elephan_record::{Recorder, Tables};
use elephan_scenario::{Override, Source, read};
use elephan_units::Time;
use serde_json::Value;

/// Two Poisson streams of 25 Mb/s each, in packets of 1250 B, into a link of 100 Mb/s, where a packet takes 100 us.
const TEXT: &str = r#"
duration = "40 s"
warmup   = "1 s"

[hosts.a]
count = 2
[hosts.sink]
[switches.sw]

[[links]]
between = ["a", "sw"]
rate    = "10 Gbps"
delay   = "0 s"
framing = "none"

[[links]]
between = ["sw", "sink"]
rate    = "100 Mbps"
delay   = "0 s"
framing = "none"
queue   = { kind = "prio", limit = "100 MB" }

[[traffic]]
name = "urgent"
from = "a[0]"
to   = "sink"
kind = "cbr"
rate = "25 Mbps"
packet_size = "1222 B"
gaps = "exponential"
priority = 7

[[traffic]]
name = "patient"
from = "a[1]"
to   = "sink"
kind = "cbr"
rate = "25 Mbps"
packet_size = "1222 B"
gaps = "exponential"

[record]
queue_delays = true
"#;

fn run(set: &[&str]) -> (Tables, Value) {
    let overrides: Vec<Override> = set.iter().map(|one| Override::parse(one).unwrap()).collect();
    let resolved = read(&Source::toml("delays.toml", TEXT), &overrides, None).unwrap_or_else(|e| panic!("{e}"));
    assert!(resolved.plan.warmup > Time::ZERO);
    let (summary, recorder) = elephan_sim::run(resolved.plan, Recorder::memory(), &mut |_| true).unwrap();
    (recorder.finish().unwrap(), summary)
}

/// (port, priority, mean in us, p99 in us, packets) of each class.
fn delays(tables: &Tables) -> Vec<(i64, i64, f64, f64, i64)> {
    let table = tables.iter().find(|t| t.name == "queue_delays").unwrap();
    let rows = table.batches.iter().flat_map(|batch| {
        let ints = |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().values().to_vec();
        let (port, priority, packets) = (ints("port"), ints("priority"), ints("packets"));
        let (mean, p99) = (ints("mean_ns"), ints("p99_ns"));
        (0..mean.len())
            .map(|i| (port[i], priority[i], mean[i] as f64 / 1e3, p99[i] as f64 / 1e3, packets[i]))
            .collect::<Vec<_>>()
    });
    rows.collect()
}

/// Cobham 1954: what is in service takes W0 = rho s / 2 = 25 us more; W = W0 / (1 - rho7) and W0 / ((1 - rho7) (1 - rho)).
#[test]
fn priorities_wait_as_cobham_says() {
    let (tables, _) = run(&[]);
    let found = delays(&tables);
    let bottleneck: Vec<_> = found.iter().filter(|row| row.4 > 50_000 && row.2 > 1.0).collect();
    assert_eq!(bottleneck.iter().map(|row| row.1).collect::<Vec<_>>(), [0, 7], "{found:?}");
    for (row, due) in bottleneck.iter().zip([25.0 / (0.75 * 0.5), 25.0 / 0.75]) {
        assert!((row.2 / due - 1.0).abs() < 0.03, "{row:?} for {due}");
        assert!(row.3 > row.2 && (row.4 - 39 * 2500).abs() < 1500, "{row:?}");
    }
}

/// One FIFO: M/D/1 at half load, rho / (2 (1 - rho)) = half a service time for all; nothing else changes by looking.
#[test]
fn a_fifo_has_the_wait_of_md1_and_is_the_same_unlooked_at() {
    let fifo = "links[1].queue={ kind = \"fifo\", limit = \"100 MB\" }";
    let (tables, seen) = run(&[fifo]);
    for row in delays(&tables).iter().filter(|row| row.2 > 1.0) {
        assert!((row.2 / 50.0 - 1.0).abs() < 0.03, "{row:?}");
    }
    let (others, unseen) = run(&[fifo, "record.queue_delays=false"]);
    assert!(delays(&others).is_empty());
    let queue = |summary: &Value| summary["bottleneck"]["queue_mean_bytes"].as_f64().unwrap();
    assert_eq!((queue(&seen), &seen["goodput_bps"]), (queue(&unseen), &unseen["goodput_bps"]));
}
