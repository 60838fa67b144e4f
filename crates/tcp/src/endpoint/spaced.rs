//! Sending under a controller that probes: the packets of a train at their own times, everything else spaced at the base rate.
//!
//! A train takes new data and heeds the peer's window alone; none begins while lost data waits to be retransmitted. What is
//! left to say without data (a FIN) is not spaced.

use super::Endpoint;
use crate::segment::{SackBlocks, Segment};
use crate::stats::Limit;
use elephan_cc::Nic;
use elephan_cc::train::{Arrival, Departure, Start};
use elephan_units::{Span, Time};

impl Endpoint {
    /// Makes this end acknowledge each data segment at once, as a peer needs that looks at when each arrives.
    pub fn acknowledge_each(&mut self) {
        self.rx.acknowledge_each();
    }

    /// Returns what the last data segment says of its departure, or `None` unless the controller probes.
    #[inline]
    pub fn departure(&self) -> Option<Departure> {
        self.tx.trains.as_ref().map(|trains| trains.departure)
    }

    /// Sets the seed of what the controller draws at random.
    pub fn set_controller_seed(&mut self, seed: u64) {
        self.tx.cc.set_seed(seed);
    }

    /// Is called with the interface of the host, if the controller probes.
    pub fn on_nic(&mut self, nic: &Nic) {
        self.tx.cc.on_nic(nic);
        self.tx.refresh();
    }

    /// Is called when a data segment has arrived at the peer, before the ACK that says so.
    pub fn on_arrival(&mut self, now: Time, arrival: &Arrival) {
        self.tx.cc.on_arrival(now, arrival);
        self.tx.refresh();
        self.reconsider();
    }

    /// Is called with what a data segment and its ACK have waited in the end hosts, before that ACK.
    pub fn on_endpoint_delay(&mut self, delay: Span) {
        self.tx.cc.on_endpoint_delay(delay);
    }

    /// The controller learns that the connection is there.
    pub(super) fn begin_controller(&mut self, now: Time, takes_over: bool) {
        let timestamps = if self.timestamps { crate::options::TIMESTAMPS_BYTES } else { 0 };
        let headers = u64::from(self.options.ip.tcp_headers_bytes()) + timestamps;
        let packet_bytes = u64::from(self.tx.mss) + headers;
        self.tx.begin_controller(&Start {
            now,
            rtt: self.tx.rtt.srtt(),
            packet_bytes,
            takes_over,
            accurate_ecn: self.accecn.is_some(),
        });
    }

    /// As `emit_data`, for a controller that probes. Of a base packet and one of a train that are due together, what was due first
    /// leaves first.
    #[cold]
    #[inline(never)]
    pub(super) fn emit_spaced(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) -> bool {
        self.begin_train(now);
        let Some(trains) = &self.tx.trains else { return false };
        let base_first = trains.base_due(self.tx.pacing_bps) <= trains.at;
        if base_first && self.emit_base(now, seg, sack) {
            return true;
        }
        self.emit_train(now, seg, sack) || !base_first && self.emit_base(now, seg, sack)
    }

    /// The next base packet, if one is due.
    fn emit_base(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) -> bool {
        let Some(trains) = &self.tx.trains else { return false };
        let (train, base) = (trains.at, trains.base_due(self.tx.pacing_bps));
        if now < base && !self.is_fin_alone() {
            self.pace_wake = train.min(base);
            if self.backlog() > 0 {
                self.clock.set(now, Limit::Cwnd, self.stats.data_octets_out);
            }
            if self.tx.rec.watch.is_some() {
                self.watch_sent(now);
            }
            return false;
        }
        self.pace_wake = train;
        let (mut budget, mut tail) = (self.tx.cwnd.saturating_sub(self.tx.board.pipe()), None);
        if self.tx.rec.watch.is_some() {
            (budget, tail) = self.watch_data(budget);
        }
        self.emit_within(now, seg, sack, budget, tail)
    }

    /// Nothing is left to send but a FIN.
    fn is_fin_alone(&self) -> bool {
        self.tx.board.lost_bytes() == 0
            && self.next_piece(u64::MAX).is_ok_and(|piece| piece.sequence_len() == 1 && self.backlog() == 0)
    }

    /// A train begins if the controller wants one and nothing is to be retransmitted first.
    fn begin_train(&mut self, now: Time) {
        let waits = self.tx.trains.as_ref().is_some_and(|trains| trains.at == Time::NEVER);
        // One whose first packet may not leave would be cut at once, and wanted again.
        if !waits || self.tx.board.lost_bytes() > 0 || self.next_piece(u64::MAX).is_err() {
            return;
        }
        let bytes = self.backlog().min(self.tx.usable());
        let segments = if self.accepted() == self.total { bytes.div_ceil(self.mss()) } else { bytes / self.mss() };
        if segments > 0
            && let Some(train) = self.tx.cc.next_train(now, segments)
            && let Some(trains) = &mut self.tx.trains
        {
            trains.begin(now, &train);
            self.tx.refresh();
        }
    }

