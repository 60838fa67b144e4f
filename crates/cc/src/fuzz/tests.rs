//! The harness finds what is wrong with wrong congestion controls. The congestion controls here are guests, so that no registered
//! one is touched.

use std::sync::Arc;

use super::*;
use crate::guest::{self, Factory, Guest};
use crate::{Ack, CongestionControl, Pacing, Signal, Spec, Timer, Window};

/// Reno with a defect.
#[derive(Clone, Copy, Debug)]
struct Wrong(Defect);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Defect {
    None,
    GrowsWhileLimited,
    DoublesAtEveryAck,
    RaisesAtALoss,
    ForgetsTheFloorOfSsthresh,
    PacesAtNothing,
    GrowsAfterManyAcks(u32),
}

impl CongestionControl for Wrong {
    fn on_ack(&mut self, w: &mut Window, ack: &Ack) {
        if let Defect::GrowsAfterManyAcks(left) = &mut self.0 {
            *left = left.saturating_sub(1);
        }
        if !ack.app_limited || self.0 == Defect::GrowsWhileLimited || self.0 == Defect::GrowsAfterManyAcks(0) {
            w.cwnd += w.per_round(w.mss, ack.acked);
        }
        if self.0 == Defect::DoublesAtEveryAck && !ack.app_limited {
            w.cwnd *= 2.0;
        }
    }

    fn on_congestion(&mut self, w: &mut Window, signal: &Signal) {
        if matches!(signal, Signal::Undo { .. }) {
            return;
        }
        let floor = if self.0 == Defect::ForgetsTheFloorOfSsthresh { 0.0 } else { 2.0 };
        w.ssthresh = (0.5 * w.cwnd.min(signal.inflight() as f64)).max(floor * w.mss);
        w.cwnd = if matches!(signal, Signal::Rto { .. }) { w.mss } else { w.ssthresh };
        if self.0 == Defect::RaisesAtALoss {
            w.cwnd = 40.0 * w.mss;
        }
    }
}

impl Pacing for Wrong {
    fn pacing_rate(&self, _: &Window) -> Option<f64> {
        (self.0 == Defect::PacesAtNothing).then_some(0.0)
    }
}

impl Timer for Wrong {}

impl Guest for Wrong {
    fn name(&self) -> &str {
        "wrong"
    }

    fn boxed_clone(&self) -> Box<dyn Guest> {
        Box::new(*self)
    }
}

impl Factory for Wrong {
    fn instance(&self) -> Box<dyn Guest> {
        self.boxed_clone()
    }
}

fn found(defect: Defect) -> Result<(), Box<Failure>> {
    let spec = Spec::Guest(guest::Spec::of("wrong".into(), serde_json::Map::new(), Arc::new(Wrong(defect))));
    stories(&|| Controller::new(&spec, MSS, INITIAL), &Rules::default(), 1, 400)
}

#[test]
fn a_right_controller_passes() {
    found(Defect::None).unwrap();
}

#[test]
fn wrong_controllers_do_not() {
    for (defect, rule, steps) in [
        // Slow start ends by a loss; then one ACK is enough. The ACK, loss and undoing that end each story may be it.
        (Defect::GrowsWhileLimited, "while the application was the limit", 3),
        (Defect::DoublesAtEveryAck, "where slow start adds", 3),
        (Defect::RaisesAtALoss, "a congestion event raised the window by", 2),
        (Defect::ForgetsTheFloorOfSsthresh, "below two segments", 2),
        (Defect::PacesAtNothing, "a pacing rate of 0 bit/s", 1),
        (Defect::GrowsAfterManyAcks(3), "while the application was the limit", 6),
    ] {
        let failure = found(defect).unwrap_err();
        assert!(failure.rule.contains(rule), "{failure}");
        assert!(failure.story.len() <= steps, "{failure}");
        let text = failure.to_string();
        assert!(text.starts_with("wrong: ") && text.contains("\nseed "), "{text}");
        assert_eq!(text.lines().count(), 2 + failure.story.len());
    }
}

/// What is told is what was drawn from that seed: it fails again with it alone.
#[test]
fn the_seed_gives_the_story_again() {
    let spec = Spec::Guest(guest::Spec::of(
        "wrong".into(),
        serde_json::Map::new(),
        Arc::new(Wrong(Defect::GrowsAfterManyAcks(20))),
    ));
    let make = || Controller::new(&spec, MSS, INITIAL);
    let failure = stories(&make, &Rules::default(), 7, 400).unwrap_err();
    let again = stories(&make, &Rules::default(), failure.seed.unwrap(), 1).unwrap_err();
    assert_eq!((again.rule, again.story), (failure.rule, failure.story));
}
