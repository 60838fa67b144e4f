//! Packets of RoCE: what their ends say becomes packets, and packets become what their ends are told.

use elephan_roce::{Acknowledgement, Answer, Data, wire};
use elephan_tcp::{ECN_CE, ECN_ECT0};
use elephan_units::Time;

use super::Ends;
use crate::net;
use crate::packet::{Packet, flags, rdma};
use crate::world::World;

impl World {
    pub(super) fn roce_send_data(&mut self, now: Time, id: u32, data: Data) {
        let pair = &self.rdma.pairs[id as usize];
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
        p.flags = flags::RDMA | flags::DATA | if data.again { flags::RETRANSMISSION } else { 0 };
        if pair.telemetry {
            p.ip_bytes += wire::TELEMETRY_BYTES;
            p.flags |= flags::TELEMETRY;
            *self.net.packets.telemetry_mut(self.spare) = Default::default();
        }
        self.rdma_send(now, id, true);
    }

    /// Sends an ACK, a NAK or a CNP that answers `packet`.
    fn roce_send_answer(&mut self, now: Time, id: u32, kind: u16, (psn, got): (u32, u32), packet: u32) {
        let of = self.net.packets[packet];
        let telemetry = of.flags & flags::TELEMETRY != 0 && kind != rdma::CNP;
        let (p, _) = self.net.packets.get_mut(self.spare);
        p.segment = rdma::departing(rdma::departure(&of.segment));
        (p.segment.ack, p.segment.seq, p.segment.window) = (psn, got, kind);
        p.flags = flags::RDMA | if kind == rdma::CNP { flags::URGENT } else { 0 };
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
        self.rdma_send(now, id, false);
    }

    pub(super) fn roce_data(&mut self, now: Time, packet: u32, p: &Packet) {
        let (id, segment) = (p.dest, &p.segment);
        let Ends::Roce(ends) = &mut self.rdma.pairs[id as usize].ends else { return };
        let marked = segment.ecn == ECN_CE;
        let asks = segment.window != rdma::DATA;
        let reply = ends.1.on_data(now, segment.seq, segment.len, asks, marked);
        if reply.notify {
            self.rdma_note(now, id, net::Kind::Cnp, "");
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
            self.rdma_received(now, id);
        }
    }

    pub(super) fn roce_answer(&mut self, now: Time, packet: u32, p: &Packet) {
        let (id, segment) = (p.dest, &p.segment);
        let Ends::Roce(ends) = &mut self.rdma.pairs[id as usize].ends else { return };
        let sender = &mut ends.0;
        if segment.window == rdma::CNP {
            sender.on_notification(now);
            self.net.packets.free(packet);
            return self.rdma_arm(id);
        }
        let answer = match segment.window {
            rdma::NAK => Answer::Nak(segment.ack),
            rdma::SACK => Answer::Sack { expected: segment.ack, got: segment.seq },
            _ => Answer::Ack(segment.ack),
        };
        let telemetry = (p.flags & flags::TELEMETRY != 0).then(|| self.net.packets.telemetry(packet));
        let naks = sender.counters().naks;
        sender.on_answer(now, &Acknowledgement { answer, departure: rdma::departure(segment), telemetry });
        let gone_back = sender.counters().naks > naks;
        self.net.packets.free(packet);
        if gone_back {
            self.rdma_note(now, id, net::Kind::FastRetransmit, "nak");
        }
        self.rdma_acknowledged(now, id);
        self.rdma_go_on(now, id);
    }
}
