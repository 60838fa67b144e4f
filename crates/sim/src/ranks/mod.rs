//! Ranks of parallel programs: what an [`elephan_goal::Execution`] asks for, done with the connections of the ranks' hosts.
//!
//! A message is so many bytes of the stream of its pair. It is in when the receiver's stream has come to its last byte.

mod game;
mod rows;

pub use game::{Due, Game, Games};

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use elephan_goal::{Execution, Task};
use elephan_scenario::FlowPlan;
use elephan_traffic::Spec as _;
use elephan_units::Time;

use crate::flow::{Application, stable_key};
use crate::net::NONE;
use crate::target::Target;
use crate::world::World;

impl World {
    /// Prepares the groups of a traffic entry, whose flows are their pairs.
    pub fn create_games(&mut self, traffic: u32, made: &[(u32, FlowPlan)]) {
        let plan = self.plan.clone();
        let entry = &plan.traffic[traffic as usize];
        let Some(parallel) = entry.kind.parallel() else { return };
        for (number, group) in (0u32..).zip(&entry.groups) {
            let pairs = group.program.pairs();
            let place = self.games.len() as u32;
            let mut flows = Vec::with_capacity(pairs.len());
            for (pair, &(id, _)) in (0u32..).zip(&made[group.first..group.first + pairs.len()]) {
                if let Some(flow) = &mut self.flows[id as usize] {
                    flow.application =
                        Application::Ranks { game: place, pair, total: 0, due: VecDeque::new(), sent: VecDeque::new() };
                    flows.push((id, flow.number));
                }
            }
            let path = format!("{}/group[{number}]", self.traffic_path(traffic));
            let sampler = parallel.compute.as_ref().map(|compute| compute.sampler());
            self.games.push(Game {
                traffic,
                group: number,
                first: group.first,
                execution: Execution::new(group.program.clone(), parallel.eager),
                hosts: group.hosts.clone(),
                pairs,
                flows,
                key: stable_key(&path, 0),
                opened: 0,
                compute: sampler.map(|sampler| (sampler, self.stream(&path, "compute"))),
                leads: Vec::new(),
                begun: 0,
                left: parallel.iterations,
                begin: None,
                computing: BinaryHeap::new(),
                tasks: Vec::new(),
                sent_before: Vec::new(),
                ideal: None,
                touched: Vec::new(),
            });
        }
    }

    /// The connection of a pair has been opened.
    pub fn begin_pair(&mut self, now: Time, place: u32) {
        let game = &mut self.games[place as usize];
        game.opened += 1;
        if game.opened == game.flows.len() {
            self.next_iteration(now, place);
        }
    }

    fn next_iteration(&mut self, now: Time, place: u32) {
        let game = &mut self.games[place as usize];
        if game.left == 0 {
            return self.end_game(now, place);
        }
        (game.left, game.begun) = (game.left - 1, game.begun + 1);
        game.begin = Some(now);
        game.draw();
        game.sent_before = self.net.links.iter().map(|link| link.counts.tx_bytes).collect();
        game.execution.begin(now, &game.leads, &mut game.tasks);
        self.do_tasks(now, place);
    }

    /// Computations of ranks are over.
    pub fn ranks_computed(&mut self, now: Time, place: u32) {
        let game = &mut self.games[place as usize];
        while let Some(&Reverse((end, rank, op))) = game.computing.peek()
            && end <= now
        {
            game.computing.pop();
            game.execution.computed(now, rank, op, &mut game.tasks);
        }
        self.do_tasks(now, place);
    }

    /// The stream of a pair has come so far.
    pub fn ranks_received(&mut self, now: Time, id: u32, received: u64) {
        let Some(flow) = &mut self.flows[id as usize] else { return };
        let Application::Ranks { game: place, pair, due, .. } = &mut flow.application else { return };
        let place = *place;
        let game = &mut self.games[place as usize];
        let (from, mut any) = (game.pairs[*pair as usize].0, false);
        while let Some(message) = due.pop_front_if(|message| message.end <= received) {
            game.execution.arrived(now, from, message.op, &mut game.tasks);
            any = true;
        }
        if any {
            self.do_tasks(now, place);
        }
    }

