//! The traffic of a scenario, and what changes while it runs.

use elephan_cc::{Spec, Transport};
use elephan_traffic::Kind;
use serde_json::{Value as Json, json};

use super::{Draw, Table, rate, time};

/// Keys of which an entry has one.
const EITHER: [&str; 4] = ["load", "rate_per_s", "arrivals_per_s", "gap"];
/// Kinds of traffic that RDMA can carry.
const RDMA: [&str; 8] = ["bulk", "messages", "transfers", "users", "incast", "replay", "collective", "goal"];

/// What programs outside the simulation send: a run without them refuses it.
const OF_PROGRAMS: &str = "program";

/// Returns the kinds of traffic that a run can do alone.
pub fn lone_kinds() -> impl Iterator<Item = &'static str> {
    Kind::ALL.iter().map(|info| info.name).filter(|name| *name != OF_PROGRAMS)
}

/// Returns the kind that a form of traffic is of.
fn named(form: &Json) -> Option<&str> {
    form["properties"]["kind"]["const"].as_str()
}

impl<'a> Draw<'a> {
    /// Draws a group of hosts or one of its members.
    fn members(&mut self) -> String {
        let groups = self.groups.clone();
        match self.pick(&groups) {
            (name, Some(count)) if self.chance(0.4) => format!("{name}[{}]", self.random.index(count)),
            (name, _) => name,
        }
    }

    /// Returns every form of traffic that the schema has; a kind may have several.
    fn forms(&self) -> Vec<&'a Json> {
        let kinds = self.of_definition("Traffic")["oneOf"].as_array().into_iter().flatten();
        kinds.flat_map(|kind| self.branches(kind)).collect()
    }

    /// Returns the names of all kinds of traffic that a run can do alone.
    pub(super) fn kinds(&self) -> Vec<&'a str> {
        let kinds = self.forms().into_iter().filter_map(named);
        let mut names: Vec<&str> = kinds.filter(|name| *name != OF_PROGRAMS).collect();
        names.dedup();
        names
    }

    /// Draws an entry of traffic.
    pub(super) fn traffic(&mut self, number: u64) -> Json {
        let kinds = self.kinds();
        let kind = self.pick(&kinds);
        self.traffic_of(number, kind).into()
    }

    /// Draws an entry of a kind of traffic.
    pub(super) fn traffic_of(&mut self, number: u64, kind: &str) -> Table {
        let schema = self.of_definition("Traffic");
        let forms: Vec<&Json> = self.forms().into_iter().filter(|form| named(form) == Some(kind)).collect();
        let branch = self.pick(&forms);
        let properties = &branch["properties"];
        let mut either: Vec<&str> = EITHER.into_iter().filter(|key| properties.get(key).is_some()).collect();
        if properties["kind"]["const"] == "frames" {
            either = vec!["rate", "gap"];
        }
        let mut entry = Table::new();
        entry.insert("from".to_owned(), self.members().into());
        entry.insert("to".to_owned(), self.members().into());
        entry.insert("pairing".to_owned(), self.pick(&["all", "random"]).into());
        entry.insert("name".to_owned(), format!("t{number}").into());
        let skip = ["from", "to", "pairing", "name", "transport", "roce", "uec"];
        entry.extend(self.table(schema, &skip, self.density));
        let skip: Vec<&str> = either.iter().copied().chain(["slot"]).collect();
        entry.extend(self.table(branch, &skip, self.density));
        if !either.is_empty() {
            let by_time: Vec<&str> = either.iter().copied().filter(|key| !key.ends_with("per_s")).collect();
            let key = self.pick(if by_time.is_empty() { &either } else { &by_time });
            if let Some(value) = self.value(&properties[key], key) {
                entry.insert(key.to_owned(), value);
            }
        }
        if entry["kind"] == "replay" {
            entry.insert("trace".to_owned(), self.draw_trace().into());
        }
        if let Some("collective" | "goal") = entry["kind"].as_str() {
            self.draw_ranks(&mut entry);
        }
        if entry["kind"].as_str().is_some_and(|kind| RDMA.contains(&kind)) && self.chance(0.2) {
            let transport = self.pick(&[Transport::Roce, Transport::Uec]);
            let models: Vec<Spec> = Spec::all().into_iter().filter(|spec| spec.suits(transport)).collect();
            let model = models[self.random.index(models.len() as u64) as usize].name().to_owned();
            entry.insert("transport".to_owned(), transport.name().into());
            entry.insert("congestion_control".to_owned(), model.into());
            entry.shift_remove("tcp");
            if transport == Transport::Uec {
                entry.insert("uec".to_owned(), self.draw_uec());
            }
        }
        entry
    }

    /// Draws options of Ultra Ethernet that a run accepts.
    fn draw_uec(&mut self) -> Json {
        let credits = self.chance(0.5);
        let mut uec = json!({
            "spray": self.pick(&["oblivious", "bitmap", "reps", "mixed"]),
            "entropies": 1u64 << self.random.index(9),
            "ack_every": 1 + self.random.index(8),
            "credits": credits,
        });
        if credits && self.chance(0.3) {
            uec["grant_least"] = self.log(0.01, 1.0).into();
        }
        uec
    }

    /// Draws a change of a link or of a congestion control, at some time before `end`.
    pub(super) fn change(&mut self, end: f64) -> Json {
        let links = self.links.clone();
        let set = if links.is_empty() {
            json!({ "traffic.t0.congestion_control": self.draw_congestion_control() })
        } else {
            let (key, value) = match self.random.index(5) {
                0 => ("rate", rate(self.rate * self.log(0.1, 10.0)).into()),
                1 => ("delay", time(self.rtt * self.random.uniform()).into()),
                2 => ("up", self.chance(0.4).into()),
                3 => ("loss", self.draw_loss()),
                _ => ("queue.limit", self.quantity("limit", "", None).into()),
            };
            json!({ format!("{}.{key}", self.pick(&links)): value })
        };
        json!({ "at": time(end * self.random.uniform()), "set": set })
    }
}
