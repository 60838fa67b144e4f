//! What happened, as sentences that are true of the tables.
//!
//! Rows of the table `events` that belong together are one event: what a port does again and again within a two-hundredth of the time that
//! is looked at. So a picture of the whole run says that a queue overflowed, and one of a millisecond names each packet.

use std::collections::BTreeMap;

use elephan_host::receive::Refused;
use serde_json::{Value, json};

use crate::ask::Ask;
use crate::causes::Ways;
use crate::column::{numbers, texts};
use crate::flows::flow_names;
use crate::lives;
use crate::open::{Open, table};
use crate::reply::{Reply, Trouble};
use crate::words::{count, instant, rate, share, size, time, whole};

/// Rows of one port or flow that are closer than this share of the picture are one event.
const TOGETHER: i64 = 200;

/// One event: what it says, and how much it matters beside others.
pub struct Told {
    pub at: i64,
    pub until: i64,
    pub kind: &'static str,
    pub flow: Option<i64>,
    pub port: Option<i64>,
    pub rows: usize,
    pub weight: f64,
    pub text: String,
}

/// One row of the table.
#[derive(Clone)]
pub struct Row {
    pub at: i64,
    pub kind: String,
    pub node: String,
    pub peer: String,
    pub port: Option<i64>,
    pub flow: Option<i64>,
    pub value: f64,
    /// Size of the packet, NaN of what is about none.
    pub bytes: f64,
    pub reason: String,
}

/// What the sentences need to know.
pub struct Story<'a> {
    pub open: &'a Open,
    pub rows: Vec<Row>,
    /// What flows are called.
    pub names: BTreeMap<i64, String>,
    /// The span of time that is looked at.
    pub span: i64,
    /// Where packets of flows go.
    pub ways: Ways,
}

/// The events from `from_ns` to `to_ns`, the `limit` that matter most, in the order of time. `of` is how many there are, and `recorded`
/// whether the run has a table of events: without one, nobody knows what was dropped.
pub fn events(open: &Open, ask: Ask<'_>) -> Result<Reply, Trouble> {
    let (from, to) = (ask.maybe_ns("from_ns")?.unwrap_or(0), ask.maybe_ns("to_ns")?.unwrap_or(open.end_ns()));
    let limit = ask.maybe_u64("limit")?.unwrap_or(200).min(10_000) as usize;
    let flow = ask.maybe_u64("flow")?.map(|flow| flow as i64);
    let story = Story::of(open, to.saturating_sub(from).max(1))?;
    let mut told: Vec<Told> = story.episodes().iter().filter_map(|rows| story.tell(rows)).collect();
    told.extend(lives::lives(&story)?);
    told.retain(|one| one.until >= from && one.at <= to && flow.is_none_or(|flow| one.flow.is_none_or(|f| f == flow)));
    let of = told.len();
    told.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.at.cmp(&b.at)));
    told.truncate(limit);
    told.sort_by_key(|one| one.at);
    let one = |t: &Told| {
        json!({
            "at_ns": t.at, "until_ns": t.until, "kind": t.kind, "flow": t.flow, "port": t.port, "count": t.rows, "text": t.text,
        })
    };
    Ok(Reply::of(
        json!({ "value": told.iter().map(one).collect::<Vec<Value>>(), "of": of, "recorded": open.plan()?.record.events }),
    ))
}

impl<'a> Story<'a> {
    fn of(open: &'a Open, span: i64) -> Result<Story<'a>, Trouble> {
        open.plan()?;
        let tables = open.tables();
        let events = table(&tables, "events")?;
        let number = |column| numbers(events, column);
        let text = |column| texts(events, column);
        let (at, port, flow, value) = (number("time_ns")?, number("port")?, number("flow")?, number("value")?);
        let bytes = number("packet_bytes")?;
        let (kind, node, peer, reason) = (text("kind")?, text("node")?, text("peer")?, text("reason")?);
        let whole = |value: f64| (!value.is_nan()).then_some(value as i64);
        let row = |i: usize| Row {
            at: at[i] as i64,
            kind: kind[i].clone(),
            node: node[i].clone(),
            peer: peer[i].clone(),
            port: whole(port[i]),
            flow: whole(flow[i]),
            value: value[i],
            bytes: bytes[i],
            reason: reason[i].clone(),
        };
        let rows = (0..at.len()).map(row).collect();
        let names = flow_names(open)?;
        Ok(Story { open, rows, names, span, ways: Ways::default() })
    }

    pub fn name(&self, flow: i64) -> String {
        self.names.get(&flow).cloned().unwrap_or_else(|| format!("flow {flow}"))
    }

    pub fn instant(&self, at: i64) -> String {
        instant(at, self.span)
    }

    /// Rows that are told together, in the order of their first.
    fn episodes(&self) -> Vec<Vec<&Row>> {
        let mut found: Vec<Vec<&Row>> = Vec::new();
        // By kind, reason, node, port and flow.
        type Key<'a> = (&'a str, &'a str, &'a str, Option<i64>, Option<i64>);
        let mut last: BTreeMap<Key<'_>, usize> = BTreeMap::new();
        for row in &self.rows {
            let (kind, flow) = match row.kind.as_str() {
                // What a port does is told of all flows together, a pause with its end.
                "drop" | "mark" | "duplicate" | "reorder" | "cnm" if row.port.is_some() => (row.kind.as_str(), None),
                "pause" | "resume" => ("pause", None),
                kind => (kind, row.flow),
            };
            let reason = if kind == "pause" { "" } else { row.reason.as_str() };
            let key = (kind, reason, row.node.as_str(), row.port, flow);
            let alone = matches!(kind, "change" | "rto" | "fast_retransmit" | "deadlock" | "watchdog" | "give_up");
            let together = |episode: &[&Row]| {
                let before = episode.last().map_or(i64::MIN / 2, |before| before.at);
                !alone && row.at - before <= self.span / TOGETHER
            };
            match last.get(&key).filter(|&&place| together(&found[place])) {
                Some(&place) => found[place].push(row),
                None => {
                    last.insert(key, found.len());
                    found.push(vec![row]);
                }
            }
        }
        found
    }

