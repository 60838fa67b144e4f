//! The segment: what one TCP header says, in 32 bytes, with the options of RFC 9293 (MSS), RFC 2018 (SACK),
//! RFC 7323 (timestamps, window scale) and RFC 9768 (AccECN) as fields.
//!
//! The rule of this layer: a segment carries no payload, only its length, and its header is charged as a real stack
//! encodes it (each option padded to four bytes with NOPs, as RFC 7323 appendix A recommends).

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fast_open::option_bytes;

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

/// `Segment::options` bits: an AccECN option is present (RFC 9768) if one of them is set: [`Segment::accecn`].
pub const OPTION_ACCECN: u8 = 0b0011_1000;
const ACCECN_SHIFT: u32 = 3;
/// `Segment::options` bit: the header's AE flag (RFC 9768), for which [`Flags`] has no room.
pub const HEADER_AE: u8 = 64;

/// `Segment::options` bit: the packet goes over IPv6.
pub const HEADER_IPV6: u8 = 128;

/// Version of the Internet Protocol below a connection or a stream of datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IpVersion {
    /// RFC 791: a header of 20 bytes.
    #[default]
    V4,
    /// RFC 8200: a header of 40 bytes.
    V6,
}

impl IpVersion {
    /// Returns the bytes of the IP header, without options or extension headers.
    pub const fn header_bytes(self) -> u32 {
        match self {
            IpVersion::V4 => IP_HEADER_BYTES,
            IpVersion::V6 => IPV6_HEADER_BYTES,
        }
    }

    /// Returns the bytes of the IP header and of a TCP header without options: what the MTU exceeds the MSS by (RFC 9293 section 3.7.1).
    pub const fn tcp_headers_bytes(self) -> u32 {
        self.header_bytes() + TCP_HEADER_BYTES
    }

    /// Returns the bytes of the IP and UDP headers.
    pub const fn udp_headers_bytes(self) -> u32 {
        self.header_bytes() + UDP_HEADER_BYTES
    }

    /// Returns what [`Segment::options`] says of it.
    pub const fn bits(self) -> u8 {
        match self {
            IpVersion::V4 => 0,
            IpVersion::V6 => HEADER_IPV6,
        }
    }
}

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
    /// MSS option of a SYN, 0 if absent.
    pub mss: u16,
    pub flags: Flags,
    /// ECN codepoint of the IP header.
    pub ecn: u8,
    /// SACK blocks that come with the segment, 0 to 4. Of a SYN: what stands there instead, the Fast Open option.
    pub sack_len: u8,
    /// Which options are present, and what else headers say: `OPTION_*`, `HEADER_*`.
    pub options: u8,
    /// Window scale option of a SYN.
    pub wscale: u8,
    /// A counter of the AccECN option, the most significant byte first: the second, or the only one; the others stand in the place of
    /// the fourth SACK block.
    pub ceb: [u8; 3],
}

const _: () = assert!(size_of::<Segment>() == 32);

/// An AccECN option (RFC 9768 section 3.2.3): 24-bit counters of payload bytes by codepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcnOption {
    /// Kind 174: ECT(1), CE, ECT(0). Otherwise kind 172: ECT(0), CE, ECT(1).
    pub order1: bool,
    /// How many of the counters it has, from the first on: 0 to 3.
    pub count: u8,
    pub fields: [u32; 3],
}

impl AccEcnOption {
    /// What each counter counts, in order.
    pub const fn codepoints(order1: bool) -> [u8; 3] {
        if order1 { [ECN_ECT1, ECN_CE, ECN_ECT0] } else { [ECN_ECT0, ECN_CE, ECN_ECT1] }
    }

    /// The counters that it has, with their codepoints.
    pub fn counters(&self) -> impl Iterator<Item = (u8, u32)> {
        AccEcnOption::codepoints(self.order1).into_iter().zip(self.fields).take(self.count.into())
    }

    /// The counter of a codepoint, if it has that.
    pub fn counter(&self, ecn: u8) -> Option<u32> {
        self.counters().find(|(codepoint, _)| *codepoint == ecn).map(|(_, counter)| counter)
    }

