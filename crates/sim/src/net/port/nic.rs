//! What the interface of a host that sends RoCE has handed to its port: `net/nic.rs` says how.

/// What the interface of a host has handed over to one queue and waits there still.
#[derive(Clone, Copy, Debug, Default)]
pub struct Handed {
    pub waiting: u16,
    /// A connection waits for room.
    wanted: bool,
}

impl Handed {
    /// Whether there is room for another packet; if not, the interface is called when there is.
    pub fn has_room(&mut self) -> bool {
        self.wanted = self.waiting > 0;
        !self.wanted
    }

    /// A packet waits no more; whether the interface is to be called.
    pub fn leaves(&mut self) -> bool {
        self.waiting = self.waiting.saturating_sub(1);
        std::mem::take(&mut self.wanted)
    }
}

/// Of the port of a host: what waits in its ordinary queue, by priority. What waits behind limiters is counted there.
#[derive(Clone, Copy, Debug, Default)]
pub struct NicPort(pub [Handed; 8]);
