//! Ports of hosts with a transmit side, and what sockets have below them there.

use std::sync::Arc;

use crate::ids::LinkId;
use elephan_engine::Alarm;
use elephan_host::Transmit;
use elephan_host::below::Below;
use elephan_host::transmit::Room;
use elephan_scenario::Plan;
use elephan_units::Time;

/// One port of a host with a transmit side.
#[derive(Clone)]
pub struct Port {
    pub room: Room,
    pub small: Option<Box<SmallQueues>>,
    /// Segments that were refused.
    pub stalls: u64,
    /// Most packets that one has found since the last sample.
    pub found: u64,
}

/// Those of a plan, by link.
pub fn ports(plan: &Plan) -> Vec<Option<Box<Port>>> {
    let of = |from: u32| plan.nodes[from as usize].models.transmit.as_ref();
    if plan.links.iter().all(|link| of(link.from).is_none()) {
        return Vec::new();
    }
    let port = |from: u32, words| {
        Box::new(Port { room: Room::new(words), small: SmallQueues::new(plan, from, words), stalls: 0, found: 0 })
    };
    plan.links.iter().map(|link| of(link.from).map(|words| port(link.from, words))).collect()
}

/// What a port of a host with small queues knows of its frames.
#[derive(Clone)]
pub struct SmallQueues {
    pub bound: u64,
    pub below: Below,
    /// All ports of its host: packets of a socket may be spread over them, or routes made anew.
    pub ports: Arc<[LinkId]>,
}

impl SmallQueues {
    pub fn new(plan: &Plan, node: u32, words: &Transmit) -> Option<Box<SmallQueues>> {
        let bound = words.small_queues?.0;
        let of_host = (0u32..).zip(&plan.links).filter(|(_, link)| link.from == node);
        Some(Box::new(SmallQueues { bound, below: Below::default(), ports: of_host.map(|(i, _)| LinkId(i)).collect() }))
    }
}

/// What a socket has below it.
#[derive(Clone, Default)]
pub struct Held {
    /// Of its flow, for life: another socket may have its place.
    pub number: u32,
    pub bytes: u64,
    /// When it looks again, if it is throttled.
    pub due: Time,
    pub alarm: Alarm,
}