    /// Three bits: 1 to 3 counters in order 0, none at all, 1 to 3 counters in order 1.
    fn code(&self) -> u8 {
        if self.order1 || self.count == 0 { 4 | self.count } else { self.count }
    }
}

/// The AccECN option with all of its counters.
pub(crate) const ACCECN_MAX_BYTES: u32 = 12;

/// Bytes that an AccECN option with `count` counters takes: kind, length, 3 for each counter, padded to four bytes. Of the padding of the
/// option behind it a rest may take `saving` bytes (Linux `tcp_options_fit_accecn`).
pub(crate) fn accecn_bytes(count: u8, saving: u32) -> u32 {
    let bytes = 2 + 3 * u32::from(count);
    if bytes % 4 > saving { bytes.next_multiple_of(4) } else { bytes / 4 * 4 }
}

/// IPv4 header without options.
pub const IP_HEADER_BYTES: u32 = 20;
/// IPv6 header without extension headers (RFC 8200 section 3).
pub const IPV6_HEADER_BYTES: u32 = 40;
/// UDP header (RFC 768).
pub const UDP_HEADER_BYTES: u32 = 8;
/// TCP header without options.
pub const TCP_HEADER_BYTES: u32 = 20;
/// Largest TCP header (RFC 9293 section 3.1).
pub const TCP_HEADER_MAX_BYTES: u32 = 60;

impl Segment {
    /// TCP header with its options as encoded, a multiple of 4 and at most 60.
    #[inline]
    pub fn header_bytes(&self) -> u32 {
        TCP_HEADER_BYTES + self.timestamps_bytes() + if self.is_bare() { 0 } else { self.other_option_bytes() }
    }

    #[inline]
    fn timestamps_bytes(&self) -> u32 {
        if self.options & OPTION_TIMESTAMPS != 0 { 12 } else { 0 }
    }

    /// It carries no option but timestamps, over IPv4.
    #[inline]
    fn is_bare(&self) -> bool {
        self.sack_len | self.options & (OPTION_ACCECN | HEADER_IPV6) | self.flags.0 & Flags::SYN.0 == 0
    }

