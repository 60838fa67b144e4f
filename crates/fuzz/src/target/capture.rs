//! Any bytes as a capture.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use elephan_record::TraceRecorder;
use elephan_trace::{Error, Options, Vantage, analyze};

use super::input::Input;
use crate::rules;

/// Link types of captures: null, Ethernet, raw IP, loopback, Linux cooked, and one that nobody knows.
const LINK_TYPES: [u32; 7] = [0, 1, 101, 108, 113, 276, 77];

/// Reads a capture. It is a file as it stands, or a well-formed pcap file whose frames are made of the bytes. Reading ends without
/// a panic, each packet is counted once, and no table has an infinite number.
pub fn capture(bytes: &[u8]) {
    // The reader wants a file. It is the process's own, and used again and again.
    static FILE: LazyLock<PathBuf> =
        LazyLock::new(|| std::env::temp_dir().join(format!("elephan-fuzz-{}.pcap", std::process::id())));
    let mut input = Input::new(bytes);
    let how = input.u8();
    let every_ns = [None, Some(1), Some(1_000_000)][usize::from(how >> 4 & 3).min(2)];
    let vantage =
        [None, Some(Vantage::Sender), Some(Vantage::Receiver), Some(Vantage::Between)][usize::from(how >> 2 & 3)];
    let options = Options { every_ns, vantage, ..Options::default() };
    let text = if how & 1 == 0 { input.rest().to_vec() } else { framed(&mut input) };
    if fs::write(&*FILE, &text).is_err() {
        return;
    }
    let mut recorder = TraceRecorder::memory();
    match analyze(std::slice::from_ref(&FILE), &options, &mut recorder, &mut |_| true) {
        Ok(summary) => {
            let told = summary.tcp_segments + summary.udp_datagrams + summary.other;
            assert_eq!(told, summary.packets, "{summary:?}");
            assert!(summary.notes.iter().all(|note| !note.chars().any(char::is_control)), "{:?}", summary.notes);
        }
        Err(Error::Input(line)) => assert!(!line.chars().any(char::is_control), "{line:?}"),
        Err(error) => panic!("{error}"),
    }
    let tables = recorder.finish().unwrap_or_default();
    if let Some(finding) = tables.iter().find_map(|table| rules::finite(table).err()) {
        panic!("{finding}");
    }
}

/// Returns a pcap file with the frames that the bytes say: length, time since the last, data.
fn framed(input: &mut Input) -> Vec<u8> {
    let link_type = LINK_TYPES[input.below(LINK_TYPES.len())];
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, link_type] {
        file.extend(u32::to_le_bytes(word));
    }
    let mut time_us = 0u64;
    while !input.is_empty() {
        let kept = input.u8();
        time_us = (time_us + input.any_scale() % 100_000_000) % (1 << 50);
        let more = u32::from(input.u8() & 0x0f) * 100;
        let data = input.take(usize::from(kept));
        let length = data.len() as u32;
        for word in [(time_us / 1_000_000) as u32, (time_us % 1_000_000) as u32, length, length + more] {
            file.extend(word.to_le_bytes());
        }
        file.extend(data);
    }
    file
}
