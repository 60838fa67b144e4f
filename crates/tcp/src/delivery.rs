//! Delivery rate (draft-cheng-iccrg-delivery-rate-estimation; Linux `tcp_rate.c`): how fast data reached the receiver
//! between the sending of a segment and its acknowledgement.
//!
//! A segment P remembers, when it is sent, what had been delivered by then and when. The ACK that first covers it gives
//!
//! ```text
//! send_elapsed = P.sent - P.first_sent       ack_elapsed = now - P.delivered_at
//! rate         = (delivered - P.delivered) / max(send_elapsed, ack_elapsed)
//! ```
//!
//! for the newest segment that it covers; `first_sent` is the sending time of the segment that gave the sample before, so
//! that both intervals span the same data. A sample over less than the smallest round-trip time, which only compressed
//! or misordered ACKs give, is dropped. A segment sent while the application had nothing more to send marks its sample.
//!
//! Kept for controllers that ask for it, and for who reads `tcp_info`: 32 bytes a segment in flight.

use elephan_units::{PS_PER_S, Span, Time};

/// What was known when a segment was sent.
#[derive(Clone, Copy, Debug, Default)]
struct Stamp {
    sent: u64,
    first_sent: u64,
    delivered_at: u64,
    /// Bytes delivered, and in the highest bit whether the application was the limit.
    delivered: u64,
}

const LIMITED: u64 = 1 << 63;

/// A measured rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// None over less than the smallest round-trip time.
    pub bps: Option<f64>,
    /// Bytes delivered when the segment was sent.
    pub prior: u64,
    /// The application, not the network, may have limited it.
    pub app_limited: bool,
}

/// The stamps of the segments in flight, by ordinal.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeliveryLog {
    stamps: Vec<Stamp>,
    first_sent: Time,
    delivered_at: Time,
    /// Samples are limited by the application until so much is delivered.
    limited_until: u64,
    /// Segments before this one were sent before anything was kept.
    first: u64,
    /// The sample that `tcp_info` shows.
    last: Option<Sample>,
    /// What the controller was last told to be delivered.
    pub told: u64,
    /// Nothing but `tcp_info` looks at the samples.
    shown_only: bool,
}

impl DeliveryLog {
    /// Kept from the start of a connection, of which only `tcp_info` shows something.
    pub fn for_info() -> DeliveryLog {
        DeliveryLog { shown_only: true, ..DeliveryLog::default() }
    }

    /// Sets whether only `tcp_info` looks at the samples.
    pub fn set_shown_only(&mut self, shown_only: bool) {
        self.shown_only = shown_only;
    }

    pub fn is_shown_only(&self) -> bool {
        self.shown_only
    }

    /// Kept from now on: segment `first` is the next to be sent.
    pub fn starting(now: Time, first: u64) -> DeliveryLog {
        DeliveryLog { first_sent: now, delivered_at: now, first, ..DeliveryLog::default() }
    }

