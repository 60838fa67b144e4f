//! Packets of pcap files whose headers are of another form: before version 2.3 they have their two lengths the other way round, and
//! those of early Linux have eight bytes more.
//!
//! What passes through here reads as version 2.4. Any other file passes as it is.

use std::io::{Read, Result};

/// The header of the file, and that of a packet.
const FILE_BYTES: usize = 24;
const PACKET_BYTES: usize = 16;
/// The magic number of microseconds, in its own byte order.
const MAGIC: u32 = 0xA1B2_C3D4;
/// The same of early Linux, and what it has behind the header of a packet: interface, protocol, type.
const MAGIC_LONG: u32 = 0xA1B2_CD34;
const MORE_BYTES: usize = 8;

/// A reader that turns the lengths.
pub struct Upright<R> {
    inner: R,
    /// A header, how much of it has been handed over, and what it is.
    header: Vec<u8>,
    handed: usize,
    /// Bytes of the packet that follow the header.
    body: usize,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Begin,
    /// `turned`: the length on the link comes first. `more`: bytes behind the header of a packet that are left out.
    Old {
        big_endian: bool,
        turned: bool,
        more: usize,
    },
    Other,
}

impl<R: Read> Upright<R> {
    pub fn new(inner: R) -> Upright<R> {
        Upright { inner, header: Vec::new(), handed: 0, body: 0, state: State::Begin }
    }

    /// Fills the header with up to `bytes`: fewer only at the end of the file.
    fn fill(&mut self, bytes: usize) -> Result<()> {
        (self.handed, self.header) = (0, vec![0; bytes]);
        let mut filled = 0;
        while filled < bytes {
            match self.inner.read(&mut self.header[filled..])? {
                0 => break,
                read => filled += read,
            }
        }
        self.header.truncate(filled);
        Ok(())
    }

    fn next_header(&mut self) -> Result<()> {
        match self.state {
            State::Begin => {
                self.fill(FILE_BYTES)?;
                self.state = old_version(&mut self.header);
            }
            State::Old { big_endian, turned, more } => {
                self.fill(PACKET_BYTES + more)?;
                if self.header.len() == PACKET_BYTES + more {
                    self.header.truncate(PACKET_BYTES);
                    let (first, second) = self.header[8..].split_at_mut(4);
                    if turned {
                        first.swap_with_slice(second);
                    }
                    let kept = [first[0], first[1], first[2], first[3]];
                    let kept = if big_endian { u32::from_be_bytes(kept) } else { u32::from_le_bytes(kept) };
                    self.body = kept as usize;
                }
            }
            State::Other => {}
        }
        Ok(())
    }
}

/// What the header of a file says; that of an old one gets the magic number and the version of its new form.
fn old_version(header: &mut [u8]) -> State {
    let Some((magic, [first, second, minor_first, minor_second, ..])) = header.split_first_chunk_mut::<4>() else {
        return State::Other;
    };
    let big_endian = [MAGIC, MAGIC_LONG].contains(&u32::from_be_bytes(*magic));
    let number = if big_endian { u32::from_be_bytes(*magic) } else { u32::from_le_bytes(*magic) };
    let word = |bytes: [u8; 2]| if big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
    let turned = word([*first, *second]) == 2 && word([*minor_first, *minor_second]) < 3;
    let more = if number == MAGIC_LONG { MORE_BYTES } else { 0 };
    if ![MAGIC, MAGIC_LONG].contains(&number) || (!turned && more == 0) {
        return State::Other;
    }
    *magic = if big_endian { MAGIC.to_be_bytes() } else { MAGIC.to_le_bytes() };
    *(if big_endian { minor_second } else { minor_first }) = 4;
    State::Old { big_endian, turned, more }
}

impl<R: Read> Read for Upright<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.handed == self.header.len() && self.state == State::Other {
            return self.inner.read(buffer);
        }
        let mut filled = 0;
        while filled < buffer.len() {
            let rest = &mut buffer[filled..];
            if self.handed < self.header.len() {
                let count = rest.len().min(self.header.len() - self.handed);
                rest[..count].copy_from_slice(&self.header[self.handed..self.handed + count]);
                (self.handed, filled) = (self.handed + count, filled + count);
            } else if self.body > 0 {
                let count = rest.len().min(self.body);
                match self.inner.read(&mut rest[..count])? {
                    0 => return Ok(filled),
                    read => (self.body, filled) = (self.body - read, filled + read),
                }
            } else if self.state == State::Other {
                return Ok(filled + self.inner.read(rest)?);
            } else {
                self.next_header()?;
                if self.header.is_empty() {
                    break;
                }
            }
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Laid out by hand: 6 bytes on the link, 2 of them kept, as version 2.2 has it (the length on the link first).
    #[test]
    fn old_lengths_are_turned() {
        let head = |minor: u8| [&[0xD4, 0xC3, 0xB2, 0xA1, 2, 0, minor, 0][..], &[0; 16]].concat();
        let packet = |first: u8, second: u8| [1, 0, 0, 0, 2, 0, 0, 0, first, 0, 0, 0, second, 0, 0, 0, 7, 8];
        let old = [head(2), packet(6, 2).to_vec(), packet(6, 2).to_vec()].concat();
        let new = [head(4), packet(2, 6).to_vec(), packet(2, 6).to_vec()].concat();
        let mut read = Vec::new();
        Upright::new(old.as_slice()).read_to_end(&mut read).unwrap();
        assert_eq!(read, new);
        read.clear();
        Upright::new(new.as_slice()).read_to_end(&mut read).unwrap();
        assert_eq!(read, new, "a new file stays as it is");
    }

    /// The same packets as early Linux wrote them, big-endian: eight bytes between header and data.
    #[test]
    fn long_headers_are_shortened() {
        let head = |magic: [u8; 4]| [&magic[..], &[0, 2, 0, 4], &[0; 16]].concat();
        let packet = [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 6];
        let (more, data) = ([0, 0, 0, 1, 8, 0, 0, 0], [7, 8]);
        let long = [&head([0xA1, 0xB2, 0xCD, 0x34])[..], &packet, &more, &data, &packet, &more, &data].concat();
        let short = [&head([0xA1, 0xB2, 0xC3, 0xD4])[..], &packet, &data, &packet, &data].concat();
        let mut read = Vec::new();
        Upright::new(long.as_slice()).read_to_end(&mut read).unwrap();
        assert_eq!(read, short);
    }
}
