//! What keeps a specification from running.

/// Why a specification cannot run: one line, and the key it is about (`"size.pareto.shape"`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct Invalid {
    /// Path below the traffic entry; empty if it is about several keys.
    pub key: String,
    pub message: String,
}

impl Invalid {
    pub(crate) fn new(key: impl Into<String>, message: impl Into<String>) -> Invalid {
        Invalid { key: key.into(), message: message.into() }
    }
}
