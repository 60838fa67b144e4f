//! Congestion controls of the user's: they may fail, and then the run has failed.
//!
//! Nobody asks after each call: the connections are looked at now and then, when they end, and when another controller takes
//! over. A guest that has failed does nothing any more, so the first failure by simulated time is the one that is told,
//! whenever it is found.

use elephan_cc::Spec;
use elephan_cc::guest::Fault;
use elephan_scenario::Plan;

use crate::Error;
use crate::net::NONE;
use crate::world::World;

/// Whether any connection of `plan` may have a guest, from the start or by a change.
pub fn any(plan: &Plan) -> bool {
    let guest = |spec: &Spec| matches!(spec, Spec::Guest(_));
    plan.traffic.iter().any(|t| guest(&t.congestion_control))
        || plan.options.iter().any(|o| guest(&o.congestion_control))
        || plan.changes.iter().flat_map(|change| &change.congestion_controls).any(|one| guest(&one.congestion_control))
}

/// A guest that has failed, and its flow: number and words.
pub struct Failed {
    fault: Fault,
    number: u32,
    flow: String,
}

impl World<'_> {
    /// Refuses to go on when a guest has failed.
    pub fn check_guests(&mut self) -> Result<(), Error> {
        if self.guests {
            for socket in 0..self.sockets.len() as u32 {
                self.note_fault(socket);
            }
        }
        let Some(Failed { fault, flow, .. }) = self.failed_guest.take() else { return Ok(()) };
        Err(Error::Guest {
            what: format!("{}.{}", fault.class, fault.method),
            flow,
            seconds: fault.now.seconds(),
            seed: self.plan.seed,
            cause: fault.cause,
        })
    }

    /// Keeps the first fault by time and by flow.
    pub fn note_fault(&mut self, socket: u32) {
        let s = &self.sockets[socket as usize];
        let Some(fault) = s.endpoint.controller().fault().filter(|_| s.number != NONE) else { return };
        let key = (fault.now, s.number);
        if self.failed_guest.as_ref().is_some_and(|failed| (failed.fault.now, failed.number) <= key) {
            return;
        }
        let Some(Some(flow)) = self.flows.get(s.flow as usize) else { return };
        let name = |node: u32| &self.plan.nodes[node as usize].name;
        let traffic = &self.plan.traffic[flow.traffic as usize].name;
        let words = format!("{} ({traffic}: {} -> {})", s.number, name(flow.plan.from), name(flow.plan.to));
        self.failed_guest = Some(Failed { fault: fault.clone(), number: s.number, flow: words });
    }
}
