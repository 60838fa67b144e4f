//! Errors of the socket interface, with the numbers of Linux.

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
#[repr(i32)]
pub enum Errno {
    /// Nothing to read, no room, nobody to accept: try again later.
    Again = 11,
    BadDescriptor = 9,
    Invalid = 22,
    BrokenPipe = 32,
    DestinationRequired = 89,
    MessageTooLong = 90,
    NotSupported = 95,
    AddressInUse = 98,
    NetworkUnreachable = 101,
    ConnectionReset = 104,
    IsConnected = 106,
    NotConnected = 107,
    TimedOut = 110,
    ConnectionRefused = 111,
    Already = 114,
    InProgress = 115,
}

impl Errno {
    /// Its number on Linux.
    pub fn number(self) -> i32 {
        self as i32
    }

    /// What it says.
    pub fn text(self) -> &'static str {
        match self {
            Errno::Again => "Resource temporarily unavailable",
            Errno::BadDescriptor => "Bad file descriptor",
            Errno::Invalid => "Invalid argument",
            Errno::BrokenPipe => "Broken pipe",
            Errno::DestinationRequired => "Destination address required",
            Errno::MessageTooLong => "Message too long",
            Errno::NotSupported => "Operation not supported",
            Errno::AddressInUse => "Address already in use",
            Errno::NetworkUnreachable => "Network is unreachable",
            Errno::ConnectionReset => "Connection reset by peer",
            Errno::IsConnected => "Transport endpoint is already connected",
            Errno::NotConnected => "Transport endpoint is not connected",
            Errno::TimedOut => "Connection timed out",
            Errno::ConnectionRefused => "Connection refused",
            Errno::Already => "Operation already in progress",
            Errno::InProgress => "Operation now in progress",
        }
    }
}
