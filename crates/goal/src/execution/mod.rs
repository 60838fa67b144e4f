//! A program as it is done: which operations may start, which messages fit which receives, who waited for whom.
//!
//! It has no clock and no network. Whoever carries it is given a [`Task`] for each computation and each message, and says when that is
//! over ([`Execution::computed`], [`Execution::arrived`], [`Execution::acknowledged`]). As in LogGOPSim with o = g = 0, the send of a message
//! up to a size (eager) is done as soon as it has been handed over, that of a larger one (rendezvous) when the sender knows that it is in.
//! A receive is done when its message is in, and operations on one processor follow each other.

pub mod history;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use elephan_units::{Span, Time};

use crate::program::{Action, Others, Program};

/// What a program asks of what carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// The rank computes until then; [`Execution::computed`] ends it.
    Compute { rank: u32, op: u32, until: Time },
    /// The rank has a message for another; [`Execution::arrived`] ends it. If it is `awaited`, operations of the rank wait for
    /// [`Execution::acknowledged`].
    Send { rank: u32, op: u32, to: u32, bytes: u64, nic: u16, awaited: bool },
}

/// The operation of a [`Task::Compute`] with which a rank begins ([`Execution::begin`]).
const LEAD: u32 = u32::MAX;

/// What an operation waited for before it could start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// Nothing but the rank's beginning.
    Nothing,
    /// That an operation of its own rank was done, or that it had started.
    Done(u32),
    Started(u32),
}

/// What the end of an operation waited for beside its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    No,
    /// The computation before it on its processor.
    Processor(u32),
    /// The message of that operation of another rank, which was not in when it was asked for.
    Message {
        from: u32,
        op: u32,
    },
}

/// How many of something there are at a time, and for how long there was one.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    count: u32,
    since: Time,
    sum: Span,
}

impl Busy {
    fn more(&mut self, now: Time) {
        if self.count == 0 {
            self.since = now;
        }
        self.count += 1;
    }

    fn less(&mut self, now: Time) {
        self.count -= 1;
        if self.count == 0 {
            self.sum = self.sum + now.since(self.since);
        }
    }

    fn until(&self, end: Time) -> Span {
        self.sum + if self.count > 0 { end.since(self.since.min(end)) } else { Span::ZERO }
    }
}

#[derive(Clone, Debug, Default)]
struct State {
    /// How long it computed at first.
    lead: Span,
    /// For how many others each operation still waits.
    open: Vec<u32>,
    /// When each started and was done, and what both waited for; of a message, when it was in.
    started: Vec<Time>,
    came_in: Vec<Time>,
    done: Vec<Time>,
    causes: Vec<Cause>,
    held: Vec<Held>,
    /// When each processor is free, and the last computation on it.
    cpus: BTreeMap<u16, (Time, u32)>,
    /// Messages (sender and its operation) that nobody has asked for yet, and receives that no message has come for, in their order.
    come: VecDeque<(u32, u32)>,
    asked: VecDeque<u32>,
    left: usize,
    last: (Time, u32),
    /// When it was last done with something, or a message of its was in.
    end: Time,
    computing: Busy,
    busy: Busy,
}

impl State {
    fn compute(&mut self, now: Time) {
        self.computing.more(now);
        self.busy.more(now);
    }
}

/// A program under way.
#[derive(Clone, Debug)]
pub struct Execution {
    program: Arc<Program>,
    others: Arc<Vec<Others>>,
    /// Largest message whose send is done at once.
    eager: u64,
    ranks: Vec<State>,
    begun: Time,
    /// Ranks that have something to do.
    left: usize,
}

