//! Rules of the tables and the summary of one run: numbers are finite, and what is said twice agrees.

use std::collections::HashMap;

use elephan_record::{TableData, Tables};
use elephan_scenario::Plan;
use serde_json::Value as Json;

use crate::Finding;
use crate::columns::{bools, floats, ints, table, texts, whole};

/// What a host drops behind or before its port begins so; ports do not count it.
const OF_HOSTS: [&str; 3] = ["rx_", "cpu_", "udp_"];
/// Keys of a summary that say nothing in a run that has nothing to say.
const MAY_BE_MISSING: &[&str] = &[
    "jain",
    "deadlock",
    // A PAUSE holds all priorities.
    "priority",
    "bottleneck",
    "hosts",
    "message_latency",
    "round_time",
    "iteration_time",
    "fct",
    "sender_fct",
    "copies",
    "limit",
    "slowdown",
    "mean_s",
    "min_s",
    "max_s",
    "p50_s",
    "p99_s",
    "logger_gap_max_s",
    "sd_s",
    "sd",
];

/// Checks what holds in every run.
pub fn check(plan: &Plan, tables: &Tables, summary: &Json) -> Result<(), Finding> {
    for table in tables {
        finite(table)?;
    }
    figures(summary, "")?;
    ports(table(tables, "ports"), table(tables, "events"), summary)?;
    flows(plan, table(tables, "flows"))?;
    samples(table(tables, "flow_samples"), table(tables, "flows"))
}

fn broken<T>(rule: &str, detail: String) -> Result<T, Finding> {
    Err(Finding::new(rule, detail))
}

/// No number is negative, infinite or NaN, and no port is busier than always.
pub fn finite(table: &TableData) -> Result<(), Finding> {
    for field in table.schema.fields().iter().filter(|field| field.name() != "value") {
        let name = field.name();
        let values: Vec<Option<f64>> = match field.data_type().to_string().as_str() {
            "Int64" => ints(table, name).into_iter().map(|value| value.map(|value| value as f64)).collect(),
            "Float64" => floats(table, name),
            _ => continue,
        };
        let most = if name == "utilisation" { 1.0 + 1e-9 } else { f64::MAX };
        if let Some((row, value)) =
            values.iter().enumerate().find(|(_, v)| v.is_some_and(|v| !(0.0..=most).contains(&v)))
        {
            let value = value.unwrap_or_default();
            return broken("a number is out of range", format!("{name} of row {row} in {} is {value}", table.name));
        }
    }
    Ok(())
}

/// Every figure of a summary is there: JSON has no infinity, and what is not finite becomes null.
fn figures(summary: &Json, path: &str) -> Result<(), Finding> {
    match summary {
        Json::Object(map) => map.iter().try_for_each(|(key, value)| match value {
            Json::Null if !MAY_BE_MISSING.contains(&key.as_str()) => {
                broken("a figure is missing", format!("{path}{key}"))
            }
            _ => figures(value, &format!("{path}{key}.")),
        }),
        Json::Array(items) => items.iter().try_for_each(|item| figures(item, path)),
        _ => Ok(()),
    }
}

/// The events of a port are as many as its row counts.
fn ports(ports: &TableData, events: &TableData, summary: &Json) -> Result<(), Finding> {
    let (mut drops, mut marks, mut all) = (HashMap::new(), HashMap::new(), 0);
    let columns = ["kind", "reason"].map(|name| texts(events, name));
    for (row, port) in ints(events, "port").into_iter().enumerate() {
        let (kind, reason) = (columns[0][row], columns[1][row].unwrap_or_default());
        match kind {
            Some("drop") => {
                all += 1;
                if !OF_HOSTS.iter().any(|prefix| reason.starts_with(prefix)) {
                    *drops.entry(port).or_insert(0) += 1;
                }
            }
            Some("mark") => *marks.entry(port).or_insert(0) += 1,
            _ => {}
        }
    }
    if summary["drops"] != all {
        return broken("drops are not the summary's", format!("{all} events and {}", summary["drops"]));
    }
    let [number, dropped, lost, marked] = ["port", "drops", "lost", "marks"].map(|name| whole(ports, name));
    let (mean, most) = (floats(ports, "queue_mean_bytes"), whole(ports, "queue_max_bytes"));
    for row in 0..number.len() {
        let port = Some(number[row]);
        let counted = (drops.get(&port).copied().unwrap_or(0), marks.get(&port).copied().unwrap_or(0));
        let said = (dropped[row] + lost[row], marked[row]);
        if counted != said {
            return broken(
                "drops and marks of a port",
                format!("port {}: events {counted:?}, row {said:?}", number[row]),
            );
        }
        if mean[row].is_some_and(|mean| mean > most[row] as f64 + 1e-6) {
            return broken(
                "a mean above its maximum",
                format!("queue of port {}: {:?}, {}", number[row], mean[row], most[row]),
            );
        }
    }
    Ok(())
}

