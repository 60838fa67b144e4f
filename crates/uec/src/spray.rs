//! Which entropy value, and so which path, a packet gets (`uet-htsim` at 40ccb05; REPS: Bonato et al. 2024).
//!
//! ```text
//! oblivious   a permutation of all values, drawn anew each round: index XOR a random number
//! bitmap      as oblivious, but a value with a penalty is passed over; the first one that is met loses 1 of it
//!             penalties: a mark 1, a trimmed packet 4, a timeout 15, which is the largest
//! reps        values whose packets came back without a mark, kept in a ring of 8, each used once; without one a random value.
//!             after a timeout the ring is cycled for 10 ms, then 16 random values follow
//! mixed       values that came back without a mark, each used once, the oldest first; without one as bitmap
//! ```

use std::collections::VecDeque;

use elephan_random::Stream;
use elephan_units::Time;

use crate::options::{Options, Spray};

/// What became of a packet with an entropy value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    Nothing,
    Mark,
    Trim,
    Timeout,
}

/// The choice of one connection.
#[derive(Clone, Debug)]
pub struct Sprayer {
    kind: Spray,
    mask: u16,
    round: Round,
    penalties: Vec<u8>,
    /// What a mark, a trim and a timeout add.
    add: [u8; 3],
    ring: Ring,
    /// Of `mixed`: values that came back, the oldest first.
    back: VecDeque<u16>,
    freeze: elephan_units::Span,
    explore: u32,
    stream: Stream,
}

/// A permutation of all values, drawn anew each round.
#[derive(Clone, Debug)]
struct Round {
    index: u16,
    xor: u16,
}

impl Round {
    fn next(&mut self, mask: u16, stream: &mut Stream) -> u16 {
        let value = (self.index ^ self.xor) & mask;
        self.index = self.index.wrapping_add(1) & mask;
        if self.index == 0 {
            self.xor = stream.next_u64() as u16 & mask;
        }
        value
    }
}

/// The values that `reps` may use once more.
#[derive(Clone, Debug)]
struct Ring {
    values: Vec<(u16, bool)>,
    head: usize,
    fresh: usize,
    /// Places that have ever been filled since the last reset.
    filled: usize,
    frozen_until: Option<Time>,
    frozen_at: usize,
    explore: u32,
}

impl Ring {
    fn new(len: usize) -> Ring {
        Ring {
            values: vec![(0, false); len],
            head: 0,
            fresh: 0,
            filled: 0,
            frozen_until: None,
            frozen_at: 0,
            explore: 0,
        }
    }

    fn add(&mut self, value: u16) {
        let len = self.values.len();
        let place = &mut self.values[self.head];
        self.fresh += usize::from(!place.1);
        *place = (value, true);
        self.head = (self.head + 1) % len;
        self.filled = (self.filled + 1).min(len);
    }

    /// The oldest value that has not been used.
    fn oldest(&mut self) -> Option<u16> {
        if self.fresh == 0 {
            return None;
        }
        let len = self.values.len();
        let place = &mut self.values[(self.head + len - self.fresh) % len];
        self.fresh -= 1;
        place.1 = false;
        Some(place.0)
    }

    /// The next of all values, used or not.
    fn cycled(&mut self) -> Option<u16> {
        if self.filled == 0 {
            return None;
        }
        let place = &mut self.values[self.frozen_at];
        self.fresh -= usize::from(place.1);
        place.1 = false;
        let value = place.0;
        self.frozen_at = (self.frozen_at + 1) % self.filled;
        Some(value)
    }

    /// Begins to cycle, or ceases to and explores.
    fn look(&mut self, now: Time, timeout: bool, (freeze, explore): (elephan_units::Span, u32)) {
        if timeout && self.frozen_until.is_none() && self.explore == 0 {
            self.frozen_until = Some(now.saturating_add(freeze));
        }
        if self.frozen_until.is_some_and(|until| now > until) {
            *self = Ring { explore, ..Ring::new(self.values.len()) };
        }
    }
}

impl Sprayer {
    pub fn new(options: &Options, mut stream: Stream) -> Sprayer {
        let mask = (options.entropies - 1) as u16;
        let kind = options.spray;
        let has_penalties = matches!(kind, Spray::Bitmap | Spray::Mixed);
        Sprayer {
            kind,
            mask,
            round: Round { index: 0, xor: stream.next_u64() as u16 & mask },
            penalties: if has_penalties { vec![0; options.entropies as usize] } else { Vec::new() },
            add: options.penalties,
            ring: Ring::new(if kind == Spray::Reps { options.ring as usize } else { 0 }),
            back: VecDeque::new(),
            freeze: options.freeze,
            explore: options.explore,
            stream,
        }
    }

    /// The value of the next packet.
    pub fn next(&mut self) -> u16 {
        match self.kind {
            Spray::Oblivious => self.round.next(self.mask, &mut self.stream),
            Spray::Bitmap => self.by_penalties(),
            Spray::Mixed => match self.back.pop_front() {
                Some(value) => value,
                None => self.by_penalties(),
            },
            Spray::Reps => {
                let ring = &mut self.ring;
                let known = if ring.explore > 0 {
                    ring.explore -= 1;
                    None
                } else if ring.frozen_until.is_some() {
                    ring.cycled()
                } else {
                    ring.oldest()
                };
                known.unwrap_or_else(|| self.stream.next_u64() as u16 & self.mask)
            }
        }
    }

