//! What a model of congestion control says of itself, for the answers of its kind (`answers.rs`).

use serde::Serialize;

use crate::Transport;
use crate::rdma::InFlight;

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
    /// The transports that it is for.
    pub transports: &'static [Transport],
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
            transports: &[Transport::Tcp],
        }
    }
}

impl Traits {
    /// Those of a congestion control for RDMA that neither losses nor marks of TCP reach.
    pub(crate) fn rdma() -> Traits {
        let transports = &[Transport::Roce];
        Traits { own_start: true, minds_loss: false, minds_marks: false, transports, ..Traits::default() }
    }

    /// With what bounds the bytes in flight: a window that follows the rate, whatever the application has to send.
    pub(crate) fn bounded(self, in_flight: InFlight) -> Traits {
        let follows = in_flight != InFlight::Unbounded;
        Traits { sets_its_window: follows, grows_unused: follows, ..self }
    }
}
