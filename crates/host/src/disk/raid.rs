//! Arithmetic of RAID levels: an array of n equal disks of rate r, striped in chunks of c bytes.
//!
//! ```text
//!                                   RAID 0     RAID 5
//! large reads                       n r        n r
//! writes of whole stripes           n r        (n - 1) r
//! smaller writes, disks busy        n r        n r / 4, at least r
//! ```
//!
//! Source: Chen, Lee, Gibson, Katz, Patterson, *RAID: high-performance, reliable secondary storage*, ACM Computing Surveys 26(2),
//! 1994, table 1 (throughput relative to RAID 0 of as many disks: large reads 1, large writes (G - 1)/G, small writes max(1/G,
//! 1/4): a small write reads old data and old parity and writes both). A write is of whole stripes if it passes through a
//! write-back cache, which gathers them, or holds (n - 1) c bytes at least. What a controller and its bus carry bounds both rates.
//! Left out: parity that a sequential reader must pass over (its rate is then between (n - 1) r and n r), a failed disk, requests
//! that do not begin at a stripe.

use elephan_units::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How data lie on the disks of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Raid {
    /// Striped.
    Raid0,
    /// Striped with rotated parity.
    Raid5,
}

impl Raid {
    pub const fn name(self) -> &'static str {
        match self {
            Raid::Raid0 => "raid0",
            Raid::Raid5 => "raid5",
        }
    }
}

/// Equal disks together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    pub raid: Raid,
    pub disks: u32,
    /// Sequential rate of one disk.
    pub disk_rate: Rate,
    pub chunk: Bytes,
    /// What the controller carries, if that bounds the array.
    pub controller: Option<Rate>,
}

impl Array {
    pub fn read_rate(&self) -> Rate {
        self.bounded(u128::from(self.disk_rate.0) * u128::from(self.disks))
    }

    /// The rate of writes of `block` bytes, `gathered` if a cache collects them.
    pub fn write_rate(&self, block: Bytes, gathered: bool) -> Rate {
        let (rate, disks) = (u128::from(self.disk_rate.0), u128::from(self.disks));
        let stripe = u128::from(self.chunk.0) * disks.saturating_sub(1);
        self.bounded(match self.raid {
            Raid::Raid0 => rate * disks,
            Raid::Raid5 if gathered || u128::from(block.0) >= stripe => rate * (disks - 1),
            Raid::Raid5 => (rate * disks / 4).max(rate),
        })
    }

    fn bounded(&self, rate: u128) -> Rate {
        let rate = Rate(u64::try_from(rate).unwrap_or(u64::MAX));
        self.controller.map_or(rate, |most| rate.min(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(raid: Raid, disks: u32, block: u64, gathered: bool) -> (u64, u64) {
        let array = Array { raid, disks, disk_rate: Rate(320_000_000), chunk: Bytes(65_536), controller: None };
        (array.read_rate().0 / 1_000_000, array.write_rate(Bytes(block), gathered).0 / 1_000_000)
    }

    /// Table 1 of Chen et al. for 4 and 8 disks of 320 Mb/s.
    #[test]
    fn table_1() {
        assert_eq!(rates(Raid::Raid0, 4, 4096, false), (1280, 1280));
        assert_eq!(rates(Raid::Raid5, 4, 4096, true), (1280, 960));
        assert_eq!(rates(Raid::Raid5, 8, 4096, true), (2560, 2240));
        // Read-modify-write: 1/4 of RAID 0, but a disk's rate at least (three disks).
        assert_eq!(rates(Raid::Raid5, 8, 4096, false), (2560, 640));
        assert_eq!(rates(Raid::Raid5, 3, 4096, false), (960, 320));
        // 3 chunks of 64 KiB are a whole stripe of four disks.
        assert_eq!(rates(Raid::Raid5, 4, 196_608, false), (1280, 960));
        assert_eq!(rates(Raid::Raid5, 4, 196_607, false), (1280, 320));
    }

    #[test]
    fn controllers_bound() {
        let controller = Some(Rate(1_056_000_000));
        let array =
            Array { raid: Raid::Raid5, disks: 4, disk_rate: Rate(320_000_000), chunk: Bytes(65_536), controller };
        assert_eq!((array.read_rate().0, array.write_rate(Bytes(1), true).0), (1_056_000_000, 960_000_000));
    }
}
