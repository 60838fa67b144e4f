//! Frames out of capture files: pcap (also with nanoseconds, either byte order) and pcapng, gzip-compressed or not.
//!
//! Blocks are read by `pcap-parser` through a buffer that grows to the largest block only. A file that ends in the middle of a
//! block, or whose structure breaks, is read up to there, with a note.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, NameRecordType, PcapBlockOwned, PcapError, create_reader};

use crate::Error;

/// One packet as it was captured.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Nanoseconds since 1970.
    pub time_ns: u64,
    /// What the data begin with, by its number in the registry of link types.
    pub link_type: i32,
    /// What was kept of it.
    pub data: &'a [u8],
    /// Bytes that it had on the link.
    pub length: u32,
    /// Whether the host of the capture sent it (`Some(true)`) or received it, if the file says so.
    pub outbound: Option<bool>,
}

/// What a file holds.
pub enum Item<'a> {
    Frame(Frame<'a>),
    /// A name of an address.
    Name(IpAddr, &'a str),
}

/// Is told each item, with the share of the file read so far.
pub type Take<'a> = dyn FnMut(Item<'_>, f64) -> Result<(), Error> + 'a;

/// The buffer at first, and the largest that a block may ask for.
const BUFFER_BYTES: usize = 1 << 18;
const BLOCK_BYTES_MAX: usize = 1 << 28;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// An interface of a pcapng section.
struct Interface {
    link_type: i32,
    /// Units of its times per second, if that is a number of 64 bits; and their origin in seconds.
    per_second: Option<u64>,
    offset_s: i64,
}

/// Reads the whole file; answers its format and notes about what could not be read.
pub fn read(path: &Path, take: &mut Take<'_>) -> Result<(&'static str, Vec<String>), Error> {
    let bad = |reason: String| Error::Input(format!("{}: {reason}", path.display()));
    let mut file = File::open(path).map_err(|error| bad(error.to_string()))?;
    let size = file.metadata().map(|meta| meta.len()).unwrap_or(0);
    let mut magic = [0; 2];
    let gzip = file.read_exact(&mut magic).is_ok() && magic == GZIP;
    file.rewind().map_err(|error| bad(error.to_string()))?;
    let position = Arc::new(AtomicU64::new(0));
    let counted = Counted { inner: file, position: position.clone() };
    let input: Box<dyn Read + Send> =
        if gzip { Box::new(flate2::read::MultiGzDecoder::new(BufReader::new(counted))) } else { Box::new(counted) };
    let reader = create_reader(BUFFER_BYTES, Full(input)).map_err(|error| match error {
        PcapError::Eof => bad("an empty file".to_owned()),
        PcapError::ReadError => bad("cannot be read".to_owned()),
        _ => bad("not a capture: neither pcap nor pcapng".to_owned()),
    })?;
    let share = || position.load(Ordering::Relaxed) as f64 / size.max(1) as f64;
    Reading { interfaces: Vec::new(), legacy: None, blocks: 0, format: "pcap", notes: Vec::new() }
        .all(reader, &share, take)
}

/// Where the reading of a file stands.
struct Reading {
    interfaces: Vec<Interface>,
    /// Link type and whether times are in nanoseconds, of a pcap file.
    legacy: Option<(i32, bool)>,
    blocks: u64,
    format: &'static str,
    notes: Vec<String>,
}

impl Reading {
    fn all(
        mut self,
        mut reader: Box<dyn PcapReaderIterator + Send>,
        share: &dyn Fn() -> f64,
        take: &mut Take<'_>,
    ) -> Result<(&'static str, Vec<String>), Error> {
        let mut capacity = BUFFER_BYTES;
        loop {
            let place = reader.consumed();
            let ending = match reader.next() {
                Ok((offset, block)) => {
                    self.blocks += 1;
                    self.block(block, share, take)?;
                    reader.consume(offset);
                    continue;
                }
                Err(PcapError::Eof) => break,
                Err(PcapError::Incomplete(_)) => None,
                Err(PcapError::BufferTooSmall) if capacity < BLOCK_BYTES_MAX => {
                    capacity *= 2;
                    Some("")
                }
                Err(PcapError::BufferTooSmall) => Some("a block claims to be longer than 256 MiB"),
                Err(PcapError::UnexpectedEof) if self.legacy.is_some() => Some("it ends in the middle of a packet"),
                Err(PcapError::UnexpectedEof) => Some("it ends in the middle of a block"),
                Err(PcapError::ReadError) => Some("it cannot be read any further"),
                Err(_) => Some("its structure is damaged"),
            };
            match ending {
                None => {}
                Some("") => {
                    reader.grow(capacity);
                }
                Some(reason) => {
                    self.notes.push(format!("{reason}, at byte {place}; what comes before was read"));
                    break;
                }
            }
            if reader.refill().is_err() {
                self.notes.push(format!("it cannot be read any further, at byte {place}; what comes before was read"));
                break;
            }
        }
        Ok((self.format, self.notes))
    }

