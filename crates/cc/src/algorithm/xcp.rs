//! XCP's sender (Katabi, Handley and Rohrs, SIGCOMM 2002): the routers say by how much the window changes.
//!
//! ```text
//! cwnd  = max(cwnd + feedback, 1 segment)        feedback: what the routers left of "as much as you can", echoed by ACKs
//! loss:  ssthresh = max(cwnd / 2, 2), cwnd = ssthresh                                            timer: cwnd = 1
//! ```
//!
//! The congestion header that packets carry, and the router, are in the queue discipline `xcp`. While no router has answered
//! (a path without one), the congestion control is Reno's; from the first answer on neither slow start nor ACKs open the window.
//!
//! Chosen: a sender asks for all that the routers have; a gain that comes while the window is not the limit is not taken.
//! Left out: pacing of the larger windows, and a demand that the application sets.

use super::{CongestionControl, Routers};
use crate::declare::{parameters, states};
use crate::registry::Model;
use crate::{Ack, Needs, ReduceFrom, Signal, Traits, Window};

parameters! {
    /// The share of the window that a loss leaves.
    beta: f64 = 0.5, "Katabi, Handley and Rohrs 2002: as TCP" (min = 0, max = 1);
    /// The window that is cut at a loss: `flight` (what was in flight) or `cwnd`.
    reduce_from: ReduceFrom = ReduceFrom::Cwnd, "Katabi, Handley and Rohrs 2002: as TCP";
}

#[derive(Clone, Debug)]
pub struct Xcp {
    p: Parameters,
    /// Bytes of feedback that the next ACK of new data takes in.
    pending: f64,
    /// A router has answered.
    answered: bool,
}

impl Model for Xcp {
    type Parameters = Parameters;
    const NEEDS: Needs = Needs::WINDOW_OF_ROUTERS;

    fn new(p: &Parameters) -> Xcp {
        Xcp { p: p.clone(), pending: 0.0, answered: false }
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { own_start: true, sets_its_window: true, ..Traits::default() }
    }
}

states! {
    Xcp, cc, value;
    "pending" ["B"] "feedback that the next ACK of new data takes in": cc.pending, true => cc.pending = value;
    "answered" ["1"] "1 once a router has answered, else 0":
        f64::from(u8::from(cc.answered)), value == 0.0 || value == 1.0 => cc.answered = value == 1.0;
}

impl CongestionControl for Xcp {
    fn grows_by_ack(&self) -> bool {
        !self.answered
    }

    fn on_delivery(&mut self, w: &mut Window, ack: &Ack) {
        if self.answered {
            let feedback = std::mem::take(&mut self.pending);
            let feedback = if ack.app_limited { feedback.min(0.0) } else { feedback };
            w.cwnd = (w.cwnd + feedback).max(w.mss);
            w.leave_slow_start();
        }
    }

    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        w.grow(w.mss, ack);
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        w.cut(signal, self.p.beta * self.p.reduce_from.bytes(w, signal.inflight()));
    }
}

impl Routers for Xcp {
    fn on_feedback(&mut self, bytes: f64) {
        if bytes.is_finite() {
            self.pending += bytes;
            self.answered = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack, ack_limited, loss, state};
    use crate::{Controller, Question, Signal, Spec};
    use elephan_units::Time;

    const S: f64 = MSS as f64;

    fn xcp() -> Controller {
        Controller::new(&Spec::named("xcp").unwrap(), MSS, 10 * MSS)
    }

    /// 10 000 + 4000 + 500 - 1500 bytes, whatever is acknowledged; then nothing without feedback.
    #[test]
    fn feedback_alone_changes_the_window() {
        let mut c = xcp();
        assert_eq!(c.asks_routers(), Some(Question::Window));
        c.on_feedback(4000.0);
        c.on_feedback(500.0);
        c.on_ack(&ack(0.0, 2 * MSS, 0.1));
        assert_eq!((c.window(), state(&c, "answered")), (14.5 * S, 1.0));
        c.on_feedback(-1500.0);
        c.on_ack(&ack(0.0, MSS, 0.1));
        c.on_ack(&ack(0.0, MSS, 0.1));
        assert_eq!(c.window(), 13.0 * S);
        c.on_feedback(-1e9);
        c.on_ack(&ack(0.0, MSS, 0.1));
        assert_eq!(c.window(), S);
    }

    /// A gain is not taken while the application limits; a loss of it is.
    #[test]
    fn an_application_limited_flow_gains_nothing() {
        let mut c = xcp();
        c.on_feedback(4000.0);
        c.on_ack(&ack_limited(0.0, MSS, 0.1));
        c.on_ack(&ack(0.0, MSS, 0.1));
        assert_eq!(c.window(), 10.0 * S);
        c.on_feedback(-3000.0);
        c.on_ack(&ack_limited(0.0, MSS, 0.1));
        assert_eq!(c.window(), 7.0 * S);
    }

    /// No router: what was asked for comes back as it was, and slow start and Reno's growth go on.
    #[test]
    fn without_routers_it_is_reno() {
        let mut c = xcp();
        c.on_feedback(f64::INFINITY);
        c.on_ack(&ack(0.0, 10 * MSS, 0.1));
        assert_eq!((c.window(), state(&c, "answered")), (20.0 * S, 0.0));
        c.on_congestion(&loss(0.0, 20.0));
        c.on_ack(&ack(0.0, 10 * MSS, 0.1));
        assert_eq!(c.window(), 11.0 * S);
        c.on_congestion(&Signal::Rto { now: Time::ZERO, inflight: 11 * MSS });
        assert_eq!((c.window(), c.ssthresh()), (S, 5.5 * S));
    }
}