impl Execution {
    /// Of a program whose messages up to `eager` bytes are sent as soon as they have been handed over.
    pub fn new(program: Arc<Program>, eager: u64) -> Execution {
        let others = Arc::new(program.ranks.iter().map(Others::of).collect());
        Execution { ranks: Vec::new(), program, others, eager, begun: Time::ZERO, left: 0 }
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    pub fn eager(&self) -> u64 {
        self.eager
    }

    /// Begins, also again after it was done. Each rank first computes as long as `leads` has it, if that has anything.
    pub fn begin(&mut self, now: Time, leads: &[Span], tasks: &mut Vec<Task>) {
        let states = self.program.ranks.iter().zip(0..).map(|(rank, number): (_, usize)| {
            let count = rank.ops.len();
            let mut open = vec![0; count];
            rank.waits.iter().for_each(|wait| open[wait.of as usize] += 1);
            let never = vec![Time::NEVER; count];
            let (started, came_in, done) = (never.clone(), never.clone(), never);
            let (causes, held) = (vec![Cause::Nothing; count], vec![Held::No; count]);
            State {
                open,
                started,
                came_in,
                done,
                causes,
                held,
                left: count,
                lead: leads.get(number).copied().unwrap_or_default(),
                last: (now, 0),
                end: now,
                ..State::default()
            }
        });
        self.ranks = states.collect();
        self.left = self.ranks.iter().filter(|rank| rank.left > 0).count();
        self.begun = now;
        for rank in 0..self.ranks.len() as u32 {
            let state = &mut self.ranks[rank as usize];
            if state.lead > Span::ZERO && state.left > 0 {
                state.compute(now);
                tasks.push(Task::Compute { rank, op: LEAD, until: now.saturating_add(state.lead) });
            } else {
                state.lead = Span::ZERO;
                self.begin_rank(now, rank, tasks);
            }
        }
    }

    fn begin_rank(&mut self, now: Time, rank: u32, tasks: &mut Vec<Task>) {
        let open = &self.ranks[rank as usize].open;
        let first: Vec<u32> = (0..).zip(open).filter(|&(_, &open)| open == 0).map(|(op, _)| op).collect();
        let mut ready = VecDeque::new();
        for op in first {
            self.start(now, rank, op, Cause::Nothing, &mut ready, tasks);
            self.go_on(now, rank, &mut ready, tasks);
        }
    }

    /// A computation of a rank is over.
    pub fn computed(&mut self, now: Time, rank: u32, op: u32, tasks: &mut Vec<Task>) {
        let state = &mut self.ranks[rank as usize];
        state.computing.less(now);
        state.busy.less(now);
        if op == LEAD { self.begin_rank(now, rank, tasks) } else { self.finish(now, rank, op, tasks) }
    }

    /// The message that a rank sent in an operation is with its receiver.
    pub fn arrived(&mut self, now: Time, from: u32, op: u32, tasks: &mut Vec<Task>) {
        let Action::Send { to, .. } = self.action(from, op) else { return };
        let sender = &mut self.ranks[from as usize];
        sender.busy.less(now);
        sender.came_in[op as usize] = now;
        if sender.done[op as usize] == Time::NEVER {
            // Nobody waits for this send any longer than for its message.
            self.count(now, from, op);
        }
        self.ranks[from as usize].end = now;
        let asked = &self.ranks[to as usize].asked;
        match asked.iter().position(|&recv| self.fits((to, recv), (from, op))) {
            Some(place) => {
                let recv = self.ranks[to as usize].asked.remove(place).unwrap_or_default();
                self.ranks[to as usize].held[recv as usize] = Held::Message { from, op };
                self.finish(now, to, recv, tasks);
            }
            None => self.ranks[to as usize].come.push_back((from, op)),
        }
    }

    /// The sender knows that the message of an operation for which others wait is in.
    pub fn acknowledged(&mut self, now: Time, rank: u32, op: u32, tasks: &mut Vec<Task>) {
        let mut ready = VecDeque::new();
        self.ranks[rank as usize].done[op as usize] = now;
        self.release(rank, op, false, &mut ready);
        self.go_on(now, rank, &mut ready, tasks);
    }

    /// Whether all ranks have done everything.
    pub fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Of a rank that is not done: one receive that waits, as (from, tag).
    pub fn awaited(&self, rank: u32) -> Option<(Option<u32>, Option<u32>)> {
        let recv = *self.ranks[rank as usize].asked.front()?;
        match self.action(rank, recv) {
            Action::Recv { from, tag, .. } => Some((from, tag)),
            Action::Calc { .. } | Action::Send { .. } => None,
        }
    }

    /// How many operations a rank has left.
    pub fn left(&self, rank: u32) -> usize {
        self.ranks[rank as usize].left
    }

    fn action(&self, rank: u32, op: u32) -> Action {
        self.program.ranks[rank as usize].ops[op as usize].action
    }

    /// Whether a receive takes a message, each given by its rank and operation.
    fn fits(&self, recv: (u32, u32), send: (u32, u32)) -> bool {
        match (self.action(recv.0, recv.1), self.action(send.0, send.1)) {
            (Action::Recv { from, tag, .. }, Action::Send { tag: its, .. }) => {
                from.is_none_or(|from| from == send.0) && tag.is_none_or(|tag| tag == its)
            }
            _ => false,
        }
    }

    fn finish(&mut self, now: Time, rank: u32, op: u32, tasks: &mut Vec<Task>) {
        let mut ready = VecDeque::new();
        self.done(now, rank, op, &mut ready);
        self.go_on(now, rank, &mut ready, tasks);
    }

    /// Starts what has become free, and what that frees.
    fn go_on(&mut self, now: Time, rank: u32, ready: &mut VecDeque<(u32, Cause)>, tasks: &mut Vec<Task>) {
        while let Some((op, cause)) = ready.pop_front() {
            self.start(now, rank, op, cause, ready, tasks);
        }
    }

    fn start(
        &mut self,
        now: Time,
        rank: u32,
        number: u32,
        cause: Cause,
        ready: &mut VecDeque<(u32, Cause)>,
        tasks: &mut Vec<Task>,
    ) {
        let op = self.program.ranks[rank as usize].ops[number as usize];
        let own = &mut self.ranks[rank as usize];
        (own.causes[number as usize], own.started[number as usize]) = (cause, now);
        self.release(rank, number, true, ready);
        let state = &mut self.ranks[rank as usize];
        match op.action {
            Action::Calc { ns } => {
                let (free, before) = state.cpus.get(&op.cpu).copied().unwrap_or((Time::ZERO, number));
                if free > now {
                    state.held[number as usize] = Held::Processor(before);
                }
                let until = now.max(free).saturating_add(Span::from_ns(ns));
                state.cpus.insert(op.cpu, (until, number));
                state.compute(now);
                tasks.push(Task::Compute { rank, op: number, until });
            }
            Action::Send { bytes, to, .. } => {
                state.busy.more(now);
                let waits = self.others[rank as usize].after(number).iter().any(|wait| !wait.start);
                let awaited = waits && bytes > self.eager;
                tasks.push(Task::Send { rank, op: number, to, bytes, nic: op.nic, awaited });
                if bytes <= self.eager {
                    self.done(now, rank, number, ready);
                }
            }
            Action::Recv { .. } => {
                let come = &self.ranks[rank as usize].come;
                match come.iter().position(|&send| self.fits((rank, number), send)) {
                    Some(place) => {
                        self.ranks[rank as usize].come.remove(place);
                        self.done(now, rank, number, ready);
                    }
                    None => self.ranks[rank as usize].asked.push_back(number),
                }
            }
        }
    }

    fn done(&mut self, now: Time, rank: u32, op: u32, ready: &mut VecDeque<(u32, Cause)>) {
        self.count(now, rank, op);
        self.release(rank, op, false, ready);
    }

    /// The rank has one operation less to do.
    fn count(&mut self, now: Time, rank: u32, op: u32) {
        let state = &mut self.ranks[rank as usize];
        state.done[op as usize] = now;
        (state.last, state.end) = ((now, op), now);
        state.left -= 1;
        self.left -= usize::from(state.left == 0);
    }

    /// What waits for the start, or for the end, of an operation waits for one less.
    fn release(&mut self, rank: u32, op: u32, start: bool, ready: &mut VecDeque<(u32, Cause)>) {
        let open = &mut self.ranks[rank as usize].open;
        for wait in self.others[rank as usize].after(op).iter().filter(|wait| wait.start == start) {
            open[wait.of as usize] -= 1;
            if open[wait.of as usize] == 0 {
                ready.push_back((wait.of, if start { Cause::Started(op) } else { Cause::Done(op) }));
            }
        }
    }
}

#[cfg(test)]
mod tests;
