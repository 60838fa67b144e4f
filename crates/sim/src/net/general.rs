//! The general path: a port that may be paused, that shares memory or that decides at dequeue. A transmission ends with
//! an event; what follows at the same instant is a call. What need not wait goes past the queue: `straight.rs`.
//!
//! An end that nobody awaits has no event. Whoever comes to the port at the instant of that end finds the transmission over if the event
//! would have come before, and otherwise gives the end its event.

use elephan_link::{
    pause,
    queue::{self, Discipline, Item, Verdict},
};
use elephan_tcp::ECN_CE;
use elephan_units::{Span, Time};

use super::congestion_management::{WaitsFor, can_stop};
use super::failure::DOWN;
use super::link::{Flight, General, Link, Sending, Window};
use super::{NONE, Net, item, note_mark};
use crate::ids::LinkId;
use crate::packet::flags;
use crate::target::Target;

/// The reason of drops of what is larger than its link carries.
pub const MTU_EXCEEDED: &str = "mtu_exceeded";

impl General {
    /// Brings the integrals of the queue up to `now`.
    pub(super) fn integrate(&mut self, counts: &mut super::Counts, now: Time, window: Window) {
        let span = u128::from(window.overlap(self.integrated, now));
        counts.byte_ps += span * u128::from(self.bytes());
        self.packet_ps += span * u128::from(self.packets());
        self.integrated = now;
    }

    /// A packet waits from now on.
    pub(super) fn begin_wait(&mut self, item: Item, window: Window) {
        self.waiting_since_ps += u128::from(item.at.max(window.warmup).0);
    }

    /// A packet waits no more.
    pub(super) fn end_wait(&mut self, now: Time, item: Item, window: Window) {
        self.waiting_since_ps -= u128::from(item.at.max(window.warmup).0);
        self.wait_ps += u128::from(window.overlap(item.at, now));
    }
}

impl Link {
    /// The delay of a frame whose last bit has left, if it follows a trace.
    fn follow_delay(&mut self) {
        if let Some(g) = &self.general
            && let Some(delays) = &g.delays
        {
            self.delay = delays.span_at(self.busy_until) + g.latency;
        }
    }

    /// Brings the integrals of a general port up to the end of the run, with the waits of what still waits.
    pub fn close_books(&mut self, window: Window) {
        let Some(g) = &mut self.general else { return };
        g.integrate(&mut self.counts, window.end, window);
        let end = u128::from(g.packets()) * u128::from(window.end.0);
        g.wait_ps += end.saturating_sub(g.waiting_since_ps);
    }
}

impl Net {
    /// Hands a packet to a general port.
    pub(super) fn offer_general(&mut self, now: Time, link: LinkId, packet: u32) {
        if self.links[link].general.as_ref().is_some_and(|g| g.ahead.on) {
            self.precompute(now, link, packet);
        } else if !self.pass(now, link, packet) {
            self.offer_to_queue(now, link, packet);
        }
    }

    #[inline(never)]
    #[expect(clippy::too_many_lines, reason = "the steps of a packet that comes to a queue, and hot")]
    fn offer_to_queue(&mut self, now: Time, link: LinkId, packet: u32) {
        let window = self.window;
        if let Some(g) = &self.links[link].general
            && g.taps.handed != NONE
        {
            self.capture(now, g.taps.handed, packet);
        }
        let limiter = if self.management.is_some() {
            match self.waits_for(link, packet) {
                WaitsFor::Nothing => return self.offer_urgent(now, link, packet),
                WaitsFor::Limiter(place) => Some(place),
                WaitsFor::Port => None,
            }
        } else {
            None
        };
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { unreachable!("a general port") };
        let p = &self.packets[packet];
        if g.down || p.ip_bytes > g.mtu {
            let reason = if g.down { DOWN } else { MTU_EXCEEDED };
            self.refuse(now, link, packet, reason);
            return;
        }
        let item = item(&self.packets, &self.treatments, packet, l.framing.charged_bytes(p.ip_bytes), now);
        g.integrate(&mut l.counts, now, window);
        let (headed, wire) = (p.flags & flags::HEADED != 0, l.framing.wire_bytes(p.ip_bytes));
        g.queue.on_arrival(now, wire, item.priority, headed.then(|| self.packets.header(packet)));
        let (p, counted) = (&mut self.packets[packet], g.counted);
        let from = p.ingress;
        let verdict = match (limiter, &mut g.limiters) {
            (Some(place), Some(limiters)) => {
                limiters.offer(place, item, can_stop(p.flags), g.queue.limit(), &mut self.full_limiters)
            }
            _ => g.queue.enqueue(now, item, &mut self.discarded),
        };
        if !matches!(verdict, Verdict::Dropped(_)) {
            g.begin_wait(item, window);
            g.nic_hands_over(&item, p.flags, limiter);
            if let Some(watch) = &mut g.watch {
                watch.enter(item, (l.out_of != NONE).then_some(p.ingress >> 3));
            }
        }
        match verdict {
            Verdict::Accepted => {}
            Verdict::Marked => {
                p.segment.ecn = ECN_CE;
                l.counts.marks += 1;
                note_mark(&mut self.log, now, link, item.flow, item.bytes);
            }
            Verdict::Dropped(queue::TRIMMED) => self.trim(now, link, packet),
            Verdict::Dropped(reason) => {
                l.counts.drops += 1;
                let (charged, ingress) = (p.charged, p.ingress);
                self.drop_packet(now, link, packet, reason);
                self.release_memory(now, link, charged, ingress);
            }
        }
        let kept = !self.discarded.iter().any(|(lost, _)| lost.handle == packet);
        self.discard(now, link);
        if counted {
            let refused = matches!(verdict, Verdict::Dropped(_));
            self.queued(now, link, from, if refused { 0 } else { item.bytes });
        }
        if !matches!(verdict, Verdict::Dropped(_)) {
            if kept && self.management.is_some() {
                self.sample(now, link, packet, item.bytes);
            }
            self.start_if_free(now, link);
        }
        let l = &mut self.links[link];
        if let Some(g) = &l.general {
            l.counts.queue_max_bytes = l.counts.queue_max_bytes.max(g.bytes());
            l.counts.queue_max_packets = l.counts.queue_max_packets.max(g.packets());
        }
    }

