//! The bytes of a file, decompressed if they are compressed by gzip or zstd.

use std::fs::File;
use std::io::{self, BufReader, Chain, Cursor, ErrorKind, Read, Result, Seek};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ruzstd::decoding::StreamingDecoder;

const GZIP: [u8; 2] = [0x1F, 0x8B];
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// A frame of zstd without data (RFC 8878 section 3.1.2): the first byte is any of 16, the length of what it holds follows.
const SKIPPABLE: [u8; 3] = [0x2A, 0x4D, 0x18];
const SKIPPABLE_FIRST: u8 = 0x50;

/// Where the bytes of a capture are.
#[derive(Clone, Debug)]
pub enum Place {
    File(PathBuf),
    /// In memory, under a name for errors.
    Memory(String, Arc<[u8]>),
}

impl Place {
    pub fn name(&self) -> String {
        match self {
            Place::File(path) => path.display().to_string(),
            Place::Memory(name, _) => name.clone(),
        }
    }

    /// The name without folders.
    pub fn short_name(&self) -> String {
        match self {
            Place::File(path) => {
                path.file_name().map_or_else(|| self.name(), |name| name.to_string_lossy().into_owned())
            }
            Place::Memory(name, _) => name.clone(),
        }
    }
}

/// Reads as much as there is place for: the parser takes a short read of its buffer for the whole header. What cannot be read, or
/// decompressed, in the middle ends the file there.
pub struct Input {
    inner: Box<dyn Read + Send>,
    /// Whether anything was read.
    has_begun: bool,
    is_broken: Arc<AtomicBool>,
}

/// How far a file has been read.
pub struct SoFar {
    position: Arc<AtomicU64>,
    size: u64,
    is_broken: Arc<AtomicBool>,
}

impl SoFar {
    /// Whether the file ended where it could not be read.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    pub fn share(&self) -> f64 {
        self.position.load(Ordering::Relaxed) as f64 / self.size.max(1) as f64
    }
}

impl Input {
    pub fn open(place: &Place) -> Result<(Input, SoFar)> {
        match place {
            Place::File(path) => {
                let file = File::open(path)?;
                let size = file.metadata().map(|meta| meta.len()).unwrap_or(0);
                Input::of(file, size)
            }
            Place::Memory(_, bytes) => Input::of(Cursor::new(bytes.clone()), bytes.len() as u64),
        }
    }

    fn of(mut file: impl Read + Seek + Send + 'static, size: u64) -> Result<(Input, SoFar)> {
        let mut magic = [0; 4];
        let known = file.read(&mut magic)?;
        file.rewind()?;
        let position = Arc::new(AtomicU64::new(0));
        let counted = Counted { inner: file, position: position.clone() };
        let inner: Box<dyn Read + Send> = match &magic[..known] {
            start if start.starts_with(&GZIP) => Box::new(flate2::read::MultiGzDecoder::new(BufReader::new(counted))),
            start if start == ZSTD || is_skippable(start) => {
                Box::new(Zstd::Between(Cursor::new(Vec::new()).chain(BufReader::new(counted))))
            }
            _ => Box::new(counted),
        };
        let is_broken = Arc::new(AtomicBool::new(false));
        Ok((Input { inner, has_begun: false, is_broken: is_broken.clone() }, SoFar { position, size, is_broken }))
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() && !self.is_broken.load(Ordering::Relaxed) {
            match self.inner.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => (filled, self.has_begun) = (filled + read, true),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) if self.has_begun => self.is_broken.store(true, Ordering::Relaxed),
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// Counts what has been read of the file.
struct Counted<R> {
    inner: R,
    position: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.inner.read(buffer)?;
        self.position.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// The first bytes of a frame, and what follows them.
type Source<R> = Chain<Cursor<Vec<u8>>, BufReader<Counted<R>>>;

fn is_skippable(start: &[u8]) -> bool {
    start.len() >= 4 && start[0] & 0xF0 == SKIPPABLE_FIRST && start[1..4] == SKIPPABLE
}

/// The source at its next frame with data; nothing at its end.
fn next_frame<R: Read>(source: Source<R>) -> Result<Option<Source<R>>> {
    // The frame before has taken all of its first bytes.
    let (_, mut source) = source.into_inner();
    loop {
        let mut start = Vec::new();
        source.by_ref().take(8).read_to_end(&mut start)?;
        match start.as_slice() {
            [] => return Ok(None),
            &[_, _, _, _, a, b, c, d] if is_skippable(&start) => {
                let bytes = u64::from(u32::from_le_bytes([a, b, c, d]));
                io::copy(&mut source.by_ref().take(bytes), &mut io::sink())?;
            }
            _ => return Ok(Some(Cursor::new(start).chain(source))),
        }
    }
}

/// Frames of zstd, one after another.
enum Zstd<R: Read> {
    Between(Source<R>),
    Within(Box<StreamingDecoder<Source<R>, ruzstd::decoding::FrameDecoder>>),
    Over,
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match std::mem::replace(self, Zstd::Over) {
                Zstd::Between(source) => {
                    let Some(source) = next_frame(source)? else { return Ok(0) };
                    let decoder = StreamingDecoder::new(source).map_err(|error| io::Error::other(error.to_string()))?;
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
