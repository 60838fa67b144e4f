//! The way out of a host: TCP -> qdisc -> driver ring -> device -> wire.
//!
//! ```text
//! a packet is taken          while fewer than txqueuelen + ring wait
//! in the ring, in the qdisc  min(waiting, ring), the rest
//! the next frame starts      not before the end of the last + gap, nor the start of the last + L * 8 / pacing      L: wire bytes
//! ```
//!
//! The qdisc is a pfifo of `txqueuelen` packets (Linux `pfifo_fast` with one band). The driver moves its first packet into the ring
//! as soon as that has a place, and the device takes the frames from the ring in order, so that both are one FIFO with the
//! room of both: the frame on the wire has left it. A packet that finds it full is refused: TCP keeps the segment and takes it
//! for a sign of congestion (Linux `tcp_transmit_skb` calls `tcp_enter_cwr`; TCP option `local_drop`), a datagram is lost. For a
//! window W that grows by the factor g a round trip, at a device as slow as the path, `W (g - 1) / g` packets wait at the
//! end of the round trip: half of it in slow start without delayed ACKs, a third with them.
//!
//! Segments in bursts (`burst`; [`Room::join`]) are one packet to qdisc and ring until the last of them has left, as with TSO.
//! TCP small queues (`small_queues`) keep each socket from filling all this: `below.rs` counts what it has here, the rule is TCP's
//! (`endpoint/small_queues.rs`).
//!
//! Defaults: 1000 packets (Linux since 2.6; 100 in 2.4), a ring of 256 (e1000; assumed). Left out: descriptors that the driver frees
//! late, several per packet or burst; the lock that a datagram's sender waits for (its socket buffer); classful and
//! fair qdiscs; byte queue limits.

use std::collections::VecDeque;

use elephan_units::{Bytes, InvalidParameter, PS_PER_S, Packets, Rate, Span, Time, Transmitter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The transmit side of a host: what each of its ports holds, and how its devices send.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Transmit {
    /// Packets that the queue in front of the driver holds (`ip link set txqueuelen`): 100 in Linux 2.4, 1000 since 2.6.
    pub txqueuelen: Packets,
    /// Packets that the ring of the driver holds (`ethtool -G tx`). \[assumed: that of an e1000]
    pub ring: Packets,
    /// The device sends no faster than this: between the starts of two frames is the time of the first at this rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub pacing: Option<Rate>,
    /// The device leaves the wire idle for so long after each frame, beyond the gap of Ethernet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub gap: Option<Span>,
    /// Segments leave TCP in bursts of up to so many bytes of payload, and a burst is one packet to queue and ring (TSO).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub burst: Option<Bytes>,
    /// TCP small queues (Linux since 3.6): a socket stops while more of its data than is sent in a millisecond, so many bytes at most, are
    /// in queue, ring and device (`tcp_limit_output_bytes`: 128 KiB in Linux 3.6, 256 KiB in 4.x, 1 MiB from 5.0, 4 MiB from 6.16).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub small_queues: Option<Bytes>,
    /// From the ring to the wire, beyond the transmission.
    pub delay: Span,
}

impl Default for Transmit {
    fn default() -> Transmit {
        Transmit {
            txqueuelen: Packets(1000),
            ring: Packets(256),
            pacing: None,
            gap: None,
            burst: None,
            small_queues: None,
            delay: Span::ZERO,
        }
    }
}

/// Linux GSO_MAX_SIZE with BIG TCP.
const BURST_MAX: u64 = 512 << 10;
/// No device holds a frame for so long.
pub(crate) const DELAY_MAX: Span = Span(60 * PS_PER_S);

impl Transmit {
    /// What cannot be, with the key it is about.
    pub fn problem(&self) -> Option<InvalidParameter> {
        if self.room() == 0 {
            return Some(InvalidParameter::new(
                "txqueuelen",
                "0 p with a ring of 0 p: no packet could wait while another is sent",
            ));
        }
        if self.pacing.is_some() && self.gap.is_some() {
            return Some(InvalidParameter::new("gap", "pacing and gap: the device keeps one of them"));
        }
        if self.delay > DELAY_MAX {
            return Some(InvalidParameter::new("delay", format!("{} is more than a minute", self.delay)));
        }
        if self.small_queues == Some(Bytes(0)) {
            return Some(InvalidParameter::new("small_queues", "0 B: leave it out for sockets without a bound"));
        }
        match self.burst {
            Some(Bytes(0)) => Some(InvalidParameter::new("burst", "0 B: leave it out for single segments")),
            Some(Bytes(bytes)) if bytes > BURST_MAX => Some(InvalidParameter::new(
                "burst",
                format!("{} is beyond 512 KiB, the longest burst of Linux", Bytes(bytes)),
            )),
            _ => None,
        }
    }

    /// Packets that queue and ring hold together, without the frame on the wire.
    pub fn room(&self) -> u64 {
        self.txqueuelen.0.saturating_add(self.ring.0)
    }
}

/// A packet that asks for a place: whose, when, and which bytes of its stream.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offer {
    pub at: Time,
    pub flow: u32,
    pub seq: u32,
    pub len: u32,
}

