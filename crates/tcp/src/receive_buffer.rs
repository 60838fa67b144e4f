//! The receive buffer that grows with what the application reads (Linux `tcp_rcv_space_adjust`, "dynamic right-sizing"), and the
//! window that grows with what arrives (`tcp_grow_window`).
//!
//! ```text
//! each round trip    copied = bytes read in it, less what waits; if more than in the largest before, `space`:
//!                    window = 2 copied, and twice its share (copied - space) / space more
//! beyond a hole      window = 2 space + what lies from the next expected byte to the last that has come
//! buffer             window / ratio; twice `receive_window` at most
//! each segment       offered window + 2 MSS, up to the window of the buffer
//! round trip         of the echoed timestamps of full segments: the least, or smoothed by 1/8 while nothing waits; without timestamps
//!                    the least time in which a window arrives
//! ```
//!
//! `ratio` is the share of the buffer that is window: a half at first, then payload over charge of the first segment of 536 bytes or more, and
//! of each longer one (`tcp_measure_rcv_mss`, `scaling_ratio`; 160/256 for 1448 bytes). Of a segment whose own memory is more than its payload
//! by that share the offered window grows only while it is small (`__tcp_grow_window`).
//!
//! As of Linux 6.18, whose event `tcp_rcvbuf_grow` tells the numbers of the tests. Assumed: what a segment is charged is its payload and 320
//! bytes, rounded up to a power of two, and 256 more; a device with pages of its own has another. Left out: what is kept beyond holes as a charge,
//! memory pressure.

use elephan_units::{Span, Time};

/// Segments that an initial window has (`TCP_INIT_CWND`).
const INITIAL_SEGMENTS: u64 = 10;
/// Shortest segment that lets the offered window grow (`tcp_event_data_recv`).
const SEGMENT_MIN: u64 = 128;
/// What a segment must pass to be the first by which the share of payload is measured (`TCP_MSS_DEFAULT` less one).
const MEASURED_MIN: u64 = 536 - 1;
/// What a segment is charged beside its payload, before it is rounded up to a power of two and after: 2,304 in all for 1448 bytes, which is
/// the kernel's `scaling_ratio` of 160. \[assumed for other lengths]
const HEADROOM_BYTES: u64 = 320;
const BUFFER_BYTES: u64 = 256;
/// Of so many parts of the buffer `ratio` are window.
const PARTS: u64 = 256;

