//! COBALT, the algorithm of CAKE's queues (Linux sch_cake.c): CoDel and BLUE side by side.
//!
//! ```text
//! CoDel:  late = waited > target and > 4 mtu_time;  next = t + interval / sqrt(count), one step of count at each next:
//!         up with a drop or mark while packets are late, down without when they are in time again
//! BLUE:   p += 1/256 when the queue overflows, p -= 1/4096 when it is empty, each at most once a target
//! ```
//!
//! The last packet of a queue is not dropped. CoDel marks what is ECN-capable, BLUE only drops. A queue that is empty goes on
//! to step down as time passes; Linux looks at such queues at each departure of the port, here they are brought up to
//! date when their next packet comes.

use elephan_random::Stream;
use elephan_units::{Span, Time};

use super::can_mark;
use crate::queue::Item;

/// Why it drops.
pub const REASON_CODEL: &str = "codel";
pub const REASON_BLUE: &str = "blue";
/// Steps of BLUE (Linux sch_cake.c: 2^24 and 2^20 of 2^32).
const BLUE_UP: f64 = 1.0 / 256.0;
const BLUE_DOWN: f64 = 1.0 / 4096.0;

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    pub target: Span,
    pub interval: Span,
    /// Transmission time of a full packet at the shaper's rate; zero without one.
    pub mtu_time: Span,
}

/// The state of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cobalt {
    count: u32,
    dropping: bool,
    drop_next: Time,
    /// BLUE's probability and when it last changed.
    probability: f64,
    changed: Time,
}

/// What becomes of a packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    Passes,
    IsMarked,
    IsDropped(&'static str),
}

impl Tuning {
    fn next(&self, t: Time, count: u32) -> Time {
        t.saturating_add(Span::from_seconds(self.interval.seconds() / f64::from(count.max(1)).sqrt()))
    }
}

impl Cobalt {
    /// A packet was dropped because there was no room.
    pub fn overflow(&mut self, tuning: &Tuning, now: Time) {
        if now.since(self.changed) > tuning.target {
            self.probability = (self.probability + BLUE_UP).min(1.0);
            self.changed = now;
        }
        (self.dropping, self.drop_next) = (true, now);
        self.count = self.count.max(1);
    }

