//! A capture opened: its connections, their samples and events, as the tables of a trace.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use elephan_record::TraceRecorder;
use elephan_trace::{Error, Options, Place, Progress, Vantage, analyze_place};
use elephan_units::stop;
use serde_json::{Map, json};

use crate::desk::{Call, Desk};
use crate::open::{Open, held};
use crate::reply::{Reply, Trouble};

const BETWEEN_S: f64 = 0.1;

/// Reads a capture, pcap or pcapng, compressed or not, that came as bytes.
pub fn open(desk: &Desk, call: Call<'_>, payload: &[u8]) -> Result<Reply, Trouble> {
    let Call { ask, stop, emit } = call;
    let name = ask.maybe_text("name")?.unwrap_or("the capture");
    let vantage = ask.maybe_text("vantage")?;
    let vantage = vantage.map(|name| Vantage::named(name).ok_or("vantage: sender, receiver or between")).transpose()?;
    let options = Options { vantage, ..Options::default() };
    let clock = desk.setup.clock;
    let mut due = clock() + BETWEEN_S;
    let mut watch = |progress: &Progress| {
        if stop.load(Ordering::Relaxed) || stop::memory_is_short() {
            return false;
        }
        if clock() < due {
            return true;
        }
        due = clock() + BETWEEN_S;
        emit(Reply::of(json!({ "share": progress.share, "packets": progress.packets })))
    };
    let place = Place::Memory(name.to_owned(), payload.into());
    let mut recorder = TraceRecorder::memory();
    let summary = analyze_place(&place, &options, &mut recorder, &mut watch).map_err(|error| match error {
        Error::Stopped => "stopped".to_owned(),
        other => other.to_string(),
    })?;
    let counts = |pairs: &[(String, u64)]| pairs.iter().map(|(k, n)| (k.clone(), (*n).into())).collect::<Map<_, _>>();
    let lines = |told: &[(i64, Vec<String>)]| {
        told.iter().map(|(number, lines)| (number.to_string(), json!(lines))).collect::<Map<_, _>>()
    };
    let told = json!({
        "format": summary.format, "packets": summary.packets, "tcp_segments": summary.tcp_segments,
        "udp_datagrams": summary.udp_datagrams, "connections": summary.connections, "begin_ns": summary.begin_ns,
        "span_ns": summary.span_ns, "notes": summary.notes, "told": lines(&summary.told), "ranks": summary.ranks, "skipped": counts(&summary.skipped),
    });
    let mut open = Open::new(None, recorder.finish().map_err(|error| error.to_string())?);
    open.capture = Some((place, options));
    *held(&open.summary) = Some(told.clone());
    let handle = desk.put(ask.maybe_u64("handle")?, Arc::new(open));
    Ok(Reply::of(json!({ "handle": handle, "name": name, "summary": told, "kind_of": "capture", "packets": true })))
}
