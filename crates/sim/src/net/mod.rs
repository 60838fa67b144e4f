//! The network: links, ports, switches, routes. Packets go in at [`Net::offer`] and come out of [`Net::take_in`].
//!
//! A FIFO port without back-pressure is *fast*: arrival, limit and rate fix when a packet starts, so no event marks the
//! end of a transmission. A fast port that is fed by one fast link and looked at by nobody is *fused*: its part of the way
//! is computed with that link's, and a packet that will find it full is dropped when its time comes. All other ports are
//! *general*. Both give the same packets at the same picosecond.

mod ahead;
mod build;
mod capture;
mod change;
mod congestion_management;
mod deadlock;
mod departure;
mod drawn;
mod failure;
mod fast;
mod flow_control;
mod general;
mod graph;
mod impair;
mod lanes;
mod link;
mod losses;
mod management;
mod memory;
mod nic;
mod occurrence;
mod pause;
mod pause_intervals;
mod payload;
mod pfc;
mod port;
mod route;
mod straight;
mod switch;
mod tap;
mod trim;
mod way;

use std::hint::select_unpredictable;

use elephan_engine::{Event, EventQueue, LANES, Lanes, prefetch, prefetch_at};
use elephan_link::congestion::{Feedback, fair::Source};
use elephan_link::queue::Discipline;
use elephan_link::queue::{Discarded, Item};
use elephan_units::{Span, Time};

pub use crate::target::NONE;
pub use build::{build, ways};
pub use capture::{Captures, Layout};
pub use graph::Graph;
pub use link::{Counts, Flight, Link, Onward, Window};
pub use management::Management;
pub use nic::asks_telemetry;
pub use occurrence::{Deadlock, Kind, Occurrence};
pub use payload::Letter;
pub use port::episodes::PauseIntervals;
pub use route::Routes;
pub use switch::Switch;
pub use way::{Paths, Way};

use crate::ids::{LinkId, Table};
use crate::packet::{Packets, flags};
use crate::target::{Control, Hop, Target, Then};

/// Frames under way that make a link long: its packets have been pushed out of the caches when they arrive.
const LONG: usize = 256;
/// Arrivals before that of a packet of a long link at which it is asked for.
const AHEAD: u32 = 4;

/// Packets that do not simply go on where they arrive.
const MARKED: u16 = flags::LOST | flags::REFUSED | flags::CAPTURED;

/// Cache lines of a link, or of a host's end, that are asked for: with 5 or 8 a fat-tree of 128 hosts is slower.
const LINES: usize = 3;
/// Events before the one whose data are asked for: what is asked for comes from the second-level cache in less than theirs take. What
/// a general port keeps is asked for when its link is there.
const SOON: u32 = 3;
const NEXT: u32 = 1;
/// Cache lines of a general port that a frame touches.
const GENERAL_LINES: usize = 5;

/// Logs that a packet was marked, when somebody reads the log.
#[cold]
fn note_mark(log: &mut Option<Vec<Occurrence>>, time: Time, link: LinkId, flow: u32, bytes: u32) {
    if let Some(log) = log {
        log.push(Occurrence { time, kind: Kind::Mark, link, flow, bytes, value: None, reason: "" });
    }
}

/// A packet as queues see it, which takes `bytes` of them and came at `at`.
fn item(packets: &Packets, treatments: &[Treatment], packet: u32, bytes: u32, at: Time) -> Item {
    let p = &packets[packet];
    let Treatment { priority, weight } = treatments.get(p.flow as usize).copied().unwrap_or_default();
    let priority = if p.flags & flags::URGENT != 0 { 7 } else { priority };
    Item { handle: packet, flow: p.flow, bytes, ecn: p.segment.ecn, priority, weight, at }
}

/// A packet that reached its host.
pub type Delivered = u32;

/// What queues are told of a flow beside its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Treatment {
    /// IEEE 802.1Q, 0..7.
    pub priority: u8,
    pub weight: u16,
}

impl Default for Treatment {
    fn default() -> Treatment {
        Treatment { priority: 0, weight: 1 }
    }
}

