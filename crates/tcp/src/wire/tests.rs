//! Headers laid out by hand after the RFCs.

use super::*;
use crate::segment::{ECN_CE, ECN_ECT0, HEADER_IPV6};

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];
const THERE: Ends = Ends { addresses: Addresses::V4([CLIENT, SERVER]), source_port: 38_000, destination_port: 10_601 };
const BACK: Ends = Ends { addresses: Addresses::V4([SERVER, CLIENT]), source_port: 10_601, destination_port: 38_000 };
/// fd00::a00:1 and fd00::a00:2.
const OVER_V6: Ends = Ends {
    addresses: Addresses::V6([
        [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1],
        [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2],
    ]),
    ..THERE
};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<char> = hex.chars().filter(|c| !c.is_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap()).collect()
}

/// The example of RFC 1071 section 3.
#[test]
fn sum_of_rfc_1071() {
    assert_eq!(sum(&[0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7], 0), 0xDDF2);
}

/// Checksums added by hand over the pseudo-header, the header and the payload, an odd number of bytes.
#[test]
fn a_payload_is_covered() {
    let datagram = Segment { len: 5, ..Segment::default() };
    let mut udp = Headers::udp(&datagram, 0, &THERE);
    udp.cover(b"hello", Transport::Udp);
    assert_eq!(udp.as_bytes()[26..28], [0xEA, 0x25]);
    let segment = Segment { seq: 1, ack: 2, window: 3, len: 3, flags: Flags::ACK, ..Segment::default() };
    let mut tcp = Headers::tcp(&segment, &SackBlocks::default(), 0, &THERE);
    tcp.cover(b"abc", Transport::Tcp);
    assert_eq!(tcp.as_bytes()[36..38], [0x19, 0x8D]);
}

/// RFC 792: type 3, code 3, and what it answers, here a datagram of 5 bytes of zeros from the client.
#[test]
fn a_port_is_unreachable() {
    let message = Headers::port_unreachable(8 + 28 + 5, 33, 7, &BACK);
    assert_eq!(message.as_bytes()[..10], bytes("45 00 003D 0007 4000 40 01"));
    let quoted = "45 00 0021 0000 4000 40 11 26CA 0A000001 0A000002 9470 2969 000D 2DF8";
    assert_eq!(message.as_bytes()[20..], bytes(&format!("03 03 111E 00000000 {quoted}")));
}

/// Laid out by hand after RFC 791 section 3.1, RFC 9293 section 3.1, RFC 2018 section 2 and RFC 7323 sections 2.2
/// and 3.2. Checksums added by hand: IP D946, inverted 26B9; TCP 28DE0 with the pseudo-header, folded 8DE2, inverted 721D.
#[test]
fn a_syn() {
    let syn = Segment {
        seq: 0x0102_0304,
        window: 65_535,
        mss: 1460,
        flags: Flags::SYN,
        tsval: 1,
        options: OPTION_TIMESTAMPS | OPTION_SACK_PERMITTED | OPTION_WINDOW_SCALE,
        wscale: 7,
        ..Segment::default()
    };
    let expected = "45 00 003C 0001 4000 40 06 26B9 0A000001 0A000002
        9470 2969 01020304 00000000 A0 02 FFFF 721D 0000
        02 04 05B4  04 02  08 0A 00000001 00000000  01  03 03 07";
    assert_eq!(Headers::tcp(&syn, &SackBlocks::default(), 1, &THERE).as_bytes(), bytes(expected));
}

/// An ACK with two SACK blocks (RFC 2018 section 3) beside timestamps, with ECE (RFC 3168 section 6.1). Sums: IP D958,
/// inverted 26A7; TCP 24E9E, folded 4EA0, inverted B15F.
#[test]
fn a_sack() {
    let ack = Segment {
        seq: 0x1111_1112,
        ack: 0x0102_0305,
        window: 512,
        flags: Flags::ACK | Flags::ECE,
        tsval: 100,
        tsecr: 50,
        options: OPTION_TIMESTAMPS,
        sack_len: 2,
        ..Segment::default()
    };
    let mut sack = SackBlocks::default();
    sack[0] = (0x0102_0FAD, 0x0102_1555);
    sack[1] = (0x0102_2000, 0x0102_2B50);
    let expected = "45 00 0048 0007 4000 40 06 26A7 0A000002 0A000001
        2969 9470 11111112 01020305 D0 50 0200 B15F 0000
        01 01 08 0A 00000064 00000032
        01 01 05 12 01020FAD 01021555 01022000 01022B50";
    assert_eq!(Headers::tcp(&ack, &sack, 7, &BACK).as_bytes(), bytes(expected));
}

