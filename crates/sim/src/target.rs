//! The packed encodings of the simulator: what an event is for, what is on a wire and where it goes, and what stands in routes.
//! Each is one word of 32 bits whose upper bits say which of several things it is; no other file knows these bits.

use std::hint::select_unpredictable;

use crate::ids::LinkId;
use elephan_engine::{Class, Event};
use elephan_units::Time;

/// "No such": switch, port, link, flow, socket.
pub const NONE: u32 = u32::MAX;

/// Bits below the four that tell targets of one class apart.
const TAG_SHIFT: u32 = 28;
const NUMBER: u32 = (1 << TAG_SHIFT) - 1;

/// Tags of timers. Ids decide the order of events whose ties are equal, so these values are part of the results.
const LIMITERS: u32 = 1;
const HOST: u32 = 2;
const PAIR: u32 = 4;
const INTERFACE: u32 = 6;
const REFRESH: u32 = 8;
const GRANTS: u32 = 10;
const WATCHDOG: u32 = 12;
/// Tags of application events.
const COPIES: u32 = 2;
const CLOCKS: u32 = 4;
const ARRIVALS: u32 = 8;
const RANKS: u32 = 12;
/// Tags of changes.
const REROUTE: u32 = 4;
const CHANGES: u32 = 8;
/// Tag of all whose class has nothing else.
const PLAIN: u32 = 0;

/// Below the tag of a host's timer: which timer it is, above the number of its link, node or socket.
const HOST_SHIFT: u32 = 24;
const HOST_NUMBER: u32 = (1 << HOST_SHIFT) - 1;

/// A timer of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum HostTimer {
    /// An interrupt of a node.
    Interrupt = 8,
    /// A job of a node's processor ends.
    Processor = 9,
    /// The logger of a node ticks.
    Logger = 10,
    /// A read of a socket ends.
    Reader = 11,
    /// A frame is at the ring of a node.
    Approach = 12,
    /// A frame of a socket has left its host.
    Departure = 13,
}

impl HostTimer {
    #[inline]
    fn of(bits: u32) -> HostTimer {
        match bits {
            8 => HostTimer::Interrupt,
            9 => HostTimer::Processor,
            10 => HostTimer::Logger,
            11 => HostTimer::Reader,
            12 => HostTimer::Approach,
            13 => HostTimer::Departure,
            _ => unreachable!("a host's timer of kind {bits}"),
        }
    }
}

/// What an event is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The transmission on a link ends.
    End(LinkId),
    /// The port of a link that was paused or shaped looks again.
    Wake(LinkId),
    /// A MAC control frame arrives over a link.
    Control(LinkId),
    /// A frame arrives: the number of its link, of that link's stage or of that link's late frames (`Net::arrive_otherwise`).
    Arrival(u32),
    /// A timer of a socket.
    Socket(u32),
    /// A timer of the limiters at the port of a link.
    Limiters(LinkId),
    /// A timer of a host.
    Host(HostTimer, u32),
    /// A timer of a connection of RDMA.
    Pair(u32),
    /// The host of a node grants credit (Ultra Ethernet).
    Grants(u32),
    /// The interface whose port feeds a link has room.
    Interface(LinkId),
    /// The port of a link repeats its PAUSE.
    Refresh(LinkId),
    /// The watchdog at the port of a link.
    Watchdog(LinkId),
    /// The application of a flow.
    Flow(u32),
    /// Place in `World::arrivals`.
    Arrivals(u32),
    /// Place in `World::clocks`.
    Clock(u32),
    /// Place in `World::copies`: the disk that is read.
    DiskRead(u32),
    /// Place in `World::copies`: the disk that is written.
    DiskWrite(u32),
    /// Place in `World::games`: ranks have computed.
    Ranks(u32),
    /// The entries of `[[change]]` that are due.
    Changes,
    /// Routes follow a change of this link.
    Reroute(LinkId),
    /// A traffic entry stops.
    Stop(u32),
    /// The periodic sample.
    Sample,
    /// The sample that ends the warm-up.
    WarmUp,
}

#[inline]
const fn tagged(tag: u32, number: u32) -> u32 {
    debug_assert!(number <= NUMBER);
    tag << TAG_SHIFT | number
}

