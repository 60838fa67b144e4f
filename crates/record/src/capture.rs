//! Captures: packets in pcapng files (draft-ietf-opsawg-pcapng), as capture programs write them.
//!
//! A file is one section, little-endian: a section header, an interface description for each interface, the names of the
//! addresses, then an enhanced packet block for each packet. Times are nanoseconds since the start of the run
//! (`if_tsresol` 9), so that they are those of the tables. No file is held open: a capture keeps up to [`BUFFER_BYTES`]
//! and appends them, so a run may have more captures than the system lets it open, and memory does not grow with time.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Error;

/// What a capture gathers before it writes.
const BUFFER_BYTES: usize = 1 << 16;

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
const INTERFACE_DESCRIPTION: u32 = 1;
const NAME_RESOLUTION: u32 = 4;
const ENHANCED_PACKET: u32 = 6;

/// Codes of options and records.
mod code {
    pub const END: u16 = 0;
    pub const USER_APPLICATION: u16 = 4;
    pub const INTERFACE_NAME: u16 = 2;
    pub const INTERFACE_SPEED: u16 = 8;
    pub const INTERFACE_RESOLUTION: u16 = 9;
    pub const PACKET_FLAGS: u16 = 2;
    pub const RECORD_IPV4: u16 = 1;
    pub const RECORD_IPV6: u16 = 2;
}

/// What the packets of an interface begin with, by its number in the registry of link types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkType {
    /// Ethernet II without preamble and frame check sequence.
    Ethernet = 1,
    /// PPP (RFC 1661) without HDLC framing: the two bytes of its protocol field.
    Ppp = 9,
    /// The IP packet itself.
    Raw = 101,
}

/// An interface of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// What its packets begin with.
    pub link_type: LinkType,
    /// Its rate.
    pub rate_bps: u64,
    /// At most so many bytes of a packet are kept.
    pub snap_bytes: u32,
}

/// Which way a packet went at the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Received.
    Inbound = 1,
    /// Sent.
    Outbound = 2,
}

/// A packet as captured.
#[derive(Debug, Clone, Copy)]
pub struct CapturedPacket<'a> {
    /// Number of its interface.
    pub interface: u32,
    /// When, in nanoseconds.
    pub time_ns: u64,
    /// The picoseconds beyond `time_ns`, which only a listener sees.
    pub rest_ps: u16,
    /// Which way, if the interface is that of a host.
    pub direction: Option<Direction>,
    /// Its first bytes; up to `kept_bytes` zeros follow them.
    pub headers: &'a [u8],
    /// Bytes that are kept.
    pub kept_bytes: usize,
    /// Bytes that it had.
    pub packet_bytes: u32,
}

