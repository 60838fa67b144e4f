//! A calendar queue (R. Brown, CACM 1988) that sorts a day when it comes (as the ladder queue of Tang, Goh and Thng, 2005): what is
//! due within a year lies unsorted in the day of its time, what is due next lies sorted in `near`, all else in the heap.
//!
//! A push writes on the page of a day and a pop takes the next place of an array, O(1) where days hold a few events each.
//! What comes next is known some events ahead, which lets their data be asked for in time.
//!
//! The days are numbered from the beginning of time, `day = time >> shift`. The pages hold days from `today` to a year later. What was
//! on the pages of the days before `today` is in `near`, and so is what was pushed for them later, unless that is much: days that are
//! too wide for a burst leave it to the heap, which may hold any day. The first event is the lesser of the two.
//!
//! The constants were tried on a fat-tree of 128 hosts (`docs/performance.md`); none changes what happens.

use crate::heap::Heap;
use crate::prefetch::prefetch_place;

/// Events of `near` that are known ahead, where the days of the next [`LOOK`] hold them.
const AHEAD: usize = 8;
/// Days that are looked at for that: further ones would draw much into `near` that may still be pushed before them.
const LOOK: u64 = 8;
/// Most events of `near` among which a later one is put in its place, one step an event.
const CROWD: usize = 64;
/// Days ahead of the one whose page is asked for.
const SOON: usize = 2;
/// Least and most days of a year.
const DAYS: (usize, usize) = (256, 1 << 16);
/// No event.
const NONE: u32 = u32::MAX;

/// Events that a page holds.
const PAGE: usize = 7;

/// Events of one day, two cache lines of them.
#[derive(Clone, Copy)]
#[repr(align(128))]
struct Page {
    keys: [u128; PAGE],
    len: u32,
    /// The day's page before this one, which is full; of a free page, the next free one.
    next: u32,
}

pub struct Calendar {
    /// Least first, from `first` on.
    near: Vec<u128>,
    first: usize,
    today: u64,
    shift: u32,
    /// The last page of each day of the year, a power of two of them, and which days have one.
    days: Vec<u32>,
    taken: Vec<u64>,
    pages: Vec<Page>,
    free: u32,
    /// Days of a year, less one.
    mask: u64,
    /// Events on the pages.
    count: usize,
}

#[inline]
fn day_of(key: u128, shift: u32) -> u64 {
    (key >> 64) as u64 >> shift
}

/// The shift of days of at most `width` picoseconds, and how many of them a year of about `days` has.
fn shape(width: u64, days: usize) -> (u32, usize) {
    (width.max(1).ilog2(), days.next_power_of_two().clamp(DAYS.0, DAYS.1))
}

/// Adds the first `len` keys of a page in their order. Each goes to the place of its rank, without a branch: whether one of two events
/// comes first cannot be predicted.
#[inline(always)]
fn put_in_order(page: &[u128; PAGE], len: usize, to: &mut Vec<u128>) {
    let before = to.len();
    // Eight places for seven keys: a rank in three bits needs no check.
    to.extend_from_slice(&[u128::MAX; 8]);
    let places = &mut to[before..before + 8];
    let mut ranks = [0u32; 8];
    for i in 1..len.min(PAGE) {
        let key = page[i];
        let mut rank = i as u32;
        for j in 0..i {
            let less = u32::from(key < page[j]);
            ranks[j] += less;
            rank -= less;
        }
        ranks[i] = rank;
    }
    for i in 0..len.min(PAGE) {
        places[(ranks[i] & 7) as usize] = page[i];
    }
    to.truncate(before + len);
}

impl Calendar {
    /// From `now` on, with days of `width` picoseconds, or a little less, and a year of about `days` days.
    pub fn new(now: u64, width: u64, days: usize) -> Calendar {
        let (shift, days) = shape(width, days);
        Calendar {
            near: Vec::new(),
            first: 0,
            today: now >> shift,
            shift,
            days: vec![NONE; days],
            taken: vec![0; days / 64],
            pages: Vec::new(),
            free: NONE,
            mask: days as u64 - 1,
            count: 0,
        }
    }

    /// Whether days and year are what they should be, within a factor of three or so.
    pub fn fits(&self, width: u64, days: usize) -> bool {
        let (shift, days) = shape(width, days);
        self.shift.abs_diff(shift) <= 1 && self.days.len() >= days && self.days.len() <= days * 4
    }

    /// Events here, without those in the heap.
    pub fn len(&self) -> usize {
        self.near.len() - self.first + self.count
    }

    /// The event `n` places behind the first of `near`, if it is known.
    #[inline]
    pub fn ahead(&self, n: usize) -> Option<u128> {
        self.near.get(self.first + n).copied()
    }

