//! What a link does to packets beside losing them: it delays each by a time of its own (jitter), holds some back
//! (reordering), delivers some twice, and marks some that are ECN-capable (CE of RFC 3168).
//!
//! ```text
//! arrival = end of transmission + delay + jitter + (held back: extra)
//! ```
//!
//! Jitter that keeps the order: arrival = max(arrival, that of the packet before). With reordering, free jitter or a delay whose trace
//! says `reorder` each packet arrives at its own time; what is overtaken counts as reordered by RFC 4737 section 3.3, with the order of
//! transmission on this link for the sequence number. The second of a duplicate arrives right behind the first, takes
//! no transmission time and counts as sent by nobody. All packets are concerned, ACKs too, or those with data (`packets`), but
//! never PAUSE frames; a packet that the link loses is not duplicated. Draws: one stream for each purpose, one draw a packet
//! that is concerned, lost or not.
//!
//! Left out: correlation between draws.

use std::cmp::Reverse;

use elephan_engine::Bell;
use elephan_link::queue::is_ect;
use elephan_tcp::ECN_CE;
use elephan_units::{Span, Time};

use super::link::{Flight, Link};
use super::{Delivered, Kind, Net, Occurrence, note_mark};
use crate::ids::LinkId;
use crate::packet::flags;
use crate::target::{Target, Then};

impl Link {
    /// Packets that arrived after one that was sent later.
    pub fn reordered(&self) -> u64 {
        let impair = self.impair();
        impair.and_then(|i| i.late.as_ref()).map_or(0, |late| late.reordered)
    }
}

impl Net {
    /// Puts a packet on the wire of a link with impairments; its transmission ends at the link's `busy_until`.
    pub(super) fn launch_impaired(&mut self, now: Time, link: LinkId, packet: u32, then: Then) {
        let l = &mut self.links[link];
        let Some(impair) = l.impair_mut() else { return };
        let concerned = !impair.data_only || self.packets[packet].flags & flags::DATA != 0;
        let (extra, doubled) = if concerned { (impair.extra(), impair.is_doubled()) } else { (Span::ZERO, false) };
        let p = &mut self.packets[packet];
        if impair.is_marked(now, p.flags) && is_ect(p.segment.ecn) {
            p.segment.ecn = ECN_CE;
            l.counts.marks += 1;
            note_mark(&mut self.log, now, link, p.flow, l.framing.charged_bytes(p.ip_bytes));
        }
        let end = l.busy_until;
        self.fly(link, (end, extra), packet, then);
        if doubled && self.packets[packet].flags & flags::LOST == 0 {
            let copy = self.packets.copy(packet);
            let p = &mut self.packets[copy];
            p.flags |= flags::COPY;
            self.duplicated += 1;
            let flow = p.flow;
            self.note(now, Kind::Duplicate, link, flow, copy);
            self.fly(link, (end, extra), copy, then);
        }
    }

    /// A packet whose last bit leaves at `end`, held back for `extra`.
    fn fly(&mut self, link: LinkId, (end, extra): (Time, Span), packet: u32, then: Then) {
        let id = self.late_id(link);
        let l = &mut self.links[link];
        let in_order = Flight::of(l.arrival(end, extra), packet, then);
        let late = l.general.as_mut().and_then(|g| g.impair.as_mut()?.late.as_mut());
        let Some(late) = late else {
            l.launch(link, in_order, &mut self.events);
            return;
        };
        let arrival = end.saturating_add(l.delay).saturating_add(extra);
        late.flying.push(Reverse((arrival, late.sent, packet, then)));
        late.sent += 1;
        if late.alarm.arm(arrival) {
            self.events.push(Target::Arrival(id).at(arrival));
        }
    }

    /// Id of the arrivals over a link that does not keep the order: beyond those of links and of stages.
    fn late_id(&self, link: LinkId) -> u32 {
        2 * self.links.len() as u32 + link.0
    }

    /// A packet may be in over a link that does not keep the order.
    pub(super) fn arrive_late(&mut self, now: Time, link: LinkId) -> Option<Delivered> {
        let id = self.late_id(link);
        let l = &mut self.links[link];
        let late = l.impair_mut()?.late.as_mut()?;
        let first = late.flying.peek().map_or(Time::NEVER, |Reverse((arrival, ..))| *arrival);
        if late.alarm.ring(now, first) != Bell::Due {
            return None;
        }
        let Reverse((_, place, packet, then)) = late.flying.pop()?;
        if let Some(Reverse((next, ..))) = late.flying.peek()
            && late.alarm.arm(*next)
        {
            self.events.push(Target::Arrival(id).at(*next));
        }
        let p = &self.packets[packet];
        let overtaken = place < late.expected && p.flags & flags::COPY == 0;
        late.expected = late.expected.max(place + 1);
        if overtaken {
            late.reordered += 1;
            let flow = p.flow;
            self.note(now, Kind::Reorder, link, flow, packet);
        }
        self.take_in(now, link, packet, then)
    }

    fn note(&mut self, time: Time, kind: Kind, link: LinkId, flow: u32, packet: u32) {
        if let Some(log) = &mut self.log {
            let bytes = self.links[link].framing.charged_bytes(self.packets[packet].ip_bytes);
            log.push(Occurrence { time, kind, link, flow, bytes, value: None, reason: "" });
        }
    }
}
