//! What is computed in advance at a port: `net/ahead.rs` says how.

use elephan_engine::Ring;
use elephan_units::Time;

/// A frame that waits until `start`.
#[derive(Clone, Copy, Default)]
pub struct Precomputed {
    pub start: Time,
    /// When it came.
    pub at: Time,
    /// What it takes of the queue, and of the wire before the end of the run.
    pub bytes: u32,
    pub wire: u32,
    /// What it takes of the memory of its switch, and where it came in there.
    pub charged: u32,
    pub ingress: u32,
}

/// What is computed in advance at a port.
#[derive(Clone, Default)]
pub struct Ahead {
    /// Nothing at the port but its FIFO, a gate and the memory of its switch looks at frames, from the beginning to the end.
    pub able: bool,
    /// From the last frame that went straight to the wire on, until frames are taken back.
    pub on: bool,
    pub bytes: u64,
    pub wire: u64,
    pub waiting: Ring<Precomputed>,
}

impl Ahead {
    pub fn new(able: bool) -> Ahead {
        Ahead { able, ..Ahead::default() }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn packets(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Bytes and packets of those that wait and start before the end of the run.
    pub fn to_come(&self) -> (u64, u64) {
        let waiting = (0..self.waiting.len() as u32).rev().map_while(|i| self.waiting.get(i));
        (self.wire, self.packets() - waiting.take_while(|r| r.wire == 0).count() as u64)
    }
}
