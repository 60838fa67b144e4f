//! Packets of Ultra Ethernet: entropy values become paths, what ends say becomes packets, hosts grant credits.

use elephan_random::Stream;
use elephan_tcp::{ECN_CE, ECN_ECT0};
use elephan_uec::wire::Header;
use elephan_uec::{Account, Accounts, Pacer, Packet as Data};
use elephan_units::{Span, Time};

use super::{Ends, Pair};
use crate::net::{self, NONE};
use crate::packet::{Packet, flags, rdma};
use crate::target::Target;
use crate::world::World;

/// Tells the flow of an entropy value from those of others, to switches that hash.
fn mixed(key: u32, entropy: u16) -> u32 {
    key ^ u32::from(entropy).wrapping_mul(0x9E37_79B1) & !1
}

/// The accounts of receivers, by the places of their connections.
struct Lent<'a>(&'a mut [Pair]);

impl Accounts for Lent<'_> {
    fn account(&mut self, place: u32) -> Option<&mut Account> {
        match self.0.get_mut(place as usize) {
            Some(Pair { ends: Ends::Uec(ends), number, .. }) if *number != NONE => Some(ends.1.account()),
            _ => None,
        }
    }
}

impl World {
    pub(super) fn uec_send_data(&mut self, now: Time, id: u32, Data { data, len }: Data) {
        let pair = &self.rdma.pairs[id as usize];
        let (p, _) = self.net.packets.get_mut(self.spare);
        p.segment = rdma::departing(now);
        (p.segment.seq, p.segment.len, p.segment.window) = (data.psn, len, rdma::UEC);
        p.segment.ecn = if pair.ecn { ECN_ECT0 } else { 0 };
        p.ip_bytes = len + pair.headers_bytes;
        p.flags = flags::RDMA | flags::DATA | if data.again { flags::RETRANSMISSION } else { 0 };
        *self.net.packets.uec_mut(self.spare) = Header::Data(data);
        self.uec_send(now, id, true, data.entropy);
    }

    /// Sends a packet without payload, from the sender if `there`, else from the receiver.
    fn uec_send_control(&mut self, now: Time, id: u32, there: bool, header: Header) {
        let pair = &mut self.rdma.pairs[id as usize];
        let entropy = match header {
            Header::Ack(ack) => ack.entropy,
            Header::Nack(nack) => nack.entropy,
            // What belongs to no packet of data takes one path after the other.
            _ => pair.packets[usize::from(!there)] as u16,
        };
        let (p, _) = self.net.packets.get_mut(self.spare);
        p.segment = rdma::departing(now);
        p.segment.window = rdma::UEC;
        p.ip_bytes = pair.control_bytes;
        p.flags = flags::RDMA | flags::URGENT;
        *self.net.packets.uec_mut(self.spare) = header;
        self.uec_send(now, id, there, entropy);
    }

    fn uec_send(&mut self, now: Time, id: u32, there: bool, entropy: u16) {
        let pair = &mut self.rdma.pairs[id as usize];
        if let Some((place, way)) = pair.ways.of(there, entropy) {
            let (from, to, key) =
                if there { (pair.from, pair.to, pair.key) } else { (pair.to, pair.from, pair.key ^ 1) };
            let known = if there { &mut pair.there } else { &mut pair.back };
            let looked_up = || self.net.routes.of_flow(from, to, mixed(key, place)).unwrap_or(*known);
            *known = *way.get_or_insert_with(looked_up);
        }
        self.rdma_send(now, id, there);
    }

    pub(super) fn uec_deliver(&mut self, now: Time, packet: u32, p: &Packet) {
        let id = p.dest;
        let header = *self.net.packets.uec(packet);
        self.net.packets.free(packet);
        match header {
            Header::Data(_) | Header::Request(_) => self.uec_received(now, id, p, &header),
            Header::Ack(_) | Header::Nack(_) | Header::Grant(_) => self.uec_answered(now, id, &header),
        }
    }

