//! Rows of iterations and ranks: how long each took, how long it would have taken alone, and who held it back.

use std::collections::BTreeMap;

use elephan_goal::ideal::{self, Cost};
use elephan_goal::{Account, Done, Stretch, What};
use elephan_record::{IterationRow, OperationRow, RankRow, Text};
use elephan_traffic::Spec as _;
use elephan_units::{Span, Time, stop};

use super::game::Game;
use crate::flow::{Application, Flow};
use crate::ids::LinkId;
use crate::world::World;

/// Kinds of operations in the table.
const KINDS: [&str; 3] = ["compute", "send", "wait"];

/// Who held an iteration back: a rank, to whom its messages went if it did not compute, and by how many ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Straggler {
    ps: u64,
    rank: u32,
    to: Option<u32>,
}

impl World {
    /// All ranks have done everything.
    pub(super) fn end_iteration(&mut self, now: Time, place: u32) {
        let Some(begin) = self.games[place as usize].begin else { return };
        let ideal = self.ideal_iteration(place);
        let game = &self.games[place as usize];
        let entry = &self.plan.traffic[game.traffic as usize];
        let (took, ready) = (now.since(begin), game.ready(begin));
        let bits = entry.kind.parallel().and_then(|parallel| parallel.bus_bits(game.hosts.len() as u32));
        let path = game.execution.critical_path();
        let (computed, messages) = path.iter().fold((0, 0), |(computed, messages), stretch| {
            let ps = stretch.end.since(stretch.begin).ps();
            if stretch.message.is_some() { (computed, messages + ps) } else { (computed + ps, messages) }
        });
        let mut row = self.iteration_row(game, begin);
        row.end_ns = Some(now.ns());
        row.ideal_ns = ideal.map(Span::ns);
        row.slowdown = ideal.map(|ideal| took.ps() as f64 / ideal.ps().max(1) as f64);
        row.bus_bps = bits.map(|bits| bits / now.since(ready.min(now)).seconds().max(1e-12));
        row.path_computed_ns = Some(Span(computed).ns());
        row.path_messages_ns = Some(Span(messages).ns());
        let late = ideal.map_or(u64::MAX, |ideal| took.ps().saturating_sub(ideal.ps()));
        if let Some(straggler) = self.straggler(game, now, &path, late) {
            row.straggler = self.tables.node(game.hosts[straggler.rank as usize]);
            row.straggler_ns = Span(straggler.ps).ns();
            if let Some(to) = straggler.to {
                row.straggler_to = self.tables.node(game.hosts[to as usize]);
                row.straggling_link = self.busiest_link(game, (straggler.rank, to));
            }
        }
        self.recorder.iterations.push(row);
        self.rank_rows(place, now, true);
        if self.plan.record.operations {
            self.operation_rows(place);
        }
        if begin >= self.plan.warmup {
            self.tables.iterations.add(took);
        }
        self.games[place as usize].begin = None;
    }

    /// Rows of the iterations that the end of the run cut off.
    pub fn finish_games(&mut self) {
        let now = self.plan.duration;
        for place in 0..self.games.len() as u32 {
            let game = &self.games[place as usize];
            if let Some(begin) = game.begin {
                let mut row = self.iteration_row(game, begin);
                if let Some(words) = self.stuck(game) {
                    row.stuck = self.recorder.intern(&words);
                }
                self.recorder.iterations.push(row);
                self.rank_rows(place, now, false);
            }
        }
    }

    /// Why an iteration can never end, if nothing of it is under way.
    fn stuck(&self, game: &Game) -> Option<String> {
        let on_its_way = |&(id, number): &(u32, u32)| match &self.flows[id as usize] {
            Some(Flow { number: own, application: Application::Ranks { due, sent, .. }, .. }) if *own == number => {
                !due.is_empty() || !sent.is_empty()
            }
            // A connection that was given up, or is over, carries nothing more.
            _ => false,
        };
        if !game.computing.is_empty() || game.flows.iter().any(on_its_way) {
            return None;
        }
        let waits = |rank: u32| Some((rank, game.execution.awaited(rank)?));
        let (rank, (from, tag)) = (0..game.hosts.len() as u32).find_map(waits)?;
        let name = |rank: u32| &self.plan.nodes[game.hosts[rank as usize] as usize].name;
        let tag = tag.map_or(String::new(), |tag| format!(" with tag {tag}"));
        let from = from.map_or("anybody", |from| name(from));
        Some(format!("{} waits for a message{tag} from {from}", name(rank)))
    }

    fn iteration_row(&self, game: &Game, begin: Time) -> IterationRow {
        let empty = self.tables.empty;
        IterationRow {
            traffic: self.tables.traffic(game.traffic),
            group: i64::from(game.group),
            iteration: game.begun as i64 - 1,
            ranks: game.hosts.len() as i64,
            begin_ns: begin.ns(),
            ready_ns: game.ready(begin).ns(),
            end_ns: None,
            bytes: game.execution.program().bytes() as i64,
            ideal_ns: None,
            slowdown: None,
            bus_bps: None,
            path_computed_ns: None,
            path_messages_ns: None,
            straggler: empty,
            straggler_to: empty,
            straggler_ns: 0,
            straggling_link: empty,
            stuck: empty,
        }
    }

    fn rank_rows(&mut self, place: u32, now: Time, over: bool) {
        let World { games, tables, recorder, .. } = self;
        let game = &games[place as usize];
        for (rank, &host) in (0u32..).zip(&game.hosts) {
            let Account { end, computed, waited } = game.execution.account(rank, now);
            recorder.ranks.push(RankRow {
                traffic: tables.traffic(game.traffic),
                group: i64::from(game.group),
                iteration: game.begun as i64 - 1,
                rank: i64::from(rank),
                host: tables.node(host),
                end_ns: (over || game.execution.left(rank) == 0).then_some(end.ns()),
                computed_ns: computed.ns(),
                waited_ns: waited.ns(),
            });
        }
    }

