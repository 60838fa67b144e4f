//! The receive buffer as Linux accounts it: what segments are charged (`truesize`), the window that is left, how the window grows with what
//! arrives (`tcp_grow_window`) and the buffer with what the application reads (`tcp_rcv_space_adjust`, "dynamic right-sizing").
//!
//! ```text
//! charge             payload and 384 bytes of headers and bookkeeping, rounded up to a power of two, and 256 bytes more
//! free               ratio (buffer - charges of what waits and of what lies beyond holes)
//! window             min(free, offered), rounded up to the window scale; without scaling whole segments. It never shrinks. Below half of
//!                    the buffer rounded down; below 1/16 of the buffer or a segment 0
//! each segment       offered + 2 MSS, up to min(clamp, free); clamp = ratio buffer, less one MSS before the first segment
//! each round trip    copied = bytes read in it, less what waits; if more than in the largest before, `space`:
//!                    room for 2 copied, and twice its share (copied - space) / space more
//! beyond a hole      room for 2 space + what lies from the next expected byte to the last that has come
//! buffer             room / ratio; twice `receive_window` at most; twice what the application has set (`receive_buffer`), for good
//! round trip         of the echoed timestamps of full segments: the least, or smoothed by 1/8 while nothing waits; without timestamps
//!                    the least time in which a window arrives
//! ```
//!
//! `ratio` is the share of the buffer that is window: a half at first, then payload over charge of the first segment above 536 bytes, and
//! of each longer one (`tcp_measure_rcv_mss`, `scaling_ratio`; 160/256 for 1448 bytes). Of a segment whose own charge leaves less than its
//! payload the offered window grows only while it is small (`__tcp_grow_window`).
//!
//! As of Linux 6.18, whose event `tcp_rcvbuf_grow`, `tcp_info` and SO_MEMINFO tell the numbers of the tests. Assumed: the charge of a device
//! that copies each packet into one piece of memory (TUN); one with pages of its own has another. What waits is taken to be of equal segments.
//! Left out: queues that are collapsed or dropped when a buffer that the application has set is full, memory pressure of the machine.

use elephan_units::{Span, Time};

/// Segments that an initial window has (`TCP_INIT_CWND`).
const INITIAL_SEGMENTS: u64 = 10;
/// Shortest segment in order that lets the offered window grow (`tcp_event_data_recv`).
const SEGMENT_MIN: u64 = 128;
/// What a segment is charged beside its payload, before it is rounded up to a power of two and after: headers of 52 bytes, 12 to align
/// them, and 320 of bookkeeping in the same memory, then the descriptor: 2,304 in all for 1448 bytes.
const HEADROOM_BYTES: u64 = 384;
const DESCRIPTOR_BYTES: u64 = 256;
/// Of so many parts of the buffer `ratio` are window.
const PARTS: u64 = 256;
/// Smallest buffer (`SOCK_MIN_RCVBUF`).
const BUFFER_MIN: u64 = 2304;
/// Of the buffer the part below which a window is closed.
const CLOSED_PART: u64 = 16;

/// What has come with a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Come {
    pub len: u64,
    /// The longest segment so far.
    pub full: u64,
    /// The next expected byte.
    pub nxt: u64,
    /// The window of the last ACK.
    pub window: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveBuffer {
    /// Bytes of the buffer, and at most. The application has set it: it does not grow.
    buffer: u64,
    most: u64,
    set: bool,
    ratio: u64,
    /// The largest window (`window_clamp`), and the window that is offered at most (`rcv_ssthresh`).
    clamp: u64,
    offered: u64,
    /// Charges of what waits to be read, and of what lies beyond holes.
    waiting: u64,
    beyond: u64,
    mss: u64,
    /// Eight times the smoothed round trip, the last echo that was measured, and a window that is measured without timestamps.
    rtt8: u64,
    echo: u32,
    round: (Time, u64),
    /// Most bytes read in a round trip so far; where the present one began, and when.
    space: u64,
    read: u64,
    since: Time,
}

/// What may be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    pub window: u64,
    /// Less than half of the buffer is free.
    pub tight: bool,
}

impl ReceiveBuffer {
    /// A buffer for windows from `initial` to `most` while half of it is window; none if it has its full size from the start.
    pub fn of(initial: u64, most: u64, mss: u64) -> Option<ReceiveBuffer> {
        (initial < most).then(|| ReceiveBuffer::new(2 * initial, 2 * most, false, mss))
    }

    /// The buffer of an application that has asked for `bytes` (SO_RCVBUF): Linux doubles them.
    pub fn set(bytes: u64, mss: u64) -> ReceiveBuffer {
        let buffer = (2 * bytes).max(BUFFER_MIN);
        ReceiveBuffer::new(buffer, buffer, true, mss)
    }

