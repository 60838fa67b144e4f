//! packetdrill's language over the sans-IO endpoint of TCP, in virtual time: no network, no clock, no privileges.
//!
//! A script says which system calls an application makes, which packets arrive, and which packets and results it expects. The
//! endpoint is [`elephan_tcp::Endpoint`] of a stack; the socket layer above it is [`host`], as Linux has it. The verdict is "pass",
//! "differs" with the first line that does not hold, or "cannot run" with what is missing.
//!
//! The rule of this layer: the language is read from its documentation, and nothing passes by accident. What the endpoint or
//! the socket layer does not have is found before the run ([`needs`]).

#![forbid(unsafe_code)]

pub mod command;
mod host;
mod info;
mod live;
mod needs;
pub mod python;
mod run;
pub mod script;
mod setup;
mod symbols;
mod sysctl;
mod verdict;

pub use verdict::Verdict;

use run::Runner;
use script::Event;
use serde::Serialize;
use setup::Setup;
use std::path::Path;
use verdict::Stop;

/// How scripts run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The stack of the endpoint, such as `linux`.
    pub stack: String,
    /// What happened is written down.
    pub trace: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { stack: "linux".to_owned(), trace: false }
    }
}

/// What a script came to.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Simulated time, seconds.
    pub seconds: f64,
    /// What the script's code printed.
    pub printed: String,
    pub trace: Vec<String>,
    /// Packets sent until the end of the script that no line expects.
    #[serde(skip)]
    pub left: Vec<String>,
}

/// What is missing where a script has nothing to run.
pub const NO_LINE: &str = "no line";

impl Report {
    fn of(verdict: Verdict) -> Report {
        Report { verdict, seconds: 0.0, printed: String::new(), trace: Vec::new(), left: Vec::new() }
    }
}

/// Runs the text of a script; `folder` is where the files are that its commands name. `None` if there is no such stack.
pub fn run(text: &str, folder: Option<&Path>, settings: &Settings) -> Option<Report> {
    match script::script(text) {
        Ok(script) => run_script(&script, folder, settings),
        Err(error) => invalid(error),
    }
}

fn invalid(error: script::SyntaxError) -> Option<Report> {
    Some(Report::of(Verdict::Invalid { line: error.line, message: error.message }))
}

/// Runs a script that has been read.
pub fn run_script(script: &script::Script, folder: Option<&Path>, settings: &Settings) -> Option<Report> {
    let mut stack = elephan_tcp::stack(&settings.stack)?;
    let setup = match Setup::of(&script.options) {
        Ok(setup) => setup,
        Err(error) => return invalid(error),
    };
    let mut missing = needs::needs(script, folder);
    missing.extend(setup.missing.clone());
    if let Some((line, _)) = missing.first() {
        let line = *line;
        let missing = missing.into_iter().map(|(_, what)| what).collect();
        return Some(Report::of(Verdict::CannotRun { line, missing }));
    }
    if script.events.is_empty() {
        return Some(Report::of(Verdict::CannotRun { line: 1, missing: vec![NO_LINE.to_owned()] }));
    }
    setup.apply(&mut stack);
    let mut runner = Runner::new(stack, setup, folder, settings.trace);
    let verdict = match runner.run(script) {
        Ok(()) => Verdict::Pass,
        Err(stopped) => match *stopped {
            (Event { line, text: event, .. }, Stop::Differs { expected, got }) => {
                Verdict::Differs { line, event, expected, got }
            }
            (event, Stop::CannotRun(what)) => Verdict::CannotRun { line: event.line, missing: vec![what] },
        },
    };
    let seconds = runner.now().seconds();
    let left = runner.left();
    Some(Report { verdict, seconds, printed: runner.printed, trace: runner.trace.unwrap_or_default(), left })
}
