//! One direction of a link and the port that feeds it.

use std::collections::VecDeque;
use std::sync::Arc;

use elephan_engine::{EventQueue, Ring};
use elephan_host::transmit::Device;
use elephan_link::driven::{Course, Pace};
use elephan_link::{
    FrameCost,
    pause::Gate,
    queue::{Item, Limit, Queue},
};
use elephan_units::{Rate, Span, Time, Transmitter};

use super::losses::Losses;
use super::port::ahead::Ahead;
use super::port::impair::Impair;
use super::port::limiters::Limiters;
use super::port::nic::NicPort;
use super::port::points::CongestionPoints;
use super::port::station::Station;
use super::port::taps::Taps;
use super::port::waits::Waits;
use super::port::watch::Watch;
use crate::ids::LinkId;
use crate::target::{Content, Frame, Target, Then};

/// A frame on the wire: when its last bit is in at the far end.
#[derive(Clone, Copy, Default)]
pub struct Flight {
    pub arrival: Time,
    pub frame: Frame,
    /// Where it goes from there.
    pub then: Then,
}

impl Flight {
    #[inline(always)]
    pub fn of(arrival: Time, packet: u32, then: Then) -> Flight {
        Flight { arrival, frame: Frame::packet(packet), then }
    }

    pub fn of_control(arrival: Time, content: Content) -> Flight {
        Flight { arrival, frame: Frame::control(content), then: Then::NOWHERE }
    }

    /// What its arrival over `link` is for.
    #[inline(always)]
    fn target(self, link: LinkId) -> Target {
        if self.frame.is_control() { Target::Control(link) } else { Target::Arrival(link.0) }
    }
}

/// A frame in a lane: the packet, and where it goes from there, as [`Flight`] has it.
#[derive(Clone, Copy, Default)]
pub struct Onward {
    pub packet: u32,
    pub then: Then,
}

/// A packet that waits at a port of the fast path: until `start`.
#[derive(Clone, Copy, Default)]
pub struct Waiting {
    pub start: Time,
    pub charged: u32,
    pub wire: u32,
}

/// What a port has done. Times beyond the end of the run are cut off where they are counted.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Counts {
    pub tx_packets: u64,
    /// Time that transmissions take, as far as it is within the run.
    pub busy_ps: u64,
    pub tx_bytes: u64,
    pub drops: u64,
    pub marks: u64,
    pub lost: u64,
    pub queue_max_bytes: u64,
    pub queue_max_packets: u64,
    /// Integral of the waiting bytes over the measured time.
    pub byte_ps: u128,
    pub pauses_sent: u64,
    pub pauses_received: u64,
    /// The part of `busy_ps` that is within the warm-up.
    pub early_ps: u64,
}

/// The part of the run that is measured.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub warmup: Time,
    pub end: Time,
}

impl Window {
    /// How much of `[from, to)` lies in the measured part.
    #[inline]
    pub fn overlap(self, from: Time, to: Time) -> u64 {
        to.0.min(self.end.0).saturating_sub(from.0.max(self.warmup.0))
    }
}

impl Counts {
    #[inline]
    pub fn transmission(&mut self, start: Time, end: Time, wire: u32, window: Window) {
        if start <= window.end {
            self.tx_packets += 1;
            self.tx_bytes += u64::from(wire);
            self.busy_ps += end.min(window.end).0 - start.0;
            if start < window.warmup {
                self.early_ps += end.min(window.warmup).0 - start.0;
            }
        }
    }

    /// A transmission that was counted from `start` to `end` does not begin; `wire` is 0 if it was after the end of the run.
    pub fn no_transmission(&mut self, start: Time, end: Time, wire: u32, window: Window) {
        if wire > 0 {
            self.tx_packets -= 1;
            self.tx_bytes -= u64::from(wire);
            self.busy_ps -= end.min(window.end).0 - start.0;
            self.early_ps -= end.min(window.warmup).0.saturating_sub(start.0);
        }
    }
}

