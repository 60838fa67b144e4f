//! IEEE 802.3x PAUSE (Annex 31B), the receiving station: a gate in front of its transmitter.
//!
//! A PAUSE of `q` quanta received at `t` stops new frames from `t + response` (at once if the gate is already shut)
//! until `t + q * 512 bit times`; a later PAUSE overwrites the running time, and `q = 0` opens the gate at once.
//! The frame on the wire is finished, and MAC control frames pass the gate.

use elephan_units::{PS_PER_S, Rate, Span, Time};

/// The bytes of wire time of a PAUSE frame: 64 B, preamble and gap.
pub const FRAME_WIRE_BYTES: u32 = 84;

/// Returns the time of `quanta` times 512 bits at `rate`, rounded down to a picosecond.
///
/// ```
/// use elephan_units::{Rate, Span};
///
/// // The longest pause at 10 Gb/s: 65 535 quanta of 51.2 ns.
/// assert_eq!(elephan_link::pause::quanta(Rate(10_000_000_000), 65_535), Span::from_ns(3_355_392));
/// ```
pub fn quanta(rate: Rate, quanta: u16) -> Span {
    let ps = u128::from(quanta) * 512 * u128::from(PS_PER_S) / u128::from(rate.0);
    Span(u64::try_from(ps).unwrap_or(u64::MAX))
}

/// Whether a paused port may start a frame: it may not within `[from, until)`.
///
/// ```
/// use elephan_link::pause::Gate;
/// use elephan_units::{Span, Time};
///
/// let mut gate = Gate::default();
/// gate.receive(Time(1_000), Span(500), Span(100));
/// assert_eq!(gate.window(), (Time(1_100), Time(1_500)));
/// assert_eq!(gate.until_at(Time(1_200)), Some(Time(1_500)));
/// assert_eq!(gate.until_at(Time(1_500)), None);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Gate {
    from: Time,
    until: Time,
    shut: Span,
}

impl Gate {
    /// Is called when a PAUSE of length `pause` arrives. The station takes `response` to react.
    pub fn receive(&mut self, now: Time, pause: Span, response: Span) {
        let reacted = now.saturating_add(response);
        let effective = if now < self.until { self.from.min(reacted) } else { reacted };
        self.settle(now);
        if pause == Span::ZERO {
            self.until = now;
            self.from = now;
            return;
        }
        self.until = now.saturating_add(pause);
        self.from = effective.max(now).min(self.until);
    }

    /// Returns when the pause interval ends, or `None` if the gate is open at `now`.
    #[inline]
    pub fn until_at(&self, now: Time) -> Option<Time> {
        (self.from <= now && now < self.until).then_some(self.until)
    }

    /// Returns from when and until when no new frame may start.
    pub fn window(&self) -> (Time, Time) {
        (self.from, self.until)
    }

    /// Counts the pause interval up to `now`, which becomes its new beginning.
    fn settle(&mut self, now: Time) {
        self.shut = self.shut_until(now);
        self.from = self.from.max(now).min(self.until.max(now));
        if self.until <= now {
            self.from = now;
            self.until = now;
        }
    }

    /// Returns how long the gate has been shut up to `now`.
    pub fn shut_until(&self, now: Time) -> Span {
        self.shut + self.until.min(now).since(self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN_GIG: Rate = Rate(10_000_000_000);

    #[test]
    fn literals() {
        // facts l2.md section 6 item 1
        assert_eq!(quanta(TEN_GIG, 0xFFFF), Span(3_355_392_000));
        assert_eq!(quanta(TEN_GIG, 60), Span(3_072_000));
        assert_eq!(TEN_GIG.time_of(u64::from(FRAME_WIRE_BYTES)), Span(67_200));
    }

    #[test]
    fn shuts_after_the_response_and_opens_at_the_end() {
        let mut g = Gate::default();
        assert_eq!(g.until_at(Time(0)), None);
        g.receive(Time(100), Span(1000), Span(50));
        assert_eq!(g.until_at(Time(149)), None);
        assert_eq!(g.until_at(Time(150)), Some(Time(1100)));
        assert_eq!(g.until_at(Time(1100)), None);
        assert_eq!(g.shut_until(Time(5000)), Span(950));
    }

    #[test]
    fn a_repetition_during_the_response_does_not_postpone() {
        // Pause time 16, repeated every 8, reaction in 10: shut from 10 on.
        let mut g = Gate::default();
        for t in (0..80).step_by(8) {
            g.receive(Time(t), Span(16), Span(10));
        }
        assert_eq!(g.shut_until(Time(72)), Span(62));
    }

    #[test]
    fn overwrites_and_resumes() {
        let mut g = Gate::default();
        g.receive(Time(0), Span(1000), Span(10));
        g.receive(Time(500), Span(1000), Span(10));
        assert_eq!(g.until_at(Time(505)), Some(Time(1500)), "already shut: no second response time");
        g.receive(Time(600), Span::ZERO, Span(10));
        assert_eq!(g.until_at(Time(600)), None);
        assert_eq!(g.shut_until(Time(9000)), Span(590));
    }
}
