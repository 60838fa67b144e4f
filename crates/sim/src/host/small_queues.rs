//! TCP small queues: what each socket has below it, and when one that has stopped for it looks again.
//!
//! A socket that is throttled has a timer at the instant at which a frame of it, or the last of a burst, has left its port, as
//! `tcp_wfree` schedules `tcp_tsq_write`. The instant follows from what is ahead at the rate of the wire and the pace of the device. A
//! port that is paused can only be later: then the timer rings early, finds that the frame is still there, and is set again, no more
//! often than frames would have left. While it may be set, an ACK lets the socket look too.

use elephan_engine::{Alarm, Bell, Class, Event};
use elephan_host::Transmit;
use elephan_host::below::{Below, Owner};
use elephan_scenario::Plan;
use elephan_tcp::Segment;
use elephan_units::Time;

use super::{DEPARTURE, HOST, Hosts};
use crate::flow::Socket;
use crate::net::Net;
use crate::world::World;

/// What a port of a host with small queues knows of its frames.
pub struct SmallQueues {
    bound: u64,
    pub below: Below,
    /// All ports of its host: packets of a socket may be spread over them, or routes made anew.
    ports: Vec<u32>,
}

impl SmallQueues {
    pub fn new(plan: &Plan, node: u32, words: &Transmit) -> Option<Box<SmallQueues>> {
        let bound = words.small_queues?.0;
        let of_host = (0u32..).zip(&plan.links).filter(|(_, link)| link.from == node);
        Some(Box::new(SmallQueues { bound, below: Below::default(), ports: of_host.map(|(i, _)| i).collect() }))
    }
}

/// What a socket has below it.
#[derive(Clone, Default)]
pub struct Held {
    /// Of its flow, for life: another socket may have its place.
    number: u32,
    bytes: u64,
    /// When it looks again, if it is throttled.
    due: Time,
    alarm: Alarm,
}

impl Hosts {
    pub fn small(&mut self, link: u32) -> Option<&mut SmallQueues> {
        self.ports[link as usize].as_deref_mut()?.small.as_deref_mut()
    }

    fn held_by(&mut self, (id, number): Owner) -> &mut Held {
        let id = id as usize;
        if self.held.len() <= id {
            self.held.resize_with(id + 1, || Held { due: Time::NEVER, ..Held::default() });
        }
        let held = &mut self.held[id];
        if held.number != number {
            (held.number, held.bytes, held.due) = (number, 0, Time::NEVER);
        }
        held
    }

    /// A segment of `owner` joins the frames of a port. Pure ACKs hold nothing (`skb_set_tcp_pure_ack`).
    pub fn note_frame(&mut self, link: u32, segment: &Segment, owner: Owner) {
        let Some(small) = self.small(link) else { return };
        let (bytes, holds) = (segment.ip_bytes(), segment.seq_len() > 0);
        small.below.push(holds.then_some(owner), bytes);
        if holds {
            self.held_by(owner).bytes += u64::from(bytes);
        }
    }

    /// Forgets what has left the port of `link` by `now`; what comes next there is another packet.
    fn settle(&mut self, now: Time, net: &mut Net, link: u32) {
        let Hosts { ports, held, .. } = self;
        let Some(small) = ports[link as usize].as_deref_mut().and_then(|port| port.small.as_deref_mut()) else {
            return;
        };
        let left = net.links[link as usize].present_at(now);
        small.below.begin_burst();
        small.below.settle(left, |(id, number), bytes| {
            if let Some(held) = held.get_mut(id as usize).filter(|held| held.number == number) {
                held.bytes -= bytes;
            }
        });
    }

    /// Whether a socket must not send its next so many segments, as enough of it is below; then its timer is set.
    pub fn throttles(&mut self, now: Time, net: &mut Net, socket: &mut Socket, (id, segments): (u32, u32)) -> bool {
        let link = socket.first_link;
        let Some(small) = self.small(link) else { return false };
        let (bound, ports, owner) = (small.bound, std::mem::take(&mut small.ports), (id, socket.number));
        for &port in &ports {
            self.settle(now, net, port);
        }
        let throttled = socket.endpoint.is_throttled(now, self.held_by(owner).bytes, bound, segments);
        let due = if throttled { self.next_departure(now, net, &ports, owner) } else { Time::NEVER };
        if let Some(small) = self.small(link) {
            small.ports = ports;
        }
        let held = self.held_by(owner);
        held.due = due;
        if throttled && held.alarm.arm(due) {
            net.events.push(Event::new(due, Class::Timer, socket.key, HOST | DEPARTURE | id));
        }
        throttled
    }

    /// When the first packet of `owner` has left its host, if no port is paused.
    fn next_departure(&mut self, now: Time, net: &Net, ports: &[u32], owner: Owner) -> Time {
        let mut first = Time::NEVER;
        for &port in ports {
            let sizes = self.small(port).and_then(|small| small.below.until_freed(owner));
            if let Some(sizes) = sizes {
                first = first.min(net.links[port as usize].departure(now, sizes));
            }
        }
        first
    }
}

impl World<'_> {
    /// A frame of a socket may have left its host.
    pub fn departure_timer(&mut self, now: Time, id: u32) {
        let (Some(held), socket) = (self.hosts.held.get_mut(id as usize), &mut self.sockets[id as usize]) else {
            return;
        };
        match held.alarm.ring(now, held.due) {
            Bell::Stale | Bell::Off => {}
            Bell::Later(at) => {
                self.net.events.push(Event::new(at, Class::Timer, socket.key, HOST | DEPARTURE | id));
            }
            Bell::Due => {
                held.due = Time::NEVER;
                if held.number == socket.number {
                    socket.endpoint.on_room();
                    self.flush(now, id);
                }
            }
        }
    }
}
