//! From plan to what a switch counts, whom it pauses, and what its neighbours' ports need for it.

use elephan_link::accounts::Threshold;
use elephan_link::queue::{Discipline, EtsSpec, Parameters, Queue, QueueSpec};
use elephan_link::{AccountMemory, EgressControl, FlowControl, PausePer, Pfc, PfcPer, SharedMemory};
use elephan_scenario::{Link, NodeKind, Plan, Switch as Planned};
use elephan_units::{Bytes, Span, Time};

use super::port::station::Station;
use super::switch::{Switch, refresh_period};
use crate::ids::LinkId;

/// The flow control of a node, if it is a switch.
fn of(plan: &Plan, node: u32) -> &FlowControl {
    match &plan.nodes[node as usize].kind {
        NodeKind::Switch(switch) => &switch.flow_control,
        NodeKind::Host => &FlowControl::None,
    }
}

/// Whether a node pauses its neighbours.
pub fn sends_pause(plan: &Plan, node: u32) -> bool {
    *of(plan, node) != FlowControl::None
}

/// Whether a node counts what waits at each of its ports; that of whole memories is what waits there anyway, unless it is in cells.
pub fn counts_queues(plan: &Plan, node: u32) -> bool {
    let in_cells =
        |node: u32| matches!(&plan.nodes[node as usize].kind, NodeKind::Switch(switch) if switch.cell_bytes.is_some());
    match of(plan, node) {
        FlowControl::None => false,
        FlowControl::Pause(pause) => pause.per != PausePer::Memory || in_cells(node),
        FlowControl::Pfc(_) => true,
    }
}

/// Whether a node pauses for what comes to an egress queue, even what does not wait there.
pub fn stops_queues(plan: &Plan, node: u32) -> bool {
    match of(plan, node) {
        FlowControl::None => false,
        FlowControl::Pause(pause) => pause.per == PausePer::Egress,
        FlowControl::Pfc(pfc) => pfc.per == PfcPer::Egress,
    }
}

/// Whether the port of a link keeps priorities apart: its switch has PFC, or its neighbour pauses single priorities.
pub fn by_priority(plan: &Plan, link: &Link) -> bool {
    [link.from, link.to].iter().any(|&node| matches!(of(plan, node), FlowControl::Pfc(_)))
}

/// The queue of a port. One of a switch with PFC, or whose neighbour pauses single priorities, keeps them apart: a kind that
/// does not by itself is had once for each priority, and these share the link alike.
pub fn queue(plan: &Plan, link: &Link) -> Queue {
    let queue = link.queue.build(link.bdp_bytes);
    if queue.has_priorities() || !by_priority(plan, link) {
        return queue;
    }
    QueueSpec::Ets(EtsSpec::of_priorities(&link.queue)).build(link.bdp_bytes)
}

/// The gates of a port whose neighbour pauses single priorities.
pub fn station(plan: &Plan, link: &Link) -> Option<Box<Station>> {
    let watchdog = match of(plan, link.from) {
        FlowControl::Pfc(pfc) => pfc.watchdog,
        _ => None,
    };
    matches!(of(plan, link.to), FlowControl::Pfc(_)).then(|| Box::new(Station::new(watchdog)))
}

/// A switch with memory of so many bytes, given or without bound.
pub fn switch(plan: &Plan, node: u32, planned: &Planned, capacity: u64, egress: Vec<LinkId>) -> Switch {
    let quanta = planned.flow_control.quanta();
    let into = |&l: &LinkId| &plan.links[plan.links[l.index()].reverse as usize];
    let periods =
        || -> Vec<Span> { egress.iter().map(|l| refresh_period(into(l).rate, quanta.unwrap_or(0))).collect() };
    let fixed = |(xoff, xon): (Bytes, Bytes)| Threshold::Static { xoff, xon };
    let mut pause = None;
    let (mut by_account, mut by_queue, mut pfc) = (None, None, false);
    match &planned.flow_control {
        FlowControl::None => {}
        FlowControl::Pause(p) => match p.per {
            PausePer::Memory => pause = Some(*p),
            PausePer::Egress => by_queue = Some(EgressControl::new((p.xoff, p.xon), 1, periods())),
            PausePer::Ingress => {
                let open = vec![Some(u64::MAX); egress.len()];
                by_account = Some(AccountMemory::new(capacity, 0, fixed((p.xoff, p.xon)), open));
            }
        },
        FlowControl::Pfc(p) => {
            pfc = true;
            if let (PfcPer::Egress, Some(marks)) = (p.per, p.marks()) {
                by_queue = Some(EgressControl::new(marks, 8, periods()).only(p.mask()));
            }
            let threshold = match (p.per, p.marks(), p.alpha) {
                (PfcPer::Egress, ..) => Threshold::None,
                (PfcPer::Ingress, Some(marks), _) => fixed(marks),
                (PfcPer::Ingress, None, alpha) => Threshold::Dynamic { alpha: alpha.unwrap_or(1.0) },
            };
            let bounded = planned.memory_bytes.is_some();
            let own = headroom(plan, p, bounded, &egress);
            let reserved = if bounded { own.iter().flatten().sum() } else { 0 };
            by_account = Some(AccountMemory::new(capacity, reserved, threshold, own));
        }
    }
    let by_egress = planned.alpha.is_some();
    if let Some(alpha) = planned.alpha {
        by_account = Some(AccountMemory::new(capacity, 0, Threshold::Dynamic { alpha }, vec![None; egress.len()]));
    }
    let accounts = egress.len() * if pfc { 8 } else { 1 };
    let counts = by_queue.is_none() && counts_queues(plan, node);
    Switch {
        node,
        memory: SharedMemory::new(capacity, egress.len(), pause),
        by_account: by_account.map(Box::new),
        by_egress,
        by_queue: by_queue.map(Box::new),
        pfc,
        quanta,
        cell: planned.cell_bytes.unwrap_or(1),
        latency: planned.latency,
        sampled: planned.memory_bytes.is_some(),
        since: vec![Time::ZERO; accounts],
        waiting: vec![0; if counts { accounts * egress.len() } else { 0 }],
        unsettled: Vec::new(),
        egress,
    }
}

/// The headroom of each priority of each port; none for those that may lose. Without a bound on the memory it has none either.
fn headroom(plan: &Plan, pfc: &Pfc, bounded: bool, egress: &[LinkId]) -> Vec<Option<u64>> {
    let largest = plan.largest_packet();
    let of_port = |&out: &LinkId| match (bounded, pfc.headroom) {
        (false, _) => u64::MAX,
        (true, Some(given)) => given.get(),
        (true, None) => plan.headroom(pfc, plan.links[out.index()].reverse, largest),
    };
    let lossless = |bytes: u64| (0..8).map(move |p| (pfc.mask() >> p & 1 == 1).then_some(bytes));
    egress.iter().map(of_port).flat_map(lossless).collect()
}
