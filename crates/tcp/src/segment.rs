//! The segment: what one TCP header says, in 32 bytes, with the options of RFC 9293 (MSS), RFC 2018 (SACK),
//! RFC 7323 (timestamps, window scale) and RFC 9768 (AccECN) as fields.
//!
//! The law of this layer: a segment carries no payload, only its length, and its header is charged as a real stack
//! encodes it (each option padded to four bytes with NOPs, as RFC 7323 appendix A recommends).

use crate::fast_open::option_bytes;
use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// The control bits of RFC 9293 section 3.1, as on the wire.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    pub const NONE: Flags = Flags(0);
    pub const FIN: Flags = Flags(0x01);
    pub const SYN: Flags = Flags(0x02);
    pub const RST: Flags = Flags(0x04);
    pub const PSH: Flags = Flags(0x08);
    pub const ACK: Flags = Flags(0x10);
    pub const URG: Flags = Flags(0x20);
    pub const ECE: Flags = Flags(0x40);
    pub const CWR: Flags = Flags(0x80);

    /// Whether all of `bits` are set.
    #[inline]
    pub const fn has(self, bits: Flags) -> bool {
        self.0 & bits.0 == bits.0
    }

    /// Whether at least one of `bits` is set.
    #[inline]
    pub const fn any(self, bits: Flags) -> bool {
        self.0 & bits.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 8] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"];
        let set: Vec<&str> = NAMES.iter().enumerate().filter(|&(i, _)| self.0 >> i & 1 == 1).map(|(_, n)| *n).collect();
        f.write_str(&if set.is_empty() { "-".to_owned() } else { set.join("|") })
    }
}

/// The SACK blocks of a segment, `[left, right)` in wire sequence numbers; the first `sack_len` are meant.
pub type SackBlocks = [(u32, u32); 4];

/// `Segment::options` bit: the timestamps option is present.
pub const OPTION_TIMESTAMPS: u8 = 1;
/// `Segment::options` bit: SACK-permitted (SYN only).
pub const OPTION_SACK_PERMITTED: u8 = 2;
/// `Segment::options` bit: window scale (SYN only).
pub const OPTION_WINDOW_SCALE: u8 = 4;

/// `Segment::options` bit: the AccECN option of length 8 is present (RFC 9768).
pub const OPTION_ACCECN: u8 = 8;
/// `Segment::options` bit: the header's AE flag (RFC 9768), for which [`Flags`] has no room.
pub const HEADER_AE: u8 = 16;

/// ECN codepoints of the IP header (RFC 3168 section 5).
pub const ECN_NOT_ECT: u8 = 0;
pub const ECN_ECT1: u8 = 1;
pub const ECN_ECT0: u8 = 2;
pub const ECN_CE: u8 = 3;

/// One segment. SACK blocks travel beside it (see [`SackBlocks`]), so that the common segment stays 32 bytes.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte (of the SYN or FIN when there is no data).
    pub seq: u32,
    /// Next sequence number expected from the peer, when [`Flags::ACK`] is set.
    pub ack: u32,
    /// Payload bytes.
    pub len: u32,
    /// Timestamp value and echo reply (RFC 7323), when [`OPTION_TIMESTAMPS`] is set.
    pub tsval: u32,
    pub tsecr: u32,
    /// Window as on the wire: to be shifted by the scale of the handshake, except in a SYN.
    pub window: u16,
    /// MSS option of a SYN, 0 if absent. With [`OPTION_ACCECN`], which no SYN has: the high bytes of EE0B.
    pub mss: u16,
    pub flags: Flags,
    /// ECN codepoint of the IP header.
    pub ecn: u8,
    /// SACK blocks that come with the segment, 0 to 4. Of a SYN: what stands there instead, the Fast Open option.
    pub sack_len: u8,
    /// Which options are present: `OPTION_*`.
    pub options: u8,
    /// Window scale option of a SYN. With [`OPTION_ACCECN`]: the low byte of EE0B.
    pub wscale: u8,
    /// ECEB of the AccECN option, the most significant byte first, when [`OPTION_ACCECN`] is set.
    pub ceb: [u8; 3],
}

const _: () = assert!(size_of::<Segment>() == 32);

/// IPv4 header without options.
pub const IP_HEADER_BYTES: u32 = 20;
/// TCP header without options.
pub const TCP_HEADER_BYTES: u32 = 20;
/// Largest TCP header (RFC 9293 section 3.1).
pub const TCP_HEADER_MAX_BYTES: u32 = 60;
/// The AccECN option with two of its counters.
const ACCECN_BYTES: u32 = 8;

impl Segment {
    /// TCP header with its options as encoded, a multiple of 4 and at most 60.
    #[inline]
    pub fn header_bytes(&self) -> u32 {
        let stamped = if self.options & OPTION_TIMESTAMPS != 0 { 12 } else { 0 };
        TCP_HEADER_BYTES + stamped + if self.is_bare() { 0 } else { self.other_option_bytes() }
    }

    /// It carries no option but timestamps.
    #[inline]
    fn is_bare(&self) -> bool {
        self.sack_len | self.options & OPTION_ACCECN | self.flags.0 & Flags::SYN.0 == 0
    }

    fn other_option_bytes(&self) -> u32 {
        let accecn = if self.options & OPTION_ACCECN != 0 { ACCECN_BYTES } else { 0 };
        if self.flags.any(Flags::SYN) {
            accecn + self.syn_option_bytes() + option_bytes(self.sack_len)
        } else if self.sack_len != 0 {
            accecn + 4 + 8 * u32::from(self.sack_len)
        } else {
            accecn
        }
    }

