//! The receive buffer that grows with what the application reads (Linux `tcp_rcv_space_adjust`, "dynamic right-sizing"), and the
//! window that grows with what arrives (`tcp_grow_window`).
//!
//! ```text
//! each round trip    copied = bytes read in it; if more than in the largest before, `space`:
//!                    window = 2 copied + 16 MSS, and twice its share (copied - space) / space more; `receive_window` at most
//! each segment       offered window + 2 MSS, up to the buffer
//! round trip         of the echoed timestamps of full segments, smoothed by 1/8; without timestamps the time in which a window arrives
//! ```
//!
//! Half of the buffer is window (`tcp_win_from_space`), so that sizes here are half of Linux's `sk_rcvbuf`. Of a segment whose own memory
//! is more than twice its payload the offered window grows only while it is small (`__tcp_grow_window`).
//!
//! Left out: the share of payload that Linux measures (`scaling_ratio`), what is kept beyond holes as a charge, memory pressure.

use elephan_units::{Span, Time};

/// Segments that an initial window has (`TCP_INIT_CWND`).
const INITIAL_SEGMENTS: u64 = 10;
/// Segments that the buffer holds beyond two windows.
const CUSHION_SEGMENTS: u64 = 16;
/// Shortest segment that lets the offered window grow.
const SEGMENT_MIN: u64 = 128;
/// What a segment is charged beside its payload, before it is rounded up to a power of two and after.
const HEADROOM_BYTES: u64 = 320;
const BUFFER_BYTES: u64 = 256;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveBuffer {
    /// The window for which the buffer is large enough, and the largest.
    window: u64,
    most: u64,
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
    /// None if the buffer has its full size from the start.
    pub fn of(initial: u64, most: u64, mss: u64) -> Option<ReceiveBuffer> {
        (initial < most).then(|| {
            let whole = if initial > mss { initial / mss * mss } else { initial };
            ReceiveBuffer {
                window: initial,
                most,
                offered: whole.min(65_535),
                mss,
                rtt8: 0,
                echo: 0,
                round: (Time::NEVER, 0),
                space: 0,
                read: 0,
                since: Time::ZERO,
            }
        })
    }

    /// The largest window.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// The connection begins.
    pub fn begin(&mut self, now: Time) {
        self.space = self.offered.min(INITIAL_SEGMENTS * self.mss);
        self.since = now;
    }

    /// The size at which a buffer with so many bytes not read offers what it may.
    pub fn size(&self, unread: u64) -> u64 {
        self.window.min(self.offered + unread)
    }

    /// A segment of `len` bytes has come, of which `full` is the longest so far; it echoes `echo`, sent a round trip ago, if it
    /// has timestamps. The next expected byte is `nxt`, and `unread` bytes wait.
    pub fn on_data(&mut self, now: Time, len: u64, full: u64, echo: Option<(u32, Span)>, (nxt, unread): (u64, u64)) {
        match echo {
            Some((value, rtt)) if value != self.echo => {
                self.echo = value;
                if len >= full {
                    self.sample(rtt, false);
                }
            }
            Some(_) => {}
            None => self.measure_window(now, nxt),
        }
        let room = self.window.saturating_sub(unread).saturating_sub(self.offered);
        if len >= SEGMENT_MIN && room > 0 {
            self.offered += room.min(self.growth(len, full));
        }
    }

    /// By how much the offered window grows for a segment of `len`.
    fn growth(&self, len: u64, full: u64) -> u64 {
        let mut charged = ((len + HEADROOM_BYTES).next_power_of_two() + BUFFER_BYTES) / 2;
        if charged <= len {
            return 2 * self.mss;
        }
        let mut window = self.most / 2;
        charged /= 2;
        while self.offered <= window {
            if charged <= len {
                return 2 * full;
            }
            (charged, window) = (charged / 2, window / 2);
        }
        0
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

    /// `bounds` says that the round trip is no longer than the sample, which is no sample of it.
    fn sample(&mut self, rtt: Span, bounds: bool) {
        self.rtt8 = match (self.rtt8, bounds) {
            (0, _) => rtt.0 * 8,
            (old, true) => old.min(rtt.0 * 8),
            (old, false) => old - old / 8 + rtt.0,
        };
    }

    /// The application has read `read` bytes so far.
    pub fn on_read(&mut self, now: Time, read: u64) {
        if self.rtt8 == 0 || now.since(self.since).0 < self.rtt8 / 8 {
            return;
        }
        let copied = read - self.read;
        if copied > self.space && self.space > 0 {
            let base = 2 * copied + CUSHION_SEGMENTS * self.mss;
            let more = 2 * (u128::from(base) * u128::from(copied - self.space) / u128::from(self.space)) as u64;
            self.window = self.window.max((base + more).min(self.most));
            self.space = copied;
        }
        (self.read, self.since) = (read, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1460;

    fn at(ms: u64) -> Time {
        Time::ZERO.saturating_add(Span::from_ms(ms))
    }

    /// Linux: `tcp_rmem` 4096 131072 33554432: half is window, 64 KiB, of whole segments 64,240 are offered; the measure begins at
    /// ten segments. By hand: 29,200 bytes in a round trip: 2 * 29,200 + 16 * 1460 = 81,760, and twice (29,200 - 14,600) / 14,600
    /// of it, 163,520, more.
    #[test]
    fn the_buffer_follows_what_is_read_in_a_round_trip() {
        let mut b = ReceiveBuffer::of(65_536, 16 << 20, MSS).unwrap();
        b.begin(at(0));
        assert_eq!((b.size(0), b.space), (64_240, 14_600));
        b.on_data(at(100), 1448, 1448, Some((1, Span::from_ms(100))), (1449, 0));
        // Two segments of the window for one that has come, up to the buffer.
        assert_eq!(b.size(0), 65_536);
        b.on_read(at(150), 14_600);
        assert_eq!((b.window, b.read), (65_536, 14_600));
        // Not before a round trip is over.
        b.on_read(at(249), 43_800);
        assert_eq!(b.window, 65_536);
        b.on_read(at(250), 43_800);
        assert_eq!((b.window, b.space), (245_280, 29_200));
        // The window that is offered follows by two segments for each that comes.
        for i in 0..3 {
            b.on_data(at(251 + i), 1448, 1448, Some((1, Span::from_ms(100))), (43_801, 0));
        }
        assert_eq!(b.size(0), 65_536 + 6 * MSS);
        // What waits to be read takes room of the buffer, not of what is offered while there is room.
        assert_eq!(b.size(10_000), 65_536 + 6 * MSS + 10_000);
        assert_eq!(b.size(1 << 20), 245_280);
        // 16 MiB at most.
        b.on_read(at(350), 100_043_800);
        assert_eq!(b.window, 16 << 20);
    }

    /// A buffer that begins at its full size does not grow.
    #[test]
    fn a_buffer_of_fixed_size_is_none() {
        assert!(ReceiveBuffer::of(65_536, 65_536, MSS).is_none() && ReceiveBuffer::of(1 << 30, 65_536, MSS).is_none());
    }

    /// Round trips are smoothed by an eighth; a window that arrives bounds them.
    #[test]
    fn the_round_trip() {
        let mut b = ReceiveBuffer::of(65_536, 16 << 20, MSS).unwrap();
        b.begin(at(0));
        b.on_data(at(1), 1448, 1448, Some((1, Span::from_ms(80))), (1449, 0));
        assert_eq!(b.rtt8, Span::from_ms(640).0);
        b.on_data(at(2), 1448, 1448, Some((1, Span::from_ms(10))), (1449, 0));
        b.on_data(at(3), 100, 1448, Some((2, Span::from_ms(10))), (1449, 0));
        assert_eq!(b.rtt8, Span::from_ms(640).0);
        b.on_data(at(4), 1448, 1448, Some((3, Span::from_ms(160))), (1449, 0));
        assert_eq!(b.rtt8, Span::from_ms(720).0);
        let mut b = ReceiveBuffer::of(65_536, 16 << 20, MSS).unwrap();
        b.begin(at(0));
        b.on_data(at(10), 1460, 1460, None, (1461, 0));
        b.on_data(at(50), 1460, 1460, None, (60_001, 0));
        assert_eq!(b.rtt8, 0);
        b.on_data(at(60), 1460, 1460, None, (70_001, 0));
        assert_eq!(b.rtt8, Span::from_ms(400).0);
    }

    /// A segment of 500 bytes is charged 1,280: the window grows for it while it is below a quarter of the largest. One of 100 not.
    #[test]
    fn small_segments_let_the_window_grow_while_it_is_small() {
        let b = ReceiveBuffer::of(65_536, 16 << 20, MSS).unwrap();
        assert_eq!((b.growth(1448, 1448), b.growth(500, 500)), (2920, 1000));
        let small = ReceiveBuffer::of(65_536, 100_000, MSS).unwrap();
        assert_eq!((small.growth(1448, 1448), small.growth(500, 500)), (2920, 0));
    }
}
