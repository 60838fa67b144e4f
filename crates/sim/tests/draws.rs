//! What controllers draw by chance.

mod common;

use arrow_array::Int64Array;
use common::{Builder, run};
use elephan_link::FlowControl;
use elephan_units::{Rate, Span, Time};
use serde_json::{Value, json};

/// Bytes that two flows of `cc` deliver that share 20 Mb/s.
fn shares(cc: &Value, seed: u64) -> Vec<i64> {
    let mut b = Builder::new(Span::from_s(8));
    let (left, right) = (b.switch(None, Span::ZERO, FlowControl::None), b.switch(None, Span::ZERO, FlowControl::None));
    b.link(left, right, Rate(20_000_000), Span::from_ms(15), Some("75 KB"));
    let options = b.options("linux", json!({ "congestion_control": cc }));
    for _ in 0..2 {
        let (from, to) = (b.host(), b.host());
        b.link(from, left, Rate(1_000_000_000), Span::from_us(10), None);
        b.link(right, to, Rate(1_000_000_000), Span::from_us(10), None);
        b.traffic(json!({ "kind": "bulk" }), &[(from, to)], options);
    }
    b.plan.seed = seed;
    b.plan.warmup = Time::ZERO + Span::from_s(1);
    let (tables, _) = run(&b.plan, false);
    let flows = &tables.iter().find(|table| table.name == "flows").unwrap().batches[0];
    let delivered = flows.column_by_name("delivered_bytes").unwrap();
    delivered.as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec()
}

/// Linux and the draft draw when BBR probes: repetitions with other seeds are other runs, the same seed is the same run. What is
/// given is not drawn, and nothing else of such a run is.
#[test]
fn bbr_draws_when_it_probes() {
    let wait = json!({ "kind": "bbr3", "probe_wait": "2.5 s", "probe_rounds_over": 0 });
    for (cc, given) in [("bbr", json!({ "kind": "bbr", "phase": 2 })), ("bbr3", wait)] {
        let runs = [1, 2, 3, 1].map(|seed| shares(&json!(cc), seed));
        assert!(runs[0] != runs[1] && runs[0] != runs[2] && runs[1] != runs[2], "{cc}: {runs:?}");
        assert_eq!(runs[0], runs[3]);
        assert_eq!(shares(&given, 1), shares(&given, 2), "{cc}");
    }
}
