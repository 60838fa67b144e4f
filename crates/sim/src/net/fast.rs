//! The fast path: a drop-tail FIFO whose departures follow from arithmetic at arrival.
//!
//! `start = max(now, end of the last transmission)`, `arrival = start + transmission + propagation`. The waiting bytes at
//! an instant are those whose start is later.

use elephan_engine::Lanes;
use elephan_link::queue::is_ect;
use elephan_tcp::ECN_CE;
use elephan_units::{Span, Time};

use super::failure::DOWN;
use super::lanes::NO_LANE;
use super::link::{Flight, Link, Onward, Waiting, Window};
use super::{Delivered, Net, note_mark};
use crate::ids::LinkId;
use crate::packet::{Packet, flags};
use crate::target::{Target, Then};

impl Net {
    /// Hands a packet to the port of `link` and of every link fused to it.
    #[inline(never)]
    pub(super) fn offer(&mut self, now: Time, link: LinkId, packet: u32) {
        if self.links[link].general.is_some() {
            self.offer_general(now, link, packet);
        } else if self.has_lanes {
            self.offer_fast::<true>(now, link, packet, LinkId::NONE);
        } else {
            self.offer_fast::<false>(now, link, packet, LinkId::NONE);
        }
    }

    /// The same to a fast port; `HAS_LANES` if links may have lanes. `ahead_over` is the link over which the packet comes ahead of the
    /// clock, [`LinkId::NONE`] if its time is now. Answers whether all these ports have room for it.
    #[inline(always)]
    pub(super) fn offer_fast<const HAS_LANES: bool>(
        &mut self,
        mut now: Time,
        mut link: LinkId,
        packet: u32,
        mut ahead_over: LinkId,
    ) -> bool {
        let Net { links, routes, packets, events, lanes, log, window, .. } = self;
        let p = &mut packets[packet];
        loop {
            let l = &mut links[link];
            // What few links have costs the others one look.
            let taken = if l.own.is_none() { l.take::<false>(now, p, *window) } else { l.take_own(now, p, *window) };
            let Some(Taken { arrival, marked, lost }) = taken else { break };
            if marked {
                p.segment.ecn = ECN_CE;
                l.counts.marks += 1;
                note_mark(log, now, link, p.flow, l.framing.charged_bytes(p.ip_bytes));
            }
            let next = routes.place(p.route + 1);
            if lost {
                p.flags |= flags::LOST;
            } else if let Some(next) = next.fused() {
                p.route += 1;
                (ahead_over, link, now) = (link, next, arrival);
                continue;
            }
            let then = next.then(p.dest);
            if HAS_LANES && l.lane != NO_LANE {
                launch_in_lane(lanes, l.lane, link, arrival, packet, then);
            } else {
                l.launch(link, Flight::of(arrival, packet, then), events);
            }
            return true;
        }
        if ahead_over == LinkId::NONE {
            self.drop_full(now, link, packet);
        } else {
            self.drop_later(now, ahead_over, link, packet);
        }
        false
    }

    /// The queue of `link` is full.
    fn drop_full(&mut self, now: Time, link: LinkId, packet: u32) {
        self.links[link].counts.drops += 1;
        self.drop_packet(now, link, packet, "queue_full");
    }

    /// The queue of `link` will be full when the packet comes over `before`, ahead of the clock: it is dropped then.
    #[cold]
    fn drop_later(&mut self, arrival: Time, before: LinkId, link: LinkId, packet: u32) {
        self.packets[packet].flags |= flags::REFUSED;
        let then = Then::link(link);
        let l = &mut self.links[before];
        if l.lane == NO_LANE {
            l.launch(before, Flight::of(arrival, packet, then), &mut self.events);
        } else {
            launch_in_lane(&mut self.lanes, l.lane, before, arrival, packet, then);
        }
    }

