//! `[record]`: the names of ports become links.

use super::Resolver;
use crate::near::nearest;
use crate::plan::{PortSelection, Record};
use crate::tree::at;
use crate::written::{PortChoice, RecordChoice, Scenario};

impl Resolver<'_> {
    pub(super) fn record(&mut self, words: &Scenario) -> Record {
        let words = &words.record;
        let ports = match &words.ports {
            PortChoice::Set(RecordChoice::Switches) => PortSelection::Switches,
            PortChoice::Set(RecordChoice::All) => PortSelection::All,
            PortChoice::Set(RecordChoice::None) => PortSelection::None,
            PortChoice::Listed(names) => {
                let mut listed = Vec::new();
                for (i, name) in names.iter().enumerate() {
                    match self.port(name) {
                        Ok(links) => listed.extend(links),
                        Err(message) => self.report(at!["record", "ports", i], message),
                    }
                }
                listed.sort_unstable();
                listed.dedup();
                PortSelection::Listed(listed)
            }
        };
        Record { every: words.every, flows: words.flows, ports, messages: words.messages, events: words.events }
    }

    /// The links whose ports `a->b` means; both ends may be groups.
    fn port(&self, name: &str) -> Result<Vec<u32>, String> {
        let Some((from, to)) = name.split_once("->") else {
            return Err(format!("{name:?}: a port is called by its two ends, like \"sw->server\""));
        };
        let (from, to) = (self.groups.members(from.trim())?, self.groups.members(to.trim())?);
        let of = |(_, link): &(usize, &crate::plan::Link)| from.contains(&link.from) && to.contains(&link.to);
        let links: Vec<u32> = self.links.iter().enumerate().filter(of).map(|(i, _)| i as u32).collect();
        if links.is_empty() {
            let hint = nearest(name, self.links.iter().map(|l| l.name.as_str()))
                .map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
            return Err(format!("no link goes {name:?}{hint}"));
        }
        Ok(links)
    }
}
