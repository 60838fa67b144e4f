//! F-RTO (RFC 5682): after a timeout new data is tried before more is retransmitted.
//!
//! 1. The timer expires: the first segment goes out again. Not in a recovery from an earlier timeout.
//! 2. The ACK that advances: unless it covers all that was out, two new segments go out instead of lost ones. If there are
//!    none to send, recovery goes on as without F-RTO; so it does, without SACK, after a duplicate ACK.
//! 3. The next ACK. With SACK (section 3.1): beyond what was out at step 2, or a duplicate that reports nothing new: the
//!    loss was real, cwnd is 3 segments. Otherwise it delivers something that was sent once, before the timeout:
//!    the timeout was needless. Without SACK (section 2.1): a duplicate says that the loss was real, an advance that it was not.

use crate::sender::{AckEvent, Sender};

/// Where the algorithm is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Off,
    /// The first segment has been retransmitted.
    Head,
    /// So many new segments may still go out.
    New(u8),
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frto {
    step: Step,
    /// All that had been sent at step 2.
    point: u64,
}

/// New segments of step 2.
const NEW_SEGMENTS: u8 = 2;

impl Frto {
    /// The timer has expired, again in the same recovery if `again`.
    pub fn start(&mut self, again: bool) {
        self.step = if again { Step::Off } else { Step::Head };
    }

    /// Whether it goes on.
    pub fn is_on(&self) -> bool {
        self.step != Step::Off
    }

    /// New data goes before what is lost until the next ACK.
    pub fn block(&mut self) {
        self.step = Step::New(NEW_SEGMENTS);
    }

    pub fn unblock(&mut self) {
        self.step = Step::Head;
    }

    pub fn stop(&mut self) {
        self.step = Step::Off;
    }

    /// New segments that may go out, if nothing else may.
    pub fn allowed(&self) -> Option<u8> {
        match self.step {
            Step::New(left) => Some(left),
            _ => None,
        }
    }

    /// A new segment was sent: one of those that may, or a FIN without payload or a tail probe, which no window holds back.
    pub fn sent_new(&mut self) {
        if let Step::New(left) = &mut self.step {
            *left = left.saturating_sub(1);
        }
    }

    /// Nothing new can be sent: whether that ends the algorithm.
    pub fn gives_up(&mut self) -> bool {
        let fails = self.step == Step::New(NEW_SEGMENTS);
        if fails {
            self.step = Step::Off;
        }
        fails
    }
}

impl Sender {
    /// New segments that F-RTO lets out in place of lost ones; none if it does not rule.
    #[inline]
    pub fn new_segments(&self) -> Option<u8> {
        self.rec.watch.as_ref()?.frto?.allowed()
    }

    /// Nothing new can be sent: whether that ends F-RTO, so that what is lost may go out.
    pub fn no_new_segments(&mut self) -> bool {
        self.rec.watch.as_mut().and_then(|watch| watch.frto.as_mut()).is_some_and(Frto::gives_up)
    }

    /// An ACK after a timeout: true if it shows that the timeout was needless.
    pub(super) fn try_new_data(&mut self, e: &AckEvent) -> bool {
        let (una, nxt, point) = (self.board.una(), self.board.nxt(), self.rec.point);
        let (sack, high) = (self.sack, self.board.high_sacked_offset());
        let Some(frto) = self.rec.watch.as_mut().and_then(|watch| watch.frto.as_mut()) else { return false };
        match frto.step {
            Step::Off => {}
            Step::Head if e.acked > 0 => {
                frto.point = nxt;
                frto.step = if una >= point { Step::Off } else { Step::New(NEW_SEGMENTS) };
            }
            Step::Head => {
                if !sack && e.duplicate {
                    frto.step = Step::Off;
                }
            }
            Step::New(_) => {
                frto.step = Step::Off;
                let real = if sack { una.max(high) > frto.point || e.delivered == 0 } else { e.acked == 0 };
                if real {
                    // As much as slow start would have come to in two round trips.
                    let most = 3.0 * f64::from(self.mss);
                    self.cc.shrink_to(most);
                    self.cc.poke("cwnd", most);
                    self.refresh();
                }
                return !real && e.original;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5682 section 2.1 step 2b: two new segments. A FIN after them opens nothing.
    #[test]
    fn a_fin_after_the_new_segments_lets_no_more_out() {
        let mut frto = Frto { step: Step::New(NEW_SEGMENTS), point: 0 };
        let left = [0; 4].map(|_| {
            frto.sent_new();
            frto.allowed()
        });
        assert_eq!(left, [Some(1), Some(0), Some(0), Some(0)]);
        assert!(!frto.gives_up());
    }
}
