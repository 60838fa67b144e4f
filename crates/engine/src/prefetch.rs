//! A hint that a value will soon be read. It changes nothing but the time.

/// Asks for the first `lines` cache lines of `value`.
#[inline(always)]
pub fn prefetch<T>(value: &T, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..lines.min(size_of::<T>().div_ceil(64)) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch never faults, and the address lies within `value`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast::<i8>().add(line * 64)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, lines);
}

/// Asks for the value at a place, its first two cache lines at most, if there is such a place.
#[inline(always)]
pub fn prefetch_place<T>(values: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let value = values.as_ptr().wrapping_add(place).cast::<i8>();
        for line in 0..size_of::<T>().div_ceil(64).min(2) {
            // SAFETY: a prefetch never faults, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(value.wrapping_add(line * 64)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, place);
}
