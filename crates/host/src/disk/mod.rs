//! Disks and arrays of them: two servers, one that reads and one that writes, each with a rate, and a write-back cache.
//!
//! Reading `b` bytes at rate R takes `8 b / R`, one request after the other. The rate of sequential reads follows from the
//! read-ahead window A, the most that the system asks the disk for at once, and the time L that each such request costs beside
//! its bytes:
//!
//! ```text
//! R(A) = 1 / (1/R + L / (8 A))          A = max(read_ahead, block)
//! ```
//!
//! which is half of R at A = L R / 8 (Hockney's half-performance length). Without `read_ahead` a disk reads at R: the figures of
//! the profiles were taken with it tuned. A measured profile has the rates themselves for some windows ([`ReadPoint`]); between
//! them the rate is interpolated over the logarithm of the window.
//!
//! A write goes to the cache and from there to the disk, first in first out, at rate W without a pause. With the disk busy until f,
//! a write of b bytes at time t
//!
//! ```text
//! is on the disk at            d = max(f, t) + 8 b / W
//! is in the cache of C bytes   at  max(t, d - 8 C / W)
//! ```
//!
//! and `write()` returns then: the backlog beside it is never more than C. A writer of rate N > W therefore goes at N until
//! `C / (N - W)` (in bytes and bytes a second) and at W from then on; C = 0 is writing through.
//!
//! Sources: UCL and Manchester's table of RAID controllers (`profiles`), arithmetic of RAID levels (`raid`). Assumed: L = 1 ms, a
//! cache of 256 MB, requests of 256 KiB. Left out: seeks between files and between reading and writing, zones of a platter,
//! read-ahead that goes on while the reader is busy with something else, thresholds below which a cache is not written back, the
//! rate of memory.

mod profiles;
mod raid;
mod spec;

use elephan_units::{PS_PER_S, Rate, Span, Time};

pub use profiles::{PROFILES, Profile, profile};
pub use raid::{Array, Raid};
pub use spec::{DiskSpec, ProfileFile, ReadPoint};

/// A server of one rate: requests in the order of their arrival, exact over a busy period.
#[derive(Clone, Copy, Debug)]
struct Server {
    rate: Rate,
    /// When all that was asked for is done, and the part of a picosecond beyond that, in units of 1/rate.
    free_at: Time,
    remainder: u64,
}

impl Server {
    fn new(rate: Rate) -> Server {
        Server { rate, free_at: Time::ZERO, remainder: 0 }
    }

    /// When `bytes` more are done.
    fn serve(&mut self, now: Time, bytes: u64) -> Time {
        if now >= self.free_at {
            (self.free_at, self.remainder) = (now, 0);
        }
        let total = u128::from(bytes) * u128::from(8 * PS_PER_S) + u128::from(self.remainder);
        let rate = u128::from(self.rate.0);
        self.remainder = (total % rate) as u64;
        self.free_at = self.free_at.saturating_add(Span(u64::try_from(total / rate).unwrap_or(u64::MAX)));
        self.free_at
    }

    /// Bytes asked for and not done.
    fn backlog(&self, now: Time) -> u64 {
        self.rate.bytes_in(self.free_at.since(now))
    }
}

/// When a write has been taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// In the cache: the writer goes on.
    pub cached: Time,
    /// On the disk.
    pub on_disk: Time,
}

/// A disk at work.
#[derive(Clone, Debug)]
pub struct Disk {
    read: Server,
    write: Server,
    cache_bytes: u64,
}

impl Disk {
    /// An idle disk with an empty cache. The specification must be valid.
    pub fn new(spec: &DiskSpec) -> Disk {
        Disk {
            read: Server::new(spec.read_rate()),
            write: Server::new(spec.write_rate()),
            cache_bytes: spec.cache.get(),
        }
    }

    /// When `bytes` that are asked for at `now` are in memory. Times must not go back.
    pub fn read(&mut self, now: Time, bytes: u64) -> Time {
        self.read.serve(now, bytes)
    }

    /// When `bytes` that are written at `now` are in the cache and on the disk. Times must not go back, and a writer waits until
    /// one write is in the cache before the next.
    pub fn write(&mut self, now: Time, bytes: u64) -> Written {
        let on_disk = self.write.serve(now, bytes);
        // Rounded down, so that the cache holds no more than it has.
        let ahead = u128::from(self.cache_bytes) * u128::from(8 * PS_PER_S) / u128::from(self.write.rate.0);
        let cached = Time(on_disk.0.saturating_sub(u64::try_from(ahead).unwrap_or(u64::MAX)));
        Written { cached: cached.max(now), on_disk }
    }

    /// Bytes in the cache that are not on the disk.
    pub fn cached_bytes(&self, now: Time) -> u64 {
        self.write.backlog(now).min(self.cache_bytes)
    }

    pub fn read_rate(&self) -> Rate {
        self.read.rate
    }

    pub fn write_rate(&self) -> Rate {
        self.write.rate
    }
}

#[cfg(test)]
mod tests;