    /// A packet marked for something arrives: the link lost it, or the port `then` has no room for it, or its host
    /// captures it, which ends its route.
    #[cold]
    pub(super) fn arrive_marked(&mut self, now: Time, link: LinkId, then: Then, packet: u32) -> Option<Delivered> {
        let marks = self.packets[packet].flags;
        if marks & flags::LOST != 0 {
            self.links[link].counts.lost += 1;
            self.drop_packet(now, link, packet, if marks & flags::CUT == 0 { "link_loss" } else { DOWN });
        } else if marks & flags::REFUSED != 0 {
            let (_, full) = then.split();
            self.drop_full(now, LinkId(full), packet);
        } else {
            self.capture_received(now, link, packet);
            self.delivered += 1;
            return Some(packet);
        }
        None
    }
}

/// Puts a frame on the wire of a link that has a lane.
#[inline(always)]
fn launch_in_lane(lanes: &mut Lanes<Onward>, lane: u8, link: LinkId, arrival: Time, packet: u32, then: Then) {
    lanes.push(usize::from(lane), Target::Arrival(link.0).at(arrival), Onward { packet, then });
}

/// A packet that a fast port has room for: when its last bit is in at the far end, and what became of it.
struct Taken {
    arrival: Time,
    marked: bool,
    lost: bool,
}

impl Link {
    /// Sends a packet when those before it have left; nothing if it must be dropped. `OWN` if the link has something of its own.
    #[inline(always)]
    fn take<const OWN: bool>(&mut self, now: Time, packet: &Packet, window: Window) -> Option<Taken> {
        let wire = self.framing.wire_bytes(packet.ip_bytes);
        let (start, marked) = if self.busy_until > now {
            let charged = self.framing.charged_bytes(packet.ip_bytes);
            self.wait(now, wire, charged, is_ect(packet.segment.ecn), window)?
        } else {
            if OWN {
                self.idle();
            } else {
                self.tx.idle();
            }
            (now, false)
        };
        // A queue of centuries saturates at "never".
        let end =
            if OWN { self.sent_by(start, wire, packet.ip_bytes) } else { start.saturating_add(self.tx.send(wire)) };
        self.busy_until = end;
        self.counts.transmission(start, end, wire, window);
        let lost = OWN && self.loses(packet.flags);
        Some(Taken { arrival: end.saturating_add(self.delay), marked, lost })
    }

    #[inline(never)]
    fn take_own(&mut self, now: Time, packet: &Packet, window: Window) -> Option<Taken> {
        self.take::<true>(now, packet, window)
    }

    /// Lets a packet wait for the transmissions before it; answers its start and whether it is to be marked, which it can be
    /// if `ect`, or nothing if it must be dropped.
    #[inline(always)]
    fn wait(&mut self, now: Time, wire: u32, charged: u32, ect: bool, window: Window) -> Option<(Time, bool)> {
        let start = self.busy_until;
        self.advance(now);
        let packets = self.waiting.len() as u64;
        if !self.limit.admits(self.waiting_charged, packets, charged) {
            return None;
        }
        let marked = ect && self.mark_above.is_exceeded(self.waiting_charged, packets);
        // The fault that the fuzz must find (docs/fuzz.md): a packet behind exactly four others starts a nanosecond late.
        let start = if cfg!(feature = "planted") && packets == 4 { start + Span::from_ns(1) } else { start };
        let counted = if start <= window.end { wire } else { 0 };
        self.waiting.push_back(Waiting { start, charged, wire: counted });
        self.waiting_charged += u64::from(charged);
        self.waiting_wire += u64::from(counted);
        if now <= window.end {
            self.counts.queue_max_bytes = self.counts.queue_max_bytes.max(self.waiting_charged);
            self.counts.queue_max_packets = self.counts.queue_max_packets.max(packets + 1);
            let wait = window.overlap(now, start);
            self.counts.byte_ps += u128::from(wait) * u128::from(charged);
        }
        Some((start, marked))
    }

    /// Whether the link's own loss process takes the packet just sent.
    #[inline]
    pub(super) fn loses(&mut self, bits: u16) -> bool {
        let Some(losses) = self.own.as_mut().and_then(|own| own.losses.as_mut()) else { return false };
        losses.strikes(self.busy_until, bits & flags::DATA != 0, bits & flags::RETRANSMISSION != 0)
    }
}
