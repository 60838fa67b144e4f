//! Stops long work from outside.
//!
//! Work that may take long (a loop over all hosts, flows, routes, rows) calls [`look`] as it goes. When another thread raises its flag,
//! or a callback asks to stop, the next look leaves the work by unwinding up to [`stoppable`]. A look never changes what is computed. It
//! costs a read of two flags and, once in a while, of the clock.
//!
//! Work also ends when memory is short: the owner of the allocator says so through [`set_memory_short`].
//!
//! ```
//! use std::sync::{Arc, atomic::AtomicBool};
//! use elephan_units::stop::{Stopped, look, stoppable};
//!
//! let flag = Arc::new(AtomicBool::new(true));
//! let work = || loop { look() };
//! assert_eq!(stoppable(&flag, None, work), Err::<(), _>(Stopped));
//! ```

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The error of work that was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// A callback that the thread of the work calls now and then. It returns whether to go on.
pub type Ask = Box<dyn FnMut() -> bool>;

/// Who watches is asked at most so often.
const BETWEEN_ASKS: Duration = Duration::from_millis(50);
/// Looks between two looks at the clock.
const LOOKS: u32 = 64;

/// What the work of this thread looks at.
struct Watch {
    flag: Arc<AtomicBool>,
    ask: Option<Ask>,
    asked: Instant,
    looks: u32,
}

impl Watch {
    fn raised(&self) -> bool {
        self.flag.load(Ordering::Relaxed) || memory_is_short()
    }
}

/// Whether an allocation has failed, so that all work has to end. Of the whole process.
static MEMORY_SHORT: AtomicBool = AtomicBool::new(false);

/// Tells all work that it has to end for want of memory, or that memory is there again.
pub fn set_memory_short(short: bool) {
    MEMORY_SHORT.store(short, Ordering::Relaxed);
}

/// Returns whether an allocation has failed since memory was last there.
#[inline]
pub fn memory_is_short() -> bool {
    MEMORY_SHORT.load(Ordering::Relaxed)
}

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// The wall clock, by which a caller waits; no result depends on it.
#[expect(clippy::disallowed_methods, reason = "no result depends on it")]
fn wall_clock() -> Instant {
    Instant::now()
}

/// Restores the watch of before, however the work ends.
struct Before(Option<Watch>);

impl Drop for Before {
    fn drop(&mut self) {
        WATCH.replace(self.0.take());
    }
}

/// Runs `work` and returns its value, or [`Stopped`] if a look found `flag` raised or `ask` said so. What `work` owns is dropped then.
pub fn stoppable<T>(flag: &Arc<AtomicBool>, ask: Option<Ask>, work: impl FnOnce() -> T) -> Result<T, Stopped> {
    let watch = Watch { flag: flag.clone(), ask, asked: wall_clock(), looks: 0 };
    let _before = Before(WATCH.replace(Some(watch)));
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => Ok(done),
        Err(payload) if payload.is::<Stopped>() => Err(Stopped),
        Err(payload) => panic::resume_unwind(payload),
    }
}

/// Runs `work` so that no look can leave it by unwinding. Use it for a call that comes from another language.
pub fn unwatched<T>(work: impl FnOnce() -> T) -> T {
    let _before = Before(WATCH.replace(None));
    work()
}

/// Leaves the work of [`stoppable`] if its flag is raised; does nothing outside of it.
#[inline]
pub fn look() {
    let due = WATCH.with_borrow_mut(|watch| {
        let Some(watch) = watch else { return false };
        watch.looks += 1;
        watch.raised() || (watch.looks.is_multiple_of(LOOKS) && watch.ask.is_some())
    });
    if due {
        ask();
    }
}

#[cold]
fn ask() {
    let ask = WATCH.with_borrow_mut(|watch| {
        let watch = watch.as_mut().filter(|watch| watch.asked.elapsed() >= BETWEEN_ASKS)?;
        watch.asked = wall_clock();
        watch.ask.take()
    });
    // Who is asked may do such work too, so that the watch is not held meanwhile.
    let stop = ask.is_some_and(|mut ask| {
        let stop = !ask();
        WATCH.with_borrow_mut(|watch| {
            if let Some(watch) = watch {
                watch.ask = Some(ask);
            }
        });
        stop
    });
    if stop || WATCH.with_borrow(|watch| watch.as_ref().is_some_and(Watch::raised)) {
        panic::resume_unwind(Box::new(Stopped));
    }
}

/// Looks at every 1024th call: for loops of a few instructions a turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seldom(u32);

impl Seldom {
    #[inline]
    pub fn look(&mut self) {
        self.0 = self.0.wrapping_add(1);
        if self.0.is_multiple_of(1024) {
            look();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag(raised: bool) -> Arc<AtomicBool> {
        Arc::new(AtomicBool::new(raised))
    }

    #[test]
    fn a_raised_flag_ends_the_work_at_its_next_look() {
        let flag = flag(false);
        assert_eq!(stoppable(&flag, None, || (0..5).inspect(|_| look()).sum::<u32>()), Ok(10));
        let mut turns = 0;
        let outcome = stoppable(&flag, None, || {
            for turn in 0.. {
                look();
                turns = turn;
                flag.store(turn == 3, Ordering::Relaxed);
            }
        });
        assert_eq!((outcome, turns), (Err(Stopped), 3));
        // Outside of the work nothing is looked at.
        look();
    }

    #[test]
    fn who_watches_is_asked_by_the_clock() {
        let begin = wall_clock();
        let outcome = stoppable(&flag(false), Some(Box::new(|| false)), || {
            loop {
                look();
            }
        });
        assert_eq!(outcome, Err::<(), _>(Stopped));
        assert!(begin.elapsed() >= BETWEEN_ASKS);
    }

    #[test]
    fn work_within_work_has_its_own_flag() {
        let outcome = stoppable(&flag(false), None, || {
            let stopped = stoppable(&flag(true), None, look);
            look();
            stopped
        });
        assert_eq!(outcome, Ok(Err(Stopped)));
    }

    #[test]
    fn another_panic_goes_on() {
        let outcome = panic::catch_unwind(|| stoppable(&flag(false), None, || panic::resume_unwind(Box::new("other"))));
        assert_eq!(outcome.map(|_: Result<(), _>| ()).unwrap_err().downcast_ref(), Some(&"other"));
    }

    #[test]
    fn one_call_in_1024_looks() {
        let mut turns = 0;
        let outcome = stoppable(&flag(true), None, || {
            let mut seldom = Seldom::default();
            for turn in 1..5000 {
                turns = turn;
                seldom.look();
            }
        });
        assert_eq!((outcome, turns), (Err(Stopped), 1024));
    }
}