    /// The next value without a penalty; the first one that is passed over loses 1 of its penalty. If all have one, the last that is looked
    /// at.
    fn by_penalties(&mut self) -> u16 {
        let mut value = self.round.next(self.mask, &mut self.stream);
        if self.penalties[usize::from(value)] == 0 {
            return value;
        }
        self.penalties[usize::from(value)] -= 1;
        for _ in 0..=self.mask {
            value = self.round.next(self.mask, &mut self.stream);
            if self.penalties[usize::from(value)] == 0 {
                break;
            }
        }
        value
    }

    /// A packet with this value has met something, or nothing.
    pub fn on_answer(&mut self, now: Time, value: u16, met: Met) {
        let value = value & self.mask;
        if let Some(penalty) = self.penalties.get_mut(usize::from(value)) {
            let [mark, trim, most] = self.add;
            let add = match met {
                Met::Nothing => 0,
                Met::Mark => mark,
                Met::Trim => trim,
                Met::Timeout => most,
            };
            *penalty = penalty.saturating_add(add).min(most);
        }
        if self.kind == Spray::Reps {
            self.ring.look(now, met == Met::Timeout, (self.freeze, self.explore));
            if met == Met::Nothing {
                self.ring.add(value);
            }
        } else if self.kind == Spray::Mixed && met == Met::Nothing {
            self.back.push_back(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephan_units::Span;
    use std::collections::BTreeSet;

    fn sprayer(spray: Spray, entropies: u32) -> Sprayer {
        Sprayer::new(&Options { spray, entropies, ..Options::default() }, Stream::new(1, "a", "spray"))
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Each round has each value once, and rounds differ.
    #[test]
    fn oblivious_rounds_are_permutations() {
        let mut s = sprayer(Spray::Oblivious, 16);
        let rounds: Vec<Vec<u16>> = (0..8).map(|_| (0..16).map(|_| s.next()).collect()).collect();
        for round in &rounds {
            assert_eq!(round.iter().collect::<BTreeSet<_>>().len(), 16, "{round:?}");
        }
        assert!(rounds.windows(2).any(|pair| pair[0] != pair[1]));
        assert_eq!((0..4).map(|_| sprayer(Spray::Oblivious, 1).next()).collect::<Vec<_>>(), [0; 4]);
    }

    /// A trimmed packet costs its value the next four turns, a mark one.
    #[test]
    fn penalties_are_worked_off_turn_by_turn() {
        let turns = |met| {
            let mut s = sprayer(Spray::Bitmap, 8);
            s.on_answer(at(0), 3, met);
            (0..160).map(|_| s.next()).take_while(|&value| value != 3).count() as f64 / 7.5
        };
        let [mark, trim, timeout] = [Met::Mark, Met::Trim, Met::Timeout].map(turns);
        assert!((0.0..=2.0).contains(&mark) && (3.0..=5.0).contains(&trim) && (13.0..=17.0).contains(&timeout));
        assert!(mark < trim && trim < timeout, "{mark} {trim} {timeout}");
        // All have one: something is sent all the same.
        let mut s = sprayer(Spray::Bitmap, 2);
        (0..2).for_each(|value| s.on_answer(at(0), value, Met::Timeout));
        assert!(s.next() < 2);
    }

    #[test]
    fn reps_uses_what_came_back_once() {
        let mut s = sprayer(Spray::Reps, 32_768);
        for value in [700, 800, 900] {
            s.on_answer(at(0), value, Met::Nothing);
        }
        s.on_answer(at(0), 1000, Met::Mark);
        assert_eq!([s.next(), s.next()], [700, 800]);
        s.on_answer(at(0), 1100, Met::Nothing);
        assert_eq!([s.next(), s.next()], [900, 1100]);
        // Nothing is left: random values.
        assert!((0..20).map(|_| s.next()).collect::<BTreeSet<_>>().len() > 10);
        // The ring holds eight: of ten the first two are forgotten.
        (0..10).for_each(|value| s.on_answer(at(0), value, Met::Nothing));
        assert_eq!((0..8).map(|_| s.next()).collect::<Vec<_>>(), (2..10).collect::<Vec<_>>());
    }

    /// After a timeout the ring is cycled for 10 ms; then 16 values are random, and what comes back counts again.
    #[test]
    fn reps_freezes_after_a_timeout() {
        let mut s = sprayer(Spray::Reps, 32_768);
        (0..3).for_each(|value| s.on_answer(at(0), value, Met::Nothing));
        s.on_answer(at(1), 9, Met::Timeout);
        assert_eq!((0..7).map(|_| s.next()).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2, 0]);
        s.on_answer(at(12), 5, Met::Nothing);
        assert_eq!((0..16).filter(|_| s.next() == 5).count(), 0);
        assert_eq!(s.next(), 5);
    }

    #[test]
    fn mixed_prefers_what_came_back() {
        let mut s = sprayer(Spray::Mixed, 64);
        (10..30).for_each(|value| s.on_answer(at(0), value, Met::Nothing));
        assert_eq!((0..20).map(|_| s.next()).collect::<Vec<_>>(), (10..30).collect::<Vec<_>>());
        (0..63).for_each(|value| s.on_answer(at(0), value, Met::Timeout));
        assert_eq!(s.next(), 63);
    }
}
