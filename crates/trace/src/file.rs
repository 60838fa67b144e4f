//! Frames out of capture files: pcap (also with nanoseconds, either byte order) and pcapng, compressed or not.
//!
//! Blocks are read by `pcap-parser` through a buffer that grows to the largest block only. A file that ends in the middle of a
//! block, or whose structure breaks, is read up to there, with a note.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, NameRecordType, PcapBlockOwned, PcapError, PcapNGOption, create_reader};

use crate::Error;
use crate::enhanced::Enhanced;
use crate::input::{Input, Place, SoFar};
use crate::upright::Upright;

/// One packet as it was captured.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Nanoseconds since 1970; a simple packet block has no time.
    pub time_ns: Option<u64>,
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
    /// A packet of an interface that the file does not describe.
    Strange,
    /// A name of an address.
    Name(IpAddr, &'a str),
}

/// Is told each item, with the share of the file read so far.
pub type Take<'a> = dyn FnMut(Item<'_>, f64) -> Result<(), Error> + 'a;

/// The buffer at first, and the largest that a block may ask for.
const BUFFER_BYTES: usize = 1 << 18;
const BLOCK_BYTES_MAX: usize = 1 << 28;
/// The packet block of early pcapng files.
const PACKET_BLOCK: u32 = 2;
/// Of the link type of a pcap file; the bits above it say how long the frame check sequence is.
const LINK_TYPE_BITS: i32 = 0xFFFF;

/// An interface of a pcapng section.
struct Interface {
    link_type: i32,
    /// Bytes of a packet that are kept at most, 0 for all.
    snap_bytes: u32,
    /// Units of its times per second, and their origin in seconds.
    per_second: u128,
    offset_s: i64,
    /// Packets that the interface or the operating system dropped, as last reported, and as packets say it one by one.
    drops: u64,
    drops_between: u64,
}

/// Reads the whole file; answers its format and notes about what could not be read.
pub fn read(place: &Place, take: &mut Take<'_>) -> Result<(&'static str, Vec<String>), Error> {
    let mut source = Source::open(place)?;
    while source.step(take)? {}
    Ok(source.finish())
}

/// A file that is read block by block.
pub struct Source {
    reader: Box<dyn PcapReaderIterator + Send>,
    so_far: SoFar,
    reading: Reading,
    capacity: usize,
}

impl Source {
    pub fn open(place: &Place) -> Result<Source, Error> {
        let bad = |reason: String| Error::Input(format!("{}: {reason}", place.name()));
        // To open a pipe waits for who writes to it.
        if let Place::File(path) = place
            && let Ok(meta) = std::fs::metadata(path)
            && !meta.is_file()
        {
            return Err(bad(if meta.is_dir() { "is a folder" } else { "is no regular file" }.to_owned()));
        }
        let (input, so_far) = Input::open(place).map_err(|error| bad(error.to_string()))?;
        let reader = create_reader(BUFFER_BYTES, Upright::new(input)).map_err(|error| match error {
            PcapError::Eof => bad("an empty file".to_owned()),
            PcapError::ReadError => bad("cannot be read".to_owned()),
            _ => bad("not a capture: neither pcap nor pcapng".to_owned()),
        })?;
        Ok(Source { reader, so_far, reading: Reading::default(), capacity: BUFFER_BYTES })
    }

    /// Reads the next block, or more bytes for it; answers whether the file goes on.
    pub fn step(&mut self, take: &mut Take<'_>) -> Result<bool, Error> {
        let so_far = &self.so_far;
        let share = &|| so_far.share();
        // The parser of all blocks takes longer than all that is done with a packet.
        if self.reading.legacy.is_none()
            && let Some((packet, bytes)) = Enhanced::at(self.reader.data(), self.reading.big_endian)
        {
            self.reading.packet(&packet, share, take)?;
            self.reader.consume(bytes);
            return Ok(true);
        }
        let place = self.reader.consumed();
        let ending = match self.reader.next() {
            Ok((offset, block)) => {
                self.reading.block(block, share, take)?;
                self.reader.consume(offset);
                return Ok(true);
            }
            Err(PcapError::Eof) if so_far.is_broken() => Some("it cannot be read any further"),
            Err(PcapError::Eof) => return Ok(false),
            Err(PcapError::Incomplete(_)) => None,
            Err(PcapError::BufferTooSmall) if self.capacity < BLOCK_BYTES_MAX => {
                self.capacity *= 2;
                self.reader.grow(self.capacity);
                None
            }
            Err(PcapError::BufferTooSmall) => Some("a block claims to be longer than 256 MiB"),
            Err(PcapError::UnexpectedEof) if self.reading.legacy.is_some() => Some("it ends in the middle of a packet"),
            Err(PcapError::UnexpectedEof) => Some("it ends in the middle of a block"),
            Err(PcapError::ReadError) => Some("it cannot be read any further"),
            Err(_) => Some("its structure is damaged"),
        };
        let refilled = ending.is_some() || self.reader.refill().is_ok();
        let reason = ending.or((!refilled).then_some("it cannot be read any further"));
        if let Some(reason) = reason {
            self.reading.notes.push(format!("{reason}, at byte {place}; what comes before was read"));
        }
        Ok(reason.is_none())
    }

