//! `disk-copy`: a program copies a file from the sender's disk to the receiver's, over one or several connections. The way of a
//! block and what limits it is in `elephan_host::copy`, the disks are those of the hosts (`[hosts.NAME] disk = { ... }`); a host
//! without one reads and writes at once.
//!
//! Programs: `bbcp` (SLAC; 4 streams by default, a window, an I/O block, threads that read, send, receive and write) and `gridftp`
//! (GFD.20: MODE S, one stream without framing, or MODE E, several streams of extended blocks with a header of 17 bytes; blocks of
//! 256 KiB). Assumed: bbcp's block of 256 KiB, its blocks without a header, two buffers a stream and two at least. Left out: control
//! connections, checksums, compression, restarts, bbcp's own default window of 64 KB (here the stack's, unless given).

use elephan_host::copy::Program;
use elephan_units::{Bytes, InvalidParameter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Carrier, Generate, Offer, Setting, Spec};

/// Streams and buffers beyond which nobody has gone.
const STREAMS_MAX: u32 = 1000;
const BUFFERS_MAX: u32 = 1_000_000;
/// As the largest drawn size.
const SIZE_MAX: u64 = 1 << 53;
const BLOCK_MAX: u64 = 1 << 32;
const BLOCK: Bytes = Bytes(256 * 1024);
/// GFD.20: 8 bits of flags, 64 of length, 64 of offset.
const EXTENDED_HEADER: Bytes = Bytes(17);

/// Keys of `kind = "disk-copy"`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskCopy {
    /// Size of the file. Without it the file has no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub size: Option<Bytes>,
    /// The program.
    #[serde(default)]
    pub program: CopyProgram,
    /// Mode of GridFTP: without it `e` with several streams, else `s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Mode")]
    pub mode: Option<Mode>,
    /// Connections of each transfer: without it 4 for bbcp, 1 for GridFTP and for serial programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 1000))]
    pub streams: Option<u32>,
    /// Socket buffers of each connection at both ends (bbcp -w, GridFTP -tcp-bs); without it those of the hosts' stacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub window: Option<Bytes>,
    /// Bytes of a block, which is read, sent and written as one (bbcp -B). [assumed: 256 KiB; GridFTP's default]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub block: Option<Bytes>,
    /// Buffers of a block each that the program has at either end. [assumed: two a stream, two at least]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1))]
    pub buffers: Option<u32>,
    /// Whether reading, sending and writing go on at the same time.
    #[serde(default)]
    pub pipeline: Overlap,
    /// When the transfer is complete.
    #[serde(default)]
    pub complete: Complete,
}

/// A transfer program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CopyProgram {
    /// SLAC's bbcp: parallel streams.
    #[default]
    Bbcp,
    /// GridFTP (GFD.20).
    Gridftp,
}

/// How GridFTP sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// MODE S: one stream, nothing but the file.
    S,
    /// MODE E: extended blocks over any number of streams.
    E,
}

/// What a program does at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Overlap {
    /// Threads read, send, receive and write: the slowest of them sets the rate.
    #[default]
    Overlapped,
    /// One block at a time: read, sent, written, then the next.
    Serial,
}

/// Where the last byte of a complete transfer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Complete {
    /// On the disk.
    #[default]
    Disk,
    /// In the cache of the disk: the program has ended.
    Cache,
}

impl DiskCopy {
    fn streams(&self) -> u32 {
        let alone = self.program == CopyProgram::Gridftp || self.pipeline == Overlap::Serial;
        self.streams.unwrap_or(if alone { 1 } else { 4 })
    }

    fn mode(&self) -> Option<Mode> {
        let usual = if self.streams() > 1 { Mode::E } else { Mode::S };
        (self.program == CopyProgram::Gridftp).then(|| self.mode.unwrap_or(usual))
    }

    fn buffers(&self) -> u32 {
        self.buffers.unwrap_or((2 * self.streams()).max(2))
    }
}

/// It offers nothing by itself: the disk says when there is something to send.
#[derive(Clone, Debug)]
pub struct Source;

impl Spec for DiskCopy {
    type Source = Source;

