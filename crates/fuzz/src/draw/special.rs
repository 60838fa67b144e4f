//! Values of keys for which the schema alone would draw nonsense.

use serde_json::{Value as Json, json};

use super::{Draw, rate, time};

impl Draw<'_> {
    /// Draws the value of a key that has a draw of its own; an inner none leaves the key out.
    pub(super) fn special(&mut self, key: &str) -> Option<Option<Json>> {
        Some(Some(match key {
            "profile" | "file" => return Some(None),
            "trace" => self.draw_trace().into(),
            "connections" => self.pick(&[1, 1, 2, 5]).into(),
            "streams" => self.pick(&[1, 2, 4, 7]).into(),
            "logger" => time(self.rtt * self.log(0.1, 10.0)).into(),
            "priorities" => self.draw_priorities(),
            "map" => (0..8).map(|_| self.random.index(8)).collect::<Vec<u64>>().into(),
            "gap" if self.chance(0.3) => json!({ "bernoulli": 0.3 }),
            "gap" => self.distribution("time"),
            "gaps" => self.draw_gaps(),
            "load" => rate(self.rate * self.log(0.01, 2.0)).into(),
            "duplicate" => self.pick(&[0.001, 0.05, 0.5]).into(),
            "start" => time(self.rtt * self.uniform(0.0, 10.0)).into(),
            "stop" => time(self.rtt * self.uniform(11.0, 60.0)).into(),
            "loss" => self.draw_loss(),
            "congestion_control" => self.draw_congestion_control(),
            "queue" | "host_queue" => self.draw_queue(),
            _ => return None,
        }))
    }

    /// Draws what is replayed: four flows.
    pub(super) fn draw_trace(&mut self) -> String {
        let mut starts: Vec<f64> = (0..4).map(|_| self.random.uniform() * 20.0 * self.rtt).collect();
        starts.sort_by(f64::total_cmp);
        let rows = starts.iter().map(|start| format!("{start:.9},{}\n", self.log(1.0, 1e6).round()));
        "start_s,size_bytes\n".to_owned() + &rows.collect::<String>()
    }

    /// Draws one to four different priorities.
    pub(super) fn draw_priorities(&mut self) -> Json {
        let mut left: Vec<u64> = (0..8).collect();
        let count = self.random.between(1, 4);
        (0..count).map(|_| left.swap_remove(self.random.index(left.len() as u64) as usize)).collect::<Vec<u64>>().into()
    }

    fn draw_gaps(&mut self) -> Json {
        match self.random.index(3) {
            0 => "exponential".into(),
            1 => "fixed".into(),
            _ => json!({ "bursts": { "on": self.distribution("time"), "off": self.distribution("time") } }),
        }
    }

    pub(super) fn draw_loss(&mut self) -> Json {
        let share = self.log(1e-4, 0.3);
        match self.random.index(5) {
            0 => "none".into(),
            1 => json!({ "periodic": self.random.between(20, 300) }),
            2 => json!({ "bernoulli": share }),
            3 => json!({ "gilbert_elliott": { "to_bad": share, "to_good": self.random.uniform() } }),
            _ => {
                let mut listed: Vec<u64> = (0..5).map(|_| self.random.between(1, 199)).collect();
                listed.sort_unstable();
                listed.dedup();
                json!({ "listed": listed })
            }
        }
    }

    pub(super) fn draw_congestion_control(&mut self) -> Json {
        let branches = self.branches(&self.of_definition("Traffic")["properties"]["congestion_control"]);
        let guest = |one: &&Json| ["python", "program"].iter().any(|key| one["properties"].get(key).is_some());
        let models: Vec<&Json> = branches.into_iter().filter(|one| !guest(one)).collect();
        let branch = self.pick(&models);
        match branch["enum"].as_array() {
            Some(names) => self.pick(names),
            None => self.table(branch, &[], self.density).into(),
        }
    }

    pub(super) fn draw_queue(&mut self) -> Json {
        let branches = self.branches_of("QueueSpec");
        let branch = self.pick(&branches);
        let mut queue = self.table(branch, &["classes"], self.density);
        let kind = queue["kind"].as_str().unwrap_or_default().to_owned();
        if kind == "red" {
            queue.insert("min".to_owned(), "5 p".into());
            queue.insert("max".to_owned(), "15 p".into());
        }
        if ["ets", "wrr"].contains(&kind.as_str()) && self.chance(0.7) {
            let inner = self.pick(&["fifo", "codel", "drr", "sfq", "pie"]);
            let some = json!({ "priorities": [0, 3, 5], "queue": { "kind": inner } });
            queue.insert("classes".to_owned(), json!([some, { "priorities": [1, 2, 4, 6, 7] }]));
        }
        queue.into()
    }
}
