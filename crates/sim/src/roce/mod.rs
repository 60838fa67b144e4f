//! Flows over RoCE: both ends of each connection, the interfaces that send for them, their packets on the way and back.
//!
//! A connection has no handshake: it is there when its flow begins, and gone when all that its application had is acknowledged.
//! What an application offers at one instant is one work request. Packets come from [`Sender::poll_transmit`] when the
//! interface of their host has room at its port (`Net::nic_has_room`); connections of one priority take turns, packet by packet.

mod application;
mod pair;
mod ready;
mod rows;

use elephan_cc::{Nic, Spec};
use elephan_engine::{Alarm, Bell};
use elephan_roce::{Acknowledgement, Answer, Data, Path, Receiver, Sender, wire};
use elephan_tcp::{ECN_CE, ECN_ECT0};
use elephan_units::{Span, Time};

pub use pair::{Pair, Roce};

use crate::ids::LinkId;
use crate::net::{self, NONE, Occurrence};
use crate::packet::{Packet, flags, rdma};
use crate::target::Target;
use crate::world::World;

impl World {
    /// Headers of data (IP) of a traffic entry, with telemetry if its controller asks for it.
    pub fn roce_headers(&self, traffic: u32) -> u32 {
        let telemetry = net::asks_telemetry(&self.congestion_controls[traffic as usize]);
        wire::HEADERS_BYTES + if telemetry { wire::TELEMETRY_BYTES } else { 0 }
    }

    /// Makes the connection of a flow.
    pub fn roce_open(&mut self, id: u32) {
        let Some(flow) = &self.flows[id as usize] else { return };
        let (number, key, plan) = (flow.number, flow.key, flow.plan);
        let entry = &self.plan.traffic[flow.traffic as usize];
        let Some(options) = &entry.roce else { return };
        let congestion_control: &Spec = &self.congestion_controls[flow.traffic as usize];
        let headers = self.roce_headers(flow.traffic);
        let there = self.net.routes.of_flow(plan.from, plan.to, key).unwrap_or_default();
        let back = self.net.routes.of_flow(plan.to, plan.from, key ^ 1).unwrap_or_default();
        let link = self.net.routes.first_link(there);
        let bytes = options.mtu.0 as u32 + headers;
        let base_rtt = self.base_rtt((plan.from, plan.to), bytes, headers + wire::AETH_BYTES).unwrap_or(Span::ZERO);
        let port = &self.plan.links[link.index()];
        let cost = port.framing.cost();
        let path = Path {
            nic: Nic { rate_bps: port.rate.bps() as f64, base_rtt },
            overhead_bytes: cost.wire_bytes(bytes) - options.mtu.0 as u32,
            least_bytes: cost.wire_bytes(0),
        };
        let pair = Pair {
            sender: Sender::new(options.clone(), congestion_control, path),
            receiver: Receiver::new(options.clone()),
            alarm: Alarm::default(),
            key,
            flow: id,
            number,
            there,
            back,
            queued: false,
            telemetry: net::asks_telemetry(congestion_control),
            ecn: options.ecn,
            priority: entry.priority,
            link,
            to: plan.to,
            packets: [0; 2],
            base_rtt,
            ended: false,
        };
        let place = match self.roce.free.pop() {
            Some(place) => {
                self.roce.pairs[place as usize] = pair;
                place
            }
            None => {
                self.roce.pairs.push(pair);
                (self.roce.pairs.len() - 1) as u32
            }
        };
        if let Some(flow) = &mut self.flows[id as usize] {
            (flow.roce, flow.established) = (place, Some(flow.start));
        }
    }

    /// A timer of a connection has rung.
    pub fn roce_timer(&mut self, now: Time, id: u32) {
        let pair = &mut self.roce.pairs[id as usize];
        match pair.alarm.ring(now, pair.deadline()) {
            Bell::Stale | Bell::Off => {}
            Bell::Later(time) => {
                self.net.events.push(Target::Pair(id).keyed(time, pair.key));
            }
            Bell::Due => {
                let timeouts = pair.sender.counters().timeouts;
                pair.sender.on_timer(now);
                if pair.sender.counters().timeouts > timeouts {
                    self.roce_note(now, id, net::Kind::Timeout, "");
                }
                self.roce_go_on(now, id);
            }
        }
    }

