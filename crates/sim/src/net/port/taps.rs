//! Where captures look at a port.

use crate::target::NONE;

/// Where the packets of a port are captured: numbers of taps, [`NONE`] if not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taps {
    /// Those handed to it by its host.
    pub handed: u32,
    /// Those whose transmission starts.
    pub started: u32,
    /// Those that the host at the far end receives.
    pub received: u32,
}

impl Taps {
    pub const NONE: Taps = Taps { handed: NONE, started: NONE, received: NONE };
}
