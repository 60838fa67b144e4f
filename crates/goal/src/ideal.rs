//! How long a program takes on links that nobody else uses: each rank has an interface that sends one message after the other, at a
//! rate, and each message takes a latency more. Receiving costs nothing.
//!
//! The model is that of LogGP (Alexandrov et al. 1995) with o = g = 0, G = 1 / rate and L = latency.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use elephan_units::{PS_PER_S, Rate, Span, Time};

use crate::program::{Action, Op, Program};

/// What happens, in the order of a heap: an operation is free to start, or a message has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Done { rank: u32, op: u32 },
    Arrived { rank: u32, from: u32, tag: u32 },
}

/// When each rank has done everything; an error for one that waits for what never comes.
pub fn completion(program: &Program, rate: Rate, latency: Span) -> Result<Vec<Time>, String> {
    let mut run = Run::new(program, rate, latency);
    for rank in 0..run.ranks.len() as u32 {
        let waits = &run.ranks[rank as usize].waits;
        let first: Vec<u32> = (0..).zip(waits).filter(|&(_, &waits)| waits == 0).map(|(op, _)| op).collect();
        first.into_iter().for_each(|op| run.start(Time::ZERO, rank, op));
    }
    while let Some(Reverse((now, event))) = run.events.pop() {
        match event {
            Event::Done { rank, op } => run.done(now, rank, op),
            Event::Arrived { rank, from, tag } => run.arrived(now, rank, from, tag),
        }
    }
    run.ranks.iter().zip(0..).map(|(rank, number)| rank.end(number)).collect()
}

struct Run<'a> {
    program: &'a Program,
    rate: Rate,
    latency: Span,
    ranks: Vec<Rank>,
    events: BinaryHeap<Reverse<(Time, Event)>>,
}

#[derive(Default)]
struct Rank {
    /// For how many others each operation still waits.
    waits: Vec<u32>,
    /// Operations that wait for the end, and for the start, of each.
    after_end: Vec<Vec<u32>>,
    after_start: Vec<Vec<u32>>,
    /// When each processor and interface is free.
    cpus: BTreeMap<u32, Time>,
    nics: BTreeMap<u32, Time>,
    /// Messages that nobody has asked for yet, and receives that no message has come for, in their order.
    come: VecDeque<(u32, u32)>,
    asked: VecDeque<u32>,
    left: usize,
    last: Time,
}

impl Rank {
    fn end(&self, number: u32) -> Result<Time, String> {
        match self.left {
            0 => Ok(self.last),
            left => Err(format!("rank {number} waits for messages that never come: {left} operations are not done")),
        }
    }
}