    /// MSS 4; window scale 3 and a NOP; SACK-permitted 2, which takes the place of the timestamps' two NOPs.
    fn syn_option_bytes(&self) -> u32 {
        let mss = if self.mss != 0 { 4 } else { 0 };
        let scale = if self.options & OPTION_WINDOW_SCALE != 0 { 4 } else { 0 };
        let alone = self.options & (OPTION_SACK_PERMITTED | OPTION_TIMESTAMPS) == OPTION_SACK_PERMITTED;
        mss + scale + if alone { 4 } else { 0 }
    }

    /// The ACE field: the flags AE, CWR and ECE as a number (RFC 9768 section 3.2.2).
    pub fn ace(&self) -> u8 {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        flag(self.options & HEADER_AE != 0, 4)
            | flag(self.flags.any(Flags::CWR), 2)
            | flag(self.flags.any(Flags::ECE), 1)
    }

    /// Sets the three flags of the ACE field, which must be clear.
    pub fn set_ace(&mut self, ace: u8) {
        self.options |= if ace & 4 != 0 { HEADER_AE } else { 0 };
        self.flags |= if ace & 2 != 0 { Flags::CWR } else { Flags::NONE };
        self.flags |= if ace & 1 != 0 { Flags::ECE } else { Flags::NONE };
    }

    /// Adds the AccECN option, if the header has room for it: the low 24 bits of EE0B and ECEB. Not for a SYN.
    pub fn add_accecn(&mut self, e0b: u32, ceb: u32) {
        if self.header_bytes() + ACCECN_BYTES <= TCP_HEADER_MAX_BYTES {
            self.options |= OPTION_ACCECN;
            (self.mss, self.wscale) = ((e0b >> 8) as u16, e0b as u8);
            let [_, ceb @ ..] = ceb.to_be_bytes();
            self.ceb = ceb;
        }
    }

    /// EE0B and ECEB of the AccECN option, if there is one.
    pub fn accecn(&self) -> Option<(u32, u32)> {
        let [high, middle, low] = self.ceb;
        let e0b = u32::from(self.mss) << 8 | u32::from(self.wscale);
        (self.options & OPTION_ACCECN != 0).then(|| (e0b, u32::from_be_bytes([0, high, middle, low])))
    }

    /// IPv4 packet length: IP header, TCP header, payload.
    #[inline]
    pub fn ip_bytes(&self) -> u32 {
        IP_HEADER_BYTES + self.header_bytes() + self.len
    }

    /// Sequence space that the segment takes: payload, plus one for SYN and one for FIN.
    #[inline]
    pub fn seq_len(&self) -> u32 {
        self.len + u32::from(self.flags.any(Flags::SYN)) + u32::from(self.flags.any(Flags::FIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_as_encoded() {
        let data = Segment { len: 1460, flags: Flags::ACK, ..Segment::default() };
        assert_eq!((data.header_bytes(), data.ip_bytes()), (20, 1500));
        // RFC 7323 appendix A: 12 bytes with the two NOPs.
        let stamped = Segment { options: OPTION_TIMESTAMPS, len: 1448, flags: Flags::ACK, ..Segment::default() };
        assert_eq!((stamped.header_bytes(), stamped.ip_bytes()), (32, 1500));
        // RFC 2018 section 3: four blocks fill the 40 bytes of options without timestamps, three with them.
        let four = Segment { sack_len: 4, flags: Flags::ACK, ..Segment::default() };
        assert_eq!(four.header_bytes(), 56);
        assert_eq!(Segment { sack_len: 3, options: OPTION_TIMESTAMPS, ..four }.header_bytes(), 60);
        // A Linux SYN: MSS, SACK-permitted, timestamps, window scale: 40 bytes of header.
        let all = OPTION_TIMESTAMPS | OPTION_SACK_PERMITTED | OPTION_WINDOW_SCALE;
        let syn = Segment { flags: Flags::SYN, mss: 1460, options: all, ..Segment::default() };
        assert_eq!(syn.header_bytes(), 40);
        // A Windows XP SYN: MSS and SACK-permitted: 28 bytes.
        assert_eq!(Segment { options: OPTION_SACK_PERMITTED, ..syn }.header_bytes(), 28);
    }

    /// RFC 9768 figure 3: AE, CWR, ECE from the left; the option with EE0B and ECEB takes 8 bytes, where they are free.
    #[test]
    fn accecn_fields() {
        for ace in 0..8 {
            let mut seg = Segment { flags: Flags::ACK, ..Segment::default() };
            seg.set_ace(ace);
            assert_eq!((seg.ace(), seg.flags.any(Flags::ACK)), (ace, true));
        }
        let mut seg = Segment { flags: Flags::ACK, options: OPTION_TIMESTAMPS, sack_len: 2, ..Segment::default() };
        seg.add_accecn(0x12_3456, 0xfe_dcba);
        assert_eq!((seg.accecn(), seg.header_bytes()), (Some((0x12_3456, 0xfe_dcba)), 60));
        let mut full = Segment { options: OPTION_TIMESTAMPS, sack_len: 3, ..seg };
        full.add_accecn(1, 1);
        assert_eq!((full.accecn(), full.header_bytes()), (None, 60));
    }

    #[test]
    fn sequence_space() {
        let fin = Segment { len: 10, flags: Flags::FIN | Flags::ACK, ..Segment::default() };
        assert_eq!(fin.seq_len(), 11);
        assert_eq!(format!("{:?}", fin.flags), "FIN|ACK");
    }
}
