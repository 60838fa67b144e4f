//! What happens when the system gives Rust no more memory.
//!
//! Rust aborts then, with a core dump and without a word that a user understands. This allocator keeps a reserve instead. The first
//! allocation that fails spends the reserve, and [`elephan_units::stop::memory_is_short`] makes the work end at its next look, as a
//! `MemoryError`. If the reserve does not suffice, the process ends with one line: no code can go on, and unwinding out of an allocator
//! is forbidden.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use elephan_units::stop;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Enough for what ends a run, and for the growth of most of its vectors. Nobody writes to it, so that it takes address space only.
const RESERVE_BYTES: usize = 16 << 20;
const LINE: &[u8] = b"elephan: not enough memory\n";

/// The reserve, or null while it is spent.
static RESERVE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

struct Allocator;

/// Asks once, and once more with the reserve spent if there was no memory.
#[inline]
fn or_again(allocate: impl Fn() -> *mut u8) -> *mut u8 {
    let block = allocate();
    if block.is_null() { again(allocate) } else { block }
}

// SAFETY: every block is from `System`, with its own layout, and goes back there.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`, which is `System`'s.
        or_again(|| unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as `alloc`.
        or_again(|| unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block came from `System` with this layout, as every block of this allocator.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as `dealloc`; a call that returns null has left the block as it was, so it may be repeated.
        or_again(|| unsafe { System.realloc(block, layout, size) })
    }
}

fn reserve_layout() -> Layout {
    Layout::new::<[u8; RESERVE_BYTES]>()
}

/// Spends the reserve and tries once more. Allocates nothing itself.
#[cold]
#[inline(never)]
fn again(allocate: impl Fn() -> *mut u8) -> *mut u8 {
    stop::set_memory_short(true);
    let reserve = RESERVE.swap(ptr::null_mut(), Ordering::AcqRel);
    if !reserve.is_null() {
        // SAFETY: `refill` took it from `System` with this layout, and the swap gave it to this thread alone.
        unsafe { System.dealloc(reserve, reserve_layout()) };
    }
    // Without a reserve another thread may have spent it just now, so that this is worth a try as well.
    let block = allocate();
    if block.is_null() {
        // SAFETY: the line is a static of this length.
        unsafe { libc::write(2, LINE.as_ptr().cast(), LINE.len() as _) };
        // SAFETY: nothing of this process goes on.
        unsafe { libc::_exit(1) }
    }
    block
}

/// Fills the reserve and takes the shortage back; an error if there is no memory for it.
pub fn refill() -> PyResult<()> {
    if RESERVE.load(Ordering::Acquire).is_null() {
        // SAFETY: the layout has a size.
        let block = unsafe { System.alloc(reserve_layout()) };
        if block.is_null() {
            return Err(error());
        }
        let before = RESERVE.swap(block, Ordering::AcqRel);
        if !before.is_null() {
            // SAFETY: another thread filled it meanwhile, from `System` with this layout.
            unsafe { System.dealloc(before, reserve_layout()) };
        }
    }
    stop::set_memory_short(false);
    Ok(())
}

pub fn error() -> PyErr {
    PyMemoryError::new_err("not enough memory")
}
