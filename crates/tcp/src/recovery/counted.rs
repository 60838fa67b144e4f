//! Proportional rate reduction as Linux counts it (`tcp_cwnd_reduction`): in whole segments, in proportion to the window before.
//!
//! ```text
//! per ACK that delivers d > 0 segments:  prr_delivered += d
//! in flight > ssthresh:   sndcnt = ceil(prr_delivered * ssthresh / prior_cwnd) - prr_out
//! else:                   sndcnt = max(prr_delivered - prr_out, d), + 1 if SND.UNA advances and nothing more is lost
//!                         sndcnt = min(ssthresh - in flight, sndcnt)
//! nothing sent so far:    sndcnt = 1 at least
//! window                = in flight + sndcnt, until the next such ACK
//! ```
//!
//! RFC 9937 counts bytes, and takes for `prior_cwnd` what was in flight when recovery began.

/// One reduction. All in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    prior: u64,
    ssthresh: u64,
    delivered: u64,
    out: u64,
}

impl Counted {
    /// The window is to come down from `prior` to `ssthresh`.
    pub fn start(prior: u64, ssthresh: u64) -> Counted {
        Counted { prior: prior.max(1), ssthresh, delivered: 0, out: 0 }
    }

    /// An ACK that delivered `delivered` segments, some at least, and left `flight` in flight; returns how many may be sent.
    pub fn on_ack(&mut self, delivered: u64, flight: u64, safe: bool) -> u64 {
        self.delivered += delivered;
        let may = if flight > self.ssthresh {
            (self.delivered * self.ssthresh).div_ceil(self.prior).saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(delivered) + u64::from(safe);
            limit.min(self.ssthresh - flight)
        };
        may.max(u64::from(self.out == 0))
    }

    /// A segment was sent.
    pub fn on_sent(&mut self) {
        self.out += 1;
    }

    /// A segment that was taken for sent was not.
    pub fn take_back(&mut self) {
        self.out = self.out.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand from the formula, prior_cwnd 10 and ssthresh 7 (CUBIC), 10 in flight, the first lost, each of the others SACKed
    /// alone: ceil(7 n / 10) - out while more than 7 are in flight, then one for one.
    #[test]
    fn one_loss_of_ten_comes_down_to_seven() {
        let mut prr = Counted::start(10, 7);
        // The third duplicate begins recovery: 10 - 3 SACKed - 1 lost = 6 in flight.
        assert_eq!(prr.on_ack(1, 6, false), 1);
        prr.on_sent();
        let sent: Vec<u64> = (0..6)
            .scan(7, |flight, _| {
                *flight -= 1;
                let may = prr.on_ack(1, *flight, false);
                (0..may).for_each(|_| prr.on_sent());
                *flight += may;
                Some(may)
            })
            .collect();
        assert_eq!(sent, [1, 1, 1, 1, 1, 1]);
    }

    /// Twenty in flight and a window of twenty, to ten: every second ACK, the first at once.
    #[test]
    fn the_proportion_is_that_to_the_window_before() {
        let mut prr = Counted::start(20, 10);
        let sent: Vec<u64> = (0..6)
            .map(|i| {
                let may = prr.on_ack(1, 19 - i / 2, false);
                (0..may).for_each(|_| prr.on_sent());
                may
            })
            .collect();
        assert_eq!(sent, [1, 0, 1, 0, 1, 0]);
        // With a window of twenty and only twelve in flight it is still the window that counts: ceil(3 * 10 / 20) = 2.
        let mut prr = Counted::start(20, 10);
        assert_eq!(prr.on_ack(3, 12, false), 2);
    }

    /// Linux 6.12, ECN-Echo for one of four segments under a window of ten: 3 in flight, ssthresh 7, SND.UNA advances: min(7 - 3, 1 + 1) = 2.
    #[test]
    fn below_the_threshold_an_ack_that_advances_lets_one_more_out() {
        assert_eq!(Counted::start(10, 7).on_ack(1, 3, true), 2);
        assert_eq!(Counted::start(10, 7).on_ack(1, 3, false), 1);
        assert_eq!(Counted::start(10, 7).on_ack(4, 6, true), 1);
        // The first segment leaves whatever the formula says.
        let mut forced = Counted::start(10, 0);
        assert_eq!(forced.on_ack(1, 9, false), 1);
        forced.on_sent();
        assert_eq!(forced.on_ack(1, 9, false), 0);
    }
}
