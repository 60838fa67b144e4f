//! A port whose rate or delay follows a trace: `elephan_link::driven` has the words.

use std::sync::Arc;

use elephan_link::driven::{Course, Driven, Pace};
use elephan_units::{Span, Time};

/// What of a port follows a trace.
#[derive(Clone)]
pub struct DrivenPort {
    pub pace: Option<Pace>,
    pub delay: Option<Arc<Course>>,
}

/// A transmission that never ends is said to end so long after the end of the run.
const NEVER_AFTER: Span = Span::from_s(1);

impl DrivenPort {
    pub fn of(words: &Driven, end: Time) -> Option<Box<DrivenPort>> {
        let pace = words.rate.as_ref().map(|trace| Pace::new(trace, end.saturating_add(NEVER_AFTER)));
        let delay = words.delay.clone();
        (pace.is_some() || delay.is_some()).then(|| Box::new(DrivenPort { pace, delay }))
    }
}
