//! The hunt: a child goes through seeds; when it ends with a finding, the scenario is made smaller and written down, and the next
//! child goes on with the next seed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use elephan_fuzz::{Finding, shrink::shrink};
use serde_json::Value as Json;

use crate::arguments::Arguments;
use crate::report;

/// Findings of one rule that are made smaller and written down; more are only counted.
const OF_ONE_RULE: u32 = 2;
/// Trials and time for making a scenario smaller.
const TRIALS: usize = 600;
const SHRINKING: Duration = Duration::from_secs(180);
/// A child that says nothing for so long is taken for dead: it should have ended itself before.
const SILENCE: Duration = Duration::from_secs(900);

/// What a child had to say in the end.
enum Ended {
    /// It is through.
    Done,
    /// The time is over.
    Stopped,
    Found(Finding),
}

struct Hunt<'a> {
    arguments: &'a Arguments,
    program: PathBuf,
    until: Option<Instant>,
    next: u64,
    left: u64,
    /// Findings by rule.
    found: BTreeMap<String, u32>,
    held: u64,
}

/// Hunts until the cases or the time are over.
pub fn go(arguments: &Arguments) -> io::Result<ExitCode> {
    fs::create_dir_all(&arguments.out)?;
    let mut hunt = Hunt {
        arguments,
        program: std::env::current_exe()?,
        until: arguments.time.map(|time| Instant::now() + time),
        next: arguments.seed,
        left: arguments.cases,
        found: BTreeMap::new(),
        held: 0,
    };
    let expected = hunt.run()?;
    println!("{} cases held, seeds {} to {}", hunt.held, arguments.seed, hunt.next.wrapping_sub(1));
    for (rule, count) in &hunt.found {
        println!("{count} times: {rule}");
    }
    let good = if arguments.expect.is_some() { expected } else { hunt.found.is_empty() };
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Hunt<'_> {
    /// Goes through the seeds; true as soon as the finding that is expected is there.
    fn run(&mut self) -> io::Result<bool> {
        let current = self.arguments.out.join("current.json");
        while self.left > 0 && self.until.is_none_or(|until| Instant::now() < until) {
            match self.worker(&current)? {
                Ended::Done | Ended::Stopped => break,
                Ended::Found(finding) => {
                    let seed = self.next.wrapping_sub(1);
                    println!("seed {seed}: {finding}");
                    self.note(seed, &finding, &current)?;
                    if self.arguments.expect.as_ref().is_some_and(|expected| finding.rule.contains(expected)) {
                        return Ok(true);
                    }
                }
            }
        }
        let _ = fs::remove_file(&current);
        Ok(false)
    }

    /// Lets a child go through seeds until it ends.
    fn worker(&mut self, current: &Path) -> io::Result<Ended> {
        let mut command = Command::new(&self.program);
        command.arg("--worker").arg(current);
        command.args(["--seed", &self.next.to_string(), "--cases", &self.left.to_string()]);
        let until = self.until;
        follow(command, until, &mut |line| {
            if line.starts_with("begin ") {
                self.next = self.next.wrapping_add(1);
                self.left -= 1;
            } else if line.starts_with("held ") {
                self.held += 1;
            }
        })
    }

    /// Counts a finding, and writes it down unless there are enough of its rule.
    fn note(&mut self, seed: u64, finding: &Finding, current: &Path) -> io::Result<()> {
        let count = self.found.entry(finding.rule.clone()).or_default();
        *count += 1;
        if *count > OF_ONE_RULE {
            return Ok(());
        }
        let drawn: Json = serde_json::from_str(&fs::read_to_string(current)?)?;
        let trial = self.arguments.out.join("trial.json");
        let until = Instant::now() + SHRINKING;
        let mut last = finding.clone();
        let small = shrink(drawn.clone(), TRIALS, &mut |smaller| {
            if Instant::now() > until {
                return None;
            }
            let (judged, found) = self.trial(&trial, smaller).ok()?;
            let found = found.filter(|found| found.rule == finding.rule)?;
            last = found;
            Some(judged)
        });
        let _ = fs::remove_file(&trial);
        let file = report::write(&self.arguments.out, seed, &last, &drawn, &small)?;
        println!("seed {seed}: written to {}", file.display());
        Ok(())
    }

    /// Lets a child judge a scenario; the scenario without what the language refuses, and what was found.
    fn trial(&self, file: &Path, scenario: &Json) -> io::Result<(Json, Option<Finding>)> {
        fs::write(file, scenario.to_string())?;
        let mut command = Command::new(&self.program);
        command.arg("--trial").arg(file);
        let found = match follow(command, None, &mut |_| {})? {
            Ended::Found(finding) => Some(finding),
            Ended::Done | Ended::Stopped => None,
        };
        Ok((serde_json::from_str(&fs::read_to_string(file)?)?, found))
    }
}

/// Runs a child to its end and hands on what it says. That it ends without a word, or not at all, is a finding.
fn follow(mut command: Command, until: Option<Instant>, hear: &mut dyn FnMut(&str)) -> io::Result<Ended> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let lines = lines_of(&mut child)?;
    let mut heard = Instant::now();
    loop {
        match lines.recv_timeout(Duration::from_millis(200)) {
            Ok(line) => {
                heard = Instant::now();
                if let Some(words) = line.strip_prefix("found ") {
                    child.wait()?;
                    let (rule, detail) = words.split_once('\t').unwrap_or((words, ""));
                    return Ok(Ended::Found(Finding::new(rule, detail)));
                }
                if line == "done" {
                    child.wait()?;
                    return Ok(Ended::Done);
                }
                hear(&line);
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = child.wait()?;
                return Ok(Ended::Found(Finding::new("the process dies", status.to_string())));
            }
            Err(RecvTimeoutError::Timeout) => {
                let over = until.is_some_and(|until| Instant::now() > until);
                if over || heard.elapsed() > SILENCE {
                    child.kill()?;
                    child.wait()?;
                    let silent = Finding::new("no end in sight", format!("nothing heard for {} s", SILENCE.as_secs()));
                    return Ok(if over { Ended::Stopped } else { Ended::Found(silent) });
                }
            }
        }
    }
}

fn lines_of(child: &mut Child) -> io::Result<Receiver<String>> {
    let output = child.stdout.take().ok_or_else(|| io::Error::other("the child has no output"))?;
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}
