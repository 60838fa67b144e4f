//! The TCP header of a segment, as far as the snapshot has it.

use std::net::IpAddr;

use crate::decode::Ip;
use crate::packet::{Options, Segment};

/// Sequence and acknowledgement number, flags and window: with fewer bytes a segment says nothing.
const LEAST_BYTES: usize = 16;
const HEADER_BYTES: usize = 20;
/// RFC 7323 section 2.3.
const SHIFT_MAX: u8 = 14;

mod flag {
    pub const FIN: u8 = 1;
    pub const SYN: u8 = 2;
    pub const RST: u8 = 4;
    pub const PSH: u8 = 8;
    pub const ACK: u8 = 16;
    pub const ECE: u8 = 64;
    pub const CWR: u8 = 128;
}

/// The segment in an IP packet; nothing if its header is cut off before the window or contradicts itself.
pub fn segment(ip: &Ip<'_>) -> Option<Segment> {
    let data = ip.payload.data;
    let header: &[u8; LEAST_BYTES] = data.first_chunk()?;
    let header_bytes = usize::from(header[12] >> 4) * 4;
    if header_bytes < HEADER_BYTES || header_bytes > ip.payload.length {
        return None;
    }
    let flags = header[13];
    let has = |bit: u8| flags & bit != 0;
    let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let long = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let kept = data.get(HEADER_BYTES..header_bytes.min(data.len())).unwrap_or(&[]);
    let cut = data.len() < header_bytes;
    Some(Segment {
        from: (ip.from, word(0)),
        to: (ip.to, word(2)),
        seq: long(4),
        ack: has(flag::ACK).then(|| long(8)),
        len: (ip.payload.length - header_bytes) as u32,
        window: word(14),
        syn: has(flag::SYN),
        fin: has(flag::FIN),
        rst: has(flag::RST),
        psh: has(flag::PSH),
        ece: has(flag::ECE),
        cwr: has(flag::CWR),
        ae: header[12] & 1 == 1,
        ce: ip.ce,
        options: options(kept, cut),
        outbound: ip.outbound,
        ident: ip.ident,
        frame: 0,
        print: print(ip, header, kept),
    })
}

fn options(mut rest: &[u8], cut: bool) -> Options {
    let mut found = Options { cut, ..Options::default() };
    let long = |data: &[u8], at: usize| u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
    while let [kind, after @ ..] = rest {
        match kind {
            0 => break,
            1 => {
                rest = after;
                continue;
            }
            _ => {}
        }
        let Some(option) = after.first().and_then(|&bytes| rest.get(..usize::from(bytes))).filter(|o| o.len() >= 2)
        else {
            // It goes on behind the snapshot, or is damaged.
            break;
        };
        match (kind, option.len()) {
            (2, 4) => found.mss = Some(u16::from_be_bytes([option[2], option[3]])),
            (3, 3) => found.window_scale = Some(option[2].min(SHIFT_MAX)),
            (4, 2) => found.sack_permitted = true,
            (8, 10) => found.timestamps = Some((long(option, 2), long(option, 6))),
            (5, bytes) if bytes >= 10 && bytes % 8 == 2 => {
                found.sack_blocks = (bytes / 8) as u8;
                for (block, slot) in found.sacks.iter_mut().enumerate().take(bytes / 8) {
                    *slot = (long(option, 2 + 8 * block), long(option, 6 + 8 * block));
                }
            }
            _ => {}
        }
        rest = &rest[option.len()..];
    }
    found
}

/// A number for the packet. Routers change the time to live and its checksum, NICs fill in the checksum of TCP: these are left out.
fn print(ip: &Ip<'_>, header: &[u8; LEAST_BYTES], options: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |hash: u64, value: u64| (hash.rotate_left(23) ^ value).wrapping_mul(FACTOR);
    let address = |hash: u64, address: IpAddr| match address {
        IpAddr::V4(v4) => mix(hash, u64::from(u32::from(v4))),
        IpAddr::V6(v6) => {
            let bits = u128::from(v6);
            mix(mix(hash, bits as u64), (bits >> 64) as u64)
        }
    };
    let eight = |bytes: &[u8]| {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(padded)
    };
    let ends = address(address(u64::from(ip.ident.unwrap_or(0)), ip.from), ip.to);
    let lengths = mix(ends, ip.payload.length as u64 | (options.len() as u64) << 32);
    let fixed = mix(mix(lengths, eight(&header[..8])), eight(&header[8..]));
    options.chunks(8).fold(fixed, |hash, chunk| mix(hash, eight(chunk)))
}