    /// Lets a connection send what it may, or sets its timer.
    pub fn roce_go_on(&mut self, now: Time, id: u32) {
        let pair = &mut self.roce.pairs[id as usize];
        if !pair.queued && pair.sender.next_send().is_some_and(|at| at <= now) {
            pair.queued = true;
            let link = pair.link;
            self.roce.ready.at(link).push(pair.priority, id);
            self.roce_pump(now, link);
        }
        self.roce_arm(id);
    }

    fn roce_arm(&mut self, id: u32) {
        let pair = &mut self.roce.pairs[id as usize];
        let deadline = pair.deadline();
        if pair.number != NONE && pair.alarm.arm(deadline) {
            self.net.events.push(Target::Pair(id).keyed(deadline, pair.key));
        }
    }

    /// An interface hands packets to its port while there is room.
    pub fn roce_pump(&mut self, now: Time, link: LinkId) {
        for priority in self.roce.ready.at(link).priorities() {
            // Connections whose turn it is and that have to wait for their limiter.
            let mut passed = 0;
            while let Some(id) = self.roce.ready.at(link).get(priority, passed) {
                let pair = &mut self.roce.pairs[id as usize];
                if !self.net.nic_has_room(link, priority, pair.number, pair.to) {
                    if self.net.nic_is_limited(link) {
                        passed += 1;
                        continue;
                    }
                    break;
                }
                self.roce.ready.at(link).remove(priority, passed);
                pair.queued = false;
                if let Some(data) = pair.sender.poll_transmit(now) {
                    self.roce_send_data(now, id, data);
                }
                self.roce_arm(id);
            }
        }
    }

    fn roce_send_data(&mut self, now: Time, id: u32, data: Data) {
        let pair = &self.roce.pairs[id as usize];
        let kind = match data {
            Data { last: true, .. } => rdma::LAST,
            Data { asks: true, .. } => rdma::ASKING,
            _ => rdma::DATA,
        };
        let (p, _) = self.net.packets.get_mut(self.spare);
        p.segment = rdma::departing(now);
        (p.segment.seq, p.segment.len, p.segment.window) = (data.psn, data.len, kind);
        p.segment.ecn = if pair.ecn { ECN_ECT0 } else { 0 };
        p.ip_bytes = data.len + wire::HEADERS_BYTES;
        p.flags = flags::ROCE | flags::DATA | if data.again { flags::RETRANSMISSION } else { 0 };
        if pair.telemetry {
            p.ip_bytes += wire::TELEMETRY_BYTES;
            p.flags |= flags::TELEMETRY;
            *self.net.packets.telemetry_mut(self.spare) = Default::default();
        }
        self.roce_send(now, id, true);
    }

    /// Sends an ACK, a NAK or a CNP that answers `packet`.
    fn roce_send_answer(&mut self, now: Time, id: u32, kind: u16, (psn, got): (u32, u32), packet: u32) {
        let of = self.net.packets[packet];
        let telemetry = of.flags & flags::TELEMETRY != 0 && kind != rdma::CNP;
        let (p, _) = self.net.packets.get_mut(self.spare);
        p.segment = rdma::departing(rdma::departure(&of.segment));
        (p.segment.ack, p.segment.seq, p.segment.window) = (psn, got, kind);
        p.flags = flags::ROCE | if kind == rdma::CNP { flags::URGENT } else { 0 };
        p.ip_bytes = wire::HEADERS_BYTES
            + match kind {
                rdma::CNP => wire::CNP_BYTES,
                rdma::SACK => wire::AETH_BYTES + wire::SACK_BYTES,
                _ => wire::AETH_BYTES,
            };
        if telemetry {
            p.flags |= flags::TELEMETRY;
            p.ip_bytes += wire::TELEMETRY_BYTES;
            *self.net.packets.telemetry_mut(self.spare) = *self.net.packets.telemetry(packet);
        }
        self.roce_send(now, id, false);
    }

    /// Sends the packet that is prepared, from the sender if `there`, else from the receiver.
    fn roce_send(&mut self, now: Time, id: u32, there: bool) {
        let pair = &mut self.roce.pairs[id as usize];
        let sent = &mut pair.packets[usize::from(!there)];
        *sent = sent.wrapping_add(1);
        let (route, ident) = (if there { pair.there } else { pair.back }, *sent);
        let p = &mut self.net.packets[self.spare];
        (p.dest, p.flow, p.ident) = (id, pair.number, ident as u16);
        p.route = self.net.routes.of_packet(route, pair.key ^ u32::from(!there), ident);
        let link = self.net.routes.link(p.route);
        self.net.send(now, link, self.spare);
        self.spare = self.net.packets.take();
    }