#[derive(Clone)]
pub struct Net {
    pub links: Table<LinkId, Link>,
    pub switches: Vec<Switch>,
    pub routes: Routes,
    pub window: Window,
    pub events: EventQueue,
    /// Arrivals over links that share lanes.
    pub lanes: Lanes<Onward>,
    pub has_lanes: bool,
    /// For how long what each exclusive lane brings is known.
    lookahead: [Option<Span>; LANES],
    pub packets: Packets,
    /// Kept only when somebody reads it.
    pub log: Option<Vec<Occurrence>>,
    /// What ports' records of their pause intervals share; kept when `log` is.
    pub intervals: Option<Box<PauseIntervals>>,
    /// Capture files, if there are any.
    pub captures: Option<Box<Captures>>,
    /// Packets handed in, delivered and dropped (by queues, memories and lossy links).
    pub injected: u64,
    pub delivered: u64,
    pub dropped: u64,
    /// The dropped, by reason.
    pub dropped_by: Vec<(&'static str, u64)>,
    /// Packets that links have made of others.
    pub duplicated: u64,
    /// What queues are told of each flow, by its number; empty while all flows are alike.
    pub treatments: Vec<Treatment>,
    /// Congestion management, if there is any.
    pub management: Option<Box<Management>>,
    /// Whom a congestion point has just told; kept to spare an allocation.
    told: Vec<(Source, Feedback)>,
    /// Limiters that hold their senders.
    pub full_limiters: u32,
    /// Cycles of paused ports that were found, and how often a watchdog has fired.
    pub deadlocks: Vec<Deadlock>,
    pub watchdogs: u64,
    /// The link whose transmission ends in the event that happens now; [`NONE`] during all other events.
    ending: LinkId,
    /// Accounts to pause or resume; kept to spare an allocation.
    scratch: Vec<u32>,
    /// Waiting packets that a discipline has just dropped; kept to spare an allocation.
    discarded: Discarded,
}

impl Net {
    /// Flow `number`, the next one, is treated so. Nothing is kept before the first that is not the usual one.
    pub fn treat(&mut self, number: u32, treatment: Treatment) {
        if !self.treatments.is_empty() || treatment != Treatment::default() {
            self.treatments.resize(number as usize, Treatment::default());
            self.treatments.push(treatment);
        }
    }

    /// A host sends: the packet enters `link`, the first of its route.
    #[inline]
    pub fn send(&mut self, now: Time, link: LinkId, packet: u32) {
        self.injected += 1;
        self.offer(now, link, packet);
    }

    /// The first frame on `link` is in: what it is. None for what is no link but a place of its own ([`Net::arrive_otherwise`]).
    #[inline(always)]
    pub fn land(&mut self, link: LinkId) -> Option<Flight> {
        let l = self.links.get_mut(link.index())?;
        let first = l.land(link, &mut self.events);
        if l.flight.len() > LONG
            && let Some(flight) = l.flight.get(AHEAD)
        {
            self.packets.prefetch(flight.frame.hint());
        }
        Some(first)
    }

    /// A frame leaves the stage of a switch, or comes in over a link that does not keep the order.
    #[cold]
    pub fn arrive_otherwise(&mut self, now: Time, id: u32) -> Option<Delivered> {
        let links = self.links.len() as u32;
        let place = id - links;
        if place >= links {
            return self.arrive_late(now, LinkId(place - links));
        }
        self.leave_stage(now, LinkId(place));
        None
    }

    /// A packet is in at the far end of a link. Answers it if this was the end of its route.
    #[inline(always)]
    pub fn take_in(&mut self, now: Time, link: LinkId, packet: u32, then: Then) -> Option<Delivered> {
        let p = &mut self.packets[packet];
        if p.flags & MARKED != 0 {
            return self.arrive_marked(now, link, then, packet);
        }
        let Hop::Link(next) = then.hop() else {
            self.delivered += 1;
            return Some(packet);
        };
        p.route += 1;
        if self.links[link].into == NONE {
            // Most hops of a network without lanes: no call.
            if !self.has_lanes && self.links[next].general.is_none() {
                self.offer_fast::<false>(now, next, packet, LinkId::NONE);
            } else {
                self.offer(now, next, packet);
            }
        } else {
            self.enter_switch(now, link, packet);
        }
        None
    }

    /// Where a packet goes at the end of the link that it is on.
    #[inline]
    fn after(&self, packet: u32) -> Then {
        let p = &self.packets[packet];
        self.routes.place(p.route + 1).then(p.dest)
    }

