//! Sizes of packets, and packet sequence numbers as on the wire.

/// IPv4, UDP, base transport header (BTH) and invariant CRC of every packet.
pub const HEADERS_BYTES: u32 = 20 + 8 + 12 + 4;
/// ACK extended transport header (AETH), of ACK and NAK.
pub const AETH_BYTES: u32 = 4;
/// Reserved bytes of a CNP (InfiniBand annex A17, section 17.9.3).
pub const CNP_BYTES: u32 = 16;
/// Telemetry of five hops: a short header and 8 bytes each (Li et al., SIGCOMM 2019, section 4.1). The same is charged whatever
/// the number of hops.
pub const TELEMETRY_BYTES: u32 = 42;
/// Destination port (IANA).
pub const UDP_PORT: u16 = 4791;

const PSN_BITS: u32 = 24;
const PSN_MASK: u32 = (1 << PSN_BITS) - 1;

/// The number of packet `ordinal` on the wire.
pub fn psn(ordinal: u64) -> u32 {
    ordinal as u32 & PSN_MASK
}

/// The ordinal that `psn` means, the one nearest to `near`.
pub fn ordinal(psn: u32, near: u64) -> u64 {
    let ahead = psn.wrapping_sub(near as u32) << (32 - PSN_BITS);
    near.saturating_add_signed(i64::from(ahead as i32 >> (32 - PSN_BITS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^24 = 16 777 216 numbers; the nearer way round is meant.
    #[test]
    fn numbers_wrap() {
        assert_eq!((psn(16_777_215), psn(16_777_216), psn(16_777_218)), (0xFF_FFFF, 0, 2));
        assert_eq!(ordinal(1, 16_777_214), 16_777_217);
        assert_eq!(ordinal(0xFF_FFFE, 16_777_217), 16_777_214);
        assert_eq!(ordinal(5, 2), 5);
        assert_eq!(ordinal(2, 5), 2);
        assert_eq!(ordinal(psn(1 << 40), (1 << 40) - 8_000_000), 1 << 40);
    }

    /// 20 + 8 + 12 + 4; an ACK has 4 more, a CNP 16.
    #[test]
    fn sizes() {
        assert_eq!((HEADERS_BYTES, HEADERS_BYTES + AETH_BYTES, HEADERS_BYTES + CNP_BYTES), (44, 48, 60));
    }
}
