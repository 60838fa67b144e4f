//! Programs, and what is wrong with one.

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    pub action: Action,
    /// The processor that computes; operations on one processor do not overlap.
    pub cpu: u32,
    /// The network interface that sends or receives.
    pub nic: u32,
    /// Operations of the rank that must be done before this one starts (`requires`).
    pub requires: Vec<u32>,
    /// Operations of the rank that must have started before (`irequires`).
    pub irequires: Vec<u32>,
}

impl Op {
    /// An operation on the first processor and interface that waits for these others.
    pub fn new(action: Action, requires: Vec<u32>) -> Op {
        Op { action, cpu: 0, nic: 0, requires, irequires: Vec::new() }
    }
}

/// What each rank does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    pub ranks: Vec<Vec<Op>>,
}

impl Program {
    /// Returns what is wrong with a program that can be read: an operation that waits for itself, or messages that do not fit together.
    pub fn check(&self) -> Result<(), String> {
        for (rank, ops) in self.ranks.iter().enumerate() {
            if let Some(op) = waits_for_itself(ops) {
                return Err(format!("rank {rank}: operation {op} waits for itself, by way of others"));
            }
        }
        self.check_messages()
    }

    /// Whether each rank receives as many messages as are sent to it.
    fn check_messages(&self) -> Result<(), String> {
        let mut sent = vec![0u64; self.ranks.len()];
        for op in self.ranks.iter().flatten() {
            if let Action::Send { to, .. } = op.action {
                sent[to as usize] += 1;
            }
        }
        for (rank, (ops, sent)) in self.ranks.iter().zip(sent).enumerate() {
            let received = ops.iter().filter(|op| matches!(op.action, Action::Recv { .. })).count() as u64;
            if received != sent {
                return Err(format!("rank {rank} receives {received} messages, and {sent} are sent to it"));
            }
        }
        Ok(())
    }
}

/// Returns an operation of a circle, if there is one: what is left when all that waits for nothing has been taken away.
fn waits_for_itself(ops: &[Op]) -> Option<usize> {
    let mut waits: Vec<usize> = ops.iter().map(|op| op.requires.len() + op.irequires.len()).collect();
    let mut others = vec![Vec::new(); ops.len()];
    for (place, op) in ops.iter().enumerate() {
        for &other in op.requires.iter().chain(&op.irequires) {
            others[other as usize].push(place);
        }
    }
    let mut free: Vec<usize> = (0..ops.len()).filter(|&place| waits[place] == 0).collect();
    while let Some(place) = free.pop() {
        for &other in &others[place] {
            waits[other] -= 1;
            if waits[other] == 0 {
                free.push(other);
            }
        }
    }
    waits.iter().position(|&waits| waits > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calc(requires: Vec<u32>) -> Op {
        Op::new(Action::Calc { ns: 1 }, requires)
    }

    #[test]
    fn a_circle_is_found() {
        assert_eq!(waits_for_itself(&[calc(vec![]), calc(vec![0]), calc(vec![0, 1])]), None);
        assert_eq!(waits_for_itself(&[calc(vec![]), calc(vec![2]), calc(vec![1])]), Some(1));
        let program = Program { ranks: vec![vec![calc(vec![0])]] };
        assert_eq!(program.check().unwrap_err(), "rank 0: operation 0 waits for itself, by way of others");
    }

    #[test]
    fn messages_that_nobody_receives_are_told() {
        let send = Op::new(Action::Send { bytes: 1, to: 1, tag: 0 }, vec![]);
        let program = Program { ranks: vec![vec![send], vec![]] };
        assert_eq!(program.check().unwrap_err(), "rank 1 receives 0 messages, and 1 are sent to it");
    }
}
