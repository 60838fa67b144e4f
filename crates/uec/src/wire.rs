//! What packets say, and their numbers.

/// Destination port of Ultra Ethernet over UDP (IANA).
pub const UDP_PORT: u16 = 4793;

/// What a packet is, and what its headers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    Data(Data),
    Ack(Ack),
    Nack(Nack),
    /// A grant: all credit since the connection began, in bytes on the wire.
    Grant(u64),
    /// A sender that has no credit asks for some: what it wants, as [`Data::wants`].
    Request(u64),
}

impl Default for Header {
    fn default() -> Header {
        Header::Grant(0)
    }
}

/// A packet of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    pub psn: u32,
    /// Entropy value, which picks the path.
    pub entropy: u16,
    /// It is to be acknowledged at once.
    pub asks: bool,
    /// It was sent before.
    pub again: bool,
    /// All credit since the connection began that the sender would have now, in bytes on the wire; 0 without credits.
    pub wants: u64,
    /// Of a trimmed header: it was trimmed at the last port before its receiver.
    pub at_last_hop: bool,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// The packet that is expected next: all before it are there.
    pub expected: u32,
    /// Bit i says that packet `base + i` is there.
    pub base: u32,
    pub bitmap: u64,
    /// The packet that led to it.
    pub psn: u32,
    pub entropy: u16,
    pub again: bool,
    pub marked: bool,
    /// Bytes on the wire of all packets that arrived with their payload, each packet counted once.
    pub arrived: u64,
}

/// The answer to a trimmed header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nack {
    pub psn: u32,
    pub entropy: u16,
    pub marked: bool,
    /// The packet was trimmed at the last port before its receiver.
    pub at_last_hop: bool,
}

/// The ordinal that a number means, the one nearest to `near`.
///
/// ```
/// use elephan_uec::wire::ordinal;
///
/// assert_eq!(ordinal(1, 4_294_967_290), 4_294_967_297);
/// assert_eq!(ordinal(4_294_967_295, 4_294_967_297), 4_294_967_295);
/// ```
pub fn ordinal(psn: u32, near: u64) -> u64 {
    near.saturating_add_signed(i64::from(psn.wrapping_sub(near as u32) as i32))
}
