//! Flows over RDMA (RoCE, Ultra Ethernet): both ends of each connection, the interfaces that send for them, their packets on the way and
//! back.
//!
//! A connection has no handshake: it is there when its flow begins, and gone when all that its application had is acknowledged.
//! What an application offers at one instant is one work request. Packets come from the sender's `poll_transmit` when the
//! interface of their host has room at its port (`Net::nic_has_room`); connections of one priority take turns, packet by packet.

mod application;
mod ends;
mod pair;
mod ready;
mod roce;
mod rows;
mod uec;
mod ways;

use elephan_cc::{Nic, Spec};
use elephan_engine::{Alarm, Bell};
use elephan_roce::Path;
use elephan_scenario::Rdma as Transport;
use elephan_units::{Span, Time};

pub use ends::Ends;
pub use pair::{Pair, Rdma};

use crate::ids::LinkId;
use crate::net::{self, NONE, Occurrence};
use crate::packet::{Packet, flags};
use crate::target::Target;
use crate::world::World;

impl World {
    /// Headers of data (IP) of a traffic entry, with telemetry if its controller asks for it.
    pub fn rdma_headers(&self, traffic: u32) -> u32 {
        let congestion_control = &self.congestion_controls[traffic as usize];
        let rdma = self.plan.traffic[traffic as usize].rdma.as_ref();
        rdma.map_or(0, |rdma| rdma.headers_bytes(congestion_control))
    }

    /// Makes the connection of a flow.
    pub fn rdma_open(&mut self, id: u32) {
        let Some(flow) = &self.flows[id as usize] else { return };
        let (number, key, plan) = (flow.number, flow.key, flow.plan);
        let entry = &self.plan.traffic[flow.traffic as usize];
        let Some(transport) = &entry.rdma else { return };
        let congestion_control: &Spec = &self.congestion_controls[flow.traffic as usize];
        let headers = self.rdma_headers(flow.traffic);
        let there = self.net.routes.of_flow(plan.from, plan.to, key).unwrap_or_default();
        let back = self.net.routes.of_flow(plan.to, plan.from, key ^ 1).unwrap_or_default();
        let link = self.net.routes.first_link(there);
        let mtu = transport.mtu_bytes() as u32;
        let bytes = mtu + headers;
        let answer = transport.answer_bytes(congestion_control);
        let base_rtt = self.base_rtt((plan.from, plan.to), bytes, answer).unwrap_or(Span::ZERO);
        let port = &self.plan.links[link.index()];
        let cost = port.framing.cost();
        let path = Path {
            nic: Nic { rate_bps: port.rate.bps() as f64, base_rtt },
            overhead_bytes: cost.wire_bytes(bytes) - mtu,
            least_bytes: cost.wire_bytes(0),
        };
        let (ends, ways) = Ends::new(transport, congestion_control, path, (self.plan.seed, number));
        let credits = if let Transport::Uec(options) = transport { Some(options.clone()) } else { None };
        let pair = Pair {
            ends,
            ways,
            alarm: Alarm::default(),
            key,
            flow: id,
            number,
            there,
            back,
            queued: false,
            telemetry: net::asks_telemetry(congestion_control),
            ecn: transport.ecn(),
            headers_bytes: headers,
            control_bytes: answer,
            overhead_bytes: path.overhead_bytes,
            least_bytes: path.least_bytes,
            priority: entry.priority,
            link,
            from: plan.from,
            to: plan.to,
            packets: [0; 2],
            base_rtt,
            ended: false,
        };
        let place = match self.rdma.free.pop() {
            Some(place) => {
                self.rdma.pairs[place as usize] = pair;
                place
            }
            None => {
                self.rdma.pairs.push(pair);
                (self.rdma.pairs.len() - 1) as u32
            }
        };
        if let Some(flow) = &mut self.flows[id as usize] {
            (flow.rdma, flow.established) = (place, Some(flow.start));
        }
        if let Some(options) = credits {
            self.uec_pacer(&options, plan.to, base_rtt);
        }
    }

    /// A timer of a connection has rung.
    pub fn rdma_timer(&mut self, now: Time, id: u32) {
        let pair = &mut self.rdma.pairs[id as usize];
        match pair.alarm.ring(now, pair.deadline()) {
            Bell::Stale | Bell::Off => {}
            Bell::Later(time) => {
                self.net.events.push(Target::Pair(id).keyed(time, pair.key));
            }
            Bell::Due => {
                let timeouts = pair.ends.counters().timeouts;
                pair.ends.on_timer(now);
                if pair.ends.counters().timeouts > timeouts {
                    self.rdma_note(now, id, net::Kind::Timeout, "");
                    self.uec_request(now, id);
                }
                self.rdma_go_on(now, id);
            }
        }
    }

