//! What RoCE adds to ports of the general path.
//!
//! The interface of a host holds no queue of its own: each connection keeps what it has to send, and a packet is handed to the port
//! when none of its priority waits there. Then a port of the host is never idle while a connection may send, a pause of one
//! priority holds back only its own connections, and those that may send take turns. The port of a switch writes telemetry into
//! packets that ask for it, as they leave (HPCC, SIGCOMM 2019).

use elephan_cc::law::{Any, Law};
use elephan_cc::rdma::Hop;
use elephan_cc::{Question, Spec};
use elephan_engine::{Class, Event};
use elephan_link::queue::Item;
use elephan_scenario::Plan;
use elephan_units::Time;

use super::Net;
use super::link::General;
use crate::packet::traits;
use crate::roce::ROCE;

/// Marks the timer of an interface among those of RoCE.
pub const NIC: u32 = 1 << 29;

/// What the flows of a plan need of its ports.
#[derive(Clone, Copy)]
pub struct Needs {
    pub is_used: bool,
    pub telemetry: bool,
}

impl Needs {
    pub fn of(plan: &Plan) -> Needs {
        let later = plan.changes.iter().flat_map(|c| &c.laws).map(|l| (l.traffic as usize, &l.law));
        let laws = plan.traffic.iter().enumerate().map(|(i, t)| (i, &t.congestion_control)).chain(later);
        let mut of_roce = laws.filter(|(i, _)| plan.traffic[*i].roce.is_some()).map(|(_, law)| law);
        let is_used = plan.traffic.iter().any(|t| t.roce.is_some());
        Needs { is_used, telemetry: of_roce.any(asks_telemetry) }
    }
}

pub fn asks_telemetry(law: &Spec) -> bool {
    Any::new(law).asks_routers() == Some(Question::Telemetry)
}

/// What the interface of a host has handed to its port and what waits there still, by priority.
#[derive(Clone, Copy, Debug, Default)]
pub struct NicPort {
    waiting: [u16; 8],
    /// A connection of this priority waits for room.
    wanted: [bool; 8],
}

impl General {
    /// A packet waits at the port from now on.
    #[inline]
    pub fn nic_hands_over(&mut self, item: &Item, bits: u16) {
        if bits & (traits::ROCE | traits::DATA) == traits::ROCE | traits::DATA
            && let Some(nic) = &mut self.nic
        {
            nic.waiting[usize::from(item.priority)] += 1;
        }
    }
}

impl Net {
    /// Whether the port of a host takes another packet of this priority; if not, the interface is called when it does.
    pub fn nic_has_room(&mut self, link: u32, priority: u8) -> bool {
        let Some(nic) = self.links[link as usize].general.as_mut().and_then(|g| g.nic.as_mut()) else { return true };
        let full = nic.waiting[usize::from(priority)] > 0;
        nic.wanted[usize::from(priority)] = full;
        !full
    }

    /// A packet of RoCE leaves the queue of `link` for the wire.
    #[cold]
    pub(super) fn roce_departs(&mut self, now: Time, link: u32, item: Item) {
        let l = &self.links[link as usize];
        let tells = l.general.as_ref().is_some_and(|g| g.tells);
        if tells && self.packets[item.handle].traits & traits::TELEMETRY != 0 {
            use elephan_link::queue::Discipline;
            let queue_bytes = l.general.as_ref().map_or(0, |g| g.queue.bytes());
            let hop =
                Hop { port: link, tx_bytes: l.counts.tx_bytes, queue_bytes, at: now, rate_bps: l.rate.bps() as f64 };
            if self.packets[item.handle].traits & traits::DATA != 0 {
                self.packets.telemetry_mut(item.handle).push(hop);
            }
        }
        self.nic_has_left(now, link, item);
    }

    /// A packet waits no more at the port of a host.
    pub(super) fn nic_has_left(&mut self, now: Time, link: u32, item: Item) {
        let bits = self.packets[item.handle].traits;
        if bits & (traits::ROCE | traits::DATA) != traits::ROCE | traits::DATA {
            return;
        }
        let Some(nic) = self.links[link as usize].general.as_mut().and_then(|g| g.nic.as_mut()) else { return };
        let priority = usize::from(item.priority);
        nic.waiting[priority] = nic.waiting[priority].saturating_sub(1);
        if std::mem::take(&mut nic.wanted[priority]) {
            self.events.push(Event::new(now, Class::Timer, link, ROCE | NIC | link));
        }
    }
}