    /// The format of the file, and notes about what could not be read.
    pub fn finish(self) -> (&'static str, Vec<String>) {
        let Reading { interfaces, dropped, format, mut notes, .. } = self.reading;
        let drops = interfaces.iter().map(Interface::dropped).fold(dropped, u64::saturating_add);
        if drops > 0 {
            let packets = if drops == 1 { "packet" } else { "packets" };
            notes
                .push(format!("the kernel dropped {drops} {packets} of this capture: what is missing may have passed"));
        }
        (format, notes)
    }
}

/// The time of the first packet of a file that has one.
pub fn begins(place: &Place) -> Result<Option<u64>, Error> {
    let mut begins = None;
    let looked = read(place, &mut |item, _| match item {
        Item::Frame(Frame { time_ns: Some(time_ns), .. }) => {
            begins = Some(time_ns);
            Err(Error::Stopped)
        }
        _ => Ok(()),
    });
    match looked {
        Err(Error::Stopped) | Ok(_) => Ok(begins),
        Err(error) => Err(error),
    }
}

/// Where the reading of a file stands.
struct Reading {
    interfaces: Vec<Interface>,
    /// Link type and whether times are in nanoseconds, of a pcap file.
    legacy: Option<(i32, bool)>,
    /// Byte order of the pcapng section.
    big_endian: bool,
    /// Packets dropped on the interfaces of sections before this one.
    dropped: u64,
    format: &'static str,
    notes: Vec<String>,
}

impl Default for Reading {
    fn default() -> Reading {
        Reading {
            interfaces: Vec::new(),
            legacy: None,
            big_endian: false,
            dropped: 0,
            format: "pcap",
            notes: Vec::new(),
        }
    }
}

