//! Draws scenarios over the whole language: values from the schema, names and scale from a topology.
//!
//! The schema does not say which keys go together, so a drawn scenario loses the keys that the language refuses, one error at a
//! time (`valid.rs`).

mod network;
mod promise;
mod ranks;
mod special;
mod traffic;
mod valid;

use elephan_random::Stream;
use serde_json::{Map, Value as Json, json};

pub use traffic::lone_kinds;
pub use valid::{repaired, source, valid};

pub type Table = Map<String, Json>;

/// One scenario under construction. It has a scale of its own: a rate and a round trip, around which all values are drawn.
pub struct Draw<'a> {
    schema: &'a Json,
    random: Stream,
    /// Share of extreme values.
    wild: f64,
    /// Share of the optional keys that are given.
    density: f64,
    /// Bits per second.
    rate: f64,
    /// Seconds.
    rtt: f64,
    /// Groups of hosts that traffic can name, with the number of their members; none is a single host.
    groups: Vec<(String, Option<u64>)>,
    /// Paths of links that changes can name.
    links: Vec<String>,
}

/// Returns a time as the language writes it.
fn time(seconds: f64) -> String {
    format!("{} ps", (seconds * 1e12).round().max(1.0) as u64)
}

fn rate(bps: f64) -> String {
    format!("{} bps", bps.round().max(1.0) as u64)
}

fn size(bytes: f64) -> String {
    format!("{} B", bytes.round().max(1.0) as u64)
}

/// Returns the extreme values of a quantity.
fn wild(quantity: &str) -> &'static [&'static str] {
    match quantity {
        "time" => &["0 s", "1 ps", "1 ns", "0.5 ns", "1 s", "1 h", "1 d", "210 d"],
        "rate" => &["1 bps", "1 kbps", "1 B/s", "400 Gbps", "100 Tbps", "999999999 bps"],
        "size" => &["0 B", "1 B", "8 b", "64 B", "65535 B", "1 GB", "4 GiB", "16 EiB"],
        "limit" => &["0 p", "1 p", "1 B", "1000000 p", "0.001 bdp", "1000 bdp", "1 TB"],
        _ => &["1 p", "2 p", "1000000 p"],
    }
}

impl<'a> Draw<'a> {
    pub fn new(schema: &'a Json, seed: u64) -> Draw<'a> {
        let random = Stream::new(seed, "fuzz", "scenario");
        let (groups, links) = (Vec::new(), Vec::new());
        let mut draw = Draw { schema, random, wild: 0.0, density: 0.0, rate: 0.0, rtt: 0.0, groups, links };
        draw.wild = draw.pick(&[0.0, 0.0, 0.02, 0.1]);
        draw.density = draw.pick(&[0.05, 0.15, 0.3, 0.6]);
        (draw.rate, draw.rtt) = (draw.log(1e4, 4e11), draw.log(3e-6, 0.5));
        draw
    }

    /// Draws a scenario. It need not be valid.
    pub fn scenario(&mut self) -> Json {
        if self.chance(0.1) {
            let kinds = self.kinds();
            let kind = self.pick(&kinds);
            return self.lossless(kind);
        }
        let kinds = ["dumbbell", "star", "path", "parking-lot", "fat-tree", "leaf-spine", "free", "free", "free"];
        let kind = self.pick(&kinds);
        let mut network = if kind == "free" { self.free() } else { self.template(kind) };
        self.fill_nodes(&mut network);
        let entries = self.pick(&[1, 1, 2, 3, 5]);
        let traffic = (0..entries).map(|number| self.traffic(number)).collect();
        self.whole(network, traffic).into()
    }

    /// Adds to a network and its traffic what else a scenario has.
    fn whole(&mut self, mut scenario: Table, traffic: Vec<Json>) -> Table {
        let stacks = self.schema["properties"]["stack"]["enum"].as_array().cloned().unwrap_or_default();
        scenario.insert("stack".to_owned(), self.pick(&stacks));
        if self.chance(0.4) {
            scenario.insert("tcp".to_owned(), self.tcp().into());
        }
        if self.chance(0.15) {
            let branches = self.branches_of("CongestionManagement");
            let branch = self.pick(&branches);
            scenario.insert("congestion_management".to_owned(), self.table(branch, &[], self.density).into());
        }
        scenario.insert("traffic".to_owned(), traffic.into());
        let some = self.rtt * self.uniform(10.0, 60.0);
        let end = some.min(3e4 * 12_000.0 / self.rate).max(4.0 * self.rtt);
        scenario.insert("duration".to_owned(), time(end).into());
        scenario.insert("seed".to_owned(), self.random.index(1_000_000).into());
        scenario.insert("ecmp".to_owned(), self.pick(&["flow", "packet", "none"]).into());
        if self.chance(0.1) {
            let share = self.random.uniform();
            scenario.insert("warmup".to_owned(), time(end * share).into());
        }
        if self.chance(0.3) {
            let changes: Vec<Json> = (0..self.random.between(1, 3)).map(|_| self.change(end)).collect();
            scenario.insert("change".to_owned(), changes.into());
            scenario.insert("reroute".to_owned(), time(self.rtt * self.log(1e-2, 10.0)).into());
        }
        scenario.insert("record".to_owned(), self.record(end));
        scenario
    }

    /// Draws a queue discipline with its parameters.
    pub fn queue(&mut self) -> Json {
        self.draw_queue()
    }

    /// Draws options of TCP.
    pub fn tcp(&mut self) -> Table {
        self.definition("Overrides", &[], self.density)
    }

    /// Draws what is recorded: always the samples and ports that the oracles compare, sometimes more.
    fn record(&mut self, end: f64) -> Json {
        let every = time(end / self.random.between(3, 50) as f64);
        let mut record = json!({ "ports": "all", "every": every });
        if self.chance(0.3) {
            record["statistics"] = true.into();
            record["datagrams"] = self.random.index(100).into();
        }
        record
    }

    fn chance(&mut self, share: f64) -> bool {
        self.random.uniform() < share
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.random.uniform()
    }

    /// Draws evenly on a logarithmic scale.
    fn log(&mut self, low: f64, high: f64) -> f64 {
        low * libm::pow(high / low, self.random.uniform())
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.random.index(of.len() as u64) as usize].clone()
    }

