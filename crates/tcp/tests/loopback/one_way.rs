//! One-way delays by timestamps (RFC 7323), on a path of 30 ms there and 100 ms back, with a clock of a tick a millisecond.

use crate::common::*;
use elephan_tcp::Overrides;
use elephan_units::Span;

/// Smallest and largest delay that TCP-LP was told while 40 segments were sent of which the 5th was lost once.
fn extremes(delay: &str, timestamps: bool) -> [f64; 2] {
    let table = serde_json::json!({ "delay": delay });
    let cc = elephan_cc::Spec::with("lp", table.as_object().unwrap()).unwrap();
    let o = Overrides {
        congestion_control: Some(cc),
        timestamps: Some(timestamps),
        delayed_ack_segments: Some(1),
        ..plain()
    };
    let o = options("rfc", &Overrides { timestamp_granularity: Some(Span::from_ms(1)), ..o });
    let mut data = 0;
    let policy = move |s: &Sighting, _: u64| {
        if s.way == Way::Back {
            return vec![Span::from_ms(100)];
        }
        data += u64::from(s.seg.len > 0);
        if s.seg.len > 0 && data == 5 { vec![] } else { vec![Span::from_ms(30)] }
    };
    let mut net = Net::new(&o, &o, Box::new(policy));
    net.open_a();
    net.a.supply(40_000);
    net.run_until(|net| net.a.acked() == 40_000);
    assert!(net.a.stats(net.now).segs_retrans > 0);
    ["delay_min", "delay_max"].map(|name| net.a.controller().observe().into_iter().find(|(n, _)| *n == name).unwrap().1)
}

/// 30 ms and a tick, or the 130 ms of the round trip; the duplicate ACKs of the loss, which echo what came long before, say nothing.
#[test]
fn a_congestion_control_is_told_the_delay_of_the_way_there() {
    assert_eq!(extremes("one-way", true), [0.031, 0.031]);
    for (delay, timestamps) in [("one-way", false), ("round-trip", true), ("round-trip", false)] {
        assert_eq!(extremes(delay, timestamps), [0.13, 0.13], "{delay}, {timestamps}");
    }
}
