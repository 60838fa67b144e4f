//! Congestion controls of the user's: they may fail, and then the run has failed.
//!
//! Nobody asks after each call: the connections are looked at now and then, when they end, and when another controller takes
//! over. A guest that has failed does nothing any more, so the first failure by simulated time is the one that is told,
//! whenever it is found.

use elephan_cc::Spec;
use elephan_cc::guest::Fault;
use elephan_scenario::Plan;

use crate::Error;
use crate::flow::{Flow, Socket};
use crate::target::NONE;

/// Whether any connection of `plan` may have a guest, from the start or by a change.
fn any(plan: &Plan) -> bool {
    let guest = |spec: &Spec| matches!(spec, Spec::Guest(_));
    plan.traffic.iter().any(|t| guest(&t.congestion_control))
        || plan.options.iter().any(|o| guest(&o.congestion_control))
        || plan.changes.iter().flat_map(|change| &change.congestion_controls).any(|one| guest(&one.congestion_control))
}

/// A guest that has failed, and its flow: number and words.
#[derive(Clone)]
struct Failed {
    fault: Fault,
    number: u32,
    flow: String,
}

/// Whether connections may have guests, and the first that has failed.
#[derive(Clone, Default)]
pub struct Guests {
    pub any: bool,
    failed: Option<Failed>,
}

impl Guests {
    pub fn of(plan: &Plan) -> Guests {
        Guests { any: any(plan), failed: None }
    }

    /// Refuses to go on when a guest of one of these sockets, or one that is over, has failed.
    pub fn check(&mut self, sockets: &[Socket], flows: &[Option<Flow>], plan: &Plan) -> Result<(), Error> {
        if self.any {
            for socket in sockets {
                self.note(socket, flows, plan);
            }
        }
        let Some(Failed { fault, flow, .. }) = self.failed.take() else { return Ok(()) };
        Err(Error::Guest {
            what: format!("{}.{}", fault.class, fault.method),
            flow,
            seconds: fault.now.seconds(),
            seed: plan.seed,
            cause: fault.cause,
        })
    }

    /// Keeps the first fault by time and by flow.
    pub fn note(&mut self, socket: &Socket, flows: &[Option<Flow>], plan: &Plan) {
        let Some(fault) = socket.endpoint.controller().fault().filter(|_| socket.number != NONE) else { return };
        let key = (fault.now, socket.number);
        if self.failed.as_ref().is_some_and(|failed| (failed.fault.now, failed.number) <= key) {
            return;
        }
        let Some(Some(flow)) = flows.get(socket.flow as usize) else { return };
        let name = |node: u32| &plan.nodes[node as usize].name;
        let traffic = &plan.traffic[flow.traffic as usize].name;
        let words = format!("{} ({traffic}: {} -> {})", socket.number, name(flow.plan.from), name(flow.plan.to));
        self.failed = Some(Failed { fault: fault.clone(), number: socket.number, flow: words });
    }
}
