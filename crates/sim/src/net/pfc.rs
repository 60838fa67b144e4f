//! Priority-based flow control (IEEE 802.1Qbb) at a port: eight gates, frames of its own, a watchdog.
//!
//! A PFC frame is a MAC control frame of 64 B with opcode 0x0101, a vector of the priorities that it is about and a time for
//! each. A switch lists in every frame all priorities that it holds at that port, so that one frame refreshes all.
//!
//! Watchdog (as switches of data centres have it): a priority that has been paused without interruption for longer than
//! `watchdog` loses what waits there, and PFC frames that pause it are ignored until none has come for as long.

use elephan_link::{pause, queue::Discipline};
use elephan_units::{Span, Time};

use super::link::General;
use super::port::station::{PRIORITIES, Station, XOFF, XON, priorities};
use super::switch::refresh_period;
use super::{Kind, NONE, Net, Occurrence};
use crate::ids::LinkId;
use crate::packet::flags;
use crate::target::{Content, Control, Target};

/// Bytes of a PFC frame as queues count frames.
const PFC_BYTES: u32 = 64;

impl General {
    /// Tells the queue and the limiters which priorities may not send, and when the first of them may again.
    #[inline]
    pub(super) fn close_gates(&mut self, now: Time) -> Time {
        let Some(station) = &self.pfc else { return Time::NEVER };
        let (mask, opens) = station.shut_at(now);
        self.set_paused(mask);
        opens
    }

    /// Nothing of these priorities may leave.
    pub(super) fn set_paused(&mut self, mask: u8) {
        self.queue.set_paused(mask);
        if let Some(limiters) = &mut self.limiters {
            limiters.paused = mask;
        }
    }
}

impl Net {
    /// The priority of a frame, as switches see it; that of notifications of congestion is the highest.
    #[inline]
    pub(super) fn priority(&self, packet: u32) -> u8 {
        let p = &self.packets[packet];
        if p.flags & (flags::NOTIFICATION | flags::URGENT) != 0 {
            return PRIORITIES as u8 - 1;
        }
        self.treatments.get(p.flow as usize).map_or(0, |t| t.priority)
    }

    /// A PFC frame is to go out through the port of `link`, because a priority is to be paused there or may resume.
    pub(super) fn ask_pfc(&mut self, now: Time, link: LinkId, priority: u8, stop: bool) {
        self.queue_pfc(now, link, 1 << priority);
        if let Some(log) = &mut self.log {
            let (kind, reason) = if stop { (Kind::Pause, XOFF) } else { (Kind::Resume, XON) };
            let quanta = if stop { self.switches[self.links[link].out_of as usize].quanta } else { None };
            let (value, reason) = (Some(f64::from(quanta.unwrap_or(0))), reason[usize::from(priority)]);
            log.push(Occurrence { time: now, kind, link, flow: NONE, bytes: PFC_BYTES, value, reason });
        }
    }

    /// Repeats the pauses that hold at the port of `link`, all with one frame.
    pub(super) fn refresh_pfc(&mut self, now: Time, link: LinkId) {
        priorities(self.pausing(link)).for_each(|priority| self.ask_pfc(now, link, priority, true));
        self.start_if_free(now, link);
    }

    /// The priorities that the switch holds at the port of `link`.
    fn pausing(&self, link: LinkId) -> u8 {
        let l = &self.links[link];
        let port = self.links[l.reverse].into_port;
        self.switches[l.out_of as usize].held(port)
    }

    /// A frame is to go out that is about these priorities, and about all that are held.
    fn queue_pfc(&mut self, now: Time, link: LinkId, about: u8) {
        let held = self.pausing(link);
        let l = &self.links[link];
        let quanta = self.switches[l.out_of as usize].quanta.unwrap_or(0);
        let period = refresh_period(self.links[l.reverse].rate, quanta);
        let Some(g) = &mut self.links[link].general else { unreachable!("a port of a switch with PFC is general") };
        let before = match g.control.map(Content::read) {
            Some(Control::Pfc { about, .. }) => about,
            _ => 0,
        };
        g.control = Some(Control::Pfc { about: before | about | held, stop: held }.into());
        let refresh = if held == 0 { Time::NEVER } else { now.saturating_add(period) };
        self.set_refresh(link, refresh);
    }

