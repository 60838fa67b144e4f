//! Parallel programs: who the ranks are, and what they do.

use std::fmt::Write as _;

use elephan_goal::collective::{Algorithm, Operation};
use serde_json::Value as Json;

use super::{Draw, Table};

const OPERATIONS: [Operation; 5] =
    [Operation::AllReduce, Operation::AllGather, Operation::ReduceScatter, Operation::Broadcast, Operation::AllToAll];

impl Draw<'_> {
    /// Makes an entry one of ranks: some hosts, an operation that its algorithm does, or a program for so many.
    pub(super) fn draw_ranks(&mut self, entry: &mut Table) {
        let mut hosts: Vec<String> = Vec::new();
        for (name, count) in self.groups.clone() {
            match count {
                Some(count) => hosts.extend((0..count).map(|member| format!("{name}[{member}]"))),
                None => hosts.push(name),
            }
        }
        let count = self.random.between(2, 8).min(hosts.len() as u64);
        let ranks: Vec<Json> =
            (0..count).map(|_| hosts.swap_remove(self.random.index(hosts.len() as u64) as usize).into()).collect();
        entry.insert("from".to_owned(), ranks.into());
        for key in ["to", "pairing", "connections", "group", "stride", "chunks"] {
            entry.shift_remove(key);
        }
        entry.insert("iterations".to_owned(), self.random.between(1, 5).into());
        if entry["kind"] == "goal" {
            entry.insert("program".to_owned(), self.draw_program(count).into());
            return;
        }
        // Others by doubling want a power of two.
        let known = if count.is_power_of_two() { &OPERATIONS[..] } else { &OPERATIONS[..1] };
        let operation = self.pick(known);
        let algorithm = self.pick(operation.algorithms());
        if algorithm == Algorithm::Ring && self.chance(0.3) {
            entry.insert("chunks".to_owned(), self.random.between(1, 4).into());
        }
        if count.is_multiple_of(4) && self.chance(0.3) {
            entry.insert("group".to_owned(), (count / 2).into());
            entry.insert("stride".to_owned(), self.random.between(1, 2).into());
        }
        entry.insert("operation".to_owned(), operation.to_string().into());
        entry.insert("algorithm".to_owned(), algorithm.to_string().into());
        entry.insert("size".to_owned(), format!("{} B", self.log(1.0, 1e6).round()).into());
    }

    /// A program in GOAL: messages one after the other, each waiting for what its ranks did before or not, and computations between.
    fn draw_program(&mut self, count: u64) -> String {
        let mut ranks = vec![(String::new(), 0u64); count as usize];
        let add = |draw: &mut Self, (text, ops): &mut (String, u64), op: String| {
            *ops += 1;
            let _ = writeln!(text, "l{ops}: {op}");
            if *ops > 1 && draw.chance(0.7) {
                let verb = if draw.chance(0.2) { "irequires" } else { "requires" };
                let _ = writeln!(text, "l{ops} {verb} l{}", draw.random.between(1, *ops - 1));
            }
        };
        for tag in 0..self.random.between(1, 12) {
            let (from, step) = (self.random.index(count), self.random.between(1, count.max(2) - 1));
            let (to, bytes) = ((from + step) % count, self.log(1.0, 3e5).round());
            if from == to {
                continue;
            }
            let any = self.chance(0.1);
            let (source, its) =
                if any { ("-1".to_owned(), "-1".to_owned()) } else { (from.to_string(), tag.to_string()) };
            add(self, &mut ranks[from as usize], format!("send {bytes}b to {to} tag {tag}"));
            add(self, &mut ranks[to as usize], format!("recv {bytes}b from {source} tag {its}"));
            if self.chance(0.3) {
                let calc = format!("calc {} cpu {}", self.log(1.0, 1e6).round(), self.random.index(2));
                add(self, &mut ranks[from as usize], calc);
            }
        }
        let body = (0u64..).zip(ranks).map(|(rank, (text, _))| format!("rank {rank} {{\n{text}}}\n"));
        format!("num_ranks {count}\n{}", body.collect::<String>())
    }
}
