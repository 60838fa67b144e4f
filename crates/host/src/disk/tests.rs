use elephan_units::Bytes;
use proptest::prelude::*;

use super::*;

const MB: u64 = 1_000_000;

fn spec(read_mbps: u64, write_mbps: u64, cache: u64) -> DiskSpec {
    let (read, write) = (Some(Rate(read_mbps * MB)), Some(Rate(write_mbps * MB)));
    DiskSpec { read, write, cache: Bytes(cache), ..DiskSpec::default() }
}

/// 1 MB at 800 Mb/s takes 10 ms; requests queue.
#[test]
fn reads_are_served_in_order() {
    let mut disk = Disk::new(&spec(800, 400, 0));
    assert_eq!(disk.read(Time::ZERO, MB), Time::ZERO + Span::from_ms(10));
    assert_eq!(disk.read(Time::ZERO, MB), Time::ZERO + Span::from_ms(20));
    assert_eq!(disk.read(Time::ZERO + Span::from_ms(50), MB), Time::ZERO + Span::from_ms(60));
}

/// Without a cache a write of 1 MB at 400 Mb/s waits its 20 ms.
#[test]
fn writing_through() {
    let mut disk = Disk::new(&spec(800, 400, 0));
    let at = Time::ZERO + Span::from_ms(20);
    assert_eq!(disk.write(Time::ZERO, MB), Written { cached: at, on_disk: at });
    assert_eq!(disk.cached_bytes(Time::ZERO), 0);
}

/// A cache that is not given has 256 MB: so much is taken at once, 50 MB more when the disk has written 50 MB, a second at 400 Mb/s.
#[test]
fn the_default_cache_takes_256_mb() {
    let words = DiskSpec { cache: DiskSpec::default().cache, ..spec(800, 400, 0) };
    let mut disk = Disk::new(&words);
    assert_eq!(disk.write(Time::ZERO, 256_000_000).cached, Time::ZERO);
    assert_eq!(disk.write(Time::ZERO, 50_000_000).cached, Time::ZERO + Span::from_s(1));
}

/// A writer of 800 Mb/s before a disk of 400 Mb/s and a cache of 100 MB goes on without waiting for C / (N - W) = 100 MB / 50 MB/s =
/// 2 s, and then waits so that it writes at 400 Mb/s.
#[test]
fn a_burst_fills_the_cache_at_the_computed_second() {
    let mut disk = Disk::new(&spec(800, 400, 100 * MB));
    let mut now = Time::ZERO;
    let mut first_wait = None;
    for _ in 0..400 {
        now += Span::from_ms(10);
        let done = disk.write(now, MB);
        if done.cached > now {
            first_wait.get_or_insert(now);
            now = done.cached;
        }
        assert!(disk.cached_bytes(now) <= 100 * MB);
    }
    let full = first_wait.unwrap().seconds();
    assert!((1.98..=2.02).contains(&full), "{full}");
    // 400 MB in all: 200 until 2 s, the rest at 50 MB/s until 6 s, 10 ms of the writer's own at the end.
    assert!((now.seconds() - 6.0).abs() < 0.03, "{}", now.seconds());
    assert_eq!(disk.cached_bytes(Time::ZERO + Span::from_s(100)), 0);
}

/// Half of the full rate where the window takes as long as the latency: 1 ms at 800 Mb/s is 100 kB.
#[test]
fn read_ahead_rule() {
    let with = |window: u64| {
        let words = DiskSpec { read_ahead: Some(Bytes(window)), block: Bytes(4096), ..spec(800, 400, 0) };
        words.read_rate().0
    };
    assert_eq!(with(100_000), 400 * MB);
    assert_eq!(with(300_000), 600 * MB);
    assert_eq!(with(900_000), 720 * MB);
    // Nothing less than a block is asked for: 4096 B are 40.96 us + 1 ms, 31.48 Mb/s.
    assert_eq!(with(1), with(4096));
    assert!((with(4096) as f64 / 31.478e6 - 1.0).abs() < 1e-4);
    assert_eq!(spec(800, 400, 0).read_rate().0, 800 * MB);
}

#[test]
fn measured_points_are_interpolated() {
    let point = |kib: u64, mbps: u64| ReadPoint { read_ahead: Bytes(kib * 1024), rate: Rate(mbps * MB) };
    let mut words = DiskSpec {
        write: Some(Rate(MB)),
        read_points: vec![point(128, 400), point(512, 800), point(2048, 820)],
        ..DiskSpec::default()
    };
    assert_eq!(words.problem(), None);
    let mut with = |kib: Option<u64>| {
        words.read_ahead = kib.map(|k| Bytes(k * 1024));
        words.read_rate().0 / MB
    };
    assert_eq!([with(Some(16)), with(Some(128)), with(Some(256)), with(Some(512))], [400, 400, 600, 800]);
    assert_eq!([with(Some(1024)), with(Some(9999)), with(None)], [810, 820, 820]);
}

