//! How long a program takes on links that nobody else uses: each rank has interfaces that send one message after the other, and
//! receive one after the other, in the order of their sending; each message takes a latency more.
//!
//! The model is that of LogGP (Alexandrov et al. 1995) with o = g = 0, G = 1 / rate at both ends and L = latency.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use elephan_units::{PS_PER_S, Rate, Span, Time, stop};

use crate::execution::{Execution, Task};
use crate::program::Program;

/// What a message costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// How long the interface sends it.
    pub busy: Span,
    /// From then to its arrival.
    pub latency: Span,
    /// From its arrival until the sender knows.
    pub back: Span,
}

impl Cost {
    /// Of so many bytes at a rate, rounded up to a picosecond.
    pub fn of(bytes: u64, rate: Rate, latency: Span) -> Cost {
        let bits = u128::from(bytes) * u128::from(8 * PS_PER_S);
        Cost {
            busy: Span(u64::try_from(bits.div_ceil(u128::from(rate.0.max(1)))).unwrap_or(u64::MAX)),
            latency,
            back: latency,
        }
    }
}

/// What happens, in the order of a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Computed { rank: u32, op: u32 },
    Arrived { from: u32, op: u32 },
    Acknowledged { rank: u32, op: u32 },
}

/// When each rank has done everything, if it computes first as long as `leads` has it, and `cost` answers for (from, to, bytes). An error for
/// one that waits for what never comes.
pub fn completion(
    program: &Arc<Program>,
    eager: u64,
    leads: &[Span],
    cost: &mut dyn FnMut(u32, u32, u64) -> Cost,
) -> Result<Vec<Time>, String> {
    let mut execution = Execution::new(program.clone(), eager);
    let (mut events, mut free) = (BinaryHeap::new(), BTreeMap::new());
    let mut received = vec![Time::ZERO; program.ranks.len()];
    let (mut now, mut tasks) = (Time::ZERO, Vec::new());
    execution.begin(now, leads, &mut tasks);
    loop {
        for task in tasks.drain(..) {
            match task {
                Task::Compute { rank, op, until } => events.push(Reverse((until, Event::Computed { rank, op }))),
                Task::Send { rank, op, to, bytes, nic, awaited } => {
                    let Cost { busy, latency, back } = cost(rank, to, bytes);
                    let free: &mut Time = free.entry((rank, nic)).or_default();
                    *free = now.max(*free).saturating_add(busy);
                    let last = &mut received[to as usize];
                    *last = free.saturating_add(latency).max(last.saturating_add(busy));
                    let arrives = *last;
                    events.push(Reverse((arrives, Event::Arrived { from: rank, op })));
                    if awaited {
                        events.push(Reverse((arrives.saturating_add(back), Event::Acknowledged { rank, op })));
                    }
                }
            }
        }
        let Some(Reverse((time, event))) = events.pop() else { break };
        now = time;
        stop::look();
        match event {
            Event::Computed { rank, op } => execution.computed(now, rank, op, &mut tasks),
            Event::Arrived { from, op } => execution.arrived(now, from, op, &mut tasks),
            Event::Acknowledged { rank, op } => execution.acknowledged(now, rank, op, &mut tasks),
        }
    }
    if now == Time::NEVER {
        return Err("it takes longer than 213 days".to_owned());
    }
    (0..program.ranks.len() as u32)
        .map(|rank| match execution.left(rank) {
            0 => Ok(execution.account(rank, now).end),
            left => Err(format!("rank {rank} waits for messages that never come: {left} operations are not done")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn ends(text: &str) -> Vec<u64> {
        let rate = Rate(8_000_000_000); // a byte takes 1 ns
        let mut cost = |_, _, bytes| Cost::of(bytes, rate, Span::from_ns(10));
        let program = Arc::new(parse(text).unwrap());
        completion(&program, 0, &[], &mut cost).unwrap().iter().map(|end| end.ps() / 1000).collect()
    }

    #[test]
    fn a_message_takes_its_bytes_and_the_latency() {
        let text = "num_ranks 2 rank 0 { a: calc 5 b: send 100b to 1 b requires a } rank 1 { a: recv 100b from 0 }";
        assert_eq!(ends(text), [115, 115]);
    }

    #[test]
    fn an_interface_sends_one_after_the_other_and_receives_so() {
        let two = "rank 1 { a: recv 100b from -1 b: recv 100b from -1 }";
        let (one, both) = ("a: send 100b to 1 b: send 100b to 1", "a: send 100b to 1 b: send 100b to 1 nic 1");
        assert_eq!(ends(&format!("num_ranks 2 rank 0 {{ {one} }} {two}")), [210, 210]);
        assert_eq!(ends(&format!("num_ranks 2 rank 0 {{ {both} }} {two}")), [210, 210]);
    }

    #[test]
    fn a_receiver_takes_one_after_the_other() {
        let text = "num_ranks 3 rank 0 { send 100b to 2 } rank 1 { send 50b to 2 }
                    rank 2 { a: recv 100b from 0 b: recv 50b from 1 }";
        assert_eq!(ends(text), [110, 160, 160]);
    }

    #[test]
    fn irequires_waits_for_the_start() {
        assert_eq!(ends("num_ranks 1 rank 0 { a: calc 9 b: calc 4 cpu 1 b irequires a }"), [9]);
        assert_eq!(ends("num_ranks 1 rank 0 { a: calc 9 b: calc 4 cpu 1 b requires a }"), [13]);
    }

    #[test]
    fn tags_part_messages() {
        let text = "num_ranks 2 rank 0 { a: send 10b to 1 tag 1 b: send 20b to 1 tag 2 }
                    rank 1 { a: recv 20b from 0 tag 2 b: recv 10b from 0 tag 1 b requires a }";
        assert_eq!(ends(text), [40, 40]);
    }

    #[test]
    fn a_wrong_tag_is_waited_for_for_ever() {
        let program =
            Arc::new(parse("num_ranks 2 rank 0 { send 1b to 1 tag 1 } rank 1 { recv 1b from 0 tag 2 }").unwrap());
        let told = completion(&program, 0, &[], &mut |_, _, bytes| Cost::of(bytes, Rate(1), Span::ZERO)).unwrap_err();
        assert_eq!(told, "rank 1 waits for messages that never come: 1 operations are not done");
    }
}