/// The SYN of above over IPv6, laid out by hand after RFC 8200 section 3, with CE in the traffic class. The sum of the TCP header
/// without its checksum is the one of IPv4; its pseudo-header has FD00 twice more: 28DE0 + 1FA00 = 487E0, folded 87E4, inverted 781B.
#[test]
fn a_syn_over_ipv6() {
    let syn = Segment {
        seq: 0x0102_0304,
        window: 65_535,
        mss: 1460,
        flags: Flags::SYN,
        ecn: ECN_CE,
        tsval: 1,
        options: OPTION_TIMESTAMPS | OPTION_SACK_PERMITTED | OPTION_WINDOW_SCALE | HEADER_IPV6,
        wscale: 7,
        ..Segment::default()
    };
    let expected = "60 30 0000 0028 06 40
        FD00 0000 0000 0000 0000 0000 0A00 0001  FD00 0000 0000 0000 0000 0000 0A00 0002
        9470 2969 01020304 00000000 A0 02 FFFF 781B 0000
        02 04 05B4  04 02  08 0A 00000001 00000000  01  03 03 07";
    let headers = Headers::tcp(&syn, &SackBlocks::default(), 1, &OVER_V6);
    assert_eq!(headers.as_bytes(), bytes(expected));
    assert_eq!(headers.as_bytes().len() as u32, syn.ip_bytes());
}

/// RFC 8200 section 8.1: a packet of UDP over IPv6 has a checksum, and the sum over everything is all ones.
#[test]
fn checksums_hold_over_ipv6() {
    for len in [1, 2, 1428, 65_000] {
        let data = Segment { seq: 9, len, flags: Flags::ACK, options: HEADER_IPV6, ..Segment::default() };
        let tcp = Headers::tcp(&data, &SackBlocks::default(), 0, &OVER_V6);
        let udp = Headers::udp(&data, 0, &OVER_V6);
        for (h, protocol, bytes) in [(&tcp, 6, 20 + len), (&udp, 17, 8 + len)] {
            let packet = h.as_bytes();
            let pseudo = sum(&packet[8..40], protocol + bytes);
            assert_eq!(sum(&packet[40..], u32::from(pseudo)), 0xFFFF);
            assert_eq!((packet[0], u32::from(u16::from_be_bytes([packet[4], packet[5]]))), (0x60, bytes));
        }
    }
}

/// What the receiver of a whole packet computes: the sum over everything is all ones (RFC 1071 section 1).
#[test]
fn checksums_of_payload_hold() {
    for len in [1, 2, 1447, 1448, 65_000] {
        let data = Segment { seq: 9, len, flags: Flags::ACK, ecn: ECN_CE, ..Segment::default() };
        let tcp = Headers::tcp(&data, &SackBlocks::default(), 0, &THERE);
        let udp = Headers::udp(&Segment { ecn: ECN_ECT0, ..data }, 0, &THERE);
        for (h, protocol, bytes) in [(&tcp, 6, 20 + len), (&udp, 17, 8 + len)] {
            let packet = h.as_bytes();
            let pseudo = sum(&packet[12..20], protocol + bytes);
            assert_eq!(sum(&packet[20..], u32::from(pseudo)), 0xFFFF);
            assert_eq!(sum(&packet[..20], 0), 0xFFFF);
            assert_eq!(u32::from(u16::from_be_bytes([packet[2], packet[3]])), 20 + bytes);
        }
        assert_eq!((tcp.as_bytes()[1], udp.as_bytes()[1]), (3, 2));
    }
}

/// RFC 768: a checksum that comes out as zero is sent as all ones. Ports, both lengths, protocol and addresses add up
/// to FFFF here.
#[test]
fn no_udp_checksum_of_zero() {
    // Addresses 1403, protocol 11, twice the length 8: 1424; FFFF - 1424 = EBDB in the ports.
    let ends = Ends { source_port: 0xEB00, destination_port: 0x00DB, ..THERE };
    let h = Headers::udp(&Segment::default(), 0, &ends);
    assert_eq!(h.as_bytes()[20..], bytes("EB00 00DB 0008 FFFF"));
}

