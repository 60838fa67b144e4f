//! What a scenario says about a disk, and what `elephan measure disk` writes.

use elephan_units::{Bytes, InvalidParameter, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::profiles::{Profile, profile};
use super::raid::{Array, Raid};

/// A disk or an array of disks: one of `profile`; `read` and `write`; `disks` and `disk_rate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Disk")]
pub struct DiskSpec {
    /// A measured array by name (`elephan list disks`), or a file written by `elephan measure disk`, whose path starts in the folder
    /// of the scenario file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub profile: Option<String>,
    /// RAID level of a named profile or of `disks`; without it `raid5` for a profile, `raid0` for `disks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Raid")]
    pub raid: Option<Raid>,
    /// Equal disks in the array, whose rates then follow from `disk_rate` by the arithmetic of its RAID level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 1000))]
    pub disks: Option<u32>,
    /// Sequential rate of one of `disks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub disk_rate: Option<Rate>,
    /// Bytes of an array that lie together on one of `disks`. \[assumed: 64 KiB]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub chunk: Option<Bytes>,
    /// Most that the controller of `disks` carries; without it there is no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub controller: Option<Rate>,
    /// Rate of sequential reads with a long read-ahead, over that of the profile or of the array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub read: Option<Rate>,
    /// Rate of sequential writes, over that of the profile or of the array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub write: Option<Rate>,
    /// Measured rates of sequential reads for some read-ahead windows, in place of `read`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_points: Vec<ReadPoint>,
    /// Read-ahead window, the most that is asked of the disk at once; without it the disk reads at its full rate. Linux 2.4 has 31
    /// pages (124 KiB) in /proc/sys/vm/max-readahead, later kernels 128 KiB in /sys/block/NAME/queue/read_ahead_kb.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub read_ahead: Option<Bytes>,
    /// Least that is asked of the disk at once. \[assumed]
    #[serde(default = "block")]
    pub block: Bytes,
    /// What each request for a read-ahead window costs beside its bytes. \[assumed]
    #[serde(default = "latency")]
    pub latency: Span,
    /// Write-back cache; a write is over when it is in there. "0 B": each write waits for the disk. \[assumed]
    #[serde(default = "cache")]
    pub cache: Bytes,
}

fn block() -> Bytes {
    Bytes(256 * 1024)
}

fn latency() -> Span {
    Span::from_ms(1)
}

fn cache() -> Bytes {
    Bytes(256_000_000)
}

const CHUNK: Bytes = Bytes(64 * 1024);

impl Default for DiskSpec {
    /// No rates yet: not valid by itself.
    fn default() -> DiskSpec {
        DiskSpec {
            profile: None,
            raid: None,
            disks: None,
            disk_rate: None,
            chunk: None,
            controller: None,
            read: None,
            write: None,
            read_points: Vec::new(),
            read_ahead: None,
            block: block(),
            latency: latency(),
            cache: cache(),
        }
    }
}

/// A measured rate of sequential reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadPoint {
    /// The read-ahead window.
    pub read_ahead: Bytes,
    /// The rate with it.
    pub rate: Rate,
}

/// A file written by `elephan measure disk`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileFile {
    /// What it is: `elephan-disk-1`.
    pub format: String,
    /// Where was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub path: Option<String>,
    /// The device below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub device: Option<String>,
    /// What measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub tool: Option<String>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub taken: Option<String>,
    /// How large the file was that was written and read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub file_size: Option<Bytes>,
    /// Bytes of a request of the measuring program.
    pub block: Bytes,
    /// Rate of sequential writes that reach the disk.
    pub write: Rate,
    /// Read-ahead window that the device had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Bytes")]
    pub read_ahead: Option<Bytes>,
    /// Rates of sequential reads for some read-ahead windows.
    pub read_points: Vec<ReadPoint>,
}

impl ProfileFile {
    pub const FORMAT: &str = "elephan-disk-1";

    /// What is wrong with it, if anything is: the key and why.
    pub fn problem(&self) -> Option<InvalidParameter> {
        if self.format != Self::FORMAT {
            return Some(InvalidParameter::new("format", format!("{:?}: expected {:?}", self.format, Self::FORMAT)));
        }
        let of = DiskSpec { write: Some(self.write), block: self.block, ..DiskSpec::default() };
        DiskSpec { read_points: self.read_points.clone(), ..of }.problem()
    }
}

/// Rates beyond which nothing is gained.
const RATE_MAX: Rate = Rate(1_000_000_000_000_000);

