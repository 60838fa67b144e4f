use super::*;

const MSS: u64 = 1000;

fn spec(kind: &str) -> Spec {
    serde_json::from_value(serde_json::json!(kind)).unwrap()
}

/// 80 Mb/s of payload and 100 ms: 1000 segments in flight fill the wire.
fn path() -> Path {
    Path { rate_bps: 80e6, rtt_s: 0.1, queue_bytes: 0.0, loss: 0.0, window_bytes: f64::INFINITY, counted: 1.0 }
}

fn start(kind: &str, streams: u32, segments: f64, path: Path) -> Rounds {
    let mut rounds = Rounds::new(&spec(kind), streams, MSS, 10 * MSS, path, 1);
    let cwnd = segments * MSS as f64;
    let shown = [Shown { at: Time::ZERO, acked: 0, repairing: false, rtt: None, cut: false, cwnd, ssthresh: cwnd }];
    (0..streams as usize).for_each(|stream| rounds.follow(stream, &shown));
    rounds
}

/// 100 + 101 + ... + 109 segments in ten round trips; 100 + 100.5 + ... + 104.5 where delayed ACKs are counted.
#[test]
fn reno_adds_a_segment_a_round_trip() {
    for (counted, segments) in [(1.0, 1045.0), (0.5, 1022.5)] {
        let mut rounds = start("reno", 1, 100.0, Path { counted, ..path() });
        let reached = rounds.run(segments * 1000.0, 100);
        assert!((reached.time_s - 1.0).abs() < 1e-3, "{reached:?}");
    }
}

/// In parts as in one: 100 round trips of Reno from 100 segments on carry 100 * 100 + 99 * 100 / 2 of them.
#[test]
fn parts_of_rounds_add_up() {
    let mut rounds = start("reno", 1, 100.0, path());
    let time_s: f64 = (0..37).map(|_| rounds.run(14_950_000.0 / 37.0, 1000).time_s).sum();
    assert!((time_s - 10.0).abs() < 1e-2, "{time_s}");
}

/// Without a queue the window saws between a half and the whole of the pipe: three quarters of the wire. With one of a
/// bandwidth-delay product the wire is always full (Appenzeller et al. 2004).
#[test]
fn renos_sawtooth() {
    for (queue_bytes, share) in [(0.0, 0.75), (1e6, 1.0)] {
        let mut rounds = start("reno", 1, 800.0, Path { queue_bytes, ..path() });
        let reached = rounds.run(f64::INFINITY, 40_000);
        let rate = reached.delivered_bytes * 8.0 / reached.time_s;
        assert!((rate / 80e6 / share - 1.0).abs() < 0.01, "{}", rate / 80e6);
    }
}

/// Far below the wire, of Mathis et al. 1997: sqrt(3/2) / sqrt(p) segments for periodic loss, 1.31 / sqrt(p) for random loss.
#[test]
fn response_to_random_loss() {
    let wide = Path { rate_bps: 1e12, loss: 1e-4, ..path() };
    let reached = start("reno", 1, 100.0, wide).run(f64::INFINITY, 300_000);
    let window = reached.delivered_bytes / MSS as f64 / reached.rounds as f64;
    assert!((1.2247..1.35).contains(&(window * 1e-2)), "{window}");
}

/// At half of the packets lost a stream still carries something, never less than nothing, and goes on for ever.
#[test]
fn heavy_loss_never_ends_a_stream() {
    for (loss, seed) in [(1e-2, 3), (0.1, 1), (0.5, 1), (0.5, 2), (0.9, 1)] {
        let mut rounds = Rounds::new(&spec("reno"), 1, MSS, 10 * MSS, Path { loss, ..path() }, seed);
        for _ in 0..20 {
            let reached = rounds.run(f64::INFINITY, 5000);
            assert!(reached.delivered_bytes > 0.0 && reached.delivered_bytes.is_finite(), "{loss} {reached:?}");
        }
    }
}

/// Streams alike: each has its share, and the wire of many is fuller than that of one.
#[test]
fn streams_share() {
    let mut rounds = start("reno", 4, 200.0, path());
    let reached = rounds.run(f64::INFINITY, 40_000);
    let share = reached.delivered_bytes * 8.0 / reached.time_s / 80e6;
    assert!((0.74..0.95).contains(&share), "{share}");
}

/// A window of 500 segments uses half of the wire, and the congestion window does not grow beyond it.
#[test]
fn windows_bound() {
    let mut rounds = start("cubic", 1, 400.0, Path { window_bytes: 500e3, ..path() });
    let reached = rounds.run(f64::INFINITY, 1000);
    assert!((reached.delivered_bytes * 8.0 / reached.time_s / 40e6 - 1.0).abs() < 0.05);
    assert!(rounds.controllers().all(|cc| cc.window() < 520e3));
}

#[test]
fn congestion_controls_that_pace_probe_or_read_each_delay_are_not_for_rounds() {
    let suits = |kind| start(kind, 1, 10.0, path()).suits();
    assert!(!["bbr", "pcp", "copa"].into_iter().any(suits));
    assert!(["westwood", "vegas", "xcp"].into_iter().all(suits));
}