    #[inline(never)]
    pub fn push(&mut self, key: u128, heap: &mut Heap) {
        let Some(after) = day_of(key, self.shift).checked_sub(self.today) else {
            if self.near.len() - self.first < CROWD {
                self.insert(key)
            } else {
                heap.push(key)
            }
            return;
        };
        if after > self.mask {
            heap.push(key);
            return;
        }
        let place = (self.today.wrapping_add(after) & self.mask) as usize;
        debug_assert!(place < self.days.len());
        self.count += 1;
        // SAFETY: the mask is below the number of days.
        let at = unsafe { *self.days.get_unchecked(place) };
        if let Some(page) = self.pages.get_mut(at as usize)
            && let Some(free) = page.keys.get_mut(page.len as usize)
        {
            *free = key;
            page.len += 1;
        } else {
            self.turn(place, key);
        }
    }

    /// A new page for a day whose last one is full, or that has none.
    fn turn(&mut self, place: usize, key: u128) {
        if self.free == NONE {
            self.free = self.pages.len() as u32;
            self.pages.push(Page { keys: [0; PAGE], len: 0, next: NONE });
        }
        let at = self.free;
        let page = &mut self.pages[at as usize];
        self.free = page.next;
        page.keys[0] = key;
        page.len = 1;
        page.next = std::mem::replace(&mut self.days[place], at);
        self.taken[place >> 6] |= 1 << (place & 63);
    }

    /// Takes the first event if it comes before `bound`.
    #[inline(always)]
    pub fn pop_before(&mut self, bound: u128, heap: &mut Heap) -> Option<u128> {
        if self.near.len() < self.first + AHEAD {
            self.look_ahead(heap);
        }
        let Some(&key) = self.near.get(self.first) else { return heap.pop_before(bound) };
        if heap.first().is_some_and(|other| other < key) {
            return heap.pop_before(bound);
        }
        if key >= bound {
            return None;
        }
        self.first += 1;
        Some(key)
    }

    /// Puts an event of a day that has begun in its place.
    #[inline(never)]
    fn insert(&mut self, key: u128) {
        let mut place = self.near.len();
        while place > self.first && self.near[place - 1] > key {
            place -= 1;
        }
        self.near.insert(place, key);
    }

    /// Sorts the next days into `near`; where it is empty, the next day that has events, unless the heap has an earlier one.
    #[inline(never)]
    fn look_ahead(&mut self, heap: &mut Heap) {
        let left = self.near.len() - self.first;
        for i in 0..left {
            self.near[i] = self.near[self.first + i];
        }
        self.near.truncate(left);
        self.first = 0;
        let last = self.today.saturating_add(LOOK);
        while self.near.len() < AHEAD
            && let Some(day) = self.next_listed()
        {
            let waits = match self.near.is_empty() {
                true => heap.first().is_some_and(|key| day_of(key, self.shift) < day),
                false => day >= last,
            };
            if waits {
                return;
            }
            self.begin(day);
        }
    }

    /// The first day of the year that has an event.
    fn next_listed(&self) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let place = (self.today & self.mask) as usize;
        let words = self.taken.len();
        let mut word = self.taken[place >> 6] & u64::MAX << (place & 63);
        let mut at = place >> 6;
        while word == 0 {
            at = (at + 1) & (words - 1);
            word = self.taken[at];
        }
        let found = at << 6 | word.trailing_zeros() as usize;
        Some(self.today + (found.wrapping_sub(place) & (self.days.len() - 1)) as u64)
    }

    /// Puts the events of `day`, the first that has any, in order.
    #[inline(always)]
    fn begin(&mut self, day: u64) {
        let before = self.near.len();
        self.today = day.saturating_add(1);
        let place = (day & self.mask) as usize;
        self.taken[place >> 6] &= !(1 << (place & 63));
        let mut at = std::mem::replace(&mut self.days[place], NONE);
        prefetch_place(&self.pages, self.days[(place + SOON) & self.mask as usize] as usize);
        let mut pages = 0;
        while let Some(page) = self.pages.get_mut(at as usize) {
            put_in_order(&page.keys, page.len as usize, &mut self.near);
            self.count -= page.len as usize;
            pages += 1;
            let next = std::mem::replace(&mut page.next, self.free);
            self.free = at;
            at = next;
        }
        if pages > 1 {
            self.near[before..].sort_unstable();
        }
    }

    /// All events, in no order.
    pub fn into_keys(mut self) -> Vec<u128> {
        let mut all = self.near.split_off(self.first);
        for mut at in self.days {
            while let Some(page) = self.pages.get(at as usize) {
                all.extend_from_slice(&page.keys[..page.len as usize]);
                at = page.next;
            }
        }
        all
    }
}