    /// The stream of a pair has been acknowledged so far.
    pub fn ranks_acknowledged(&mut self, now: Time, id: u32, acked: u64) {
        let Some(flow) = &mut self.flows[id as usize] else { return };
        let Application::Ranks { game: place, pair, sent, .. } = &mut flow.application else { return };
        let place = *place;
        let game = &mut self.games[place as usize];
        let (from, mut any) = (game.pairs[*pair as usize].0, false);
        while let Some(message) = sent.pop_front_if(|message| message.end <= acked) {
            game.execution.acknowledged(now, from, message.op, &mut game.tasks);
            any = true;
        }
        if any {
            self.do_tasks(now, place);
        }
    }

    /// Does what the program has asked for; if that was all, the iteration is over.
    fn do_tasks(&mut self, now: Time, place: u32) {
        let game = &mut self.games[place as usize];
        let mut tasks = std::mem::take(&mut game.tasks);
        for task in tasks.drain(..) {
            match task {
                Task::Compute { rank, op, until } => {
                    let game = &mut self.games[place as usize];
                    game.computing.push(Reverse((until, rank, op)));
                    self.net.events.push(Target::Ranks(place).keyed(until, game.key));
                }
                Task::Send { rank, op, to, bytes, awaited, .. } => {
                    self.send_message(now, place, (rank, to), Due { end: bytes, op }, awaited);
                }
            }
        }
        let game = &mut self.games[place as usize];
        game.tasks = tasks;
        let mut touched = std::mem::take(&mut game.touched);
        let over = game.execution.is_done() && game.begin.is_some();
        touched.sort_unstable();
        touched.dedup();
        for socket in touched.drain(..) {
            self.flush(now, socket);
        }
        self.games[place as usize].touched = touched;
        if over {
            self.end_iteration(now, place);
            self.next_iteration(now, place);
        }
    }

    /// Lengthens the stream of a pair by a message, whose `end` is its length.
    fn send_message(&mut self, now: Time, place: u32, pair: (u32, u32), message: Due, awaited: bool) {
        let game = &mut self.games[place as usize];
        let Ok(found) = game.pairs.binary_search(&pair) else { return };
        let (id, number) = game.flows[found];
        // A connection that was given up takes nothing more.
        let Some(flow) = self.flows[id as usize].as_mut().filter(|flow| flow.number == number) else { return };
        let Application::Ranks { total, due, sent, .. } = &mut flow.application else { return };
        *total += message.end;
        let message = Due { end: *total, op: message.op };
        due.push_back(message);
        if awaited {
            sent.push_back(message);
        }
        let total = *total;
        if flow.rdma != NONE {
            let rdma = flow.rdma;
            self.rdma.pairs[rdma as usize].ends.post(total);
            return self.rdma_go_on(now, rdma);
        }
        let (sender, receiver, wakes) = (flow.sender, flow.receiver, [flow.wake(true), flow.wake(false)]);
        self.sockets[sender as usize].endpoint.supply(total);
        [self.sockets[sender as usize].wake, self.sockets[receiver as usize].wake] = wakes;
        game.touched.push(sender);
    }

    /// Nothing more will be sent.
    fn end_game(&mut self, now: Time, place: u32) {
        for i in 0..self.games[place as usize].flows.len() {
            let (id, number) = self.games[place as usize].flows[i];
            let Some(flow) = self.flows[id as usize].as_ref().filter(|flow| flow.number == number) else { continue };
            let (rdma, sender, receiver) = (flow.rdma, flow.sender, flow.receiver);
            if rdma != NONE {
                self.rdma_end(now, rdma);
                continue;
            }
            self.sockets[sender as usize].endpoint.end_stream(now);
            for end in [sender, receiver] {
                self.sockets[end as usize].wake = 0;
            }
            self.flush(now, sender);
        }
    }

    /// The groups of a traffic entry begin no other iteration.
    pub fn stop_games(&mut self, traffic: u32) {
        self.games.iter_mut().filter(|game| game.traffic == traffic).for_each(|game| game.left = 0);
    }
}
