//! TCP options: stack, then the scenario's, the host's and the traffic's own, each over the one before.

use std::sync::Arc;

use elephan_cc::{Spec, Transport};
use elephan_tcp::{IpVersion, Overrides};
use elephan_traffic::Spec as _;

use super::flows::unsuitable;
use super::resolver::Resolver;
use super::stacks::Used;
use crate::near::hint;
use crate::tree::{Path, at};
use crate::written::{Links, Scenario, TrafficWords};

impl Resolver<'_> {
    /// Works out the options of every group of hosts, and spells them out.
    pub(super) fn stacks(&mut self, words: &mut Scenario) {
        let default = std::mem::take(&mut words.tcp);
        // Where the MSS follows from something, that is what is written, not the MSS.
        let follows = mss_follows(words);
        if elephan_tcp::stack(&words.stack).is_none() {
            let message = unknown_stack(&words.stack);
            return self.report(at!["stack"], message);
        }
        for (name, host) in &mut words.hosts {
            let stack = host.stack.get_or_insert_with(|| words.stack.clone());
            let Some(mut options) = elephan_tcp::stack(stack) else {
                let message = unknown_stack(stack);
                self.report(at!["hosts", name, "stack"], message);
                continue;
            };
            let own = at!["hosts", name, "tcp"];
            // The whole is checked once, so that options given in two places may depend on each other.
            let mut merged = merge(&default, &host.tcp);
            let congestion_control = self.option_place(&[own.clone(), at!["tcp"]], "congestion_control");
            merged.congestion_control =
                self.congestion_control_in(stack, &congestion_control).or(merged.congestion_control);
            if let Err(error) = options.apply(&merged) {
                let place = self.option_place(&[own, at!["tcp"]], &error.parameter);
                self.report(place, format!("{} (stack {stack})", error.reason));
            }
            if !options.congestion_control.suits(Transport::Tcp) {
                let place = self.option_place(&[at!["hosts", name, "tcp"], at!["tcp"]], "congestion_control");
                self.report(place, unsuitable(&options.congestion_control, Transport::Tcp));
            }
            host.tcp = options.to_overrides();
            if follows && !options.is_given("mss") {
                host.tcp.mss = None;
            }
            self.stacks.groups.push(options);
        }
    }

    /// The congestion control written at `place`, if the stack has its own form of it.
    pub(super) fn congestion_control_in(&self, stack: &str, place: &Path) -> Option<Spec> {
        elephan_tcp::congestion_control_in(stack, &self.tree.at(place)?.to_json())
    }

    /// Where an option is written, of several tables.
    fn option_place(&self, tables: &[Path], option: &str) -> Path {
        let written = tables.iter().find(|table| self.tree.at(&table.key(option)).is_some());
        written.unwrap_or(&tables[0]).key(option)
    }

    /// Index of the options of `host` in a traffic entry whose overrides are `own`. They are checked if connections use them.
    pub(super) fn options_for(
        &mut self,
        words: &Scenario,
        (entry, traffic): (usize, &TrafficWords),
        host: u32,
        own: &Overrides,
    ) -> u32 {
        let ip = traffic.ip.or(words.ip).unwrap_or_default();
        let group = self.groups.of_node(host).index;
        let given = (*own != Overrides::default()).then_some(entry);
        let key = Used { group, entry: given, ip, mtu: self.stacks.mtu(host) };
        if let Some(&index) = self.stacks.index.get(&key) {
            return index;
        }
        let mut options = self.stacks.groups[group].clone();
        if let Err(error) = options.apply(own) {
            let place = at!["traffic", entry, "tcp", error.parameter.as_ref()];
            self.report(place, format!("{} (stack {})", error.reason, options.stack));
        } else if let Err(error) = options.attach(ip, key.mtu)
            && traffic.kind.carrier().is_tcp()
            && !traffic.transport.unwrap_or_default().is_rdma()
        {
            let name = words.hosts.get_index(group).map_or("", |(name, _)| name.as_str());
            let tables = [at!["traffic", entry, "tcp"], at!["hosts", name, "tcp"], at!["tcp"]];
            let place = self.option_place(&tables, &error.parameter);
            self.report(place, format!("{} (stack {})", error.reason, options.stack));
        }
        let index = self.stacks.used.len() as u32;
        self.stacks.used.push(Arc::new(options));
        self.stacks.index.insert(key, index);
        index
    }
}

/// Whether the MSS of some end follows from the version of IP or from the MTU of a link.
fn mss_follows(words: &Scenario) -> bool {
    let others = words.traffic.iter().any(|traffic| traffic.ip.is_some_and(|ip| ip != IpVersion::V4));
    let bounded = |link: &Links| {
        let own = link.own_words(&Path::default());
        link.mtu.is_some() || own.iter().any(|(_, words)| words.mtu.is_some())
    };
    others || words.ip.is_some_and(|ip| ip != IpVersion::V4) || words.links.iter().any(bounded)
}

fn unknown_stack(name: &str) -> String {
    let names: Vec<&str> = elephan_tcp::stacks().iter().map(|(name, _)| *name).collect();
    format!("unknown stack {name:?}{}", hint(name, &names))
}

/// `below` overridden key by key.
fn merge(below: &Overrides, above: &Overrides) -> Overrides {
    let (Ok(serde_json::Value::Object(mut map)), Ok(serde_json::Value::Object(own))) =
        (serde_json::to_value(below), serde_json::to_value(above))
    else {
        return above.clone();
    };
    map.extend(own);
    serde_json::from_value(map.into()).unwrap_or_else(|_| above.clone())
}
