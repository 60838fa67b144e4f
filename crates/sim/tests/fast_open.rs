//! TCP Fast Open in a network: what repeated short transfers gain by it, and what stacks allow.

mod common;

use arrow_array::{Array, Int64Array};
use common::{Builder, run};
use elephan_link::{FlowControl, Loss};
use elephan_record::Tables;
use elephan_units::{Rate, Span};
use serde_json::{Value, json};

const GIG: Rate = Rate(1_000_000_000);

/// One transfer of 500 bytes every 200 ms for 2 s over 1 Gb/s and 10 ms each way.
fn transfers(stack: &str, tcp: Value, fast: bool, loss: Loss) -> Tables {
    let mut b = Builder::new(Span::from_s(2));
    let (client, switch, server) = (b.host(), b.switch(None, Span::ZERO, FlowControl::None), b.host());
    b.link(client, switch, GIG, Span::ZERO, None);
    b.link(switch, server, GIG, Span::from_ms(10), None);
    b.plan.links[2].loss = loss;
    let options = b.options(stack, tcp);
    let kind = json!({ "kind": "transfers", "size": "500 B", "arrivals_per_s": 5.0, "gaps": "fixed" });
    b.traffic(kind, &[(client, server)], options);
    b.plan.traffic[0].fast_open = fast;
    run(&b.plan, false).0
}

/// From the start of each transfer to its last byte, us; alone in the network no transfer is faster than the ideal.
fn times_us(tables: &Tables) -> Vec<i64> {
    let (fct, ideal) = (times_ns(tables, "fct_ns"), times_ns(tables, "ideal_fct_ns"));
    assert!(ideal.iter().zip(&fct).all(|(ideal, fct)| ideal <= fct), "{ideal:?} {fct:?}");
    fct.into_iter().map(|ns| ns / 1000).collect()
}

fn times_ns(tables: &Tables, name: &str) -> Vec<i64> {
    let flows = tables.iter().find(|t| t.name == "flows").unwrap();
    let column = |name: &str| -> Vec<i64> {
        let values = |batch: &arrow_array::RecordBatch| {
            let column = batch.column_by_name(name).unwrap().as_any().downcast_ref::<Int64Array>().unwrap();
            column.iter().map(|value| value.unwrap_or(-1)).collect::<Vec<_>>()
        };
        flows.batches.iter().flat_map(values).collect()
    };
    let mut times: Vec<(i64, i64)> = column("start_ns").into_iter().zip(column(name)).collect();
    times.sort_unstable();
    times.into_iter().filter(|(_, fct)| *fct >= 0).map(|(_, fct)| fct).collect()
}

/// RFC 7413 section 1: one round trip less. Data is there after one and a half round trips of 20 ms without Fast Open and for the first
/// connection, which earns the cookie; after half a round trip for every other. Sending takes less than 20 us: some 800 bytes over two links at
/// 8 ns a byte.
#[test]
fn repeated_transfers_gain_one_round_trip() {
    let without = times_us(&transfers("rfc", json!({}), false, Loss::None));
    let with = times_us(&transfers("rfc", json!({}), true, Loss::None));
    assert_eq!(without.len(), with.len());
    assert!(without.len() >= 9, "{without:?}");
    assert!(without.iter().all(|us| (30_000..30_020).contains(us)), "{without:?}");
    assert!((30_000..30_020).contains(&with[0]), "{with:?}");
    assert!(with[1..].iter().all(|us| (10_000..10_020).contains(us)), "{with:?}");
}

/// Linux allows clients alone (`tcp_fastopen` 1): nothing is gained before the server's host allows it too.
#[test]
fn both_hosts_must_allow_it() {
    let default = times_us(&transfers("linux", json!({}), true, Loss::None));
    assert!(default.iter().all(|us| (30_000..30_020).contains(us)), "{default:?}");
    let both = times_us(&transfers("linux", json!({ "fast_open": "both" }), true, Loss::None));
    assert!(both[1..].iter().all(|us| (10_000..10_020).contains(us)), "{both:?}");
    let server = times_us(&transfers("linux", json!({ "fast_open": "server" }), true, Loss::None));
    assert_eq!(server, default);
}

/// A lost SYN costs its timeout and the data of it goes after the handshake: every transfer is complete, with half of the packets of one
/// way lost.
#[test]
fn lost_syns_lose_no_data() {
    let tables = transfers("linux", json!({ "fast_open": "both" }), true, Loss::Periodic(2));
    assert!(times_us(&tables).len() >= 5);
}