    /// A PFC frame has arrived over `link` at the station whose port feeds its other direction: masks of the priorities that it is about, and of those that
    /// it pauses.
    pub(super) fn receive_pfc(&mut self, now: Time, link: LinkId, (about, stop): (u8, u8)) {
        let l = &self.links[link];
        let (port, from) = (l.reverse, l.out_of);
        let quanta = self.switches[from as usize].quanta.unwrap_or(0);
        let l = &mut self.links[port];
        l.counts.pauses_received += 1;
        let time = pause::quanta(l.rate, quanta);
        let Some(g) = &mut l.general else { unreachable!("a port that can be paused is general") };
        let (Some(response), Some(_)) = (g.response, &g.pfc) else { return };
        for priority in priorities(about) {
            let pause = if stop >> priority & 1 == 1 { time } else { Span::ZERO };
            let Some(station) = self.station(port) else { return };
            if station.receive(now, usize::from(priority), pause, response) {
                let gate = station.gates[usize::from(priority)];
                self.gated(now, port, Some(priority), gate);
            }
        }
        self.arm_watchdog(port);
        self.start_if_free(now, port);
    }

    fn station(&mut self, port: LinkId) -> Option<&mut Station> {
        self.links[port].general.as_mut()?.pfc.as_deref_mut()
    }

    /// What a port has received holds nothing any more, and its watchdog has nothing against it; whether it did hold anything.
    pub(super) fn forget_pfc(&mut self, now: Time, port: LinkId) -> bool {
        let mut held = false;
        for priority in 0..PRIORITIES {
            let Some(station) = self.station(port) else { return false };
            station.ignored = 0;
            if now < station.until[priority] {
                held = true;
                station.set(now, priority, Span::ZERO, Span::ZERO);
                let gate = station.gates[priority];
                self.gated(now, port, Some(priority as u8), gate);
            }
        }
        held
    }

    fn arm_watchdog(&mut self, port: LinkId) {
        let Some(station) = self.station(port) else { return };
        if station.watchdog.is_none() {
            return;
        }
        let due = (0..PRIORITIES).filter_map(|p| station.due(p)).min().unwrap_or(Time::NEVER);
        if due < station.armed {
            station.armed = due;
            self.events.push(Target::Watchdog(port).keyed(due, port.0));
        }
    }

    /// The timer of a port's watchdog has rung.
    pub fn watchdog_timer(&mut self, now: Time, port: LinkId) {
        let Some(station) = self.station(port).filter(|s| s.armed == now) else { return };
        station.armed = Time::NEVER;
        for priority in 0..PRIORITIES {
            let Some(station) = self.station(port) else { return };
            if station.due(priority).is_some_and(|due| due <= now) {
                if now < station.until[priority] {
                    self.bite(now, port, priority);
                } else {
                    // The pause has run out by itself.
                    station.since[priority] = Time::NEVER;
                }
            }
        }
        self.arm_watchdog(port);
        self.start_if_free(now, port);
    }

    /// A priority has been paused for too long.
    fn bite(&mut self, now: Time, port: LinkId, priority: usize) {
        let window = self.window;
        let Some(station) = self.station(port) else { return };
        let paused = now.since(station.since[priority]);
        station.ignored |= 1 << priority;
        station.heard[priority] = now;
        station.set(now, priority, Span::ZERO, Span::ZERO);
        let gate = station.gates[priority];
        self.gated(now, port, Some(priority as u8), gate);
        if let Some(log) = &mut self.log {
            let (value, reason) = (Some(paused.seconds()), XOFF[priority]);
            let kind = Kind::Watchdog;
            log.push(Occurrence { time: now, kind, link: port, flow: NONE, bytes: 0, value, reason });
        }
        self.watchdogs += 1;
        let l = &mut self.links[port];
        let Some(g) = &mut l.general else { return };
        g.integrate(&mut l.counts, now, window);
        g.queue.drain(now, 1 << priority, "watchdog", &mut self.discarded);
        self.discard(now, port);
    }
}
