//! Both ends of a connection, whatever transport it has.

use elephan_cc::{Controller, Spec};
use elephan_random::Stream;
use elephan_roce::{Counters, Path};
use elephan_scenario::Rdma;
use elephan_units::Time;

use super::ways::Ways;

/// The ends of a connection.
#[derive(Clone)]
pub enum Ends {
    Roce(Box<(elephan_roce::Sender, elephan_roce::Receiver)>),
    Uec(Box<(elephan_uec::Sender, elephan_uec::Receiver)>),
}

macro_rules! each {
    ($ends:expr, $held:ident => $body:expr) => {
        match $ends {
            Ends::Roce($held) => $body,
            Ends::Uec($held) => $body,
        }
    };
}

/// What has come to the receiver.
pub struct Came {
    pub packets: u64,
    pub bytes: u64,
    pub marked: u64,
    /// Congestion notifications that it sent.
    pub notifications: u64,
}

impl Ends {
    /// Both ends of a connection, and the ways that its packets may take beside its own; `name` is the seed of the run and the number
    /// of the flow.
    pub fn new(transport: &Rdma, congestion_control: &Spec, path: Path, name: (u64, u32)) -> (Ends, Ways) {
        match transport {
            Rdma::Roce(options) => {
                let sender = elephan_roce::Sender::new(options.clone(), congestion_control, path);
                let receiver = elephan_roce::Receiver::new(options.clone());
                (Ends::Roce(Box::new((sender, receiver))), Ways::default())
            }
            Rdma::Uec(options) => {
                let stream = Stream::new(name.0, &format!("flow.{}", name.1), "entropy");
                let bdp_bytes = path.nic.rate_bps / 8.0 * path.nic.base_rtt.seconds();
                let sender = elephan_uec::Sender::new(options.clone(), congestion_control, path, stream);
                let receiver = elephan_uec::Receiver::new(options.clone(), bdp_bytes);
                (Ends::Uec(Box::new((sender, receiver))), Ways::new(options.entropies))
            }
        }
    }

    pub fn post(&mut self, total: u64) {
        each!(self, ends => ends.0.post(total));
    }

    pub fn cut(&mut self) -> u64 {
        each!(self, ends => ends.0.cut())
    }

    pub fn posted(&self) -> u64 {
        each!(self, ends => ends.0.posted())
    }

    pub fn acked(&self) -> u64 {
        each!(self, ends => ends.0.acked())
    }

    pub fn inflight(&self) -> u64 {
        each!(self, ends => ends.0.inflight())
    }

    /// Payload in order at the receiver.
    pub fn received(&self) -> u64 {
        each!(self, ends => ends.1.received())
    }

    pub fn controller(&self) -> &Controller {
        each!(self, ends => ends.0.controller())
    }

    pub fn counters(&self) -> &Counters {
        each!(self, ends => ends.0.counters())
    }

    pub fn came(&self) -> Came {
        match self {
            Ends::Roce(ends) => {
                let c = ends.1.counters();
                Came { packets: c.packets, bytes: c.bytes, marked: c.marked, notifications: c.notifications }
            }
            Ends::Uec(ends) => {
                let c = ends.1.counters();
                Came { packets: c.packets, bytes: c.bytes, marked: c.marked, notifications: 0 }
            }
        }
    }

    pub fn rate_bps(&self) -> f64 {
        each!(self, ends => ends.0.rate_bps())
    }

    pub fn next_send(&self) -> Option<Time> {
        each!(self, ends => ends.0.next_send())
    }

    pub fn next_timer(&self) -> Option<Time> {
        each!(self, ends => ends.0.next_timer())
    }

    pub fn on_timer(&mut self, now: Time) {
        each!(self, ends => ends.0.on_timer(now));
    }

    pub fn set_line(&mut self, rate_bps: f64) {
        each!(self, ends => ends.0.set_line(rate_bps));
    }

    pub fn switch_congestion_control(&mut self, congestion_control: &Spec) {
        each!(self, ends => ends.0.switch_congestion_control(congestion_control));
    }
}
