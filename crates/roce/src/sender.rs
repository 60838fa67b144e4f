//! The sending end: work requests become packets, at the pace of a congestion control, and again after a loss.

use std::sync::Arc;

use elephan_cc::rdma::{Progress, Telemetry};
use elephan_cc::{Ack, Controller, Nic, Signal, Spec};
use elephan_units::{Span, Time};

use crate::options::Recovery;
use crate::selective::Selective;
use crate::work::{Piece, Work};
use crate::{Answer, Options, wire};

/// What a sender knows of its path.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub nic: Nic,
    /// What a packet takes on the wire beside its payload: headers, framing, preamble and gap.
    pub overhead_bytes: u32,
    /// What the smallest packet takes on the wire.
    pub least_bytes: u32,
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    pub psn: u32,
    pub len: u32,
    /// The last of its work request.
    pub last: bool,
    /// It is to be acknowledged at once: it is the last of its work request, or of what a window allows.
    pub asks: bool,
    /// It was sent before.
    pub again: bool,
}

/// An answer that has come in.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledgement<'a> {
    pub answer: Answer,
    /// When the packet left that it answers.
    pub departure: Time,
    pub telemetry: Option<&'a Telemetry>,
}

/// What happened at this end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub packets: u64,
    pub bytes: u64,
    pub packets_again: u64,
    pub bytes_again: u64,
    pub answers: u64,
    pub naks: u64,
    pub timeouts: u64,
    pub notifications: u64,
    pub round_trips: u64,
    pub round_trips_ps: u128,
    pub round_trip_last: Span,
    pub round_trip_min: Span,
    pub round_trip_max: Span,
    /// Smoothed, with the gain of RFC 6298.
    pub srtt: Option<Span>,
}

impl Counters {
    /// A round-trip time was measured.
    pub fn measure(&mut self, rtt: Span) {
        self.round_trip_min = if self.round_trips == 0 { rtt } else { self.round_trip_min.min(rtt) };
        self.round_trip_max = self.round_trip_max.max(rtt);
        self.round_trip_last = rtt;
        self.round_trips += 1;
        self.round_trips_ps += u128::from(rtt.ps());
        self.srtt = Some(self.srtt.map_or(rtt, |srtt| Span(srtt.ps() - srtt.ps() / 8 + rtt.ps() / 8)));
    }

    /// A packet leaves with so much payload, perhaps once more.
    pub fn leave(&mut self, len: u32, again: bool) {
        self.packets += 1;
        self.bytes += u64::from(len);
        self.packets_again += u64::from(again);
        self.bytes_again += if again { u64::from(len) } else { 0 };
    }
}

#[derive(Clone, Debug)]
pub struct Sender {
    options: Arc<Options>,
    path: Path,
    cc: Controller,
    work: Work,
    /// First packet without acknowledgement, the next to be sent, the first that was never sent.
    first: u64,
    next: u64,
    fresh: u64,
    /// The same as bytes of the stream.
    acked: u64,
    sent: u64,
    /// Nothing leaves before it.
    ready_at: Time,
    /// Of selective repeat.
    selective: Selective,
    /// When the sender goes back without an answer.
    timer: Option<Time>,
    counters: Counters,
}

impl Sender {
    /// A sender whose congestion control begins at the line rate: with a window of rate times base round-trip time, if it holds
    /// one.
    pub fn new(options: Arc<Options>, congestion_control: &Spec, path: Path) -> Sender {
        let packet = u64::from(path.overhead_bytes) + options.mtu.0;
        let bdp = path.nic.rate_bps / 8.0 * path.nic.base_rtt.seconds();
        let mut cc = Controller::new(congestion_control, packet, (bdp as u64).max(packet));
        cc.on_nic(&path.nic);
        Sender {
            work: Work::new(options.mtu.0),
            options,
            path,
            cc,
            first: 0,
            next: 0,
            fresh: 0,
            acked: 0,
            sent: 0,
            ready_at: Time::ZERO,
            selective: Selective::default(),
            timer: None,
            counters: Counters::default(),
        }
    }

    /// The stream has `total` bytes now: what is new is one work request.
    pub fn post(&mut self, total: u64) {
        self.work.post(total);
    }

    /// Takes back the work that has never been sent; answers how many bytes the stream has now.
    pub fn cut(&mut self) -> u64 {
        self.work.cut(self.fresh)
    }

    /// Bytes of the stream that are posted, and of these acknowledged.
    pub fn posted(&self) -> u64 {
        self.work.bytes()
    }

    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// Payload sent and not acknowledged.
    pub fn inflight(&self) -> u64 {
        self.sent - self.acked
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

    /// bit/s at which packets leave now.
    pub fn rate_bps(&self) -> f64 {
        let line = self.path.nic.rate_bps;
        self.cc.pacing_rate().map_or(line, |rate| rate.min(line))
    }

    /// When the next packet may leave; none while there is none or a window is full.
    pub fn next_send(&self) -> Option<Time> {
        let fresh = self.next < self.work.packets() && self.has_room();
        (fresh || self.next_lost().is_some()).then_some(self.ready_at)
    }

    /// The next lost packet, under selective repeat.
    fn next_lost(&self) -> Option<u64> {
        match self.options.recovery {
            Recovery::GoBackN => None,
            Recovery::SelectiveRepeat => self.selective.next_lost(self.first, u64::from(self.options.reordering)),
        }
    }

    fn has_room(&self) -> bool {
        if self.next == self.first {
            return true;
        }
        let within = self.options.window.is_none_or(|window| self.inflight() + self.options.mtu.0 <= window.0);
        // As the simulator of HPCC's authors: while less than a window is out, a whole packet may follow.
        within && self.inflight_wire() < self.cc.window() as u64
    }

    /// On the wire, headers and all.
    fn inflight_wire(&self) -> u64 {
        self.inflight() + (self.next - self.first) * u64::from(self.path.overhead_bytes)
    }

    fn wire_bytes(&self, payload: u32) -> u32 {
        (payload + self.path.overhead_bytes).max(self.path.least_bytes)
    }

    /// The next packet, if one may leave now.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Data> {
        if self.next_send()? > now {
            return None;
        }
        if let Some(number) = self.next_lost() {
            return self.repeat(now, number);
        }
        let Piece { len, end, last } = self.work.piece(self.next)?;
        let again = self.next < self.fresh;
        let psn = wire::psn(self.next);
        let before = self.inflight_wire();
        self.next += 1;
        self.sent = end;
        self.fresh = self.fresh.max(self.next);
        let data = Data { psn, len, last, asks: last || !self.has_room(), again };
        self.leave(now, &data, before);
        Some(data)
    }