#[test]
fn profiles_arrays_and_what_is_given() {
    let named = |name: &str, raid| DiskSpec { profile: Some(name.into()), raid, ..DiskSpec::default() };
    let mut icp = named("icp-66x4", None);
    assert_eq!((icp.problem(), icp.read_rate().0, icp.write_rate().0), (None, 804 * MB, 538 * MB));
    icp.resolve();
    // Its rates are not spelled out: another profile in its place has its own.
    assert_eq!((icp.raid, icp.read, icp.write), (Some(Raid::Raid5), None, None));
    let other = DiskSpec { profile: Some("3ware-ata-66x4".into()), ..icp.clone() };
    assert_eq!((other.read_rate().0, other.write_rate().0), (1066 * MB, 335 * MB));
    let again = icp.clone();
    icp.resolve();
    assert_eq!((icp.problem(), &icp), (None, &again));
    assert_eq!(named("icp-66x4", Some(Raid::Raid0)).write_rate().0, 1202 * MB);
    let own = DiskSpec { write: Some(Rate(7 * MB)), ..named("icp-66x4", None) };
    assert_eq!((own.read_rate().0, own.write_rate().0), (804 * MB, 7 * MB));
    let array = DiskSpec { disks: Some(4), disk_rate: Some(Rate(320 * MB)), ..DiskSpec::default() };
    assert_eq!((array.problem(), array.read_rate().0, array.write_rate().0), (None, 1280 * MB, 1280 * MB));
    let raid5 = DiskSpec { raid: Some(Raid::Raid5), ..array.clone() };
    assert_eq!(raid5.write_rate().0, 960 * MB);
    // Without a cache writes of 64 KiB are not of whole stripes.
    assert_eq!(DiskSpec { cache: Bytes(0), block: Bytes(65_536), ..raid5 }.write_rate().0, 320 * MB);
}

#[test]
fn what_cannot_be() {
    let problem = |words: DiskSpec| words.problem().map(|p| (p.parameter.into_owned(), p.reason)).unwrap();
    let none = DiskSpec::default();
    assert_eq!(problem(none.clone()).1, "give a profile, or read and write, or disks and disk_rate");
    assert_eq!(
        problem(DiskSpec { disks: Some(4), ..none.clone() }).1,
        "an array needs disks and disk_rate; disk_rate is missing"
    );
    assert_eq!(
        problem(DiskSpec { disk_rate: Some(Rate(MB)), ..none.clone() }).1,
        "an array needs disks and disk_rate; disks is missing"
    );
    let two = DiskSpec { disks: Some(2), disk_rate: Some(Rate(MB)), raid: Some(Raid::Raid5), ..none.clone() };
    assert_eq!(problem(two), ("disks".into(), "RAID 5 needs 3 disks at least".into()));
    assert_eq!(problem(DiskSpec { write: Some(Rate(0)), ..spec(8, 4, 0) }).0, "write");
    assert_eq!(problem(DiskSpec { block: Bytes(0), ..spec(8, 4, 0) }).0, "block");
    assert_eq!(problem(DiskSpec { raid: Some(Raid::Raid0), ..spec(8, 4, 0) }).0, "raid");
    assert_eq!(problem(DiskSpec { chunk: Some(Bytes(1)), ..spec(8, 4, 0) }).0, "chunk");
    let named = DiskSpec { profile: Some("icp-66x4".into()), ..none };
    let point = ReadPoint { read_ahead: Bytes(4096), rate: Rate(MB) };
    assert_eq!(problem(DiskSpec { read_points: vec![point], ..named.clone() }).0, "read_points");
    assert_eq!(problem(DiskSpec { disks: Some(2), disk_rate: Some(Rate(MB)), ..named }).0, "disks");
}

proptest! {
    /// However writes come: in order, never more in the cache than it holds, nothing on the disk before its bytes can be, and
    /// a disk with work never idle.
    #[test]
    fn a_cache_holds_what_it_holds(
        writes in proptest::collection::vec((0u64..20_000, 1u64..2_000_000), 1..60), cache in 0u64..5_000_000, mbps in 1u64..3000,
    ) {
        let mut disk = Disk::new(&spec(1, mbps, cache));
        let (mut now, mut busy_until) = (Time::ZERO, Time::ZERO);
        for (gap_us, bytes) in writes {
            now += Span::from_us(gap_us);
            let start = now.max(busy_until);
            let done = disk.write(now, bytes);
            let exact = start.0 as f64 + bytes as f64 * 8e6 / mbps as f64;
            prop_assert!((done.on_disk.0 as f64 - exact).abs() <= exact * 1e-12 + 2.0);
            prop_assert!(done.cached >= now && done.cached <= done.on_disk.max(now));
            prop_assert!(disk.cached_bytes(done.cached) <= cache);
            busy_until = done.on_disk;
            now = done.cached;
        }
    }
}