    fn other_option_bytes(&self) -> u32 {
        let accecn = self.accecn_shape().map_or(0, |(_, count)| accecn_bytes(count, self.accecn_saving()));
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

    /// Adds an AccECN option, if the header has room for it. Two counters or three take the place of the fourth SACK block.
    pub fn add_accecn(&mut self, option: &AccEcnOption, sack: &mut SackBlocks) {
        let with = self.options | option.code() << ACCECN_SHIFT;
        if (Segment { options: with, ..*self }).header_bytes() > TCP_HEADER_MAX_BYTES {
            return;
        }
        self.options = with;
        let [first, second, third] = option.fields;
        let [_, own @ ..] = if option.count > 1 { second } else { first }.to_be_bytes();
        self.ceb = own;
        if option.count > 1 {
            sack[3] = (first, third);
        }
    }

    /// Whether the AccECN option is of order 1, and how many counters it has; none without an option.
    fn accecn_shape(&self) -> Option<(bool, u8)> {
        let code = (self.options & OPTION_ACCECN) >> ACCECN_SHIFT;
        (code != 0).then_some((code >= 4, code & 3))
    }

    /// Bytes of padding of another option that a rest of the AccECN option may take.
    fn accecn_saving(&self) -> u32 {
        let sacks = self.options & (OPTION_SACK_PERMITTED | OPTION_TIMESTAMPS) == OPTION_SACK_PERMITTED;
        match self.flags.any(Flags::SYN) {
            true if sacks => 2,
            true => u32::from(self.options & OPTION_WINDOW_SCALE != 0),
            false if self.sack_len > 0 => 2,
            false => 0,
        }
    }

    /// The AccECN option, if there is one; `sack` is what came with the segment.
    pub fn accecn(&self, sack: &SackBlocks) -> Option<AccEcnOption> {
        let (order1, count) = self.accecn_shape()?;
        let [high, middle, low] = self.ceb;
        let own = u32::from_be_bytes([0, high, middle, low]);
        let fields = match count {
            0 | 1 => [own, 0, 0],
            _ => [sack[3].0, own, sack[3].1],
        };
        Some(AccEcnOption { order1, count, fields })
    }

    /// Version of the IP header.
    #[inline]
    pub fn ip(&self) -> IpVersion {
        if self.options & HEADER_IPV6 != 0 { IpVersion::V6 } else { IpVersion::V4 }
    }

    /// Length of the IP packet: IP header, TCP header, payload.
    #[inline]
    pub fn ip_bytes(&self) -> u32 {
        // Whatever is more than the header of IPv4.
        let longer = || self.ip().header_bytes() - IP_HEADER_BYTES;
        let other = if self.is_bare() { 0 } else { self.other_option_bytes() + longer() };
        IP_HEADER_BYTES + TCP_HEADER_BYTES + self.timestamps_bytes() + other + self.len
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

    /// RFC 8200 section 3: the IPv6 header has 40 bytes. The TCP header is the same.
    #[test]
    fn headers_over_ipv6() {
        let data = Segment { len: 1440, flags: Flags::ACK, options: IpVersion::V6.bits(), ..Segment::default() };
        assert_eq!((data.ip(), data.header_bytes(), data.ip_bytes()), (IpVersion::V6, 20, 1500));
        let stamped = Segment { options: OPTION_TIMESTAMPS | HEADER_IPV6, len: 1428, ..data };
        assert_eq!((stamped.header_bytes(), stamped.ip_bytes()), (32, 1500));
        let ack = Segment { sack_len: 3, len: 0, ..stamped };
        assert_eq!((ack.header_bytes(), ack.ip_bytes()), (60, 100));
        let versions = [IpVersion::V4, IpVersion::V6];
        assert_eq!(versions.map(|ip| (ip.tcp_headers_bytes(), ip.udp_headers_bytes())), [(40, 28), (60, 48)]);
    }

    /// RFC 9768 figure 3: AE, CWR, ECE from the left; the option takes 12, 8, 8 and 4 bytes, beside SACK blocks 12, 8, 4 and none.
    #[test]
    fn accecn_fields() {
        for ace in 0..8 {
            let mut seg = Segment { flags: Flags::ACK, ..Segment::default() };
            seg.set_ace(ace);
            assert_eq!((seg.ace(), seg.flags.any(Flags::ACK)), (ace, true));
        }
        let mut sack = [(1, 2); 4];
        for (blocks, bytes) in [(0, [4, 8, 8, 12]), (1, [0, 4, 8, 12])] {
            for (order1, count) in [false, true].into_iter().flat_map(|order| (0..=3).map(move |count| (order, count)))
            {
                let mut seg = Segment { flags: Flags::ACK, sack_len: blocks, ..Segment::default() };
                let before = seg.header_bytes();
                let fields = [0x12_3456, 0xfe_dcba, 0xff_ffff];
                seg.add_accecn(&AccEcnOption { order1, count, fields }, &mut sack);
                let read = seg.accecn(&sack).unwrap();
                assert_eq!((read.count, read.order1), (count, order1 || count == 0));
                assert_eq!(read.fields[..count.into()], fields[..count.into()]);
                assert_eq!(seg.header_bytes() - before, bytes[usize::from(count)]);
            }
        }
        // Timestamps and two blocks leave 8 bytes.
        let full = Segment { flags: Flags::ACK, options: OPTION_TIMESTAMPS, sack_len: 2, ..Segment::default() };
        for (count, there) in [(3, false), (2, true)] {
            let mut seg = full;
            seg.add_accecn(&AccEcnOption { order1: false, count, fields: [1; 3] }, &mut sack);
            assert_eq!(seg.accecn(&sack).is_some(), there);
        }
    }

    #[test]
    fn sequence_space() {
        let fin = Segment { len: 10, flags: Flags::FIN | Flags::ACK, ..Segment::default() };
        assert_eq!(fin.seq_len(), 11);
        assert_eq!(format!("{:?}", fin.flags), "FIN|ACK");
    }
}
