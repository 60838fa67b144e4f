//! From plan to network: which ports are fast, which are fused, what each charges.

use std::collections::VecDeque;

use elephan_engine::{EventQueue, LANES, Lanes, Ring};
use elephan_host::transmit::Device;
use elephan_link::driven::Pace;
use elephan_link::queue::{Discipline, FifoSpec, Limit, Parameters};
use elephan_link::{pause, pause::Gate};
use elephan_random::Stream;
use elephan_scenario::{Ecmp, Link as LinkPlan, NodeKind, Plan};
use elephan_units::{Size, Span, Time, Transmitter, stop};

use super::flow_control::{self, sends_pause};
use super::graph::Graph;
use super::link::{Counts, General, Link, Own, Sending, Window};
use super::losses::loss;
use super::port::ahead::Ahead;
use super::port::impair::Impair;
use super::port::limiters::Limiters;
use super::port::taps::Taps;
use super::route::{NoRoute, PLACES_MAX, Routes};
use super::way::{Facts, Paths, Reason, Way};
use super::{Layout, Management, NONE, Net, congestion_management, lanes, nic};
use crate::Error;
use crate::ids::{LinkId, Table};
use crate::observed::is_chosen;
use crate::packet::Packets;

/// Builds the network. `observed[i]` says whether the queue of link `i` is looked at during the run; `layout`
/// has the taps of captures.
pub fn build(plan: &Plan, observed: &[bool], layout: &Layout, paths: Paths) -> Result<Net, Error> {
    let mut egress = vec![Vec::new(); plan.nodes.len()];
    let mut port_of = vec![0u32; plan.links.len()];
    for (i, link) in plan.links.iter().enumerate() {
        port_of[i] = egress[link.from as usize].len() as u32;
        egress[link.from as usize].push(LinkId::of(i));
    }
    let mut switches = Vec::new();
    let mut switch_of = vec![NONE; plan.nodes.len()];
    for (i, node) in plan.nodes.iter().enumerate() {
        let NodeKind::Switch(s) = &node.kind else { continue };
        // A PAUSE is not forwarded: it must not wait for the latency of a switch that it pauses. Such a switch gets a
        // memory without bound, so that its latency comes after the frame is in.
        let pausable = s.latency > Span::ZERO && egress[i].iter().any(|&l| sends_pause(plan, plan.links[l.index()].to));
        let capacity = match s.memory_bytes {
            Some(capacity) => capacity,
            None if pausable || sends_pause(plan, i as u32) => u64::MAX,
            None => continue,
        };
        switch_of[i] = switches.len() as u32;
        let egress = std::mem::take(&mut egress[i]);
        switches.push(flow_control::switch(plan, i as u32, s, capacity, egress));
    }
    let facts = all_facts(plan, layout, paths, |i| switch_of[plan.links[i].from as usize] != NONE);
    let link = |i: usize| link(facts[i], (&switch_of, &port_of), layout.taps(i));
    let mut links: Table<LinkId, Link> = (0..plan.links.len()).map(link).collect::<Vec<_>>().into();
    let mut routes = routes(plan)?;
    // Other routes may feed a link from elsewhere.
    let mut lookahead = [None; LANES];
    if plan.reroute.is_none() {
        let fused = fused(&links, &mut routes, observed);
        routes.fuse(fused);
        lookahead = lanes::assign(&mut links, &mut routes, plan);
    }
    let has_lanes = links.iter().any(|l| l.lane != lanes::NO_LANE);
    let links_watched = links.iter().any(|l| l.watch().is_some());
    Ok(Net {
        links,
        switches,
        routes,
        window: Window { warmup: plan.warmup, end: plan.duration },
        events: EventQueue::default(),
        has_lanes,
        lanes: Lanes::default(),
        lookahead,
        packets: Packets::default(),
        log: plan.record.events.then(Vec::new),
        intervals: links_watched.then(Box::default),
        captures: None,
        injected: 0,
        delivered: 0,
        dropped: 0,
        dropped_by: Vec::new(),
        duplicated: 0,
        treatments: Vec::new(),
        management: Management::of(plan),
        told: Vec::new(),
        full_limiters: 0,
        deadlocks: Vec::new(),
        watchdogs: 0,
        ending: LinkId::NONE,
        scratch: Vec::new(),
        discarded: Vec::new(),
    })
}

/// What decides about the port of each link; `memory` says whose switch has one.
fn all_facts<'a>(plan: &'a Plan, layout: &Layout, paths: Paths, memory: impl Fn(usize) -> bool) -> Vec<Facts<'a>> {
    let mut changes = vec![false; plan.links.len()];
    plan.changes.iter().flat_map(|c| &c.links).for_each(|l| changes[l.link as usize] = true);
    let rdma = nic::Needs::of(plan);
    let bounded = plan.links.iter().any(|link| link.mtu.is_some());
    let largest = plan.reroute.filter(|_| bounded).map(|_| plan.largest_packet());
    let facts = |(i, link): (usize, &'a LinkPlan)| Facts {
        plan,
        link,
        paths,
        rdma,
        changes: changes[i],
        memory: memory(i),
        captured: layout.taps(i) != Taps::NONE,
        waits: plan.record.queue_delays && is_chosen(plan, i),
        largest,
    };
    plan.links.iter().enumerate().map(facts).collect()
}

