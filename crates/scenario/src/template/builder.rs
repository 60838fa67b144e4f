//! What the files of templates write hosts, switches and links to.

use elephan_units::{Rate, Span};
use serde::Serialize;

use crate::tree::{Node, Origin};

/// What a template's file writes to.
pub struct Builder<'a> {
    /// The `[template]` table, for origins.
    pub given: &'a Node,
    pub hosts: Node,
    pub switches: Node,
    pub links: Vec<Node>,
}

impl Builder<'_> {
    /// The parameter `name` as it is written, else its default `value`.
    pub fn value(&self, name: &str, value: &impl Serialize) -> Node {
        match self.given.get(name) {
            Some(node) => node.clone(),
            None => Node::from_json(&serde_json::to_value(value).unwrap_or_default(), Origin::Filled),
        }
    }

    /// A text that no parameter gives.
    pub fn fixed(&self, text: &str) -> Node {
        Node::text(text, Origin::Filled)
    }

    /// A group of hosts; `count` is the parameter that sizes it, `None` for a single host.
    pub fn hosts(&mut self, name: &str, count: Option<(&str, u32)>) {
        let node = self.group(count);
        self.hosts.set(name, node);
    }

    /// A group of switches with the parameters called `keys`.
    pub fn switches(&mut self, name: &str, count: Option<(&str, u32)>, keys: &[&str]) {
        let mut node = self.group(count);
        for key in keys {
            if let Some(value) = self.given.get(key) {
                node.set(key, value.clone());
            }
        }
        self.switches.set(name, node);
    }

    fn group(&self, count: Option<(&str, u32)>) -> Node {
        let mut node = Node::table(self.given.origin);
        if let Some((parameter, count)) = count {
            let origin = self.given.get(parameter).map_or(Origin::Filled, |n| n.origin);
            node.set("count", Node::integer(i64::from(count), origin));
        }
        node
    }

    pub fn link(&mut self, from: &str, to: &str, keys: Vec<(&str, Node)>) {
        let origin = self.given.origin;
        let ends = [from, to].map(|end| Node::text(end, origin)).to_vec();
        let mut node = Node::table(origin);
        node.set("between", Node::array(ends, origin));
        for (key, value) in keys {
            node.set(key, value);
        }
        self.links.push(node);
    }
}

/// What the ports of switches towards hosts have: `host_queue`, else `queue`.
pub fn towards_hosts(given: &Node) -> Option<Node> {
    let queue = given.get("host_queue").or_else(|| given.get("queue"))?;
    let mut node = Node::table(queue.origin);
    node.set("queue", queue.clone());
    Some(node)
}

/// The ports in both directions of these links, each at this rate.
pub fn slower(links: impl Iterator<Item = (String, String)>, rate: &Node) -> Option<Node> {
    let mut ports = Node::table(rate.origin);
    for (one, other) in links {
        for (from, to) in [(&one, &other), (&other, &one)] {
            let mut port = Node::table(rate.origin);
            port.set("rate", rate.clone());
            ports.set(&format!("{from}->{to}"), port);
        }
    }
    ports.as_table().is_some_and(|table| !table.is_empty()).then_some(ports)
}

/// A table of what `given` has of `keys`; `None` if that is nothing.
pub fn part(given: &Node, keys: &[&str]) -> Option<Node> {
    let mut node = Node::table(given.origin);
    for key in keys {
        if let Some(value) = given.get(key) {
            node.set(key, value.clone());
        }
    }
    node.as_table().is_some_and(|t| !t.is_empty()).then_some(node)
}

/// Default rate of access links: fast enough not to be the bottleneck.
pub fn access_rate() -> Rate {
    Rate(10_000_000_000)
}

/// Default delay of short links.
pub fn access_delay() -> Span {
    Span::from_us(10)
}

/// Whether a count is none, so that it need not be written.
pub fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The rate of slow links that nobody gives.
pub fn tenth(rate: Rate) -> Rate {
    Rate((rate.0 / 10).max(1))
}
