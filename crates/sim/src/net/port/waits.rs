//! How long packets of each class have waited at one port.

use elephan_link::queue::Item;
use elephan_units::Time;

use crate::spread::Spread;

const PRIORITIES: usize = 8;

/// The waits of each class, which is a priority and whether the packets are for L4S.
#[derive(Clone, Default)]
pub struct Waits {
    classes: [Option<Box<Spread>>; 2 * PRIORITIES],
}

impl Waits {
    /// A packet leaves the queue for the wire.
    pub fn note(&mut self, now: Time, item: &Item) {
        let class = usize::from(item.priority & 7) << 1 | usize::from(item.ecn & 1);
        self.classes[class].get_or_insert_default().add(now.since(item.at));
    }

    /// What the warm-up had is forgotten.
    pub fn clear(&mut self) {
        *self = Waits::default();
    }

    /// Priority, whether for L4S, and the waits of each class that has had packets.
    pub fn classes(&self) -> impl Iterator<Item = (i64, bool, &Spread)> {
        let known = self.classes.iter().enumerate();
        known.filter_map(|(class, spread)| Some(((class >> 1) as i64, class & 1 == 1, spread.as_deref()?)))
    }
}
