//! A hint that a value will soon be read. It changes nothing but the time.

/// Asks for the first `lines` cache lines at an address, which need not be one.
#[inline(always)]
pub fn prefetch_at(address: *const u8, lines: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in 0..lines {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.wrapping_add(line * 64).cast()) };
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = (address, lines);
}

/// Asks for the first `lines` cache lines of `value`.
#[inline(always)]
pub fn prefetch<T>(value: &T, lines: usize) {
    prefetch_at(std::ptr::from_ref(value).cast(), lines.min(size_of::<T>().div_ceil(64)));
}

/// Asks for the value at a place, its first two cache lines at most, if there is such a place.
#[inline(always)]
pub fn prefetch_place<T>(values: &[T], place: usize) {
    prefetch_at(values.as_ptr().wrapping_add(place).cast(), size_of::<T>().div_ceil(64).min(2));
}
