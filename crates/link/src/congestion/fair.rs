//! QCN whose feedback goes by what each source has of the frames that come to a queue, so that sources which send more than their
//! share are told to slow down more.
//!
//! A_i: bytes of source i that came; at each sample the counts are multiplied by `memory`, so that 0 counts since the last
//! sample. N: sources with something counted. qFb as without (`qcn.rs`), and notifications only if it is above 0.
//!
//! ```text
//! AF-QCN: r = (sum of A) / N;  Fa = 64 max(0, 1 - r / A_i);    (1 - alpha) qFb + alpha Fa, rounded down, to the sampled source
//! FQCN:   to every source k with A_k >= (sum of A) / N:        Fb A_k / (sum over these sources), in six bits
//! ```
//!
//! Sources: Kabbani, Alizadeh, Yasuda, Pan, Prabhakar, "AF-QCN: Approximate Fairness with Quantized Congestion Notification for
//! Multi-tenanted Data Centers", Hot Interconnects 2010; Zhang and Ansari, "On Mitigating TCP Incast in Data Center Networks",
//! INFOCOM 2011 (both by published summaries). Alpha and memory are assumed. Left out: weights of sources, FQCN's second test of
//! who is above its share.

use super::fairness::Fairness;
use super::qcn::{CongestionPoint, Qcn};
use super::{FEEDBACK_MAX, Feedback, six_bits};

/// Where frames come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The port of the host, and what its limiter would be for: these two tell sources apart.
    pub port: u32,
    pub key: u32,
    /// The flow of the last frame.
    pub flow: u32,
}

/// Bytes of each source, in the order of ports and keys.
#[derive(Clone, Debug, Default)]
pub struct Shares(Vec<(Source, f64)>);

impl Shares {
    fn place(&self, source: Source) -> Result<usize, usize> {
        self.0.binary_search_by_key(&(source.port, source.key), |(s, _)| (s.port, s.key))
    }

    /// A frame has come.
    pub fn count(&mut self, source: Source, bytes: u32) {
        match self.place(source) {
            Ok(place) => {
                let (known, sum) = &mut self.0[place];
                (*known, *sum) = (source, *sum + f64::from(bytes));
            }
            Err(place) => self.0.insert(place, (source, f64::from(bytes))),
        }
    }

    /// Keeps this part of what was counted; sources of less than a byte are forgotten.
    fn fade(&mut self, memory: f64) {
        self.0.iter_mut().for_each(|(_, sum)| *sum *= memory);
        self.0.retain(|&(_, sum)| sum >= 1.0);
    }

    /// The equal share.
    fn fair(&self) -> f64 {
        self.0.iter().map(|(_, sum)| sum).sum::<f64>() / self.0.len().max(1) as f64
    }

    fn of(&self, source: Source) -> f64 {
        self.place(source).map_or(0.0, |place| self.0[place].1)
    }
}

/// A congestion point of QCN that knows its sources.
#[derive(Clone, Debug)]
pub struct FairPoint {
    point: CongestionPoint,
    fairness: Fairness,
    alpha: f64,
    memory: f64,
    most: f64,
    shares: Shares,
}

impl FairPoint {
    pub fn new(spec: &Qcn, point: CongestionPoint) -> FairPoint {
        FairPoint {
            point,
            fairness: spec.fair,
            alpha: spec.fair_alpha,
            memory: spec.fair_memory,
            most: spec.most(),
            shares: Shares::default(),
        }
    }