    /// A lost packet once more.
    fn repeat(&mut self, now: Time, number: u64) -> Option<Data> {
        let Piece { len, last, .. } = self.work.piece(number)?;
        self.selective.on_repeated(number);
        let data = Data { psn: wire::psn(number), len, last, asks: true, again: true };
        self.leave(now, &data, self.inflight_wire());
        Some(data)
    }

    /// A packet leaves, with `before` bytes in flight.
    fn leave(&mut self, now: Time, data: &Data, before: u64) {
        let wire = self.wire_bytes(data.len);
        self.cc.on_sent(now, u64::from(wire), before);
        self.ready_at = now.saturating_add(Span::from_seconds(f64::from(wire) * 8.0 / self.rate_bps()));
        if self.timer.is_none() {
            self.timer = Some(now.saturating_add(self.options.timeout));
        }
        self.counters.leave(data.len, data.again);
    }

    /// An ACK or a NAK is in.
    pub fn on_answer(&mut self, now: Time, ack: &Acknowledgement<'_>) {
        let (psn, missing) = match ack.answer {
            Answer::Ack(psn) => (psn, false),
            Answer::Nak(psn) => (psn, true),
            Answer::Sack { expected, .. } => (expected, false),
        };
        self.counters.answers += 1;
        let number = wire::ordinal(psn, self.first);
        if number < self.first || number > self.fresh {
            return;
        }
        let rtt = now.since(ack.departure);
        self.counters.measure(rtt);
        if number > self.first {
            self.advance(now, number, rtt, ack.telemetry);
        }
        if let Answer::Sack { got, .. } = ack.answer {
            self.on_kept(now, wire::ordinal(got, self.first));
        }
        if missing && self.next > self.first {
            self.counters.naks += 1;
            self.go_back(now);
        }
    }

    /// The receiver has kept a packet out of order.
    fn on_kept(&mut self, now: Time, number: u64) {
        if number <= self.first || number >= self.fresh {
            return;
        }
        self.selective.on_got(self.first, number);
        if self.selective.enters(self.first, self.fresh, u64::from(self.options.reordering)) {
            self.counters.naks += 1;
            self.tell_loss(now);
        }
    }

    /// Packets up to `number` are acknowledged.
    fn advance(&mut self, now: Time, number: u64, rtt: Span, telemetry: Option<&Telemetry>) {
        let before = self.inflight_wire();
        let packets = number - self.first;
        // What was gone back for has arrived after all.
        let skipped = number > self.next;
        let acked = self.work.done(number);
        let newly = acked - self.acked + packets * u64::from(self.path.overhead_bytes);
        self.selective.advance(self.first, number);
        (self.first, self.acked) = (number, acked);
        if skipped {
            (self.next, self.sent) = (number, acked);
        }
        let app_limited = self.next >= self.work.packets();
        if let Some(telemetry) = telemetry {
            self.cc.on_telemetry(telemetry, Progress { acked, sent: self.sent });
        }
        self.cc.on_ack(&Ack {
            now,
            acked: newly,
            rtt: Some(rtt),
            inflight: before.max(newly),
            app_limited,
            delivered: acked,
            min_rtt: Some(self.counters.round_trip_min),
            srtt: self.counters.srtt,
            ..Ack::default()
        });
        self.timer = (self.first < self.fresh).then(|| now.saturating_add(self.options.timeout));
    }

    /// Everything from the first packet without acknowledgement is retransmitted.
    fn go_back(&mut self, now: Time) {
        self.tell_loss(now);
        match self.options.recovery {
            Recovery::GoBackN => (self.next, self.sent) = (self.first, self.acked),
            Recovery::SelectiveRepeat => self.selective.expire(self.first, self.fresh),
        }
        self.timer = Some(now.saturating_add(self.options.timeout));
    }

    fn tell_loss(&mut self, now: Time) {
        let lost = u64::from(self.wire_bytes(self.options.mtu.0 as u32));
        self.cc.on_congestion(&Signal::Loss { now, lost, inflight: self.inflight_wire() });
    }

    /// The receiver has notified of a marked packet.
    pub fn on_notification(&mut self, now: Time) {
        self.counters.notifications += 1;
        self.cc.on_notification(now);
    }

    /// When [`Sender::on_timer`] must be called.
    pub fn next_timer(&self) -> Option<Time> {
        [self.timer, self.cc.next_timer()].into_iter().flatten().min()
    }

    pub fn on_timer(&mut self, now: Time) {
        if self.cc.next_timer().is_some_and(|at| at <= now) {
            self.cc.on_timer(now);
        }
        if self.timer.is_some_and(|at| at <= now) {
            self.counters.timeouts += 1;
            self.go_back(now);
        }
    }
}