/// What a port of the general path keeps: everything that may change while a frame waits. A frame that need not wait touches
/// the first cache line, one that does the next two: the order of the fields is theirs.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct General {
    /// What pause intervals of this port, and of those that it is to blame for, have done; kept only when somebody reads it.
    pub watch: Option<Box<Watch>>,
    pub gate: Gate,
    pub sending: Sending,
    /// MAC control frame to send before anything else.
    pub control: Option<Content>,
    /// Its link is down.
    pub down: bool,
    /// Nothing at the port but its queue looks at a frame that need not wait.
    pub open: bool,
    /// Nor does its queue.
    pub straight: bool,
    /// Its queue looks at when the link goes idle.
    pub minds_idle: bool,
    /// Its switch counts what waits here.
    pub counted: bool,
    /// Its number at its switch.
    pub port: u32,
    /// The end of what is on the wire has its event.
    pub end_scheduled: bool,
    /// Its switch has it among [`super::Switch::unsettled`].
    pub unsettled: bool,
    /// Of a switch: packets that ask for telemetry get it here.
    pub tells: bool,
    /// Its link keeps its delay.
    pub steady: bool,

    /// Sum over the waiting packets of the instant from which their wait is measured.
    pub waiting_since_ps: u128,
    /// Integral of the waiting packets over the measured time, and the sum of the waits within it: equal by Little's law.
    pub packet_ps: u128,
    pub wait_ps: u128,
    /// When the integrals of the queue were last brought up to date.
    pub integrated: Time,
    /// A wake-up is scheduled for this time.
    pub wake: Time,

    pub queue: Queue,
    /// Gates of single priorities, if the far end sends PFC.
    pub pfc: Option<Box<Station>>,
    /// Reaction time to a PAUSE; none if PAUSE is not obeyed.
    pub response: Option<Span>,
    /// When the PAUSE sent last must be sent again.
    pub refresh: Time,
    pub refresh_armed: Time,
    /// The part of the link's delay that is the latency of a far-end switch without memory, or of the host's device.
    pub latency: Span,
    /// Of a host's port that does not send as fast as the wire.
    pub device: Option<Box<Device>>,
    /// Notifications of congestion, ahead of the queue.
    pub urgent: VecDeque<Item>,
    /// Of an egress port of a switch, under congestion management.
    pub points: Option<Box<CongestionPoints>>,
    /// The limiters of a host's port, under congestion management.
    pub limiters: Option<Box<Limiters>>,
    /// What the link does to packets beside losing them.
    pub impair: Option<Box<Impair>>,
    pub taps: Taps,
    /// What is computed in advance while nobody pauses.
    pub ahead: Ahead,
    /// Largest IP packet that the link carries.
    pub mtu: u32,
    /// The delay, if it follows a trace.
    pub delays: Option<Arc<Course>>,
    /// Of a host that sends RoCE: what its interface has handed to the port.
    pub nic: Option<Box<NicPort>>,
    /// What packets are trimmed to that its queue has no room for, and how many were.
    pub trims_to: Option<u32>,
    pub trims: u64,
    /// How long packets have waited; kept only when somebody reads it.
    pub waits: Option<Box<Waits>>,
}

/// What is on the wire of a general port.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sending {
    Nothing,
    Control,
    /// A frame that holds `charged` bytes of the switch's memory, from its port `ingress`.
    Frame {
        charged: u32,
        ingress: u32,
    },
}

/// What few links have, which packets of all links look for: losses by the link itself, and a rate that follows a trace.
#[derive(Clone, Default)]
pub struct Own {
    pub losses: Option<Losses>,
    pub pace: Option<Pace>,
}

impl Own {
    pub fn of(losses: Option<Losses>, pace: Option<Pace>) -> Option<Box<Own>> {
        (losses.is_some() || pace.is_some()).then(|| Box::new(Own { losses, pace }))
    }
}

/// A packet that does not wait touches the first two cache lines only: the order of the fields is theirs.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Link {
    pub general: Option<Box<General>>,
    pub tx: Transmitter,
    pub busy_until: Time,
    /// Propagation, and the latency of a far-end switch that has no memory to charge.
    pub delay: Span,
    pub own: Option<Box<Own>>,
    pub framing: FrameCost,
    /// This link's port number at the far-end switch with memory.
    pub into_port: u32,
    /// Switch with memory at the far end.
    pub into: u32,

    pub flight: Ring<Flight>,
    /// Which lane has its frames instead of `flight`, if one has.
    pub lane: u8,
    pub counts: Counts,

    pub waiting: Ring<Waiting>,
    pub waiting_charged: u64,
    pub waiting_wire: u64,
    /// Of a fast port; a general port asks its queue.
    pub limit: Limit,
    pub mark_above: Limit,
    /// Frames between the last bit in and the egress queue of a far-end switch with memory.
    pub stage: Ring<Flight>,
    /// Switch with memory at the near end.
    pub out_of: u32,
    pub reverse: LinkId,
    pub rate: Rate,
}

/// What a general port may have; a fast port has none of it.
impl Link {
    pub fn is_down(&self) -> bool {
        self.general.as_ref().is_some_and(|g| g.down)
    }

    pub fn limiters(&self) -> Option<&Limiters> {
        self.general.as_ref()?.limiters.as_deref()
    }

    pub fn limiters_mut(&mut self) -> Option<&mut Limiters> {
        self.general.as_mut()?.limiters.as_deref_mut()
    }

    pub fn impair(&self) -> Option<&Impair> {
        self.general.as_ref()?.impair.as_deref()
    }

