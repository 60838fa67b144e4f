//! Weighted round robin by packets (Katevenis, Sidiropoulos and Courcoubetis, JSAC 1991, without their interleaving): each
//! class in turn sends as many packets as its weight says.
//!
//! A class has priorities of the traffic and a queue of its own; a priority that no class names belongs to the last. Without
//! `classes` each priority has its own, of weight 1. Shares are of packets, so a class of larger packets gets more bytes: `ets`
//! shares bytes. A class with a paused priority (PFC) is paused whole; a class that is paused or empty loses what is left of
//! its turn.

use elephan_units::InvalidParameter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ets::{mask, problem_of};
use super::part::classes::{Classes, Cost, Member, PRIORITIES};
use super::{Answers, Parameters, QueueSpec};

/// Parameters of `wrr`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WrrSpec {
    /// The classes, in the order of their turns. Without it each priority has a class of its own, of weight 1.
    #[schemars(length(max = 8))]
    pub classes: Vec<WrrClass>,
}

/// One class of `wrr`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrrClass {
    /// IEEE 802.1Q priorities of the traffic that belong to it.
    #[schemars(length(min = 1, max = 8), inner(range(min = 0, max = 7)))]
    pub priorities: Vec<u8>,
    /// Packets that it may send in its turn.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub weight: u16,
    /// Its queue; any kind but `ets`, `wrr` and `xcp`.
    #[serde(default)]
    pub queue: QueueSpec,
}

fn one() -> u16 {
    1
}

impl Parameters for WrrSpec {
    type Queue = Wrr;

    fn answers(&self) -> Answers {
        Answers::of_classes(self.classes.iter().map(|class| &class.queue))
    }

    fn classes(&self) -> Vec<(u8, &QueueSpec)> {
        self.classes.iter().map(|class| (mask(&class.priorities), &class.queue)).collect()
    }

    fn build(&self, bdp_bytes: u64) -> Wrr {
        if self.classes.is_empty() {
            let of = |priority: usize| Member {
                mask: 1 << priority,
                weight: Some(1),
                queue: QueueSpec::default().build(bdp_bytes),
            };
            return Wrr::new(Cost::Packets, (0..PRIORITIES).map(of));
        }
        let member = |class: &WrrClass| Member {
            mask: mask(&class.priorities),
            weight: Some(i64::from(class.weight.max(1))),
            queue: class.queue.build(bdp_bytes),
        };
        Wrr::new(Cost::Packets, self.classes.iter().map(member))
    }

    fn problem(&self) -> Option<InvalidParameter> {
        problem_of(self.classes.iter().map(|c| (c.priorities.as_slice(), &c.queue)))
    }
}

/// The classes with their queues.
pub type Wrr = Classes;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{Discipline, Item};
    use elephan_units::Time;
    use serde_json::json;

    fn order(q: &mut Wrr, packets: usize) -> Vec<u8> {
        (0..packets).filter_map(|_| q.dequeue(Time::ZERO, &mut Vec::new())).map(|(item, _)| item.priority).collect()
    }

    /// Weights 3 and 1, whatever the sizes; when the first has nothing the second sends alone, and the first saves nothing up.
    #[test]
    fn packets_by_weight() {
        let classes = json!({ "classes": [{ "priorities": [4], "weight": 3 }, { "priorities": [0] }] });
        let mut q = serde_json::from_value::<WrrSpec>(classes).unwrap().build(0);
        let offer = |q: &mut Wrr, priority, bytes, n| {
            for _ in 0..n {
                q.enqueue(Time::ZERO, Item { priority, bytes, ..Item::default() }, &mut Vec::new());
            }
        };
        offer(&mut q, 4, 1500, 7);
        offer(&mut q, 0, 64, 6);
        assert_eq!(order(&mut q, 8), [4, 4, 4, 0, 4, 4, 4, 0]);
        q.set_paused(1 << 4);
        assert_eq!(order(&mut q, 2), [0, 0]);
        q.set_paused(0);
        offer(&mut q, 4, 1500, 4);
        assert_eq!(order(&mut q, 7), [4, 4, 4, 0, 4, 4, 0]);
    }
}
