//! Applications: when flows begin and what they write; [`progress`] has when they are done.

mod fast_open;
mod progress;
mod sources;

pub use fast_open::FastOpens;

use std::collections::BTreeMap;
use std::sync::Arc;

use elephan_cc::{Nic, Spec};
use elephan_engine::{Alarm, Bell};
use elephan_scenario::{FlowPlan, Traffic};
use elephan_tcp::{Endpoint, Options, State};
use elephan_traffic::{Carrier, Generate, MessageQueue, Part, Source, Spec as _};
use elephan_units::{Span, Time, stop};

use crate::clocks::room;
use crate::flow::{Application, Datagrams, Flow, Headers, Socket, stable_key};
use crate::ids::LinkId;
use crate::net::{NONE, Treatment};
use crate::target::Target;
use crate::world::World;

/// What an end of a connection is made of.
#[derive(Clone, Copy)]
pub struct Making<'a> {
    pub options: &'a Arc<Options>,
    /// Of a sender.
    pub congestion_control: Option<&'a Spec>,
    pub isn: u32,
    /// This host and the other.
    pub ends: (u32, u32),
    pub key: u32,
    /// What its flow is called by: traffic entry, plan and instance.
    pub path: (u32, FlowPlan, u32),
    /// Place and number of its flow.
    pub flow: (u32, u32),
}

impl World {
    /// Prepares every flow that the scenario names, and the arrivals of those that it does not.
    pub fn create_static_flows(&mut self) {
        let plan = self.plan.clone();
        let flows = plan.traffic.iter().filter(|t| !t.kind.carrier().arrives()).map(|t| t.flows.len()).sum();
        self.flows.reserve_exact(flows);
        self.sockets.reserve_exact(2 * flows);
        for (t, traffic) in plan.traffic.iter().enumerate() {
            let traffic_number = t as u32;
            if traffic.kind.carrier().arrives() {
                self.begin_arrivals(traffic_number);
                continue;
            }
            let mut instances = BTreeMap::new();
            let mut made = Vec::new();
            for &plan in &traffic.flows {
                let next = instances.entry((plan.from, plan.to)).or_insert(0);
                made.push((self.create_flow(traffic_number, plan, *next), plan));
                *next += 1;
            }
            if let Some(shared) = traffic.kind.shared() {
                self.create_clocks(traffic_number, &made, shared);
            }
            match traffic.kind.carrier() {
                Carrier::Copy => self.create_copies(traffic_number, &made),
                Carrier::Ranks => self.create_games(traffic_number, &made),
                _ => {}
            }
        }
    }

    /// A flow of the scenario: the connection number `instance` of its pair.
    fn create_flow(&mut self, traffic: u32, plan: FlowPlan, instance: u32) -> u32 {
        stop::look();
        let entry = &self.plan.traffic[traffic as usize];
        let path = self.flow_path(traffic, plan, instance);
        // The streams of a copy, and the pairs of ranks, begin together.
        let first = if entry.kind.carrier() == Carrier::Copy { self.flow_path(traffic, plan, 0) } else { path.clone() };
        let start = Time::ZERO + entry.start.sample(&mut self.stream(&first, "start"));
        let fed = entry.kind.shared().is_some();
        let part = if fed { Part::Sizes } else { Part::Whole };
        let source = self.source((traffic, plan), &path, part, entry.flows.len() as u64);
        let key = stable_key(&path, 0);
        let application = match entry.kind.carrier() {
            Carrier::Messages(when_full) if fed => {
                Application::Messages(Box::new(MessageQueue::fed(source, when_full)))
            }
            Carrier::Messages(when_full) => {
                Application::Messages(Box::new(MessageQueue::new(source, when_full, start)))
            }
            carrier @ (Carrier::Datagrams(_) | Carrier::Frames(_)) => Application::Datagrams(Box::new(Datagrams {
                source: (!fed).then_some(source),
                raw: matches!(carrier, Carrier::Frames(_)),
                next: None,
                route: self.net.routes.of_flow(plan.from, plan.to, key).unwrap_or_default(),
                sent_packets: 0,
                sent_bytes: 0,
                received_packets: 0,
                received_bytes: 0,
                copied_bytes: 0,
                expected: 0,
                reordered: 0,
            })),
            Carrier::Stream
            | Carrier::Transfers
            | Carrier::Users(_)
            | Carrier::Copy
            | Carrier::Ranks
            | Carrier::Program => Application::Stream { source, next: None, total: 0 },
        };
        let flow = Flow {
            number: self.flows_made,
            traffic,
            instance,
            plan,
            application,
            alarm: Alarm::default(),
            key,
            sender: NONE,
            receiver: NONE,
            rdma: NONE,
            start,
            established: None,
            size: entry.kind.flow_bytes(),
            done: None,
            sender_done: None,
            before_warmup: 0,
            begun: false,
            clock: NONE,
        };
        self.flows_made += 1;
        let id = self.keep_flow(flow);
        self.arm_application(id, start);
        id
    }

