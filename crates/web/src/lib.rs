//! The engine of the page in WebAssembly: requests as bytes in, frames as bytes out.
//!
//! The rule of this layer: conversions only, and a C ABI of four functions, so that a page needs no generated code. The page allocates
//! with `elephan_alloc`, writes a request (and bytes with it) there, and calls `elephan_answer`, which calls `elephan_reply` for every
//! frame. What Rust panics about goes to `elephan_panic` as one line before the instance ends; the page then takes another one.

#![cfg(target_family = "wasm")]

use std::alloc::{Layout, alloc, dealloc};
use std::panic;
use std::slice;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use elephan_explore::{Desk, Entry, Limits, Setup};

include!(concat!(env!("OUT_DIR"), "/library.rs"));

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    /// Takes a frame; returns 0 if nobody waits for more.
    fn elephan_reply(frame: *const u8, bytes: usize) -> i32;
    /// Seconds of a clock that only goes forward.
    fn elephan_now() -> f64;
    /// Takes the line of a panic.
    fn elephan_panic(text: *const u8, bytes: usize);
}

fn clock() -> f64 {
    // SAFETY: the page provides the function; it touches no memory.
    unsafe { elephan_now() }
}

/// 32 bits address 4 GiB, of which a page gets what the browser grants: large tables end a run before that.
const TABLE_BYTES_MAX: u64 = 1 << 30;
/// Each open run holds its tables.
const OPEN_MAX: usize = 8;

static DESK: LazyLock<Desk> = LazyLock::new(|| {
    panic::set_hook(Box::new(|info| {
        let what = info.payload_as_str().unwrap_or("no message").lines().next().unwrap_or_default();
        let line = match info.location() {
            Some(place) => format!("{what} ({}:{})", place.file(), place.line()),
            None => what.to_owned(),
        };
        // SAFETY: the page reads these bytes before it returns.
        unsafe { elephan_panic(line.as_ptr(), line.len()) }
    }));
    let entry = |(name, text): &(&str, &str)| Entry { name: (*name).to_owned(), text: (*text).to_owned() };
    Desk::new(Setup {
        name: "scenario".to_owned(),
        library: LIBRARY.iter().map(entry).collect(),
        limits: Limits { table_bytes: TABLE_BYTES_MAX, open: OPEN_MAX, ..Limits::default() },
        clock,
        engine: "wasm",
        admit: Box::new(|source| {
            let files = "a page reads no files; the installed elephan does";
            let code = "a page without a server runs no code; the installed elephan does";
            elephan_explore::without_files_and_code(source, files, code)
        }),
    })
});

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(1), 8).ok()
}

/// Returns a place for so many bytes; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn elephan_alloc(bytes: usize) -> *mut u8 {
    // SAFETY: the layout has a size.
    layout(bytes).map_or(std::ptr::null_mut(), |layout| unsafe { alloc(layout) })
}

/// Gives a place back.
///
/// # Safety
///
/// The place is of [`elephan_alloc`] with the same number of bytes, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn elephan_free(place: *mut u8, bytes: usize) {
    if let (Some(layout), false) = (layout(bytes), place.is_null()) {
        // SAFETY: as the caller says.
        unsafe { dealloc(place, layout) }
    }
}

/// Answers a request, with the bytes that come with it, by calls of `elephan_reply`.
///
/// # Safety
///
/// Both places hold so many bytes that are written; nobody changes them before the function returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn elephan_answer(
    request: *const u8,
    request_bytes: usize,
    payload: *const u8,
    payload_bytes: usize,
) {
    // SAFETY: as the caller says.
    let request = unsafe { slice::from_raw_parts(request, request_bytes) };
    let payload = match payload_bytes {
        0 => &[],
        // SAFETY: as the caller says.
        _ => unsafe { slice::from_raw_parts(payload, payload_bytes) },
    };
    let mut give = |frame: Vec<u8>| {
        // SAFETY: the page copies the bytes before it returns.
        unsafe { elephan_reply(frame.as_ptr(), frame.len()) != 0 }
    };
    DESK.serve(request, payload, &AtomicBool::new(false), &mut give);
}