impl Reading {
    fn block(&mut self, block: PcapBlockOwned<'_>, share: &dyn Fn() -> f64, take: &mut Take<'_>) -> Result<(), Error> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                self.legacy = Some((header.network.0 & LINK_TYPE_BITS, header.is_nanosecond_precision()));
                Ok(())
            }
            PcapBlockOwned::Legacy(packet) => {
                let Some((link_type, nanoseconds)) = self.legacy else { return Ok(()) };
                let fraction = u64::from(packet.ts_usec) * if nanoseconds { 1 } else { 1000 };
                let time_ns = u64::from(packet.ts_sec) * 1_000_000_000 + fraction;
                let kept = packet.data.len().min(packet.caplen as usize);
                take(
                    Item::Frame(Frame {
                        time_ns: Some(time_ns),
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
            Block::SectionHeader(section) => {
                self.format = "pcapng";
                let dropped = self.interfaces.drain(..).map(|interface| interface.dropped());
                self.dropped = dropped.fold(self.dropped, u64::saturating_add);
                self.big_endian = section.big_endian();
            }
            Block::InterfaceDescription(i) => self.interfaces.push(Interface {
                link_type: i.linktype.0,
                snap_bytes: i.snaplen,
                per_second: i.options.iter().find(|o| o.code.0 == IF_TSRESOL).map_or(MICROSECONDS, resolution),
                offset_s: i.ts_offset(),
                drops: 0,
                drops_between: 0,
            }),
            Block::NameResolution(names) => {
                for record in &names.nr {
                    if let Some((address, name)) = name(record.record_type, record.record_value) {
                        take(Item::Name(address, name), share())?;
                    }
                }
            }
            Block::InterfaceStatistics(statistics) => {
                let count = |code: u16| {
                    let found = statistics.options.iter().find(|o| o.code.0 == code).map(|o| o.value());
                    found.map_or(0, |value| self.count(value))
                };
                let drops = count(ISB_IFDROP).saturating_add(count(ISB_OSDROP));
                if let Some(interface) = self.interfaces.get_mut(statistics.if_id as usize) {
                    // The counters grow: the last ones count.
                    interface.drops = drops;
                }
            }
            Block::EnhancedPacket(packet) => return self.packet(&Enhanced::of(packet, &packet.options), share, take),
            Block::SimplePacket(packet) => {
                let Some(interface) = self.interfaces.first() else { return take(Item::Strange, share()) };
                let snap = if interface.snap_bytes == 0 { usize::MAX } else { interface.snap_bytes as usize };
                let kept = packet.data.len().min(packet.origlen as usize).min(snap);
                let (link_type, data) = (interface.link_type, &packet.data[..kept]);
                let frame = Frame { time_ns: None, link_type, data, length: packet.origlen, outbound: None };
                return take(Item::Frame(frame), share());
            }
            Block::Unknown(unknown) if unknown.block_type == PACKET_BLOCK => {
                self.drops_before(unknown.data);
                let item = self.old_packet(unknown.data).map_or(Item::Strange, Item::Frame);
                return take(item, share());
            }
            _ => {}
        }
        Ok(())
    }

    fn packet(&mut self, packet: &Enhanced<'_>, share: &dyn Fn() -> f64, take: &mut Take<'_>) -> Result<(), Error> {
        let lost = packet.drops.map_or(0, |drops| self.count(drops));
        let Some(interface) = self.interfaces.get_mut(packet.interface as usize) else {
            return take(Item::Strange, share());
        };
        interface.drops_between = interface.drops_between.saturating_add(lost);
        let frame = Frame {
            time_ns: Some(interface.nanoseconds(packet.units)),
            link_type: interface.link_type,
            data: packet.data,
            length: packet.length,
            outbound: packet.outbound(),
        };
        take(Item::Frame(frame), share())
    }

    /// A count of 8 bytes in the byte order of the section. All ones stand for what is not known.
    fn count(&self, value: &[u8]) -> u64 {
        let bytes = value.first_chunk::<8>().copied().unwrap_or_default();
        let count = if self.big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) };
        if count == u64::MAX { 0 } else { count }
    }

    /// Counts the packets that were dropped before an old packet block; all ones stand for what is not known.
    fn drops_before(&mut self, block: &[u8]) {
        let Some(&[a, b, c, d]) = block.first_chunk::<4>() else { return };
        let short =
            |bytes: [u8; 2]| if self.big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
        let (number, lost) = (short([a, b]), short([c, d]));
        if let Some(interface) = self.interfaces.get_mut(usize::from(number)).filter(|_| lost != u16::MAX) {
            interface.drops_between = interface.drops_between.saturating_add(u64::from(lost));
        }
    }

    /// The packet block that the enhanced one replaced: interface, drops, time, both lengths, data.
    fn old_packet<'a>(&self, block: &'a [u8]) -> Option<Frame<'a>> {
        let long = |at: usize| {
            let bytes: [u8; 4] = block.get(at..at + 4)?.try_into().ok()?;
            Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
        };
        let first: [u8; 2] = block.get(..2)?.try_into().ok()?;
        let number = if self.big_endian { u16::from_be_bytes(first) } else { u16::from_le_bytes(first) };
        let interface = self.interfaces.get(usize::from(number))?;
        let units = u64::from(long(4)?) << 32 | u64::from(long(8)?);
        let data = block.get(20..)?;
        let kept = data.len().min(long(12)? as usize);
        Some(Frame {
            time_ns: Some(interface.nanoseconds(units)),
            link_type: interface.link_type,
            data: &data[..kept],
            length: long(16)?,
            outbound: None,
        })
    }
}

/// Options of an interface and of its statistics (draft-ietf-opsawg-pcapng).
const IF_TSRESOL: u16 = 9;
const ISB_IFDROP: u16 = 5;
const ISB_OSDROP: u16 = 7;
/// Units a second where an interface does not say.
const MICROSECONDS: u128 = 1_000_000;

/// Units a second: a power of ten or, with the highest bit, of two.
fn resolution(option: &PcapNGOption<'_>) -> u128 {
    let Some(&value) = option.value().first() else { return MICROSECONDS };
    let base: u128 = if value & 0x80 == 0 { 10 } else { 2 };
    base.saturating_pow(u32::from(value & 0x7F))
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
    /// The statistics cover what single packets say.
    fn dropped(&self) -> u64 {
        self.drops.max(self.drops_between)
    }

    fn nanoseconds(&self, units: u64) -> u64 {
        let since = u128::from(units) * 1_000_000_000 / self.per_second;
        let origin = i128::from(self.offset_s) * 1_000_000_000;
        u64::try_from((since as i128).saturating_add(origin).max(0)).unwrap_or(u64::MAX)
    }
}
