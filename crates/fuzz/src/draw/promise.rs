//! Switches that promise to lose nothing of a priority, and traffic of each kind behind them.

use serde_json::{Value as Json, json};

use super::{Draw, Table, size};

/// What a switch cannot count: packets that a link holds back or doubles.
const UNCOUNTED: [&str; 6] = ["reorder", "duplicate", "jitter", "forward", "backward", "ports"];

impl Draw<'_> {
    /// Draws a scenario whose switches promise to lose nothing of what its first traffic sends, which is of this kind.
    pub fn lossless(&mut self, kind: &str) -> Json {
        let mut network = self.free();
        self.fill_nodes(&mut network);
        let priorities = self.draw_priorities();
        for switch in network["switches"].as_object_mut().into_iter().flat_map(Table::values_mut) {
            if let Some(switch) = switch.as_object_mut() {
                self.promise(switch);
                switch["flow_control"]["priorities"] = priorities.clone();
            }
        }
        for link in network["links"].as_array_mut().into_iter().flatten().filter_map(Json::as_object_mut) {
            UNCOUNTED.iter().for_each(|key| drop(link.shift_remove(*key)));
        }
        let mut entry = self.traffic_of(0, kind);
        entry.insert("priority".to_owned(), priorities[0].clone());
        let mut traffic = vec![entry.into()];
        traffic.extend((1..self.pick(&[1, 2, 3])).map(|number| self.traffic(number)));
        let mut scenario = self.whole(network, traffic);
        // Changes bring ways that nobody has counted.
        ["change", "reroute"].iter().for_each(|key| drop(scenario.shift_remove(*key)));
        scenario.into()
    }

    /// Draws PFC whose headroom is the default, and memory for it at a dozen ports.
    pub(super) fn promise(&mut self, switch: &mut Table) {
        let port = self.rate * self.rtt + self.pick(&[3e4, 3e5]);
        let memory = 12.0 * 8.0 * port * self.log(1.0, 10.0);
        let mut control = json!({ "kind": "pfc", "per": self.pick(&["ingress", "ingress", "egress"]) });
        if control["per"] == "ingress" && self.chance(0.3) {
            control["alpha"] = self.log(0.1, 8.0).into();
        } else {
            control["xoff"] = size(memory * self.log(1e-4, 1e-2)).into();
        }
        if self.chance(0.5) {
            control["priorities"] = self.draw_priorities();
        }
        switch.insert("memory".to_owned(), size(memory).into());
        switch.insert("flow_control".to_owned(), control);
        switch.shift_remove("cell");
    }
}
