//! Runs scripts and prints a line for each: `packetdrill [--stack NAME] [--trace] FILE...`.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use elephan_packetdrill::{Settings, Verdict, run};
use std::path::Path;

fn main() {
    let mut settings = Settings::default();
    let mut arguments = std::env::args().skip(1);
    let mut tally = [0; 4];
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--trace" => settings.trace = true,
            "--stack" => settings.stack = arguments.next().unwrap_or_default(),
            file => {
                let Ok(text) = std::fs::read_to_string(file) else { continue };
                let Some(report) = run(&text, Path::new(file).parent(), &settings) else { continue };
                for line in &report.trace {
                    println!("    {line}");
                }
                let place = match &report.verdict {
                    Verdict::Pass => 0,
                    Verdict::Differs { .. } => 1,
                    Verdict::CannotRun { .. } => 2,
                    Verdict::Invalid { .. } => 3,
                };
                tally[place] += 1;
                println!("{file}: {:?}", report.verdict);
            }
        }
    }
    println!("{} pass, {} differ, {} cannot run, {} invalid", tally[0], tally[1], tally[2], tally[3]);
}