    fn validate(&self) -> Result<(), InvalidParameter> {
        let fail = |key: &'static str, message: String| Err(InvalidParameter::new(key, message));
        if self.size.is_some_and(|size| !(1..=SIZE_MAX).contains(&size.0)) {
            return fail("size", "must be from 1 B to 2^53 B; leave it out for a file without end".into());
        }
        let streams = self.streams();
        if !(1..=STREAMS_MAX).contains(&streams) {
            return fail("streams", format!("{streams}: must be from 1 to {STREAMS_MAX}"));
        }
        if self.mode.is_some() && self.program != CopyProgram::Gridftp {
            return fail("mode", "belongs to program = \"gridftp\"".into());
        }
        if self.mode == Some(Mode::S) && streams > 1 {
            return fail("streams", format!("{streams}: MODE S has one stream; say mode = \"e\""));
        }
        if self.pipeline == Overlap::Serial && streams > 1 {
            return fail("streams", format!("{streams}: a serial program has one"));
        }
        if self.block.is_some_and(|block| !(1..=BLOCK_MAX).contains(&block.0)) {
            return fail("block", "must be from 1 B to 4 GiB".into());
        }
        if !(1..=BUFFERS_MAX).contains(&self.buffers()) {
            return fail("buffers", format!("{}: must be from 1 to {BUFFERS_MAX}", self.buffers()));
        }
        Ok(())
    }

    fn carrier(&self) -> Carrier {
        Carrier::Copy
    }

    fn pace(&self) -> Option<&'static str> {
        None
    }

    fn is_random(&self, _pairs: u64) -> bool {
        false
    }

    fn source(&self, _: &Setting<'_>) -> Source {
        Source
    }

    fn copy(&self) -> Option<Program> {
        Some(Program {
            size: self.size,
            streams: self.streams(),
            block: self.block.unwrap_or(BLOCK),
            header: if self.mode() == Some(Mode::E) { EXTENDED_HEADER } else { Bytes(0) },
            buffers: self.buffers(),
            serial: self.pipeline == Overlap::Serial,
            to_disk: self.complete == Complete::Disk,
        })
    }

    fn window(&self) -> Option<Bytes> {
        self.window
    }

    fn resolve(&mut self) {
        (self.streams, self.mode, self.buffers) = (Some(self.streams()), self.mode(), Some(self.buffers()));
        self.block.get_or_insert(BLOCK);
    }
}

impl Generate for Source {
    fn next_offer(&mut self) -> Option<Offer> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn kind(text: &str) -> Kind {
        serde_json::from_str(&format!("{{\"kind\": \"disk-copy\"{text}}}")).unwrap()
    }

    fn program(text: &str) -> Program {
        let mut kind = kind(text);
        assert_eq!((kind.validate(), kind.carrier()), (Ok(()), Carrier::Copy));
        let before = kind.copy().unwrap();
        kind.resolve();
        assert_eq!(kind.copy(), Some(before), "what is written out says the same");
        before
    }

    /// bbcp -s 4; GridFTP's MODE S and MODE E with GFD.20's header of 8 + 64 + 64 bits.
    #[test]
    fn presets() {
        let block = Bytes(262_144);
        let bbcp =
            Program { size: None, streams: 4, block, header: Bytes(0), buffers: 8, serial: false, to_disk: true };
        assert_eq!(program(""), bbcp);
        let mode_s = Program { streams: 1, buffers: 2, ..bbcp };
        assert_eq!(program(r#", "program": "gridftp""#), mode_s);
        let mode_e = Program { streams: 8, buffers: 16, header: Bytes(17), ..bbcp };
        assert_eq!(program(r#", "program": "gridftp", "streams": 8"#), mode_e);
        assert_eq!(program(r#", "program": "gridftp", "mode": "e""#).header, Bytes(17));
        let serial = program(r#", "pipeline": "serial", "size": "1 GB", "complete": "cache", "block": "1 MB""#);
        assert_eq!((serial.streams, serial.buffers, serial.serial, serial.to_disk), (1, 2, true, false));
        assert_eq!((serial.size, serial.block), (Some(Bytes(1_000_000_000)), Bytes(1_000_000)));
        assert_eq!(kind(r#", "window": "600 kB""#).window(), Some(Bytes(600_000)));
    }

    #[test]
    fn what_cannot_be() {
        let error = |text: &str| kind(text).validate().unwrap_err().to_string();
        assert_eq!(error(r#", "mode": "e""#), "mode: belongs to program = \"gridftp\"");
        let s = r#", "program": "gridftp", "mode": "s", "streams": 2"#;
        assert_eq!(error(s), "streams: 2: MODE S has one stream; say mode = \"e\"");
        assert_eq!(error(r#", "pipeline": "serial", "streams": 2"#), "streams: 2: a serial program has one");
        assert_eq!(error(r#", "streams": 0"#), "streams: 0: must be from 1 to 1000");
        assert_eq!(error(r#", "block": "0 B""#), "block: must be from 1 B to 4 GiB");
        assert_eq!(error(r#", "buffers": 0"#), "buffers: 0: must be from 1 to 1000000");
        assert!(error(r#", "size": "0 B""#).starts_with("size: must be from 1 B"));
    }
}
