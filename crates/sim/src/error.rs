//! Why a run failed.

use std::sync::Arc;

/// One line each.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("no route from {0} to {1}")]
    Unreachable(String, String),
    #[error("more than 4096 shortest paths from {0} to {1}: say ecmp = \"none\", or join the switches by fewer links")]
    ManyPaths(String, String),
    #[error("the shortest paths of all flows have more than {0} links together: say ecmp = \"none\", or fewer flows")]
    ManyPlaces(usize),
    #[error("traffic {0} is what programs send: name them in its programs, or run them by elephan virtual")]
    NoProgram(String),
    #[error("traffic {0} is what programs send, and these do not run here; elephan run and elephan sweep run them")]
    NoProgramHere(String),
    #[error("the run was stopped")]
    Stopped,
    /// A congestion control of the user's raised an error: `cause`, in its own language.
    #[error("{what} failed in flow {flow} at {seconds} s, seed {seed}: {cause}")]
    Guest { what: String, flow: String, seconds: f64, seed: u64, cause: Arc<dyn std::error::Error + Send + Sync> },
    #[error(transparent)]
    Record(#[from] elephan_record::Error),
    #[error(
        "conservation is violated: {0}; this is a defect of the simulator, please report the scenario and its seed"
    )]
    Conservation(String),
}