/// Takes the packets of all captures of a run instead of files.
pub type Listener = Arc<Mutex<dyn FnMut(&CapturedPacket<'_>) + Send>>;

/// One capture file under construction, or what takes its packets instead.
///
/// A write that fails is latched: later packets are dropped, [`Capture::check`] and [`Capture::finish`] return the error. A copy adds to the same
/// file.
#[derive(Clone)]
pub struct Capture {
    path: PathBuf,
    buffer: Vec<u8>,
    error: Option<Error>,
    listener: Option<Listener>,
}

impl Capture {
    /// A new file with these interfaces, and names of addresses for whoever shows its packets.
    pub fn create(path: PathBuf, interfaces: &[Interface], names: &[(IpAddr, &str)]) -> Result<Capture, Error> {
        let made = File::create(&path);
        let mut capture = Capture { path, buffer: Vec::new(), error: None, listener: None };
        made.map_err(|error| capture.named(&error))?;
        capture.section_header();
        interfaces.iter().for_each(|interface| capture.interface(interface));
        capture.names(names);
        Ok(capture)
    }

    /// A capture whose packets go to `listener`.
    pub(crate) fn heard(listener: Listener) -> Capture {
        Capture { path: PathBuf::new(), buffer: Vec::new(), error: None, listener: Some(listener) }
    }

    /// Adds a packet; times never decrease.
    pub fn push(&mut self, packet: &CapturedPacket<'_>) {
        if let Some(listener) = &self.listener {
            return listener.lock().unwrap_or_else(PoisonError::into_inner)(packet);
        }
        if self.error.is_some() {
            return;
        }
        let place = self.begin(ENHANCED_PACKET);
        self.words(&[packet.interface, (packet.time_ns >> 32) as u32, packet.time_ns as u32]);
        self.words(&[packet.kept_bytes as u32, packet.packet_bytes]);
        let data = self.buffer.len();
        self.buffer.extend_from_slice(&packet.headers[..packet.headers.len().min(packet.kept_bytes)]);
        self.buffer.resize(data + packet.kept_bytes, 0);
        self.pad();
        if let Some(direction) = packet.direction {
            self.option(code::PACKET_FLAGS, &(direction as u32).to_le_bytes());
            self.option(code::END, &[]);
        }
        self.end(place);
        if self.buffer.len() >= BUFFER_BYTES {
            self.write();
        }
    }

    /// The first error, if any: to be asked now and then, so that a run stops soon after the disk is full.
    pub fn check(&self) -> Result<(), Error> {
        self.error.clone().map_or(Ok(()), Err)
    }

    /// Writes what is left.
    pub fn finish(mut self) -> Result<(), Error> {
        if self.listener.is_none() {
            self.write();
        }
        self.check()
    }

    fn named(&self, error: &std::io::Error) -> Error {
        Error { path: self.path.display().to_string(), reason: error.to_string() }
    }

    fn write(&mut self) {
        if self.error.is_none() {
            let file = OpenOptions::new().append(true).open(&self.path);
            let written = file.and_then(|mut file| file.write_all(&self.buffer));
            self.error = written.err().map(|error| self.named(&error));
        }
        self.buffer.clear();
    }

    fn section_header(&mut self) {
        let place = self.begin(SECTION_HEADER);
        self.words(&[BYTE_ORDER_MAGIC]);
        // Version 1.0, a section of unknown length.
        self.halves(&[1, 0]);
        self.buffer.extend_from_slice(&u64::MAX.to_le_bytes());
        self.option(code::USER_APPLICATION, b"elephan");
        self.option(code::END, &[]);
        self.end(place);
    }

    fn interface(&mut self, interface: &Interface) {
        let place = self.begin(INTERFACE_DESCRIPTION);
        self.halves(&[interface.link_type as u16, 0]);
        self.words(&[interface.snap_bytes]);
        self.option(code::INTERFACE_NAME, interface.name.as_bytes());
        self.option(code::INTERFACE_SPEED, &interface.rate_bps.to_le_bytes());
        self.option(code::INTERFACE_RESOLUTION, &[9]);
        self.option(code::END, &[]);
        self.end(place);
    }

    fn names(&mut self, names: &[(IpAddr, &str)]) {
        if names.is_empty() {
            return;
        }
        let place = self.begin(NAME_RESOLUTION);
        for (address, name) in names {
            match address {
                IpAddr::V4(of) => self.option(code::RECORD_IPV4, &[&of.octets(), name.as_bytes(), &[0]].concat()),
                IpAddr::V6(of) => self.option(code::RECORD_IPV6, &[&of.octets(), name.as_bytes(), &[0]].concat()),
            }
        }
        self.option(code::END, &[]);
        self.end(place);
    }

    /// Begins a block; its length is not yet known.
    fn begin(&mut self, kind: u32) -> usize {
        let place = self.buffer.len();
        self.words(&[kind, 0]);
        place
    }

    /// Ends the block that began at `place`: its length stands at both of its ends.
    fn end(&mut self, place: usize) {
        let length = (self.buffer.len() + 4 - place) as u32;
        self.words(&[length]);
        self.buffer[place + 4..place + 8].copy_from_slice(&length.to_le_bytes());
    }

    fn words(&mut self, words: &[u32]) {
        words.iter().for_each(|word| self.buffer.extend_from_slice(&word.to_le_bytes()));
    }

    fn halves(&mut self, halves: &[u16]) {
        halves.iter().for_each(|half| self.buffer.extend_from_slice(&half.to_le_bytes()));
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.halves(&[code, value.len() as u16]);
        self.buffer.extend_from_slice(value);
        self.pad();
    }

    /// To a multiple of four bytes; blocks are, so the buffer's length tells.
    fn pad(&mut self) {
        self.buffer.resize(self.buffer.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() -> [Interface; 1] {
        [Interface { name: "a->b".into(), link_type: LinkType::Ethernet, rate_bps: 1_000_000_000, snap_bytes: 94 }]
    }

    fn packet(headers: &[u8], kept_bytes: usize) -> CapturedPacket<'_> {
        let direction = Some(Direction::Outbound);
        CapturedPacket {
            interface: 0,
            time_ns: 0x1_0000_0002,
            rest_ps: 0,
            direction,
            headers,
            kept_bytes,
            packet_bytes: 1514,
        }
    }

    /// Laid out by hand after sections 4.1 to 4.5 of the draft.
    #[test]
    fn literal_blocks() {
        let path = std::env::temp_dir().join(format!("elephan-capture-{}.pcapng", std::process::id()));
        let names = ["10.0.0.1", "fd00::a00:1"].map(|address| (address.parse().unwrap(), "a"));
        let mut capture = Capture::create(path.clone(), &one(), &names).unwrap();
        capture.push(&packet(&[1, 2, 3, 4, 5], 5));
        capture.push(&packet(&[1, 2, 3, 4, 5], 6));
        capture.push(&CapturedPacket { direction: None, ..packet(&[1, 2, 3, 4, 5], 3) });
        capture.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let expected = [
            // Section header: type, 44 bytes, magic, 1.0, length unknown, user application, end, 44.
            "0A0D0D0A 2C000000 4D3C2B1A 0100 0000 FFFFFFFFFFFFFFFF 0400 0700 656C657068616E00 0000 0000 2C000000",
            // Interface: type, 52 bytes, Ethernet, snap length 94, name, speed, resolution 9, end, 52.
            "01000000 34000000 0100 0000 5E000000 0200 0400 612D3E62 0800 0800 00CA9A3B00000000 0900 0100 09000000
             0000 0000 34000000",
            // Names: type, 52 bytes, a record of IPv4 address and name, one of IPv6 address and name, end, 52.
            "04000000 34000000 0100 0600 0A000001 61000000
             0200 1200 FD00000000000000000000000A000001 61000000 0000 0000 34000000",
            // Packets: type, length, interface 0, time in two words, kept and original length, data, flags, end, length.
            "06000000 34000000 00000000 01000000 02000000 05000000 EA050000 0102030405000000 0200 0400 02000000
             0000 0000 34000000",
            "06000000 34000000 00000000 01000000 02000000 06000000 EA050000 0102030405000000 0200 0400 02000000
             0000 0000 34000000",
            "06000000 24000000 00000000 01000000 02000000 03000000 EA050000 01020300 24000000",
        ];
        let digits: Vec<char> = expected.concat().chars().filter(|c| !c.is_whitespace()).collect();
        let hex = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
        assert_eq!(bytes, digits.chunks(2).map(hex).collect::<Vec<u8>>());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error() {
        let mut capture = Capture::create(PathBuf::from("/dev/full"), &one(), &[]).unwrap();
        let headers = [0; 94];
        for _ in 0..1000 {
            capture.push(&packet(&headers, 94));
        }
        let reason = std::io::Error::from_raw_os_error(28).to_string();
        let expected = Error { path: "/dev/full".to_string(), reason };
        assert_eq!(capture.check(), Err(expected.clone()), "while packets come");
        assert_eq!(capture.finish(), Err(expected.clone()));
        let few = Capture::create(PathBuf::from("/dev/full"), &one(), &[]).unwrap();
        assert_eq!(few.finish(), Err(expected), "at the end");
    }
}
