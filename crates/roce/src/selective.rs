//! What a sender that repeats single packets knows of those in flight (IRN: Mittal et al., "Revisiting network support for RDMA", SIGCOMM
//! 2018, section 3.1).
//!
//! ```text
//! packet n is lost:   it is not acknowledged, and a packet beyond n + reordering is;  at a timeout the first without acknowledgement is
//! recovery:           begins with the first lost packet, ends when all that had been sent until then is acknowledged
//! in recovery:        each lost packet is repeated once, in order; new packets follow when no lost one is left
//! ```

use std::collections::VecDeque;

#[derive(Clone, Debug, Default)]
pub struct Selective {
    /// Which packets from the first without acknowledgement on are with the receiver.
    got: VecDeque<bool>,
    /// The packet after the newest of them.
    newest: u64,
    /// Recovery ends here.
    recover: Option<u64>,
    /// Lost packets before this one have been repeated.
    repeated: u64,
    /// The first packet is lost, whatever the others say.
    expired: bool,
}

impl Selective {
    /// The receiver has packet `number` but not all from `first` on.
    pub fn on_got(&mut self, first: u64, number: u64) {
        let place = (number - first) as usize;
        if place >= self.got.len() {
            self.got.resize(place + 1, false);
        }
        self.got[place] = true;
        self.newest = self.newest.max(number + 1);
    }

    /// Packets from `before` to `first` are acknowledged.
    pub fn advance(&mut self, before: u64, first: u64) {
        self.got.drain(..((first - before) as usize).min(self.got.len()));
        self.repeated = self.repeated.max(first);
        self.expired = false;
        if self.recover.is_some_and(|end| first >= end) {
            self.recover = None;
        }
    }

    /// Whether recovery begins: something is lost, and nothing was before. `fresh` is the first packet that was never sent.
    pub fn enters(&mut self, first: u64, fresh: u64, reordering: u64) -> bool {
        if self.recover.is_some() || self.next_lost(first, reordering).is_none() {
            return false;
        }
        self.recover = Some(fresh);
        true
    }

    /// Nothing was acknowledged for too long: the first packet is repeated, and after it each lost one once more.
    pub fn expire(&mut self, first: u64, fresh: u64) {
        (self.recover, self.repeated, self.expired) = (Some(fresh), first, true);
    }

    /// The next lost packet that has not been repeated.
    pub fn next_lost(&self, first: u64, reordering: u64) -> Option<u64> {
        let from = self.repeated.max(first);
        if self.expired && from == first {
            return Some(first);
        }
        let end = self.newest.saturating_sub(reordering + 1);
        (from..end).find(|&number| !self.got.get((number - first) as usize).copied().unwrap_or(false))
    }

    /// A lost packet has been repeated.
    pub fn on_repeated(&mut self, number: u64) {
        self.repeated = number + 1;
        self.expired = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_before_one_that_is_there_are_lost_and_repeated_once() {
        let mut s = Selective::default();
        assert_eq!(s.next_lost(10, 0), None);
        s.on_got(10, 12);
        assert!(s.enters(10, 20, 0) && !s.enters(10, 20, 0));
        assert_eq!(s.next_lost(10, 0), Some(10));
        s.on_repeated(10);
        assert_eq!(s.next_lost(10, 0), Some(11));
        s.on_repeated(11);
        assert_eq!(s.next_lost(10, 0), None);
        s.on_got(10, 14);
        assert_eq!(s.next_lost(10, 0), Some(13));
        // Packets up to 13 are there: 13 itself is still missing, and recovery goes on until 20.
        s.advance(10, 13);
        assert_eq!(s.next_lost(13, 0), Some(13));
        s.advance(13, 20);
        s.on_got(20, 22);
        assert!(s.enters(20, 23, 0));
    }

    #[test]
    fn packets_may_overtake_so_many() {
        let mut s = Selective::default();
        s.on_got(0, 3);
        assert_eq!(s.next_lost(0, 3), None);
        s.on_got(0, 4);
        assert_eq!(s.next_lost(0, 3), Some(0));
    }

    #[test]
    fn at_a_timeout_the_first_is_repeated_alone() {
        let mut s = Selective::default();
        s.expire(5, 9);
        assert_eq!(s.next_lost(5, 0), Some(5));
        s.on_repeated(5);
        assert_eq!(s.next_lost(5, 0), None);
    }
}
