//! Whatever a file holds, reading it ends without a panic, and counts no packet twice.

use std::path::{Path, PathBuf};

use elephan_record::{Capture, CapturedPacket, Interface, LinkType, TraceRecorder};
use elephan_trace::{Error, Options, analyze};
use proptest::prelude::*;

/// An Ethernet frame with an IPv4 TCP segment of 1000 bytes of payload, of which none is kept.
fn frame(seq: u32) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend([0x08, 0x00, 0x45, 0, 0x04, 0x10, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend([0x03, 0xE8, 0x07, 0xD0]);
    frame.extend(seq.to_be_bytes());
    frame.extend([0, 0, 0, 9, 0x50, 0x10, 0x10, 0, 0, 0, 0, 0]);
    frame
}

fn write(path: &Path, times_ns: impl Iterator<Item = u64>) {
    let interface = Interface { name: "a".into(), link_type: LinkType::Ethernet, rate_bps: 1_000_000, snap_bytes: 64 };
    let mut capture = Capture::create(path.to_owned(), &[interface], &[]).unwrap();
    for (i, time_ns) in (0..).zip(times_ns) {
        let headers = frame(i * 1000);
        let kept_bytes = headers.len();
        let (direction, packet_bytes) = (None, 1054);
        let (headers, rest_ps) = (&headers, 0);
        capture.push(&CapturedPacket { interface: 0, time_ns, rest_ps, direction, headers, kept_bytes, packet_bytes });
    }
    capture.finish().unwrap();
}

fn written(name: &str, packets: u64) -> (PathBuf, Vec<u8>) {
    let path = std::env::temp_dir().join(format!("elephan-damage-{name}-{}.pcapng", std::process::id()));
    write(&path, (0..packets).map(|i| i * 1000));
    let bytes = std::fs::read(&path).unwrap();
    (path, bytes)
}

fn packets(path: &Path, bytes: &[u8]) -> Result<u64, Error> {
    std::fs::write(path, bytes).unwrap();
    let mut recorder = TraceRecorder::memory();
    analyze(&[path.to_owned()], &Options::default(), &mut recorder, &mut |_| true).map(|summary| summary.packets)
}

#[test]
fn cut_off_at_every_byte() {
    let (path, bytes) = written("cut", 5);
    let counts: Vec<u64> = (28..=bytes.len()).filter_map(|n| packets(&path, &bytes[..n]).ok()).collect();
    std::fs::remove_file(&path).unwrap();
    assert!(counts.is_sorted());
    assert_eq!((counts.first(), counts.last()), (Some(&0), Some(&5)));
}

#[test]
fn clocks_anywhere() {
    let extremes = [0, 1, u64::MAX / 2, u64::MAX - 86_400_000_000_000, u64::MAX - 1000, u64::MAX];
    let path = std::env::temp_dir().join(format!("elephan-damage-clocks-{}.pcapng", std::process::id()));
    for times in extremes.iter().flat_map(|&a| extremes.map(|b| [a, b, a, b, b, b, b, b, b, b, b, b, a])) {
        write(&path, times.into_iter());
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(packets(&path, &bytes).ok(), Some(13), "{times:?}");
    }
    std::fs::remove_file(&path).unwrap();
}

proptest! {
    #[test]
    fn damaged_anywhere(places in prop::collection::vec((0usize..2000, any::<u8>()), 1..20)) {
        let (path, mut bytes) = written("bytes", 12);
        for (place, value) in places {
            let length = bytes.len();
            bytes[place % length] = value;
        }
        let found = packets(&path, &bytes);
        std::fs::remove_file(&path).unwrap();
        prop_assert!(found.is_err() || found.is_ok_and(|packets| packets <= 12));
    }
}