impl Target {
    /// Class and id of its events.
    #[inline(always)]
    fn pack(self) -> (Class, u32) {
        match self {
            Target::End(link) => (Class::End, link.0),
            Target::Wake(link) => (Class::Start, link.0),
            Target::Control(link) => (Class::Control, link.0),
            Target::Arrival(place) => (Class::Arrival, place),
            Target::Socket(socket) => (Class::Timer, socket),
            Target::Limiters(link) => (Class::Timer, tagged(LIMITERS, link.0)),
            Target::Host(timer, number) => {
                debug_assert!(number <= HOST_NUMBER);
                (Class::Timer, tagged(HOST, (timer as u32) << HOST_SHIFT | number))
            }
            Target::Pair(pair) => (Class::Timer, tagged(PAIR, pair)),
            Target::Grants(node) => (Class::Timer, tagged(GRANTS, node)),
            Target::Interface(link) => (Class::Timer, tagged(INTERFACE, link.0)),
            Target::Refresh(link) => (Class::Timer, tagged(REFRESH, link.0)),
            Target::Watchdog(link) => (Class::Timer, tagged(WATCHDOG, link.0)),
            Target::Flow(flow) => (Class::Application, flow),
            Target::Arrivals(place) => (Class::Application, tagged(ARRIVALS, place)),
            Target::Clock(place) => (Class::Application, tagged(CLOCKS, place)),
            Target::DiskRead(place) => (Class::Application, tagged(COPIES, place << 1)),
            Target::DiskWrite(place) => (Class::Application, tagged(COPIES, place << 1 | 1)),
            Target::Ranks(place) => (Class::Application, tagged(RANKS, place)),
            Target::Changes => (Class::Change, tagged(CHANGES, 0)),
            Target::Reroute(link) => (Class::Change, tagged(REROUTE, link.0)),
            Target::Stop(traffic) => (Class::Change, traffic),
            Target::Sample => (Class::Sample, 0),
            Target::WarmUp => (Class::Sample, 1),
        }
    }

    /// What `event` is for.
    #[inline(always)]
    pub fn of(event: Event) -> Target {
        let id = event.id();
        let number = id & NUMBER;
        match (event.class(), id >> TAG_SHIFT) {
            (Class::End, _) => Target::End(LinkId(id)),
            (Class::Start, _) => Target::Wake(LinkId(id)),
            (Class::Control, _) => Target::Control(LinkId(id)),
            (Class::Arrival, _) => Target::Arrival(id),
            (Class::Timer, PLAIN) => Target::Socket(number),
            (Class::Timer, LIMITERS) => Target::Limiters(LinkId(number)),
            (Class::Timer, HOST) => Target::Host(HostTimer::of(number >> HOST_SHIFT), id & HOST_NUMBER),
            (Class::Timer, PAIR) => Target::Pair(number),
            (Class::Timer, GRANTS) => Target::Grants(number),
            (Class::Timer, INTERFACE) => Target::Interface(LinkId(number)),
            (Class::Timer, REFRESH) => Target::Refresh(LinkId(number)),
            (Class::Timer, WATCHDOG) => Target::Watchdog(LinkId(number)),
            (Class::Application, PLAIN) => Target::Flow(number),
            (Class::Application, ARRIVALS) => Target::Arrivals(number),
            (Class::Application, CLOCKS) => Target::Clock(number),
            (Class::Application, COPIES) if number & 1 == 0 => Target::DiskRead(number >> 1),
            (Class::Application, COPIES) => Target::DiskWrite(number >> 1),
            (Class::Application, RANKS) => Target::Ranks(number),
            (Class::Change, PLAIN) => Target::Stop(number),
            (Class::Change, CHANGES) => Target::Changes,
            (Class::Change, REROUTE) => Target::Reroute(LinkId(number)),
            (Class::Sample, _) if id == 0 => Target::Sample,
            (Class::Sample, _) => Target::WarmUp,
            (class, tag) => unreachable!("an event of class {class:?} with tag {tag}"),
        }
    }

    /// Its event at `time`. The tie is mixed from the whole id.
    #[inline(always)]
    pub fn at(self, time: Time) -> Event {
        let (class, id) = self.pack();
        Event::new(time, class, id, id)
    }

    /// Its event at `time`. The tie is mixed from `key`.
    #[inline(always)]
    pub fn keyed(self, time: Time, key: u32) -> Event {
        let (class, id) = self.pack();
        Event::new(time, class, key, id)
    }

    /// The link of an event that is the end of a transmission.
    #[inline(always)]
    pub fn end(event: Event) -> Option<LinkId> {
        event.is(Class::End).then(|| LinkId(event.id()))
    }

    /// The place of an event that is an arrival.
    #[inline(always)]
    pub fn arrival(event: Event) -> Option<u32> {
        event.is(Class::Arrival).then(|| event.id())
    }
}

/// What a MAC control frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// IEEE 802.3x: a pause of so many quanta.
    Pause { quanta: u16 },
    /// IEEE 802.1Qbb: masks of the priorities that the frame is about, and of those that it pauses.
    Pfc { about: u8, stop: u8 },
}

/// A [`Control`] in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content(u32);

const PFC: u32 = 1 << 30;

impl From<Control> for Content {
    #[inline]
    fn from(control: Control) -> Content {
        match control {
            Control::Pause { quanta } => Content(u32::from(quanta)),
            Control::Pfc { about, stop } => Content(PFC | u32::from(about) << 8 | u32::from(stop)),
        }
    }
}

