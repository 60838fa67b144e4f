//! The order of events at one instant, as the section "Order of events at one instant" of docs/models/ports.md has it.

use std::cmp::Ordering;

use super::packet::Packet;

/// What happens first at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    End,
    Start,
    Control,
    Arrival,
    Timer,
    Application,
    Change,
    Sample,
}

/// What an event is for. Ports and links have the numbers of the plan's links.
#[derive(Clone, Debug)]
pub enum What {
    EndOfTransmission(usize),
    EndOfPause(usize),
    /// A PAUSE frame is in at the far end of a link.
    PauseFrame {
        link: usize,
        quanta: u16,
    },
    /// A frame is in at the far end of a link.
    Frame(usize, Packet),
    /// A frame that came over a link has passed the switch at its end.
    Switched(usize, Packet),
    Refresh(usize),
    /// The next packet of a flow is due.
    Offer(usize),
    /// A host hands the port of a link a packet that another run has recorded.
    Handed(usize, Packet),
    Stop(usize),
    Sample,
    WarmUp,
}

/// The place of an event among all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    time: u64,
    class: Class,
    tie: u64,
    id: u64,
    /// How many events were scheduled before it.
    ordinal: u64,
}

/// An event that will happen.
#[derive(Debug)]
pub struct Scheduled {
    place: Place,
    pub what: What,
}

/// The upper 28 bits of a hash of a key and a time.
fn tie(key: u64, time: u64) -> u64 {
    let mut x = (time ^ key.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 31;
    x.wrapping_mul(0x94D0_49BB_1331_11EB) >> 36
}

impl Scheduled {
    /// Returns an event. `key` and `id` say who it is for; `ordinal` counts the events scheduled before it.
    pub fn new(time: u64, class: Class, (key, id): (u64, u64), ordinal: u64, what: What) -> Scheduled {
        Scheduled { place: Place { time, class, tie: tie(key, time), id, ordinal }, what }
    }

    /// Returns an event that comes before all later ones of its instant and class.
    pub fn in_order(time: u64, class: Class, ordinal: u64, what: What) -> Scheduled {
        Scheduled { place: Place { time, class, tie: 0, id: 0, ordinal }, what }
    }

    pub fn time(&self) -> u64 {
        self.place.time
    }
}

// A heap gives the greatest first: the earliest event is the greatest.
impl Ord for Scheduled {
    fn cmp(&self, other: &Scheduled) -> Ordering {
        other.place.cmp(&self.place)
    }
}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Scheduled) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Scheduled) -> bool {
        self.place == other.place
    }
}

impl Eq for Scheduled {}
