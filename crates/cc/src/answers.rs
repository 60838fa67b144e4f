//! What a congestion control answers about itself. Whoever must know goes by these answers, never by its name, so that a new one is
//! known everywhere as soon as it is in the registry.

use serde::Serialize;

use crate::algorithm::{Any, CongestionControl, Spec};
use crate::slow_start::{self, SlowStart};
use crate::{Question, Transport};

/// Which marks a congestion control cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Marks {
    /// Values of the TCP option `ecn` that bring them, the best first.
    pub by: &'static [&'static str],
    /// What it is without them.
    pub without: &'static str,
}

/// What a model says of itself; it writes only what differs from [`Traits::default`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Traits {
    /// Whether it draws anything at random from its seed; none where nobody knows, as of a guest.
    pub is_random: Option<bool>,
    /// Whether it begins in its own way and not in the stack's slow start.
    pub own_start: bool,
    /// Whether it brings HyStart along in Linux.
    pub brings_hystart: bool,
    /// Whether a single loss makes its window or its rate smaller.
    pub minds_loss: bool,
    /// Whether a mark (ECN) makes its window or its rate smaller.
    pub minds_marks: bool,
    /// Marks without which it is not what it is meant to be.
    pub needs_marks: Option<Marks>,
    /// What a loss leaves of its window in congestion avoidance, where that is fixed and no other law steers the growth after it.
    pub loss_leaves: Option<f64>,
    /// Whether its cut goes by a rate that it measures, which losses make uneven.
    pub cuts_by_rate: bool,
    /// Whether it sets its window itself: an ACK may give back at once what it lowered on purpose for a while, and `ssthresh` is
    /// only what it leaves for others to see.
    pub sets_its_window: bool,
    /// Whether its window grows by what is delivered although something else than the window is the limit.
    pub grows_unused: bool,
    /// Whether an event may raise its window.
    pub raises_on_events: bool,
    /// Whether undo also restores its internals.
    pub undoes_internals: bool,
    /// Whether Linux has it in a form that counts segments: where the stack counts so, its window is whole, and grows by one when enough
    /// segments are acknowledged. Not of those that set a window or a rate.
    pub counts_segments: bool,
    /// How many times as fast as classic slow start its own may be.
    pub slow_start_times: f64,
}

impl Default for Traits {
    fn default() -> Traits {
        Traits {
            is_random: Some(false),
            own_start: false,
            brings_hystart: false,
            minds_loss: true,
            minds_marks: true,
            needs_marks: None,
            loss_leaves: None,
            cuts_by_rate: false,
            sets_its_window: false,
            grows_unused: false,
            raises_on_events: false,
            undoes_internals: true,
            counts_segments: false,
            slow_start_times: 1.0,
        }
    }
}

impl Traits {
    /// Those of a congestion control for RDMA that neither losses nor marks of TCP reach.
    pub(crate) fn rdma() -> Traits {
        Traits { own_start: true, minds_loss: false, minds_marks: false, ..Traits::default() }
    }
}

/// The answers of one congestion control with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answers {
    #[serde(flatten)]
    pub traits: Traits,
    /// What it asks routers in a congestion header. A congestion control for TCP that asks is Reno until they answer: till then it
    /// minds losses and marks, whatever its traits say.
    pub asks: Option<Question>,
    /// The transports that it is for.
    pub transports: Vec<Transport>,
}

impl Spec {
    /// Returns what the congestion control answers about itself.
    ///
    /// ```
    /// use elephan_cc::{Question, Spec};
    ///
    /// let answers = Spec::named("xcp").unwrap().answers();
    /// assert_eq!((answers.asks, answers.traits.is_random), (Some(Question::Window), Some(false)));
    /// ```
    pub fn answers(&self) -> Answers {
        let traits = self.traits();
        match self {
            Spec::Guest(_) => Answers { traits, asks: None, transports: vec![Transport::Tcp] },
            _ => {
                let model = Any::new(self);
                Answers { traits, asks: model.asks_routers(), transports: model.transports().to_vec() }
            }
        }
    }
}

impl slow_start::Spec {
    /// Returns whether it may leave slow start because the delay rises, under this congestion control.
    ///
    /// ```
    /// use elephan_cc::{Spec, slow_start};
    ///
    /// let linux = slow_start::Spec::named("linux").unwrap();
    /// let ends = |name| linux.ends_by_delay(&Spec::named(name).unwrap());
    /// assert_eq!((ends("cubic"), ends("reno"), ends("bbr")), (true, false, false));
    /// ```
    pub fn ends_by_delay(&self, congestion_control: &Spec) -> bool {
        let mut model = slow_start::Any::new(self);
        model.on_congestion_control(congestion_control);
        model.ends_by_delay() && !congestion_control.traits().own_start
    }
}

#[cfg(test)]
mod tests;
