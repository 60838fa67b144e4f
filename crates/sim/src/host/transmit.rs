//! The transmit side of hosts: each port's own queue is the qdisc and the ring of its driver (`elephan_host::transmit`).
//!
//! What waits there is refused before it enters the network: a segment goes back to its connection and was never sent, a
//! datagram is dropped. So neither path through a port knows of it; the port of such a host has no limit of its own. What RoCE
//! sends is never refused, as it goes past the qdisc in kernels, but it waits for the device, and has its place in the ring. Packets behind the limiter of a congestion management
//! (its senders stop by themselves) have their place in the ring too.

use elephan_host::transmit::Offer;
use elephan_units::Time;

use super::hosts::Hosts;
use crate::flow::Socket;
use crate::ids::LinkId;
use crate::net::{Kind, Net, Occurrence};
use crate::packet::flags;

/// The reason of a datagram's drop, and of a refused segment.
pub const TXQUEUE_FULL: &str = "txqueue_full";

impl Hosts {
    /// Whether the port of `link` has no place for `offer`.
    pub(super) fn is_full(&mut self, now: Time, net: &mut Net, link: LinkId, offer: &Offer) -> bool {
        let Some(port) = self.ports[link.index()].as_deref_mut() else { return false };
        let (_, waiting) = net.links[link].queue_at(now);
        let (qdisc, ring) = port.room.split(waiting);
        port.found = port.found.max(qdisc + ring);
        !port.room.takes(waiting, offer)
    }

    /// How many segments of a socket leave as the next burst; none if it waits for more, or has enough below it.
    #[cold]
    pub fn gather(&mut self, now: Time, net: &mut Net, socket: &mut Socket, id: u32) -> u32 {
        let port = self.ports.get_mut(socket.first_link.index()).and_then(|port| port.as_deref_mut());
        let Some(port) = port else { return 1 };
        port.room.begin_burst();
        let segments = port.room.longest_burst().map_or(1, |longest| socket.endpoint.next_burst(now, longest));
        if segments > 0 && port.small.is_some() && self.throttles(now, net, socket, (id, segments)) {
            return 0;
        }
        segments
    }

    /// Whether the host refuses the segment that the socket at `id` has just written into `packet`; then the socket knows.
    #[cold]
    pub fn refuses(
        &mut self,
        now: Time,
        net: &mut Net,
        link: LinkId,
        (socket, id): (&mut Socket, u32),
        packet: u32,
    ) -> bool {
        let p = &net.packets[packet];
        let (segment, is_new) = (p.segment, p.flags & (flags::DATA | flags::RETRANSMISSION) == flags::DATA);
        let offer = Offer { at: now, flow: socket.number, seq: segment.seq, len: segment.len };
        if !self.is_full(now, net, link, &offer) {
            self.note_frame(link, &segment, (id, socket.number));
            return false;
        }
        if let Some(port) = self.ports[link.index()].as_deref_mut() {
            port.stalls += 1;
        }
        socket.endpoint.on_local_drop(now, &segment);
        if is_new {
            // It will leave as new data.
            socket.highest = segment.seq;
        }
        if let Some(log) = &mut net.log {
            let bytes = net.links[link].framing.charged_bytes(segment.ip_bytes());
            let (flow, reason) = (socket.number, TXQUEUE_FULL);
            log.push(Occurrence { time: now, kind: Kind::SendStall, link, flow, bytes, value: None, reason });
        }
        true
    }

    /// Whether the host has no place for the datagram in `packet`.
    #[cold]
    pub fn loses(&mut self, now: Time, net: &mut Net, link: LinkId, packet: u32) -> bool {
        let p = &net.packets[packet];
        let (offer, ip_bytes) = (Offer { at: now, flow: p.flow, seq: 0, len: 0 }, p.ip_bytes);
        let full = self.is_full(now, net, link, &offer);
        if !full && let Some(small) = self.small(link) {
            small.below.push(None, ip_bytes);
        }
        full
    }
}
