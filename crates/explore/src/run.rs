//! A run: simulated while pieces say how far it is, and kept open for whoever asks for its values.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use elephan_record::{Recorder, Tables};
use elephan_scenario::{Override, Resolved, read};
use elephan_sim::{Error, Progress};
use elephan_units::stop;
use serde_json::{Value, json};

use crate::ask::Ask;
use crate::check::summary;
use crate::desk::{Call, Desk, Limits};
use crate::index::Shown;
use crate::open::{OfRun, Open, held};
use crate::reply::{Reply, Trouble};
use crate::series::lines;

/// The first piece comes so soon, the others follow no faster than that.
const FIRST_S: f64 = 0.04;
const BETWEEN_S: f64 = 0.1;

/// Runs a scenario. What has come so far can be asked for under the handle of the pieces, also after the run was stopped.
pub fn run(desk: &Desk, call: Call<'_>) -> Result<Reply, Trouble> {
    let ask = call.ask;
    let (text, seed) = (ask.text("text")?, ask.maybe_u64("seed")?);
    let source = desk.source(text)?;
    let resolved = read(&source, &overrides(ask)?, seed).map_err(|errors| Trouble::of(source.name(), &errors))?;
    let limits = desk.setup.limits;
    let seconds = resolved.plan.duration.seconds();
    if seconds > limits.simulated_s {
        return Err(format!("a run of {seconds} s; at most {} s are simulated here", limits.simulated_s).into());
    }
    let of_run = OfRun { plan: resolved.plan.clone() };
    let open = Arc::new(Open::new(Some(of_run), Tables::new()));
    let handle = desk.put(ask.maybe_u64("handle")?, open.clone());
    let clock = desk.setup.clock;
    let begin = clock();
    let watch = Watch { desk: limits, clock, begin, due: begin + FIRST_S, open: &open, handle, ended: None };
    let (told, tables, wall_s) = simulate(&resolved, call, watch)?;
    *held(&open.tables) = Arc::new(Shown::new(tables));
    *held(&open.summary) = Some(told.clone());
    let mut reply = Reply::of(json!({
        "handle": handle,
        "seed": resolved.plan.seed,
        "wall_s": wall_s,
        "at_ns": resolved.plan.duration.ns(),
        "digest": digest(&resolved),
        "answer": resolved.values["answer"],
        "plan": summary(&resolved.plan),
        "summary": told,
    }));
    add_lines(&mut reply, ask, &open.tables(), resolved.plan.duration.ns())?;
    Ok(reply)
}

/// The summary, the tables, and the seconds that it took.
fn simulate(resolved: &Resolved, call: Call<'_>, mut watch: Watch<'_>) -> Result<(Value, Tables, f64), Trouble> {
    let Call { ask, stop, emit, .. } = call;
    let plan = &resolved.plan;
    let duration_ns = plan.duration.ns();
    let mut look = |progress: &Progress| {
        if stop.load(Ordering::Relaxed) || stop::memory_is_short() {
            watch.ended = Some(if stop::memory_is_short() { "not enough memory" } else { "stopped" }.into());
        } else if let Some(why) = watch.beyond(progress) {
            watch.ended = Some(why);
        } else if (watch.clock)() >= watch.due {
            let piece = watch.piece(progress, ask, duration_ns);
            if !piece.map(&mut *emit).unwrap_or(false) {
                watch.ended = Some("stopped".into());
            }
            watch.due = (watch.clock)() + BETWEEN_S;
        }
        if watch.ended.is_some() {
            *held(&watch.open.tables) = Arc::new(Shown::new(progress.recorder.so_far()));
        }
        watch.ended.is_none()
    };
    let outcome = elephan_sim::run(resolved.plan.clone(), Recorder::memory(), &mut look);
    let (told, recorder) = outcome.map_err(|error| match (error, watch.ended.take()) {
        (Error::Stopped, Some(why)) => why,
        (error, _) => Trouble::from(error.to_string()),
    })?;
    let wall_s = (watch.clock)() - watch.begin;
    let tables = recorder.finish().map_err(|error| error.to_string())?;
    Ok((told, tables, wall_s))
}

/// Changes of the scenario that a request asks for: an earlier end, another recording.
fn overrides(ask: Ask<'_>) -> Result<Vec<Override>, Trouble> {
    let wrong = |errors| Trouble::of("", &errors);
    let mut found = Vec::new();
    if let Some(until) = ask.maybe_f64("until_s")? {
        if !(until > 0.0 && until < 1e7) {
            return Err("until_s: expected seconds above 0".into());
        }
        found.push(Override::json("duration", format!("{:.0} ns", until * 1e9).into()).map_err(wrong)?);
        if ask.given("warmup_s").is_some() {
            let warmup = ask.maybe_f64("warmup_s")?.unwrap_or_default().max(0.0);
            found.push(Override::json("warmup", format!("{:.0} ns", warmup * 1e9).into()).map_err(wrong)?);
        }
    }
    for (key, value) in ask.table("record")?.into_iter().flatten() {
        found.push(Override::json(&format!("record.{key}"), value.clone()).map_err(wrong)?);
    }
    for (key, value) in ask.table("set")?.into_iter().flatten() {
        found.push(Override::json(key, value.clone()).map_err(wrong)?);
    }
    Ok(found)
}

/// Looks after a run.
struct Watch<'a> {
    desk: Limits,
    clock: fn() -> f64,
    begin: f64,
    /// When the next piece is due.
    due: f64,
    open: &'a Open,
    handle: u64,
    /// Why the run was ended.
    ended: Option<Trouble>,
}

impl Watch<'_> {
    /// Why the run must not go on, if it must not.
    fn beyond(&self, progress: &Progress) -> Option<Trouble> {
        let wall_s = (self.clock)() - self.begin;
        let at = progress.now.seconds();
        let what = if progress.events > self.desk.events {
            format!("{} events", self.desk.events)
        } else if wall_s > self.desk.wall_s {
            format!("{} s of computing", self.desk.wall_s)
        } else if progress.recorder.size_bytes() > self.desk.table_bytes {
            format!("{} MB of tables", self.desk.table_bytes >> 20)
        } else {
            return None;
        };
        Some(format!("the run was ended at {at:.6} s: the limit of {what} is reached").into())
    }

    /// How far the run is; the tables so far are open from here on.
    fn piece(&self, progress: &Progress, ask: Ask<'_>, duration_ns: i64) -> Result<Reply, Trouble> {
        let tables = Arc::new(Shown::new(progress.recorder.so_far()));
        *held(&self.open.tables) = tables.clone();
        let mut reply = Reply::of(json!({
            "handle": self.handle,
            "at_ns": progress.now.ns(),
            "share": progress.now.ns() as f64 / duration_ns.max(1) as f64,
            "events": progress.events,
            "wall_s": (self.clock)() - self.begin,
        }));
        add_lines(&mut reply, ask, &tables, duration_ns)?;
        Ok(reply)
    }
}

/// Adds the lines that a run was asked for, if it was.
fn add_lines(reply: &mut Reply, ask: Ask<'_>, tables: &Shown, duration_ns: i64) -> Result<(), Trouble> {
    if let Some(series) = ask.table("series")? {
        let drawn = lines(Ask(series), duration_ns, tables)?;
        reply.head.extend(drawn.head);
        reply.body = drawn.body;
    }
    Ok(())
}

/// What identifies a run: FNV-1a of its resolved scenario, in which its seed stands.
fn digest(resolved: &Resolved) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", resolved.toml().bytes().fold(0xcbf2_9ce4_8422_2325, step))
}
