//! What [`super::Endpoint::poll_transmit`] has to do, as bits.

/// A SYN, SYN-ACK or window probe.
pub const CONTROL: u8 = 1;
/// Something may be sent that could not be sent before.
pub const DATA: u8 = 2;
/// An ACK is due.
pub const ACK: u8 = 4;
/// An ACK is due for what arrived before the CE state changed.
pub const EARLY_ACK: u8 = 8;
/// Of an endpoint without a connection: a reset with the sequence number that was acknowledged, or one that acknowledges.
pub const RESET: u8 = 16;
pub const RESET_ACK: u8 = 32;
/// The reset of a connection that is given up.
pub const ABORT: u8 = 64;
pub const RESETS: u8 = RESET | RESET_ACK | ABORT;