    pub fn keep_flow(&mut self, flow: Flow) -> u32 {
        if let Some(captures) = &mut self.net.captures {
            captures.flow(flow.plan.from);
        }
        let Traffic { priority, weight, .. } = self.plan.traffic[flow.traffic as usize];
        self.net.treat(flow.number, Treatment { priority, weight });
        match self.free_flows.pop() {
            Some(id) => {
                self.flows[id as usize] = Some(flow);
                id
            }
            None => {
                self.flows.push(Some(flow));
                (self.flows.len() - 1) as u32
            }
        }
    }

    /// Opens both ends of a flow's connection.
    pub fn open(&mut self, now: Time, id: u32, isn: [u32; 2]) {
        let Some(flow) = &self.flows[id as usize] else { return };
        let (number, key) = (flow.number, flow.key);
        let FlowPlan { from, to, sender, receiver } = flow.plan;
        let congestion_control = self.congestion_controls[flow.traffic as usize].clone();
        let plan = self.plan.clone();
        let path = (flow.traffic, flow.plan, flow.instance);
        let socket = |world: &mut World, options: u32, isn: u32, from: u32, to: u32, is_sender: bool| {
            let options = &plan.options[options as usize];
            let congestion_control = is_sender.then_some(&*congestion_control);
            let key = key ^ u32::from(is_sender);
            world.make_socket(Making {
                options,
                congestion_control,
                isn,
                ends: (from, to),
                key,
                path,
                flow: (id, number),
            })
        };
        let one = socket(self, sender, isn[0], from, to, true);
        let other = socket(self, receiver, isn[1], to, from, false);
        let one = self.place(one);
        let other = self.place(other);
        self.sockets[one as usize].peer = other;
        self.sockets[other as usize].peer = one;
        self.settle_headers([one, other]);
        if self.hosts.receive {
            [one, other].into_iter().for_each(|end| self.settle_reader(end));
        }
        if self.plan.traffic[path.0 as usize].fast_open {
            FastOpens::listen(&mut self.sockets[other as usize].endpoint, (from, to));
            self.fast_open.connect(now, &mut self.sockets[one as usize].endpoint, (from, to));
        } else {
            self.sockets[other as usize].endpoint.listen();
            self.sockets[one as usize].endpoint.connect(now);
        }
        if let Some(flow) = &mut self.flows[id as usize] {
            (flow.sender, flow.receiver) = (one, other);
        }
    }

    /// A new end of a connection. A sender has the congestion control of its traffic entry, a receiver that of its own options.
    pub fn make_socket(&mut self, making: Making<'_>) -> Socket {
        let Making { options, congestion_control, isn, ends: (from, to), key, path, flow: (flow, number) } = making;
        let mut controller = congestion_control.map_or_else(|| options.controller(), |own| options.controller_of(own));
        controller.set_seed(self.controller_seed(path, key));
        let route = self.net.routes.of_flow(from, to, key).unwrap_or_default();
        let first_link = self.net.routes.first_link(route);
        if controller.reads_nic() {
            controller.on_nic(&self.controller_nic((from, to), options, first_link));
        }
        if controller.probes()
            && let Some(memory) = self.memories.get(&(from, to))
        {
            controller.recall(memory);
        }
        let mut endpoint = Endpoint::new(options, controller, isn);
        if self.plan.record.info {
            endpoint.keep_times();
        }
        Socket {
            endpoint,
            alarm: Alarm::default(),
            route,
            first_link,
            peer: NONE,
            flow,
            number,
            key,
            highest: isn,
            wake: 0,
            seen: State::Closed,
            noted: (0, 0),
            is_sender: congestion_control.is_some(),
            queued: false,
            headers: None,
        }
    }

