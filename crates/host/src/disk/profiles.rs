//! RAID controllers as UCL and Manchester measured them: Y.-T. Li, S. Dallison, R. Hughes-Jones, P. Clarke, *A systematic analysis
//! of TCP performance* (slides): 4 or 8 Maxtor disks of 160 GB at 7200/min on controllers in PCI slots of 33 and 66 MHz, dual
//! Xeon of 2.0 GHz on a Supermicro P4DP8-G2, Mb/s of sequential reads and writes with the read-ahead tuned.

use elephan_units::Rate;

use super::Raid;

/// A row of the table: rates in Mb/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    read_raid0: u64,
    write_raid0: u64,
    read_raid5: u64,
    write_raid5: u64,
}

impl Profile {
    /// Rates of sequential reads and writes.
    pub fn rates(&self, raid: Raid) -> (Rate, Rate) {
        let (read, write) = match raid {
            Raid::Raid0 => (self.read_raid0, self.write_raid0),
            Raid::Raid5 => (self.read_raid5, self.write_raid5),
        };
        (Rate(read * 1_000_000), Rate(write * 1_000_000))
    }
}

/// The profile of a name.
pub fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

macro_rules! profiles {
    ($($name:literal $about:literal $read0:literal $write0:literal $read5:literal $write5:literal;)+) => {
        /// Every profile, in the order of the table.
        pub const PROFILES: &[Profile] = &[
            $(Profile {
                name: $name,
                about: $about,
                read_raid0: $read0,
                write_raid0: $write0,
                read_raid5: $read5,
                write_raid5: $write5,
            },)+
        ];
    };
}

profiles! {
    "icp-33x4" "ICP, PCI 33 MHz, 4 disks: RAID 0 751/811, RAID 5 686/490 Mb/s." 751 811 686 490;
    "icp-66x4" "ICP, PCI 66 MHz, 4 disks: RAID 0 893/1202, RAID 5 804/538 Mb/s." 893 1202 804 538;
    "3ware-ata-33x4" "3ware ATA, PCI 33 MHz, 4 disks: RAID 0 1299/835, RAID 5 1065/319 Mb/s." 1299 835 1065 319;
    "3ware-ata-66x4" "3ware ATA, PCI 66 MHz, 4 disks: RAID 0 1320/1092, RAID 5 1066/335 Mb/s." 1320 1092 1066 335;
    "3ware-ata-33x8" "3ware ATA, PCI 33 MHz, 8 disks: RAID 0 1344/824, RAID 5 1280/482 Mb/s." 1344 824 1280 482;
    "3ware-ata-66x8" "3ware ATA, PCI 66 MHz, 8 disks: RAID 0 1359/1085, RAID 5 1289/541 Mb/s." 1359 1085 1289 541;
    "3ware-sata-66x4" "3ware SATA, PCI 66 MHz, 4 disks: RAID 0 1343/1116, RAID 5 1283/372 Mb/s." 1343 1116 1283 372;
    "3ware-sata-66x8" "3ware SATA, PCI 66 MHz, 8 disks: RAID 0 1389/1118, RAID 5 1310/513 Mb/s." 1389 1118 1310 513;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slide, row by row: read and write RAID 0, read and write RAID 5.
    #[test]
    fn the_table() {
        let rows: Vec<(&str, [u64; 4])> = PROFILES
            .iter()
            .map(|p| {
                let ((a, b), (c, d)) = (p.rates(Raid::Raid0), p.rates(Raid::Raid5));
                (p.name, [a, b, c, d].map(|rate| rate.0 / 1_000_000))
            })
            .collect();
        assert_eq!(
            rows,
            [
                ("icp-33x4", [751, 811, 686, 490]),
                ("icp-66x4", [893, 1202, 804, 538]),
                ("3ware-ata-33x4", [1299, 835, 1065, 319]),
                ("3ware-ata-66x4", [1320, 1092, 1066, 335]),
                ("3ware-ata-33x8", [1344, 824, 1280, 482]),
                ("3ware-ata-66x8", [1359, 1085, 1289, 541]),
                ("3ware-sata-66x4", [1343, 1116, 1283, 372]),
                ("3ware-sata-66x8", [1389, 1118, 1310, 513]),
            ]
        );
        for profile in PROFILES {
            let [a, b, c, d] = [profile.read_raid0, profile.write_raid0, profile.read_raid5, profile.write_raid5]
                .map(|r| r.to_string());
            assert!(profile.about.contains(&format!("RAID 0 {a}/{b}, RAID 5 {c}/{d}")), "{}", profile.about);
        }
        assert_eq!(profile("icp-66x8"), None);
    }
}