    /// The sentence of an episode.
    #[expect(clippy::too_many_lines, reason = "an arm for each kind of episode")]
    fn tell(&self, rows: &[&Row]) -> Option<Told> {
        let (first, last) = (rows.first()?, rows.last()?);
        let at = self.instant(first.at);
        let port = format!("{} → {}", first.node, first.peer);
        let n = rows.len();
        let over = if n > 1 { format!(" within {}", time((last.at - first.at) as f64)) } else { String::new() };
        let flow = || first.flow.map(|flow| self.name(flow)).unwrap_or_default();
        let more = libm::log10(n as f64);
        let (kind, weight, text) = match first.kind.as_str() {
            "drop" => ("drop", 60.0 + 5.0 * more, format!("At {at} {}", self.dropped(rows, &port, &over))),
            "mark" => (
                "mark",
                30.0 + more,
                format!("At {at} {port} marked {}{over}{}.", count(n, "packet"), self.whose(rows)),
            ),
            "pause" | "resume" => ("pause", 45.0 + more, self.paused(rows, &at, &over)?),
            "fast_retransmit" => ("fast_retransmit", 40.0, self.found(first, &at)?),
            "rto" => {
                let next = time(first.value * 1e9);
                let silent = self.since_drop(first).map_or(String::new(), |(since, port)| {
                    format!(", {} after {port} had dropped a packet of it", time(since as f64))
                });
                (
                    "rto",
                    80.0,
                    format!(
                        "At {at} the retransmission timer of {} expired{silent}; the next timeout is {next}.",
                        flow()
                    ),
                )
            }
            "change" => ("change", 90.0, changed(first, &at, &port, &flow())),
            "cnm" => {
                let text = format!(
                    "At {at} {port} told of its queue: {}{over}{}.",
                    count(n, "notification"),
                    self.whose(rows)
                );
                ("cnm", 30.0 + more, text)
            }
            "cnp" => (
                "cnp",
                30.0 + more,
                format!("At {at} the receiver told {} of congestion: {}{over}.", flow(), count(n, "notification")),
            ),
            "deadlock" => {
                ("deadlock", 100.0, format!("At {at} {port} was part of a cycle of paused ports: a deadlock."))
            }
            "watchdog" => {
                ("watchdog", 85.0, format!("At {at} the watchdog of {port} ended a pause that had lasted too long."))
            }
            "give_up" => ("give_up", 95.0, format!("At {at} {} gave up.", flow())),
            "send_stall" => (
                "send_stall",
                50.0,
                format!(
                    "At {at} {} refused {} of {}{over}: its own queue was full.",
                    first.node,
                    count(n, "segment"),
                    flow()
                ),
            ),
            "duplicate" => ("duplicate", 10.0, format!("At {at} {port} delivered {} twice{over}.", count(n, "packet"))),
            "reorder" => ("reorder", 10.0, format!("At {at} {port} held back {}{over}.", count(n, "packet"))),
            "logger_gap" => ("logger_gap", 20.0, format!("At {at} the logger of {} was silent.", first.node)),
            _ => return None,
        };
        let mut flows: Vec<i64> = rows.iter().filter_map(|row| row.flow).collect();
        flows.sort_unstable();
        flows.dedup();
        let flow = if let [one] = flows[..] { Some(one) } else { None };
        Some(Told { at: first.at, until: last.at, kind, flow, port: first.port, rows: n, weight, text })
    }

