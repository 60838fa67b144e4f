//! What a script's run came to.

use serde::Serialize;

/// Why a run stops before the end of its script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Something happened that the script does not expect.
    Differs { expected: String, got: String },
    /// The script needs what elephan does not have.
    CannotRun(String),
}

impl Stop {
    pub fn differs(expected: impl Into<String>, got: impl Into<String>) -> Stop {
        Stop::Differs { expected: expected.into(), got: got.into() }
    }
}

/// The verdict of a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    Pass,
    /// The first line at which what happened is not what the script expects.
    Differs {
        line: u32,
        event: String,
        expected: String,
        got: String,
    },
    /// What elephan does not have, with the first line that needs it.
    CannotRun {
        line: u32,
        missing: Vec<String>,
    },
    /// The text is no script.
    Invalid {
        line: u32,
        message: String,
    },
}

impl Verdict {
    /// One word.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Differs { .. } => "differs",
            Verdict::CannotRun { .. } => "cannot-run",
            Verdict::Invalid { .. } => "invalid",
        }
    }
}
