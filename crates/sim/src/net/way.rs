//! Which way packets take through each port, and why.
//!
//! A port is [`Way::Fast`] unless something holds that needs a queue or an event: then it is general. A general port is computed ahead
//! ([`Way::Ahead`]) while all that waits in it is a FIFO that nobody looks into. What decides is here and nowhere else: the builder
//! asks, and `elephan run --ports` tells.

use elephan_host::transmit::Device;
use elephan_link::Loss;
use elephan_link::queue::{FifoSpec, QueueSpec};
use elephan_scenario::{Link as LinkPlan, NodeKind, Plan};
use elephan_units::Transmitter;

use super::{flow_control, nic};

/// What the builder is told beside the plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paths {
    /// Every port general, for comparing the two paths.
    pub general: bool,
    /// Each frame goes through the queue of its general port and each end of a transmission there has its event, for comparing.
    pub eager: bool,
}

/// How packets pass a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Waiting and drops follow from arithmetic when a packet comes.
    Fast,
    /// As [`Way::Fast`], together with the port before it, which alone feeds it.
    Fused,
    /// A transmission ends with an event if somebody awaits it; what waits is computed ahead where that is sure.
    Ahead,
    /// Each packet goes through the queue, and each transmission that somebody awaits ends with an event.
    Queued,
}

impl Way {
    pub fn name(self) -> &'static str {
        match self {
            Way::Fast => "fast",
            Way::Fused => "fused",
            Way::Ahead => "ahead",
            Way::Queued => "queued",
        }
    }
}

/// What makes a port general, or keeps a general port from being computed ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    AllGeneral,
    Memory,
    MayBePaused,
    Down,
    Changes,
    Delays,
    Traced,
    Managed,
    Rdma,
    Telemetry,
    Discipline,
    Device,
    Impaired,
    Captured,
    Waits,
    Exceeded,
    Eager,
    WayOut,
    Priorities,
    Counted,
    Losses,
    Inexact,
}

/// Each reason, whether it makes a port general, and whether it keeps a general port from being computed ahead.
const REASONS: [(Reason, bool, bool); 22] = [
    (Reason::AllGeneral, true, false),
    (Reason::Memory, true, false),
    (Reason::MayBePaused, true, false),
    (Reason::Down, true, false),
    (Reason::Changes, true, true),
    (Reason::Delays, true, true),
    (Reason::Traced, false, true),
    (Reason::Managed, true, true),
    (Reason::Rdma, true, true),
    (Reason::Telemetry, true, true),
    (Reason::Discipline, true, true),
    (Reason::Device, true, true),
    (Reason::Impaired, true, true),
    (Reason::Captured, true, true),
    (Reason::Waits, true, true),
    (Reason::Exceeded, true, true),
    (Reason::Eager, false, true),
    (Reason::WayOut, false, true),
    (Reason::Priorities, false, true),
    (Reason::Counted, false, true),
    (Reason::Losses, false, true),
    (Reason::Inexact, false, true),
];

/// What decides about the port of one link.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    pub plan: &'a Plan,
    pub link: &'a LinkPlan,
    pub paths: Paths,
    pub rdma: nic::Needs,
    /// The scenario changes the link during the run.
    pub changes: bool,
    /// Its switch has a memory.
    pub memory: bool,
    /// Captures look at the port.
    pub captured: bool,
    /// The waits of its packets are counted.
    pub waits: bool,
    /// IP bytes of the largest packet of the traffic, if routes may change.
    pub largest: Option<u64>,
}

