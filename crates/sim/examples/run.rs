//! Runs a scenario file without recording and prints its summary and the wall time of the run, for profiling:
//! `cargo run --release --example run -- FILE [--general] [key=value]...`; with `--general` every port takes the general path.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]
#![allow(clippy::disallowed_methods, reason = "it measures")]

use std::time::Instant;

use elephan_record::Recorder;
use elephan_scenario::{Override, Source, read};
use elephan_sim::Paths;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: run FILE [--general] [key=value]...")?;
    let (flags, overrides): (Vec<String>, Vec<String>) = arguments.partition(|argument| argument == "--general");
    let overrides = overrides.iter().map(|a| Override::parse(a)).collect::<Result<Vec<_>, _>>()?;
    let source = Source::toml(&file, &std::fs::read_to_string(&file)?);
    let resolved = read(&source, &overrides, None)?;
    let before = Instant::now();
    let paths = Paths { general: !flags.is_empty(), eager: false };
    let (summary, _) = elephan_sim::run_on(resolved.plan, Recorder::memory(), paths, &mut |_| true)?;
    let wall = before.elapsed().as_secs_f64();
    println!("{summary:#}");
    let hops = summary["packet_hops"].as_f64().unwrap_or(0.0);
    println!("wall {wall:.4} s, {:.1} ns a packet-hop", wall * 1e9 / hops);
    Ok(())
}