impl Run<'_> {
    fn new(program: &Program, rate: Rate, latency: Span) -> Run<'_> {
        let ranks = program.ranks.iter().map(|ops| {
            let mut rank = Rank { left: ops.len(), ..Rank::default() };
            rank.after_end.resize(ops.len(), Vec::new());
            rank.after_start.resize(ops.len(), Vec::new());
            for (op, number) in ops.iter().zip(0..) {
                rank.waits.push((op.requires.len() + op.irequires.len()) as u32);
                op.requires.iter().for_each(|&on| rank.after_end[on as usize].push(number));
                op.irequires.iter().for_each(|&on| rank.after_start[on as usize].push(number));
            }
            rank
        });
        Run { program, rate, latency, ranks: ranks.collect(), events: BinaryHeap::new() }
    }

    /// How long so many bytes take, rounded up to a picosecond.
    fn time_of(&self, bytes: u64) -> Span {
        let bits = u128::from(bytes) * u128::from(8 * PS_PER_S);
        Span(u64::try_from(bits.div_ceil(u128::from(self.rate.0))).unwrap_or(u64::MAX))
    }

    fn op(&self, rank: u32, op: u32) -> &Op {
        &self.program.ranks[rank as usize][op as usize]
    }

    fn start(&mut self, now: Time, rank: u32, number: u32) {
        let op = self.op(rank, number).clone();
        match op.action {
            Action::Calc { ns } => {
                let free = self.ranks[rank as usize].cpus.entry(op.cpu).or_default();
                *free = now.max(*free) + Span::from_ns(ns);
                let end = *free;
                self.events.push(Reverse((end, Event::Done { rank, op: number })));
            }
            Action::Send { bytes, to, tag } => {
                let takes = self.time_of(bytes);
                let free = self.ranks[rank as usize].nics.entry(op.nic).or_default();
                *free = now.max(*free) + takes;
                let end = *free;
                self.events.push(Reverse((end, Event::Done { rank, op: number })));
                self.events.push(Reverse((end + self.latency, Event::Arrived { rank: to, from: rank, tag })));
            }
            Action::Recv { .. } => {
                let found = self.ranks[rank as usize].come.iter().position(|&(from, tag)| fits(op.action, from, tag));
                match found {
                    Some(place) => {
                        self.ranks[rank as usize].come.remove(place);
                        self.events.push(Reverse((now, Event::Done { rank, op: number })));
                    }
                    None => self.ranks[rank as usize].asked.push_back(number),
                }
            }
        }
        let others = std::mem::take(&mut self.ranks[rank as usize].after_start[number as usize]);
        self.release(now, rank, &others);
    }

    fn done(&mut self, now: Time, rank: u32, op: u32) {
        let own = &mut self.ranks[rank as usize];
        own.left -= 1;
        own.last = now;
        let others = std::mem::take(&mut own.after_end[op as usize]);
        self.release(now, rank, &others);
    }

    fn release(&mut self, now: Time, rank: u32, others: &[u32]) {
        for &other in others {
            let waits = &mut self.ranks[rank as usize].waits[other as usize];
            *waits -= 1;
            if *waits == 0 {
                self.start(now, rank, other);
            }
        }
    }

    fn arrived(&mut self, now: Time, rank: u32, from: u32, tag: u32) {
        let asked = &self.ranks[rank as usize].asked;
        match asked.iter().position(|&op| fits(self.op(rank, op).action, from, tag)) {
            Some(place) => {
                let op = self.ranks[rank as usize].asked.remove(place).unwrap_or_default();
                self.events.push(Reverse((now, Event::Done { rank, op })));
            }
            None => self.ranks[rank as usize].come.push_back((from, tag)),
        }
    }
}

/// Whether a receive takes a message.
fn fits(action: Action, sender: u32, its: u32) -> bool {
    matches!(action, Action::Recv { from, tag, .. } if from.is_none_or(|from| from == sender) && tag.is_none_or(|tag| tag == its))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn ends(text: &str) -> Vec<u64> {
        let rate = Rate(8_000_000_000); // a byte takes 1 ns
        completion(&parse(text).unwrap(), rate, Span::from_ns(10)).unwrap().iter().map(|end| end.ps() / 1000).collect()
    }

    #[test]
    fn a_message_takes_its_bytes_and_the_latency() {
        let text = "num_ranks 2 rank 0 { a: calc 5 b: send 100b to 1 b requires a } rank 1 { a: recv 100b from 0 }";
        assert_eq!(ends(text), [105, 115]);
    }

    #[test]
    fn an_interface_sends_one_after_the_other_and_two_at_once() {
        let two = "rank 1 { a: recv 100b from -1 b: recv 100b from -1 }";
        let (one, both) = ("a: send 100b to 1 b: send 100b to 1", "a: send 100b to 1 b: send 100b to 1 nic 1");
        assert_eq!(ends(&format!("num_ranks 2 rank 0 {{ {one} }} {two}")), [200, 210]);
        assert_eq!(ends(&format!("num_ranks 2 rank 0 {{ {both} }} {two}")), [100, 110]);
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
        assert_eq!(ends(text), [30, 40]);
    }

    #[test]
    fn a_wrong_tag_is_waited_for_for_ever() {
        let program = parse("num_ranks 2 rank 0 { send 1b to 1 tag 1 } rank 1 { recv 1b from 0 tag 2 }").unwrap();
        let told = completion(&program, Rate(1), Span::ZERO).unwrap_err();
        assert_eq!(told, "rank 1 waits for messages that never come: 1 operations are not done");
    }
}