/// RFC 7413 section 4.1.1: kind 34, length, cookie; RFC 6994: kind 254, length, 0xF989.
#[test]
fn a_fast_open_option() {
    let written = |cookie: &[u8], experimental| {
        let (mut syn, mut sack) = (Segment { flags: Flags::SYN, ..Segment::default() }, SackBlocks::default());
        let cookie = crate::Cookie::new(cookie);
        syn.set_fast_open(&FastOpenOption { cookie, experimental }, &mut sack);
        let h = Headers::tcp(&syn, &sack, 0, &THERE);
        assert_eq!(h.as_bytes().len() as u32, syn.ip_bytes());
        h.as_bytes()[40..].to_vec()
    };
    assert_eq!(written(&[], false), bytes("22 02 01 01"));
    assert_eq!(written(&[0xAB, 0xCD, 0x12, 0x34], false), bytes("22 06 AB CD 12 34 01 01"));
    assert_eq!(written(&[], true), bytes("FE 04 F9 89"));
    assert_eq!(written(&[1, 2, 3, 4, 5, 6, 7, 8], true), bytes("FE 0C F9 89 01 02 03 04 05 06 07 08"));
}

/// RFC 9768 section 3.2.3, in the layout of Linux `tcp_options_write`: all counters and a NOP; what is left of one counter, or of
/// none, stands in the place of NOPs.
#[test]
fn accecn_options() {
    let option = |order1, count| AccEcnOption { order1, count, fields: [0x0001_0203, 0x0004_0506, 0x0007_0809] };
    let mut sack = [(0xA, 0xB), (0, 0), (0, 0), (0, 0)];
    let mut written = |segment: Segment, option: AccEcnOption| {
        let mut segment = segment;
        segment.add_accecn(&option, &mut sack);
        let h = Headers::tcp(&segment, &sack, 0, &THERE);
        assert_eq!(h.as_bytes().len() as u32, segment.ip_bytes());
        h.as_bytes()[40..].to_vec()
    };
    let ack = Segment { flags: Flags::ACK, ..Segment::default() };
    let sacks = Segment { sack_len: 1, ..ack };
    assert_eq!(written(ack, option(true, 3)), bytes("AE 0B 010203 040506 070809 01"));
    assert_eq!(written(ack, option(false, 2)), bytes("AC 08 010203 040506"));
    assert_eq!(written(ack, option(false, 1)), bytes("AC 05 010203 010101"));
    assert_eq!(written(ack, option(true, 0)), bytes("AE 02 01 01"));
    assert_eq!(written(sacks, option(true, 3)), bytes("AE 0B 010203 040506 070809 01 01 01 05 0A 0000000A 0000000B"));
    assert_eq!(written(sacks, option(true, 1)), bytes("AE 05 010203 01 05 0A 0000000A 0000000B"));
    assert_eq!(written(sacks, option(true, 0)), bytes("AE 02 05 0A 0000000A 0000000B"));
    let syn =
        Segment { flags: Flags::SYN | Flags::ACK, mss: 1460, options: OPTION_SACK_PERMITTED, ..Segment::default() };
    assert_eq!(written(syn, option(true, 3)), bytes("02 04 05B4 AE 0B 010203 040506 070809 01 01 01 04 02"));
    let scaled = Segment { options: OPTION_WINDOW_SCALE, wscale: 7, ..syn };
    assert_eq!(written(scaled, option(true, 1)), bytes("02 04 05B4 AE 05 010203 03 03 07"));
    assert_eq!(written(scaled, option(true, 0)), bytes("02 04 05B4 01 03 03 07 AE 02 01 01"));
}

/// Every combination of options takes the bytes that are charged for it.
#[test]
fn as_long_as_charged() {
    let sack = [(1, 2), (3, 4), (5, 6), (7, 8)];
    for options in 0..8 {
        for (flags, mss) in [(Flags::SYN, 1460), (Flags::SYN, 0), (Flags::ACK, 0)] {
            let most = if flags == Flags::SYN { 0 } else { 4 - (options & OPTION_TIMESTAMPS) };
            for sack_len in 0..=most {
                let segment = Segment { flags, options, mss, sack_len, ..Segment::default() };
                let h = Headers::tcp(&segment, &sack, 0, &THERE);
                assert_eq!(h.as_bytes().len() as u32, segment.ip_bytes(), "{segment:?}");
                assert_eq!(u32::from(h.as_bytes()[32] >> 4) * 4, segment.header_bytes());
            }
        }
    }
}