    /// Draws a quantity of a kind for a key.
    fn quantity(&mut self, kind: &str, key: &str, default: Option<&str>) -> String {
        if self.chance(self.wild) {
            return self.pick(wild(kind)).to_owned();
        }
        if let Some(default) = default
            && self.chance(0.3)
        {
            return default.to_owned();
        }
        match kind {
            "time" => time(self.rtt * self.log(1e-3, 10.0)),
            "rate" => rate(self.rate * self.log(0.05, 3.0)),
            "size" if ["mss", "packet_size", "frame_size"].contains(&key) => size(self.log(64.0, 9000.0)),
            "size" if key == "mtu" => size(self.log(600.0, 9000.0)),
            // A program works for each block, and a send buffer of stack `rfc` takes a GiB of them at one instant.
            "size" if key == "block" => size(self.log(4096.0, 1e6)),
            "size" => size(self.log(100.0, 1e6)),
            "count" => format!("{} p", self.log(1.0, 1000.0).round()),
            _ if self.chance(0.4) => format!("{} p", self.log(1.0, 1000.0).round()),
            _ if self.chance(0.4) => format!("{:.3} bdp", self.log(0.05, 10.0)),
            _ => size(self.log(1600.0, 3e6)),
        }
    }

    /// Draws a number within the range of its schema, mostly near its default.
    fn number(&mut self, schema: &Json, default: &Json, whole: bool) -> Json {
        let bound = |key: &str| schema[key].as_f64();
        let (low, high) = (bound("minimum").or(bound("exclusiveMinimum")), bound("maximum"));
        let mut value = if self.chance(self.wild) {
            self.pick(&[low.unwrap_or(0.0), 0.0, 1.0, 2.0, 1e-9, 1e6, 2f64.powi(31)])
        } else if let Some(default) = default.as_f64() {
            if default == 0.0 { self.random.uniform() } else { default * self.log(0.3, 3.0) }
        } else if whole {
            self.log(1.0, 100.0)
        } else {
            self.random.uniform() * high.filter(|high| *high != 0.0).unwrap_or(1.0)
        };
        value = value.max(low.unwrap_or(f64::NEG_INFINITY)).min(high.unwrap_or(f64::INFINITY));
        if whole { json!(value.round() as i64) } else { json!(value) }
    }