    fn operation_rows(&mut self, place: u32) {
        let words = KINDS.map(|word| self.recorder.intern(word));
        let World { games, tables, recorder, .. } = self;
        let game = &games[place as usize];
        for rank in 0..game.hosts.len() as u32 {
            stop::look();
            for Done { what, begin, end } in game.execution.operations(rank) {
                let (kind, peer, bytes) = match what {
                    What::Computed => (0, None, 0),
                    What::Sent { to, bytes } => (1, Some(to), bytes),
                    What::Waited { from, bytes } => (2, Some(from), bytes),
                };
                recorder.operations.push(OperationRow {
                    traffic: tables.traffic(game.traffic),
                    group: i64::from(game.group),
                    iteration: game.begun as i64 - 1,
                    rank: i64::from(rank),
                    kind: words[kind],
                    peer: peer.map(i64::from),
                    bytes: bytes as i64,
                    begin_ns: begin.ns(),
                    end_ns: end.ns(),
                });
            }
        }
    }

    /// What an iteration takes alone in the network.
    fn ideal_iteration(&mut self, place: u32) -> Option<Span> {
        let game = &self.games[place as usize];
        if game.is_regular() && game.ideal.is_some() {
            return game.ideal;
        }
        let group = &self.plan.traffic[game.traffic as usize].groups[game.group as usize];
        let mut known = BTreeMap::new();
        let mut cost = |from, to, bytes| {
            stop::look();
            *known.entry((from, to, bytes)).or_insert_with(|| self.alone(game, (from, to), bytes))
        };
        let ends = ideal::completion(&group.program, game.execution.eager(), &game.leads, &mut cost).ok();
        let ideal = ends.and_then(|ends| ends.into_iter().max()).map(|end| end.since(Time::ZERO));
        self.games[place as usize].ideal = ideal;
        ideal
    }

    /// What a message between two ranks takes alone in the network.
    fn alone(&self, game: &Game, pair: (u32, u32), bytes: u64) -> Cost {
        let found = game.pairs.binary_search(&pair).ok();
        let flow = found.map(|place| self.plan.traffic[game.traffic as usize].flows[game.first + place]);
        let alone = |flow| {
            let (busy, all) = self.stream_alone(game.traffic, flow, bytes)?;
            Some(Cost { busy, latency: all - busy.min(all), back: self.answer_alone(flow)? })
        };
        flow.and_then(alone).unwrap_or(Cost { busy: Span::ZERO, latency: Span::ZERO, back: Span::ZERO })
    }

    /// Who is on the critical path for longest beyond what is his due: computing beyond the mean of all ranks, messages beyond what
    /// they take alone. Messages also wait for each other in the ideal, so that they hold an iteration back by no more than the whole
    /// is late.
    fn straggler(&self, game: &Game, now: Time, path: &[Stretch], late: u64) -> Option<Straggler> {
        let ranks = game.hosts.len() as u64;
        let computed = |rank: u32| game.execution.account(rank, now).computed.ps();
        let mean = (0..ranks as u32).map(computed).sum::<u64>() / ranks.max(1);
        let mut held: BTreeMap<(u32, Option<u32>), u64> = BTreeMap::new();
        for stretch in path {
            let ps = stretch.end.since(stretch.begin).ps();
            let (to, due) = match stretch.message {
                None => (None, 0),
                Some((to, bytes)) => {
                    let Cost { busy, latency, .. } = self.alone(game, (stretch.rank, to), bytes);
                    (Some(to), busy.ps() + latency.ps())
                }
            };
            *held.entry((stretch.rank, to)).or_default() += ps.saturating_sub(due);
        }
        let excess = |((rank, to), ps): ((u32, Option<u32>), u64)| {
            let ps = if to.is_none() { ps.saturating_sub(mean) } else { ps.min(late) };
            Straggler { ps, rank, to }
        };
        held.into_iter().map(excess).filter(|straggler| straggler.ps > 0).max()
    }

    /// The link on the way from a rank to another that has been busiest since the iteration began.
    fn busiest_link(&self, game: &Game, pair: (u32, u32)) -> Text {
        let (from, to) = (game.hosts[pair.0 as usize], game.hosts[pair.1 as usize]);
        let routes = &self.net.routes;
        let found = game.pairs.binary_search(&pair).ok().map(|place| game.flows[place].0);
        let route = found.and_then(|id| self.flows[id as usize].as_ref()).and_then(|flow| {
            let rdma = self.rdma.of(flow.rdma).map(|pair| pair.there);
            rdma.or_else(|| self.sockets.get(flow.sender as usize).map(|socket| socket.route))
        });
        let links: Vec<LinkId> = match route {
            Some(route) if !route.is_spread() => routes.rest(route.place()).collect(),
            _ => routes.between(from, to).flat_map(|place| routes.rest(place)).collect(),
        };
        let busy = |link: LinkId| {
            let sent = self.net.links[link].counts.tx_bytes - game.sent_before[link.index()];
            sent as f64 / self.net.links[link].rate.bps().max(1) as f64
        };
        let busiest = links.into_iter().max_by(|&a, &b| busy(a).total_cmp(&busy(b)).then(b.0.cmp(&a.0)));
        busiest.map_or(self.tables.empty, |link| self.tables.links[link.index()])
    }
}