    /// The same while the connection lasts.
    pub fn resize(&mut self, bytes: u64) {
        self.buffer = (2 * bytes).max(BUFFER_MIN);
        (self.most, self.set) = (self.buffer, true);
    }

    fn new(buffer: u64, most: u64, set: bool, mss: u64) -> ReceiveBuffer {
        let mut new = ReceiveBuffer {
            buffer,
            most,
            set,
            ratio: PARTS / 2,
            clamp: 0,
            offered: 0,
            waiting: 0,
            beyond: 0,
            mss,
            rtt8: 0,
            echo: 0,
            round: (Time::NEVER, 0),
            space: 0,
            read: 0,
            since: Time::ZERO,
        };
        new.offer_whole(mss);
        new
    }

    /// The largest window while half of the buffer is one.
    pub fn most(&self) -> u64 {
        self.most / 2
    }

    /// What the window scale is made for: the largest buffer, but no more than the window of one that was set
    /// (`tcp_select_initial_window`).
    pub fn scaled(&self) -> u64 {
        if self.set { self.most / 2 } else { self.most }
    }

    /// The first window is of whole segments of `mss` (`tcp_select_initial_window`).
    pub fn offer_whole(&mut self, mss: u64) {
        let window = self.window();
        self.offered = if window > mss { window / mss * mss } else { window };
    }

    /// Whether the handshake is over.
    pub fn has_begun(&self) -> bool {
        self.clamp > 0
    }

    /// The largest window that may be offered.
    pub fn clamp(&self) -> u64 {
        self.clamp
    }

