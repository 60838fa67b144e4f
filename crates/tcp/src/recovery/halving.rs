//! Rate halving as Linux 2.4 has it (`tcp_cwnd_down`; M. Mathis, "The rate-halving algorithm", 1999): the window comes
//! down by one segment for every second ACK, so that one segment leaves for two that have left the network.
//!
//! ```text
//! every second ACK:  cwnd -= 1 SMSS, while cwnd > ssthresh / 2
//! every ACK:         cwnd  = min(cwnd, in_flight + 1 SMSS)
//! at the end:        cwnd  = min(cwnd, ssthresh)                       (tcp_complete_cwr)
//! ```
//!
//! The second line is a clamp for good: when one ACK takes most of what was in flight out, the window stays at what is
//! left and one segment, and grows from there.

/// One reduction. All in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateHalving {
    mss: u64,
    window: u64,
    floor: u64,
    /// The next ACK is a second one.
    odd: bool,
}

impl RateHalving {
    /// The window stood at `window` and is to come down to `ssthresh`.
    pub fn start(&mut self, mss: u64, window: u64, ssthresh: u64) {
        *self = RateHalving { mss, window, floor: ssthresh / 2, odd: false };
    }

    /// An ACK that left `pipe` in flight; returns how many bytes may be sent.
    pub fn on_ack(&mut self, pipe: u64) -> u64 {
        if self.odd && self.window > self.floor {
            self.window -= self.mss.min(self.window);
        }
        self.odd = !self.odd;
        self.window = self.window.min(pipe + self.mss);
        self.window.saturating_sub(pipe)
    }

    pub fn window(&self) -> u64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, in segments: 20 in flight, one lost (19 out there), ssthresh 10. The first ACK clamps at 18 + 1; the
    /// second takes one off: 18, with 17 in flight; and so on, a segment for every second ACK.
    #[test]
    fn a_segment_leaves_for_every_second_ack() {
        let mut halving = RateHalving::default();
        halving.start(1, 20, 10);
        let mut pipe = 19;
        let mut steps = Vec::new();
        for _ in 0..10 {
            pipe -= 1;
            let sent = halving.on_ack(pipe);
            pipe += sent;
            steps.push((sent, halving.window()));
        }
        let expected = [(1, 19), (0, 18), (1, 18), (0, 17), (1, 17), (0, 16), (1, 16), (0, 15), (1, 15), (0, 14)];
        assert_eq!(steps, expected);
    }

    /// One ACK that empties the pipe leaves a window of one segment above it, and later ACKs do not bring it back.
    #[test]
    fn the_window_is_clamped_to_what_is_in_flight() {
        let mut halving = RateHalving::default();
        halving.start(1000, 100_000, 50_000);
        assert_eq!(halving.on_ack(90_000), 1000);
        assert_eq!((halving.on_ack(2000), halving.window()), (1000, 3000));
        assert_eq!((halving.on_ack(3000), halving.window()), (0, 3000));
    }

    /// The floor is half of ssthresh.
    #[test]
    fn it_stops_at_half_of_ssthresh() {
        let mut halving = RateHalving::default();
        halving.start(1, 8, 4);
        for _ in 0..100 {
            halving.on_ack(7);
        }
        assert_eq!(halving.window(), 2);
    }
}