    /// Asks for what an event that comes soon will read. Whether its packet goes on or ends at a host cannot be predicted: nothing here
    /// branches on it.
    #[inline(always)]
    pub fn prefetch_ahead<S>(&self, sockets: &[S]) {
        if let Some(soon) = self.events.ahead(SOON)
            && let Some(place) = Target::arrival(soon)
            && let Some(link) = self.links.get(place as usize)
            && let Some(flight) = link.flight.front()
        {
            self.packets.prefetch(flight.frame.hint());
            link.flight.prefetch_second();
            self.prefetch_then(flight.then, sockets);
        }
    }

    /// The same in a network of general ports: of two events, one of which comes sooner.
    #[inline(always)]
    pub fn prefetch_ports(&self) {
        if let Some(event) = self.events.ahead(SOON) {
            match Target::arrival(event) {
                Some(place) => {
                    if let Some(flight) = self.links.get(place as usize).and_then(|link| link.flight.front()) {
                        self.packets.prefetch(flight.frame.hint());
                        self.prefetch_then::<u8>(flight.then, &[]);
                    }
                }
                None => self.prefetch_port(event),
            }
        }
        if let Some(event) = self.events.ahead(NEXT) {
            match Target::arrival(event) {
                Some(place) => {
                    let flight = self.links.get(place as usize).and_then(|link| link.flight.front());
                    if let Some(flight) = flight
                        && let Hop::Link(next) = flight.then.hop()
                        && let Some(g) = self.links.get(next.index()).and_then(|link| link.general.as_ref())
                    {
                        prefetch(&**g, GENERAL_LINES);
                    }
                }
                None => self.prefetch_first(event),
            }
        }
    }

    /// Asks for what the end of a transmission looks at.
    #[inline(always)]
    fn prefetch_port(&self, event: Event) {
        if let Some(g) = Target::end(event).and_then(|link| self.links.get(link.index())?.general.as_ref()) {
            prefetch(&**g, GENERAL_LINES);
        }
    }

    /// Asks for the packet that leaves a port next.
    #[inline(always)]
    fn prefetch_first(&self, event: Event) {
        let general = Target::end(event).and_then(|link| self.links.get(link.index())?.general.as_ref());
        if let Some(handle) = general.and_then(|g| g.queue.next_handle()) {
            self.packets.prefetch(handle);
        }
    }

    /// Asks for where a packet goes: a link, or a host's end.
    #[inline(always)]
    fn prefetch_then<S>(&self, then: Then, sockets: &[S]) {
        let (to_host, place) = then.split();
        let place = place as usize;
        let socket = sockets.as_ptr().wrapping_add(place).cast::<u8>();
        let link = self.links.as_ptr().wrapping_add(place).cast::<u8>();
        prefetch_at(select_unpredictable(to_host, socket, link), LINES);
    }

    /// A packet is dropped, here or by its host, for a reason that `events` and `summary.json` name.
    pub fn count_drop(&mut self, reason: &'static str) {
        self.dropped += 1;
        match self.dropped_by.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => self.dropped_by.push((reason, 1)),
        }
    }

    pub fn drop_packet(&mut self, now: Time, link: LinkId, packet: u32, reason: &'static str) {
        self.count_drop(reason);
        if let Some(log) = &mut self.log {
            let p = &self.packets[packet];
            let bytes = self.links[link].framing.charged_bytes(p.ip_bytes);
            let value = p.sequence().map(f64::from);
            log.push(Occurrence { time: now, kind: Kind::Drop, link, flow: p.flow, bytes, value, reason });
        }
        self.packets.free(packet);
    }

    /// An event of one of this network's own classes.
    pub fn control(&mut self, now: Time, link: LinkId) {
        let l = &mut self.links[link];
        let frame = l.land(link, &mut self.events);
        if frame.then == Then::CUT {
            return;
        }
        let reverse = l.reverse;
        match frame.frame.content().read() {
            Control::Pfc { about, stop } => self.receive_pfc(now, link, (about, stop)),
            Control::Pause { quanta } => self.receive_pause(now, reverse, quanta),
        }
    }

    /// Packets in queues, on wires and in switches, counted where they are.
    pub fn inside(&self) -> u64 {
        let on_link = |l: &Link| {
            let flying = l.flight.iter().filter(|f| !f.frame.is_control()).count() + l.stage.len();
            let late = |g: &link::General| g.impair.as_ref().map_or(0, |i| i.flying());
            flying as u64 + l.general.as_ref().map_or(0, |g| g.packets() + g.urgent.len() as u64 + late(g))
        };
        self.links.iter().map(on_link).sum::<u64>() + self.lanes.len() as u64
    }
}
