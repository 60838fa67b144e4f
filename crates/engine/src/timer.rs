//! Lazy timers: a deadline that moves later costs nothing. The queue holds a live event per alarm at a time no later than
//! the deadline; an event at any other time than the armed one is stale.
//!
//! A deadline that moves earlier for a while (a pacing gap before a retransmission timeout) leaves the event of before in the
//! queue. The alarm remembers it and falls back to it, so that such a timer schedules one event each time and not two.

use elephan_units::Time;

/// The state of one timer; its deadline lives with its owner.
#[derive(Clone, Copy, Debug)]
pub struct Alarm {
    armed: Time,
    /// A later event of this alarm that is in the queue too.
    next: Time,
}

impl Default for Alarm {
    fn default() -> Self {
        Alarm { armed: Time::NEVER, next: Time::NEVER }
    }
}

/// What to do with an event of this alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bell {
    /// Not the armed event: ignore it.
    Stale,
    /// The deadline has moved: schedule an event at this time.
    Later(Time),
    /// The deadline is gone.
    Off,
    /// The deadline is now.
    Due,
}

impl Alarm {
    /// Call when the deadline may have changed; answers whether an event must be scheduled at it.
    #[inline]
    pub fn arm(&mut self, deadline: Time) -> bool {
        if deadline < self.armed {
            (self.next, self.armed) = (self.armed, deadline);
            return true;
        }
        false
    }

    /// Call when an event of this alarm happens. After [`Bell::Due`] and [`Bell::Off`] call [`Alarm::arm`] with the deadline
    /// that follows.
    #[inline]
    pub fn ring(&mut self, now: Time, deadline: Time) -> Bell {
        if now != self.armed {
            return Bell::Stale;
        }
        if deadline <= now {
            self.fall_back();
            return Bell::Due;
        }
        if self.next <= deadline && self.next != Time::NEVER {
            self.fall_back();
            return Bell::Stale;
        }
        self.armed = deadline;
        if deadline == Time::NEVER { Bell::Off } else { Bell::Later(deadline) }
    }

    fn fall_back(&mut self) {
        self.armed = std::mem::replace(&mut self.next, Time::NEVER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_is_free_earlier_schedules() {
        let mut a = Alarm::default();
        assert!(a.arm(Time(100)));
        assert!(!a.arm(Time(200)), "moved later: the event at 100 stands");
        assert_eq!(a.ring(Time(100), Time(200)), Bell::Later(Time(200)));
        assert!(a.arm(Time(150)), "moved earlier: a second event");
        assert_eq!(a.ring(Time(150), Time(150)), Bell::Due);
        assert_eq!(a.ring(Time(200), Time::NEVER), Bell::Off, "the event of before is the armed one again");
    }

    /// A short deadline before a long one: the long one's event is still there when the short one is over.
    #[test]
    fn an_event_that_waits_is_used_again() {
        let mut a = Alarm::default();
        assert!(a.arm(Time(1000)));
        for n in 1..10 {
            assert!(a.arm(Time(10 * n)), "the short deadline schedules");
            assert_eq!(a.ring(Time(10 * n), Time(10 * n)), Bell::Due);
            assert!(!a.arm(Time(1000 + n)), "the event at 1000 stands");
        }
        assert_eq!(a.ring(Time(1000), Time(1009)), Bell::Later(Time(1009)));
        // A short deadline that is gone when it rings leaves the long one's event in force too.
        assert!(a.arm(Time(1005)));
        assert_eq!(a.ring(Time(1005), Time(1500)), Bell::Stale);
        assert_eq!(a.ring(Time(1009), Time(1500)), Bell::Later(Time(1500)));
        assert_eq!(a.ring(Time(1500), Time(1500)), Bell::Due);
        assert!(a.arm(Time(1600)));
    }

    #[test]
    fn off() {
        let mut a = Alarm::default();
        assert!(!a.arm(Time::NEVER));
        assert!(a.arm(Time(5)));
        assert_eq!(a.ring(Time(5), Time::NEVER), Bell::Off);
        assert!(a.arm(Time(5)));
    }
}
