//! Limited slow start (RFC 3742): large windows grow by a constant a round trip instead of doubling.
//!
//! ```text
//! cwnd <= max_ssthresh:  cwnd += allowed
//! beyond:                K = int(cwnd / (max_ssthresh / 2)),   cwnd += allowed / K
//! ```
//!
//! K is taken anew at every ACK, so a round trip adds max_ssthresh / 2. A window of W is reached in
//! log2(max_ssthresh) + (W - max_ssthresh) / (max_ssthresh / 2) round trips (section 2).

use super::SlowStart;
use crate::declare::{Internals, parameters};
use crate::registry::Model;
use crate::{Ack, Window};

parameters! {
    /// Segments beyond which growth is limited.
    max_ssthresh: f64 = 100.0, "RFC 3742 section 2: recommended for experiments" (min = 1);
}

#[derive(Clone, Debug)]
pub struct Limited {
    max_ssthresh: f64,
}

impl Internals for Limited {}

impl Model for Limited {
    type Parameters = Parameters;

    fn new(p: &Parameters) -> Limited {
        Limited { max_ssthresh: p.max_ssthresh }
    }
}

impl SlowStart for Limited {
    #[inline]
    fn growth(&mut self, w: &mut Window, _ack: &Ack, allowed: f64) -> f64 {
        let limit = self.max_ssthresh * w.mss;
        if w.cwnd <= limit { allowed } else { allowed / (w.cwnd / (0.5 * limit)).floor() }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack};
    use crate::{Controller, Spec, slow_start};

    /// RFC 3742 section 2: 6.64 + (1000 - 100) / 50 = 24.6 round trips to 1000 segments, 204.6 to 10000, less the one
    /// that an initial window of two saves.
    #[test]
    fn round_trips_to_a_window() {
        let (reno, limited) = (Spec::named("reno").unwrap(), slow_start::Spec::named("limited").unwrap());
        let mut c = Controller::with_slow_start(&reno, &limited, None, MSS, 2 * MSS);
        let mut reached = Vec::new();
        for round in 0..210 {
            let window = c.window();
            reached.push((round, window / MSS as f64));
            for _ in 0..(window / MSS as f64) as u64 {
                c.on_ack(&ack(0.0, MSS, 0.1));
            }
        }
        let first = |segments: f64| reached.iter().find(|(_, window)| *window >= segments).unwrap().0;
        assert_eq!((first(100.0), first(1000.0), first(10_000.0)), (6, 24, 204));
    }
}
