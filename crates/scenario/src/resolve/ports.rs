//! `[record]`: the names of ports become links, those of hosts nodes.

use elephan_units::{Bytes, stop};

use super::resolver::Resolver;
use crate::near::nearest;
use crate::plan::{Captures, NodeKind, PortSelection, Record};
use crate::tree::at;
use crate::written::{CaptureChoice, CaptureSet, PortChoice, RecordChoice, RecordWords, Scenario};

impl Resolver<'_> {
    pub(super) fn record(&mut self, words: &Scenario) {
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
        if words.statistics && words.every.is_none() {
            self.report(at!["record", "statistics"], "statistics are sampled: give record.every their interval");
        }
        if words.info && words.every.is_none() {
            self.report(at!["record", "info"], "info is sampled: give record.every its interval");
        }
        let captures = self.captures(words);
        self.record = Record {
            every: words.every,
            flows: words.flows,
            ports,
            statistics: words.statistics,
            info: words.info,
            queue_delays: words.queue_delays,
            messages: words.messages,
            operations: words.operations,
            events: words.events,
            datagrams: words.datagrams,
            captures,
        };
    }

    fn captures(&mut self, words: &RecordWords) -> Captures {
        let mut found = Captures::default();
        match &words.captures {
            CaptureChoice::Set(CaptureSet::None) => {}
            CaptureChoice::Set(CaptureSet::Hosts) => {
                found.hosts = self.traffic.iter().flat_map(|t| &t.flows).flat_map(|f| [f.from, f.to]).collect();
            }
            CaptureChoice::Listed(names) => {
                for (i, name) in names.iter().enumerate() {
                    let taken = if name.contains("->") {
                        self.port(name).map(|links| found.links.extend(links))
                    } else {
                        self.captured(name).map(|hosts| found.hosts.extend(hosts))
                    };
                    if let Err(message) = taken {
                        self.report(at!["record", "captures", i], message);
                    }
                }
            }
        }
        for list in [&mut found.hosts, &mut found.links] {
            list.sort_unstable();
            list.dedup();
        }
        if words.snap == Some(Bytes(0)) {
            self.report(at!["record", "snap"], "0 B: nothing of a packet would be kept");
        }
        found.snap_bytes = words.snap.map(|Bytes(bytes)| u32::try_from(bytes).unwrap_or(u32::MAX));
        found
    }

    /// The hosts that a name means.
    fn captured(&self, name: &str) -> Result<std::ops::Range<u32>, String> {
        let members = self.groups.members(name)?;
        match &self.nodes[members.start as usize].kind {
            NodeKind::Host => Ok(members),
            NodeKind::Switch(_) => {
                Err(format!("{name:?} is a switch: capture at a host, or at a port such as \"{name}->server\""))
            }
        }
    }

    /// The links whose ports `a->b` means; both ends may be groups.
    pub(super) fn port(&self, name: &str) -> Result<Vec<u32>, String> {
        let Some((from, to)) = name.split_once("->") else {
            return Err(format!("{name:?}: a port is called by its two ends, like \"sw->server\""));
        };
        stop::look();
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