    /// Takes out what the queue of `link` has just dropped.
    #[inline]
    pub(super) fn discard(&mut self, now: Time, link: LinkId) {
        if !self.discarded.is_empty() {
            self.discard_all(now, link);
        }
    }

    pub(super) fn discard_all(&mut self, now: Time, link: LinkId) {
        // Releasing memory may start a transmission, which may drop again.
        let mut discarded = std::mem::take(&mut self.discarded);
        let window = self.window;
        for &(item, _) in &discarded {
            let l = &mut self.links[link];
            let Some(g) = &mut l.general else { unreachable!("a general port") };
            g.end_wait(now, item, window);
            if let Some(watch) = &mut g.watch {
                watch.leave(now, item, (l.out_of != NONE).then_some(self.packets[item.handle].ingress >> 3), false);
            }
            self.nic_has_left(now, link, item, None);
        }
        let l = &self.links[link];
        let counted = l.general.as_ref().is_some_and(|g| g.counted);
        for (item, reason) in discarded.drain(..) {
            let p = &self.packets[item.handle];
            let (charged, ingress) = (p.charged, p.ingress);
            let trimmed = reason == queue::TRIMMED;
            if !trimmed {
                self.links[link].counts.drops += 1;
                self.drop_packet(now, link, item.handle, reason);
            }
            if counted {
                self.left_queue(now, link, ingress, item.bytes);
            }
            if trimmed {
                self.trim(now, link, item.handle);
            } else {
                self.release_memory(now, link, charged, ingress);
            }
        }
        self.discarded = discarded;
    }

    /// The transmission on `link` is over. [`Net::end_is_over`] must follow.
    pub fn end_of_transmission(&mut self, now: Time, link: LinkId) {
        self.ending = link;
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { unreachable!("a general port") };
        let sent = std::mem::replace(&mut g.sending, Sending::Nothing);
        if let Sending::Frame { charged, ingress } = sent {
            self.release_memory(now, link, charged, ingress);
        }
        // Releasing may have sent a PAUSE frame through this very port.
        self.start_if_free(now, link);
        let l = &mut self.links[link];
        if matches!(&l.general, Some(g) if g.sending == Sending::Nothing) {
            l.idle();
        }
    }

    /// All that the end of a transmission brings about has happened: other ends of this instant come later.
    #[inline]
    pub fn end_is_over(&mut self) {
        self.ending = LinkId::NONE;
    }

    /// Whether the transmission on `link`, whose end has no event yet, is still to end at this very instant: the end that happens now
    /// comes before it in the order of events.
    #[cold]
    fn ends_next(&self, now: Time, link: LinkId) -> bool {
        let end = |link| Target::End(link).at(now);
        self.ending != LinkId::NONE && end(self.ending) < end(link)
    }

    /// A scheduled wake-up of a paused or shaped port.
    pub fn wake(&mut self, now: Time, link: LinkId) {
        if let Some(g) = &mut self.links[link].general {
            if g.wake != now {
                return;
            }
            g.wake = Time::NEVER;
            // The end of a pause that a resumption has ended early.
            if g.ahead.on {
                return;
            }
        }
        self.start_if_free(now, link);
    }