    /// What a port or a host did that dropped packets, whose they were, and what became of the flow that lost most.
    fn dropped(&self, rows: &[&Row], port: &str, over: &str) -> String {
        let (n, reason, node) = (count(rows.len(), "packet"), rows[0].reason.as_str(), &rows[0].node);
        let at_host = Refused::named(reason).filter(|_| rows[0].port.is_none());
        let what = match (at_host, reason) {
            (Some(_), _) => format!("{node} dropped {n} that had come to it{over}"),
            (_, "queue_full") => format!("the queue of {port} overflowed: it dropped {n}{over}"),
            (_, "memory_full") => {
                format!("the memory of {node} had no room: it dropped {n} for {}{over}", rows[0].peer)
            }
            (_, "link_loss") => format!("the link {port} lost {n}{over}"),
            (_, "mtu_exceeded") => format!("the link {port} carries no packet so large: it dropped {n}{over}"),
            (_, "link_down") => format!("the link {port} was down and lost {n}{over}"),
            (_, "") => format!("{port} dropped {n}{over}"),
            _ => format!("{} at {port} dropped {n}{over}", discipline(reason)),
        };
        let why = at_host.map_or(String::new(), |refused| format!(", because {}", refused.words()));
        let loser = most(rows).map(|(flow, _)| flow);
        let then = loser.map(|flow| self.aftermath(flow, rows)).unwrap_or_default();
        format!("{what}{}{why}{then}.", self.whose(rows))
    }

    /// The flow that most of the packets belong to, and its share where there are others.
    fn whose(&self, rows: &[&Row]) -> String {
        match most(rows) {
            None => String::new(),
            Some((flow, 1)) if rows.len() == 1 => format!(" of {}", self.name(flow)),
            Some((flow, n)) if n == rows.len() => format!(", all of {}", self.name(flow)),
            Some((flow, n)) => {
                format!(", {} of them ({}) of {}", whole(n), share(n as f64 / rows.len() as f64), self.name(flow))
            }
        }
    }

    /// How a flow took the first loss of its data: what it noticed first, how much later, and what became of its window.
    fn aftermath(&self, flow: i64, rows: &[&Row]) -> String {
        let lost = rows.iter().find(|row| row.flow == Some(flow) && self.is_data(row)).map(|row| row.at);
        let Some((lost, next)) = lost.and_then(|lost| Some((lost, self.noticed(flow, lost)?))) else {
            return String::new();
        };
        let (name, after) = (self.name(flow), time((next.at - lost) as f64));
        let how = if next.kind == "rto" {
            format!("{name} timed out {after} after its first loss")
        } else {
            format!("{name} noticed its first loss after {after}")
        };
        let window = lives::windows(self, flow, lost, next.at).map_or(String::new(), |(before, after)| {
            format!("; its window was {} before and {} after", size(before), size(after))
        });
        format!(". {how}{window}")
    }

    /// How long before a row data of its flow was dropped, and where.
    fn since_drop(&self, row: &Row) -> Option<(i64, String)> {
        let drop = self.cause(row)?;
        let port = if drop.port.is_some() { format!("{} → {}", drop.node, drop.peer) } else { drop.node.clone() };
        Some((row.at - drop.at, port))
    }

    fn found(&self, row: &Row, at: &str) -> Option<String> {
        let flow = self.name(row.flow?);
        Some(match self.since_drop(row) {
            Some((since, port)) => {
                format!("At {at} {flow} retransmitted, {} after {port} had dropped a packet of it.", time(since as f64))
            }
            None => {
                format!(
                    "At {at} {flow} retransmitted, and no data of it had been dropped since its last retransmission."
                )
            }
        })
    }

    /// A port that told the other end to be silent; a stop that has no end within the picture goes on.
    fn paused(&self, rows: &[&Row], at: &str, over: &str) -> Option<String> {
        let first = rows.first()?;
        let stops = rows.iter().filter(|row| row.kind == "pause").count();
        let (who, whom) = (&first.node, &first.peer);
        Some(match stops {
            0 => format!("At {at} {who} let {whom} send again."),
            1 if rows.len() == 1 => format!("At {at} {who} stopped {whom} (PAUSE)."),
            _ => format!("At {at} {who} stopped {whom} (PAUSE): {}{over}.", count(stops, "stop")),
        })
    }
}

/// The flow that most rows are of, and how many.
fn most(rows: &[&Row]) -> Option<(i64, usize)> {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    rows.iter().filter_map(|row| row.flow).for_each(|flow| *counts.entry(flow).or_default() += 1);
    counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)))
}

fn discipline(reason: &str) -> String {
    match elephan_link::queue::title(reason) {
        Some(title) => title.to_owned(),
        None if reason == "nak" => "a receiver".to_owned(),
        None => reason.to_uppercase(),
    }
}

/// A `[[change]]` of the scenario.
fn changed(row: &Row, at: &str, port: &str, flow: &str) -> String {
    match row.reason.as_str() {
        "rate" => format!("At {at} the rate of {port} changed to {}.", rate(row.value)),
        "delay" => format!("At {at} the delay of {port} changed to {}.", time(row.value * 1e9)),
        "down" => format!("At {at} the link {port} went down."),
        "up" => format!("At {at} the link {port} came up."),
        "reroute" => format!("At {at} routes around {port} were made anew."),
        "loss" | "limit" | "mark_above" => format!("At {at} the {} of {port} changed.", row.reason.replace('_', " ")),
        control if !flow.is_empty() => format!("At {at} {flow} went on under {control}."),
        other => format!("At {at} {port} changed: {}.", other.replace('_', " ")),
    }
}