    pub fn impair_mut(&mut self) -> Option<&mut Impair> {
        self.general.as_mut()?.impair.as_deref_mut()
    }

    pub fn watch(&self) -> Option<&Watch> {
        self.general.as_ref()?.watch.as_deref()
    }

    pub fn watch_mut(&mut self) -> Option<&mut Watch> {
        self.general.as_mut()?.watch.as_deref_mut()
    }
}

impl Link {
    /// When the last bit of a frame has left whose transmission begins at `start`: of so many bytes on the wire, and an IP packet of
    /// so many.
    #[inline]
    pub fn sent_by(&mut self, start: Time, wire: u32, ip_bytes: u32) -> Time {
        match self.own.as_mut().and_then(|own| own.pace.as_mut()) {
            Some(pace) => pace.send(start, wire, ip_bytes),
            None => start.saturating_add(self.tx.send(wire)),
        }
    }

    /// A transmission has ended, and nothing is to be sent.
    #[inline]
    pub fn idle(&mut self) {
        self.tx.idle();
        if let Some(pace) = self.own.as_mut().and_then(|own| own.pace.as_mut()) {
            pace.idle();
        }
    }

    /// Puts a frame on the wire; the link's one event is scheduled when it is the only one.
    #[inline(always)]
    pub fn launch(&mut self, id: LinkId, flight: Flight, events: &mut EventQueue) {
        if self.flight.is_empty() {
            events.push(flight.target(id).at(flight.arrival));
        }
        self.flight.push_back(flight);
    }

    /// Takes the frame that arrives now and schedules the next.
    #[inline(always)]
    pub fn land(&mut self, id: LinkId, events: &mut EventQueue) -> Flight {
        let Some(first) = self.flight.pop_front() else { unreachable!("an arrival without a frame") };
        if let Some(next) = self.flight.front() {
            events.push(next.target(id).at(next.arrival));
        }
        first
    }

    /// When a frame is in whose last bit leaves at `end` and that is held back for `extra`: no frame overtakes another,
    /// also when the delay gets shorter.
    pub fn arrival(&self, end: Time, extra: Span) -> Time {
        let arrival = end.saturating_add(self.delay).saturating_add(extra);
        self.flight.back().map_or(arrival, |last| arrival.max(last.arrival))
    }

    /// Forgets the packets whose transmission has started by `now`.
    #[inline(always)]
    pub fn advance(&mut self, now: Time) {
        while let Some(first) = self.waiting.front() {
            if first.start > now {
                break;
            }
            self.waiting_charged -= u64::from(first.charged);
            self.waiting_wire -= u64::from(first.wire);
            self.waiting.pop_front();
        }
    }

    /// Waiting bytes and packets at `now`; only for ports that are not fused, and after [`super::Net::look_at`] where they compute departures in advance.
    pub fn queue_at(&mut self, now: Time) -> (u64, u64) {
        match &self.general {
            Some(g) => (g.bytes() + g.ahead.bytes(), g.packets() + g.ahead.packets()),
            None => {
                self.advance(now);
                (self.waiting_charged, self.waiting.len() as u64)
            }
        }
    }

    /// Bytes and packets whose transmission has started by `now`, as of [`Link::queue_at`].
    pub fn started(&mut self, now: Time) -> (u64, u64) {
        if let Some(g) = &self.general {
            let (bytes, packets) = g.ahead.to_come();
            return (self.counts.tx_bytes - bytes, self.counts.tx_packets - packets);
        }
        self.advance(now);
        // Those that start after the end of the run are not counted; they wait behind the others.
        let waiting = (0..self.waiting.len() as u32).rev().map_while(|i| self.waiting.get(i));
        let never = waiting.take_while(|w| w.wire == 0).count();
        let ahead = self.waiting.len() - never;
        (self.counts.tx_bytes - self.waiting_wire, self.counts.tx_packets - ahead as u64)
    }

    /// Time that transmissions have taken until `now`; only for ports that are not fused, whose transmissions after `now` follow
    /// the one that is on the wire without a gap.
    pub fn busy_at(&self, now: Time, window: Window) -> u64 {
        let ahead = match &self.general {
            Some(g) if g.sending == Sending::Control => 0,
            _ => self.busy_until.min(window.end).0.saturating_sub(now.0),
        };
        self.counts.busy_ps - ahead
    }

    /// Share of the measured time in which the port was sending packets.
    pub fn utilisation(&self, window: Window) -> f64 {
        (self.counts.busy_ps - self.counts.early_ps) as f64 / window.end.since(window.warmup).ps().max(1) as f64
    }

    pub fn paused_until(&self, now: Time) -> Span {
        let of = |g: &General| g.gate.shut_until(now) + g.pfc.as_ref().map_or(Span::ZERO, |s| s.shut_until(now));
        self.general.as_deref().map_or(Span::ZERO, of)
    }
}
