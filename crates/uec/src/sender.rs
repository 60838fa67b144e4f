//! The sending end: work requests become packets, as the congestion window and the credits allow, and again if they are trimmed or lost.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use elephan_cc::rdma::Trim;
use elephan_cc::{Controller, Signal, Spec};
use elephan_random::Stream;
use elephan_roce::work::{Piece, Work};
use elephan_roce::{Counters, Path};
use elephan_units::{Span, Time};

use crate::Options;
use crate::credit::Purse;
use crate::spray::{Met, Sprayer};
use crate::wire::{Ack, Data, Nack, ordinal};

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub data: Data,
    /// Payload.
    pub len: u32,
}

/// Where a packet that was sent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Flying,
    /// It is to be repeated.
    Lost,
    Arrived,
}

/// A packet that was sent, and the packets before it are not all acknowledged.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// When it left last.
    sent: Time,
    wire: u32,
    entropy: u16,
    /// How often it left, 255 at most.
    times: u8,
    place: Place,
}

#[derive(Clone, Debug)]
pub struct Sender {
    options: Arc<Options>,
    path: Path,
    cc: Controller,
    work: Work,
    sprayer: Sprayer,
    purse: Purse,
    /// Packets from the first without acknowledgement on.
    slots: VecDeque<Slot>,
    first: u64,
    /// Packets to be repeated, and their bytes on the wire.
    lost: BTreeSet<u64>,
    lost_bytes: u64,
    /// When packets left, in this order; an entry counts if its packet still flies and has not left again.
    departures: VecDeque<(Time, u64)>,
    /// Stream bytes that are acknowledged, and sent.
    acked: u64,
    sent: u64,
    /// Bytes on the wire that are in flight, and that arrived by what the receiver says. What is said twice can bring the first below 0.
    flying: i64,
    arrived: u64,
    /// Nothing leaves before it.
    ready_at: Time,
    timeout: Span,
    /// A request of credit is due, and when the last one left.
    requests: bool,
    requested_at: Option<Time>,
    counters: Counters,
}

impl Sender {
    /// Returns a sender whose entropy values are drawn from `stream`.
    pub fn new(options: Arc<Options>, congestion_control: &Spec, path: Path, stream: Stream) -> Sender {
        let packet = u64::from(path.overhead_bytes) + options.mtu.0;
        let bdp = path.nic.rate_bps / 8.0 * path.nic.base_rtt.seconds();
        let mut cc = Controller::new(congestion_control, packet, (bdp as u64).max(packet));
        cc.on_nic(&path.nic);
        Sender {
            cc,
            path,
            work: Work::new(options.mtu.0),
            sprayer: Sprayer::new(&options, stream),
            purse: Purse::new(&options, bdp),
            slots: VecDeque::new(),
            first: 0,
            lost: BTreeSet::new(),
            lost_bytes: 0,
            departures: VecDeque::new(),
            acked: 0,
            sent: 0,
            flying: 0,
            arrived: 0,
            ready_at: Time::ZERO,
            timeout: options.timeout_on(path.nic.base_rtt),
            requests: false,
            requested_at: None,
            counters: Counters::default(),
            options,
        }
    }

    /// The stream has `total` bytes now: what is new is one work request.
    pub fn post(&mut self, total: u64) {
        self.work.post(total);
    }

    /// Takes back the work that has never been sent; returns how many bytes the stream has now.
    pub fn cut(&mut self) -> u64 {
        self.work.cut(self.next())
    }

    /// Returns the bytes of the stream that are posted.
    pub fn posted(&self) -> u64 {
        self.work.bytes()
    }

    /// Returns the bytes of the stream that are acknowledged, from the first on.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// Returns the bytes on the wire that are in flight.
    pub fn inflight(&self) -> u64 {
        self.flying.max(0) as u64
    }