/// What has come with a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Come {
    pub len: u64,
    /// The longest segment so far.
    pub full: u64,
    /// The echoed timestamp, sent so long ago.
    pub echo: Option<(u32, Span)>,
    /// The next expected byte.
    pub nxt: u64,
    /// Bytes that wait for the application.
    pub unread: u64,
    /// Bytes from the next expected one to the last that has come.
    pub span: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveBuffer {
    /// Bytes of the buffer, and at most.
    buffer: u64,
    most: u64,
    ratio: u64,
    /// The segment that it is measured by.
    measured: u64,
    /// The window that is offered at most (`rcv_ssthresh`).
    offered: u64,
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

impl ReceiveBuffer {
    /// A buffer for windows from `initial` to `most` while half of it is window; none if it has its full size from the start.
    pub fn of(initial: u64, most: u64, mss: u64) -> Option<ReceiveBuffer> {
        (initial < most).then(|| {
            let mut growing = ReceiveBuffer {
                buffer: 2 * initial,
                most: 2 * most,
                ratio: PARTS / 2,
                measured: MEASURED_MIN,
                offered: 0,
                mss,
                rtt8: 0,
                echo: 0,
                round: (Time::NEVER, 0),
                space: 0,
                read: 0,
                since: Time::ZERO,
            };
            growing.offer_whole(mss);
            growing
        })
    }

    /// The largest window while half of the buffer is one.
    pub fn most(&self) -> u64 {
        self.most / 2
    }

    /// The first window is of whole segments of `mss` (`tcp_select_initial_window`).
    pub fn offer_whole(&mut self, mss: u64) {
        let window = self.window().min(65_535);
        self.offered = if window > mss { window / mss * mss } else { window };
    }

    /// The connection begins; segments have `mss` bytes.
    pub fn begin(&mut self, now: Time, mss: u64) {
        self.mss = mss;
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

    /// The size at which a buffer with so many bytes not read offers what it may.
    pub fn size(&self, unread: u64) -> u64 {
        self.window().min(self.offered + unread)
    }

    /// A segment has come, and perhaps been read.
    pub fn on_data(&mut self, now: Time, come: &Come) {
        let Come { len, full, unread, .. } = *come;
        match come.echo {
            Some((value, rtt)) if value != self.echo => {
                self.echo = value;
                if len >= full {
                    self.sample(rtt, unread > len);
                }
            }
            Some(_) => {}
            None => self.measure_window(now, come.nxt),
        }
        let segment = len.min(full);
        if segment > self.measured {
            self.measured = segment;
            self.ratio = (segment * PARTS / charge(segment)).max(1);
        }
        let room = self.window().saturating_sub(unread).saturating_sub(self.offered);
        if len >= SEGMENT_MIN && room > 0 {
            self.offered += room.min(self.growth(len, full));
        }
        if come.span > 0 {
            self.enlarge(2 * self.space + come.span);
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
        let bytes = u128::from(window) * u128::from(PARTS) / u128::from(self.ratio);
        self.buffer = self.buffer.max(bytes.min(self.most.into()) as u64);
    }

    /// Without timestamps: a window of data takes a round trip at least.
    fn measure_window(&mut self, now: Time, nxt: u64) {
        let (since, end) = self.round;
        if since != Time::NEVER {
            if nxt < end {
                return;
            }
            self.sample(now.since(since), true);
        }
        self.round = (now, nxt + self.offered);
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
    (len + HEADROOM_BYTES).next_power_of_two() + BUFFER_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO.saturating_add(Span::from_us(us))
    }

    fn come(len: u64, echo: Option<(u32, u64)>, nxt: u64) -> Come {
        let echo = echo.map(|(value, us)| (value, Span::from_us(us)));
        Come { len, full: 1448, echo, nxt, unread: 0, span: 0 }
    }

    /// A passive end with timestamps that has got a segment, 50 ms after it was asked for.
    fn begun(rtt_us: u64) -> ReceiveBuffer {
        let mut b = ReceiveBuffer::of(65_536, 16 << 20, 1460).unwrap();
        assert_eq!(b.offered, 64_240);
        b.offer_whole(1448);
        assert_eq!(b.offered, 65_160);
        b.begin(at(0), 1448);
        b.on_data(at(0), &come(1448, Some((1, rtt_us)), 1449));
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

    /// `rcv_ssthresh=80480` where `window_clamp=81920`: two segments for one until there is no room.
    #[test]
    fn the_offered_window_follows_the_buffer() {
        let mut b = begun(50_000);
        assert_eq!((b.ratio, b.size(0)), (160, 65_160 + 2 * 1448));
        for i in 0..5 {
            b.on_data(at(i), &come(1448, None, 1449));
        }
        assert_eq!(b.size(0), 81_920);
        // What waits takes room of the buffer.
        b.on_data(at(10), &Come { unread: 10_000, ..come(1448, None, 1449) });
        assert_eq!((b.size(10_000), b.size(1 << 20)), (81_920, 81_920));
        // 300,000 bytes beyond a hole, and twice ten segments.
        b.on_data(at(11), &Come { span: 300_000, ..come(1448, None, 1449) });
        assert_eq!(b.window(), 328_960);
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
        let of = |b: &ReceiveBuffer| Span(b.rtt8 / 8).0 / Span::from_us(1).0;
        b.on_data(at(2), &come(1448, Some((1, 10_000)), 1449));
        b.on_data(at(3), &come(100, Some((2, 10_000)), 1449));
        assert_eq!(of(&b), 80_000);
        b.on_data(at(4), &come(1448, Some((3, 160_000)), 1449));
        assert_eq!(of(&b), 90_000);
        b.on_data(at(5), &Come { unread: 2896, ..come(1448, Some((4, 160_000)), 1449) });
        assert_eq!(of(&b), 90_000);
        b.on_data(at(6), &Come { unread: 2896, ..come(1448, Some((5, 20_000)), 1449) });
        assert_eq!(of(&b), 20_000);
        let mut b = ReceiveBuffer::of(65_536, 16 << 20, 1460).unwrap();
        b.begin(at(0), 1460);
        b.on_data(at(10_000), &come(1460, None, 1461));
        b.on_data(at(50_000), &come(1460, None, 60_001));
        assert_eq!(b.rtt8, 0);
        b.on_data(at(60_000), &come(1460, None, 70_001));
        assert_eq!(of(&b), 50_000);
        b.on_data(at(160_000), &come(1460, None, 200_001));
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
