use elephan_units::PS_PER_S;

use super::*;
use crate::Kind;

fn kind(trace: &str) -> Kind {
    serde_json::from_value(serde_json::json!({ "kind": "replay", "trace": trace })).unwrap()
}

fn offers(trace: &str, pairs: u64) -> Vec<(u64, u64, u64)> {
    let kind = kind(trace);
    assert_eq!((kind.validate(), kind.carrier()), (Ok(()), Carrier::Transfers));
    assert_eq!(kind.check_pairs(pairs), Ok(()));
    let mut source = kind.source(&Setting {
        part: crate::Part::Whole,
        stream: &|p| Stream::new(4, "replay", p),
        pairs,
        wire_bytes: &|b| b,
        full_wire_bytes: 1538,
        rate: elephan_units::Rate(10_000_000_000),
        lasts: Span::MAX,
    });
    let mut now = 0;
    std::iter::from_fn(|| source.next_offer())
        .map(|o| {
            now += o.gap.0;
            (now, o.bytes, o.pair)
        })
        .collect()
}

/// Lines in any order and columns in any order; what the trace says is what starts, to the picosecond.
#[test]
fn as_written() {
    let found = offers("pair, size_bytes, start_ms\n1,3000,2.5\n0,1,0\n\n# later\n1,70000,1000000\n", 2);
    assert_eq!(found, [(0, 1, 0), (2_500_000_000, 3000, 1), (1000 * PS_PER_S, 70_000, 1)]);
    let found = offers("\u{feff}\"start_ns\",\"size_bytes\",\"pair\"\r\n123456789012345,10,0\r\n", 1);
    assert_eq!(found, [(123_456_789_012_345_000, 10, 0)]);
    assert_eq!(offers("start_s,size_bytes,pair\n1e-6,5,0\n", 1), [(1_000_000, 5, 0)]);
}

/// Flows of one instant keep their order, 1 ps apart; the next start does not move.
#[test]
fn at_one_instant() {
    let found = offers("start_us,size_bytes,pair\n5,1,0\n5,2,0\n5,3,0\n6,4,0\n", 1);
    assert_eq!(found, [(5_000_000, 1, 0), (5_000_001, 2, 0), (5_000_002, 3, 0), (6_000_000, 4, 0)]);
}

/// Without the column every pair is as likely: 4000 flows over 4 pairs, 1000 each within 4 standard errors (27).
#[test]
fn random_pairs() {
    let text: String = (0..4000).map(|i| format!("{i},100\n")).collect();
    let mut hits = [0i32; 4];
    offers(&format!("start_ms,size_bytes\n{text}"), 4).iter().for_each(|o| hits[o.2 as usize] += 1);
    assert!(hits.iter().all(|h| (h - 1000).abs() < 110), "{hits:?}");
}

#[test]
fn refused() {
    for (text, error) in [
        ("", "trace: line 1: no header; the columns are start_s (or start_ms, start_us, start_ns), size_bytes, pair"),
        ("start_s,size_bytes\n# none\n", "trace: line 1: no flow after the header"),
        (
            "start_s,bytes\n0,1\n",
            "trace: line 1: no column is called \"bytes\"; they are start_s (or start_ms, start_us, start_ns), size_bytes, pair",
        ),
        ("start_s\n0\n", "trace: line 1: no column size_bytes"),
        ("size_bytes\n7\n", "trace: line 1: no column start_s (or start_ms, start_us, start_ns)"),
        ("start_s,start_ms,size_bytes\n0,0,7\n", "trace: line 1: start_ms: a second column for the same"),
        ("start_s,size_bytes\n0,1\n0.1\n", "trace: line 3: 1 values under 2 columns"),
        ("start_s,size_bytes\n\n0,1.5\n", "trace: line 3: size_bytes: \"1.5\" is not a whole number from 0"),
        ("start_s,size_bytes\n0,0\n", "trace: line 2: size_bytes: 0 is not from 1 to 2^53"),
        ("start_s,size_bytes\n-1,5\n", "trace: line 2: start: \"-1\" is not a time from 0"),
        ("start_s,size_bytes\nnan,5\n", "trace: line 2: start: \"nan\" is not a time from 0"),
        ("start_s,size_bytes\n99999999,5\n", "trace: line 2: start: 99999999 is beyond 210 days"),
        ("start_s,size_bytes,pair\n0,5,a\n", "trace: line 2: pair: \"a\" is not a whole number from 0"),
    ] {
        assert_eq!(kind(text).validate().unwrap_err().to_string(), error);
    }
    let error = kind("start_s,size_bytes,pair\n0,5,1\n1,5,2\n").check_pairs(2).unwrap_err().to_string();
    assert_eq!(error, "trace: line 3: pair: 2 is not one of the 2 pairs, counted from 0");
    for given in
        [serde_json::json!({"kind": "replay"}), serde_json::json!({"kind": "replay", "file": "a", "trace": "b"})]
    {
        let kind: Kind = serde_json::from_value(given).unwrap();
        assert_eq!(kind.validate().unwrap_err().to_string(), ": a replay needs exactly one of file, trace");
    }
}
