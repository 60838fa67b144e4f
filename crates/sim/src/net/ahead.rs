//! A port that may be paused, as long as nobody does it: its FIFO is computed in advance as that of a fast port, no end of a
//! transmission has an event, and the memory that frames hold is released when somebody looks.
//!
//! `start = end of the last transmission`; a frame waits while its start is later. When a PAUSE comes to the port, or the memory of its
//! switch may be full or have to pause, the frames that have not started are taken back into the queue, with all that has been counted
//! for them, and the port goes on by events until nothing is on its wire or waits.
//!
//! While a port is `on` its gate is open and nothing is to shut it, nothing that a pause interval has held waits, and no control frame is to go out;
//! if its switch has a memory, that pauses nobody and has the port among its `unsettled`.

use elephan_link::queue::{Discipline, Queue, Verdict, is_ect};
use elephan_tcp::ECN_CE;
use elephan_units::Time;

use super::link::{Flight, General, Link, Sending};
use super::port::ahead::Precomputed;
use super::switch::Switch;
use super::{NONE, Net, item, note_mark};
use crate::ids::LinkId;
use crate::target::Target;

impl General {
    /// Whether nothing is to stop what comes to the port from now on: a PAUSE in its response time is.
    #[inline(always)]
    pub(super) fn may_precompute(&self, now: Time) -> bool {
        let may = self.ahead.able && self.gate.window().1 <= now;
        debug_assert!(!may || self.control.is_none() && self.watch.as_ref().is_none_or(|watch| watch.is_quiet()));
        may
    }

    /// Forgets the frames whose transmission has started by `now`, and releases what those before them have held.
    #[inline(always)]
    fn catch_up(&mut self, now: Time, mut switch: Option<&mut Switch>, scratch: &mut Vec<u32>) {
        while let Some(first) = self.ahead.waiting.front() {
            if first.start > now {
                break;
            }
            self.ahead.waiting.pop_front();
            self.ahead.bytes -= u64::from(first.bytes);
            self.ahead.wire -= u64::from(first.wire);
            let next = Sending::Frame { charged: first.charged, ingress: first.ingress };
            let over = std::mem::replace(&mut self.sending, next);
            if let (Sending::Frame { charged, ingress }, Some(switch)) = (over, switch.as_deref_mut()) {
                switch.release(ingress, self.port, charged, scratch);
            }
        }
    }
}

impl Link {
    /// What frames of a general port hold of a memory whose transmission is over by `now`, and that is released later.
    pub fn unreleased(&self, now: Time) -> u64 {
        let Some(g) = &self.general else { return 0 };
        let mut held = 0;
        let mut sending = match g.sending {
            Sending::Frame { charged, .. } if !g.end_scheduled => charged,
            _ => 0,
        };
        for next in g.ahead.waiting.iter().take_while(|next| next.start <= now) {
            held += u64::from(std::mem::replace(&mut sending, next.charged));
        }
        held + if self.busy_until <= now { u64::from(sending) } else { 0 }
    }
}

