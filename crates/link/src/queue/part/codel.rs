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
//!
//! Besides, an ECN-capable packet that has waited for longer than `ce_threshold` is marked whatever the state, if
//! `DS field & mask == value` of the selector (Linux `ce_threshold_selector`). DSCP is 0 here: of the DS field only ECN is told apart.

use elephan_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Which of them.
    pub ce_threshold_selector: Selector,
}

/// Packets by their DS field, as tc writes them: `VALUE/MASK`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^[0-9A-Fa-fx]+/[0-9A-Fa-fx]+$"))]
pub struct Selector {
    value: u8,
    mask: u8,
}

impl Selector {
    #[inline]
    fn takes(self, item: &Item) -> bool {
        item.ecn & self.mask == self.value
    }
}

impl TryFrom<String> for Selector {
    type Error = String;

    fn try_from(text: String) -> Result<Selector, String> {
        let byte = |part: &str| match part.trim().strip_prefix("0x") {
            Some(digits) => u8::from_str_radix(digits, 16).ok(),
            None => part.trim().parse().ok(),
        };
        let parts = text.split_once('/').and_then(|(value, mask)| Some((byte(value)?, byte(mask)?)));
        let Some((value, mask)) = parts else {
            return Err(format!("\"{text}\" is no selector VALUE/MASK of two bytes, such as \"0x1/0x3\" for ECT(1)"));
        };
        if value & mask != value {
            return Err(format!("\"{text}\" selects nothing: the value has bits outside the mask"));
        }
        Ok(Selector { value, mask })
    }
}

impl From<Selector> for String {
    fn from(s: Selector) -> String {
        format!("{:#x}/{:#x}", s.value, s.mask)
    }
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
        let above = now.since(item.at) > tuning.ce_threshold && tuning.ce_threshold_selector.takes(&item);
        Some((item, marked || (above && can_mark(true, &item))))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux codel_impl.h: `(dsfield & ce_threshold_mask) == ce_threshold_selector`; tc writes ECT(1) as 0x1/0x3.
    #[test]
    fn selectors() {
        let taken = |text: &str| {
            let selector = Selector::try_from(text.to_owned()).unwrap();
            (0..4).filter(|&ecn| selector.takes(&Item { ecn, ..Item::default() })).collect::<Vec<u8>>()
        };
        assert_eq!((taken("0x1/0x3"), taken("1/3")), (vec![1], vec![1]));
        assert_eq!((taken("0x1/0x1"), taken("0/0"), taken("0x4/0xfc")), (vec![1, 3], vec![0, 1, 2, 3], vec![]));
        assert_eq!(String::from(Selector { value: 1, mask: 3 }), "0x1/0x3");
        for wrong in ["", "1", "0x1/", "0x100/0x3", "0x2/0x1", "ect1"] {
            assert!(Selector::try_from(wrong.to_owned()).unwrap_err().contains(wrong));
        }
    }
}
