//! The receiving end: takes what is in order, answers, notifies of marks.

use std::collections::VecDeque;
use std::sync::Arc;

use elephan_units::Time;

use crate::Options;
use crate::options::{CNP_INTERVAL, Recovery};
use crate::wire;

/// What is said of the data so far; the number is that of the packet expected next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Ack(u32),
    Nak(u32),
    /// With the number of a packet that has come out of order and was kept.
    Sack {
        expected: u32,
        got: u32,
    },
}

/// What a data packet has led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Payload that was taken.
    pub taken: u32,
    pub answer: Option<Answer>,
    /// A congestion notification is to be sent.
    pub notify: bool,
}

#[derive(Clone, Debug)]
pub struct Receiver {
    options: Arc<Options>,
    /// Payload of the packets kept beyond the one that is expected; none of those that are missing.
    kept: VecDeque<Option<u32>>,
    /// Packet that is expected next, and payload taken so far.
    expected: u64,
    received: u64,
    /// Packets taken and not acknowledged.
    waiting: u32,
    /// When `expected` was reported missing.
    nak_at: Option<Time>,
    cnp_at: Option<Time>,
    counters: Counters,
}

/// What happened at this end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub packets: u64,
    pub bytes: u64,
    pub marked: u64,
    pub notifications: u64,
    pub naks: u64,
    pub duplicates: u64,
}

impl Receiver {
    pub fn new(options: Arc<Options>) -> Receiver {
        Receiver {
            options,
            kept: VecDeque::new(),
            expected: 0,
            received: 0,
            waiting: 0,
            nak_at: None,
            cnp_at: None,
            counters: Counters::default(),
        }
    }