    fn block(&mut self, block: PcapBlockOwned<'_>, share: &dyn Fn() -> f64, take: &mut Take<'_>) -> Result<(), Error> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                self.legacy = Some((header.network.0, header.is_nanosecond_precision()));
                Ok(())
            }
            PcapBlockOwned::Legacy(packet) => {
                let Some((link_type, nanoseconds)) = self.legacy else { return Ok(()) };
                let fraction = u64::from(packet.ts_usec) * if nanoseconds { 1 } else { 1000 };
                let time_ns = u64::from(packet.ts_sec) * 1_000_000_000 + fraction;
                let kept = packet.data.len().min(packet.caplen as usize);
                take(
                    Item::Frame(Frame {
                        time_ns,
                        link_type,
                        data: &packet.data[..kept],
                        length: packet.origlen,
                        outbound: None,
                    }),
                    share(),
                )
            }
            PcapBlockOwned::NG(block) => self.modern(&block, share, take),
        }
    }

    fn modern(&mut self, block: &Block<'_>, share: &dyn Fn() -> f64, take: &mut Take<'_>) -> Result<(), Error> {
        match block {
            Block::SectionHeader(_) => {
                self.format = "pcapng";
                self.interfaces.clear();
            }
            Block::InterfaceDescription(i) => self.interfaces.push(Interface {
                link_type: i.linktype.0,
                per_second: i.ts_resolution(),
                offset_s: i.ts_offset(),
            }),
            Block::NameResolution(names) => {
                for record in &names.nr {
                    if let Some((address, name)) = name(record.record_type, record.record_value) {
                        take(Item::Name(address, name), share())?;
                    }
                }
            }
            Block::EnhancedPacket(packet) => {
                let Some(interface) = self.interfaces.get(packet.if_id as usize) else { return Ok(()) };
                let units = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let kept = packet.data.len().min(packet.caplen as usize);
                let frame = Frame {
                    time_ns: interface.nanoseconds(units),
                    link_type: interface.link_type,
                    data: &packet.data[..kept],
                    length: packet.origlen,
                    outbound: packet.options.iter().find(|o| o.code.0 == EPB_FLAGS).and_then(|o| outbound(o.value())),
                };
                return take(Item::Frame(frame), share());
            }
            _ => {}
        }
        Ok(())
    }
}

/// The option with the direction of a packet.
const EPB_FLAGS: u16 = 2;

/// Bits 0 and 1 of the flags: 1 inbound, 2 outbound. The byte order is the section's; the other three bytes of a
/// direction are zero in both.
fn outbound(flags: &[u8]) -> Option<bool> {
    let bits = flags.first()? | flags.get(3)?;
    match bits & 3 {
        1 => Some(false),
        2 => Some(true),
        _ => None,
    }
}

fn name(kind: NameRecordType, value: &[u8]) -> Option<(IpAddr, &str)> {
    let (address, rest) = match kind {
        NameRecordType::Ipv4 => {
            let (octets, rest) = value.split_first_chunk::<4>()?;
            (IpAddr::V4(Ipv4Addr::from(*octets)), rest)
        }
        NameRecordType::Ipv6 => {
            let (octets, rest) = value.split_first_chunk::<16>()?;
            (IpAddr::V6(Ipv6Addr::from(*octets)), rest)
        }
        _ => return None,
    };
    let end = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
    Some((address, std::str::from_utf8(&rest[..end]).ok()?))
}

impl Interface {
    fn nanoseconds(&self, units: u64) -> u64 {
        let per_second = u128::from(self.per_second.unwrap_or(1_000_000).max(1));
        let since = u128::from(units) * 1_000_000_000 / per_second;
        let origin = i128::from(self.offset_s) * 1_000_000_000;
        u64::try_from((since as i128).saturating_add(origin).max(0)).unwrap_or(u64::MAX)
    }
}

/// Counts what has been read of the file.
struct Counted {
    inner: File,
    position: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.position.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Reads as much as there is place for: the parser takes a short read of its buffer for the whole header. A decompressor that fails in
/// the middle ends the file there.
struct Full(Box<dyn Read + Send>);

impl Read for Full {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.0.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) if filled > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}
