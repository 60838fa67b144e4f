//! The figures of a run that fit on a screen.

use std::collections::BTreeMap;

use elephan_record::Recorder;
use elephan_units::Time;
use serde_json::{Map, Value, json};

use crate::Error;
use crate::flow::{Application, Flow};
use crate::ids::LinkId;
use crate::net::{Deadlock, Link, Management, Window};
use crate::world::World;

/// Jain's index of the values, (sum x)^2 / (n sum x^2); null without a positive value.
fn jain(values: &[f64]) -> Value {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|v| v * v).sum();
    if squares > 0.0 { json!(sum * sum / (values.len() as f64 * squares)) } else { Value::Null }
}

impl World {
    /// Closes the run: conservation, the last rows, the summary.
    pub fn finish(mut self) -> Result<(Value, Recorder), Error> {
        self.check_packets()?;
        self.check_streams()?;
        self.write_hosts();
        self.write_log()?;
        self.write_rest()?;
        let copies = self.finish_copies()?;
        self.finish_games();
        if let Some(captures) = self.net.captures.take() {
            captures.finish()?;
        }
        let plan = self.plan.clone();
        let window: Window = self.net.window;
        let hosts = self.hosts_summary();
        let mut out = Map::new();
        let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
        put("title", json!(plan.title));
        put("seed", json!(plan.seed));
        put("simulated_s", json!(plan.duration.seconds()));
        put("measured_s", json!(window.end.since(window.warmup).seconds()));
        let totals = &self.tables.totals;
        put("flows", json!(totals.goodputs.len()));
        put("completed", json!(totals.completed));
        put("given_up", json!(totals.given_up));
        put("goodput_bps", json!(totals.goodputs.iter().sum::<f64>()));
        put("jain", jain(&totals.goodputs));
        put("drops", json!(self.net.dropped));
        put("drops_by_reason", json!(self.net.dropped_by.iter().copied().collect::<BTreeMap<_, _>>()));
        put("loss_rate", json!(self.net.dropped as f64 / self.net.injected.max(1) as f64));
        put("retransmitted_segments", json!(totals.retransmitted));
        put("timeouts", json!(totals.timeouts));
        put("pauses_sent", json!(self.net.links.iter().map(|l| l.counts.pauses_sent).sum::<u64>()));
        let of_management = |count: fn(&Management) -> u64| self.net.management.as_deref().map_or(0, count);
        put("notifications_sent", json!(of_management(|m| m.sent)));
        put("notifications_received", json!(of_management(|m| m.received)));
        put("limiters", json!(self.net.links.iter().map(Link::limiters_made).sum::<u64>()));
        put("deadlock", self.deadlock());
        put("watchdogs", json!(self.net.watchdogs));
        put("marks", json!(self.net.links.iter().map(|l| l.counts.marks).sum::<u64>()));
        put("duplicates", json!(self.net.duplicated));
        put("reordered", json!(self.net.links.iter().map(|l| l.reordered()).sum::<u64>()));
        put("reordered_datagrams", json!(self.reordered_datagrams()));
        put("messages_dropped", json!(self.tables.messages_dropped));
        put("bottleneck", self.bottleneck());
        put("hosts", hosts);
        put("message_latency", self.tables.latencies.summary());
        put("round_time", self.tables.rounds.summary());
        put("iteration_time", self.tables.iterations.summary());
        put("fct", self.tables.completions.summary());
        put("sender_fct", self.tables.acknowledged.summary());
        put("copies", copies);
        put("slowdown", self.tables.slowdowns.summary_in(""));
        put("events", json!(self.events_done));
        put("packet_hops", json!(self.packet_hops()));
        Ok((Value::Object(out), self.recorder))
    }

    /// Datagrams that came after one that was sent later (RFC 4737).
    fn reordered_datagrams(&self) -> u64 {
        let of = |flow: &Flow| match &flow.application {
            Application::Datagrams(d) => d.reordered,
            _ => 0,
        };
        self.flows.iter().flatten().map(of).sum()
    }

    /// The first cycle of paused ports that was found: since when, which ports, and of which priority if not of all.
    fn deadlock(&self) -> Value {
        let Some(Deadlock { closed, priority, links }) = self.net.deadlocks.first() else { return Value::Null };
        let ports: Vec<&str> = links.iter().map(|&l| self.plan.links[l.index()].name.as_str()).collect();
        json!({ "since_s": closed.since(Time::ZERO).seconds(), "ports": ports, "priority": priority })
    }

    /// The port that dropped most or, if none did, was busiest.
    fn bottleneck(&self) -> Value {
        let window: Window = self.net.window;
        let measured = window.end.since(window.warmup);
        let busy = |i: usize| self.net.links[LinkId::of(i)].utilisation(window);
        let ports = 0..self.net.links.len();
        let Some(i) = ports.max_by(|&a, &b| {
            let (x, y) = (&self.net.links[LinkId::of(a)].counts, &self.net.links[LinkId::of(b)].counts);
            x.drops.cmp(&y.drops).then(busy(a).total_cmp(&busy(b))).then(b.cmp(&a))
        }) else {
            return Value::Null;
        };
        let c = &self.net.links[LinkId::of(i)].counts;
        json!({
            "port": self.plan.links[i].name, "utilisation": busy(i), "drops": c.drops,
            "loss_rate": c.drops as f64 / (c.drops + c.tx_packets).max(1) as f64,
            "queue_mean_bytes": c.byte_ps as f64 / measured.ps().max(1) as f64,
            "queue_max_bytes": c.queue_max_bytes,
        })
    }

    /// Rule 9 for the streams of all live flows; those that have ended were checked then.
    fn check_streams(&mut self) -> Result<(), Error> {
        if let Some(violation) = self.violation.take() {
            return Err(violation);
        }
        self.flows.iter().flatten().try_for_each(|flow| self.check_stream(flow))
    }

    /// No application read more than was sent, no sender had more acknowledged than was received, and a flow that is
    /// done was read whole.
    pub fn check_stream(&self, flow: &Flow) -> Result<(), Error> {
        if !flow.begun || matches!(flow.application, Application::Datagrams(_)) {
            return Ok(());
        }
        if let Some(checked) = self.rdma_check(flow) {
            return checked;
        }
        let (Some(s), Some(r)) = (self.sockets.get(flow.sender as usize), self.sockets.get(flow.receiver as usize))
        else {
            return Ok(());
        };
        let (acked, read, sent) = (s.endpoint.acked(), r.endpoint.received(), s.endpoint.accepted());
        let received = read + r.endpoint.unread();
        let whole = flow.size.is_none_or(|size| read <= size && (flow.done.is_none() || read == size));
        if acked > received || received > sent || !whole {
            let n = flow.number;
            return Err(Error::Conservation(format!(
                "flow {n}: {sent} bytes sent, {received} received, {read} read, {acked} acknowledged"
            )));
        }
        Ok(())
    }
}
