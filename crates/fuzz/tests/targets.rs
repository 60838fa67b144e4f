//! The entry points of coverage-guided fuzzing with random bytes, and with the inputs in which a fault was found.

use std::fs;
use std::path::Path;

use elephan_fuzz::target;
use elephan_random::Stream;

/// Calls a target with bytes of many lengths, and with what is in the folder of its name.
fn try_all(name: &str, cases: u64, target: fn(&[u8])) {
    let mut random = Stream::new(2026, "fuzz", name);
    for _ in 0..cases {
        let scale = random.between(1, 11);
        let length = random.between(1, 1 << scale);
        let bytes: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
        target(&bytes);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("found").join(name);
    for entry in fs::read_dir(folder).into_iter().flatten() {
        target(&fs::read(entry.unwrap().path()).unwrap());
    }
}

#[test]
fn endpoint() {
    try_all("endpoint", 150, target::endpoint);
}

#[test]
fn queue() {
    try_all("queue", 1000, target::queue);
}

#[test]
fn capture() {
    try_all("capture", 1000, target::capture);
}

/// Random bytes are no text: words of the language, one after the other.
#[test]
fn scenario() {
    const WORDS: &[u8] = b"\"[]{}=.,#\n\n abcdehiklnorstuw0129_-";
    let mut random = Stream::new(2026, "fuzz", "scenario");
    for _ in 0..1000 {
        let mut bytes = vec![random.index(4) as u8];
        bytes.extend((0..random.between(0, 80)).map(|_| WORDS[random.index(WORDS.len() as u64) as usize]));
        target::scenario(&bytes);
    }
    try_all("scenario", 1000, target::scenario);
}
