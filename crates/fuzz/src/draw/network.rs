//! The network of a scenario: a template, or hosts on a chain of switches.

use serde_json::{Value as Json, json};

use super::{Draw, Table, rate, size, time};

/// Values that every template with the key is given.
const GIVEN: [(&str, u64); 7] =
    [("k", 4), ("pairs", 3), ("clients", 4), ("servers", 2), ("leaves", 2), ("spines", 2), ("hosts_per_leaf", 2)];
const DELAYS: [&str; 3] = ["access_delay", "server_delay", "cross_delay"];

impl Draw<'_> {
    /// Draws hosts on a chain of switches, which may be closed to a ring.
    pub(super) fn free(&mut self) -> Table {
        let mut hosts = Table::new();
        for name in ["a", "b", "c"] {
            let count = self.chance(0.6).then(|| self.random.between(1, 4));
            hosts.insert(name.to_owned(), count.map_or(json!({}), |count| json!({ "count": count })));
            self.groups.push((name.to_owned(), count));
        }
        let names = &["s", "t", "u"][..self.random.between(1, 3) as usize];
        let mut pairs: Vec<[&str; 2]> = ["a", "b", "c"].map(|name| [name, self.pick(names)]).to_vec();
        pairs.extend(names.windows(2).map(|pair| [pair[0], pair[1]]));
        if names.len() == 3 && self.chance(0.5) {
            pairs.push([names[0], names[2]]);
        }
        self.links = (0..pairs.len()).map(|i| format!("links[{i}]")).collect();
        let links: Vec<Json> = pairs.into_iter().map(|ends| self.link(ends)).collect();
        let switches: Table = names.iter().map(|name| (name.to_string(), json!({}))).collect();
        Table::from_iter([
            ("hosts".to_owned(), hosts.into()),
            ("switches".to_owned(), switches.into()),
            ("links".to_owned(), links.into()),
        ])
    }

    fn link(&mut self, ends: [&str; 2]) -> Json {
        let mut link = Table::new();
        link.insert("between".to_owned(), json!(ends));
        link.insert("rate".to_owned(), rate(self.rate * self.log(0.2, 5.0)).into());
        link.insert("delay".to_owned(), time(self.rtt * self.random.uniform() / 4.0).into());
        let skip = ["between", "rate", "delay", "pairing", "ports", "up"];
        link.extend(self.definition("Link", &skip, self.density / 2.0));
        for way in ["forward", "backward"] {
            if let Some(Json::Object(way)) = link.get_mut(way) {
                way.shift_remove("up");
            }
        }
        if self.chance(0.5) {
            link.insert("queue".to_owned(), self.draw_queue());
        }
        link.into()
    }

    /// Draws a template of a kind.
    pub(super) fn template(&mut self, kind: &str) -> Table {
        let branches = self.branches_of("Template");
        let Some(branch) = branches.into_iter().find(|one| one["properties"]["kind"]["const"] == kind) else {
            return Table::new();
        };
        let knows = |key: &str| branch["properties"].get(key).is_some();
        let mut without: Vec<&str> = GIVEN.iter().map(|(key, _)| *key).collect();
        without.extend(["rate", "delay", "hops", "preset"].iter().chain(&DELAYS));
        let mut drawn = self.table(branch, &without, self.density);
        for (key, value) in GIVEN.into_iter().filter(|(key, _)| knows(key)) {
            drawn.insert(key.to_owned(), value.into());
        }
        if knows("rate") {
            drawn.insert("rate".to_owned(), rate(self.rate).into());
            drawn.insert("delay".to_owned(), time(self.rtt / 8.0).into());
        }
        match kind {
            "path" => drawn.insert("hops".to_owned(), (0..3).map(|_| self.hop()).collect::<Vec<Json>>().into()),
            "parking-lot" => drawn.insert("hops".to_owned(), 2.into()),
            _ => None,
        };
        let (groups, link): (&[(&str, Option<u64>)], _) = match kind {
            "dumbbell" => (&[("sender", Some(3)), ("receiver", Some(3))], Some("left->right")),
            "star" => (&[("client", Some(4)), ("server", Some(2))], None),
            "parking-lot" => (
                &[("sender", None), ("receiver", None), ("cross_sender", Some(2)), ("cross_receiver", Some(2))],
                Some("router[0]->router[1]"),
            ),
            "path" => (&[("sender", None), ("receiver", None)], None),
            "leaf-spine" => (&[("host", Some(4))], Some("leaf[0]->spine[0]")),
            _ => (&[("host", Some(4))], None),
        };
        self.groups = groups.iter().map(|(name, count)| (name.to_string(), *count)).collect();
        self.links = link.map(|link| format!("links.{link}")).into_iter().collect();
        let named = groups.iter().filter(|(name, _)| *name != "host");
        let hosts: Table = named.map(|(name, _)| (name.to_string(), json!({}))).collect();
        Table::from_iter([
            ("template".to_owned(), drawn.into()),
            ("hosts".to_owned(), hosts.into()),
            ("switches".to_owned(), json!({})),
        ])
    }

    fn hop(&mut self) -> Json {
        let mut hop = self.definition("Hop", &["rate", "delay"], self.density);
        hop.insert("rate".to_owned(), rate(self.rate * self.log(0.5, 2.0)).into());
        hop.insert("delay".to_owned(), time(self.rtt / 8.0).into());
        hop.into()
    }

    /// Draws what the hosts and switches of a scenario are.
    pub(super) fn fill_nodes(&mut self, scenario: &mut Table) {
        if let Some(Json::Object(hosts)) = scenario.get_mut("hosts") {
            for host in hosts.values_mut().filter_map(Json::as_object_mut) {
                host.extend(self.definition("Host", &["count"], self.density / 2.0));
            }
        }
        if let Some(Json::Object(switches)) = scenario.get_mut("switches") {
            switches.values_mut().for_each(|switch| *switch = self.switch());
        }
    }

    fn switch(&mut self) -> Json {
        let mut switch = self.definition("Switch", &["count", "preset", "alpha"], self.density / 2.0);
        if self.chance(0.15) {
            self.promise(&mut switch);
        } else if self.chance(0.4) {
            let memory = self.log(2e4, 2e6);
            let xoff = size(memory * self.uniform(0.05, 0.8));
            let (per, quanta) = (self.pick(&["egress", "ingress"]), self.pick(&[65535, 100, 2]));
            let control = if self.chance(0.5) {
                json!({ "kind": "pause", "xoff": xoff, "xon": size(memory * 0.04), "quanta": quanta, "per": per })
            } else {
                let (headroom, priorities) = (size(memory * 0.01), self.draw_priorities());
                json!({ "kind": "pfc", "xoff": xoff, "headroom": headroom, "priorities": priorities, "per": per })
            };
            switch.insert("memory".to_owned(), size(memory).into());
            if self.chance(0.2) {
                switch.insert("alpha".to_owned(), self.log(0.2, 8.0).into());
                switch.shift_remove("flow_control");
            } else {
                switch.insert("flow_control".to_owned(), control);
            }
        }
        switch.into()
    }
}