    /// A packet has reached its host.
    #[inline(never)]
    pub fn deliver_roce(&mut self, now: Time, packet: u32) {
        let p: Packet = self.net.packets[packet];
        let id = p.dest;
        if self.roce.pairs[id as usize].number != p.flow {
            // The connection is gone.
            return self.net.packets.free(packet);
        }
        if p.flags & flags::DATA != 0 {
            self.roce_data(now, packet, &p);
        } else {
            self.roce_answer(now, packet, &p);
        }
    }

    fn roce_data(&mut self, now: Time, packet: u32, p: &Packet) {
        let (id, segment) = (p.dest, &p.segment);
        let pair = &mut self.roce.pairs[id as usize];
        let marked = segment.ecn == ECN_CE;
        let asks = segment.window != rdma::DATA;
        let reply = pair.receiver.on_data(now, segment.seq, segment.len, asks, marked);
        if reply.notify {
            self.roce_note(now, id, net::Kind::Cnp, "");
            self.roce_send_answer(now, id, rdma::CNP, (0, 0), packet);
        }
        match reply.answer {
            Some(Answer::Ack(psn)) => self.roce_send_answer(now, id, rdma::ACK, (psn, 0), packet),
            Some(Answer::Nak(psn)) => self.roce_send_answer(now, id, rdma::NAK, (psn, 0), packet),
            Some(Answer::Sack { expected, got }) => {
                self.roce_send_answer(now, id, rdma::SACK, (expected, got), packet);
            }
            None => {}
        }
        self.net.packets.free(packet);
        if reply.taken > 0 {
            self.roce_received(now, id);
        }
    }

    fn roce_answer(&mut self, now: Time, packet: u32, p: &Packet) {
        let (id, segment) = (p.dest, &p.segment);
        let pair = &mut self.roce.pairs[id as usize];
        if segment.window == rdma::CNP {
            pair.sender.on_notification(now);
            self.net.packets.free(packet);
            return self.roce_arm(id);
        }
        let answer = match segment.window {
            rdma::NAK => Answer::Nak(segment.ack),
            rdma::SACK => Answer::Sack { expected: segment.ack, got: segment.seq },
            _ => Answer::Ack(segment.ack),
        };
        let telemetry = (p.flags & flags::TELEMETRY != 0).then(|| self.net.packets.telemetry(packet));
        let naks = pair.sender.counters().naks;
        pair.sender.on_answer(now, &Acknowledgement { answer, departure: rdma::departure(segment), telemetry });
        let gone_back = pair.sender.counters().naks > naks;
        self.net.packets.free(packet);
        if gone_back {
            self.roce_note(now, id, net::Kind::FastRetransmit, "nak");
        }
        self.roce_acknowledged(now, id);
        self.roce_go_on(now, id);
    }

    /// Logs what has happened at an end of a connection, when somebody reads the log.
    fn roce_note(&mut self, time: Time, id: u32, kind: net::Kind, reason: &'static str) {
        let pair = &self.roce.pairs[id as usize];
        let at_receiver = kind == net::Kind::Cnp;
        let link = self.net.routes.first_link(if at_receiver { pair.back } else { pair.there });
        let flow = pair.number;
        if let Some(log) = &mut self.net.log {
            log.push(Occurrence { time, kind, link, flow, bytes: 0, value: None, reason });
        }
    }

    /// The rate of a link has changed: connections whose interface it is go by it.
    pub fn roce_line(&mut self, now: Time, link: LinkId) {
        let rate = self.net.links[link].rate.bps() as f64;
        for place in 0..self.roce.pairs.len() {
            let pair = &mut self.roce.pairs[place];
            if pair.number != NONE && pair.link == link {
                pair.sender.set_line(rate);
                self.roce_go_on(now, place as u32);
            }
        }
    }

    /// The live flows of a traffic entry go on under another controller; answers whether there is one.
    pub fn roce_switch_congestion_control(&mut self, now: Time, traffic: u32, congestion_control: &Spec) -> bool {
        let mut any = false;
        for id in 0..self.flows.len() {
            let Some(flow) = self.flows[id].as_ref().filter(|f| f.traffic == traffic && f.roce != NONE) else {
                continue;
            };
            let (place, number) = (flow.roce, flow.number);
            let pair = &mut self.roce.pairs[place as usize];
            pair.sender.switch_congestion_control(congestion_control);
            pair.telemetry = net::asks_telemetry(congestion_control);
            let link = pair.link;
            self.note_congestion_control(now, congestion_control, link, number);
            self.roce_go_on(now, place);
            any = true;
        }
        any
    }
}
