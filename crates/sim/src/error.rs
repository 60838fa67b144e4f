//! Why a run failed.

/// One line each.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no route from {0} to {1}")]
    Unreachable(String, String),
    #[error("the run was stopped")]
    Stopped,
    #[error(transparent)]
    Record(#[from] elephan_record::Error),
    #[error(
        "conservation is violated: {0}; this is a defect of the simulator, please report the scenario and its seed"
    )]
    Conservation(String),
}
