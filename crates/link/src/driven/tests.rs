use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000_000;

fn table(text: &str) -> TraceTable {
    TraceTable { text: Some(text.to_owned()), ..TraceTable::default() }
}

fn pace(table: &TraceTable) -> Pace {
    Pace::new(&table.rate().unwrap(), Time(3_600_000 * MS))
}

/// A file with the line `1` is 12 Mb/s in Mahimahi's text, for chances of 1500 bytes.
#[test]
fn one_line_is_twelve_megabits() {
    let text =
        TraceTable { chance: Some(elephan_units::Bytes(1500)), overhead: Some(elephan_units::Bytes(0)), ..table("1") };
    assert_eq!(text.rate().unwrap().mean(), Rate(12_000_000));
    let mut pace = pace(&text);
    let ends: Vec<u64> = (0..3).map(|_| pace.send(Time::ZERO, 1500, 1500).0 / MS).collect();
    assert_eq!(ends, [1, 2, 3]);
}

/// 1500 bytes and 4 of packet information are one chance of 1504; two packets of 748 are one as well, and one of 2000 ends in the next.
#[test]
fn packets_share_chances() {
    let mut pace = pace(&table("5\n5\n9\n10\n"));
    assert_eq!([1500, 748, 748, 2000, 996].map(|bytes| pace.send(Time::ZERO, bytes, bytes).0 / MS), [5, 5, 5, 10, 10]);
    // The next pass begins at 10 ms.
    assert_eq!(pace.send(Time(10 * MS), 1500, 1500).0 / MS, 15);
}

/// What is left of a chance is lost when nothing waits, and who comes in its millisecond is too late.
#[test]
fn an_idle_link_loses_its_chances() {
    let mut pace = pace(&table("1\n2\n3\n"));
    assert_eq!(pace.send(Time::ZERO, 100, 100), Time(MS));
    pace.idle();
    assert_eq!(pace.send(Time(MS), 100, 100), Time(2 * MS));
    pace.idle();
    assert_eq!(pace.send(Time(2 * MS + 1), 100, 100), Time(3 * MS));
    pace.idle();
    assert_eq!(pace.send(Time(1000 * MS), 100, 100), Time(1001 * MS), "333 passes of 3 ms are over at 999 ms");
}

#[test]
fn what_comes_after_the_last_time() {
    for (after, ends) in
        [(After::Repeat, [2, 4, 4, 6]), (After::Hold, [2, 4, 4, 5]), (After::End, [2, 4, 4, 3_600_000])]
    {
        let mut pace = pace(&TraceTable { after, ..table("2\n4\n4\n") });
        assert_eq!([1500; 4].map(|bytes| pace.send(Time::ZERO, bytes, bytes).0 / MS), ends, "{after:?}");
    }
}

/// 10 Mb/s for 1 s, then 20: 12,500 bytes take 10 ms, then 5. A frame that begins 5 ms before the step: 50,000 bits before it, the
/// other 50,000 at 20 Mb/s in 2.5 ms.
#[test]
fn a_step_in_the_middle_of_a_frame() {
    let mut pace = pace(&table("time,rate\n0 s,10 Mbps\n1 s,20 Mbps\n2 s,10 Mbps\n"));
    assert_eq!(pace.send(Time::ZERO, 12_500, 12_500), Time(10 * MS));
    pace.idle();
    assert_eq!(pace.send(Time(995 * MS), 12_500, 12_500), Time(1_002 * MS + MS / 2));
    pace.idle();
    // The next pass begins at 2 s with 10 Mb/s.
    assert_eq!(pace.send(Time(1_995 * MS), 12_500, 12_500), Time(2_000 * MS));
    assert_eq!(pace.send(Time(2_000 * MS), 12_500, 12_500), Time(2_010 * MS));
}

/// From 0 to 10 Mb/s in 1 s, half a megabit in the first 316.2 ms: t^2 x 5 Mbit = 0.5 Mbit.
#[test]
fn a_line_from_nothing() {
    let linear = TraceTable { between: Between::Linear, after: After::Hold, ..table("time_s,rate_mbps\n0,0\n1,10\n") };
    let mut pace = pace(&linear);
    let end = pace.send(Time::ZERO, 62_500, 62_500).0 as f64 / 1e12;
    assert!((end - 0.1_f64.sqrt()).abs() < 1e-9, "{end}");
    let RateTrace::Course(course) = linear.rate().unwrap() else { panic!("a course") };
    assert_eq!((course.at(Time(MS * 250)), course.at(Time(9_000 * MS))), (2.5e6, 10e6));
    assert_eq!(linear.rate().unwrap().mean(), Rate(5_000_000));
}

/// A port that sleeps for any time is where one that counts every chance is.
#[test]
fn a_long_silence_is_skipped() {
    for after in [After::Repeat, After::Hold, After::End] {
        let text = TraceTable { after, ..table("1\n1\n2\n7\n8\n8\n") };
        for ms in 0..200 {
            let mut pace = pace(&text);
            pace.send(Time::ZERO, 10, 10);
            pace.idle();
            let end = pace.send(Time(ms * MS + 5), 10, 10).0 / MS;
            let chances = |ms: u64| match after {
                After::Repeat => [1, 2, 7, 0].contains(&(ms % 8)),
                _ if ms <= 8 => [1, 2, 7, 8].contains(&ms),
                After::Hold => true,
                After::End => false,
            };
            let expected = (ms + 1..ms + 10).find(|&ms| chances(ms)).unwrap_or(3_600_000);
            assert_eq!(end, expected, "{after:?}: {ms} ms");
        }
    }
}