    /// The ends of a connection put congestion headers on their packets if one of their controllers asks routers, and stamps if one
    /// looks at when each packet arrives, or at delays of the end hosts. What goes to an end acknowledges each segment at once where the controller of the other
    /// asks for it.
    pub fn settle_headers(&mut self, ends: [u32; 2]) {
        let asks = ends.map(|end| self.sockets[end as usize].endpoint.controller().asks_routers());
        let probes = ends.map(|end| self.sockets[end as usize].endpoint.controller().probes());
        let each = ends.iter().any(|&end| self.sockets[end as usize].endpoint.controller().acknowledged_each());
        let reads = |end: &u32| self.sockets[*end as usize].endpoint.controller().reads_endpoint_delay();
        let (routed, stamped) = (asks != [None; 2], probes != [false; 2] || ends.iter().any(reads));
        for (end, asks) in ends.into_iter().zip(asks) {
            let socket = &mut self.sockets[end as usize];
            socket.headers =
                (routed || stamped).then(|| Box::new(Headers { routed, asks, stamped, ..Headers::default() }));
            if each {
                socket.endpoint.acknowledge_each();
            }
        }
    }

    /// What a controller draws from: by the flow's name and its connection's key.
    pub fn controller_seed(&self, (traffic, plan, instance): (u32, FlowPlan, u32), key: u32) -> u64 {
        let path = self.flow_path(traffic, plan, instance);
        // The stream has the name of earlier versions: with another name every draw would change.
        self.stream(&path, "law").next_u64().wrapping_add(u64::from(key))
    }

    /// What stands between a controller and its path: the first link, and the round trip of a full segment in an empty network.
    pub fn controller_nic(&self, ends: (u32, u32), options: &Options, link: LinkId) -> Nic {
        let headers = options.ip.tcp_headers_bytes();
        let base_rtt = self.base_rtt(ends, options.mss.0 as u32 + headers, headers).unwrap_or(Span::ZERO);
        Nic { rate_bps: self.plan.links[link.index()].rate.bps() as f64, base_rtt }
    }

    /// What the controllers of a connection that is over leave for the next between the same hosts.
    fn keep_memories(&mut self, plan: FlowPlan, sender: u32, receiver: u32) {
        for (socket, hosts) in [(sender, (plan.from, plan.to)), (receiver, (plan.to, plan.from))] {
            if let Some(memory) = self.sockets[socket as usize].endpoint.controller().remember() {
                self.memories.insert(hosts, memory);
            }
        }
    }

    /// The application of a flow is called.
    pub fn application(&mut self, now: Time, id: u32) {
        let Some(flow) = &mut self.flows[id as usize] else { return };
        let deadline = if flow.is_open() { flow.deadline() } else { flow.start };
        match flow.alarm.ring(now, deadline) {
            Bell::Stale | Bell::Off => return,
            Bell::Later(time) => {
                self.net.events.push(Target::Flow(id).keyed(time, flow.key));
                return;
            }
            Bell::Due => {}
        }
        if !flow.is_open() {
            self.begin(now, id);
        }
        self.write(now, id);
    }

    fn begin(&mut self, now: Time, id: u32) {
        let Some(flow) = &mut self.flows[id as usize] else { return };
        flow.begin();
        let (traffic, plan, instance) = (flow.traffic, flow.plan, flow.instance);
        if matches!(flow.application, Application::Datagrams(_)) {
            return;
        }
        if self.plan.traffic[traffic as usize].rdma.is_some() {
            return self.rdma_open(id);
        }
        let path = self.flow_path(traffic, plan, instance);
        let mut isn = self.stream(&path, "isn");
        let isn = [isn.next_u64() as u32, isn.next_u64() as u32];
        self.open(now, id, isn);
    }

    /// Lets the application of a flow write what is due and what fits.
    fn write(&mut self, now: Time, id: u32) {
        let Some(flow) = &mut self.flows[id as usize] else { return };
        if flow.rdma != NONE {
            return self.rdma_write(now, id);
        }
        match &mut flow.application {
            Application::Stream { source, next, total } => {
                let endpoint = &mut self.sockets[flow.sender as usize].endpoint;
                while let Some(due) = *next {
                    if due.0 > now {
                        break;
                    }
                    *total = total.saturating_add(due.1.bytes);
                    *next = source.next_offer().map(|o| (due.0.saturating_add(o.gap), o));
                }
                endpoint.supply(*total);
                if next.is_none() && *total != u64::MAX {
                    endpoint.end_stream(now);
                }
            }
            Application::Messages(queue) => {
                let endpoint = &mut self.sockets[flow.sender as usize].endpoint;
                endpoint.supply(queue.pump(now, room(endpoint)));
                if queue.ended() {
                    endpoint.end_stream(now);
                }
            }
            Application::Transfer { .. } | Application::Program { .. } => {}
            &mut Application::Copy { copy, stream, .. } => {
                self.begin_stream(now, copy, stream);
            }
            &mut Application::Ranks { game, .. } => self.begin_pair(now, game),
            Application::Datagrams(_) => {
                self.write_datagrams(now, id);
                return;
            }
        }
        let Some(flow) = &self.flows[id as usize] else { return };
        let sender = flow.sender;
        self.rearm(id);
        self.flush(now, sender);
    }

