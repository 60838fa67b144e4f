//! The models of hosts: what they cannot be, alone and beside what else is at their ports.

use elephan_link::queue::QueueSpec;
use elephan_link::{CongestionManagement, FlowControl};
use elephan_traffic::{Carrier, Spec as _};

use super::resolver::Resolver;
use crate::plan::{FlowPlan, NodeKind};
use crate::tree::at;
use crate::written::Scenario;

impl Resolver<'_> {
    /// The words of each model by themselves.
    pub(super) fn models(&mut self, words: &Scenario) {
        for (name, host) in &words.hosts {
            let problems = [
                ("transmit", host.transmit.and_then(|transmit| transmit.problem())),
                ("receive", host.receive.as_ref().and_then(|receive| receive.problem())),
                ("cpu", host.cpu.as_ref().and_then(|cpu| cpu.problem())),
            ];
            for (model, problem) in problems {
                if let Some(invalid) = problem {
                    self.report(at!["hosts", name, model].key(&invalid.parameter), invalid.reason);
                }
            }
        }
    }

    /// Transmit sides beside queues of host ports and what else keeps frames back there.
    pub(super) fn ways_out(&mut self, words: &Scenario) {
        for i in 0..self.links.len() {
            let link = &self.links[i];
            let node = &self.nodes[link.from as usize];
            let Some(transmit) = node.models.transmit else { continue };
            let (name, port) = (words.hosts.keys().nth(self.groups.of_node(link.from).index), &link.name);
            if !matches!(&link.queue, QueueSpec::Fifo(fifo) if fifo.limit.is_none() && fifo.mark_above.is_none()) {
                let message = format!("the queue of {port} is the host's transmit side: say txqueuelen and ring there");
                let place = self.queue_path(words, i, "kind");
                let place = if self.tree.at(&place).is_some() { place } else { self.queue_path(words, i, "limit") };
                return self.report(place, message);
            }
            let far = &self.nodes[link.to as usize].kind;
            let against = if self
                .traffic
                .iter()
                .any(|t| t.rdma.is_some() && t.flows.iter().any(|f| f.from == link.from || f.to == link.from))
            {
                Some("RoCE")
            } else if words.congestion_management != CongestionManagement::None {
                Some("congestion management")
            } else {
                let pfc = matches!(far, NodeKind::Switch(switch) if matches!(switch.flow_control, FlowControl::Pfc(_)));
                pfc.then_some("PFC")
            };
            let counted =
                [("burst", "bursts", transmit.burst), ("small_queues", "small queues", transmit.small_queues)];
            if let Some((key, what, _)) = counted.into_iter().find(|(.., words)| words.is_some())
                && let (Some(against), Some(name)) = (against, name)
            {
                let message = format!("{what} and {against} at {port}: frames do not leave it in order");
                return self.report(at!["hosts", name, "transmit", key], message);
            }
        }
    }

    /// Applications that read at a rate, beside programs that read as their disk writes.
    pub(super) fn readers(&mut self, words: &Scenario) {
        for traffic in self.traffic.iter().filter(|t| t.kind.carrier() == Carrier::Copy) {
            let reads =
                |f: &FlowPlan| self.nodes[f.to as usize].models.receive.as_ref().is_some_and(|r| r.reader.is_some());
            let Some(flow) = traffic.flows.iter().find(|flow| reads(flow)) else { continue };
            let Some(name) = words.hosts.keys().nth(self.groups.of_node(flow.to).index) else { continue };
            let copy = &traffic.name;
            let message =
                format!("the program of \"{copy}\" reads as fast as the disk writes: say disk.write, or leave it out");
            return self.report(at!["hosts", name, "receive", "reader"], message);
        }
    }
}