impl Facts<'_> {
    /// Whether a host sends over the link.
    fn at_host(&self) -> bool {
        matches!(self.plan.nodes[self.link.from as usize].kind, NodeKind::Host)
    }

    /// Of a FIFO arithmetic knows everything ahead; other disciplines decide by themselves.
    pub fn fifo(&self) -> Option<&FifoSpec> {
        if let QueueSpec::Fifo(fifo) = &self.link.queue { Some(fifo) } else { None }
    }

    /// What the link carries of a packet and its tag, if some packet exceeds the MTU.
    pub fn mtu(&self) -> Option<u32> {
        let largest = self.largest.unwrap_or(self.link.ip_bytes);
        let tag = self.plan.congestion_management.handling().map_or(0, |handling| handling.tag.0);
        self.link.mtu.filter(|mtu| mtu.0 < largest).map(|mtu| (mtu.0 + tag) as u32)
    }

    pub fn holds(&self, reason: Reason) -> bool {
        let (plan, link) = (self.plan, self.link);
        let transmit = plan.nodes[link.from as usize].models.transmit.as_ref();
        match reason {
            Reason::AllGeneral => self.paths.general,
            Reason::Memory => self.memory,
            Reason::MayBePaused => flow_control::sends_pause(plan, link.to),
            Reason::Down => !link.up,
            Reason::Changes => self.changes,
            Reason::Delays => link.driven.delay.is_some(),
            Reason::Traced => link.driven.rate.is_some(),
            Reason::Managed => !plan.congestion_management.is_none(),
            Reason::Rdma => self.rdma.is_used && self.at_host(),
            Reason::Telemetry => self.rdma.telemetry && !self.at_host(),
            Reason::Discipline => self.fifo().is_none(),
            Reason::Device => transmit.is_some_and(|words| Device::new(words).is_some()),
            Reason::Impaired => !link.impairments.is_none() || link.driven.reorders,
            Reason::Captured => self.captured,
            Reason::Waits => self.waits,
            Reason::Exceeded => self.mtu().is_some(),
            Reason::Eager => self.paths.eager,
            Reason::WayOut => transmit.is_some(),
            Reason::Priorities => flow_control::by_priority(plan, link),
            Reason::Counted => flow_control::counts_queues(plan, link.from),
            Reason::Losses => !matches!(link.loss, Loss::None),
            Reason::Inexact => !Transmitter::new(link.rate).is_exact(),
        }
    }

    pub fn any(&self, reasons: &[Reason]) -> bool {
        reasons.iter().any(|&reason| self.holds(reason))
    }

    /// Whether the port needs a queue and events.
    pub fn is_general(&self) -> bool {
        REASONS.iter().any(|&(reason, general, _)| general && self.holds(reason))
    }

    /// Whether what waits in the port, if it is general, may be computed ahead.
    pub fn is_ahead(&self) -> bool {
        !REASONS.iter().any(|&(reason, _, queued)| queued && self.holds(reason))
    }

    /// Returns the way through the port, and why it needs a queue; `fused` is of a fast port.
    pub fn way(&self, fused: bool) -> (Way, Vec<String>) {
        if !self.is_general() {
            return (if fused { Way::Fused } else { Way::Fast }, Vec::new());
        }
        let because = REASONS.iter().map(|row| row.0).filter(|&reason| self.holds(reason));
        let way = if self.is_ahead() { Way::Ahead } else { Way::Queued };
        (way, because.map(|reason| self.told(reason)).collect())
    }

    /// A reason in words.
    fn told(&self, reason: Reason) -> String {
        let node = |node: u32| &self.plan.nodes[node as usize].name;
        let (from, to) = (node(self.link.from), node(self.link.to));
        match reason {
            Reason::AllGeneral => "all ports are to be general".to_owned(),
            Reason::Memory => format!("{from} has a memory that its ports share"),
            Reason::MayBePaused => format!("{to} may pause it"),
            Reason::Down => "it is down at first".to_owned(),
            Reason::Changes => "a change concerns it".to_owned(),
            Reason::Delays => "its delay follows a trace".to_owned(),
            Reason::Traced => "its rate follows a trace".to_owned(),
            Reason::Managed => "switches notify of congestion".to_owned(),
            Reason::Rdma => "hosts of the scenario send RDMA".to_owned(),
            Reason::Telemetry => "switches of the scenario give telemetry".to_owned(),
            Reason::Discipline => format!("its queue is no FIFO: {}", self.link.queue.name()),
            Reason::Device => format!("{from} spaces its frames"),
            Reason::Impaired => "it has jitter, reordering or duplicates".to_owned(),
            Reason::Captured => "packets are captured at it".to_owned(),
            Reason::Waits => "waits of its packets are counted".to_owned(),
            Reason::Exceeded => "packets that it carries may exceed its mtu".to_owned(),
            Reason::Eager => "all events are to be there".to_owned(),
            Reason::WayOut => format!("{from} has transmit"),
            Reason::Priorities => "it keeps priorities apart".to_owned(),
            Reason::Counted => format!("the flow control of {from} counts each queue"),
            Reason::Losses => "it loses packets".to_owned(),
            Reason::Inexact => "at its rate a byte does not take a whole number of picoseconds".to_owned(),
        }
    }
}
