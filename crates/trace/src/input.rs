//! The bytes of a file, decompressed if they are compressed by gzip or zstd.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Result, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ruzstd::decoding::StreamingDecoder;

const GZIP: [u8; 2] = [0x1F, 0x8B];
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Reads as much as there is place for: the parser takes a short read of its buffer for the whole header. A decompressor that fails in
/// the middle ends the file there.
pub struct Input(Box<dyn Read + Send>);

/// How far a file has been read.
pub struct SoFar {
    position: Arc<AtomicU64>,
    size: u64,
}

impl SoFar {
    pub fn share(&self) -> f64 {
        self.position.load(Ordering::Relaxed) as f64 / self.size.max(1) as f64
    }
}

impl Input {
    pub fn open(path: &Path) -> Result<(Input, SoFar)> {
        let mut file = File::open(path)?;
        let size = file.metadata().map(|meta| meta.len()).unwrap_or(0);
        let mut magic = [0; 4];
        let known = file.read(&mut magic)?;
        file.rewind()?;
        let position = Arc::new(AtomicU64::new(0));
        let counted = Counted { inner: file, position: position.clone() };
        let inner: Box<dyn Read + Send> = match &magic[..known] {
            start if start.starts_with(&GZIP) => Box::new(flate2::read::MultiGzDecoder::new(BufReader::new(counted))),
            start if start == ZSTD => Box::new(Zstd::Between(BufReader::new(counted))),
            _ => Box::new(counted),
        };
        Ok((Input(inner), SoFar { position, size }))
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.0.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) if filled > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// Counts what has been read of the file.
struct Counted {
    inner: File,
    position: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.inner.read(buffer)?;
        self.position.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

type Source = BufReader<Counted>;

/// Frames of zstd, one after another.
enum Zstd {
    Between(Source),
    Within(Box<StreamingDecoder<Source, ruzstd::decoding::FrameDecoder>>),
    Over,
}

impl Read for Zstd {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match std::mem::replace(self, Zstd::Over) {
                Zstd::Between(mut source) => {
                    if std::io::BufRead::fill_buf(&mut source)?.is_empty() {
                        return Ok(0);
                    }
                    let decoder =
                        StreamingDecoder::new(source).map_err(|error| std::io::Error::other(error.to_string()))?;
                    *self = Zstd::Within(Box::new(decoder));
                }
                Zstd::Within(mut decoder) => {
                    let read = decoder.read(buffer)?;
                    if read > 0 || buffer.is_empty() {
                        *self = Zstd::Within(decoder);
                        return Ok(read);
                    }
                    *self = Zstd::Between(decoder.into_inner());
                }
                Zstd::Over => return Ok(0),
            }
        }
    }
}