    pub(super) fn start_if_free(&mut self, now: Time, link: LinkId) {
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { return };
        if g.sending != Sending::Nothing {
            if g.end_scheduled {
                return;
            }
            let end = l.busy_until;
            if end > now || end == now && self.ends_next(now, link) {
                let Some(g) = &mut self.links[link].general else { return };
                g.end_scheduled = true;
                self.events.push(Target::End(link).at(end));
                return;
            }
            self.finish_unseen(link);
        }
        self.start(now, link);
    }

    /// Sends the next frame of an idle port: MAC control first, then the queue unless paused.
    #[expect(clippy::too_many_lines, reason = "the start of a transmission is one decision, and hot")]
    fn start(&mut self, now: Time, link: LinkId) {
        let window = self.window;
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { unreachable!("a general port") };
        if g.down {
            g.control = None;
            return;
        }
        if let Some(content) = g.control.take() {
            (g.sending, g.end_scheduled) = (Sending::Control, true);
            let tap = g.taps.started;
            let wire = pause::FRAME_WIRE_BYTES;
            l.busy_until = l.sent_by(now, wire, wire);
            l.follow_delay();
            l.counts.pauses_sent += 1;
            let flight = Flight::of_control(l.arrival(l.busy_until, Span::ZERO), content);
            l.launch(link, flight, &mut self.events);
            let end = l.busy_until;
            self.events.push(Target::End(link).at(end));
            if tap != NONE {
                self.capture_pause(now, tap, link, content);
            }
            return;
        }
        if let Some(until) = g.gate.until_at(now) {
            if g.wake > until {
                g.wake = until;
                self.events.push(Target::Wake(link).at(until));
            }
            return;
        }
        g.integrate(&mut l.counts, now, window);
        if g.straight {
            return self.start_straight(now, link);
        }
        let opens = g.close_gates(now);
        let (next, urgent) = g.next(now, &mut self.discarded);
        let Some((item, marked, limiter)) = next else {
            let ready = g.ready_at(now).min(opens);
            if g.wake > ready {
                g.wake = ready;
                self.events.push(Target::Wake(link).at(ready));
            }
            self.discard(now, link);
            return;
        };
        if !urgent {
            g.end_wait(now, item, window);
            if let Some(waits) = &mut g.waits {
                waits.note(now, &item);
            }
            if g.watch.is_some() {
                self.count_held(now, link, item);
            }
        }
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { unreachable!("a general port") };
        let p = &mut self.packets[item.handle];
        if marked {
            p.segment.ecn = ECN_CE;
            l.counts.marks += 1;
            note_mark(&mut self.log, now, link, item.flow, item.bytes);
        }
        let (counted, ingress, bits) = (g.counted, p.ingress, p.flags);
        let wire = l.framing.wire_bytes(p.ip_bytes);
        if bits & flags::HEADED != 0 {
            g.queue.on_departure(wire, self.packets.header_mut(item.handle));
        }
        if bits & flags::RDMA != 0 {
            self.rdma_departs(now, link, item, limiter);
        }
        if let Some(place) = limiter {
            self.leave_limiter(now, link, place, item, wire);
        }
        self.transmit(now, link, item.handle);
        self.discard(now, link);
        if counted && !urgent {
            self.left_queue(now, link, ingress, item.bytes);
        }
    }

    /// A frame goes onto the wire, which is free.
    fn transmit(&mut self, now: Time, link: LinkId, packet: u32) {
        let window = self.window;
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { unreachable!("a general port") };
        let p = &mut self.packets[packet];
        g.sending = Sending::Frame { charged: p.charged, ingress: p.ingress };
        // The end is of interest to what waits, to some queues, and to a switch whose memory the frame holds unless it can look
        // later.
        let switch = self.switches.get_mut(l.out_of as usize);
        let awaited =
            g.minds_idle || g.has_more() || switch.is_some_and(|switch| switch.awaits_end(link, &mut g.unsettled));
        g.end_scheduled = awaited;
        let (impaired, tap, received) = (g.impair.is_some(), g.taps.started, g.taps.received != NONE);
        let wire = l.framing.wire_bytes(p.ip_bytes);
        l.busy_until = l.sent_by(now, wire, p.ip_bytes);
        l.follow_delay();
        let Some(g) = &mut l.general else { unreachable!("a general port") };
        if let Some(device) = &mut g.device {
            device.on_start(now, l.busy_until, wire);
        }
        l.counts.transmission(now, l.busy_until, wire, window);
        if l.loses(p.flags) {
            p.flags |= flags::LOST;
        }
        if received {
            p.flags |= flags::CAPTURED;
        }
        let end = l.busy_until;
        if tap != NONE {
            self.capture(now, tap, packet);
        }
        let then = self.after(packet);
        if impaired {
            self.launch_impaired(now, link, packet, then);
        } else {
            let l = &mut self.links[link];
            let arrival = l.arrival(end, Span::ZERO);
            l.launch(link, Flight::of(arrival, packet, then), &mut self.events);
        }
        if awaited {
            self.events.push(Target::End(link).at(end));
        }
    }
}