    /// A packet has come to the receiver.
    fn uec_received(&mut self, now: Time, id: u32, p: &Packet, header: &Header) {
        let pair = &mut self.rdma.pairs[id as usize];
        let (to, framing) = (pair.to, pair.overhead_bytes);
        let Ends::Uec(ends) = &mut pair.ends else { return };
        let receiver = &mut ends.1;
        let marked = p.segment.ecn == ECN_CE;
        let (mut taken, mut answer) = (0, None);
        let (trimmed, wants) = match header {
            Header::Data(data) if p.flags & flags::TRIMMED != 0 => {
                answer = Some(receiver.on_trimmed(data, marked));
                (Some(data.at_last_hop), data.wants)
            }
            Header::Data(data) => {
                let len = p.segment.len;
                let reply = receiver.on_data(data, (len, (len + framing).max(pair.least_bytes)), marked);
                (taken, answer) = (reply.taken, reply.answer);
                (None, data.wants)
            }
            Header::Request(wants) => (None, *wants),
            _ => return,
        };
        let needed = trimmed.is_some() || matches!(header, Header::Request(_));
        if let Some(pacer) = self.rdma.pacers.get_mut(&to) {
            let before = pacer.due();
            pacer.on_met(now, marked, trimmed);
            pacer.on_packet(now, id, receiver.account(), wants, needed);
            if let Some(due) = pacer.due().filter(|due| before.is_none_or(|before| *due < before)) {
                self.net.events.push(Target::Grants(to).keyed(due, to));
            }
        }
        if let Some(answer) = answer {
            self.uec_send_control(now, id, false, answer);
        }
        if taken > 0 {
            self.rdma_received(now, id);
        }
    }

    /// A packet has come to the sender.
    fn uec_answered(&mut self, now: Time, id: u32, header: &Header) {
        let Ends::Uec(ends) = &mut self.rdma.pairs[id as usize].ends else { return };
        let sender = &mut ends.0;
        match header {
            Header::Ack(ack) => {
                sender.on_ack(now, ack);
                self.rdma_acknowledged(now, id);
            }
            Header::Nack(nack) => {
                sender.on_nack(now, nack);
                self.rdma_note(now, id, net::Kind::FastRetransmit, "nak");
            }
            Header::Grant(total) => sender.on_grant(*total),
            Header::Data(_) | Header::Request(_) => return,
        }
        self.rdma_go_on(now, id);
    }

    /// A timer of the sender has rung: it may have to ask for credit.
    pub(super) fn uec_request(&mut self, now: Time, id: u32) {
        let pair = &mut self.rdma.pairs[id as usize];
        let rivals = self.rdma.ready.at(pair.link).len() + usize::from(!pair.queued);
        let Ends::Uec(ends) = &mut pair.ends else { return };
        if let Some(wants) = ends.0.poll_request(now, rivals) {
            self.uec_send_control(now, id, true, Header::Request(wants));
        }
    }

    /// A host grants credit.
    pub fn uec_grant(&mut self, now: Time, host: u32) {
        let Some(pacer) = self.rdma.pacers.get_mut(&host) else { return };
        if pacer.due().is_none_or(|due| due > now) {
            return;
        }
        let pairs = &mut self.rdma.pairs;
        let grant = pacer.grant(now, &mut Lent(pairs));
        if let Some(due) = pacer.due() {
            self.net.events.push(Target::Grants(host).keyed(due, host));
        }
        if let Some(grant) = grant {
            self.uec_send_control(now, grant.to, false, Header::Grant(grant.total));
        }
    }

    /// Who shares the credits of a host, if its connections use them.
    pub(super) fn uec_pacer(&mut self, options: &elephan_uec::Options, host: u32, base_rtt: Span) {
        if options.credits {
            let line_bps =
                self.plan.links.iter().find(|link| link.to == host).map_or(1.0, |link| link.rate.bps() as f64);
            let name = &self.plan.nodes[host as usize].name;
            let stream = Stream::new(self.plan.seed, &format!("host.{name}"), "grants");
            self.rdma.pacers.entry(host).or_insert_with(|| Pacer::new(options, line_bps, base_rtt, stream));
        }
    }
}
