//! What kept a flow from sending more: the attribution of RFC 4898 between samples, refined by the state of the sender.

use serde_json::json;

use crate::ask::Ask;
use crate::column::{numbers, numbers_where};
use crate::open::{Open, table};
use crate::reply::{Reply, Trouble};

/// Less data than this in the socket is no reason to wait for the network.
const UNSENT_BYTES: f64 = 1.0;

/// Spans of time and what limited the flow in them, merged where the reason stays.
pub fn why(open: &Open, ask: Ask<'_>) -> Result<Reply, Trouble> {
    let flow = ask.maybe_u64("flow")?.ok_or("flow is missing: the number of a flow")?;
    let tables = open.tables();
    let samples = table(&tables, "flow_samples").map_err(|_| "a capture has no states of its senders")?;
    let columns = [
        "time_ns",
        "snd_lim_time_rwin_ns",
        "snd_lim_time_cwnd_ns",
        "snd_lim_time_snd_ns",
        "cur_app_w_queue",
        "cwnd_bytes",
        "pipe_size",
        "pacing_bps",
    ];
    let (found, phases) = numbers_where(samples, &columns, "phase", ("flow", flow as f64))?;
    let [time, rwin, cwnd, snd, unsent, window, pipe, pacing] = &found[..] else { return Err("no samples".into()) };
    let copies = limits_of_copy(open, flow)?;
    let mut spans: Vec<(i64, i64, &str)> = Vec::new();
    for i in 0..time.len() {
        let (from, before) =
            if i == 0 { (0.0, [0.0; 3]) } else { (time[i - 1], [rwin[i - 1], cwnd[i - 1], snd[i - 1]]) };
        let spent = [rwin[i] - before[0], cwnd[i] - before[1], snd[i] - before[2]];
        // Within the time that was spent: a flow may have begun after the sample before.
        let total: f64 = spent.iter().sum();
        let begin = if i == 0 { (time[i] - total).max(0.0) } else { from };
        let largest = (0..3).max_by(|&a, &b| spent[a].total_cmp(&spent[b])).unwrap_or(0);
        let last = |all: &[f64]| all[i.saturating_sub(1)];
        let reason = match largest {
            _ if total <= 0.0 => "idle",
            0 => "receive window",
            2 => match copies.iter().find(|(until, _)| *until >= time[i]) {
                Some((_, limit)) if *limit != "network" => limit,
                _ if unsent[i] < UNSENT_BYTES || last(unsent) < UNSENT_BYTES => "application",
                _ => "send buffer",
            },
            _ => match phases[i].as_str() {
                "handshake" => "handshake",
                "slow_start" => "slow start",
                "recovery" => "recovery",
                "loss" => "timeout",
                // A window with room to spare is no limit: what is paced waits for its time.
                _ if pacing[i].is_finite() && pipe[i] < ROOM * window[i] && last(pipe) < ROOM * last(window) => {
                    "pacing"
                }
                _ => "congestion window",
            },
        };
        match spans.last_mut() {
            Some(span) if span.2 == reason && span.1 == begin as i64 => span.1 = time[i] as i64,
            _ => spans.push((begin as i64, time[i] as i64, reason)),
        }
    }
    let told: Vec<_> =
        spans.iter().map(|(from, to, reason)| json!({ "from_ns": from, "to_ns": to, "reason": reason })).collect();
    Ok(Reply::of(told.into()))
}

/// Share of the window in the network below which it is not what limits.
const ROOM: f64 = 0.9;

/// Of a transfer from disk to disk that the flow is a stream of: until when, and what held it up most since the sample before.
fn limits_of_copy(open: &Open, flow: u64) -> Result<Vec<(f64, &'static str)>, Trouble> {
    let tables = open.tables();
    let copies = table(&tables, "copies")?;
    let (first, streams) = (numbers(copies, "flow")?, numbers(copies, "streams")?);
    let flow = flow as f64;
    let own = first.iter().zip(&streams).position(|(first, streams)| flow >= *first && flow < first + streams);
    let Some(own) = own else { return Ok(Vec::new()) };
    let samples = table(&tables, "copy_samples")?;
    let (found, limits) = numbers_where(samples, &["time_ns"], "limit", ("copy", own as f64))?;
    let named = |limit: &String| STAGES.iter().find(|(name, _)| name == limit).map_or("network", |(_, words)| *words);
    Ok(found[0].iter().copied().zip(limits.iter().map(named)).collect())
}

/// Stages of a transfer that are not the network, as reports call them.
const STAGES: [(&str, &str); 4] = [
    ("read", "disk that is read"),
    ("send_buffer", "send buffer"),
    ("receive_buffer", "receive window"),
    ("write", "disk that is written"),
];