#[test]
fn an_outage_holds_a_frame() {
    let mut pace = pace(&table("time,rate\n0 s,8 Mbps\n1 s,0\n3 s,8 Mbps\n4 s,8 Mbps\n"));
    assert_eq!(pace.send(Time(1_500 * MS), 1000, 1000), Time(3_001 * MS));
}

#[test]
fn delays_and_losses() {
    let text = "time_ms, delay_ms, loss\n0, 20, 0\n15000, 27.5, 1 %\n30000, 20, 0\n";
    let delay = table(text).values(What::Delay).unwrap();
    assert_eq!(
        [0, 14_999, 15_000, 29_999, 30_000].map(|ms| delay.span_at(Time(ms * MS)).0 * 10 / MS),
        [200, 200, 275, 275, 200]
    );
    assert_eq!(table(text).values(What::Loss).unwrap().at(Time(16_000 * MS)), 0.01);
}

#[test]
fn delays_alone_reorder() {
    let steps = TraceTable { reorder: true, ..table("time_s,rate_mbps,delay_ms,loss\n0,5,20,0\n1,5,5,0\n") };
    assert!(steps.values(What::Delay).is_ok());
    let message = |error: Option<TraceError>| error.map(|error| error.message);
    assert_eq!(message(steps.rate().err()).unwrap(), "reorder is of the trace of a delay, not of a rate");
    assert_eq!(message(steps.values(What::Loss).err()).unwrap(), "reorder is of the trace of a delay, not of a loss");
}

#[test]
fn what_is_wrong_has_its_line() {
    for (text, line, message) in [
        ("", 1, "an empty trace"),
        ("5\n\n6\n", 2, "an empty line"),
        ("5\n4\n", 2, "4 ms is before the 5 ms"),
        ("0\n0\n", 2, "the last time is 0 ms"),
        ("5\nfive\n", 2, "\"five\" is no whole number"),
        ("5\n-1\n", 2, "\"-1\" is no whole number"),
        ("time,rat\n", 1, "\"rat\" is no column"),
        ("time,delay\n0 s,1 ms\n", 1, "no column rate"),
        ("time,rate\n", 1, "a head without rows"),
        ("time,rate\n0 s,10\n", 2, "rate \"10\" has no unit"),
        ("time_s,rate_mbps\n0,10\n0,20\n", 3, "not after that of the row before"),
        ("time_s,rate_mbps\n0,10\n1\n", 3, "1 cells, but the head has 2"),
        ("time_s,rate_mbps\n0,10\n1,-5\n", 3, "out of range"),
        ("time_s,rate_mbps\n0,10\n1,nan\n", 3, "\"nan\" is no rate"),
        ("time_s,time,rate\n", 1, "two columns time"),
    ] {
        let error = table(text).rate().unwrap_err();
        assert_eq!((error.line, error.message.contains(message)), (line, true), "{text:?}: {error:?}");
    }
    assert!(table("5\n").values(What::Delay).unwrap_err().message.contains("no delay"));
    let linear = TraceTable { between: Between::Linear, ..table("5\n") };
    assert!(linear.rate().unwrap_err().message.contains("is of CSV"));
}

/// A frame at a time, a microsecond at a time: the naive sum of a rate in steps.
fn naive(rates: &[u64], start_us: u64, bytes: u64) -> u64 {
    // Rates are in Mb/s, which are bits in a microsecond; each holds for a millisecond.
    let (mut now, mut left) = (start_us, 8 * bytes as i64);
    while left > 0 {
        left -= rates[(now / 1000) as usize % rates.len()] as i64;
        now += 1;
    }
    now
}

proptest! {
    /// Frames back to back end where the naive sum of whole microseconds does, and no later than it by more than one.
    #[test]
    fn frames_over_steps(rates in prop::collection::vec(0u64..50, 2..20), start in 0u64..60_000, bytes in 40u64..9000) {
        prop_assume!(rates.iter().any(|&rate| rate > 0));
        let mut text = "time_ms,rate_mbps\n".to_owned();
        rates.iter().enumerate().for_each(|(i, rate)| text += &format!("{i},{rate}\n"));
        text += &format!("{},0\n", rates.len());
        let end = pace(&table(&text)).send(Time(start * MS / 1000), bytes as u32, bytes as u32).0;
        let expected = naive(&rates, start, bytes) * MS / 1000;
        prop_assert!(end <= expected && end + MS / 1000 > expected, "{end} {expected}");
    }

    /// The mean of what is sent back to back for a long time is the mean of the trace.
    #[test]
    fn a_full_link_carries_its_trace(gaps in prop::collection::vec(0u32..20, 1..50)) {
        let mut now = 0;
        let times: Vec<String> = gaps.iter().map(|gap| { now += gap; now.to_string() }).collect();
        prop_assume!(now > 0);
        let trace = TraceTable { overhead: Some(elephan_units::Bytes(0)), ..table(&times.join("\n")) }.rate().unwrap();
        let mut pace = Pace::new(&trace, Time(u64::MAX / 2));
        let (mut end, mut bits) = (Time::ZERO, 0.0);
        while end.0 < 200_000 * MS {
            end = pace.send(end, 1504, 1504);
            bits += 8.0 * 1504.0;
        }
        let capacity = trace.capacity(Time::ZERO, end);
        // Chances at 0 are over before anything can be sent, and the last millisecond may have more.
        let most = 8.0 * 1504.0 * f64::from(u32::try_from(gaps.len()).unwrap());
        prop_assert!((bits - capacity).abs() <= most, "{bits} {capacity}");
    }
}