/// The way through each port, and what keeps it from being faster.
pub fn ways(plan: &Plan, observed: &[bool], layout: &Layout) -> Result<Vec<(Way, Vec<String>)>, Error> {
    let net = build(plan, observed, layout, Paths::default())?;
    let facts = all_facts(plan, layout, Paths::default(), |i| net.links[LinkId::of(i)].out_of != NONE);
    let fused = |i: usize| net.routes.fused().get(i).is_some_and(|&fused| fused);
    Ok(facts.iter().enumerate().map(|(i, facts)| facts.way(fused(i))).collect())
}

impl Net {
    /// Returns whether each port can do what `plan` asks of it.
    pub fn suits(&self, plan: &Plan) -> bool {
        let ports = self
            .links
            .iter()
            .zip(all_facts(plan, &Layout::default(), Paths::default(), |i| self.links[LinkId::of(i)].out_of != NONE));
        ports.into_iter().all(|(link, facts)| match &link.general {
            None => !facts.is_general(),
            Some(g) => {
                (!g.steady || !facts.holds(Reason::Changes))
                    && (g.tells || !facts.holds(Reason::Telemetry))
                    && (g.waits.is_some() || !facts.holds(Reason::Waits))
                    && (!g.ahead.on || facts.is_ahead())
            }
        })
    }
}

/// A transmission that a trace never ends is said to end so long after the end of the run.
const NEVER_AFTER: Span = Span::from_s(1);

fn link(facts: Facts<'_>, (switch_of, port_of): (&[u32], &[u32]), taps: Taps) -> Link {
    stop::look();
    let Facts { plan, link: l, .. } = facts;
    let into = switch_of[l.to as usize];
    let of_link = plan.links[l.reverse as usize].reverse as usize;
    // A switch without memory only delays; one with memory charges first and delays in its stage.
    let latency = match &plan.nodes[l.to as usize].kind {
        NodeKind::Switch(s) if into == NONE => s.latency,
        _ => Span::ZERO,
    };
    let way_out = plan.nodes[l.from as usize].models.transmit.as_ref();
    let latency = latency + way_out.map_or(Span::ZERO, |words| words.delay);
    let fifo = facts.fifo();
    let limiters = congestion_management::limiters(plan, l);
    let is_general = facts.is_general();
    let fast =
        |size: fn(&FifoSpec) -> Option<Size>| Limit::of(fifo.filter(|_| !is_general).and_then(size), l.bdp_bytes);
    Link {
        tx: Transmitter::new(l.rate),
        busy_until: Time::ZERO,
        delay: l.delay + latency,
        limit: fast(|fifo| fifo.limit),
        mark_above: fast(|fifo| fifo.mark_above),
        waiting: Ring::default(),
        waiting_charged: 0,
        waiting_wire: 0,
        flight: Ring::default(),
        framing: l.framing.cost(),
        general: is_general.then(|| Box::new(general(facts, port_of[of_link], taps, (latency, limiters)))),
        own: Own::of(
            loss(plan.seed, &l.name, (&l.loss, l.impairments.packets), "loss"),
            l.driven.rate.as_ref().map(|trace| Pace::new(trace, plan.duration.saturating_add(NEVER_AFTER))),
        ),
        counts: Counts::default(),
        stage: Ring::default(),
        into,
        into_port: port_of[l.reverse as usize],
        lane: lanes::NO_LANE,
        out_of: switch_of[l.from as usize],
        reverse: LinkId(l.reverse),
        rate: l.rate,
    }
}

/// Why more than the queue of a port looks at a frame that need not wait, and why its queue does.
const ASIDE: [Reason; 9] = [
    Reason::Traced,
    Reason::Delays,
    Reason::Device,
    Reason::Impaired,
    Reason::Captured,
    Reason::Waits,
    Reason::Exceeded,
    Reason::Managed,
    Reason::Telemetry,
];
const LOOKS: [Reason; 12] = [
    Reason::Discipline,
    Reason::Traced,
    Reason::Delays,
    Reason::Device,
    Reason::Impaired,
    Reason::Captured,
    Reason::Waits,
    Reason::Exceeded,
    Reason::Priorities,
    Reason::Counted,
    Reason::Rdma,
    Reason::Telemetry,
];

