//! What RoCE adds to ports of the general path.
//!
//! The interface of a host holds no queue of its own: each connection keeps what it has to send, and a packet is handed to the port
//! when none of its priority waits there, or, of one that is limited, none behind its limiter. Then a port of the host is never idle
//! while a connection may send, a pause of one priority or a limiter holds back only its own connections, and those that may send
//! take turns. The port of a switch writes telemetry into
//! packets that ask for it, as they leave (HPCC, SIGCOMM 2019).

use elephan_cc::Spec;
use elephan_cc::rdma::Hop;
use elephan_link::queue::Item;
use elephan_scenario::Plan;
use elephan_units::Time;

use super::Net;
use super::link::General;
use crate::ids::LinkId;
use crate::packet::flags;
use crate::target::Target;

/// What the flows of a plan need of its ports.
#[derive(Clone, Copy)]
pub struct Needs {
    pub is_used: bool,
    pub telemetry: bool,
}

impl Needs {
    pub fn of(plan: &Plan) -> Needs {
        let later = plan
            .changes
            .iter()
            .flat_map(|c| &c.congestion_controls)
            .map(|l| (l.traffic as usize, &l.congestion_control));
        let congestion_controls = plan.traffic.iter().enumerate().map(|(i, t)| (i, &t.congestion_control)).chain(later);
        let mut of_roce = congestion_controls
            .filter(|(i, _)| plan.traffic[*i].rdma.is_some())
            .map(|(_, congestion_control)| congestion_control);
        let is_used = plan.traffic.iter().any(|t| t.rdma.is_some());
        Needs { is_used, telemetry: of_roce.any(asks_telemetry) }
    }
}

pub fn asks_telemetry(congestion_control: &Spec) -> bool {
    congestion_control.needs().has(elephan_cc::Needs::TELEMETRY)
}

fn is_data(bits: u16) -> bool {
    bits & (flags::RDMA | flags::DATA) == flags::RDMA | flags::DATA
}

impl General {
    /// A packet waits at the port from now on, behind the limiter at a place if it is limited.
    #[inline]
    pub fn nic_hands_over(&mut self, item: &Item, bits: u16, limiter: Option<usize>) {
        if is_data(bits)
            && let Some(nic) = &mut self.nic
        {
            let handed = match (limiter, &mut self.limiters) {
                (Some(place), Some(limiters)) => limiters.handed(place),
                _ => &mut nic.0[usize::from(item.priority)],
            };
            handed.waiting += 1;
        }
    }
}

impl Net {
    /// Whether the port of a host takes another packet of this priority, of a flow to a node; if not, the interface is called when
    /// it does.
    pub fn nic_has_room(&mut self, link: LinkId, priority: u8, flow: u32, to: u32) -> bool {
        let Some(g) = &mut self.links[link].general else { return true };
        let Some(nic) = &mut g.nic else { return true };
        if let (Some(limiters), Some(management)) = (&mut g.limiters, &self.management)
            && let Some(place) = limiters.place(management.key(flow, to))
        {
            return limiters.handed(place).has_room();
        }
        nic.0[usize::from(priority)].has_room()
    }

    /// Whether some of what leaves a host waits behind limiters, each with room of its own.
    pub fn nic_is_limited(&self, link: LinkId) -> bool {
        let limiters = self.links[link].limiters();
        limiters.is_some_and(|limiters| !limiters.all().is_empty())
    }

    /// A packet of RoCE leaves the queue of `link` for the wire.
    #[cold]
    pub(super) fn rdma_departs(&mut self, now: Time, link: LinkId, item: Item, limiter: Option<usize>) {
        let l = &self.links[link];
        let tells = l.general.as_ref().is_some_and(|g| g.tells);
        if tells && self.packets[item.handle].flags & flags::TELEMETRY != 0 {
            use elephan_link::queue::Discipline;
            let queue_bytes = l.general.as_ref().map_or(0, |g| g.queue.bytes());
            let hop =
                Hop { port: link.0, tx_bytes: l.counts.tx_bytes, queue_bytes, at: now, rate_bps: l.rate.bps() as f64 };
            if self.packets[item.handle].flags & flags::DATA != 0 {
                self.packets.telemetry_mut(item.handle).push(hop);
            }
        }
        self.nic_has_left(now, link, item, limiter);
    }

    /// A packet waits no more at the port of a host, behind the limiter at a place if it was limited.
    pub(super) fn nic_has_left(&mut self, now: Time, link: LinkId, item: Item, limiter: Option<usize>) {
        if !is_data(self.packets[item.handle].flags) {
            return;
        }
        let Some(g) = &mut self.links[link].general else { return };
        let Some(nic) = &mut g.nic else { return };
        let handed = match (limiter, &mut g.limiters) {
            (Some(place), Some(limiters)) => limiters.handed(place),
            _ => &mut nic.0[usize::from(item.priority)],
        };
        if handed.leaves() {
            self.call_nic(now, link);
        }
    }

    /// The interface of a host looks whether it may hand over more.
    pub(super) fn call_nic(&mut self, now: Time, link: LinkId) {
        self.events.push(Target::Interface(link).keyed(now, link.0));
    }
}
