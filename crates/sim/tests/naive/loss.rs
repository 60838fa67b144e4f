//! Packets that a link loses by itself, after their transmission.

use elephan_link::{Concerned, Loss};
use elephan_random::Stream;

use super::packet::Packet;

pub struct Losses {
    loss: Loss,
    data_only: bool,
    stream: Stream,
    /// Packets that count.
    counted: u64,
    is_bad: bool,
}

impl Losses {
    pub fn new(loss: &Loss, packets: Concerned, stream: Stream) -> Losses {
        Losses { loss: loss.clone(), data_only: packets == Concerned::Data, stream, counted: 0, is_bad: false }
    }

    /// Returns whether the link loses the packet whose transmission begins.
    pub fn takes(&mut self, packet: &Packet) -> bool {
        if self.data_only && !packet.has_data {
            return false;
        }
        let counts = !(self.data_only && packet.is_retransmission);
        self.counted += u64::from(counts);
        match &self.loss {
            Loss::None => false,
            Loss::Periodic(every) => counts && self.counted.is_multiple_of(*every),
            Loss::Listed(ordinals) => counts && ordinals.contains(&self.counted),
            Loss::Trace(_) => unreachable!("no scenario of the comparison follows a trace"),
            Loss::Bernoulli(probability) => self.stream.uniform() < *probability,
            Loss::GilbertElliott(model) => {
                let turns = self.stream.uniform() < if self.is_bad { model.to_good } else { model.to_bad };
                self.is_bad ^= turns;
                self.stream.uniform() < if self.is_bad { model.loss_bad } else { model.loss_good }
            }
        }
    }
}