/// Queue and ring of a port, counted; the frames themselves wait elsewhere.
#[derive(Clone, Debug)]
pub struct Room {
    capacity: u64,
    ring: u64,
    bursts: Option<Box<Bursts>>,
}

/// Which of the waiting frames are one packet.
#[derive(Clone, Debug)]
struct Bursts {
    longest: u64,
    /// Frames of each packet that have not been seen to leave, and their sum.
    frames: VecDeque<u64>,
    sum: u64,
    /// The last burst: what would continue it, and the bytes that it may still take.
    next: Offer,
    left: u64,
}

impl Bursts {
    /// Of the frames that were here `waiting` are left, the last of them.
    fn settle(&mut self, waiting: u64) {
        while self.sum > waiting {
            let Some(first) = self.frames.front_mut() else { break };
            let gone = (*first).min(self.sum - waiting);
            (*first, self.sum) = (*first - gone, self.sum - gone);
            if *first == 0 {
                self.frames.pop_front();
            }
        }
    }

    fn continues(&self, offer: &Offer) -> bool {
        let Offer { at, flow, seq, len } = self.next;
        len > 0
            && offer.len > 0
            && (offer.at, offer.flow, offer.seq) == (at, flow, seq)
            && u64::from(offer.len) <= self.left
    }
}

impl Room {
    pub fn new(words: &Transmit) -> Room {
        let bursts = words.burst.map(|longest| {
            Box::new(Bursts { longest: longest.0, frames: VecDeque::new(), sum: 0, next: Offer::default(), left: 0 })
        });
        Room { capacity: words.room(), ring: words.ring.0, bursts }
    }

    /// Bytes of payload of the longest burst, if segments leave in bursts.
    pub fn longest_burst(&self) -> Option<u64> {
        self.bursts.as_ref().map(|bursts| bursts.longest)
    }

    /// What comes next begins a burst.
    pub fn begin_burst(&mut self) {
        if let Some(bursts) = &mut self.bursts {
            bursts.next = Offer::default();
        }
    }

    /// Whether a packet is taken while so many frames wait. One that is taken must come.
    #[inline]
    pub fn takes(&mut self, waiting: u64, offer: &Offer) -> bool {
        match &mut self.bursts {
            None => waiting < self.capacity,
            Some(_) => self.join(waiting, offer),
        }
    }

    /// The same where segments leave in bursts: one that continues the last burst goes with it, any other begins a packet.
    fn join(&mut self, waiting: u64, offer: &Offer) -> bool {
        let Some(bursts) = &mut self.bursts else { return false };
        bursts.settle(waiting);
        let continues = bursts.continues(offer);
        if !continues && bursts.frames.len() as u64 >= self.capacity {
            return false;
        }
        match bursts.frames.back_mut() {
            Some(last) if continues => *last += 1,
            _ => bursts.frames.push_back(1),
        }
        bursts.sum += 1;
        let before = if continues { bursts.left } else { bursts.longest };
        bursts.left = before.saturating_sub(u64::from(offer.len));
        bursts.next = Offer { seq: offer.seq.wrapping_add(offer.len), ..*offer };
        true
    }

    /// Of so many waiting frames the packets in the qdisc and those in the ring.
    pub fn split(&mut self, waiting: u64) -> (u64, u64) {
        let packets = match &mut self.bursts {
            None => waiting,
            Some(bursts) => {
                bursts.settle(waiting);
                bursts.frames.len() as u64
            }
        };
        let ring = packets.min(self.ring);
        (packets - ring, ring)
    }
}

/// A device that does not send as fast as the wire.
#[derive(Clone, Debug)]
pub struct Device {
    pace: Option<Transmitter>,
    gap: Span,
    /// The next frame may start.
    ready: Time,
}

impl Device {
    /// None if the device sends as fast as the wire.
    pub fn new(words: &Transmit) -> Option<Device> {
        let paced = words.pacing.is_some() || words.gap.is_some_and(|gap| gap > Span::ZERO);
        paced.then(|| Device {
            pace: words.pacing.map(Transmitter::new),
            gap: words.gap.unwrap_or_default(),
            ready: Time::ZERO,
        })
    }

    /// When the next frame may start, for all that the device says.
    #[inline]
    pub fn ready_at(&self) -> Time {
        self.ready
    }

