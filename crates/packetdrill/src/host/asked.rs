//! What is asked and kept for Fast Open.

use elephan_tcp::{FastOpenMemory, FastOpenPause};
use elephan_units::Time;

/// What an application has asked a socket for.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// TCP_FASTOPEN: how many handshakes may be under way.
    pub queue: Option<u64>,
    /// TCP_FASTOPEN_CONNECT, and whether `connect` waits for the first write.
    pub connect: bool,
    pub deferred: bool,
    /// TCP_FASTOPEN_NO_COOKIE.
    pub no_cookie: bool,
    /// TCP_FASTOPEN_KEY.
    pub key: Option<[u8; 16]>,
    /// Of a connection of a listener: the handshake was cut short by a reset.
    pub reset_at: Option<Time>,
}

/// What the host keeps.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Of the one peer that scripts have.
    pub(super) memory: FastOpenMemory,
    pub(super) pause: FastOpenPause,
    /// Addresses of the script's end and of the host.
    pub remote: [u8; 4],
    pub local: [u8; 4],
    /// How often the memory was emptied by a command.
    pub(super) flushes: u64,
}

impl Kept {
    pub fn new(remote: [u8; 4], local: [u8; 4]) -> Kept {
        Kept { memory: FastOpenMemory::default(), pause: FastOpenPause::default(), remote, local, flushes: 0 }
    }
}
