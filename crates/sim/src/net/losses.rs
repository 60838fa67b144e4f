//! What a link loses by itself, or marks: the processes and their draws.

use std::sync::Arc;

use elephan_link::driven::{Course, What};
use elephan_link::{Concerned, GilbertElliott, Loss};
use elephan_random::Stream;
use elephan_units::Time;

/// What a link loses by itself.
#[derive(Clone)]
pub struct Losses {
    /// Only packets that carry data are concerned, and counted only if their data is new.
    pub data_only: bool,
    pub process: LossProcess,
}

#[derive(Clone)]
pub enum LossProcess {
    Periodic {
        every: u64,
        count: u64,
    },
    Bernoulli {
        probability: f64,
        stream: Stream,
    },
    GilbertElliott {
        model: GilbertElliott,
        bad: bool,
        stream: Stream,
    },
    /// Ordinals still to come, the next one last.
    Listed {
        left: Vec<u64>,
        count: u64,
    },
    /// The probability follows a trace.
    Traced {
        course: Arc<Course>,
        stream: Stream,
    },
}

impl Losses {
    /// Whether the next packet is lost, whose transmission ends at `at`; called once per transmission, in order.
    pub fn strikes(&mut self, at: Time, data: bool, retransmission: bool) -> bool {
        if self.data_only && !data {
            return false;
        }
        let counts = !(self.data_only && retransmission);
        match &mut self.process {
            LossProcess::Periodic { every, count } => {
                *count += u64::from(counts);
                let struck = counts && *count == *every;
                if struck {
                    *count = 0;
                }
                struck
            }
            LossProcess::Bernoulli { probability, stream } => stream.uniform() < *probability,
            LossProcess::GilbertElliott { model, bad, stream } => {
                let turn = if *bad { model.to_good } else { model.to_bad };
                *bad ^= stream.uniform() < turn;
                stream.uniform() < if *bad { model.loss_bad } else { model.loss_good }
            }
            LossProcess::Listed { left, count } => {
                *count += u64::from(counts);
                let struck = counts && left.last() == Some(count);
                if struck {
                    left.pop();
                }
                struck
            }
            LossProcess::Traced { course, stream } => stream.uniform() < course.at(at),
        }
    }
}

/// The loss process of the link called `name`; `purpose` names its draws.
pub fn loss(seed: u64, name: &str, (loss, packets): (&Loss, Concerned), purpose: &str) -> Option<Losses> {
    let stream = || Stream::new(seed, &format!("link.{name}"), purpose);
    let process = match loss {
        Loss::None => return None,
        Loss::Periodic(every) => LossProcess::Periodic { every: *every, count: 0 },
        Loss::Bernoulli(probability) => LossProcess::Bernoulli { probability: *probability, stream: stream() },
        Loss::GilbertElliott(model) => LossProcess::GilbertElliott { model: *model, bad: false, stream: stream() },
        Loss::Listed(ordinals) => {
            let mut left = ordinals.clone();
            left.sort_unstable_by(|a, b| b.cmp(a));
            left.dedup();
            LossProcess::Listed { left, count: 0 }
        }
        Loss::Trace(words) => {
            let course = words.table()?.values(What::Loss).ok()?;
            LossProcess::Traced { course, stream: stream() }
        }
    };
    Some(Losses { data_only: packets == Concerned::Data, process })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// To bad with 0.01, back with 0.09, all lost while bad: 10 % lost, in bursts of 11.1 packets on average. A standard
    /// error of the share is sqrt(0.1 * 0.9 / n * (1 + 0.9) / (1 - 0.9)), 0.0013 for a million packets.
    #[test]
    fn losses_come_in_bursts() {
        let model = GilbertElliott { to_bad: 0.01, to_good: 0.09, loss_bad: 1.0, loss_good: 0.0 };
        let process = LossProcess::GilbertElliott { model, bad: false, stream: Stream::new(1, "link", "loss") };
        let mut losses = Losses { data_only: true, process };
        let (mut lost, mut bursts, mut before) = (0u32, 0u32, false);
        for _ in 0..1_000_000 {
            let struck = losses.strikes(Time::ZERO, true, false);
            lost += u32::from(struck);
            bursts += u32::from(struck && !before);
            before = struck;
        }
        assert!((f64::from(lost) / 1e6 - 0.1).abs() < 0.0052, "{lost}");
        assert!((f64::from(lost) / f64::from(bursts) - 11.11).abs() < 0.5, "{bursts}");
        assert!(!losses.strikes(Time::ZERO, false, false));
    }

    #[test]
    fn listed_packets_are_lost() {
        let data =
            [(true, false), (true, false), (true, true), (false, false), (true, false), (true, false), (true, false)];
        for (data_only, lost) in [(true, [2, 7]), (false, [2, 5])] {
            let mut losses = Losses { data_only, process: LossProcess::Listed { left: vec![5, 2], count: 0 } };
            let struck = (1..).zip(data).filter(|&(_, (data, again))| losses.strikes(Time::ZERO, data, again));
            assert_eq!(struck.map(|(place, _)| place).collect::<Vec<i32>>(), lost);
        }
    }
}