    /// A frame of `wire` bytes has started at `start` and leaves the wire free at `end`.
    pub fn on_start(&mut self, start: Time, end: Time, wire: u32) {
        self.ready = match &mut self.pace {
            None => end.saturating_add(self.gap),
            Some(pace) => {
                if start > self.ready {
                    pace.idle();
                }
                start.saturating_add(pace.send(wire))
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: u32 = 1538;

    fn offer(at: u64, seq: u32) -> Offer {
        Offer { at: Time(at), flow: 1, seq, len: 1000 }
    }

    /// 100 packets in the qdisc and 256 in the ring: the 357th that waits is refused, the ring fills first.
    #[test]
    fn queue_and_ring_are_one_fifo() {
        let mut room = Room::new(&Transmit { txqueuelen: Packets(100), ..Transmit::default() });
        assert!(room.takes(355, &offer(0, 0)));
        assert!(!room.takes(356, &offer(0, 0)));
        assert_eq!(room.split(200), (0, 200));
        assert_eq!(room.split(300), (44, 256));
        assert_eq!(room.split(356), (100, 256));
    }

    /// Three places. Ten segments of an instant in bursts of 4,000 B are three packets, the third of two segments, which
    /// a segment of a later instant does not join. A place is free when the last segment of its burst has left.
    #[test]
    fn a_burst_is_one_packet() {
        let words =
            Transmit { txqueuelen: Packets(1), ring: Packets(2), burst: Some(Bytes(4000)), ..Transmit::default() };
        let mut room = Room::new(&words);
        let mut waiting = 0;
        for i in 0..10 {
            assert!(room.takes(waiting, &offer(7, i * 1000)), "segment {i}");
            waiting += 1;
        }
        assert_eq!(room.split(waiting), (1, 2));
        assert!(!room.takes(waiting, &offer(8, 10_000)), "another instant");
        assert!(!room.takes(7, &offer(8, 10_000)), "three of the four have left");
        assert!(room.takes(6, &offer(8, 10_000)));
        assert_eq!(room.split(7), (1, 2));
        assert!(room.takes(7, &offer(8, 11_000)), "it continues the burst");
        assert!(!room.takes(8, &offer(8, 20_000)), "a hole");
        assert_eq!(room.split(2), (0, 1));
    }

    /// 1538 B at 622.08 Mb/s take 19.778806 us; on a gigabit wire, where they take 12.304 us, that is a gap of
    /// L * 8 * (1/r - 1/f) = 7.474806 us.
    #[test]
    fn a_pace_is_a_gap() {
        let wire = Span(12_304_000);
        let mut pace = Device::new(&Transmit { pacing: Some(Rate(622_080_000)), ..Transmit::default() }).unwrap();
        pace.on_start(Time(0), Time(0) + wire, FRAME);
        assert_eq!(pace.ready_at(), Time(19_778_806));
        let gap = Some(Span(7_474_806));
        let mut gap = Device::new(&Transmit { gap, ..Transmit::default() }).unwrap();
        gap.on_start(Time(0), Time(0) + wire, FRAME);
        assert_eq!(gap.ready_at(), Time(19_778_806));
        assert!(Device::new(&Transmit::default()).is_none());
        assert!(Device::new(&Transmit { gap: Some(Span::ZERO), ..Transmit::default() }).is_none());
    }

    /// A thousand frames back to back keep the mean to the picosecond: 1000 * 1538 * 8 / 622.08e6 s, rounded down.
    #[test]
    fn a_pace_does_not_drift() {
        let mut device = Device::new(&Transmit { pacing: Some(Rate(622_080_000)), ..Transmit::default() }).unwrap();
        for _ in 0..1000 {
            let start = device.ready_at();
            device.on_start(start, start, FRAME);
        }
        assert_eq!(device.ready_at(), Time(19_778_806_584));
    }

    #[test]
    fn what_cannot_be() {
        let of = |words: Transmit| words.problem().map(|invalid| invalid.parameter);
        let base = Transmit::default();
        assert_eq!(of(base), None);
        assert_eq!(of(Transmit { txqueuelen: Packets(0), ..base }), None);
        assert_eq!(of(Transmit { txqueuelen: Packets(0), ring: Packets(0), ..base }), Some("txqueuelen".into()));
        let both = Transmit { pacing: Some(Rate(1)), gap: Some(Span(1)), ..base };
        assert_eq!(of(both), Some("gap".into()));
        assert_eq!(of(Transmit { delay: Span(61 * PS_PER_S), ..base }), Some("delay".into()));
        assert_eq!(of(Transmit { small_queues: Some(Bytes(0)), ..base }), Some("small_queues".into()));
        assert_eq!(of(Transmit { small_queues: Some(Bytes(1)), ..base }), None);
        assert_eq!(of(Transmit { burst: Some(Bytes(0)), ..base }), Some("burst".into()));
        assert_eq!(of(Transmit { burst: Some(Bytes(1 << 20)), ..base }), Some("burst".into()));
    }
}
