//! Additive increase, multiplicative decrease, as a program for elephan: rustc -O aimd.rs
//!
//! elephan writes a line of JSON for each call and reads a line of JSON as the answer. docs/programs.md has the protocol.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

/// Returns what stands behind a key of a line.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let word = format!("\"{key}\":");
    let rest = &line[line.find(&word)? + word.len()..];
    rest.split([',', '}']).next()
}

/// Returns the number behind a key; nothing if the key is not in the line or has the value null.
fn number(line: &str, key: &str) -> Option<f64> {
    value(line, key)?.parse().ok()
}

fn main() -> io::Result<()> {
    let (mut increase, mut decrease) = (1.0, 0.5); // segments a round trip; what a cut leaves of the window
    let mut cuts: HashMap<u64, u32> = HashMap::new(); // of each connection
    let mut out = io::stdout().lock();

    for line in io::stdin().lock().lines() {
        let line = line?;
        let n = value(&line, "n").unwrap_or("0");
        let (mss, cwnd) = (number(&line, "mss").unwrap_or(0.0), number(&line, "cwnd").unwrap_or(0.0));
        match value(&line, "call") {
            Some("\"hello\"") => {
                increase = number(&line, "increase").unwrap_or(increase);
                decrease = number(&line, "decrease").unwrap_or(decrease);
                let calls = r#"["on_ack","on_congestion"]"#;
                writeln!(out, r#"{{"n":{n},"protocol":1,"calls":{calls},"states":["cuts"]}}"#)?;
            }
            Some("\"on_ack\"") => {
                let mut after = cwnd;
                if value(&line, "app_limited") == Some("false") {
                    after += increase * mss * number(&line, "acked").unwrap_or(0.0).min(cwnd) / cwnd;
                }
                writeln!(out, r#"{{"n":{n},"cwnd":{after}}}"#)?;
            }
            _ => {
                let id = number(&line, "id").unwrap_or(0.0) as u64;
                let ssthresh = (decrease * cwnd.min(number(&line, "inflight").unwrap_or(0.0))).max(2.0 * mss);
                let after = if value(&line, "kind") == Some("\"rto\"") { mss } else { ssthresh };
                let count = cuts.entry(id).or_default();
                *count += 1;
                writeln!(out, r#"{{"n":{n},"cwnd":{after},"ssthresh":{ssthresh},"cuts":{count}}}"#)?;
            }
        }
        out.flush()?;
    }
    Ok(())
}
