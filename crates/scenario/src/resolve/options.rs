//! TCP options: stack, then the scenario's, the host's and the traffic's own, each over the one before.

use std::sync::Arc;

use elephan_cc::{Spec, Transport};
use elephan_tcp::Overrides;

use super::flows::unsuitable;
use super::resolver::Resolver;
use crate::near::hint;
use crate::tree::{Path, at};
use crate::written::Scenario;

impl Resolver<'_> {
    /// Works out the options of every group of hosts, and spells them out.
    pub(super) fn stacks(&mut self, words: &mut Scenario) {
        let default = std::mem::take(&mut words.tcp);
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

    /// Index of the options of the hosts' group `group` in traffic entry `entry` with its overrides.
    pub(super) fn options_for(&mut self, group: usize, entry: usize, own: &Overrides) -> u32 {
        let key = (group, (*own != Overrides::default()).then_some(entry));
        if let Some(&index) = self.stacks.index.get(&key) {
            return index;
        }
        let mut options = self.stacks.groups[group].clone();
        if let Err(error) = options.apply(own) {
            let place = at!["traffic", entry, "tcp", error.parameter.as_ref()];
            self.report(place, format!("{} (stack {})", error.reason, options.stack));
        }
        let index = self.stacks.used.len() as u32;
        self.stacks.used.push(Arc::new(options));
        self.stacks.index.insert(key, index);
        index
    }
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
