//! Packets on the wire: their sizes, their numbers, their headers.

use crate::Answer;

/// IPv4, UDP, base transport header (BTH) and invariant CRC of every packet.
pub const HEADERS_BYTES: u32 = 20 + 8 + 12 + 4;
/// ACK extended transport header (AETH), of ACK and NAK.
pub const AETH_BYTES: u32 = 4;
/// Number of a packet that was kept out of order, beside the AETH (Mittal et al. 2018, section 5: a packet number).
pub const SACK_BYTES: u32 = 4;
/// Reserved bytes of a CNP (InfiniBand annex A17, section 17.9.3).
pub const CNP_BYTES: u32 = 16;
/// Telemetry of five hops: a short header and 8 bytes each (Li et al., SIGCOMM 2019, section 4.1). The same is charged whatever
/// the number of hops.
pub const TELEMETRY_BYTES: u32 = 42;
/// Destination port (IANA).
pub const UDP_PORT: u16 = 4791;

/// Operations of a reliable connection (InfiniBand volume 1, section 9.2.1): SEND middle, SEND last, ACK; and the CNP of
/// annex A17.
const SEND_MIDDLE: u8 = 0x01;
const SEND_LAST: u8 = 0x02;
const ACKNOWLEDGE: u8 = 0x11;
const NOTIFICATION: u8 = 0x81;
/// Bit of a packet that asks for an acknowledgement (InfiniBand volume 1, section 9.2.9).
const ACKNOWLEDGE_REQUEST: u8 = 0x80;
/// Bit of a CNP: congestion was met by what goes the other way (InfiniBand annex A17, section 17.9.3).
const BECN: u8 = 0x40;
/// Default partition.
const PARTITION: [u8; 2] = [0xFF, 0xFF];
/// AETH of an ACK without credits, and of a NAK for a sequence error.
const SYNDROME_ACK: u8 = 0x1F;
const SYNDROME_NAK: u8 = 0x60;

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Data { psn: u32, last: bool, asks: bool },
    Answer(Answer),
    Notification,
}

/// BTH, and AETH of an answer, to the queue pair of this number: the bytes that follow UDP. An ACK names the packet before the one
/// that is expected next, a NAK that one. Of data the first packet of a work request is not told apart from those in its middle.
pub fn headers(kind: Kind, queue_pair: u32) -> ([u8; 16], usize) {
    let (operation, number, syndrome) = match kind {
        Kind::Data { psn, last, .. } => (if last { SEND_LAST } else { SEND_MIDDLE }, psn, None),
        Kind::Answer(Answer::Ack(psn)) => (ACKNOWLEDGE, psn.wrapping_sub(1) & PSN_MASK, Some(SYNDROME_ACK)),
        // The number of the packet that was kept has no place in the AETH; IRN would add one.
        Kind::Answer(Answer::Nak(psn) | Answer::Sack { expected: psn, .. }) => (ACKNOWLEDGE, psn, Some(SYNDROME_NAK)),
        Kind::Notification => (NOTIFICATION, 0, None),
    };
    let mut bytes = [0; 16];
    bytes[0] = operation;
    bytes[2..4].copy_from_slice(&PARTITION);
    bytes[5..8].copy_from_slice(&queue_pair.to_be_bytes()[1..]);
    if kind == Kind::Notification {
        bytes[4] = BECN;
    }
    if matches!(kind, Kind::Data { asks: true, .. }) {
        bytes[8] = ACKNOWLEDGE_REQUEST;
    }
    bytes[9..12].copy_from_slice(&number.to_be_bytes()[1..]);
    let Some(syndrome) = syndrome else { return (bytes, 12) };
    bytes[12] = syndrome;
    (bytes, 16)
}

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

    /// By hand after InfiniBand volume 1, sections 9.2 and 9.3: opcode, flags, partition, queue pair, number; syndrome.
    #[test]
    fn bytes() {
        let of = |kind| {
            let (bytes, len) = headers(kind, 0x12);
            bytes[..len].to_vec()
        };
        let bth = |opcode, psn: [u8; 3]| vec![opcode, 0, 0xFF, 0xFF, 0, 0, 0, 0x12, 0, psn[0], psn[1], psn[2]];
        assert_eq!(of(Kind::Data { psn: 0x01_0203, last: true, asks: false }), bth(0x02, [1, 2, 3]));
        let mut asking = bth(0x01, [1, 2, 3]);
        asking[8] = 0x80;
        assert_eq!(of(Kind::Data { psn: 0x01_0203, last: false, asks: true }), asking);
        let mut notification = bth(0x81, [0, 0, 0]);
        notification[4] = 0x40;
        assert_eq!(of(Kind::Notification), notification);
        let ack = [bth(0x11, [0xFF, 0xFF, 0xFF]), vec![0x1F, 0, 0, 0]].concat();
        assert_eq!(of(Kind::Answer(Answer::Ack(0))), ack);
        let nak = [bth(0x11, [0, 0, 5]), vec![0x60, 0, 0, 0]].concat();
        assert_eq!(of(Kind::Answer(Answer::Nak(5))), nak);
    }

    /// 20 + 8 + 12 + 4; an ACK has 4 more, a CNP 16.
    #[test]
    fn sizes() {
        assert_eq!((HEADERS_BYTES, HEADERS_BYTES + AETH_BYTES, HEADERS_BYTES + CNP_BYTES), (44, 48, 60));
    }
}