    /// Draws a distribution of a time or a size.
    fn distribution(&mut self, kind: &str) -> Json {
        let shape = self.pick(&["plain", "fixed", "exponential", "uniform", "pareto", "lognormal", "cdf"]);
        let one = self.point(kind);
        match shape {
            "plain" => one.into(),
            "uniform" => json!({ "uniform": [one, self.point(kind)] }),
            "pareto" => {
                let (by, shape) = (self.pick(&["mean", "scale"]), self.uniform(1.05, 4.0));
                json!({ "pareto": { "shape": shape, by: one } })
            }
            "lognormal" => {
                let (by, sigma) = (self.pick(&["mean", "median"]), self.uniform(0.1, 3.0));
                json!({ "lognormal": { "sigma": sigma, by: one } })
            }
            "cdf" => json!({ "cdf": [[one, 1.0]] }),
            _ => json!({ shape: one }),
        }
    }

    /// Draws one value of a distribution.
    fn point(&mut self, kind: &str) -> String {
        if kind == "size" || self.chance(self.wild) {
            return self.quantity(kind, "", None);
        }
        time(self.rtt.max(12_000.0 / self.rate) * self.log(0.1, 10.0))
    }

    fn of_definition(&self, name: &str) -> &'a Json {
        &self.schema["$defs"][name]
    }

    /// Follows the references of a schema.
    fn resolved(&self, mut schema: &'a Json) -> &'a Json {
        while let Some(reference) = schema["$ref"].as_str() {
            schema = self.of_definition(reference.rsplit('/').next().unwrap_or_default());
        }
        schema
    }

    /// Returns the alternatives of a schema: itself if it has none.
    fn branches(&self, schema: &'a Json) -> Vec<&'a Json> {
        let schema = self.resolved(schema);
        let members = schema.get("oneOf").or(schema.get("anyOf")).and_then(Json::as_array);
        match members {
            Some(members) if schema.get("properties").is_none() => {
                members.iter().flat_map(|member| self.branches(member)).collect()
            }
            _ if schema["type"] == "null" => Vec::new(),
            _ => vec![schema],
        }
    }

    fn branches_of(&self, definition: &str) -> Vec<&'a Json> {
        self.branches(self.of_definition(definition))
    }

    /// Draws a value of a schema; none leaves the key out.
    fn value(&mut self, written: &'a Json, key: &str) -> Option<Json> {
        let schema = self.resolved(written);
        if let Some(kind) = schema["x-distribution"].as_str() {
            return Some(self.distribution(kind));
        }
        if let Some(own) = self.special(key) {
            return own;
        }
        let branches = self.branches(schema);
        let branch = self.pick(&branches);
        // A default stands beside a reference or with what it refers to.
        let default = [branch, written, schema].iter().find_map(|s| s.get("default")).unwrap_or(&Json::Null);
        if let Some(kind) = branch["x-quantity"].as_str() {
            return Some(self.quantity(kind, key, default.as_str()).into());
        }
        if let Some(value) = branch.get("const") {
            return Some(value.clone());
        }
        if let Some(values) = branch["enum"].as_array() {
            return Some(self.pick(values));
        }
        Some(match branch["type"].as_str() {
            Some("boolean") => self.chance(0.5).into(),
            Some("integer") => self.number(branch, default, true),
            Some("number") => self.number(branch, default, false),
            Some("array") => {
                let least = branch["minItems"].as_u64().unwrap_or(0);
                let most = branch["maxItems"].as_u64().unwrap_or(least + 2);
                let count = self.random.between(least, most);
                (0..count).filter_map(|_| self.value(&branch["items"], key)).collect::<Vec<Json>>().into()
            }
            Some("string") => "x".into(),
            _ => self.table(branch, &[], self.density).into(),
        })
    }

    /// Draws a table of a schema: the keys that it must have, and a share of the others.
    fn table(&mut self, schema: &'a Json, without: &[&str], share: f64) -> Table {
        let schema = self.resolved(schema);
        let required = |key: &str| schema["required"].as_array().is_some_and(|keys| keys.iter().any(|k| k == key));
        let mut table = Table::new();
        for (key, of) in schema["properties"].as_object().into_iter().flatten() {
            if !without.contains(&key.as_str())
                && (required(key) || self.chance(share))
                && let Some(value) = self.value(of, key)
            {
                table.insert(key.clone(), value);
            }
        }
        table
    }

    fn definition(&mut self, name: &str, without: &[&str], share: f64) -> Table {
        self.table(self.of_definition(name), without, share)
    }
}