    pub fn controller(&self) -> &Controller {
        &self.cc
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Another congestion control steers from now on; it begins as on a new connection.
    pub fn switch_congestion_control(&mut self, congestion_control: &Spec) {
        self.cc.switch_congestion_control(congestion_control);
        self.cc.on_nic(&self.path.nic);
    }

    /// The interface runs at another rate from now on.
    pub fn set_line(&mut self, rate_bps: f64) {
        if rate_bps != self.path.nic.rate_bps {
            self.path.nic.rate_bps = rate_bps;
            self.cc.on_nic(&self.path.nic);
        }
    }

    /// Returns the bit/s at which packets leave now.
    pub fn rate_bps(&self) -> f64 {
        self.path.nic.rate_bps
    }

    /// The packet that was never sent and is next.
    fn next(&self) -> u64 {
        self.first + self.slots.len() as u64
    }

    fn wire_bytes(&self, payload: u32) -> u32 {
        (payload + self.path.overhead_bytes).max(self.path.least_bytes)
    }

    /// Bytes on the wire of the packet that would leave next, if there is one. Of a new one it is at most this.
    fn next_wire(&self) -> Option<u32> {
        if let Some(&number) = self.lost.first() {
            return self.slots.get((number - self.first) as usize).map(|slot| slot.wire);
        }
        let left = self.work.bytes().saturating_sub(self.sent);
        (self.next() < self.work.packets()).then(|| self.wire_bytes(left.min(self.options.mtu.0) as u32))
    }

    fn has_room(&self, wire: u32) -> bool {
        self.flying + i64::from(wire) <= self.cc.window() as i64
    }

    /// Returns when the next packet may leave: `None` while there is none, or window or credit do not allow it.
    pub fn next_send(&self) -> Option<Time> {
        let wire = self.next_wire()?;
        (self.has_room(wire) && self.purse.allows()).then_some(self.ready_at)
    }

    /// Returns the next packet, if one may leave now. `rivals` connections share the interface, this one among them.
    pub fn poll_transmit(&mut self, now: Time, rivals: usize) -> Option<Packet> {
        if self.next_send()? > now {
            return None;
        }
        let repeated = self.lost.pop_first();
        let number = repeated.unwrap_or(self.next());
        let Piece { len, end, .. } = self.work.piece(number)?;
        let wire = self.wire_bytes(len);
        if repeated.is_some() {
            self.lost_bytes -= u64::from(wire);
        } else {
            self.sent = end;
        }
        self.purse.spend(u64::from(wire));
        self.flying += i64::from(wire);
        let entropy = self.sprayer.next();
        match self.slots.get_mut((number - self.first) as usize) {
            Some(slot) => {
                (slot.sent, slot.entropy, slot.place) = (now, entropy, Place::Flying);
                slot.times = slot.times.saturating_add(1);
            }
            None => self.slots.push_back(Slot { sent: now, wire, entropy, times: 1, place: Place::Flying }),
        }
        self.departures.push_back((now, number));
        let (again, wants) = (repeated.is_some(), self.wants(rivals));
        let more = self.next() < self.work.packets() || !self.lost.is_empty();
        let full = self.wire_bytes(self.options.mtu.0 as u32);
        let asks = again || !more || !self.purse.allows() || !self.has_room(full);
        self.counters.leave(len, again);
        self.cc.on_sent(now, u64::from(wire), self.inflight());
        self.ready_at = now.saturating_add(Span::from_seconds(f64::from(wire) * 8.0 / self.rate_bps()));
        Some(Packet { data: Data { psn: number as u32, entropy, asks, again, wants, at_last_hop: false }, len })
    }

    /// All credit since the connection began that the sender would have now.
    fn wants(&self, rivals: usize) -> u64 {
        let left = self.work.bytes().saturating_sub(self.sent);
        let packets = self.work.packets().saturating_sub(self.next());
        let headers = packets.saturating_mul(u64::from(self.path.overhead_bytes));
        let full = u64::from(self.wire_bytes(self.options.mtu.0 as u32));
        let fresh = left.saturating_add(headers);
        self.purse.wants(fresh, self.lost_bytes, self.cc.window(), full, rivals)
    }

    /// An acknowledgement is in.
    pub fn on_ack(&mut self, now: Time, ack: &Ack) {
        self.counters.answers += 1;
        let expected = ordinal(ack.expected, self.first);
        if expected > self.next() {
            return;
        }
        let newly = ack.arrived.saturating_sub(self.arrived);
        self.arrived += newly;
        self.flying -= newly as i64;
        let rtt = self.round_trip(now, ack);
        while self.first < expected && self.slots.front().is_some() {
            self.arrives(self.first);
            self.slots.pop_front();
            self.first += 1;
        }
        let base = ordinal(ack.base, self.first);
        let mut bits = ack.bitmap;
        while bits != 0 {
            self.arrives(base + u64::from(bits.trailing_zeros()));
            bits &= bits - 1;
        }
        self.acked = self.work.done(self.first);
        self.counters.notifications += u64::from(ack.marked);
        self.sprayer.on_answer(now, ack.entropy, if ack.marked { Met::Mark } else { Met::Nothing });
        let left = self.inflight();
        self.cc.on_ack(&elephan_cc::Ack {
            now,
            acked: newly,
            rtt,
            inflight: left + newly,
            outstanding: Some(left),
            ce: if ack.marked { newly.max(1) } else { 0 },
            app_limited: self.next() >= self.work.packets(),
            delivered: self.acked,
            min_rtt: (self.counters.round_trips > 0).then_some(self.counters.round_trip_min),
            srtt: self.counters.srtt,
            ..elephan_cc::Ack::default()
        });
        self.forget_departures();
    }

    /// The round-trip time that an acknowledgement measures: of a packet that was not known to be there, if it is clear which of its
    /// transmissions arrived.
    fn round_trip(&mut self, now: Time, ack: &Ack) -> Option<Span> {
        let number = ordinal(ack.psn, self.first);
        let slot = self.slots.get(number.checked_sub(self.first)? as usize)?;
        let clear = slot.times == 1 + u8::from(ack.again);
        (slot.place == Place::Flying && clear).then(|| {
            let rtt = now.since(slot.sent);
            self.counters.measure(rtt);
            rtt
        })
    }

    /// A packet is with the receiver.
    fn arrives(&mut self, number: u64) {
        let Some(place) = number.checked_sub(self.first) else { return };
        let Some(slot) = self.slots.get_mut(place as usize) else { return };
        if slot.place == Place::Lost {
            self.lost.remove(&number);
            self.lost_bytes -= u64::from(slot.wire);
            // What arrived is taken from what flies, and it was not counted there any more.
            self.flying += i64::from(slot.wire);
        }
        slot.place = Place::Arrived;
    }

    /// The header of a trimmed packet has been answered.
    pub fn on_nack(&mut self, now: Time, nack: &Nack) {
        let number = ordinal(nack.psn, self.first);
        let Some(place) = number.checked_sub(self.first) else { return };
        let Some(slot) = self.slots.get(place as usize).copied().filter(|slot| slot.place == Place::Flying) else {
            return;
        };
        self.counters.naks += 1;
        let rtt = (slot.times == 1).then(|| now.since(slot.sent));
        let spared = nack.at_last_hop && self.options.credits;
        self.cc.on_trim(&Trim { now, bytes: u64::from(slot.wire), inflight: self.inflight(), rtt, spared });
        self.lose(number);
        self.purse.stop_speculating();
        let met = match nack {
            Nack { at_last_hop: false, .. } => Met::Trim,
            Nack { marked: true, .. } => Met::Mark,
            _ => Met::Nothing,
        };
        self.sprayer.on_answer(now, nack.entropy, met);
        self.forget_departures();
    }

    /// The receiver has granted credit.
    pub fn on_grant(&mut self, total: u64) {
        self.purse.stop_speculating();
        self.purse.grant(total);
        self.requests = false;
    }

    /// A packet that flies is to be repeated.
    fn lose(&mut self, number: u64) {
        let Some(slot) = self.slots.get_mut((number - self.first) as usize) else { return };
        slot.place = Place::Lost;
        self.flying -= i64::from(slot.wire);
        self.lost_bytes += u64::from(slot.wire);
        self.lost.insert(number);
    }

    /// Departures of packets that fly no more, or have left again, are no longer first.
    fn forget_departures(&mut self) {
        while let Some(&(at, number)) = self.departures.front() {
            let slot = number.checked_sub(self.first).and_then(|place| self.slots.get(place as usize));
            if slot.is_some_and(|slot| slot.place == Place::Flying && slot.sent == at) {
                break;
            }
            self.departures.pop_front();
        }
    }

    /// Returns when [`Sender::on_timer`] must be called.
    pub fn next_timer(&self) -> Option<Time> {
        let timeout = self.departures.front().map(|(at, _)| at.saturating_add(self.timeout));
        [timeout, self.cc.next_timer()].into_iter().flatten().min()
    }

    /// The time of [`Sender::next_timer`] has come: a packet without an answer is to be repeated.
    pub fn on_timer(&mut self, now: Time) {
        if self.cc.next_timer().is_some_and(|at| at <= now) {
            self.cc.on_timer(now);
        }
        let Some((at, number)) =
            self.departures.front().copied().filter(|(at, _)| at.saturating_add(self.timeout) <= now)
        else {
            return;
        };
        self.departures.pop_front();
        if let Some(slot) = self.slots.get((number - self.first) as usize) {
            debug_assert!(slot.sent == at);
            self.sprayer.on_answer(now, slot.entropy, Met::Timeout);
        }
        self.counters.timeouts += 1;
        self.cc.on_congestion(&Signal::Rto { now, inflight: self.inflight() });
        self.lose(number);
        let rests = self.requested_at.is_some_and(|at| now.since(at) < self.path.nic.base_rtt);
        self.requests = !self.purse.allows() && !rests;
        self.forget_departures();
    }

    /// Returns what a sender without credit asks for, once after a timeout.
    pub fn poll_request(&mut self, now: Time, rivals: usize) -> Option<u64> {
        if !std::mem::take(&mut self.requests) {
            return None;
        }
        self.purse.stop_speculating();
        self.requested_at = Some(now);
        Some(self.wants(rivals))
    }
}