    fn write_datagrams(&mut self, now: Time, id: u32) {
        let Some(flow) = &mut self.flows[id as usize] else { return };
        let Application::Datagrams(d) = &mut flow.application else { return };
        let Some((due, offer)) = d.next else { return };
        if due > now {
            self.rearm(id);
            return;
        }
        d.next = d.source.as_mut().and_then(Source::next_offer).map(|o| (due.saturating_add(o.gap), o));
        self.send_next(now, id, offer.bytes);
        self.rearm(id);
    }

    /// Sends the next datagram, or raw frame, of a stream.
    pub fn send_next(&mut self, now: Time, id: u32, bytes: u64) {
        let Some(flow) = &mut self.flows[id as usize] else { return };
        let number = flow.number;
        let Application::Datagrams(d) = &mut flow.application else { return };
        let seq = d.sent_packets as u32;
        d.sent_packets += 1;
        d.sent_bytes += bytes;
        let (route, raw) = (d.route, d.raw);
        self.send_datagram(now, id, route, (number, seq, raw), bytes);
    }

    pub fn rearm(&mut self, id: u32) {
        let Some(flow) = &self.flows[id as usize] else { return };
        let deadline = flow.deadline();
        self.arm_application(id, deadline);
    }

    fn arm_application(&mut self, id: u32, deadline: Time) {
        let Some(flow) = &mut self.flows[id as usize] else { return };
        if flow.alarm.arm(deadline) {
            self.net.events.push(Target::Flow(id).keyed(deadline, flow.key));
        }
    }

    /// A traffic entry stops: no more data, no more arrivals.
    pub fn stop_traffic(&mut self, now: Time, traffic: u32) {
        self.arrivals.iter_mut().filter(|a| a.traffic == traffic).for_each(|a| a.stopped = true);
        self.stop_clocks(traffic);
        for id in 0..self.flows.len() as u32 {
            let Some(flow) = &mut self.flows[id as usize] else { continue };
            if flow.traffic != traffic {
                continue;
            }
            let sender = flow.sender;
            if flow.rdma != NONE {
                self.rdma_stop(now, id);
                continue;
            }
            match &mut flow.application {
                Application::Datagrams(d) => d.next = None,
                Application::Messages(queue) => queue.stop(),
                Application::Stream { next, .. } => *next = None,
                Application::Transfer { .. } | Application::Ranks { .. } | Application::Program { .. } => continue,
                Application::Copy { .. } if sender != NONE => continue,
                Application::Copy { .. } => {}
            }
            if sender == NONE {
                flow.cancel();
                continue;
            }
            let endpoint = &mut self.sockets[sender as usize].endpoint;
            match &mut flow.application {
                // Messages that have begun to enter are still delivered.
                Application::Messages(queue) => {
                    endpoint.supply(queue.offered());
                    endpoint.end_stream(now);
                }
                Application::Stream { total, .. } => {
                    *total = endpoint.cut(now);
                    flow.size = flow.size.map(|size| size.min(*total));
                }
                Application::Transfer { .. }
                | Application::Copy { .. }
                | Application::Datagrams(_)
                | Application::Ranks { .. }
                | Application::Program { .. } => {}
            }
            let (receiver, is_cut) = (flow.receiver, matches!(flow.application, Application::Stream { .. }));
            for end in [sender, receiver] {
                self.sockets[end as usize].wake = 0;
            }
            self.flush(now, sender);
            if is_cut {
                // What is cut off may have been all that was missing.
                let received = self.sockets[receiver as usize].endpoint.received();
                self.received(now, id, received);
            }
        }
        self.stop_copies(now, traffic);
        self.stop_games(traffic);
    }
}
