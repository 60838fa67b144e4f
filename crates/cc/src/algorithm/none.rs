//! No congestion control: the line rate of the sender's interface and no window, as RoCE without DCQCN sends over a network
//! that is made lossless by PFC.

use super::CongestionControl;
use crate::declare::{Internals, Ranges};
use crate::registry::Model;
use crate::{MAX_WINDOW_BYTES, Traits, Transport, Window};
use elephan_units::{InvalidParameter, Time};

/// There is nothing to set.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {}

impl Ranges for Parameters {
    fn in_range(&self) -> Result<(), InvalidParameter> {
        Ok(())
    }
}

#[derive(Clone, Debug)]
pub struct None;

impl Model for None {
    type Parameters = Parameters;

    fn new(_: &Parameters) -> None {
        None
    }

    fn traits(_: &Parameters) -> Traits {
        Traits { transports: &[Transport::Roce, Transport::Uec], ..Traits::rdma() }
    }
}

impl Internals for None {}

impl CongestionControl for None {
    fn on_establish(&mut self, w: &mut Window) {
        w.cwnd = MAX_WINDOW_BYTES;
    }

    fn grows_by_ack(&self) -> bool {
        false
    }

    fn on_timeout_again(&mut self, _w: &mut Window, _now: Time) {}
}

#[cfg(test)]
mod tests {
    use crate::testing::{MSS, ack, loss};
    use crate::{Controller, MAX_WINDOW_BYTES, Signal, Spec};

    #[test]
    fn nothing_holds_it_back() {
        let mut c = Controller::new(&Spec::named("none").unwrap(), MSS, 10 * MSS);
        c.on_ack(&ack(0.0, MSS, 0.1));
        c.on_congestion(&loss(0.0, 10.0));
        (0..3).for_each(|_| c.on_congestion(&Signal::Rto { now: elephan_units::Time::ZERO, inflight: MSS }));
        c.on_notification(elephan_units::Time::ZERO);
        assert_eq!((c.window(), c.pacing_rate()), (MAX_WINDOW_BYTES, None));
    }
}
