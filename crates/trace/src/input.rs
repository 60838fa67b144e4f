//! The bytes of a file, decompressed if they are compressed by gzip or zstd.

use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read, Result, Seek};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ruzstd::decoding::StreamingDecoder;

const GZIP: [u8; 2] = [0x1F, 0x8B];
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

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

type Source<R> = BufReader<Counted<R>>;

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