impl DiskSpec {
    fn profile(&self) -> Option<&'static Profile> {
        self.profile.as_deref().and_then(profile)
    }

    fn array(&self) -> Option<Array> {
        let (disks, disk_rate) = (self.disks?, self.disk_rate?);
        let (raid, chunk) = (self.raid.unwrap_or(Raid::Raid0), self.chunk.unwrap_or(CHUNK));
        Some(Array { raid, disks, disk_rate, chunk, controller: self.controller })
    }

    /// What is wrong with it, if anything is. A profile that is the name of a file must have been read.
    pub fn problem(&self) -> Option<InvalidParameter> {
        let fail = |key: &'static str, reason: String| Some(InvalidParameter::new(key, reason));
        if let Some(name) = self.profile.as_deref().filter(|name| profile(name).is_none()) {
            return fail("profile", format!("{name:?} is not a known profile"));
        }
        let of_array = [("disk_rate", self.disk_rate.is_some()), ("disks", self.disks.is_some())];
        if let [(missing, false), (_, true)] | [(_, true), (missing, false)] = of_array {
            return fail("", format!("an array needs disks and disk_rate; {missing} is missing"));
        }
        let array = self.array();
        if array.is_some() && self.profile.is_some() {
            return fail("disks", "goes without a profile, which has rates of its own".into());
        }
        for (key, given) in [("chunk", self.chunk.is_some()), ("controller", self.controller.is_some())] {
            if given && array.is_none() {
                return fail(key, "belongs to an array: give disks and disk_rate".into());
            }
        }
        if self.raid.is_some() && array.is_none() && self.profile.is_none() {
            return fail("raid", "is of a named profile, or of disks and disk_rate".into());
        }
        if array.is_some_and(|array| array.raid == Raid::Raid5 && array.disks < 3) {
            return fail("disks", "RAID 5 needs 3 disks at least".into());
        }
        let known = self.profile.is_some() || array.is_some();
        if !known && (self.write.is_none() || self.read.is_none() && self.read_points.is_empty()) {
            return fail("", "give a profile, or read and write, or disks and disk_rate".into());
        }
        if self.profile.is_some() && !self.read_points.is_empty() {
            return fail("read_points", "are in place of a profile: one of both".into());
        }
        if self.read.is_some() && !self.read_points.is_empty() {
            return fail("read_points", "read is given too: one of both".into());
        }
        self.range_problem()
    }

    fn range_problem(&self) -> Option<InvalidParameter> {
        let fail = |key: &'static str, reason: String| Some(InvalidParameter::new(key, reason));
        let rates = [
            ("read", self.read),
            ("write", self.write),
            ("disk_rate", self.disk_rate),
            ("controller", self.controller),
            ("read_points", self.read_points.iter().map(|point| point.rate).min()),
            ("read_points", self.read_points.iter().map(|point| point.rate).max()),
        ];
        for (key, rate) in rates {
            if let Some(rate) = rate.filter(|rate| rate.0 < 1000 || *rate > RATE_MAX) {
                return fail(key, format!("{rate}: a disk has from 1 kbps to 1 Pbps"));
            }
        }
        let sizes = [("block", Some(self.block)), ("read_ahead", self.read_ahead), ("chunk", self.chunk)];
        let windows = self.read_points.iter().map(|point| ("read_points", Some(point.read_ahead)));
        for (key, size) in sizes.into_iter().chain(windows) {
            if let Some(size) = size.filter(|size| size.0 == 0 || size.0 > 1 << 40) {
                return fail(key, format!("{size}: must be from 1 B to 1 TiB"));
            }
        }
        if self.cache.0 > 1 << 50 {
            return fail("cache", format!("{}: must be at most 1 PiB", self.cache));
        }
        if self.latency > Span::from_s(10) {
            return fail("latency", format!("{}: must be at most 10 s", self.latency));
        }
        let ascending = self.read_points.windows(2).all(|pair| pair[0].read_ahead < pair[1].read_ahead);
        if !ascending {
            return fail("read_points", "must be in the order of read_ahead, each window once".into());
        }
        None
    }

    /// Spells out defaults that depend on other keys, for the resolved scenario. Rates that follow from a profile or an array are
    /// not among them: another profile would then have those of the first.
    pub fn resolve(&mut self) {
        if self.profile.is_some() {
            self.raid.get_or_insert(Raid::Raid5);
        } else if self.array().is_some() {
            self.raid.get_or_insert(Raid::Raid0);
            self.chunk.get_or_insert(CHUNK);
        }
    }

    fn full_read_rate(&self) -> Rate {
        let of_profile = || self.profile().map(|p| p.rates(self.raid.unwrap_or(Raid::Raid5)).0);
        self.read.or_else(of_profile).or_else(|| self.array().map(|array| array.read_rate())).unwrap_or(Rate(1))
    }

    /// Rate of sequential writes.
    pub fn write_rate(&self) -> Rate {
        let of_profile = || self.profile().map(|p| p.rates(self.raid.unwrap_or(Raid::Raid5)).1);
        let of_array = || self.array().map(|array| array.write_rate(self.block, self.cache.0 > 0));
        self.write.or_else(of_profile).or_else(of_array).unwrap_or(Rate(1))
    }

    /// Rate of sequential reads with the read-ahead that it has.
    pub fn read_rate(&self) -> Rate {
        if !self.read_points.is_empty() {
            return self.measured_rate();
        }
        let full = self.full_read_rate();
        let Some(read_ahead) = self.read_ahead else { return full };
        let window = read_ahead.max(self.block).0 as f64 * 8.0;
        let bps = window / (window / full.0 as f64 + self.latency.seconds());
        Rate((bps + 0.5) as u64)
    }

    /// Between measured points over the logarithm of the window, beyond them the nearest; without a window the fastest.
    fn measured_rate(&self) -> Rate {
        let points = &self.read_points;
        let fastest = points.iter().map(|point| point.rate).max().unwrap_or(Rate(1));
        let Some(window) = self.read_ahead else { return fastest };
        let after = points.partition_point(|point| point.read_ahead < window);
        match (after.checked_sub(1).and_then(|i| points.get(i)), points.get(after)) {
            (Some(low), Some(high)) => {
                let log = |size: Bytes| libm::log2(size.0 as f64);
                let share = (log(window) - log(low.read_ahead)) / (log(high.read_ahead) - log(low.read_ahead));
                let bps = low.rate.0 as f64 + share * (high.rate.0 as f64 - low.rate.0 as f64);
                Rate((bps + 0.5) as u64)
            }
            (Some(point), None) | (None, Some(point)) => point.rate,
            (None, None) => fastest,
        }
    }
}