    /// As [`CongestionPoint::on_frame`]; `source` is asked where the frame comes from if that matters, `told` gets the sources to be notified, each with its feedback.
    pub fn on_frame(
        &mut self,
        bytes: u32,
        queue: u64,
        source: impl FnOnce() -> Source,
        told: &mut Vec<(Source, Feedback)>,
    ) {
        if self.fairness == Fairness::None {
            told.extend(self.point.on_frame(bytes, queue).map(|feedback| (source(), Feedback::Qcn(feedback))));
            return;
        }
        let source = source();
        self.shares.count(source, bytes);
        let Some((sampled, magnitude)) = self.point.on_frame_at(bytes, queue) else { return };
        let mut tell = |source: Source, feedback: u8| {
            if feedback > 0 {
                told.push((source, Feedback::Qcn(feedback)));
            }
        };
        if sampled > 0 {
            let fair = self.shares.fair();
            match self.fairness {
                Fairness::None => {}
                Fairness::AfQcn => {
                    let above = (1.0 - fair / self.shares.of(source)).max(0.0);
                    let own = f64::from(six_bits(above, 1.0));
                    let both = (1.0 - self.alpha) * f64::from(sampled) + self.alpha * own;
                    // At most 63, so the conversion is exact.
                    tell(source, both.floor().clamp(0.0, f64::from(FEEDBACK_MAX)) as u8);
                }
                Fairness::Fqcn => {
                    let above = || self.shares.0.iter().filter(|&&(_, sum)| sum >= fair);
                    let sum: f64 = above().map(|(_, sum)| sum).sum();
                    above().for_each(|&(source, own)| tell(source, six_bits(magnitude * own / sum, self.most)));
                }
            }
        }
        self.shares.fade(self.memory);
    }
}

#[cfg(test)]
mod tests {
    use elephan_random::Stream;

    use super::*;

    fn source(key: u32) -> Source {
        Source { port: 0, key, flow: key }
    }

    /// Two sources, 2 kB and 1 kB; then with 31 500 bytes from 0 waiting a frame of 2000 more of the first is the sample:
    /// Fb = 31 500 - 26 000 + 2 * 31 500 = 68 500 of 130 000, so qFb is floor(33.7) = 33.
    fn told(fair: Fairness) -> Vec<(u32, f64)> {
        let spec = Qcn { jitter: 0.0, sample_base: elephan_units::Bytes(5_000), fair, ..Qcn::default() };
        let mut point = FairPoint::new(&spec, CongestionPoint::new(&spec, Stream::new(1, "test", "cp")));
        let mut told = Vec::new();
        point.on_frame(2_000, 2_000, || source(1), &mut told);
        point.on_frame(1_000, 3_000, || source(2), &mut told);
        assert!(told.is_empty());
        point.on_frame(2_000, 31_500, || source(1), &mut told);
        told.iter().map(|(source, feedback)| (source.key, feedback.value())).collect()
    }

    #[test]
    fn feedback_by_share() {
        assert_eq!(told(Fairness::None), [(1, 33.0)]);
        // A = 4000 and 1000, the share is 2500: Fa = floor(64 * 0.375) = 24, half of 33 and half of 24 are 28.5.
        assert_eq!(told(Fairness::AfQcn), [(1, 28.0)]);
        // Source 1 alone is above its share: all of the feedback is its own.
        assert_eq!(told(Fairness::Fqcn), [(1, 33.0)]);
    }

    /// Equal sources are both told, half of 68 500 each: floor(16.86).
    #[test]
    fn all_above_their_share_are_told() {
        let spec =
            Qcn { jitter: 0.0, sample_base: elephan_units::Bytes(4_000), fair: Fairness::Fqcn, ..Qcn::default() };
        let mut point = FairPoint::new(&spec, CongestionPoint::new(&spec, Stream::new(1, "test", "cp")));
        let mut told = Vec::new();
        point.on_frame(2_000, 2_000, || source(2), &mut told);
        point.on_frame(2_000, 31_500, || source(1), &mut told);
        let told: Vec<(u32, f64)> = told.iter().map(|(source, feedback)| (source.key, feedback.value())).collect();
        assert_eq!(told, [(1, 16.0), (2, 16.0)]);
    }

    /// Half of what was counted is left after a sample, and after enough of them nothing.
    #[test]
    fn old_frames_fade() {
        let mut shares = Shares::default();
        shares.count(source(1), 1500);
        (0..10).for_each(|_| shares.fade(0.5));
        assert_eq!(shares.of(source(1)), 1500.0 / 1024.0);
        shares.fade(0.5);
        assert!(shares.0.is_empty());
    }
}