    /// The next packet of a train, if one is due.
    fn emit_train(&mut self, now: Time, seg: &mut Segment, sack: &mut SackBlocks) -> bool {
        if self.tx.trains.as_ref().is_none_or(|trains| now < trains.at) {
            return false;
        }
        let piece = self.next_piece(u64::MAX).ok().filter(|_| self.backlog() > 0);
        let Some(trains) = &mut self.tx.trains else { return false };
        let Some(piece) = piece else {
            let sent = trains.cut();
            self.tx.cc.on_train_cut(now, sent);
            self.tx.refresh();
            return false;
        };
        trains.in_train = true;
        self.emit_new(now, seg, sack, piece);
        if let Some(trains) = &mut self.tx.trains {
            trains.in_train = false;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Overrides, SackBlocks, Segment, stack};
    use elephan_cc::Spec;
    use elephan_units::{Bytes, Span};
    use std::sync::Arc;

    fn ms(ms: f64) -> Time {
        Time::from_seconds(ms * 1e-3)
    }

    fn options(congestion_control: &str) -> Arc<Options> {
        let mut options = stack("rfc").unwrap();
        let congestion_control = Some(Spec::named(congestion_control).unwrap());
        let (mss, timestamps) = (Some(Bytes(1210)), Some(false));
        options.apply(&Overrides { mss, timestamps, congestion_control, ..Overrides::default() }).unwrap();
        Arc::new(options)
    }

    /// Two ends after a handshake of 25 ms; the first has data without end.
    fn pair(congestion_control: &str) -> (Endpoint, Endpoint) {
        let o = options(congestion_control);
        let mut a = Endpoint::new(&o, o.controller(), 1);
        let mut b = Endpoint::new(&o, o.controller(), 2);
        let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
        b.listen();
        a.connect(Time::ZERO);
        assert!(a.poll_transmit(Time::ZERO, &mut seg, &mut sack));
        b.on_segment(ms(12.5), &seg, &sack);
        assert!(b.poll_transmit(ms(12.5), &mut seg, &mut sack));
        a.on_segment(ms(25.0), &seg, &sack);
        a.supply(u64::MAX);
        (a, b)
    }

    /// What leaves until `until_ms`: when, in ms, and whether it is a packet of a train.
    fn leaving(a: &mut Endpoint, mut now: Time, until_ms: f64) -> Vec<(f64, bool)> {
        let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
        let mut left = Vec::new();
        while now < ms(until_ms) {
            while a.poll_transmit(now, &mut seg, &mut sack) {
                if seg.len > 0 {
                    let departure = a.departure().unwrap();
                    assert_eq!(departure.at, now);
                    left.push((now.seconds() * 1e3, departure.in_train));
                }
            }
            now = a.next_timer();
            if now < ms(until_ms) {
                a.on_timer(now);
            }
        }
        left
    }

    fn same(left: &[(f64, bool)], expected: &[(f64, bool)]) {
        let near = |(a, b): (&(f64, bool), &(f64, bool))| (a.0 - b.0).abs() < 1e-6 && a.1 == b.1;
        assert!(left.len() == expected.len() && left.iter().zip(expected).all(near), "{left:?}");
    }

    /// Packets of 1250 bytes and 25 ms: two at 0.8 Mbit/s are 12.5 ms apart. When they have come, the base rate is 0.8 Mbit/s, a
    /// packet each 12.5 ms, the first at once, and three go at 1.6 Mbit/s, 6.25 ms apart; a base packet leaves before one of
    /// the train that is due with it. No ACK comes: with eight packets out the cap of 2 * 2 + 4 is reached.
    #[test]
    fn trains_go_beside_base_packets() {
        let (mut a, _) = pair("pcp");
        same(&leaving(&mut a, ms(25.0), 62.0), &[(25.0, true), (37.5, true)]);
        for (sent, left) in [(1, 25.0), (2, 37.5)] {
            let departure = Departure { at: ms(left), train: 1, sent, in_train: true, bases: 0 };
            a.on_arrival(ms(62.75), &Arrival { departure, at: ms(left + 12.75) });
        }
        let (base, train) = (false, true);
        let second = [(62.75, base), (62.75, train), (69.0, train), (75.25, base), (75.25, train), (87.75, base)];
        same(&leaving(&mut a, ms(62.75), 150.0), &second);
    }

    /// A stream of one packet is a train of one, and the FIN goes with it.
    #[test]
    fn a_train_ends_with_the_data() {
        let (mut a, _) = pair("pcp");
        a.total = 1210;
        a.close(ms(25.0));
        same(&leaving(&mut a, ms(25.0), 60.0), &[(25.0, true)]);
        assert!(a.fin_sent);
    }

    /// Every second segment otherwise; each when asked for.
    #[test]
    fn each_segment_is_acknowledged() {
        for (each, acks) in [(false, 1), (true, 2)] {
            let (mut a, mut b) = pair("reno");
            if each {
                b.acknowledge_each();
            }
            let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
            let mut count = 0;
            while a.poll_transmit(ms(25.0), &mut seg, &mut sack) && seg.seq < 2 * 1210 {
                b.on_segment(ms(37.5) + Span::from_us(u64::from(seg.seq)), &seg, &sack);
                let mut answer = Segment::default();
                while b.poll_transmit(ms(38.0), &mut answer, &mut sack) {
                    count += 1;
                }
            }
            assert_eq!(count, acks, "{each}");
        }
    }
}
