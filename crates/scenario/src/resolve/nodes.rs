//! `[hosts.NAME]` and `[switches.NAME]`: groups become nodes.

use elephan_host::Models;
use elephan_units::{Bytes, Span, stop};

use super::groups::Group;
use super::resolver::Resolver;
use crate::error::Problem;
use crate::plan::{Node, NodeKind, Switch};
use crate::tree::{Path, at};
use crate::written::Scenario;

/// Nodes of one run, and members of one group, at most.
const NODES_MAX: u64 = 1_000_000;

impl Resolver<'_> {
    pub(super) fn groups(&mut self, words: &Scenario) {
        let hosts = words.hosts.iter().map(|(name, h)| (name, h.count, true));
        let switches = words.switches.iter().map(|(name, s)| (name, s.count, false));
        let mut total = 0;
        for (i, (name, count, host)) in hosts.chain(switches).enumerate() {
            let section = if host { "hosts" } else { "switches" };
            let index = if host { i } else { i - words.hosts.len() };
            let at = at![section, name];
            total += u64::from(count.unwrap_or(1));
            if total > NODES_MAX {
                return self.report(at.key("count"), format!("more than {NODES_MAX} hosts and switches"));
            }
            if let Some(problem) = bad_name(name) {
                self.report_key(at.clone(), problem);
                continue;
            }
            let group = Group { first: self.nodes.len() as u32, count: count.unwrap_or(1), host, index };
            if self.groups.has(name) {
                self.report_key(at, format!("duplicate name: hosts and switches both have \"{name}\""));
                continue;
            }
            self.groups.add(name, group);
            for member in 0..group.count {
                stop::look();
                let name = if count.is_some() { format!("{name}[{member}]") } else { name.clone() };
                self.nodes.push(node(words, name, group));
            }
        }
        if words.hosts.is_empty() {
            self.report(at!["hosts"], "no hosts: add [hosts.NAME] or a [template]");
        }
    }

    fn report_key(&mut self, path: Path, message: impl Into<String>) {
        let problem = Problem::at_key(self.tree, path, message);
        self.problems.push(problem);
    }
}

fn node(words: &Scenario, name: String, group: Group) -> Node {
    if group.host {
        let host = &words.hosts[group.index];
        let models = Models { transmit: host.transmit, receive: host.receive.clone(), cpu: host.cpu.clone() };
        return Node { name, kind: NodeKind::Host, pause: host.pause, models, disk: host.disk.clone() };
    }
    let s = &words.switches[group.index];
    let memory_bytes = s.memory.map(|Bytes(b)| b);
    let cell_bytes = s.cell.filter(|cell| cell.0 > 0).map(|Bytes(b)| u32::try_from(b).unwrap_or(u32::MAX));
    let latency: Span = s.latency;
    Node {
        name,
        kind: NodeKind::Switch(Switch {
            memory_bytes,
            cell_bytes,
            alpha: s.alpha,
            latency,
            flow_control: s.flow_control.clone(),
        }),
        pause: s.pause,
        models: Models::default(),
        disk: None,
    }
}

fn bad_name(name: &str) -> Option<String> {
    let fine = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(fine) || name.contains("->") {
        return Some(format!("\"{}\": a name has letters, digits, _ and - only", name.escape_debug()));
    }
    None
}