    /// Segment `ordinal` is sent, the first in flight being `oldest`; nothing was in flight before if `idle`.
    pub fn sent(&mut self, now: Time, ordinal: u64, oldest: u64, idle: bool, delivered: u64) {
        if idle {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        if ordinal - oldest >= self.stamps.len() as u64 {
            self.grow(oldest, ordinal);
        }
        let limited = if delivered <= self.limited_until { LIMITED } else { 0 };
        let place = self.place(ordinal);
        self.stamps[place] = Stamp {
            sent: now.0,
            first_sent: self.first_sent.0,
            delivered_at: self.delivered_at.0,
            delivered: delivered | limited,
        };
    }

    fn place(&self, ordinal: u64) -> usize {
        ordinal as usize & (self.stamps.len() - 1)
    }

    #[cold]
    fn grow(&mut self, oldest: u64, newest: u64) {
        let capacity = (newest - oldest + 1).next_power_of_two().max(128) as usize;
        let mut stamps = vec![Stamp::default(); capacity];
        if !self.stamps.is_empty() {
            for ordinal in oldest..newest {
                stamps[ordinal as usize & (capacity - 1)] = self.stamps[self.place(ordinal)];
            }
        }
        self.stamps = stamps;
    }

    /// The application writes when nothing is left to send: what is in flight, `pipe` bytes, gives no full rate, nor does what is sent
    /// before more than that is delivered.
    pub fn limited(&mut self, delivered: u64, pipe: u64) {
        self.limited_until = delivered + pipe;
    }

    /// An ACK at which `delivered` bytes are delivered; `newest` is the segment sent last of those it covers first.
    pub fn sample(&mut self, now: Time, newest: u64, delivered: u64, min_rtt: Span) -> Option<Sample> {
        if newest < self.first || self.stamps.is_empty() {
            // When it was sent is not known: not after this, so that sending does not seem slower than it was.
            (self.first_sent, self.delivered_at) = (Time(now.0.saturating_sub(min_rtt.0)), now);
            return None;
        }
        let stamp = self.stamps[self.place(newest)];
        self.delivered_at = now;
        self.first_sent = Time(stamp.sent);
        let before = stamp.delivered & !LIMITED;
        let interval = (stamp.sent - stamp.first_sent).max(now.0 - stamp.delivered_at);
        let whole = interval >= min_rtt.0.max(1) && min_rtt != Span::MAX;
        let bits = delivered.saturating_sub(before) as f64 * 8.0;
        let bps = whole.then(|| bits * PS_PER_S as f64 / interval as f64);
        let sample = Sample { bps, prior: before, app_limited: stamp.delivered & LIMITED != 0 };
        // A sample that the application limited is shown only if it is no lower (Linux tcp_rate_gen).
        let shows = !sample.app_limited || self.last.is_none_or(|last| bps >= last.bps);
        if whole && shows {
            self.last = Some(sample);
        }
        (!self.shown_only).then_some(sample)
    }

    /// The sample that `tcp_info` shows.
    pub fn last(&self) -> Option<Sample> {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn ms(t: u64) -> Time {
        Time(t * MS)
    }

    /// Ten segments of 1000 bytes leave at once and are acknowledged one a millisecond from 100 ms on: the first ACK sees
    /// 1000 bytes in 100 ms, 80 kbit/s; the tenth 10 000 bytes in 109 ms. The next ten, sent as they are clocked, are
    /// measured at 1000 bytes a millisecond.
    #[test]
    fn ack_clocked_segments_show_the_rate_of_the_bottleneck() {
        let mut log = DeliveryLog::default();
        for ordinal in 0..10 {
            log.sent(ms(0), ordinal, 0, ordinal == 0, 0);
        }
        let rtt = Span(100 * MS);
        let mut samples = Vec::new();
        for i in 0..110u64 {
            let now = ms(100 + i % 10 + 100 * (i / 10));
            let sample = log.sample(now, i, 1000 * (i + 1), rtt);
            samples.push(sample.unwrap().bps.unwrap());
            log.sent(now, 10 + i, i + 1, false, 1000 * (i + 1));
        }
        assert_eq!(samples[0], 80_000.0);
        assert!((samples[9] - 10_000.0 * 8.0 / 0.109).abs() < 1e-6);
        // A window of ten segments a round trip of 100 ms: 800 kbit/s.
        assert!((samples[109] - 800_000.0).abs() < 1e-6, "{}", samples[109]);
    }

    /// ACKs that come compressed do not raise the rate above that of sending.
    #[test]
    fn compressed_acks_do_not_count() {
        let mut log = DeliveryLog::default();
        for ordinal in 0..10 {
            log.sent(ms(ordinal), ordinal, 0, ordinal == 0, 0);
        }
        // The first segment's ACK at 100 ms, the other nine together at 110 ms.
        log.sample(ms(100), 0, 1000, Span(100 * MS)).unwrap();
        let sample = log.sample(ms(110), 9, 10_000, Span(100 * MS)).unwrap();
        assert!((sample.bps.unwrap() - 10_000.0 * 8.0 / 0.110).abs() < 1e-6);
        assert_eq!(log.sample(ms(111), 9, 10_000, Span(200 * MS)).unwrap().bps, None);
    }

    /// Kept from 50 ms on: what was sent before gives no sample, what is sent after shows the rate of the bottleneck, 1000
    /// bytes a millisecond of 100 a round trip of 100 ms.
    #[test]
    fn a_log_that_starts_late_knows_only_what_it_has_seen() {
        let mut log = DeliveryLog::starting(ms(50), 100);
        for i in 0..200u64 {
            let sample = log.sample(ms(100 + i), i, 1000 * (i + 1), Span(100 * MS));
            match i {
                0..100 => assert_eq!(sample, None),
                _ => assert!((sample.unwrap().bps.unwrap() - 8e6).abs() < 1e-6, "{i}: {sample:?}"),
            }
            log.sent(ms(100 + i), 100 + i, i + 1, false, 1000 * (i + 1));
        }
    }

    #[test]
    fn samples_are_marked_while_the_application_limits() {
        let mut log = DeliveryLog::default();
        log.sent(ms(0), 0, 0, true, 0);
        log.sent(ms(1), 1, 0, false, 0);
        // Nothing is known before the first delivery; then what is in flight when the application writes counts until more is delivered.
        assert!(log.sample(ms(100), 0, 1000, Span(MS)).unwrap().app_limited);
        assert!(log.sample(ms(101), 1, 2000, Span(MS)).unwrap().app_limited);
        log.limited(2000, 1000);
        log.sent(ms(101), 2, 2, true, 2000);
        assert!(log.sample(ms(201), 2, 3000, Span(MS)).unwrap().app_limited);
        log.sent(ms(201), 3, 3, true, 3000);
        assert!(log.sample(ms(301), 3, 4000, Span(MS)).unwrap().app_limited);
        log.sent(ms(301), 4, 4, true, 4000);
        assert!(!log.sample(ms(401), 4, 5000, Span(MS)).unwrap().app_limited);
    }
}