    /// The queue has been empty since the last call about it.
    pub fn rest(&mut self, tuning: &Tuning, now: Time) {
        self.dropping = false;
        while self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.drop_next = tuning.next(self.drop_next, self.count);
        }
        while self.probability > 0.0 && now.since(self.changed) > tuning.target {
            self.probability = (self.probability - BLUE_DOWN).max(0.0);
            self.changed = self.changed.saturating_add(tuning.target).saturating_add(Span(1));
        }
    }

    /// Whether nothing is left of what happened to the queue.
    pub fn is_at_rest(&self, now: Time) -> bool {
        self.count == 0 && self.probability == 0.0 && now >= self.drop_next
    }

    /// A packet is to leave.
    #[inline]
    pub fn pick(&mut self, tuning: &Tuning, now: Time, item: &Item, stream: &mut Stream) -> Pick {
        let sojourn = now.since(item.at);
        let late = sojourn > tuning.target && sojourn > tuning.mtu_time.saturating_mul(4);
        let mut due = self.count > 0 && now >= self.drop_next;
        let mut behind = now > self.drop_next;
        if late {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = tuning.next(now, self.count);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let mut pick = Pick::Passes;
        if due && self.dropping {
            pick = if can_mark(true, item) { Pick::IsMarked } else { Pick::IsDropped(REASON_CODEL) };
            self.count = self.count.saturating_add(1);
            self.drop_next = tuning.next(self.drop_next, self.count);
            behind = now > self.drop_next;
        } else {
            while due {
                self.count -= 1;
                self.drop_next = tuning.next(self.drop_next, self.count);
                behind = now > self.drop_next;
                due = self.count > 0 && now >= self.drop_next;
            }
        }
        if self.probability > 0.0 && !matches!(pick, Pick::IsDropped(_)) && stream.bernoulli(self.probability) {
            pick = Pick::IsDropped(REASON_BLUE);
        }
        if self.count == 0 {
            self.drop_next = now.saturating_add(tuning.interval);
        } else if behind && !matches!(pick, Pick::IsDropped(_)) {
            self.drop_next = now;
        }
        pick
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TUNING: Tuning = Tuning { target: Span::from_ms(5), interval: Span::from_ms(100), mtu_time: Span::ZERO };

    fn at_us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// A packet that has not waited, as the first of a queue.
    fn in_time(cobalt: &mut Cobalt, us: u64) {
        let item = Item { at: at_us(us), ..Item::default() };
        assert_eq!(cobalt.pick(&TUNING, at_us(us), &item, &mut Stream::new(1, "test", "queue")), Pick::Passes);
    }

    /// A packet that has waited for `delay_us` each 100 us from 1 s on: times of drops or marks in microseconds after 1 s.
    fn picked(cobalt: &mut Cobalt, ecn: u8, until_us: u64, delay_us: u64) -> Vec<u64> {
        let mut stream = Stream::new(1, "test", "queue");
        let mut times = Vec::new();
        in_time(cobalt, 999_900);
        for us in (0..until_us).step_by(100) {
            let now = at_us(1_000_000 + us);
            let item = Item { ecn, at: at_us(1_000_000 + us - delay_us), ..Item::default() };
            if cobalt.pick(&TUNING, now, &item, &mut stream) != Pick::Passes {
                times.push(us);
            }
        }
        times
    }

    /// Late at once: the first drop after 100 ms (count 1), with which count is 2; then 70.71, 57.74, 50, 44.72 and 40.82 ms.
    #[test]
    fn drops_come_by_the_inverse_root() {
        for ecn in [0, 2] {
            let times = picked(&mut Cobalt::default(), ecn, 370_000, 6_000);
            let expected = [100_000.0, 170_711.0, 228_446.0, 278_446.0, 323_167.0, 363_992.0];
            assert_eq!(times.len(), 6, "{times:?}");
            for (time, after) in times.iter().zip(expected) {
                assert!((0.0..100.0).contains(&(*time as f64 - after)), "{time} is not {after}");
            }
        }
        assert!(picked(&mut Cobalt::default(), 0, 370_000, 5_000).is_empty());
    }

    /// Four full packets of 2 ms are 8 ms: 6 ms is not late then.
    #[test]
    fn four_packets_at_the_rate_of_the_shaper_are_not_late() {
        let tuning = Tuning { mtu_time: Span::from_ms(2), ..TUNING };
        let mut stream = Stream::new(1, "test", "queue");
        for (delay_us, dropped) in [(8_000, false), (8_001, true)] {
            let mut cobalt = Cobalt::default();
            in_time(&mut cobalt, 999_999);
            let mut pick = |us| {
                let item = Item { at: at_us(us - delay_us), ..Item::default() };
                cobalt.pick(&tuning, at_us(us), &item, &mut stream)
            };
            assert_eq!(pick(1_000_000), Pick::Passes);
            assert_eq!(pick(1_100_000) != Pick::Passes, dropped);
        }
    }

    /// Overflows at 0, 4, 6 and 12 ms raise p by 1/256 each but the second and third less than 5 ms apart: 2/256. Empty from
    /// then on, 1/4096 each 5 ms: 32 steps, 160 ms; the count of 1 is gone at once.
    #[test]
    fn blue_steps() {
        let mut cobalt = Cobalt { changed: Time::ZERO, ..Cobalt::default() };
        for (us, expected) in [(10_000, 1.0), (14_000, 1.0), (15_000, 1.0), (15_001, 2.0)] {
            cobalt.overflow(&TUNING, at_us(us));
            assert_eq!(cobalt.probability, expected / 256.0, "{us}");
        }
        cobalt.rest(&TUNING, at_us(15_001 + 80_001));
        assert_eq!((cobalt.probability, cobalt.count), (1.0 / 256.0, 0));
        assert!(!cobalt.is_at_rest(at_us(100_000)));
        cobalt.rest(&TUNING, at_us(15_001 + 160_001));
        assert!(cobalt.is_at_rest(at_us(200_000)), "{cobalt:?}");
    }

    /// p = 0.25 drops a quarter, ECN-capable or not: 10 000 draws, four standard errors 0.0173.
    #[test]
    fn blue_drops_whatever_the_codepoint() {
        let mut stream = Stream::new(1, "test", "queue");
        let mut cobalt = Cobalt { probability: 0.25, ..Cobalt::default() };
        let item = Item { ecn: 2, at: at_us(1000), ..Item::default() };
        let dropped = Pick::IsDropped("blue");
        let count = (0..10_000).filter(|_| cobalt.pick(&TUNING, at_us(1000), &item, &mut stream) == dropped).count();
        assert!((count as f64 / 1e4 - 0.25).abs() < 0.0173, "{count}");
    }
}
