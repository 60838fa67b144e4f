//! The world: the network, the sockets and the applications, and the loop that runs them.
//!
//! The way of a packet: a socket writes its segment into a packet ([`World::flush`]), the network carries it
//! ([`Net::send`] to [`Net::arrive`]), the peer's socket reads it ([`World::deliver`]) and answers in the same instant.

use std::collections::BTreeMap;

use elephan_cc::Spec;
use elephan_cc::train::Memory;
use elephan_engine::{Alarm, Bell, Class, Event, prefetch};
use elephan_record::Recorder;
use elephan_scenario::Plan;
use elephan_tcp::Endpoint;
use elephan_units::Time;

use crate::Error;
use crate::clocks::Clock;
use crate::copy::Copies;
use crate::flow::{Arrivals, Flow, Socket};
use crate::guests;
use crate::host::{CPU_BUSY, HOST, Hosts, TXQUEUE_FULL};
use crate::limits::stopped;
use crate::net::{self, LIMITERS, Layout, NONE, Net, Paths, REFRESH, Routes};
use crate::packet::traits;
use crate::roce::{ROCE, Roce};
use crate::tables::Tables;

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub now: Time,
    pub events: u64,
    pub packet_hops: u64,
}

/// Ids of application events: flows by index, and above this bit the places in `World::arrivals`.
pub const ARRIVALS: u32 = 1 << 31;
/// And above this one the places in `World::clocks`.
pub const CLOCKS: u32 = 1 << 30;
/// And above this one those of reading (even) and writing (odd) of the transfers in `World::copies`.
pub const COPIES: u32 = 1 << 29;
/// Id of the event of `[[change]]` entries; traffic entries stop by their index.
pub const CHANGES: u32 = 1 << 31;
/// Marks the event of a change of routes, that follows a change of the link given.
pub const REROUTE: u32 = 1 << 30;
/// Id of the sample event that ends the warm-up; 0 is the periodic one.
const WARMUP: u32 = 1;

pub struct World<'a> {
    pub plan: &'a Plan,
    pub net: Net,
    pub sockets: Vec<Socket>,
    pub free_sockets: Vec<u32>,
    pub flows: Vec<Option<Flow>>,
    pub free_flows: Vec<u32>,
    /// Of the entries whose transfers arrive, and of each user of a closed loop.
    pub arrivals: Vec<Arrivals>,
    /// Generators that several flows have together.
    pub clocks: Vec<Clock>,
    /// Transfers from disk to disk.
    pub copies: Copies,
    pub flows_made: u32,
    pub tables: Tables,
    pub recorder: &'a mut Recorder,
    /// A packet taken and not yet used.
    pub spare: u32,
    pub events_done: u64,
    /// The first breach of conservation by a flow that has ended.
    pub violation: Option<Error>,
    /// Ports and switches looked at by each sample.
    pub observed: Vec<bool>,
    /// The congestion control of each traffic entry's senders, as of now.
    pub laws: Vec<&'a Spec>,
    /// Index into the plan's changes of the one that comes next.
    pub next_change: usize,
    /// Whether connections may have guests, and the first that has failed.
    pub guests: bool,
    pub failed_guest: Option<guests::Failed>,
    /// What connections that are over have left, by host and peer.
    pub memories: BTreeMap<(u32, u32), Memory>,
    /// Connections of RoCE, and the interfaces that send for them.
    pub roce: Roce,
    /// Those that are not ideal.
    pub hosts: Hosts,
}

/// Builds the world of `plan` and runs it; rows go to `recorder`. `watch` is called now and then and answers whether
/// to go on. The result is the world at the end.
pub fn simulate<'a>(
    plan: &'a Plan,
    recorder: &'a mut Recorder,
    paths: Paths,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<World<'a>, Error> {
    let mut world = World::new(plan, recorder, paths)?;
    world.run(watch)?;
    Ok(world)
}

