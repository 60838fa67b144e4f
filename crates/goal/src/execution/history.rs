//! What has been done: by each rank, and what the end hung on.

use elephan_units::{Span, Time};

use super::{Cause, Execution, Held};
use crate::program::Action;

/// What a rank did until an iteration was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// When it had done everything, and its messages were in.
    pub end: Time,
    /// How long one of its processors computed.
    pub computed: Span,
    /// How long, before its end, it neither computed nor had a message on the way.
    pub waited: Span,
}

/// What an operation of a rank was, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    pub what: What,
    pub begin: Time,
    pub end: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Computed,
    /// A message, until it was in.
    Sent {
        to: u32,
        bytes: u64,
    },
    /// A message was not in when it was asked for.
    Waited {
        from: u32,
        bytes: u64,
    },
}

/// A stretch of the critical path: what had to be over before the next could begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub rank: u32,
    /// To whom the rank sent so many bytes; without it the rank computed.
    pub message: Option<(u32, u64)>,
    pub begin: Time,
    pub end: Time,
}

impl Execution {
    /// What a rank did until `now`, or until it was done.
    pub fn account(&self, rank: u32, now: Time) -> Account {
        let state = &self.ranks[rank as usize];
        let end = if state.left == 0 && state.busy.count == 0 { state.end } else { now };
        let busy = state.busy.until(end).min(end.since(self.begun));
        Account { end, computed: state.computing.until(end), waited: end.since(self.begun) - busy }
    }

    /// What a rank did, when everything is done, in the order of its program.
    pub fn operations(&self, rank: u32) -> impl Iterator<Item = Done> + '_ {
        let state = &self.ranks[rank as usize];
        let lead = self.begun.saturating_add(state.lead);
        let first = Done { what: What::Computed, begin: self.begun, end: lead };
        let each = (0u32..).zip(&self.program.ranks[rank as usize].ops).map(move |(number, op)| {
            let (begin, end) = (state.started[number as usize], state.done[number as usize]);
            match (op.action, state.held[number as usize]) {
                (Action::Calc { ns }, _) => {
                    Done { what: What::Computed, begin: Time(end.ps() - Span::from_ns(ns).ps()), end }
                }
                (Action::Send { to, bytes, .. }, _) => {
                    Done { what: What::Sent { to, bytes }, begin, end: state.came_in[number as usize] }
                }
                (Action::Recv { bytes, .. }, Held::Message { from, .. }) => {
                    Done { what: What::Waited { from, bytes }, begin, end }
                }
                // It was there already.
                (Action::Recv { bytes, .. }, _) => Done { what: What::Waited { from: rank, bytes }, begin, end: begin },
            }
        });
        std::iter::once(first).chain(each).filter(|done| done.end > done.begin)
    }

    /// What the last rank's end hung on, from the beginning on: each stretch ends where the next begins.
    pub fn critical_path(&self) -> Vec<Stretch> {
        let Some((rank, state)) = (0u32..).zip(&self.ranks).max_by_key(|(rank, state)| (state.last.0, u32::MAX - rank))
        else {
            return Vec::new();
        };
        let mut path = Vec::new();
        let mut at = (!state.done.is_empty()).then_some((rank, Cause::Done(state.last.1)));
        while let Some((rank, cause)) = at {
            at = match cause {
                Cause::Nothing => {
                    let lead = self.ranks[rank as usize].lead;
                    if lead > Span::ZERO {
                        let end = self.begun.saturating_add(lead);
                        path.push(Stretch { rank, message: None, begin: self.begun, end });
                    }
                    None
                }
                Cause::Started(op) => Some((rank, self.ranks[rank as usize].causes[op as usize])),
                Cause::Done(op) => Some(self.before(rank, op, &mut path)),
            };
        }
        path.reverse();
        path
    }

    /// What the end of an operation hung on; its own stretch goes onto the path.
    fn before(&self, rank: u32, op: u32, path: &mut Vec<Stretch>) -> (u32, Cause) {
        let state = &self.ranks[rank as usize];
        let (began, end) = (state.started[op as usize], state.done[op as usize]);
        match (self.action(rank, op), state.held[op as usize]) {
            (Action::Calc { ns }, held) => {
                let begin = Time(end.ps() - Span::from_ns(ns).ps());
                path.push(Stretch { rank, message: None, begin, end });
                if let Held::Processor(before) = held {
                    return (rank, Cause::Done(before));
                }
            }
            (Action::Recv { .. }, Held::Message { from, op }) => {
                let begin = self.ranks[from as usize].started[op as usize];
                if let Action::Send { to, bytes, .. } = self.action(from, op) {
                    path.push(Stretch { rank: from, message: Some((to, bytes)), begin, end });
                }
                // The message begins where its sender's operation starts.
                return (from, self.ranks[from as usize].causes[op as usize]);
            }
            (Action::Send { to, bytes, .. }, _) if end > began => {
                path.push(Stretch { rank, message: Some((to, bytes)), begin: began, end });
            }
            (Action::Recv { .. } | Action::Send { .. }, _) => {}
        }
        (rank, state.causes[op as usize])
    }
}
