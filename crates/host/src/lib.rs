//! What stands between TCP and the wire: transmit queue, driver ring, pacing at the device, receive ring and backlog, the
//! processor, disks. Pure: own state and arguments; no clock, no events. Each module says its rule at the top.

#![forbid(unsafe_code)]

mod alone;
pub mod below;
pub mod copy;
pub mod cpu;
pub mod disk;
mod line;
pub mod receive;
pub mod transmit;

pub use alone::Alone;
pub use cpu::Cpu;
pub use line::Line;
pub use receive::Receive;
pub use transmit::Transmit;

/// The models of one host; none of them: the ideal host, whose TCP touches the wire.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Models {
    pub transmit: Option<Transmit>,
    pub receive: Option<Receive>,
    pub cpu: Option<Cpu>,
}

impl Models {
    /// Whether this is the ideal host.
    pub fn is_none(&self) -> bool {
        *self == Models::default()
    }
}
