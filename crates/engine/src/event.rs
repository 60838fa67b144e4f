//! An event in 16 bytes: `time(64) | class(4) | tie(28) | id(32)`, compared as one integer.

use elephan_units::Time;

/// What happens first at one instant (design rule 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    End = 0,
    Start = 1,
    Control = 2,
    Arrival = 3,
    Timer = 4,
    Application = 5,
    Change = 6,
    Sample = 7,
}

impl Class {
    #[inline]
    fn of(bits: u8) -> Class {
        match bits {
            0 => Class::End,
            1 => Class::Start,
            2 => Class::Control,
            3 => Class::Arrival,
            4 => Class::Timer,
            5 => Class::Application,
            6 => Class::Change,
            _ => Class::Sample,
        }
    }
}

/// Something that will happen: when, of which class, to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event(pub(crate) u128);

impl Event {
    /// `id` names the target within its class; `key` is what the tie is mixed from (often the id itself).
    #[inline]
    pub fn new(time: Time, class: Class, key: u32, id: u32) -> Event {
        let low = (class as u64) << 60 | u64::from(mix(key, time.0)) << 32 | u64::from(id);
        Event(u128::from(time.0) << 64 | u128::from(low))
    }

    /// Comes after all events up to `limit`, or before those that never happen.
    pub fn bound(limit: Time) -> Event {
        Event(u128::from(limit.0.saturating_add(1)) << 64)
    }

    #[inline]
    pub fn time(self) -> Time {
        Time((self.0 >> 64) as u64)
    }

    #[inline]
    pub fn class(self) -> Class {
        Class::of((self.0 as u64 >> 60) as u8)
    }

    /// Whether it is of this class.
    #[inline]
    pub fn is(self, class: Class) -> bool {
        self.0 as u64 >> 60 == class as u64
    }

    #[inline]
    pub fn id(self) -> u32 {
        self.0 as u32
    }
}

/// 28 bits from a key and a time: one round of a multiply-xorshift hash (the constants of SplitMix64).
#[inline]
fn mix(key: u32, time: u64) -> u32 {
    let x = (time ^ u64::from(key).wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((x ^ (x >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 36) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_survive() {
        let e = Event::new(Time(u64::MAX - 5), Class::Sample, 3, u32::MAX);
        assert_eq!((e.time(), e.class(), e.id()), (Time(u64::MAX - 5), Class::Sample, u32::MAX));
    }

    #[test]
    fn time_then_class_then_tie() {
        let early = Event::new(Time(1), Class::Sample, 9, 9);
        let late = Event::new(Time(2), Class::End, 0, 0);
        assert!(early < late);
        assert!(Event::new(Time(2), Class::Control, 9, 9) < Event::new(Time(2), Class::Arrival, 0, 0));
    }

    #[test]
    #[cfg_attr(miri, ignore = "no unsafe code, and many rounds")]
    fn nobody_is_favoured() {
        // Over many instants each of eight ids comes first about one time in eight.
        let mut first = [0u32; 8];
        for t in 0..80_000u64 {
            let winner = (0..8).min_by_key(|&id| Event::new(Time(t * 1230), Class::Arrival, id, id)).unwrap();
            first[winner as usize] += 1;
        }
        // Binomial(80000, 1/8): standard deviation 93.5; five of them.
        assert!(first.iter().all(|&n| (9_532..=10_468).contains(&n)), "{first:?}");
    }
}
