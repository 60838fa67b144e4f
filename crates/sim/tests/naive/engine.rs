//! The naive engine: a heap of events, one event a step, nothing computed ahead.

use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::rc::Rc;

use elephan_random::Stream;
use elephan_record::Recorder;
use elephan_scenario::{NodeKind, Plan};
use elephan_traffic::Spec;

use super::deadlock::Deadlock;
use super::network::{Port, switch};
use super::order::{Class, Scheduled, What};
use super::packet::{Packet, wire_bytes};
use super::pause::Switch;
use super::source::{Place, Source, UDP_HEADERS_BYTES};
use super::spread::Spread;

/// A stream of datagrams or frames; of a TCP connection only its segments are known.
pub struct Flow {
    pub traffic: usize,
    pub from: usize,
    pub to: usize,
    route: Rc<[usize]>,
    /// What the tie of its events is mixed from.
    key: u64,
    pub start: u64,
    /// The generator; none of TCP.
    source: Option<Source>,
    /// Its packets are frames without IP.
    pub is_raw: bool,
    pub has_begun: bool,
    is_stopped: bool,
    /// When the next packet is due.
    next: Option<u64>,
    pub sent: (u64, u64),
    pub received: (u64, u64),
    pub received_before_warmup: u64,
    pub size: Option<u64>,
    pub done: Option<u64>,
    /// The number that is expected next, and the datagrams that came with a smaller one.
    expected: u32,
    pub reordered: u64,
}

/// A packet that a host has received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub time: u64,
    pub host: usize,
    pub flow: usize,
    pub ip_bytes: u64,
    pub ecn: u8,
    pub sequence: Option<u32>,
}

/// A run.
pub struct Engine<'a> {
    pub plan: &'a Plan,
    pub now: u64,
    events: BinaryHeap<Scheduled>,
    scheduled: u64,
    pub ports: Vec<Port>,
    /// By node; none where frames are not charged.
    pub switches: Vec<Option<Switch>>,
    pub flows: Vec<Flow>,
    pub recorder: Recorder,
    pub injected: u64,
    pub dropped: BTreeMap<&'static str, u64>,
    pub spread: Spread,
    pub deadlocks: Vec<Deadlock>,
    /// Of TCP segments.
    pub deliveries: Vec<Delivery>,
    /// By port: for how long it had been busy at the last sample.
    pub busy_before: Vec<u64>,
}

/// FNV-1a in 32 bits of a name and eight bytes of zero.
fn name_hash(name: &str) -> u64 {
    let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    u64::from(name.bytes().chain([0; 8]).fold(0x811C_9DC5, hash))
}

/// Returns the links of the shortest way between two hosts; only switches forward.
pub fn route(plan: &Plan, from: usize, to: usize) -> Rc<[usize]> {
    let mut way: Vec<Option<usize>> = vec![None; plan.nodes.len()];
    let mut next = VecDeque::from([from]);
    while let Some(node) = next.pop_front() {
        if node != from && matches!(plan.nodes[node].kind, NodeKind::Host) {
            continue;
        }
        for (number, link) in plan.links.iter().enumerate().filter(|(_, link)| link.from as usize == node) {
            let far = link.to as usize;
            if far != from && way[far].is_none() {
                way[far] = Some(number);
                next.push_back(far);
            }
        }
    }
    let mut route = VecDeque::new();
    let mut node = to;
    while node != from {
        let link = way[node].expect("a way");
        route.push_front(link);
        node = plan.links[link].from as usize;
    }
    Vec::from(route).into()
}

