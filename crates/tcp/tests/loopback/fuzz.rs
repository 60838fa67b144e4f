//! Segments that no peer would send: nothing panics, nothing is delivered that did not arrive, the counters stay sane.

use crate::common::*;
use elephan_tcp::{Flags, Overrides, SackBlocks, Segment, State};
use elephan_units::Span;
use proptest::prelude::*;

/// A field near one that would be right.
fn near() -> impl Strategy<Value = u32> {
    prop_oneof![
        6 => (0u32..20_000).prop_map(|d| d),
        2 => (0u32..20_000).prop_map(|d| d.wrapping_neg()),
        1 => any::<u32>(),
    ]
}

fn forged() -> impl Strategy<Value = (Segment, SackBlocks)> {
    let numbers = (near(), near(), prop_oneof![3 => Just(0u32), 3 => 1u32..3000, 1 => any::<u32>()]);
    let rest = (any::<u16>(), any::<u8>(), 0u8..=4, any::<u8>(), any::<u32>(), any::<u32>());
    let blocks = prop::array::uniform4((near(), near()));
    (numbers, rest, blocks).prop_map(|((seq, ack, len), (window, flags, sack_len, options, tsval, tsecr), blocks)| {
        // RST ends everything at once: leave it to its own test.
        let flags = Flags(flags & !Flags::RST.0 | if flags & 0x20 == 0 { Flags::ACK.0 } else { 0 });
        let segment = Segment {
            seq,
            ack,
            len,
            tsval,
            tsecr,
            window,
            mss: window,
            flags,
            sack_len,
            options,
            ..Default::default()
        };
        (segment, blocks)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn forged_segments(
        segments in prop::collection::vec(forged(), 1..60), timestamps in any::<bool>(), sack in any::<bool>(), early in any::<bool>(),
        detection in detections()
    ) {
        let overrides = Overrides { timestamps: Some(timestamps), sack: Some(sack), ..detection };
        let o = options("rfc", &overrides);
        let mut net = Net::with_isns(&o, &o, Box::new(|_, _| vec![DELAY]), 0, 0);
        if early {
            net.a.connect(net.now);
        } else {
            net.open();
        }
        net.a.supply(1_000_000);
        let mut offered = 0u64;
        for (seg, blocks) in &segments {
            offered += u64::from(seg.len);
            net.a.on_segment(net.now, seg, blocks);
            let (mut out, mut sack) = (Segment::default(), SackBlocks::default());
            for _ in 0..200 {
                if !net.a.poll_transmit(net.now, &mut out, &mut sack) {
                    break;
                }
                prop_assert!(out.header_bytes() <= 60 && out.len <= 65_535);
            }
            net.now += Span::from_ms(30);
            net.a.on_timer(net.now);
            prop_assert!(net.a.received() <= offered + 60);
            prop_assert!(net.a.acked() <= 1_000_000 && net.a.inflight() <= 1_000_002);
            prop_assert!(net.a.controller().window() >= 88.0 - 12.0);
        }
        prop_assert!(net.a.state() != State::Listen);
    }
}
