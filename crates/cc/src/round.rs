//! Round trips, counted by the bytes acknowledged, and what the round-trip times of each say.

use crate::{Ack, Window};
use elephan_units::Span;

/// Round trips by bytes: one ends when an ACK goes beyond what had been sent when it began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// Bytes of this round that are not yet acknowledged.
    left: u64,
}

impl Round {
    /// Counts an ACK; answers whether it is the first of a new round.
    #[inline]
    pub fn advance(&mut self, ack: &Ack) -> bool {
        if ack.acked <= self.left {
            self.left -= ack.acked;
            return false;
        }
        self.left = ack.inflight.saturating_sub(ack.acked);
        true
    }
}

/// The round-trip times of each round beside the smallest ever: what congestion controls that look at delay decide by.
#[derive(Clone, Copy, Debug)]
pub struct Delay {
    round: Round,
    /// The smallest round-trip time ever; none before the first.
    base: Option<Span>,
    min: Span,
    sum_ps: u128,
    samples: u32,
    /// Beginnings of rounds until round-trip times count again.
    ignored: u8,
}

/// What a round that is over has measured.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    pub base: Span,
    pub min: Span,
    pub mean: Span,
    /// Nothing above is known without samples.
    pub samples: u32,
}

impl Delay {
    pub fn new() -> Delay {
        Delay { round: Round::default(), base: None, min: Span::MAX, sum_ps: 0, samples: 0, ignored: 0 }
    }

    /// Counts an ACK; at the first of a new round answers what the round before it has measured.
    #[inline]
    pub fn advance(&mut self, ack: &Ack) -> Option<Measured> {
        let over = self.round.advance(ack).then(|| self.begin_round());
        if let Some(rtt) = ack.rtt {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
            if self.ignored == 0 {
                self.min = self.min.min(rtt);
                self.sum_ps += u128::from(rtt.ps());
                self.samples += 1;
            }
        }
        over
    }

    /// A congestion event: the round of what was sent before it tells nothing about the window after it.
    pub fn restart(&mut self) {
        *self = Delay { base: self.base, ignored: 2, ..Delay::new() };
    }

    /// Sending begins again with nothing in flight: the smallest round-trip time is measured anew, and the round begins (Linux
    /// `tcp_vegas_init`, `tcp_veno_init`).
    pub fn forget(&mut self) {
        *self = Delay::new();
    }

    /// Sets the smallest round-trip time in seconds: for tests.
    pub fn set_base(&mut self, seconds: f64) {
        self.base = Some(Span::from_seconds(seconds));
    }

    /// The smallest round-trip time in seconds, zero before the first: for observers.
    pub fn base_s(&self) -> f64 {
        self.base.unwrap_or(Span::ZERO).seconds()
    }

    fn begin_round(&mut self) -> Measured {
        let base = self.base.unwrap_or(Span::ZERO);
        let mean = self.sum_ps.checked_div(u128::from(self.samples)).map_or(base, |ps| Span(ps as u64));
        let measured = Measured { base, min: self.min, mean, samples: self.samples };
        (self.min, self.sum_ps, self.samples) = (Span::MAX, 0, 0);
        self.ignored = self.ignored.saturating_sub(1);
        measured
    }
}

impl Measured {
    /// The part of the window, in segments, that waits in queues when a round trip takes `rtt`: cwnd (1 - base / rtt).
    pub fn backlog(&self, w: &Window, rtt: Span) -> f64 {
        if rtt == Span::ZERO {
            return 0.0;
        }
        w.cwnd / w.mss * (1.0 - self.base.ps() as f64 / rtt.ps() as f64)
    }
}

/// Seconds of a round-trip time that is [`Span::MAX`] until it is known, zero until then: for observers.
pub fn known_s(rtt: Span) -> f64 {
    if rtt == Span::MAX { 0.0 } else { rtt.seconds() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(rtt_ms: u64) -> Ack {
        Ack { acked: 1000, inflight: 3000, rtt: Some(Span::from_ms(rtt_ms)), ..Ack::default() }
    }

    /// Three segments in flight: every third ACK begins a round.
    #[test]
    fn a_round_is_what_was_in_flight_when_it_began() {
        let mut delay = Delay::new();
        let first = delay.advance(&ack(100)).unwrap();
        assert_eq!(first.samples, 0);
        assert!(delay.advance(&ack(120)).is_none() && delay.advance(&ack(140)).is_none());
        let over = delay.advance(&ack(200)).unwrap();
        let ms = Span::from_ms;
        assert_eq!((over.base, over.min, over.mean, over.samples), (ms(100), ms(100), ms(120), 3));
        let w = Window { cwnd: 50_000.0, ssthresh: 1.0, mss: 1000.0 };
        assert!((over.backlog(&w, ms(125)) - 10.0).abs() < 1e-12);
    }

    /// After an event the window before it is not looked at, but a new smallest round-trip time is believed.
    #[test]
    fn the_round_of_an_event_is_not_measured() {
        let mut delay = Delay::new();
        delay.restart();
        let samples: Vec<u32> =
            (0..10).filter_map(|n| delay.advance(&ack(100 - n))).map(|measured| measured.samples).collect();
        assert_eq!((samples, delay.base_s()), (vec![0, 0, 3, 3], 0.091));
    }
}