impl<'a> Engine<'a> {
    /// Returns the engine of a run in which hosts send what their generators say.
    pub fn new(plan: &'a Plan) -> Engine<'a> {
        let switches: Vec<Option<Switch>> = (0..plan.nodes.len()).map(|node| switch(plan, node)).collect();
        let latency = |link: usize| match &plan.nodes[plan.links[link].to as usize].kind {
            NodeKind::Switch(spec) if switches[plan.links[link].to as usize].is_none() => spec.latency.0,
            _ => 0,
        };
        let mut engine = Engine {
            plan,
            now: 0,
            events: BinaryHeap::new(),
            scheduled: 0,
            ports: (0..plan.links.len()).map(|link| Port::new(plan, link, latency(link))).collect(),
            switches,
            flows: Vec::new(),
            recorder: Recorder::memory(),
            injected: 0,
            dropped: BTreeMap::new(),
            spread: Spread::default(),
            deadlocks: Vec::new(),
            deliveries: Vec::new(),
            busy_before: vec![0; plan.links.len()],
        };
        engine.create_flows();
        if let Some(every) = plan.record.every {
            engine.schedule(every.0, Class::Sample, 0, What::Sample);
        }
        if plan.warmup.0 > 0 {
            engine.schedule(plan.warmup.0, Class::Sample, 1, What::WarmUp);
        }
        for (number, traffic) in plan.traffic.iter().enumerate() {
            if let Some(stop) = traffic.stop {
                engine.schedule(stop.0, Class::Change, number as u64, What::Stop(number));
            }
        }
        engine
    }

    fn create_flows(&mut self) {
        for (number, traffic) in self.plan.traffic.iter().enumerate() {
            let mut instances: BTreeMap<(u32, u32), u32> = BTreeMap::new();
            for pair in &traffic.flows {
                let instance = instances.entry((pair.from, pair.to)).or_insert(0);
                let name = |node: u32| &self.plan.nodes[node as usize].name;
                let path = format!("traffic.{}/{}->{}[{instance}]", traffic.name, name(pair.from), name(pair.to));
                *instance += 1;
                self.create_flow(number, (pair.from as usize, pair.to as usize), &path);
            }
        }
    }

    fn create_flow(&mut self, traffic: usize, (from, to): (usize, usize), path: &str) {
        let plan = self.plan;
        let entry = &plan.traffic[traffic];
        let stream = |purpose: &str| Stream::new(plan.seed, path, purpose);
        let start = entry.start.sample(&mut stream("start")).0;
        let route = route(plan, from, to);
        let first = &plan.links[route[0]];
        let place = Place {
            wire_bytes: &|ip_bytes| wire_bytes(first.framing, ip_bytes),
            rate_bps: first.rate.0,
            start,
            lasts: plan.duration.0,
            stream: &stream,
        };
        let is_datagrams = entry.kind.carrier().packet_bytes().is_some();
        let (source, is_raw) = match is_datagrams.then(|| Source::new(&entry.kind, &place)) {
            Some((source, is_raw)) => (Some(source), is_raw),
            None => (None, false),
        };
        let key = name_hash(path);
        let number = self.flows.len();
        if source.is_some() {
            self.schedule_flow(start, key, number);
        }
        let size = entry.kind.flow_bytes();
        self.flows.push(Flow {
            traffic,
            from,
            to,
            route,
            key,
            start,
            source,
            is_raw,
            has_begun: false,
            is_stopped: false,
            next: None,
            sent: (0, 0),
            received: (0, 0),
            received_before_warmup: 0,
            size,
            done: None,
            expected: 0,
            reordered: 0,
        });
    }

    /// Lets hosts send these packets, each at its time, instead of what their generators say.
    pub fn replay(&mut self, packets: Vec<(u64, Packet)>) {
        self.flows.iter_mut().for_each(|flow| flow.source = None);
        for (time, packet) in packets {
            self.injected += 1;
            self.scheduled += 1;
            // At one instant packets are handed over in the order of the recording.
            let what = What::Handed(packet.route[0], packet);
            self.events.push(Scheduled::in_order(time, Class::Application, self.scheduled, what));
        }
    }

    /// Schedules an event whose tie is mixed from the number that it is for.
    pub fn schedule(&mut self, time: u64, class: Class, number: u64, what: What) {
        self.scheduled += 1;
        self.events.push(Scheduled::new(time, class, (number, number), self.scheduled, what));
    }

    fn schedule_flow(&mut self, time: u64, key: u64, number: usize) {
        self.scheduled += 1;
        let who = (key, number as u64);
        self.events.push(Scheduled::new(time, Class::Application, who, self.scheduled, What::Offer(number)));
    }

    /// Runs to the end of the scenario; events at its last instant still happen.
    pub fn run(&mut self) {
        while let Some(event) = self.events.pop() {
            if event.time() > self.plan.duration.0 {
                break;
            }
            self.now = event.time();
            match event.what {
                What::EndOfTransmission(port) => self.end_of_transmission(port),
                What::EndOfPause(port) => self.start(port),
                What::PauseFrame { link, quanta } => self.pause_frame(link, quanta),
                What::Frame(link, packet) => self.arrive(link, packet),
                What::Switched(port, packet) | What::Handed(port, packet) => self.offer(port, packet),
                What::Refresh(port) => self.refresh(port),
                What::Offer(flow) => self.offer_of(flow),
                What::Stop(traffic) => self.stop(traffic),
                What::Sample => self.sample(),
                What::WarmUp => self.flows.iter_mut().for_each(|f| f.received_before_warmup = f.received.1),
            }
        }
        self.now = self.plan.duration.0;
        self.find_deadlocks();
    }

    /// The measured part of the run.
    pub fn window(&self) -> (u64, u64) {
        (self.plan.warmup.0, self.plan.duration.0)
    }

    /// A packet of a flow may be due.
    fn offer_of(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        if flow.is_stopped {
            return;
        }
        let Some(source) = &mut flow.source else { return };
        if !flow.has_begun {
            flow.has_begun = true;
            flow.next = source.next();
        }
        let payload = source.payload;
        if flow.next == Some(self.now) {
            flow.next = source.next();
            flow.sent = (flow.sent.0 + 1, flow.sent.1 + payload);
            let packet = Packet {
                flow: number,
                number: flow.sent.0 as u32 - 1,
                payload,
                left: self.now,
                ip_bytes: payload + if flow.is_raw { 0 } else { UDP_HEADERS_BYTES },
                ecn: 0,
                has_data: true,
                is_retransmission: false,
                sequence: None,
                route: flow.route.clone(),
                hop: 0,
                ingress: 0,
                charged: 0,
                is_lost: false,
            };
            self.injected += 1;
            self.offer(packet.route[0], packet);
        }
        let flow = &self.flows[number];
        if let Some(next) = flow.next {
            self.schedule_flow(next, flow.key, number);
        }
    }

    /// A traffic entry sends nothing more.
    fn stop(&mut self, traffic: usize) {
        for flow in self.flows.iter_mut().filter(|flow| flow.traffic == traffic) {
            (flow.is_stopped, flow.has_begun) = (true, true);
        }
    }

    /// A packet has reached its host.
    pub fn deliver(&mut self, packet: Packet) {
        if packet.sequence.is_some() {
            let host = self.plan.links[packet.route[packet.hop]].to as usize;
            let Packet { flow, ip_bytes, ecn, sequence, .. } = packet;
            self.deliveries.push(Delivery { time: self.now, host, flow, ip_bytes, ecn, sequence });
            return;
        }
        let flow = &mut self.flows[packet.flow];
        flow.received = (flow.received.0 + 1, flow.received.1 + packet.payload);
        if packet.number >= flow.expected {
            flow.expected = packet.number + 1;
        } else {
            flow.reordered += 1;
        }
        if flow.done.is_none() && flow.size.is_some_and(|size| flow.received.1 >= size) {
            flow.done = Some(self.now);
        }
        if flow.received.0 <= self.plan.record.datagrams {
            self.log_datagram(&packet);
        }
    }
}
