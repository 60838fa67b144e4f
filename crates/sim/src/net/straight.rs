//! Past the queue of a general port: frames that need not wait, ports where nothing but a FIFO looks at frames, and transmissions
//! that are over before anybody looks.

use elephan_link::queue::Discipline;
use elephan_units::{Span, Time};

use super::link::{Flight, General, Sending};
use super::{NONE, Net};
use crate::ids::LinkId;
use crate::packet::flags;
use crate::target::Target;

impl General {
    /// Whether nothing is in the way of a frame that comes to an open port, but for what is on the wire and the queue's own rules.
    #[inline(always)]
    fn is_clear(&self, now: Time) -> bool {
        self.queue.packets() == 0
            && !self.down
            && self.control.is_none()
            && self.gate.until_at(now).is_none()
            && self.watch.as_ref().is_none_or(|watch| watch.is_quiet())
    }
}

impl Net {
    /// Sends a frame that need not wait: nothing is on the wire or waits, nobody has paused the port, its queue lets it pass, and
    /// nothing else looks at frames that do not wait. False if it is not so.
    #[inline(always)]
    pub(super) fn pass(&mut self, now: Time, link: LinkId, packet: u32) -> bool {
        let l = &self.links[link];
        let Some(g) = &l.general else { return false };
        if !g.open || !g.is_clear(now) || g.end_scheduled || l.busy_until > now {
            return false;
        }
        if !g.straight && !self.lets_pass(now, link, packet) {
            return false;
        }
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { return false };
        if let Sending::Frame { charged, ingress } = g.sending
            && let Some(switch) = self.switches.get_mut(l.out_of as usize)
        {
            switch.release(ingress, g.port, charged, &mut self.scratch);
        }
        l.tx.idle();
        self.transmit_straight(now, link, packet, false);
        true
    }

    /// Whether the queue of an open port, where nothing waits, lets a frame pass.
    fn lets_pass(&mut self, now: Time, link: LinkId, packet: u32) -> bool {
        let priority = self.priority(packet);
        let (p, l) = (&self.packets[packet], &mut self.links[link]);
        let Some(g) = &mut l.general else { return false };
        g.close_gates(now);
        p.flags & flags::HEADED == 0 && g.queue.pass(priority, l.framing.charged_bytes(p.ip_bytes))
    }

    /// A frame goes onto the wire of an open port, which is free; whether `more` wait.
    #[inline(always)]
    fn transmit_straight(&mut self, now: Time, link: LinkId, packet: u32, more: bool) {
        let Net { links, switches, packets, routes, events, window, .. } = self;
        let l = &mut links[link];
        let Some(g) = &mut l.general else { return };
        let p = &mut packets[packet];
        g.sending = Sending::Frame { charged: p.charged, ingress: p.ingress };
        let switch = switches.get_mut(l.out_of as usize);
        let awaited = more || switch.is_some_and(|switch| switch.awaits_end(link, &mut g.unsettled));
        g.end_scheduled = awaited;
        g.ahead.on = !awaited && g.may_precompute(now);
        let steady = g.steady;
        let wire = l.framing.wire_bytes(p.ip_bytes);
        let end = now + l.tx.send(wire);
        l.busy_until = end;
        l.counts.transmission(now, end, wire, *window);
        if l.loses(p.flags) {
            p.flags |= flags::LOST;
        }
        let then = routes.place(p.route + 1).then(p.dest);
        let arrival = if steady { end.saturating_add(l.delay) } else { l.arrival(end, Span::ZERO) };
        l.launch(link, Flight::of(arrival, packet, then), events);
        if awaited {
            events.push(Target::End(link).at(end));
        }
    }

    /// Sends the next frame that waits at a straight port.
    #[inline]
    pub(super) fn start_straight(&mut self, now: Time, link: LinkId) {
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { return };
        let Some((item, marked)) = g.queue.dequeue(now, &mut self.discarded) else { return };
        g.end_wait(now, item, self.window);
        let more = g.queue.packets() > 0;
        debug_assert!(!marked && self.discarded.is_empty(), "a FIFO decides when a frame comes");
        if let Some(watch) = &mut g.watch {
            // As a rule nothing is closed: then nothing was held, and no route is looked up.
            if watch.is_quiet() {
                let ingress = (l.out_of != NONE).then_some(self.packets[item.handle].ingress >> 3);
                watch.leave_quietly(item, ingress, true);
            } else {
                self.count_held(now, link, item);
            }
        }
        self.transmit_straight(now, link, item.handle, more);
    }

    /// The transmission on `link` was over before anybody waited for its end. Where that holds memory, nobody is paused.
    #[inline]
    pub(super) fn finish_unseen(&mut self, link: LinkId) {
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { return };
        let (sent, port) = (std::mem::replace(&mut g.sending, Sending::Nothing), g.port);
        l.idle();
        if let Sending::Frame { charged, ingress } = sent
            && let Some(switch) = self.switches.get_mut(l.out_of as usize)
        {
            switch.release(ingress, port, charged, &mut self.scratch);
        }
    }
}