impl Content {
    #[inline]
    pub fn read(self) -> Control {
        if self.0 & PFC == 0 {
            Control::Pause { quanta: self.0 as u16 }
        } else {
            Control::Pfc { about: (self.0 >> 8) as u8, stop: self.0 as u8 }
        }
    }
}

/// A frame: a packet by its handle, or what a MAC control frame says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame(u32);

const CONTROL: u32 = 1 << 31;

impl Frame {
    #[inline(always)]
    pub fn packet(handle: u32) -> Frame {
        debug_assert!(handle & CONTROL == 0);
        Frame(handle)
    }

    #[inline]
    pub fn control(content: Content) -> Frame {
        Frame(CONTROL | content.0)
    }

    #[inline(always)]
    pub fn is_control(self) -> bool {
        self.0 & CONTROL != 0
    }

    /// The handle of a frame that is a packet.
    #[inline(always)]
    pub fn handle(self) -> u32 {
        debug_assert!(!self.is_control());
        self.0
    }

    /// The handle, or nothing of use if it is no packet: good enough for asking for a packet in advance.
    #[inline(always)]
    pub fn hint(self) -> u32 {
        self.0
    }

    /// What a frame says that is MAC control.
    #[inline]
    pub fn content(self) -> Content {
        debug_assert!(self.is_control());
        Content(self.0 & !CONTROL)
    }
}

/// Where a packet goes at the end of the link that it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    Link(LinkId),
    /// Its host: an endpoint or a stream.
    Host(u32),
}

/// A [`Hop`] in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Then(u32);

const DELIVER: u32 = 1 << 31;

impl Then {
    /// Of a control frame, and of a frame in a stage, which looks where it goes when it leaves.
    pub const NOWHERE: Then = Then(u32::MAX);
    /// Of a control frame that the failure of its link has destroyed.
    pub const CUT: Then = Then(0);

    #[inline(always)]
    pub fn link(link: LinkId) -> Then {
        debug_assert!(link.0 & DELIVER == 0);
        Then(link.0)
    }

    #[inline(always)]
    pub fn host(dest: u32) -> Then {
        Then(DELIVER | dest)
    }

    #[inline(always)]
    pub fn hop(self) -> Hop {
        if self.0 & DELIVER == 0 { Hop::Link(LinkId(self.0)) } else { Hop::Host(self.0 & !DELIVER) }
    }

    /// Whether it is a host, and its number or the link's. Nothing branches.
    #[inline(always)]
    pub fn split(self) -> (bool, u32) {
        (self.0 & DELIVER != 0, self.0 & !DELIVER)
    }
}

/// A place of a route: a link, which may be computed with the one before it, or the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u32);

const FUSED: u32 = 1 << 30;

impl Place {
    /// Ends a route.
    pub const END: Place = Place(FUSED - 1);

    #[inline]
    pub fn of(link: LinkId) -> Place {
        debug_assert!(link.0 < FUSED - 1);
        Place(link.0)
    }

    #[inline]
    pub fn is_end(self) -> bool {
        self == Place::END
    }

    /// The link, of a place that is not the end.
    #[inline]
    pub fn link(self) -> LinkId {
        LinkId(self.0 & !FUSED)
    }

    #[inline]
    pub fn is_fused(self) -> bool {
        self.0 & FUSED != 0
    }

    /// The link, if it is computed with the one before it.
    #[inline]
    pub fn fused(self) -> Option<LinkId> {
        self.is_fused().then_some(self.link())
    }

    /// Its link is computed with the one before it from now on.
    pub fn fuse(&mut self) {
        self.0 |= FUSED;
    }

    /// The link, or the host of a packet for `dest`; among packets of all directions it cannot be predicted which.
    #[inline]
    pub fn then(self, dest: u32) -> Then {
        Then(select_unpredictable(self.is_end(), Then::host(dest).0, self.link().0))
    }
}

/// A route of a flow: a place where it begins, or paths over which its packets are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Route(u32);

const SPREAD: u32 = 1 << 31;

impl Route {
    /// All packets begin at this place.
    #[inline]
    pub fn single(place: u32) -> Route {
        debug_assert!(place & SPREAD == 0);
        Route(place)
    }

    /// Each packet takes one of the paths from this one on.
    #[inline]
    pub fn spread(first: u32) -> Route {
        Route(SPREAD | first)
    }

    #[inline]
    pub fn is_spread(self) -> bool {
        self.0 & SPREAD != 0
    }

    /// The first of the paths over which packets are spread.
    #[inline]
    pub fn paths(self) -> u32 {
        debug_assert!(self.is_spread());
        self.0 & !SPREAD
    }

    /// The place where all packets begin, if they are not spread.
    #[inline]
    pub fn place(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests;