impl<'a> World<'a> {
    fn new(plan: &'a Plan, recorder: &'a mut Recorder, paths: Paths) -> Result<World<'a>, Error> {
        let observed = crate::sample::observed_ports(plan);
        let layout = if recorder.has_folder() { Layout::of(plan) } else { Layout::default() };
        let mut net = net::build(plan, &observed, &layout, paths)?;
        if !layout.is_empty() {
            net.captures = Some(Box::new(layout.open(plan, &net, recorder)?));
        }
        let spare = net.packets.take();
        let tables = Tables::new(plan, recorder);
        let mut world = World {
            plan,
            net,
            sockets: Vec::new(),
            free_sockets: Vec::new(),
            flows: Vec::new(),
            free_flows: Vec::new(),
            arrivals: Vec::new(),
            clocks: Vec::new(),
            copies: Copies::default(),
            flows_made: 0,
            tables,
            recorder,
            spare,
            events_done: 0,
            violation: None,
            observed,
            laws: plan.traffic.iter().map(|t| &t.congestion_control).collect(),
            next_change: 0,
            guests: guests::any(plan),
            failed_guest: None,
            memories: BTreeMap::new(),
            roce: Roce::default(),
            hosts: Hosts::of(plan),
        };
        world.create_static_flows();
        world.begin_hosts();
        if let Some(every) = plan.record.every {
            let first = Time::ZERO + every;
            world.net.events.push(Event::new(first, Class::Sample, 0, 0));
        }
        if plan.warmup > Time::ZERO {
            world.net.events.push(Event::new(plan.warmup, Class::Sample, 0, WARMUP));
        }
        for (i, traffic) in plan.traffic.iter().enumerate() {
            if let Some(stop) = traffic.stop {
                world.net.events.push(Event::new(stop, Class::Change, i as u32, i as u32));
            }
        }
        world.schedule_change();
        Ok(world)
    }

    fn run(&mut self, watch: &mut dyn FnMut(&Progress) -> bool) -> Result<(), Error> {
        const BETWEEN_LOOKS: u64 = 1 << 15;
        let end = self.plan.duration;
        let mut now = Time::ZERO;
        loop {
            let since = now;
            for _ in 0..BETWEEN_LOOKS {
                let Some(event) = self.net.events.pop_until(end) else {
                    self.check_guests()?;
                    self.net.find_deadlocks(end);
                    return self.write_log();
                };
                now = event.time();
                self.events_done += 1;
                // Most events are arrivals.
                if event.is(Class::Arrival) {
                    self.arrival_of_frame(now, event.id());
                } else {
                    self.handle(event);
                }
            }
            self.net.events.tune(now, now - since, BETWEEN_LOOKS);
            self.check_guests()?;
            self.write_log()?;
            let progress = Progress { now, events: self.events_done, packet_hops: self.packet_hops() };
            if !watch(&progress) {
                return Err(Error::Stopped);
            }
        }
    }

    /// Rows of what has happened rarely, and whether all that was written could be.
    pub fn write_log(&mut self) -> Result<(), Error> {
        self.tables.events(&mut self.net, self.plan, self.recorder)?;
        self.net.captures.as_ref().map_or(Ok(()), |captures| captures.check())
    }

    /// A frame is in at the far end of a link, or through a switch.
    #[inline(always)]
    fn arrival_of_frame(&mut self, now: Time, id: u32) {
        let delivered = match self.net.land(id) {
            Some(flight) => {
                // There is still work to do for this event while the data of the next ones come.
                if self.sockets.len() > FEW_SOCKETS
                    && let Some(socket) = self.net.prefetch_ahead()
                    && let Some(socket) = self.sockets.get(socket as usize)
                {
                    prefetch(socket, SOCKET_LINES);
                }
                self.net.take_in(now, id, flight)
            }
            None => self.net.arrive_otherwise(now, id),
        };
        if let Some(packet) = delivered {
            if self.hosts.receive {
                self.come_in(now, id, packet);
            } else {
                self.deliver(now, packet);
            }
        }
    }

    #[inline(never)]
    fn handle(&mut self, event: Event) {
        let (now, id) = (event.time(), event.id());
        match event.class() {
            Class::Arrival => self.arrival_of_frame(now, id),
            Class::Timer if id & (REFRESH | LIMITERS) == LIMITERS => self.net.limiter_timer(now, id & !LIMITERS),
            Class::Timer if id & REFRESH != 0 => self.net.ring(now, id & !REFRESH),
            Class::Timer if id & ROCE != 0 => self.roce_timer(now, id & !ROCE),
            Class::Timer if id & HOST != 0 => self.host_timer(now, id & !HOST),
            Class::Timer => self.ring(now, id),
            Class::Application if id & ARRIVALS != 0 => self.arrival(now, id & !ARRIVALS),
            Class::Application if id & CLOCKS != 0 => self.strike(now, id & !CLOCKS),
            Class::Application if id & COPIES != 0 => self.disk_is_done(now, id & !COPIES),
            Class::Application => self.application(now, id),
            Class::End => self.net.end_of_transmission(now, id),
            Class::Start => self.net.wake(now, id),
            Class::Control => self.net.control(now, id),
            Class::Change if id == CHANGES => self.change(now),
            Class::Change if id & REROUTE != 0 => self.reroute(now, id & !REROUTE),
            Class::Change => self.stop_traffic(now, id),
            Class::Sample if id == WARMUP => self.end_warmup(now),
            Class::Sample => self.sample(now),
        }
        if self.net.has_drained() {
            self.resume_senders(now);
        }
    }

    /// A packet has reached its host.
    #[inline(always)]
    pub fn deliver(&mut self, now: Time, packet: u32) {
        let (p, sack) = self.net.packets.get(packet);
        let (dest, number) = (p.dest, p.flow);
        if p.traits & (traits::UDP | traits::NOTIFICATION | traits::ROCE) != 0 {
            if p.traits & traits::NOTIFICATION != 0 {
                self.notified(now, packet);
                return;
            }
            if p.traits & traits::ROCE != 0 {
                return self.deliver_roce(now, packet);
            }
            let (bytes, seq) = (u64::from(p.segment.len), p.segment.seq);
            let first = p.traits & traits::COPY == 0;
            self.net.packets.free(packet);
            self.datagram_arrived(now, dest, number, bytes, (seq, first));
            return;
        }
        let socket = &mut self.sockets[dest as usize];
        if socket.number != number {
            // The connection is gone; its last packets were still under way.
            self.net.packets.free(packet);
            return;
        }
        if p.traits & (traits::HEADED | traits::STAMPED) != 0
            && let Some(headers) = &mut socket.headers
        {
            headers.take(now, &mut socket.endpoint, &self.net.packets, packet);
        }
        socket.endpoint.on_segment(now, &p.segment, sack);
        let (calls, signalled) = (socket.calls(), socket.noted != signals(&socket.endpoint));
        self.net.packets.free(packet);
        if signalled {
            self.note_signals(now, dest);
        }
        if calls {
            self.attend(now, dest);
        }
        self.flush(now, dest);
    }

    /// A timer of a socket has rung.
    fn ring(&mut self, now: Time, id: u32) {
        let socket = &mut self.sockets[id as usize];
        match socket.alarm.ring(now, socket.endpoint.next_timer()) {
            Bell::Stale | Bell::Off => {}
            Bell::Later(time) => {
                let event = Event::new(time, Class::Timer, socket.key, id);
                self.net.events.push(event);
            }
            Bell::Due => {
                if !(self.hosts.receive && self.expire_on_cpu(now, id)) {
                    self.expire(now, id);
                }
            }
        }
    }

    /// A timer of a socket runs out; where that waited for a processor it may have moved since.
    #[inline]
    pub fn expire(&mut self, now: Time, id: u32) {
        let socket = &mut self.sockets[id as usize];
        if socket.endpoint.next_timer() <= now {
            socket.endpoint.on_timer(now);
        }
        let (calls, signalled) = (socket.calls(), socket.noted != signals(&socket.endpoint));
        if signalled {
            self.note_signals(now, id);
        }
        if calls {
            self.attend(now, id);
        }
        self.flush(now, id);
    }

    /// Logs a fast retransmit or an expired timer that was not noted yet, when somebody reads the log.
    #[cold]
    fn note_signals(&mut self, now: Time, id: u32) {
        let socket = &mut self.sockets[id as usize];
        let (before, after) = (socket.noted, signals(&socket.endpoint));
        socket.noted = after;
        let Some(log) = &mut self.net.log else { return };
        let kind = if after.1 > before.1 { net::Kind::Timeout } else { net::Kind::FastRetransmit };
        let link = socket.first_link;
        let value = (kind == net::Kind::Timeout).then(|| socket.endpoint.rto().seconds());
        log.push(net::Occurrence { time: now, kind, link, flow: socket.number, bytes: 0, value, reason: "" });
    }

    /// Sends what a socket has to send and sets its timer.
    #[inline]
    pub fn flush(&mut self, now: Time, id: u32) {
        if !(self.hosts.receive && self.send_on_cpu(now, id)) {
            self.transmit(now, id, u32::MAX);
        }
    }

    /// Sends at most so many segments of what a socket has to send, the rest of a burst besides, and sets its timer; answers how many.
    #[inline(always)]
    pub fn transmit(&mut self, now: Time, id: u32, most: u32) -> u32 {
        let socket = &mut self.sockets[id as usize];
        let mut first_link;
        let mut sent = 0;
        // Segments that leave as one burst.
        let mut together = 0;
        while (sent < most || together > 0) && socket.endpoint.may_transmit() {
            if self.net.full_limiters > 0 && stopped(&mut self.net, &self.flows, socket, id) {
                break;
            }
            if self.hosts.bursts {
                if together == 0 {
                    together = self.hosts.gather(now, socket);
                    continue;
                }
                together -= 1;
            }
            let (p, sack) = self.net.packets.get_mut(self.spare);
            if !socket.endpoint.poll_transmit(now, &mut p.segment, sack) {
                break;
            }
            (p.route, first_link) = (socket.route, socket.first_link);
            if Routes::is_spread(socket.route) {
                let segment = socket.endpoint.counters().segs_out as u32;
                p.route = self.net.routes.of_packet(socket.route, socket.key, segment);
                first_link = self.net.routes.link(p.route);
            }
            p.dest = socket.peer;
            p.flow = socket.number;
            p.ip_bytes = p.segment.ip_bytes();
            p.ident = socket.endpoint.counters().segs_out as u16;
            p.traits = 0;
            if p.segment.len > 0 {
                p.traits = traits::DATA;
                let end = p.segment.seq.wrapping_add(p.segment.len);
                if end.wrapping_sub(socket.highest) as i32 > 0 {
                    socket.highest = end;
                } else {
                    p.traits = traits::DATA | traits::RETRANSMISSION;
                }
            }
            if self.hosts.transmit && self.hosts.refuses(now, &mut self.net, first_link, socket, self.spare) {
                continue;
            }
            if let Some(headers) = &mut socket.headers {
                headers.attach(&socket.endpoint, &mut self.net.packets, self.spare);
            }
            self.net.send(now, first_link, self.spare);
            self.spare = self.net.packets.take();
            sent += 1;
        }
        // Where a processor lets segments wait, a deadline may have passed.
        let deadline = socket.endpoint.next_timer().max(now);
        if socket.alarm.arm(deadline) {
            self.net.events.push(Event::new(deadline, Class::Timer, socket.key, id));
        }
        sent
    }

    /// Sends one datagram, or raw frame, of `payload` bytes.
    pub fn send_datagram(
        &mut self,
        now: Time,
        flow: u32,
        route: u32,
        (number, seq, raw): (u32, u32, bool),
        payload: u64,
    ) {
        let packet = self.spare;
        let route = self.route_of_datagram(flow, route, seq);
        let (p, _) = self.net.packets.get_mut(packet);
        p.segment = elephan_tcp::Segment { seq, len: payload as u32, ..Default::default() };
        p.ident = seq as u16;
        p.route = route;
        p.dest = flow;
        p.flow = number;
        p.ip_bytes = payload as u32 + if raw { 0 } else { UDP_IP_HEADERS };
        p.traits = traits::UDP | traits::DATA | if raw { traits::RAW } else { 0 };
        let link = self.net.routes.link(route);
        let node = self.plan.links[link as usize].from;
        let swamped = self.hosts.receive && self.is_swamped(node);
        if swamped {
            self.net.injected += 1;
            self.net.drop_packet(now, link, packet, CPU_BUSY);
        } else if self.hosts.transmit && self.hosts.loses(now, &mut self.net, link, packet) {
            self.net.injected += 1;
            self.net.links[link as usize].counts.drops += 1;
            self.net.drop_packet(now, link, packet, TXQUEUE_FULL);
        } else {
            self.net.send(now, link, packet);
        }
        self.spare = self.net.packets.take();
        if self.hosts.receive && !swamped {
            self.charge_datagram(now, node);
        }
    }

    fn route_of_datagram(&self, flow: u32, route: u32, seq: u32) -> u32 {
        match &self.flows[flow as usize] {
            Some(flow) if Routes::is_spread(route) => self.net.routes.of_packet(route, flow.key, seq),
            _ => route,
        }
    }

    /// Keeps a socket in a free place.
    pub fn place(&mut self, socket: Socket) -> u32 {
        match self.free_sockets.pop() {
            Some(id) => {
                self.sockets[id as usize] = socket;
                id
            }
            None => {
                self.sockets.push(socket);
                (self.sockets.len() - 1) as u32
            }
        }
    }

    /// Ends the life of a socket; its place is used again, its stale events and packets are recognised.
    pub fn discard(&mut self, id: u32) {
        let socket = &mut self.sockets[id as usize];
        socket.number = NONE;
        socket.alarm = Alarm::default();
        self.free_sockets.push(id);
    }

    pub fn packet_hops(&self) -> u64 {
        self.net.links.iter().map(|l| l.counts.tx_packets).sum()
    }

    /// Every packet handed in was delivered, dropped or is still somewhere (design law 9).
    pub fn check_packets(&self) -> Result<(), Error> {
        let inside = self.net.inside();
        let held = self.hosts.held();
        let live = self.net.packets.live() as u64 - 1 - held;
        let (injected, delivered, dropped) = (self.net.injected, self.net.delivered, self.net.dropped);
        let duplicated = self.net.duplicated;
        if injected + duplicated == delivered + dropped + inside && live == inside {
            return Ok(());
        }
        Err(Error::Conservation(format!(
            "{injected} packets sent, {duplicated} duplicated, {delivered} delivered, {dropped} dropped, {inside} in the network, {live} in memory"
        )))
    }
}

/// How often fast recovery was entered, and how often the retransmission timer has expired.
#[inline]
fn signals(endpoint: &Endpoint) -> (u64, u64) {
    let counters = endpoint.counters();
    (counters.fast_retran, counters.timeouts + counters.subsequent_timeouts)
}

/// So many sockets and their packets stay in a second-level cache: looking ahead does not pay.
const FEW_SOCKETS: usize = 128;
/// Cache lines of a socket that a segment touches.
const SOCKET_LINES: usize = 8;
/// IP and TCP headers of a segment without options.
pub const TCP_IP_HEADERS: u32 = 40;
/// IP and UDP headers of a datagram.
pub const UDP_IP_HEADERS: u32 = 28;
