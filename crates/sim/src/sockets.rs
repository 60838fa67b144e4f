//! Sockets in the world: a packet reaches one, its timer rings, it sends what it may; datagrams, which have none.

use elephan_engine::{Alarm, Bell};
use elephan_tcp::{Endpoint, IpVersion, Segment};
use elephan_traffic::Spec as _;
use elephan_units::Time;

use crate::flow::Socket;
use crate::host::{CPU_BUSY, TXQUEUE_FULL};
use crate::limits::stopped;
use crate::net::{self, NONE};
use crate::packet::{flags, rdma};
use crate::target::{Route, Target};
use crate::world::World;

impl World {
    /// A packet has reached its host.
    #[inline(always)]
    pub fn deliver(&mut self, now: Time, packet: u32) {
        let (p, sack) = self.net.packets.get(packet);
        let (dest, number) = (p.dest, p.flow);
        if p.flags & (flags::UDP | flags::NOTIFICATION | flags::RDMA) != 0 {
            if p.flags & flags::NOTIFICATION != 0 {
                return self.net.take_notification(now, packet);
            }
            if p.flags & flags::RDMA != 0 {
                return self.deliver_rdma(now, packet);
            }
            let (bytes, seq) = (u64::from(p.segment.len), p.segment.seq);
            let delay = now.since(rdma::departure(&p.segment));
            let first = p.flags & flags::COPY == 0;
            self.net.packets.free(packet);
            self.datagram_arrived(now, dest, number, bytes, (seq, first, delay));
            return;
        }
        let socket = &mut self.sockets[dest as usize];
        if socket.number != number {
            return self.stray(now, packet);
        }
        if p.flags & (flags::HEADED | flags::STAMPED) != 0
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
    pub fn ring(&mut self, now: Time, id: u32) {
        let socket = &mut self.sockets[id as usize];
        match socket.alarm.ring(now, socket.endpoint.next_timer()) {
            Bell::Stale | Bell::Off => {}
            Bell::Later(time) => {
                self.net.events.push(Target::Socket(id).keyed(time, socket.key));
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
            if self.hosts.gathers {
                if together == 0 {
                    together = self.hosts.gather(now, &mut self.net, socket, id);
                    continue;
                }
                together -= 1;
            }
            let (p, sack) = self.net.packets.get_mut(self.spare);
            if !socket.endpoint.poll_transmit(now, &mut p.segment, sack) {
                break;
            }
            (p.route, first_link) = (socket.route.place(), socket.first_link);
            if socket.route.is_spread() {
                let segment = socket.endpoint.counters().segs_out as u32;
                p.route = self.net.routes.of_packet(socket.route, socket.key, segment);
                first_link = self.net.routes.link(p.route);
            }
            p.dest = socket.peer;
            p.flow = socket.number;
            p.ip_bytes = p.segment.ip_bytes();
            p.ident = socket.endpoint.counters().segs_out as u16;
            p.flags = 0;
            if p.segment.len > 0 {
                p.flags = flags::DATA;
                let end = p.segment.seq.wrapping_add(p.segment.len);
                if end.wrapping_sub(socket.highest) as i32 > 0 {
                    socket.highest = end;
                } else {
                    p.flags = flags::DATA | flags::RETRANSMISSION;
                }
            }
            if self.hosts.transmit && self.hosts.refuses(now, &mut self.net, first_link, (socket, id), self.spare) {
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
            self.net.events.push(Target::Socket(id).keyed(deadline, socket.key));
        }
        sent
    }

    /// Sends one datagram, or raw frame, of `payload` bytes.
    pub fn send_datagram(
        &mut self,
        now: Time,
        flow: u32,
        route: Route,
        (number, seq, raw): (u32, u32, bool),
        payload: u64,
    ) {
        debug_assert!(self.flows[flow as usize].as_ref().is_none_or(|own| {
            let carrier = self.plan.traffic[own.traffic as usize].kind.carrier();
            carrier.packet_bytes().zip(carrier.headers_bytes()).is_none_or(|(most, headers)| payload + headers <= most)
        }));
        let packet = self.spare;
        let route = self.route_of_datagram(flow, route, seq);
        let ip =
            self.flows[flow as usize].as_ref().map_or(IpVersion::V4, |own| self.plan.traffic[own.traffic as usize].ip);
        let (p, _) = self.net.packets.get_mut(packet);
        p.segment = Segment { seq, len: payload as u32, options: ip.bits(), ..rdma::departing(now) };
        p.ident = seq as u16;
        p.route = route;
        p.dest = flow;
        p.flow = number;
        p.ip_bytes = payload as u32 + if raw { 0 } else { ip.udp_headers_bytes() };
        p.flags = flags::UDP | flags::DATA | if raw { flags::RAW } else { 0 };
        let link = self.net.routes.link(route);
        let node = self.plan.links[link.index()].from;
        let swamped = self.hosts.receive && self.is_swamped(node);
        if swamped {
            self.net.injected += 1;
            self.net.drop_packet(now, link, packet, CPU_BUSY);
        } else if self.hosts.transmit && self.hosts.loses(now, &mut self.net, link, packet) {
            self.net.injected += 1;
            self.net.links[link].counts.drops += 1;
            self.net.drop_packet(now, link, packet, TXQUEUE_FULL);
        } else {
            self.net.send(now, link, packet);
        }
        self.spare = self.net.packets.take();
        if self.hosts.receive && !swamped {
            self.charge_datagram(now, node);
        }
    }

    fn route_of_datagram(&self, flow: u32, route: Route, seq: u32) -> u32 {
        match &self.flows[flow as usize] {
            Some(flow) => self.net.routes.of_packet(route, flow.key, seq),
            None => route.place(),
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
}

/// How often fast recovery was entered, and how often the retransmission timer has expired.
#[inline]
fn signals(endpoint: &Endpoint) -> (u64, u64) {
    let counters = endpoint.counters();
    (counters.fast_retran, counters.timeouts + counters.subsequent_timeouts)
}