/// What a general port has.
fn general(facts: Facts<'_>, port: u32, taps: Taps, (latency, limiters): (Span, Option<Box<Limiters>>)) -> General {
    let Facts { plan, link: l, .. } = facts;
    let mut queue = flow_control::queue(plan, l);
    queue.set_rate(l.rate);
    queue.set_stream(Stream::new(plan.seed, &format!("link.{}", l.name), "queue"));
    let reaction = plan.nodes[l.from as usize].pause;
    let watched = plan.record.events && (facts.holds(Reason::MayBePaused) || sends_pause(plan, l.from));
    let points = congestion_management::points(plan, l, &queue);
    let minds_idle = queue.minds_idle() || facts.holds(Reason::Eager);
    General {
        open: !facts.any(&ASIDE) && !minds_idle && !flow_control::stops_queues(plan, l.from),
        straight: !facts.any(&LOOKS) && points.is_none() && limiters.is_none(),
        minds_idle,
        steady: !facts.changes,
        queue,
        sending: Sending::Nothing,
        down: !l.up,
        mtu: facts.mtu().unwrap_or(u32::MAX),
        counted: facts.holds(Reason::Counted),
        port,
        end_scheduled: false,
        unsettled: false,
        gate: Gate::default(),
        pfc: flow_control::station(plan, l),
        response: reaction.obey.then(|| pause::quanta(l.rate, reaction.response_quanta)),
        wake: Time::NEVER,
        control: None,
        refresh: Time::NEVER,
        refresh_armed: Time::NEVER,
        integrated: Time::ZERO,
        waiting_since_ps: 0,
        packet_ps: 0,
        wait_ps: 0,
        latency,
        device: plan.nodes[l.from as usize].models.transmit.as_ref().and_then(Device::new).map(Box::new),
        urgent: VecDeque::new(),
        points,
        limiters,
        impair: Impair::new(plan.seed, &l.name, &l.impairments, l.driven.reorders),
        taps,
        ahead: Ahead::new(facts.is_ahead()),
        nic: facts.holds(Reason::Rdma).then(Box::default),
        tells: facts.holds(Reason::Telemetry),
        delays: l.driven.delay.clone(),
        watch: watched.then(Box::default),
        trims_to: l.queue.trims_to().map(|size| size.0 as u32),
        trims: 0,
        waits: facts.holds(Reason::Waits).then(Box::default),
    }
}

fn routes(plan: &Plan) -> Result<Routes, Error> {
    let detour = plan.reroute.is_some();
    let graph = Graph::of(plan, |link| plan.links[link].up || !detour);
    let mut targets = vec![Vec::new(); plan.nodes.len()];
    for flow in plan.traffic.iter().flat_map(|t| &t.flows) {
        targets[flow.from as usize].push(flow.to);
        targets[flow.to as usize].push(flow.from);
    }
    let refused = |from: u32, no: NoRoute| {
        let name = |node: u32| plan.nodes[node as usize].name.clone();
        match no {
            NoRoute::Unreachable(to) => Error::Unreachable(name(from), name(to)),
            NoRoute::TooMany(to) => Error::ManyPaths(name(from), name(to)),
            NoRoute::TooLong => Error::ManyPlaces(PLACES_MAX),
        }
    };
    let from_hosts = (0u32..).zip(&mut targets).filter(|(_, to)| !to.is_empty()).map(|(from, to)| {
        to.sort_unstable();
        to.dedup();
        (from, &to[..])
    });
    // Captures and notifications of congestion ask which links flows may take, before any flow has drawn its path.
    let asked = !plan.record.captures.is_empty() || !plan.congestion_management.is_none();
    if plan.ecmp == Ecmp::Flow && !detour && !asked {
        let mut routes = Routes::drawing(plan.seed, graph);
        for (from, to) in from_hosts {
            routes.add_first(from, to).map_err(|no| refused(from, no))?;
        }
        return Ok(routes);
    }
    let mut routes = Routes::new(plan.ecmp, plan.seed);
    let mut near = None;
    for (from, to) in from_hosts {
        routes.add(&graph, from, to, &mut near).map_err(|no| refused(from, no))?;
    }
    if !plan.congestion_management.is_none() {
        for (switch, hosts) in congestion_management::sources(plan, &routes) {
            routes.add(&graph, switch, &hosts, &mut near).map_err(|no| refused(switch, no))?;
        }
    }
    Ok(routes)
}

/// The fast links that are fed by exactly one fast link: what comes to them comes in the order in which it left that one, so
/// that waiting and drops follow from arithmetic ahead of the clock. Marks would be logged too early, probes see too much.
fn fused(links: &Table<LinkId, Link>, routes: &mut Routes, observed: &[bool]) -> Vec<bool> {
    // None is a link that no route has, and within it a link that hosts feed, or several links.
    let mut feeder: Vec<Option<Option<LinkId>>> = vec![None; links.len()];
    routes.forks(&mut |before, left| {
        let before = if let [only] = before { Some(*only) } else { None };
        let Some(link) = left else { return };
        let known = &mut feeder[link.index()];
        *known = match *known {
            None => Some(before),
            Some(b) if b == before => Some(b),
            Some(_) => Some(None),
        };
    });
    let mut fused = vec![false; links.len()];
    for (i, feeder) in feeder.iter().enumerate() {
        let Some(Some(before)) = *feeder else { continue };
        let (l, b) = (&links[LinkId::of(i)], &links[before]);
        let traced = |link: &Link| link.own.as_ref().is_some_and(|own| own.pace.is_some());
        let fast = l.general.is_none() && b.general.is_none() && b.into == NONE && !traced(l) && !traced(b);
        fused[i] = fast && l.mark_above == Limit::NONE && !observed[i];
    }
    fused
}