    /// Nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.charged() == 0
    }

    /// The first window.
    pub fn first(&self) -> u64 {
        self.offered
    }

    /// The connection begins; segments have `mss` bytes, windows are scaled by `shift`.
    pub fn begin(&mut self, now: Time, mss: u64, shift: u8) {
        self.mss = mss;
        let (window, first) = (self.window(), self.offered);
        self.clamp = window.min(65_535 << shift);
        // One segment is kept back.
        if self.clamp > 2 * mss && self.clamp + mss > window {
            self.clamp = (window - mss).max(2 * mss);
        }
        self.offered = first.min(self.clamp);
        self.space = self.offered.min(INITIAL_SEGMENTS * mss);
        self.since = now;
    }

    /// Bytes of `space` that are window.
    fn window_of(&self, space: u64) -> u64 {
        space * self.ratio / PARTS
    }

    fn window(&self) -> u64 {
        self.window_of(self.buffer)
    }

    fn charged(&self) -> u64 {
        self.waiting + self.beyond
    }

    /// More is kept than the buffer has memory for (`tcp_try_rmem_schedule`).
    pub fn is_over_full(&self) -> bool {
        self.charged() > self.buffer
    }

    /// What is left of the buffer, as a window (`tcp_space`).
    fn free(&self) -> u64 {
        self.window_of(self.buffer.saturating_sub(self.charged()))
    }

    /// The window that may be offered (`__tcp_select_window`) while full segments have `full` bytes and the last window was `last`.
    pub fn room(&self, full: u64, shift: u8, last: u64) -> Room {
        let (mut free, whole) = (self.free(), self.window());
        let size = self.clamp.min(whole);
        let full = full.min(size);
        let tight = free < size / 2;
        if tight {
            free = free >> shift << shift;
            if free < whole / CLOSED_PART || free < full {
                return Room { window: 0, tight };
            }
        }
        free = free.min(self.offered);
        let window = if shift > 0 {
            free.next_multiple_of(1 << shift)
        } else if last + full <= free || last > free {
            free / full.max(1) * full
        } else if full == size && free > last + size / 2 {
            free
        } else {
            last
        };
        Room { window, tight }
    }

    /// A segment in order of `len` bytes is kept until it is read; whether there was no room for it (`tcp_clamp_window`).
    pub fn keep(&mut self, len: u64) -> bool {
        let over = self.make_room();
        self.waiting += charge(len);
        over
    }

    /// A segment beyond a hole is kept; whether there was no room for it.
    pub fn keep_beyond(&mut self, len: u64) -> bool {
        let over = self.make_room();
        self.beyond += charge(len);
        over
    }

    fn make_room(&mut self) -> bool {
        if !self.is_over_full() {
            return false;
        }
        if !self.set {
            self.buffer = self.charged().min(self.most);
        }
        if self.charged() > self.buffer {
            self.offered = self.clamp.min(2 * self.mss);
        }
        true
    }

    /// Of `held` bytes beyond holes `moved` are in order now, and wait.
    pub fn close_hole(&mut self, moved: u64, held: u64) {
        let share = if moved >= held { self.beyond } else { self.beyond * moved / held };
        self.beyond -= share;
        self.waiting += share;
    }

    /// Of `before` bytes that waited `left` do. A segment is charged until its last byte is read.
    pub fn release(&mut self, before: u64, left: u64, full: u64) {
        let segment = charge(full);
        self.waiting = if left == 0 || before == 0 {
            0
        } else {
            (self.waiting * left).div_ceil(before).next_multiple_of(segment).min(self.waiting)
        };
    }

    /// A timestamp of one's own has come back with a segment, sent so long ago; nothing waits, or something does.
    pub fn on_echo(&mut self, value: u32, rtt: Span, is_full: bool, waits: bool) {
        if value != self.echo {
            self.echo = value;
            if is_full && rtt > Span::ZERO {
                self.sample(rtt, waits);
            }
        }
    }

    /// A segment longer than all before says what share of the buffer is window.
    pub fn measure(&mut self, len: u64, last: u64) {
        let ratio = (len * PARTS / charge(len)).clamp(1, PARTS - 1);
        if ratio == self.ratio {
            return;
        }
        self.ratio = ratio;
        let clamp = self.window().max(BUFFER_MIN / 2);
        if clamp < self.clamp {
            self.offered = self.offered.min(clamp);
        } else {
            self.offered = self.offered.max(last.min(clamp));
        }
        self.clamp = clamp;
        self.space = self.space.min(clamp);
    }

    /// A segment has come in order, and is kept; whether the offered window grows. `stamped` says that echoes measure the round trip.
    pub fn on_data(&mut self, now: Time, come: &Come, stamped: bool) -> bool {
        if !stamped {
            self.measure_window(now, come.nxt, come.window);
        }
        come.len >= SEGMENT_MIN && self.grow(come)
    }

    /// The offered window grows for a segment that has come (`tcp_grow_window`).
    pub fn grow(&mut self, come: &Come) -> bool {
        let room = self.clamp.min(self.free()).saturating_sub(self.offered);
        if room == 0 {
            return false;
        }
        let growth = self.growth(come.len, come.full);
        self.offered += room.min(growth);
        growth > 0
    }

    /// What has come lies `span` bytes beyond the next expected byte: the buffer is made for it.
    pub fn on_hole(&mut self, span: u64) {
        if span > 0 {
            self.enlarge(2 * self.space + span);
        }
    }

    /// By how much the offered window grows for a segment of `len`.
    fn growth(&self, len: u64, full: u64) -> u64 {
        let mut charged = self.window_of(charge(len));
        if charged <= len {
            return 2 * self.mss.max(len);
        }
        let mut window = self.window_of(self.most) / 2;
        charged /= 2;
        while self.offered <= window {
            if charged <= len {
                return 2 * full.max(len);
            }
            (charged, window) = (charged / 2, window / 2);
        }
        0
    }

    /// Makes room for a window.
    fn enlarge(&mut self, window: u64) {
        let bytes = (u128::from(window) * u128::from(PARTS) / u128::from(self.ratio)).min(self.most.into()) as u64;
        if bytes > self.buffer {
            self.buffer = bytes;
            self.clamp = self.window();
        }
    }

    /// Without timestamps: a window of data takes a round trip at least.
    fn measure_window(&mut self, now: Time, nxt: u64, window: u64) {
        let (since, end) = self.round;
        if since != Time::NEVER {
            if nxt < end {
                return;
            }
            self.sample(now.since(since), true);
        }
        self.round = (now, nxt + window);
    }

    /// `bounds` says that the round trip may be shorter than the sample: one that is longer than the last is none.
    fn sample(&mut self, rtt: Span, bounds: bool) {
        let sample = rtt.0 * 8;
        if self.rtt8 == 0 || sample < self.rtt8 {
            self.rtt8 = sample;
        } else if !bounds {
            self.rtt8 += rtt.0 - self.rtt8 / 8;
        }
    }

    /// The smoothed round trip, zero before the first.
    pub fn round_trip(&self) -> Span {
        Span(self.rtt8 / 8)
    }

    /// The most that is offered, and most bytes read in a round trip.
    pub fn told(&self) -> (u64, u64) {
        (self.offered, self.space)
    }

    /// The application has read `read` bytes so far, and `unread` wait.
    pub fn on_read(&mut self, now: Time, read: u64, unread: u64) {
        if self.rtt8 == 0 || now.since(self.since).0 < self.rtt8 / 8 {
            return;
        }
        let copied = (read - self.read).saturating_sub(unread);
        if copied > self.space && self.space > 0 {
            let (base, more) = (2 * copied, copied - self.space);
            let growth = 2 * (u128::from(base) * u128::from(more) / u128::from(self.space)) as u64;
            self.space = copied;
            self.enlarge(base + growth);
        }
        (self.read, self.since) = (read, now);
    }
}

