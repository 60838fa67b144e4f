//! What a connection goes over: the network, or the inside of a host.

use elephan_sim::{End, Status};

use crate::Network;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Line {
    Network(End),
    /// Of a host to itself: a place in [`Network::locals`], and the side.
    Local(u32, u8),
}

impl Network {
    pub(crate) fn status(&self, line: Line) -> Status {
        match line {
            Line::Network(end) => self.sim.status(end),
            Line::Local(pair, side) => self.locals[pair as usize].status(side),
        }
    }
}
