//! Lazy timers: a deadline that moves later costs nothing. The queue holds one live event per alarm, at a time no later
//! than the deadline; an event at any other time than the armed one is stale.

use elephan_units::Time;

/// The state of one timer; its deadline lives with its owner.
#[derive(Clone, Copy, Debug)]
pub struct Alarm {
    armed: Time,
}

impl Default for Alarm {
    fn default() -> Self {
        Alarm { armed: Time::NEVER }
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
            self.armed = deadline;
            return true;
        }
        false
    }

    /// Call when an event of this alarm happens. After [`Bell::Due`] and [`Bell::Off`] the alarm is off until [`Alarm::arm`].
    #[inline]
    pub fn ring(&mut self, now: Time, deadline: Time) -> Bell {
        if now != self.armed {
            return Bell::Stale;
        }
        if deadline <= now {
            self.armed = Time::NEVER;
            return Bell::Due;
        }
        self.armed = deadline;
        if deadline == Time::NEVER { Bell::Off } else { Bell::Later(deadline) }
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
        assert_eq!(a.ring(Time(200), Time::NEVER), Bell::Stale);
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
