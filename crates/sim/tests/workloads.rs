//! Completion times against their closed forms: the ideal of a lone transfer, both ends' views, a closed loop of users.

mod common;

use arrow_array::{Array, Float64Array, Int64Array, StringArray};
use common::{Builder, run};
use elephan_link::{FlowControl, Framing};
use elephan_record::Tables;
use elephan_units::{Rate, Span, Time};
use serde_json::{Value, json};

/// Hosts a and b on either side of a switch, 1 Gb/s and 40 Mb/s, 5 ms there and back: a BDP of 25 kB, below the 64 KiB that a SYN-ACK can offer.
fn path(duration: Span) -> (Builder, u32, u32) {
    let mut b = Builder::new(duration);
    let (a, s, c) = (b.host(), b.switch(None, Span::ZERO, FlowControl::None), b.host());
    b.link(a, s, Rate(1_000_000_000), Span::from_us(500), None);
    b.link(s, c, Rate(40_000_000), Span::from_ms(2), None);
    b.plan.links.iter_mut().for_each(|link| link.framing = Framing::None);
    (b, a, c)
}

/// Nothing that holds back: a window of the whole transfer at once.
fn unlimited() -> Value {
    json!({
        "timestamps": false, "mss": "1210 B", "initial_window": 1000, "receive_window": "8 MiB", "send_buffer": "8 MiB",
        "delayed_ack_segments": 2, "delayed_ack_timeout": "200 ms",
    })
}

fn column(tables: &Tables, name: &str) -> arrow_array::ArrayRef {
    let flows = tables.iter().find(|t| t.name == "flows").unwrap();
    flows.batches[0].column_by_name(name).unwrap().clone()
}

/// A column of the flows as numbers, not a number where it is null.
fn numbers(tables: &Tables, name: &str) -> Vec<f64> {
    let column = column(tables, name);
    let value = |i: usize| match column.as_any().downcast_ref::<Int64Array>() {
        Some(whole) => whole.value(i) as f64,
        None => column.as_any().downcast_ref::<Float64Array>().unwrap().value(i),
    };
    (0..column.len()).map(|i| if column.is_null(i) { f64::NAN } else { value(i) }).collect()
}

fn number(tables: &Tables, name: &str, row: usize) -> f64 {
    numbers(tables, name)[row]
}

/// 200 packets of 1250 B at 40 Mb/s take 50 ms. SYN and SYN-ACK (52 B with MSS, SACK-permitted and window scale) take 0.416
/// and 10.4 us on the two links; a packet 10 us on the fast one. So the ideal is 5 ms + 2 x 10.816 us + 2.5 ms + 10 us + 50 ms.
#[test]
fn a_lone_transfer_without_a_window() {
    let (mut b, a, c) = path(Span::from_s(2));
    let options = b.options("rfc", unlimited());
    b.traffic(json!({ "kind": "bulk", "size": "242 KB" }), &[(a, c)], options);
    let (tables, _) = run(&b.plan, false);
    let ideal = number(&tables, "ideal_fct_ns", 0);
    assert_eq!(ideal, 57_500_000.0 + 21_632.0 + 10_000.0);
    let slowdown = number(&tables, "slowdown", 0);
    // Within the ACK of the handshake, which is 40 B before the data.
    assert!((1.0..1.0002).contains(&slowdown), "{slowdown}");
}

/// The sender learns of the last byte half a round trip later, whether the number of segments is even (200 full ones) or odd
/// (199 and a full one): the last carries the FIN, which no timer for delayed ACKs holds back.
#[test]
fn response_and_the_senders_view() {
    for (size, late_ms) in [("242 KB", 2.5), ("240790 B", 2.5)] {
        let (mut b, a, c) = path(Span::from_s(2));
        let options = b.options("rfc", unlimited());
        b.traffic(
            json!({ "kind": "transfers", "size": size, "arrivals_per_s": 1, "gaps": "fixed" }),
            &[(a, c)],
            options,
        );
        let (tables, summary) = run(&b.plan, false);
        let later = (number(&tables, "sender_fct_ns", 0) - number(&tables, "fct_ns", 0)) / 1e6;
        assert!((later - late_ms).abs() < 0.1, "{size}: {later} ms");
        let of = |what: &str, key: &str| summary[what][key].as_f64().unwrap();
        assert!((of("sender_fct", "mean_s") - of("fct", "mean_s") - later / 1e3).abs() < 1e-4);
        assert_eq!(of("slowdown", "count"), 2.0);
        assert!((1.0..1.0002).contains(&of("slowdown", "max")), "{}", summary["slowdown"]);
    }
}

/// N = X (R + Z), the interactive response time law: exact but for what is under way at both ends of the run.
#[test]
fn users_in_a_closed_loop() {
    const USERS: f64 = 40.0;
    for (think, mean_s, size, saturated) in
        [(json!("1 s"), 1.0, "20 KB", false), (json!({ "exponential": "200 ms" }), 0.2, "100 KB", true)]
    {
        let (mut b, a, c) = path(Span::from_s(60));
        let options = b.options("rfc", json!({ "initial_window": 4 }));
        let kind = json!({ "kind": "users", "size": { "exponential": size }, "think": think, "users": 40 });
        b.traffic(kind, &[(a, c)], options);
        b.plan.warmup = Time::ZERO + Span::from_s(10);
        let (_, summary) = run(&b.plan, false);
        let of = |key: &str| summary["fct"][key].as_f64().unwrap();
        let throughput = of("count") / 50.0;
        let users = throughput * (of("mean_s") + mean_s);
        // Thoughts: thousands of exponential draws, 2 % of a mean that is a third of the cycle; ends of the run: 40 of thousands.
        assert!((users / USERS - 1.0).abs() < 0.02, "{throughput}/s, {} s: {users}", of("mean_s"));
        let utilisation = summary["bottleneck"]["utilisation"].as_f64().unwrap();
        assert!(if saturated { utilisation > 0.9 } else { utilisation < 0.7 }, "{utilisation}");
    }
}

/// User k is on pair k mod pairs, makes one transfer at a time, and a further user shifts nobody's draws.
#[test]
fn users_have_their_own_draws() {
    let sizes = |users: u32| {
        let (mut b, a, c) = path(Span::from_s(20));
        let other = b.host();
        b.link(other, 1, Rate(1_000_000_000), Span::from_ms(1), None);
        let options = b.options("rfc", json!({}));
        let kind = json!({ "kind": "users", "size": { "exponential": "9 KB" }, "think": { "exponential": "1 s" }, "users": users });
        b.traffic(kind, &[(a, c), (other, c)], options);
        let (tables, _) = run(&b.plan, false);
        let source = column(&tables, "source");
        let source = source.as_any().downcast_ref::<StringArray>().unwrap();
        let columns = ["size_bytes", "start_ns", "fct_ns"].map(|name| numbers(&tables, name));
        let of_first: Vec<_> = (0..source.len()).filter(|&i| source.value(i) == "n0").collect();
        let mut free_at = 0.0;
        for &i in &of_first {
            assert!(users > 2 || columns[1][i] > free_at, "two at once");
            free_at = columns[1][i] + columns[2][i];
        }
        let first: Vec<f64> = of_first.iter().map(|&i| columns[0][i]).collect();
        (first, source.len())
    };
    let ((alone, n1), (beside, n2)) = (sizes(1), sizes(2));
    assert_eq!(alone, beside);
    assert!(n1 > 10 && n2 > n1 + 5);
}
