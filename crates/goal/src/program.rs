//! Programs, and what is wrong with one.

use elephan_units::stop;

/// Ranks of a program, at most: a host each.
pub const RANKS_MAX: u32 = 1 << 20;

/// What a rank does in one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Computes for so many nanoseconds.
    Calc { ns: u64 },
    /// Sends a message.
    Send { bytes: u64, to: u32, tag: u32 },
    /// Waits for a message; `None` is any rank, or any tag.
    Recv { bytes: u64, from: Option<u32>, tag: Option<u32> },
}

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    pub action: Action,
    /// The processor that computes; operations on one processor do not overlap.
    pub cpu: u16,
    /// The network interface that sends or receives.
    pub nic: u16,
}

impl Op {
    /// An operation on the first processor and interface.
    pub fn new(action: Action) -> Op {
        Op { action, cpu: 0, nic: 0 }
    }
}

/// An operation of a rank waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub of: u32,
    pub on: u32,
    /// Until the other has started (`irequires`), not until it is done (`requires`).
    pub start: bool,
}

/// What a rank does, and in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rank {
    pub ops: Vec<Op>,
    pub waits: Vec<Wait>,
}

/// What each rank does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    pub ranks: Vec<Rank>,
}

impl Program {
    /// Returns what is wrong with a program that can be read: an operation that waits for itself, or messages that do not fit together.
    ///
    /// The error has the rank that it is about.
    pub fn check(&self) -> Result<(), (usize, String)> {
        for (number, rank) in self.ranks.iter().enumerate() {
            stop::look();
            if let Some(op) = rank.waits_for_itself() {
                return Err((number, format!("rank {number}: operation {op} waits for itself, by way of others")));
            }
        }
        self.check_messages()
    }

    /// Whether each rank receives as many messages as are sent to it.
    fn check_messages(&self) -> Result<(), (usize, String)> {
        let mut sent = vec![0u64; self.ranks.len()];
        for op in self.ranks.iter().flat_map(|rank| &rank.ops) {
            if let Action::Send { to, .. } = op.action {
                sent[to as usize] += 1;
            }
        }
        for (number, (rank, sent)) in self.ranks.iter().zip(sent).enumerate() {
            let received = rank.ops.iter().filter(|op| matches!(op.action, Action::Recv { .. })).count() as u64;
            if received != sent {
                return Err((number, format!("rank {number} receives {received} messages, and {sent} are sent to it")));
            }
        }
        Ok(())
    }

    /// Which rank sends to which, in order, each pair once.
    pub fn pairs(&self) -> Vec<(u32, u32)> {
        let sends = |(from, rank): (u32, &Rank)| {
            stop::look();
            let to = rank.ops.iter().filter_map(move |op| match op.action {
                Action::Send { to, .. } => Some((from, to)),
                Action::Calc { .. } | Action::Recv { .. } => None,
            });
            let mut to: Vec<(u32, u32)> = to.collect();
            to.sort_unstable();
            to.dedup();
            to
        };
        (0..).zip(&self.ranks).flat_map(sends).collect()
    }

    /// Bytes of all messages.
    pub fn bytes(&self) -> u64 {
        let ops = self.ranks.iter().flat_map(|rank| &rank.ops);
        ops.map(|op| if let Action::Send { bytes, .. } = op.action { bytes } else { 0 }).fold(0, u64::saturating_add)
    }
}

impl Rank {
    /// Returns an operation of a circle, if there is one: what is left when all that waits for nothing has been taken away.
    fn waits_for_itself(&self) -> Option<usize> {
        let mut open = vec![0u32; self.ops.len()];
        self.waits.iter().for_each(|wait| open[wait.of as usize] += 1);
        let others = Others::of(self);
        let mut free: Vec<usize> = (0..open.len()).filter(|&place| open[place] == 0).collect();
        while let Some(place) = free.pop() {
            for wait in others.after(place as u32) {
                open[wait.of as usize] -= 1;
                if open[wait.of as usize] == 0 {
                    free.push(wait.of as usize);
                }
            }
        }
        open.iter().position(|&open| open > 0)
    }
}

/// Who waits for an operation: the waits of a rank in the order of what they wait for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Others {
    waits: Vec<Wait>,
    /// Where those on each operation begin.
    begins: Vec<u32>,
}

impl Others {
    pub(crate) fn of(rank: &Rank) -> Others {
        let mut waits = rank.waits.clone();
        waits.sort_by_key(|wait| wait.on);
        let mut begins = vec![0u32; rank.ops.len() + 1];
        waits.iter().for_each(|wait| begins[wait.on as usize + 1] += 1);
        let mut sum = 0;
        for begin in &mut begins {
            sum += *begin;
            *begin = sum;
        }
        Others { waits, begins }
    }

    pub(crate) fn after(&self, op: u32) -> &[Wait] {
        &self.waits[self.begins[op as usize] as usize..self.begins[op as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(waits: &[(u32, u32)]) -> Rank {
        let ops = vec![Op::new(Action::Calc { ns: 1 }); 3];
        Rank { ops, waits: waits.iter().map(|&(of, on)| Wait { of, on, start: false }).collect() }
    }

    #[test]
    fn a_circle_is_found() {
        assert_eq!(rank(&[(1, 0), (2, 0), (2, 1)]).waits_for_itself(), None);
        assert_eq!(rank(&[(1, 2), (2, 1)]).waits_for_itself(), Some(1));
        let program = Program { ranks: vec![rank(&[(0, 0)])] };
        assert_eq!(
            program.check().unwrap_err(),
            (0, "rank 0: operation 0 waits for itself, by way of others".to_owned())
        );
    }

    #[test]
    fn messages_that_nobody_receives_are_told() {
        let send = Op::new(Action::Send { bytes: 1, to: 1, tag: 0 });
        let program = Program { ranks: vec![Rank { ops: vec![send], waits: vec![] }, Rank::default()] };
        assert_eq!(program.check().unwrap_err(), (1, "rank 1 receives 0 messages, and 1 are sent to it".to_owned()));
        assert_eq!((program.pairs(), program.bytes()), (vec![(0, 1)], 1));
    }
}