impl Net {
    /// Hands a packet to a port that computes departures in advance.
    #[inline(always)]
    pub(super) fn precompute(&mut self, now: Time, link: LinkId, packet: u32) {
        let Net { links, switches, packets, routes, events, log, window, scratch, .. } = self;
        let l = &mut links[link];
        let Some(g) = &mut l.general else { return };
        let p = &mut packets[packet];
        let (wire, charged, ingress) = (l.framing.wire_bytes(p.ip_bytes), p.charged, p.ingress);
        let mut switch = switches.get_mut(l.out_of as usize);
        g.catch_up(now, switch.as_deref_mut(), scratch);
        let start = if l.busy_until > now {
            let (start, bytes) = (l.busy_until, l.framing.charged_bytes(p.ip_bytes));
            let waiting = g.ahead.packets();
            let Queue::Fifo(fifo) = &g.queue else { unreachable!("what is computed ahead waits in a FIFO") };
            if !fifo.limit().admits(g.ahead.bytes, waiting, bytes) {
                l.counts.drops += 1;
                if let Some(switch) = switch {
                    switch.release(ingress, g.port, charged, scratch);
                }
                self.drop_packet(now, link, packet, "queue_full");
                return;
            }
            if is_ect(p.segment.ecn) && fifo.mark_above().is_exceeded(g.ahead.bytes, waiting) {
                p.segment.ecn = ECN_CE;
                l.counts.marks += 1;
                note_mark(log, now, link, p.flow, bytes);
            }
            let counted = if start <= window.end { wire } else { 0 };
            g.ahead.waiting.push_back(Precomputed { start, at: now, bytes, wire: counted, charged, ingress });
            g.ahead.bytes += u64::from(bytes);
            g.ahead.wire += u64::from(counted);
            l.counts.queue_max_bytes = l.counts.queue_max_bytes.max(g.ahead.bytes);
            l.counts.queue_max_packets = l.counts.queue_max_packets.max(waiting + 1);
            let wait = u128::from(window.overlap(now, start));
            l.counts.byte_ps += wait * u128::from(bytes);
            g.packet_ps += wait;
            g.wait_ps += wait;
            start
        } else {
            let over = std::mem::replace(&mut g.sending, Sending::Frame { charged, ingress });
            if let (Sending::Frame { charged, ingress }, Some(switch)) = (over, switch) {
                switch.release(ingress, g.port, charged, scratch);
            }
            now
        };
        // A queue of centuries saturates at "never".
        let end = start.saturating_add(l.tx.send(wire));
        l.busy_until = end;
        l.counts.transmission(start, end, wire, *window);
        let then = routes.place(p.route + 1).then(p.dest);
        l.launch(link, Flight::of(end.saturating_add(l.delay), packet, then), events);
    }

    /// What waits at the port of `link`, and what has started, is to be known ([`Link::queue_at`], [`Link::started`]).
    pub fn look_at(&mut self, now: Time, link: LinkId) {
        let l = &mut self.links[link];
        if let Some(g) = &mut l.general {
            g.catch_up(now, self.switches.get_mut(l.out_of as usize), &mut self.scratch);
        }
    }

    /// From now on the port of `link` goes by events: what has not started waits in its queue again.
    #[inline]
    pub(super) fn take_back(&mut self, now: Time, link: LinkId) {
        if self.links[link].general.as_ref().is_some_and(|g| g.ahead.on) {
            self.take_all_back(now, link);
        }
    }

    #[cold]
    fn take_all_back(&mut self, now: Time, link: LinkId) {
        let window = self.window;
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { return };
        g.catch_up(now, self.switches.get_mut(l.out_of as usize), &mut self.scratch);
        g.ahead.on = false;
        let Some(first) = g.ahead.waiting.front() else { return };
        g.integrate(&mut l.counts, now, window);
        let begun = (l.flight.len() as u64 - g.ahead.packets()) as u32;
        let mut end = l.busy_until;
        for i in (0..g.ahead.packets() as u32).rev() {
            let Some(r) = g.ahead.waiting.get(i) else { break };
            l.counts.no_transmission(r.start, end, r.wire, window);
            let (waited, all) = (window.overlap(now, r.start), window.overlap(r.at, r.start));
            l.counts.byte_ps -= u128::from(waited) * u128::from(r.bytes);
            g.packet_ps -= u128::from(waited);
            g.wait_ps -= u128::from(all);
            end = r.start;
        }
        let mut place = begun;
        while let Some(r) = g.ahead.waiting.pop_front() {
            let Some(flight) = l.flight.get(place) else { break };
            place += 1;
            let item = item(&self.packets, &self.treatments, flight.frame.handle(), r.bytes, r.at);
            let verdict = g.queue.enqueue(now, item, &mut self.discarded);
            debug_assert!(!matches!(verdict, Verdict::Dropped(_)), "there was room for all of them at once");
            g.begin_wait(item, window);
            if let Some(watch) = &mut g.watch {
                watch.enter(item, (l.out_of != NONE).then_some(r.ingress >> 3));
            }
        }
        debug_assert!(g.ahead.waiting.is_empty(), "what waits is on its way");
        l.flight.truncate(begun);
        (g.ahead.bytes, g.ahead.wire) = (0, 0);
        l.busy_until = first.start;
        g.end_scheduled = true;
        self.events.push(Target::End(link).at(first.start));
    }
}
