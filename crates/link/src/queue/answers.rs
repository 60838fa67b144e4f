//! What a queue discipline answers about itself. Whoever must know goes by these answers, never by the discipline's name, so that a
//! new discipline is known everywhere as soon as it is in the registry.

use elephan_units::Span;
use serde::Serialize;

use super::{QUEUES, QueueSpec};

/// What routers tell senders that ask them in a congestion header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tells {
    /// By how much the window may change.
    Window,
    /// The fair rate of a flow.
    Rate,
}

/// Which key of a traffic entry a discipline looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reads {
    Priority,
    Weight,
}

/// The answers of one queue, from the keys that it gives. Those of its classes are among them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answers {
    /// Whether it draws anything at random, be it only the hash that spreads flows over queues.
    pub is_random: bool,
    /// Whether it drops only packets that find it full.
    pub is_drop_tail: bool,
    /// Which keys of the traffic it looks at.
    pub reads: Vec<Reads>,
    /// What it tells senders that ask.
    pub tells: Option<Tells>,
    /// Whether a port may have it once for each priority.
    pub once_per_priority: bool,
    /// The key and its time, if it marks what has waited for longer.
    pub marks_after: Option<(&'static str, Span)>,
}

impl Default for Answers {
    fn default() -> Answers {
        Answers {
            is_random: false,
            is_drop_tail: false,
            reads: Vec::new(),
            tells: None,
            once_per_priority: true,
            marks_after: None,
        }
    }
}

impl Answers {
    /// Returns those of a queue whose classes have queues of their own.
    pub(super) fn of_classes<'a>(classes: impl Iterator<Item = &'a QueueSpec>) -> Answers {
        use super::Parameters;
        let inner: Vec<Answers> = classes.map(QueueSpec::answers).collect();
        let mut reads: Vec<Reads> = inner.iter().flat_map(|one| one.reads.clone()).chain([Reads::Priority]).collect();
        reads.sort_unstable();
        reads.dedup();
        Answers {
            is_random: inner.iter().any(|one| one.is_random),
            // Without classes each priority has a FIFO.
            is_drop_tail: inner.iter().all(|one| one.is_drop_tail),
            reads,
            tells: inner.iter().find_map(|one| one.tells),
            once_per_priority: false,
            marks_after: inner.iter().filter_map(|one| one.marks_after).min_by_key(|(_, span)| *span),
        }
    }
}

/// Returns a discipline as people write it, from its line in the registry: `FQ-CoDel` for `fq_codel`.
///
/// ```
/// assert_eq!(elephan_link::queue::title("fq_codel"), Some("FQ-CoDel"));
/// ```
pub fn title(name: &str) -> Option<&'static str> {
    let (_, about) = QUEUES.iter().find(|(known, _)| *known == name)?;
    let end = about.find([':', '(', ',']).unwrap_or(about.len());
    Some(about[..end].trim())
}

#[cfg(test)]
mod tests;