/// What rows of flows say of times, bytes and completion agrees.
fn flows(plan: &Plan, flows: &TableData) -> Result<(), Finding> {
    let end_ns = (plan.duration.ps() / 1000) as i64;
    let of = |name: &str| whole(flows, name);
    let sum = |parts: [&str; 3]| {
        let columns = parts.map(of);
        move |row: usize| columns.iter().map(|column| column[row]).sum::<i64>()
    };
    let limited = sum(["snd_lim_time_rwin_ns", "snd_lim_time_cwnd_ns", "snd_lim_time_snd_ns"]);
    let sent = sum(["snd_lim_bytes_rwin", "snd_lim_bytes_cwnd", "snd_lim_bytes_snd"]);
    let [start, octets, stalls, segs_retrans, segs] =
        ["start_ns", "data_octets_out", "send_stall", "segs_retrans", "segs_out"].map(of);
    let [retransmitted, delivered] = ["octets_retrans", "delivered_bytes"].map(of);
    let [sizes, fct, ideal] = ["size_bytes", "fct_ns", "ideal_fct_ns"].map(|name| ints(flows, name));
    let (slowdown, completed) = (floats(flows, "slowdown"), bools(flows, "completed"));
    for (row, protocol) in texts(flows, "protocol").into_iter().enumerate() {
        let protocol = protocol.unwrap_or_default();
        let must = |holds: bool, rule: &str, detail: String| {
            if holds { Ok(()) } else { broken(rule, format!("flow {row} of {protocol}: {detail}")) }
        };
        let (limit, life) = (limited(row), end_ns - start[row] + 3);
        must(limit <= life, "limited for longer than it lives", format!("{limit} ns of {life} ns"))?;
        // What the host's queue refuses after the state has changed is counted once more when it goes out.
        let more = if protocol == "tcp" { sent(row) - octets[row] } else { 0 };
        must(more == 0 || (more > 0 && stalls[row] > 0), "bytes by limit are not those sent", format!("{more} more"))?;
        must(
            segs_retrans[row] <= segs[row],
            "more retransmitted than sent",
            format!("{} segments", segs_retrans[row]),
        )?;
        must(retransmitted[row] <= octets[row], "more retransmitted than sent", format!("{} B", retransmitted[row]))?;
        if let (Some(size), "tcp" | "roce" | "uec") = (sizes[row], protocol) {
            let (got, done) = (delivered[row], completed[row]);
            // A flow without a byte is complete when it has begun and ended.
            let agrees = got <= size && (done == (got == size) || size == 0);
            must(agrees, "completion and bytes", format!("{got} of {size} B, completed {done}"))?;
        }
        if let (Some(times), true) = (slowdown[row], plan.changes.is_empty()) {
            let ideal_holds = matches!((fct[row], ideal[row]), (Some(fct), Some(ideal)) if fct >= ideal - 2);
            must(times >= 1.0 - 1e-6 || ideal_holds, "faster than ideal", format!("slowdown {times}"))?;
        }
    }
    Ok(())
}

/// No sample says more than its flow has in the end.
fn samples(samples: &TableData, flows: &TableData) -> Result<(), Finding> {
    let (in_end, most, protocol) =
        (whole(flows, "delivered_bytes"), whole(flows, "max_pipe_size"), texts(flows, "protocol"));
    let (delivered, pipe) = (whole(samples, "delivered_bytes"), whole(samples, "pipe_size"));
    for (row, flow) in whole(samples, "flow").into_iter().enumerate() {
        let flow = flow as usize;
        let holds = delivered[row] <= in_end[flow] && (pipe[row] <= most[flow] || protocol[flow] != Some("tcp"));
        if !holds {
            let (got, pipe) = (delivered[row], pipe[row]);
            return broken(
                "a sample above its flow",
                format!("row {row}: {got} of {} B, {pipe} of {} B", in_end[flow], most[flow]),
            );
        }
    }
    Ok(())
}
