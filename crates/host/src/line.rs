//! A port of a host by itself: qdisc, ring, device and wire by arithmetic, for stepping by hand.
//!
//! ```text
//! start = max(offered, end of the last, what the device says)      end = start + L * 8 / rate      refused if the room is full
//! ```
//!
//! In a simulated network the frames wait at the port of the link instead; this gives the same starts as long as nothing pauses it.

use std::collections::VecDeque;

use elephan_units::{Rate, Span, Time, Transmitter};

use crate::Transmit;
use crate::transmit::{Device, Offer, Room};

/// The transmit side of a host and the wire that it sends on.
#[derive(Clone, Debug)]
pub struct Line {
    room: Room,
    device: Option<Device>,
    wire: Transmitter,
    delay: Span,
    free: Time,
    /// Starts of the frames that wait, and of some that do no longer.
    starts: VecDeque<Time>,
    pub refused: u64,
}

impl Line {
    pub fn new(words: &Transmit, rate: Rate) -> Line {
        Line {
            room: Room::new(words),
            device: Device::new(words),
            wire: Transmitter::new(rate),
            delay: words.delay,
            free: Time::ZERO,
            starts: VecDeque::new(),
            refused: 0,
        }
    }

    /// Frames that wait at `now`, the one that starts then not.
    fn waiting(&mut self, now: Time) -> u64 {
        while self.starts.front().is_some_and(|&start| start <= now) {
            self.starts.pop_front();
        }
        self.starts.len() as u64
    }

    /// A packet of so many bytes on the wire comes: when its first bit leaves the host and when the last has; none if it is refused.
    pub fn offer(&mut self, offer: &Offer, wire: u32) -> Option<(Time, Time)> {
        let waiting = self.waiting(offer.at);
        if !self.room.takes(waiting, offer) {
            self.refused += 1;
            return None;
        }
        if self.free <= offer.at {
            self.wire.idle();
        }
        let ready = self.device.as_ref().map_or(Time::ZERO, Device::ready_at);
        let start = offer.at.max(self.free).max(ready);
        if start > self.free {
            self.wire.idle();
        }
        let end = start.saturating_add(self.wire.send(wire));
        self.free = end;
        if let Some(device) = &mut self.device {
            device.on_start(start, end, wire);
        }
        if start > offer.at {
            self.starts.push_back(start);
        }
        Some((start.saturating_add(self.delay), end.saturating_add(self.delay)))
    }

    /// Packets in the qdisc and in the ring at `now`.
    pub fn split(&mut self, now: Time) -> (u64, u64) {
        let waiting = self.waiting(now);
        self.room.split(waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephan_units::Packets;

    fn line(txqueuelen: u64, ring: u64, pacing: Option<Rate>) -> Line {
        let words = Transmit { txqueuelen: Packets(txqueuelen), ring: Packets(ring), pacing, ..Transmit::default() };
        Line::new(&words, Rate(1_000_000_000))
    }

    /// 1250 bytes take 10 us at 1 Gb/s. One on the wire and three waiting: the fifth at once is refused, after 10 us one fits.
    #[test]
    fn a_full_room() {
        let us = |us: u64| Time(us * 1_000_000);
        let at = |us_: u64| Offer { at: us(us_), ..Offer::default() };
        let mut line = line(2, 1, None);
        for i in 0..4 {
            assert_eq!(line.offer(&at(0), 1250), Some((us(10 * i), us(10 * i + 10))));
        }
        assert_eq!(line.offer(&at(0), 1250), None);
        assert_eq!((line.split(us(0)), line.split(us(10)), line.split(us(25))), ((2, 1), (1, 1), (0, 1)));
        assert_eq!(line.refused, 1);
        assert_eq!(line.offer(&at(30), 1250), Some((us(40), us(50))));
    }

    /// Paced at 500 Mb/s they start 20 us apart and still take 10.
    #[test]
    fn a_pace() {
        let us = |us: u64| Time(us * 1_000_000);
        let mut line = line(10, 10, Some(Rate(500_000_000)));
        for i in 0..3 {
            assert_eq!(line.offer(&Offer::default(), 1250), Some((us(20 * i), us(20 * i + 10))));
        }
    }
}
