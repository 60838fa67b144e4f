//! Congestion management of a run: what its points and limiters share.

use elephan_link::CongestionManagement;
use elephan_link::congestion::{Handling, Per};
use elephan_scenario::Plan;

use super::port::limiters::Key;
use crate::ids::LinkId;

/// Congestion management of a run.
#[derive(Clone)]
pub struct Management {
    pub words: CongestionManagement,
    pub handling: Handling,
    pub seed: u64,
    /// Nodes at the near and the far end of each link, and their names for random streams.
    pub ends: Vec<(u32, u32)>,
    pub names: Vec<String>,
    /// Limiters whose senders may go on.
    pub drained: Vec<(LinkId, Key)>,
    pub sent: u64,
    pub received: u64,
}

impl Management {
    pub fn of(plan: &Plan) -> Option<Box<Management>> {
        let handling = plan.congestion_management.handling()?;
        Some(Box::new(Management {
            words: plan.congestion_management.clone(),
            handling,
            seed: plan.seed,
            ends: plan.links.iter().map(|l| (l.from, l.to)).collect(),
            names: plan.nodes.iter().map(|n| n.name.clone()).collect(),
            drained: Vec::new(),
            sent: 0,
            received: 0,
        }))
    }

    /// The key of what limits a flow to a node.
    pub fn key(&self, flow: u32, to: u32) -> Key {
        match self.handling.per {
            Per::Flow => flow,
            Per::Pair => to,
        }
    }
}
