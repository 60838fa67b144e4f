//! Exact transmission times: `bits * 10^12 / rate` picoseconds, the remainder carried while the port is busy and
//! forgotten when it goes idle, so that a busy port never drifts from its nominal rate.

use crate::{PS_PER_S, Rate, Span};

/// Computes when each frame of one transmitter has left.
///
/// ```
/// use elephan_units::{PS_PER_S, Rate, Transmitter};
///
/// // A frame of 1 500 bytes at 622.08 Mb/s takes 19 290 123.456... ps. No picosecond is lost over 12 seconds.
/// let mut port = Transmitter::new(Rate(622_080_000));
/// let total: u64 = (0..622_080).map(|_| port.send(1500).ps()).sum();
/// assert_eq!(total, 12 * PS_PER_S);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Transmitter {
    /// Picoseconds a byte when that is a whole number, else the rate in bit/s with [`BY_RATE`]: small enough for the hot lines of a link.
    pace: u64,
    remainder: u64,
}

const BY_RATE: u64 = 1 << 63;

impl Transmitter {
    /// Returns a transmitter of this rate, which is not zero, without a remainder.
    pub fn new(rate: Rate) -> Transmitter {
        let byte = 8 * PS_PER_S;
        let pace = if byte.is_multiple_of(rate.0) { byte / rate.0 } else { rate.0 | BY_RATE };
        Transmitter { pace, remainder: 0 }
    }

    /// Returns whether every transmission takes whole picoseconds. The transmitter then carries no remainder.
    pub fn is_exact(&self) -> bool {
        self.pace & BY_RATE == 0
    }

    /// Forgets the remainder. Call it when the port goes idle.
    #[inline]
    pub fn idle(&mut self) {
        self.remainder = 0;
    }

    /// Returns the time that the next `bytes` take, at least 1 ps.
    #[inline(always)]
    pub fn send(&mut self, bytes: u32) -> Span {
        if self.pace & BY_RATE == 0 {
            return Span(u64::from(bytes) * self.pace);
        }
        self.send_inexact(bytes)
    }

    fn send_inexact(&mut self, bytes: u32) -> Span {
        let total = u128::from(bytes) * u128::from(8 * PS_PER_S) + u128::from(self.remainder);
        let rate = u128::from(self.pace & !BY_RATE);
        let ps = (total / rate) as u64;
        if ps == 0 {
            self.remainder = 0;
            return Span(1);
        }
        self.remainder = (total % rate) as u64;
        Span(ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals() {
        // A byte at 400 Gb/s takes 20 ps; 1538 B at 10 Gb/s 1230.4 ns.
        assert_eq!(Transmitter::new(Rate(400_000_000_000)).send(1), Span(20));
        assert_eq!(Transmitter::new(Rate(10_000_000_000)).send(1538), Span(1_230_400));
    }

    #[test]
    fn a_busy_port_keeps_its_rate() {
        // 622.08 Mb/s: 1500 B take 19290123.456... ps; 622080 frames take exactly 12 s.
        let mut tx = Transmitter::new(Rate(622_080_000));
        let total: u64 = (0..622_080).map(|_| tx.send(1500).0).sum();
        assert_eq!(total, 12 * PS_PER_S);
        assert_eq!(tx.send(1500), Span(19_290_123));
        tx.idle();
        assert_eq!(tx.send(1500), Span(19_290_123));
    }
}
