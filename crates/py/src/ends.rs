//! Ends the command when a signal comes and the main thread does not come back to Python, which alone could answer.
//!
//! Python notes a signal at once and calls its handler when the main thread next runs Python. A call of a library that takes minutes (a
//! large table, a query, a text of many megabytes) holds the answer back, and often the interpreter's lock with it. So a thread that
//! needs no lock waits for signals, at the pipe of `signal.set_wakeup_fd`. After each of them it leaves a call that the main thread makes
//! where it would call the handler. If the main thread has not made it in time, the process ends.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::ffi;
use pyo3::prelude::*;

use crate::errors::run_error;

/// Between two looks at whether the call was made.
const LOOK: Duration = Duration::from_millis(20);
const LINE: &[u8] = b"elephan: interrupted\n";

/// Whether the main thread has made the call since the last signal.
static ANSWERED: AtomicBool = AtomicBool::new(false);

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(end_unanswered, module)?)
}

/// Ends the process with `status` and one line on standard error if a signal comes and the main thread runs no Python for
/// `patience_s` seconds after it. `fd` is the reading end of the pipe of `signal.set_wakeup_fd`, which this takes over. An error if no
/// thread can be started.
#[pyfunction]
fn end_unanswered(fd: c_int, patience_s: f64, status: c_int) -> PyResult<()> {
    let patience = Duration::try_from_secs_f64(patience_s).map_err(run_error)?;
    // SAFETY: the caller hands the descriptor over; nobody else reads or closes it.
    let mut pipe = unsafe { File::from_raw_fd(fd) };
    let watch = move || {
        let mut signals = [0; 64];
        while pipe.read(&mut signals).is_ok_and(|count| count > 0) {
            if !answers(patience) {
                // SAFETY: the line is a static of this length.
                unsafe { libc::write(2, LINE.as_ptr().cast(), LINE.len() as _) };
                // SAFETY: nothing of this process goes on.
                unsafe { libc::_exit(status) }
            }
        }
    };
    thread::Builder::new().name("elephan-ends".to_owned()).spawn(watch).map(drop).map_err(run_error)
}

/// Whether the main thread runs Python in time.
fn answers(patience: Duration) -> bool {
    ANSWERED.store(false, Ordering::Relaxed);
    let mut left = false;
    let mut waited = Duration::ZERO;
    while waited < patience && !ANSWERED.load(Ordering::Relaxed) {
        // SAFETY: the function may be called from any thread, with or without the interpreter's lock; it fails while its queue is full.
        left = left || unsafe { ffi::Py_AddPendingCall(Some(answered), std::ptr::null_mut()) } == 0;
        thread::sleep(LOOK);
        waited += LOOK;
    }
    ANSWERED.load(Ordering::Relaxed)
}

extern "C" fn answered(_: *mut c_void) -> c_int {
    ANSWERED.store(true, Ordering::Relaxed);
    0
}
