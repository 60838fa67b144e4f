//! A broken rule.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// A rule that was broken. Two findings with the same rule are taken for the same fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule, without any value of the scenario in it; of a panic, its place.
    pub rule: String,
    /// What exactly was seen, on one line.
    pub detail: String,
}

/// Characters of a detail that are kept.
const DETAIL: usize = 400;

impl Finding {
    pub fn new(rule: impl Into<String>, detail: impl Into<String>) -> Finding {
        let one_line = |c: char| if c.is_control() { ' ' } else { c };
        Finding { rule: rule.into(), detail: detail.into().chars().map(one_line).take(DETAIL).collect() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.detail)
    }
}

thread_local! {
    static LAST_PANIC: RefCell<Option<Finding>> = const { RefCell::new(None) };
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `work`; a panic in it becomes a finding whose rule names the line that panicked.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Finding>) -> Result<T, Finding> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                return before(info);
            }
            let place = info.location().map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()));
            let payload = info.payload();
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or_default();
            let finding = Finding::new(format!("panic at {place}"), text);
            LAST_PANIC.with(|last| *last.borrow_mut() = Some(finding));
        }));
    });
    IS_GUARDED.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(false);
    outcome.unwrap_or_else(|_| {
        let last = LAST_PANIC.with(|last| last.borrow_mut().take());
        Err(last.unwrap_or_else(|| Finding::new("panic", "at an unknown place")))
    })
}