    /// Lets a connection send what it may, or sets its timer.
    pub fn rdma_go_on(&mut self, now: Time, id: u32) {
        let pair = &mut self.rdma.pairs[id as usize];
        if !pair.queued && pair.ends.next_send().is_some_and(|at| at <= now) {
            pair.queued = true;
            let link = pair.link;
            self.rdma.ready.at(link).push(pair.priority, id);
            self.rdma_pump(now, link);
        }
        self.rdma_arm(id);
    }

    fn rdma_arm(&mut self, id: u32) {
        let pair = &mut self.rdma.pairs[id as usize];
        let deadline = pair.deadline();
        if pair.number != NONE && pair.alarm.arm(deadline) {
            self.net.events.push(Target::Pair(id).keyed(deadline, pair.key));
        }
    }

    /// An interface hands packets to its port while there is room.
    pub fn rdma_pump(&mut self, now: Time, link: LinkId) {
        for priority in self.rdma.ready.at(link).priorities() {
            // Connections whose turn it is and that have to wait for their limiter.
            let mut passed = 0;
            while let Some(id) = self.rdma.ready.at(link).get(priority, passed) {
                let pair = &mut self.rdma.pairs[id as usize];
                if !self.net.nic_has_room(link, priority, pair.number, pair.to) {
                    if self.net.nic_is_limited(link) {
                        passed += 1;
                        continue;
                    }
                    break;
                }
                self.rdma.ready.at(link).remove(priority, passed);
                pair.queued = false;
                match &mut pair.ends {
                    Ends::Roce(ends) => {
                        if let Some(data) = ends.0.poll_transmit(now) {
                            self.roce_send_data(now, id, data);
                        }
                    }
                    Ends::Uec(ends) => {
                        let rivals = self.rdma.ready.at(link).len() + 1;
                        if let Some(packet) = ends.0.poll_transmit(now, rivals) {
                            self.uec_send_data(now, id, packet);
                        }
                    }
                }
                self.rdma_arm(id);
            }
        }
    }

    /// Sends the packet that is prepared, from the sender if `there`, else from the receiver.
    fn rdma_send(&mut self, now: Time, id: u32, there: bool) {
        let pair = &mut self.rdma.pairs[id as usize];
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
    pub fn deliver_rdma(&mut self, now: Time, packet: u32) {
        let p: Packet = self.net.packets[packet];
        let id = p.dest;
        if self.rdma.pairs[id as usize].number != p.flow {
            // The connection is gone.
            return self.net.packets.free(packet);
        }
        if p.is_uec() {
            self.uec_deliver(now, packet, &p);
        } else if p.flags & flags::DATA != 0 {
            self.roce_data(now, packet, &p);
        } else {
            self.roce_answer(now, packet, &p);
        }
    }

    /// Logs what has happened at an end of a connection, when somebody reads the log.
    fn rdma_note(&mut self, time: Time, id: u32, kind: net::Kind, reason: &'static str) {
        let pair = &self.rdma.pairs[id as usize];
        let at_receiver = kind == net::Kind::Cnp;
        let link = self.net.routes.first_link(if at_receiver { pair.back } else { pair.there });
        let flow = pair.number;
        if let Some(log) = &mut self.net.log {
            log.push(Occurrence { time, kind, link, flow, bytes: 0, value: None, reason });
        }
    }

    /// The rate of a link has changed: connections whose interface it is go by it.
    pub fn rdma_line(&mut self, now: Time, link: LinkId) {
        let rate = self.net.links[link].rate.bps() as f64;
        for place in 0..self.rdma.pairs.len() {
            let pair = &mut self.rdma.pairs[place];
            if pair.number != NONE && pair.link == link {
                pair.ends.set_line(rate);
                self.rdma_go_on(now, place as u32);
            }
        }
    }

    /// The live flows of a traffic entry go on under another controller; answers whether there is one.
    pub fn rdma_switch_congestion_control(&mut self, now: Time, traffic: u32, congestion_control: &Spec) -> bool {
        let mut any = false;
        for id in 0..self.flows.len() {
            let Some(flow) = self.flows[id].as_ref().filter(|f| f.traffic == traffic && f.rdma != NONE) else {
                continue;
            };
            let (place, number) = (flow.rdma, flow.number);
            let pair = &mut self.rdma.pairs[place as usize];
            pair.ends.switch_congestion_control(congestion_control);
            pair.telemetry = net::asks_telemetry(congestion_control);
            let link = pair.link;
            self.note_congestion_control(now, congestion_control, link, number);
            self.rdma_go_on(now, place);
            any = true;
        }
        any
    }
}
