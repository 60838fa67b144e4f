//! The enhanced packet block of pcapng, of which nearly all of a capture consists, read in place.

use pcap_parser::{EnhancedPacketBlock, PcapNGOption};

/// Type of the block, and its bytes before the packet and behind the options.
const KIND: u32 = 6;
const HEAD_BYTES: usize = 28;
const LENGTH_BYTES: usize = 4;
/// Options that are read (draft-ietf-opsawg-pcapng): the direction, and the packets that were dropped before this one.
const FLAGS: u16 = 2;
const DROPCOUNT: u16 = 4;

/// What a block says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enhanced<'a> {
    pub interface: u32,
    /// Its time, in units of the interface.
    pub units: u64,
    pub data: &'a [u8],
    /// Bytes that the packet had on the link.
    pub length: u32,
    pub flags: Option<&'a [u8]>,
    pub drops: Option<&'a [u8]>,
}

impl<'a> Enhanced<'a> {
    /// The block at the beginning of `bytes`, and its length; nothing if another block is there, or not all of it, or a damaged one.
    pub fn at(bytes: &'a [u8], big_endian: bool) -> Option<(Enhanced<'a>, usize)> {
        let long = |at: usize| {
            let four = bytes.get(at..at + 4)?.first_chunk::<4>()?;
            Some(if big_endian { u32::from_be_bytes(*four) } else { u32::from_le_bytes(*four) })
        };
        if long(0)? != KIND {
            return None;
        }
        let (block, kept) = (long(4)? as usize, long(20)? as usize);
        let end = block.checked_sub(LENGTH_BYTES)?;
        if !block.is_multiple_of(4) || long(end)? as usize != block {
            return None;
        }
        let data = bytes.get(HEAD_BYTES..end)?.get(..kept)?;
        let units = u64::from(long(8 + 4)?) << 32 | u64::from(long(8 + 8)?);
        let found = Enhanced { interface: long(8)?, units, data, length: long(24)?, flags: None, drops: None };
        let options = bytes.get(HEAD_BYTES + kept.next_multiple_of(4)..end)?;
        Some((found.with(options, big_endian)?, block))
    }

    fn with(mut self, mut options: &'a [u8], big_endian: bool) -> Option<Enhanced<'a>> {
        let short = |bytes: [u8; 2]| if big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
        while let Some((&[a, b, c, d], rest)) = options.split_first_chunk::<4>() {
            let (code, bytes) = (short([a, b]), usize::from(short([c, d])));
            if code == 0 {
                break;
            }
            self.take(code, rest.get(..bytes)?);
            options = rest.get(bytes.next_multiple_of(4)..)?;
        }
        Some(self)
    }

    /// What the parser of all blocks has found.
    pub fn of(block: &EnhancedPacketBlock<'a>, options: &'a [PcapNGOption<'a>]) -> Enhanced<'a> {
        let data = &block.data[..block.data.len().min(block.caplen as usize)];
        let units = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
        let (interface, length) = (block.if_id, block.origlen);
        let mut found = Enhanced { interface, units, data, length, flags: None, drops: None };
        options.iter().for_each(|option| found.take(option.code.0, option.value()));
        found
    }

    /// The first option of a kind counts.
    fn take(&mut self, code: u16, value: &'a [u8]) {
        match code {
            FLAGS => self.flags = self.flags.or(Some(value)),
            DROPCOUNT => self.drops = self.drops.or(Some(value)),
            _ => {}
        }
    }

    /// Whether the host of the capture sent the packet. Bits 0 and 1 of the flags: 1 inbound, 2 outbound. The byte order is the
    /// section's; the other three bytes of a direction are zero in both.
    pub fn outbound(&self) -> Option<bool> {
        let flags = self.flags?;
        match (flags.first()? | flags.get(3)?) & 3 {
            1 => Some(false),
            2 => Some(true),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Laid out by hand: interface 1, time 2 << 32 | 3, three bytes of nine, outbound, five drops.
    fn block(big_endian: bool) -> Vec<u8> {
        let long = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        let short = |value: u16| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        let mut bytes: Vec<u8> = [6, 60, 1, 2, 3, 3, 9].into_iter().flat_map(long).collect();
        bytes.extend([7, 8, 9, 0]);
        bytes.extend([short(2), short(4)].concat());
        bytes.extend(long(2));
        bytes.extend([short(4), short(8)].concat());
        bytes.extend([1, 2, 3, 4, 5, 6, 7, 8]);
        bytes.extend([0; 4]);
        bytes.extend(long(60));
        bytes
    }

    #[test]
    fn a_block_in_either_byte_order() {
        for big_endian in [false, true] {
            let bytes = block(big_endian);
            let (found, length) = Enhanced::at(&bytes, big_endian).unwrap();
            assert_eq!((length, found.interface, found.units, found.length), (60, 1, 0x2_0000_0003, 9));
            assert_eq!((found.data, found.outbound()), (&[7, 8, 9][..], Some(true)));
            assert_eq!(found.drops, Some(&[1, 2, 3, 4, 5, 6, 7, 8][..]));
            assert_eq!(Enhanced::at(&bytes, !big_endian), None);
            assert!((0..60).all(|cut| Enhanced::at(&bytes[..cut], big_endian).is_none()));
        }
    }

    #[test]
    fn a_damaged_block_is_left_to_the_parser_of_all_blocks() {
        // Type, both lengths, the bytes that were kept, the length of an option.
        for (place, value) in [(0, 5), (4, 61), (56, 64), (20, 41), (34, 99)] {
            let mut bytes = block(false);
            bytes[place] = value;
            assert_eq!(Enhanced::at(&bytes, false), None, "{place}");
        }
    }
}
