//! Runs a scenario file without recording and prints its summary and the wall time of the run, for profiling:
//! `cargo run --release --example run -- FILE [key=value]...`

use std::time::Instant;

use elephan_record::Recorder;
use elephan_scenario::{Override, Source, read};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: run FILE [key=value]...")?;
    let overrides = arguments.map(|a| Override::parse(&a)).collect::<Result<Vec<_>, _>>()?;
    let source = Source::toml(&file, &std::fs::read_to_string(&file)?);
    let resolved = read(&source, &overrides, None)?;
    let mut recorder = Recorder::memory();
    let before = Instant::now();
    let summary = elephan_sim::run(&resolved.plan, &mut recorder, &mut |_| true)?;
    let wall = before.elapsed().as_secs_f64();
    println!("{summary:#}");
    let hops = summary["packet_hops"].as_f64().unwrap_or(0.0);
    println!("wall {wall:.4} s, {:.1} ns a packet-hop", wall * 1e9 / hops);
    Ok(())
}
