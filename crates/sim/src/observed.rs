//! The ports that samples look at.

use elephan_scenario::{NodeKind, Plan, PortSelection};

/// Which links' queues are sampled.
pub fn observed_ports(plan: &Plan) -> Vec<bool> {
    let sampled = plan.record.every.is_some();
    (0..plan.links.len()).map(|i| sampled && is_chosen(plan, i)).collect()
}

/// Whether a port is one of those that `record.ports` names.
pub fn is_chosen(plan: &Plan, link: usize) -> bool {
    match &plan.record.ports {
        PortSelection::None => false,
        PortSelection::All => true,
        PortSelection::Switches => matches!(plan.nodes[plan.links[link].from as usize].kind, NodeKind::Switch(_)),
        PortSelection::Listed(list) => list.contains(&(link as u32)),
    }
}
