//! What kept a flow from sending more: the attribution of RFC 4898 between samples, refined by the state of the sender, and by the links
//! on its way. Where a link is full, no window of the sender is the answer.

use elephan_record::Tables;
use serde_json::json;

use crate::ask::Ask;
use crate::column::{numbers, numbers_where};
use crate::open::{Open, table};
use crate::reply::{Reply, Trouble};
use crate::ways::Busy;

/// Less data than this in the socket is no reason to wait for the network.
const UNSENT_BYTES: f64 = 1.0;

/// Spans of time and what limited the flow in them, merged where the reason stays.
#[expect(clippy::too_many_lines, reason = "a span for each sample, by one ladder of reasons")]
pub fn why(open: &Open, ask: Ask<'_>) -> Result<Reply, Trouble> {
    let flow = ask.maybe_u64("flow")?.ok_or("flow is missing: the number of a flow")?;
    let tables = open.tables();
    if open.run.is_none() {
        return of_capture(&tables, flow);
    }
    let samples = table(&tables, "flow_samples")?;
    let columns = [
        "time_ns",
        "snd_lim_time_rwin_ns",
        "snd_lim_time_cwnd_ns",
        "snd_lim_time_snd_ns",
        "cur_app_w_queue",
        "cwnd_bytes",
        "pipe_size",
        "pacing_bps",
        "delivered_bytes",
    ];
    let (found, phases) = numbers_where(samples, &columns, "phase", ("flow", flow as f64))?;
    let [time, rwin, cwnd, snd, unsent, window, pipe, pacing, delivered] = &found[..] else {
        return Err("no samples".into());
    };
    let copies = limits_of_copy(open, flow)?;
    let busy = Busy::of(open, flow)?;
    let mut spans: Vec<Span> = Vec::new();
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
        let full = match reason {
            // What the network sets: these windows and rates are as large as the full link allows.
            "slow start" | "recovery" | "pacing" | "congestion window" => busy.full(time[i]),
            // Beside other flows a larger buffer would bring this one more; a flow that has the link to itself gets no more.
            "receive window" | "send buffer" => {
                let before = if i == 0 { 0.0 } else { delivered[i - 1] };
                let rate_bps = (delivered[i] - before) * 8e9 / (time[i] - from);
                busy.full(time[i]).filter(|&port| {
                    rate_bps >= OWN * open.plan().map_or(f64::NAN, |plan| plan.links[port as usize].rate.0 as f64)
                })
            }
            _ => None,
        };
        let reason = if full.is_some() { FULL_LINK } else { reason };
        match spans.last_mut() {
            Some(span) if span.reason == reason && span.port == full && span.to == begin as i64 => {
                span.to = time[i] as i64
            }
            _ => spans.push(Span { from: begin as i64, to: time[i] as i64, reason, port: full }),
        }
    }
    let one = |span: &Span| {
        let mut told = json!({ "from_ns": span.from, "to_ns": span.to, "reason": span.reason });
        if let Some(port) = span.port {
            told["port"] = port.into();
        }
        told
    };
    Ok(Reply::of(spans.iter().map(one).collect::<Vec<_>>().into()))
}

/// Of a capture its own division of the time, in words that it shares with runs where they mean the same.
fn of_capture(tables: &Tables, flow: u64) -> Result<Reply, Trouble> {
    let stretches = table(tables, "connection_stretches")?;
    let (found, owners) = numbers_where(stretches, &["begin_ns", "end_ns"], "owner", ("connection", flow as f64))?;
    let [begin, end] = &found[..] else { return Err("no stretches".into()) };
    let named = |owner: &String| OWNERS.iter().find(|(name, _)| name == owner).map_or("unknown", |(_, words)| *words);
    let one = |i: usize| json!({ "from_ns": begin[i] as i64, "to_ns": end[i] as i64, "reason": named(&owners[i]) });
    Ok(Reply::of((0..begin.len()).map(one).collect::<Vec<_>>().into()))
}

/// Owners of the time of a capture, as the ribbon calls them.
const OWNERS: [(&str, &str); 8] = [
    ("closed", "closed window"),
    ("window", "receive window"),
    ("application", "application"),
    ("recovery", "recovery"),
    ("timer", "timeout"),
    ("rate", FULL_LINK),
    ("path", "path or window"),
    ("unknown", "unknown"),
];

/// A span of time with one reason.
struct Span {
    from: i64,
    to: i64,
    reason: &'static str,
    /// The full link.
    port: Option<u32>,
}

/// Share of a link from which on a flow has it to itself.
const OWN: f64 = 0.5;
/// What is said where a link on the way of the flow is full.
const FULL_LINK: &str = "full link";
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
