//! The moving share of bytes that met congestion, which scalable congestion controls go by (RFC 8257 section 3.3):
//!
//! ```text
//! alpha = alpha + g (F - alpha)      F: the share of a round's bytes that were marked
//! ```

use crate::Ack;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    pub alpha: f64,
    /// Bytes acknowledged in this round, and those of them that were marked.
    acked: f64,
    marked: f64,
}

impl Marks {
    pub fn new(alpha: f64) -> Marks {
        Marks { alpha, acked: 0.0, marked: 0.0 }
    }

    #[inline]
    pub fn count(&mut self, ack: &Ack) {
        self.acked += ack.acked as f64;
        self.marked += ack.ce.min(ack.acked) as f64;
    }

    /// A round with bytes is over; its share has the weight `g`. Returns that share.
    #[inline]
    pub fn end_round(&mut self, g: f64) -> f64 {
        let share = self.marked / self.acked;
        self.alpha += g * (share - self.alpha);
        self.forget();
        share
    }

    /// What this round has seen does not count.
    #[inline]
    pub fn forget(&mut self) {
        (self.acked, self.marked) = (0.0, 0.0);
    }
}