/// What the buffer is charged for a segment (`truesize`).
fn charge(len: u64) -> u64 {
    (len + HEADROOM_BYTES).next_power_of_two() + DESCRIPTOR_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO.saturating_add(Span::from_us(us))
    }

    fn come(len: u64, nxt: u64) -> Come {
        Come { len, full: 1448, nxt, window: 64_240 }
    }

    /// A passive end with timestamps that has got a segment, 50 ms after it was asked for, and has read it.
    fn begun(rtt_us: u64) -> ReceiveBuffer {
        let mut b = ReceiveBuffer::of(65_536, 16 << 20, 1460).unwrap();
        assert_eq!(b.first(), 64_240);
        b.offer_whole(1448);
        assert_eq!(b.first(), 65_160);
        b.begin(at(0), 1448, 10);
        // One segment is kept back: `rcv_ssthresh=64088`.
        assert_eq!(b.told(), (64_088, 14_480));
        b.on_echo(1, Span::from_us(rtt_us), true, false);
        b.keep(1448);
        b.measure(1448, 65_160);
        b.on_data(at(0), &come(1448, 1449), true);
        b.release(1448, 0, 1448);
        b
    }

    /// What `tcp_rcvbuf_grow` of Linux 6.18 told of a CUBIC connection of 20 Mb/s and 50 ms (docs/kernel.md, 400 packets): bytes copied in a
    /// round trip, and `rcvbuf` and `window_clamp` after it.
    #[test]
    fn the_buffer_grows_as_the_kernel_told() {
        let mut b = begun(50_000);
        let (mut now, mut read) = (0, 0);
        for (time_us, copied, rcvbuf, clamp) in [
            (51_891, 15_928, 131_072, 81_920),
            (51_346, 30_408, 274_224, 171_390),
            (51_351, 57_920, 520_726, 325_453),
            (50_720, 114_392, 1_079_859, 674_911),
            (75_580, 182_448, 1_278_521, 799_075),
            (78_003, 188_240, 1_278_521, 799_075),
        ] {
            (now, read) = (now + time_us, read + copied);
            b.on_read(at(now), read, 0);
            let near = |ours: u64, kernel: u64| ours.abs_diff(kernel) <= 4;
            assert!(near(b.buffer, rcvbuf) && near(b.window(), clamp), "{} {rcvbuf}, {} {clamp}", b.buffer, b.window());
        }
        // tcp_rmem: 32 MiB at most.
        b.on_read(at(now + 60_000), read + 100_000_000, 0);
        assert_eq!((b.buffer, b.window()), (32 << 20, 20 << 20));
    }

    /// The same of a connection whose reader takes 8 Mb/s: what waits does not count (`copied=28960 inq=1448`, then `copied=103320
    /// inq=50880 space=27512`).
    #[test]
    fn what_waits_to_be_read_does_not_count() {
        let mut b = begun(50_000);
        b.on_read(at(50_821), 28_960, 1448);
        assert_eq!((b.space, b.buffer, b.window()), (27_512, 246_505, 154_065));
        b.on_read(at(100_828), 132_280, 50_880);
        assert_eq!(b.space, 52_440);
        // Not before a round trip is over.
        b.on_read(at(150_000), 1 << 20, 0);
        assert_eq!(b.space, 52_440);
        b.on_read(at(200_000), 132_281, 200_000);
        assert_eq!((b.space, b.read), (52_440, 132_281));
    }

    /// `rcv_ssthresh=80480` where `window_clamp=81920`: two segments for one until there is no room beside the segment itself.
    #[test]
    fn the_offered_window_follows_the_buffer() {
        let mut b = begun(50_000);
        assert_eq!((b.ratio, b.offered), (160, 65_160 + 2 * 1448));
        for i in 0..6 {
            b.keep(1448);
            b.on_data(at(i), &come(1448, 1449), true);
            b.release(1448, 0, 1448);
        }
        assert_eq!((b.offered, b.clamp), (80_480, 81_920));
        assert_eq!(b.room(1448, 10, 64_512), Room { window: 80_896, tight: false });
        // 300,000 bytes beyond a hole, and twice ten segments.
        b.on_hole(300_000);
        assert_eq!(b.window(), 328_960);
    }

    /// The kernel's SO_MEMINFO and `tcp_info` with segments of 988 bytes: 2,304 bytes each, `rcv_ssthresh=55808`; beyond a hole
    /// `rcvbuf=132988` when 27,664 bytes lie from the next expected byte to the last.
    #[test]
    fn segments_are_charged() {
        let mut b = ReceiveBuffer::of(65_536, 16 << 20, 1460).unwrap();
        b.offer_whole(1448);
        b.begin(at(0), 1448, 10);
        for i in 1..=27 {
            b.keep_beyond(988);
            b.measure(988, 65_536);
            b.on_hole(988 * (i + 1));
            assert_eq!((b.charged(), b.offered), (2304 * i, 55_808));
        }
        assert_eq!(b.buffer, 132_988);
        // The hole is filled: all of it waits; a part that is read frees whole segments.
        b.keep(988);
        b.close_hole(26_676, 26_676);
        assert_eq!((b.beyond, b.waiting), (0, 28 * 2304));
        b.release(28 * 988, 28 * 988 - 1500, 988);
        assert_eq!(b.waiting, 27 * 2304);
        b.release(28 * 988 - 1500, 0, 988);
        assert!(b.is_empty());
    }

    /// `__tcp_select_window`: below half of the buffer the window is rounded down, below a sixteenth it is closed. A queue beyond the buffer
    /// makes it larger, unless the application has set it.
    #[test]
    fn a_full_buffer_closes_the_window() {
        let mut b = begun(50_000);
        for _ in 0..40 {
            b.keep(1448);
        }
        // (131072 - 40 * 2304) * 160 / 256 = 24320.
        assert_eq!(b.room(1448, 10, 65_536), Room { window: 23_552, tight: true });
        for _ in 0..14 {
            b.keep(1448);
        }
        assert_eq!(b.room(1448, 10, 65_536), Room { window: 0, tight: true });
        assert!((0..4).map(|_| b.keep(1448)).eq([false, false, false, true]));
        assert_eq!(b.buffer, 57 * 2304);
        let mut set = ReceiveBuffer::set(20_000, 1460);
        assert_eq!((set.first(), set.scaled()), (18_980, 20_000));
        set.begin(at(0), 1460, 0);
        for _ in 0..20 {
            set.keep(1460);
        }
        assert_eq!((set.buffer, set.room(1460, 0, 18_980).window), (40_000, 0));
    }

    /// A buffer that begins at its full size does not grow.
    #[test]
    fn a_buffer_of_fixed_size_is_none() {
        assert!(
            ReceiveBuffer::of(65_536, 65_536, 1460).is_none() && ReceiveBuffer::of(1 << 30, 65_536, 1460).is_none()
        );
    }

    /// The least round trip, or one smoothed by an eighth while nothing waits; a window that arrives bounds it from above.
    #[test]
    fn the_round_trip() {
        let mut b = begun(80_000);
        let of = |b: &ReceiveBuffer| b.round_trip().0 / Span::from_us(1).0;
        for (echo, us, is_full, waits, smoothed) in [
            (1, 10_000, true, false, 80_000),
            (2, 10_000, false, false, 80_000),
            (3, 160_000, true, false, 90_000),
            (4, 160_000, true, true, 90_000),
            (5, 20_000, true, true, 20_000),
        ] {
            b.on_echo(echo, Span::from_us(us), is_full, waits);
            assert_eq!(of(&b), smoothed);
        }
        let mut b = ReceiveBuffer::of(65_536, 16 << 20, 1460).unwrap();
        b.begin(at(0), 1460, 10);
        b.on_data(at(10_000), &come(1460, 1461), false);
        b.on_data(at(50_000), &come(1460, 60_001), false);
        assert_eq!(b.rtt8, 0);
        b.on_data(at(60_000), &come(1460, 70_001), false);
        assert_eq!(of(&b), 50_000);
        b.on_data(at(160_000), &come(1460, 200_001), false);
        assert_eq!(of(&b), 50_000);
    }

    /// A segment of 500 bytes is charged 1,280, of which half is more than 500: the window grows for it while it is below a quarter of
    /// the largest. One of 100 lets nothing grow.
    #[test]
    fn small_segments_let_the_window_grow_while_it_is_small() {
        let b = ReceiveBuffer::of(65_536, 16 << 20, 1460).unwrap();
        assert_eq!((b.growth(1460, 1460), b.growth(500, 500)), (2920, 1000));
        let small = ReceiveBuffer::of(65_536, 100_000, 1460).unwrap();
        assert_eq!((small.growth(1460, 1460), small.growth(500, 500)), (2920, 0));
    }
}
