//! CoDel's control law (Nichols and Jacobson 2012, RFC 8289), as Linux codel_impl.h has it.
//!
//! A packet that leaves is late if it has waited for `target` or longer while more than one full packet still waits. When
//! packets have been late for longer than `interval` one is dropped, and
//!
//! ```text
//! next = t + interval / sqrt(count)         count = 1, 2, 3, ... drops of this state
//! ```
//!
//! until one is in time. A state that begins within 16 intervals of the last `next` goes on with the rate that the one
//! before ended with: count = count - count at its beginning, if that is above 1. With ECN a drop is a mark if the packet is
//! ECN-capable, one a departure. Left out: Linux approximates 1 / sqrt by a Newton step for each drop; here it is exact.

use elephan_units::{Span, Time};

use super::can_mark;
use crate::queue::{Discarded, Item};

/// Why it drops.
pub const REASON: &str = "codel";
/// Intervals after the last `next` within which a state goes on with the rate of the one before.
const REENTRY_INTERVALS: u64 = 16;

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    pub target: Span,
    pub interval: Span,
    pub ecn: bool,
    /// ECN-capable packets that have waited for longer are marked whatever the state.
    pub ce_threshold: Span,
}

/// The state of one queue under the control law.
#[derive(Clone, Copy, Debug)]
pub struct Codel {
    count: u32,
    /// `count` at the beginning of the last dropping state.
    last_count: u32,
    dropping: bool,
    /// When packets will have been late for an interval; never while they are in time.
    first_above: Time,
    drop_next: Time,
}

impl Default for Codel {
    fn default() -> Codel {
        Codel { count: 0, last_count: 0, dropping: false, first_above: Time::NEVER, drop_next: Time::ZERO }
    }
}

impl Tuning {
    /// `t + interval / sqrt(count)`.
    fn next(&self, t: Time, count: u32) -> Time {
        t.saturating_add(Span::from_seconds(self.interval.seconds() / f64::from(count).sqrt()))
    }
}

impl Codel {
    /// So many packets were dropped because there was no room: the signal gets stronger by as many (RFC 8290 section 4.1.3).
    pub fn overflow(&mut self, packets: u32) {
        self.count = self.count.saturating_add(packets);
    }

    /// The next packet and whether it is marked. `pop` gives packets, each with the bytes that wait behind it; `mtu_bytes` is
    /// the largest packet.
    #[inline]
    pub fn dequeue(
        &mut self,
        tuning: &Tuning,
        now: Time,
        mtu_bytes: u32,
        mut pop: impl FnMut() -> Option<(Item, u64)>,
        discarded: &mut Discarded,
    ) -> Option<(Item, bool)> {
        let Some((item, behind)) = pop() else {
            // An empty queue is in time.
            (self.dropping, self.first_above) = (false, Time::NEVER);
            return None;
        };
        let late = self.is_late(tuning, now, mtu_bytes, item, behind);
        let (item, marked) = match (self.dropping, late) {
            (false, false) => (item, false),
            (true, false) => {
                self.dropping = false;
                (item, false)
            }
            (true, true) if now < self.drop_next => (item, false),
            (true, true) => self.go_on(tuning, now, mtu_bytes, item, &mut pop, discarded)?,
            (false, true) => self.begin(tuning, now, mtu_bytes, item, &mut pop, discarded)?,
        };
        Some((item, marked || (now.since(item.at) > tuning.ce_threshold && can_mark(true, &item))))
    }

    /// Whether packets have been late for longer than an interval.
    #[inline]
    fn is_late(&mut self, tuning: &Tuning, now: Time, mtu_bytes: u32, item: Item, behind: u64) -> bool {
        if now.since(item.at) < tuning.target || behind <= u64::from(mtu_bytes) {
            self.first_above = Time::NEVER;
            return false;
        }
        if self.first_above == Time::NEVER {
            self.first_above = now.saturating_add(tuning.interval);
            return false;
        }
        now > self.first_above
    }

    /// Takes the next packet after a drop.
    fn another(
        &mut self,
        tuning: &Tuning,
        now: Time,
        mtu_bytes: u32,
        pop: &mut impl FnMut() -> Option<(Item, u64)>,
    ) -> Option<(Item, bool)> {
        let next = pop().map(|(item, behind)| (item, self.is_late(tuning, now, mtu_bytes, item, behind)));
        if next.is_none() {
            self.first_above = Time::NEVER;
        }
        next
    }

    /// Drops that are due in the dropping state.
    #[cold]
    fn go_on(
        &mut self,
        tuning: &Tuning,
        now: Time,
        mtu_bytes: u32,
        mut item: Item,
        pop: &mut impl FnMut() -> Option<(Item, u64)>,
        discarded: &mut Discarded,
    ) -> Option<(Item, bool)> {
        while self.dropping && now >= self.drop_next {
            self.count = self.count.saturating_add(1);
            if can_mark(tuning.ecn, &item) {
                self.drop_next = tuning.next(self.drop_next, self.count);
                return Some((item, true));
            }
            discarded.push((item, REASON));
            let Some((next, late)) = self.another(tuning, now, mtu_bytes, pop) else {
                self.dropping = false;
                return None;
            };
            item = next;
            if late {
                self.drop_next = tuning.next(self.drop_next, self.count);
            } else {
                self.dropping = false;
            }
        }
        Some((item, false))
    }

    /// The first drop of a dropping state.
    #[cold]
    fn begin(
        &mut self,
        tuning: &Tuning,
        now: Time,
        mtu_bytes: u32,
        item: Item,
        pop: &mut impl FnMut() -> Option<(Item, u64)>,
        discarded: &mut Discarded,
    ) -> Option<(Item, bool)> {
        let answer = if can_mark(tuning.ecn, &item) {
            Some((item, true))
        } else {
            discarded.push((item, REASON));
            self.another(tuning, now, mtu_bytes, pop).map(|(next, _)| (next, false))
        };
        self.dropping = true;
        let gained = self.count.saturating_sub(self.last_count);
        let soon = now.since(self.drop_next) < tuning.interval.saturating_mul(REENTRY_INTERVALS);
        self.count = if gained > 1 && soon { gained } else { 1 };
        self.last_count = self.count;
        self.drop_next = tuning.next(now, self.count);
        answer
    }
}