    /// Payload in order so far.
    pub fn received(&self) -> u64 {
        self.received
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// A data packet is in: its number, its payload, whether it asks for an acknowledgement, whether it is marked.
    pub fn on_data(&mut self, now: Time, psn: u32, len: u32, asks: bool, marked: bool) -> Reply {
        self.counters.packets += 1;
        self.counters.bytes += u64::from(len);
        let notify = self.notes(now, marked);
        let number = wire::ordinal(psn, self.expected);
        if number == self.expected {
            let kept = self.take_kept();
            let taken = len + kept;
            self.expected += 1;
            self.received += u64::from(taken);
            self.nak_at = None;
            self.waiting += 1;
            let answer = (asks || kept > 0 || self.waiting >= self.options.ack_every).then(|| self.acknowledge());
            return Reply { taken, answer, notify };
        }
        if number < self.expected {
            self.counters.duplicates += 1;
            return Reply { taken: 0, answer: Some(self.acknowledge()), notify };
        }
        if self.options.recovery == Recovery::SelectiveRepeat {
            let place = (number - self.expected - 1) as usize;
            if place >= self.kept.len() {
                self.kept.resize(place + 1, None);
            }
            self.counters.duplicates += u64::from(self.kept[place].replace(len).is_some());
            self.counters.naks += 1;
            self.waiting = 0;
            let answer = Some(Answer::Sack { expected: wire::psn(self.expected), got: psn });
            return Reply { taken: 0, answer, notify };
        }
        let again = self.nak_at.is_none_or(|at| now.since(at) >= self.options.nak_interval);
        let answer = again.then(|| {
            self.nak_at = Some(now);
            self.counters.naks += 1;
            self.waiting = 0;
            Answer::Nak(wire::psn(self.expected))
        });
        Reply { taken: 0, answer, notify }
    }

    /// Takes what was kept behind the packet that is expected, as far as nothing is missing; `expected` moves on.
    fn take_kept(&mut self) -> u32 {
        let mut taken = 0;
        while let Some(first) = self.kept.pop_front() {
            let Some(len) = first else { break };
            self.expected += 1;
            taken += len;
        }
        taken
    }

    fn acknowledge(&mut self) -> Answer {
        self.waiting = 0;
        Answer::Ack(wire::psn(self.expected))
    }

    fn notes(&mut self, now: Time, marked: bool) -> bool {
        self.counters.marked += u64::from(marked);
        let interval = self.options.cnp_interval.unwrap_or(CNP_INTERVAL);
        let due = marked && self.cnp_at.is_none_or(|at| now.since(at) >= interval);
        if due {
            self.cnp_at = Some(now);
            self.counters.notifications += 1;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephan_units::Span;

    fn receiver(options: Options) -> Receiver {
        Receiver::new(Arc::new(options))
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn answer(r: &mut Receiver, at: u64, psn: u32, last: bool) -> Option<Answer> {
        r.on_data(us(at), psn, 1000, last, false).answer
    }

    /// Every third packet, and the last of a work request.
    #[test]
    fn acknowledgements_are_counted() {
        let mut r = receiver(Options { ack_every: 3, ..Options::default() });
        let answers: Vec<_> = (0..7).map(|n| answer(&mut r, 0, n, n == 4)).collect();
        assert_eq!(answers, [None, None, Some(Answer::Ack(3)), None, Some(Answer::Ack(5)), None, None]);
        assert_eq!(r.received(), 7000);
    }

    /// One NAK for a missing packet, a second after 500 us; what came after the gap is not kept; old data is acknowledged again.
    #[test]
    fn gaps_are_reported_and_nothing_is_kept() {
        let mut r = receiver(Options::default());
        assert_eq!(answer(&mut r, 0, 0, false), Some(Answer::Ack(1)));
        assert_eq!(answer(&mut r, 1, 2, false), Some(Answer::Nak(1)));
        assert_eq!(answer(&mut r, 2, 3, true), None);
        assert_eq!(answer(&mut r, 500, 4, false), None);
        assert_eq!(answer(&mut r, 501, 5, false), Some(Answer::Nak(1)));
        assert_eq!(answer(&mut r, 502, 0, false), Some(Answer::Ack(1)));
        assert_eq!(answer(&mut r, 503, 1, false), Some(Answer::Ack(2)));
        assert_eq!(answer(&mut r, 504, 3, false), Some(Answer::Nak(2)));
        assert_eq!(r.received(), 2000);
    }

    /// What comes behind a gap is kept, and taken when the gap is filled.
    #[test]
    fn selective_repeat_keeps_what_is_out_of_order() {
        let mut r = receiver(Options { recovery: Recovery::SelectiveRepeat, ..Options::default() });
        assert_eq!(answer(&mut r, 0, 0, false), Some(Answer::Ack(1)));
        assert_eq!(answer(&mut r, 1, 2, false), Some(Answer::Sack { expected: 1, got: 2 }));
        assert_eq!(answer(&mut r, 2, 4, false), Some(Answer::Sack { expected: 1, got: 4 }));
        assert_eq!(r.received(), 1000);
        assert_eq!(answer(&mut r, 3, 1, false), Some(Answer::Ack(3)));
        assert_eq!(r.received(), 3000);
        assert_eq!(answer(&mut r, 4, 4, false), Some(Answer::Sack { expected: 3, got: 4 }));
        assert_eq!(answer(&mut r, 5, 3, false), Some(Answer::Ack(5)));
        assert_eq!((r.received(), r.counters().duplicates), (5000, 1));
        assert_eq!(answer(&mut r, 6, 5, false), Some(Answer::Ack(6)));
    }

    /// A notification at once, then after 50 us, for marked packets whether they are in order or not.
    #[test]
    fn notifications_are_spaced() {
        let mut r = receiver(Options::default());
        let notified: Vec<bool> = [(0, true), (49, true), (50, true), (60, false), (110, false), (111, true)]
            .map(|(at, marked)| r.on_data(us(at), 7, 1000, false, marked).notify)
            .to_vec();
        assert_eq!(notified, [true, false, true, false, false, true]);
        assert_eq!((r.counters().marked, r.counters().notifications), (4, 3));
    }
}
