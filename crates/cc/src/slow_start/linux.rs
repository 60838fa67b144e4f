//! Slow start as Linux has it: HyStart is a part of CUBIC (`tcp_cubic.c`), all other congestion controls call `tcp_slow_start`,
//! which is the classic one.

use super::hystart::Hystart;
use super::{SlowStart, classic};
use crate::algorithm;
use crate::declare::Internals;
use crate::registry::Model;
use crate::{Ack, Signal, Window};

#[derive(Clone, Debug)]
pub struct Linux {
    /// Under CUBIC.
    hystart: Option<Hystart>,
    paced: bool,
}

impl Internals for Linux {}

impl Model for Linux {
    type Parameters = classic::Parameters;

    fn new(_: &classic::Parameters) -> Linux {
        Linux { hystart: None, paced: false }
    }
}

impl SlowStart for Linux {
    fn growth(&mut self, w: &mut Window, ack: &Ack, allowed: f64) -> f64 {
        self.hystart.as_mut().map_or(allowed, |hystart| hystart.growth(w, ack, allowed))
    }

    fn on_congestion(&mut self, signal: &Signal) {
        if let Some(hystart) = &mut self.hystart {
            hystart.on_congestion(signal);
        }
    }

    fn on_congestion_control(&mut self, cc: &algorithm::Spec) {
        self.hystart = cc.traits().brings_hystart.then(|| Hystart::new(&Default::default()));
        if self.paced {
            self.on_pacing();
        }
    }

    fn ends_by_delay(&self) -> bool {
        self.hystart.is_some()
    }

    fn on_pacing(&mut self) {
        self.paced = true;
        if let Some(hystart) = &mut self.hystart {
            hystart.on_pacing();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::MSS;
    use crate::{Ack, Controller, Spec, slow_start};
    use elephan_units::{Span, Time};

    /// ACKs a millisecond apart for 60 of the 100 ms of a round trip: CUBIC leaves slow start, Reno does not, and of a flow that
    /// switches from Reno to CUBIC it is CUBIC's. Paced segments may fill the round trip.
    #[test]
    fn only_cubic_has_hystart() {
        let linux = slow_start::Spec::named("linux").unwrap();
        let cc = |name| Spec::named(name).unwrap();
        for (first, then, paced, leaves) in [
            ("cubic", "cubic", false, true),
            ("reno", "reno", false, false),
            ("reno", "cubic", false, true),
            ("cubic", "cubic", true, false),
            ("reno", "cubic", true, false),
        ] {
            let mut c = Controller::with_slow_start(&cc(first), &linux, None, MSS, 80 * MSS);
            if paced {
                c = c.pacing(200, 120);
            }
            c.switch_congestion_control(&cc(then));
            for n in 0..60 {
                let (now, rtt) = (Time::from_seconds(0.1 + 0.001 * f64::from(n)), Some(Span::from_ms(100)));
                c.on_ack(&Ack { now, acked: MSS, rtt, min_rtt: rtt, inflight: 80 * MSS, ..Ack::default() });
            }
            assert_eq!(c.ssthresh().is_finite(), leaves, "{first}, {then}, {paced}");
        }
    }
}
