//! A port whose priorities can be paused one by one: eight gates and a watchdog. `net/pfc.rs` has its frames.

use elephan_link::pause::Gate;
use elephan_units::{Span, Time};

pub const PRIORITIES: usize = 8;

pub const XOFF: [&str; PRIORITIES] = ["xoff 0", "xoff 1", "xoff 2", "xoff 3", "xoff 4", "xoff 5", "xoff 6", "xoff 7"];
pub const XON: [&str; PRIORITIES] = ["xon 0", "xon 1", "xon 2", "xon 3", "xon 4", "xon 5", "xon 6", "xon 7"];

/// What events call the pause of a priority.
pub fn xoff(priority: u8) -> &'static str {
    XOFF[usize::from(priority) % PRIORITIES]
}

/// The priorities of a mask.
pub fn priorities(mask: u8) -> impl Iterator<Item = u8> {
    (0..PRIORITIES as u8).filter(move |p| mask >> p & 1 == 1)
}

/// A port whose priorities can be paused one by one.
#[derive(Clone)]
pub struct Station {
    pub gates: [Gate; PRIORITIES],
    /// Since when each gate is shut without interruption, and until when.
    pub since: [Time; PRIORITIES],
    pub until: [Time; PRIORITIES],
    /// The latest of these.
    pub last: Time,
    /// How long any gate has been shut, up to `counted`.
    pub shut: Span,
    pub counted: Time,
    pub watchdog: Option<Span>,
    pub armed: Time,
    /// Priorities whose pauses the watchdog has made it ignore, and when the last one came.
    pub ignored: u8,
    pub heard: [Time; PRIORITIES],
}

impl Station {
    pub fn new(watchdog: Option<Span>) -> Station {
        Station {
            gates: [Gate::default(); PRIORITIES],
            since: [Time::NEVER; PRIORITIES],
            until: [Time::ZERO; PRIORITIES],
            last: Time::ZERO,
            shut: Span::ZERO,
            counted: Time::ZERO,
            watchdog,
            armed: Time::NEVER,
            ignored: 0,
            heard: [Time::ZERO; PRIORITIES],
        }
    }

    /// The priorities that may not send at `now`, and when the first of them may again.
    #[inline]
    pub fn shut_at(&self, now: Time) -> (u8, Time) {
        let (mut mask, mut opens) = (0, Time::NEVER);
        if now >= self.last {
            return (mask, opens);
        }
        for (priority, gate) in self.gates.iter().enumerate() {
            if let Some(until) = gate.until_at(now) {
                mask |= 1 << priority;
                opens = opens.min(until);
            }
        }
        (mask, opens)
    }

    /// How long any priority has been paused up to `now`.
    pub fn shut_until(&self, now: Time) -> Span {
        let clip = |gate: &Gate| {
            let (from, until) = gate.window();
            (from.max(self.counted).min(now), until.min(now))
        };
        let mut intervals = self.gates.each_ref().map(clip);
        intervals.sort_unstable();
        let (mut sum, mut end) = (self.shut, Time::ZERO);
        for (from, until) in intervals {
            let from = from.max(end);
            sum = sum + until.since(from.min(until));
            end = end.max(until);
        }
        sum
    }

    /// A pause of a priority came (or, of no time, its end); false if it is ignored.
    pub fn receive(&mut self, now: Time, priority: usize, pause: Span, response: Span) -> bool {
        if let Some(watchdog) = self.watchdog
            && self.ignored >> priority & 1 == 1
            && pause > Span::ZERO
        {
            let silent = now.since(std::mem::replace(&mut self.heard[priority], now));
            if silent < watchdog {
                return false;
            }
            self.ignored &= !(1 << priority);
        }
        self.set(now, priority, pause, response);
        true
    }

    pub fn set(&mut self, now: Time, priority: usize, pause: Span, response: Span) {
        (self.shut, self.counted) = (self.shut_until(now), now);
        if pause == Span::ZERO {
            self.since[priority] = Time::NEVER;
        } else if now >= self.until[priority] || self.since[priority] == Time::NEVER {
            self.since[priority] = now.saturating_add(response);
        }
        self.until[priority] = now.saturating_add(pause);
        self.last = self.until.iter().copied().fold(Time::ZERO, Time::max);
        self.gates[priority].receive(now, pause, response);
    }

    /// When the watchdog will have waited for the priority long enough.
    pub fn due(&self, priority: usize) -> Option<Time> {
        let since = self.since[priority];
        (since != Time::NEVER).then(|| since.saturating_add(self.watchdog.unwrap_or(Span(u64::MAX))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Priority 3 is shut from 10 to 110, priority 5 from 60 to 260: any of them for 250.
    #[test]
    fn gates_are_independent() {
        let mut s = Station::new(None);
        assert!(s.receive(Time(0), 3, Span(110), Span(10)));
        assert_eq!((s.shut_at(Time(9)), s.shut_at(Time(10))), ((0, Time::NEVER), (8, Time(110))));
        assert!(s.receive(Time(50), 5, Span(210), Span(10)));
        assert_eq!((s.shut_at(Time(59)).0, s.shut_at(Time(60))), (8, (0x28, Time(110))));
        assert_eq!(s.shut_at(Time(110)), (0x20, Time(260)));
        assert_eq!((s.shut_until(Time(100)), s.shut_until(Time(1000))), (Span(90), Span(250)));
        assert!(s.receive(Time(150), 5, Span::ZERO, Span(10)));
        assert_eq!((s.shut_at(Time(150)).0, s.shut_until(Time(1000))), (0, Span(140)));
    }

    /// After the watchdog has bitten, pauses are ignored until none has come for its time; refreshes do not move the beginning.
    #[test]
    fn silence_ends_what_the_watchdog_has_begun() {
        let mut s = Station::new(Some(Span(1000)));
        assert!(s.receive(Time(0), 3, Span(600), Span(10)));
        assert!(s.receive(Time(500), 3, Span(600), Span(10)));
        assert_eq!(s.due(3), Some(Time(1010)));
        (s.ignored, s.heard[3]) = (8, Time(1010));
        s.set(Time(1010), 3, Span::ZERO, Span::ZERO);
        assert!(!s.receive(Time(1500), 3, Span(600), Span(10)));
        assert!(!s.receive(Time(2499), 3, Span(600), Span(10)), "999 after the last");
        assert_eq!((s.shut_at(Time(2499)).0, s.due(3)), (0, None));
        assert!(s.receive(Time(3499), 3, Span(600), Span(10)));
        assert_eq!((s.shut_at(Time(3509)).0, s.due(3)), (8, Some(Time(4509))));
    }
}
