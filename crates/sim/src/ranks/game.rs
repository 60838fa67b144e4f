//! A parallel program under way: its ranks, their connections, what is drawn for them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use elephan_goal::{Execution, Task};
use elephan_random::Stream;
use elephan_traffic::Sampler;
use elephan_units::{Span, Time};

/// The parallel programs of a run.
pub type Games = Vec<Game>;

/// A group of ranks.
#[derive(Clone)]
pub struct Game {
    pub traffic: u32,
    /// Its number within the traffic entry, and index of its first flow in the plan.
    pub group: u32,
    pub first: usize,
    pub execution: Execution,
    pub hosts: Vec<u32>,
    /// Pairs of ranks that talk, in order, and the places and numbers of their flows.
    pub pairs: Vec<(u32, u32)>,
    pub flows: Vec<(u32, u32)>,
    pub key: u32,
    /// Flows whose connections have been opened; it begins with the last.
    pub opened: usize,
    /// What each rank computes at first is drawn from.
    pub compute: Option<(Sampler, Stream)>,
    pub leads: Vec<Span>,
    /// Iterations that have begun, and those that may begin.
    pub begun: u64,
    pub left: u64,
    /// When the present one began.
    pub begin: Option<Time>,
    /// Computations that are not over: their ends, ranks and operations.
    pub computing: BinaryHeap<Reverse<(Time, u32, u32)>>,
    pub tasks: Vec<Task>,
    /// Bytes that each link had sent when the iteration began.
    pub sent_before: Vec<u64>,
    /// What an iteration takes alone in the network, where it is the same each time.
    pub ideal: Option<Span>,
    /// Sockets that may have something to send.
    pub touched: Vec<u32>,
}

impl Game {
    /// Draws what each rank computes before an iteration.
    pub fn draw(&mut self) {
        let Some((sampler, stream)) = &mut self.compute else { return };
        self.leads.clear();
        let draw = |_: &u32| Span(sampler.sample(stream, (0, u64::MAX / 4)));
        self.leads.extend(self.hosts.iter().map(draw));
    }

    /// Whether all iterations have the same ideal.
    pub fn is_regular(&self) -> bool {
        matches!(self.compute, None | Some((Sampler::Fixed(_), _)))
    }

    /// When the last rank has computed what it does first.
    pub fn ready(&self, begin: Time) -> Time {
        begin.saturating_add(self.leads.iter().copied().max().unwrap_or_default())
    }
}

/// A message on its way: where in the stream it ends, and the operation that sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    pub end: u64,
    pub op: u32,
}
