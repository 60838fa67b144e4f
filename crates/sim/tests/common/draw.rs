//! Random plans: graphs in which ties are common, and changes of any kind.

#![allow(dead_code, reason = "not every test draws")]

use elephan_cc::Spec;
use elephan_link::queue::{Limit, QueueSpec};
use elephan_link::{FlowControl, Loss};
use elephan_scenario::{Change, CongestionControlChange, LinkChange, Plan};
use elephan_units::{Rate, Size, Span, Time};
use proptest::prelude::*;
use serde_json::json;

use super::Builder;

/// Symmetric graphs: equal rates, delays and limits everywhere, everybody starts at zero, so that ties are common.
pub fn symmetric(
    shape: (usize, usize),
    (rate, delay, limit): (u64, u64, usize),
    kinds: Vec<(usize, usize, usize)>,
    (lossy, marks): (bool, bool),
) -> Plan {
    let (switches, per_switch) = shape;
    let limits = [None, Some("4 KB"), Some("30 KB"), Some("20 p"), Some("1 MB")];
    let mut b = Builder::new(Span::from_ms(8));
    let mut hosts = vec![];
    let mut before = None;
    for _ in 0..switches {
        let s = b.switch(None, Span(delay / 2), FlowControl::None);
        if let Some(before) = before {
            b.link(before, s, Rate(rate), Span(delay), limits[limit]);
        }
        before = Some(s);
        for _ in 0..per_switch {
            let h = b.host();
            b.link(h, s, Rate(rate), Span(delay), limits[limit]);
            hosts.push(h);
        }
    }
    if lossy {
        b.plan.links[0].loss = Loss::Periodic(17);
    }
    if marks {
        for link in &mut b.plan.links {
            if let QueueSpec::Fifo(fifo) = &mut link.queue {
                fifo.mark_above = Some(Size::Packets(3));
            }
        }
    }
    let ecn = if marks { "dctcp" } else { "off" };
    let tcp = json!({ "rto_min": "1 ms", "rto_initial": "2 ms", "delayed_ack_timeout": "500 us", "ecn": ecn });
    let options = b.options("rfc", tcp);
    for (kind, from, to) in kinds {
        let (from, to) = (hosts[from % hosts.len()], hosts[to % hosts.len()]);
        if from == to {
            continue;
        }
        let kind = [
            json!({ "kind": "bulk" }),
            json!({ "kind": "messages", "size": { "exponential": "8 KB" }, "load": "400 Mbps" }),
            json!({ "kind": "cbr", "rate": "200 Mbps" }),
            json!({ "kind": "transfers", "size": "20 KB", "arrivals_per_s": 2000.0 }),
        ][kind]
            .clone();
        b.traffic(kind, &[(from, to)], options);
    }
    b.plan
}

/// Changes of any kind at any link, some at one instant; with a time at which the propagation gets shorter.
pub fn changes() -> impl Strategy<Value = Vec<(u64, usize, usize)>> {
    prop::collection::vec((0u64..7_000, 0usize..64, 0usize..8), 0..6)
}

pub fn add_changes(plan: &mut Plan, changes: Vec<(u64, usize, usize)>) {
    for (at_us, link, what) in changes {
        let i = link % plan.links.len();
        let planned = &plan.links[i];
        let mut change = LinkChange { link: i as u32, ..LinkChange::default() };
        match what {
            0 => change.rate = Some(Rate(planned.rate.0 / 3)),
            1 => change.rate = Some(Rate(planned.rate.0 * 2)),
            2 => change.delay = Some(Span(planned.delay.0 / 4)),
            3 => change.delay = Some(Span(planned.delay.0 + 777_777)),
            4 => change.loss = Some(Loss::Bernoulli(0.02)),
            5 => change.limit = Some(Limit { bytes: 6_000, packets: u64::MAX }),
            _ => change.up = Some(what == 7),
        }
        let mut links = vec![change];
        if links[0].up.is_some() {
            links.push(LinkChange { link: planned.reverse, ..links[0].clone() });
        }
        plan.changes.push(Change { at: Time(at_us * 1_000_000), links, congestion_controls: vec![] });
    }
    plan.reroute = (plan.changes.len() % 2 == 1).then_some(Span::from_us(300));
    let congestion_controls = ["bbr", "htcp", "reno"].map(|name| Spec::named(name).unwrap());
    for (n, cc) in congestion_controls.into_iter().enumerate().take(plan.changes.len()) {
        let traffic = (n % plan.traffic.len().max(1)) as u32;
        if !plan.traffic.is_empty() {
            plan.changes[n].congestion_controls.push(CongestionControlChange { traffic, congestion_control: cc });
        }
    }
    plan.changes.sort_by_key(|c| c.at);
}
