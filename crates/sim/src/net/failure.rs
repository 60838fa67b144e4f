//! Links that fail and are repaired.
//!
//! A link that goes down loses what is on the wire, the frame that is being sent included, when it would have arrived. What
//! waits at its ports is dropped at once, what comes to them until the repair when it comes, as switches do and Linux's
//! dev_deactivate does. PAUSE is forgotten: what was received over the direction that fails holds nobody any more, in its response
//! time or later, and a switch that still pauses says so again when the link is back. Routes stay, or are made anew a while later
//! (`reroute`).
//!
//! Left out: what a shaper (`tbf`) holds back waits for the repair; time until the ends notice (the loss of carrier is known at once).

use elephan_link::queue::Discipline;
use elephan_units::{Span, Time};

use super::Net;
use crate::ids::LinkId;
use crate::packet::flags;
use crate::target::Then;

/// The reason of drops at a link that is down.
pub const DOWN: &str = "link_down";

impl Net {
    /// The link goes down in this direction.
    #[cold]
    pub(super) fn fail(&mut self, now: Time, link: LinkId) {
        let window = self.window;
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { unreachable!("a port that changes is general") };
        g.down = true;
        g.control = None;
        for _ in 0..l.flight.len() {
            let Some(mut flight) = l.flight.pop_front() else { break };
            if !flight.frame.is_control() {
                self.packets[flight.frame.handle()].flags |= flags::LOST | flags::CUT;
            } else {
                flight.then = Then::CUT;
            }
            l.flight.push_back(flight);
        }
        for packet in g.impair.iter().flat_map(|impair| impair.in_flight()) {
            self.packets[packet].flags |= flags::LOST | flags::CUT;
        }
        g.integrate(&mut l.counts, now, window);
        g.queue.set_paused(0);
        while let Some((item, _)) = g.queue.dequeue(now, &mut self.discarded) {
            self.discarded.push((item, DOWN));
        }
        self.fail_limiters(now, link);
        let Some(g) = &mut self.links[link].general else { return };
        let urgent = std::mem::take(&mut g.urgent);
        self.discard_all(now, link);
        for item in urgent {
            self.refuse(now, link, item.handle, DOWN);
        }
        let fed = self.links[link].reverse;
        self.forget_pauses(now, fed);
    }

    /// What has come to the station that sends through the port of `link` holds it no more.
    fn forget_pauses(&mut self, now: Time, link: LinkId) {
        let Some(g) = &mut self.links[link].general else { return };
        let (_, until) = g.gate.window();
        let whole = now < until;
        if whole {
            g.gate.receive(now, Span::ZERO, Span::ZERO);
            let gate = g.gate;
            self.gated(now, link, None, gate);
        }
        if self.forget_pfc(now, link) || whole {
            self.look_again(now, link);
        }
    }

    /// The link is up again.
    #[cold]
    pub(super) fn repair(&mut self, now: Time, link: LinkId) {
        let Some(g) = &mut self.links[link].general else { unreachable!("a port that changes is general") };
        g.down = false;
        if g.refresh != Time::NEVER {
            (g.refresh, g.refresh_armed) = (now, now);
            self.refresh(now, link);
        }
        // What a shaper has held back may be due.
        self.start_if_free(now, link);
    }

    /// A packet comes to a port whose link does not carry it, for `reason`.
    #[cold]
    pub(super) fn refuse(&mut self, now: Time, link: LinkId, packet: u32, reason: &'static str) {
        let l = &mut self.links[link];
        l.counts.drops += 1;
        let p = &self.packets[packet];
        let (charged, ingress) = (p.charged, p.ingress);
        self.drop_packet(now, link, packet, reason);
        self.release_memory(now, link, charged, ingress);
    }
}
