//! TCP small queues: what each socket has below it, and when one that has stopped for it looks again.
//!
//! A socket that is throttled has a timer at the instant at which a frame of it, or the last of a burst, has left its port, as
//! `tcp_wfree` schedules `tcp_tsq_write`. The instant follows from what is ahead at the rate of the wire, the pace of the device and a pause
//! that is known; when somebody pauses the port or lets it go on, or it changes, it is computed anew. A timer that rings early finds
//! that the frame is still there, and is set again. While it is set, an ACK lets the socket look too.

use std::collections::BTreeSet;
use std::sync::Arc;

use elephan_engine::{Alarm, Bell};
use elephan_host::Transmit;
use elephan_host::below::{Below, Owner};
use elephan_scenario::Plan;
use elephan_tcp::Segment;
use elephan_units::Time;

use super::Hosts;
use crate::flow::Socket;
use crate::net::Net;
use crate::target::{HostTimer, Target};
use crate::world::World;

/// What a port of a host with small queues knows of its frames.
pub struct SmallQueues {
    bound: u64,
    pub below: Below,
    /// All ports of its host: packets of a socket may be spread over them, or routes made anew.
    ports: Arc<[u32]>,
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
        let Some(small) = self.small(socket.first_link) else { return false };
        let (bound, ports, owner) = (small.bound, small.ports.clone(), (id, socket.number));
        for &port in ports.iter() {
            self.settle(now, net, port);
        }
        let held = self.held_by(owner);
        held.due = Time::NEVER;
        let throttled = socket.endpoint.is_throttled(now, held.bytes, bound, segments);
        if throttled {
            self.aim(now, net, &ports, owner, socket.key);
        }
        throttled
    }

    /// Sets the timer of a throttled socket to when the first packet of it will have left its host.
    fn aim(&mut self, now: Time, net: &mut Net, ports: &[u32], owner: Owner, key: u32) {
        let mut first = Time::NEVER;
        for &port in ports {
            let sizes = self.small(port).and_then(|small| small.below.until_freed(owner));
            if let Some(sizes) = sizes {
                first = first.min(net.links[port as usize].departure(now, sizes));
            }
        }
        // A port that has failed has lost what waited.
        let due = if first == Time::NEVER { now } else { first };
        let held = self.held_by(owner);
        held.due = due;
        if held.alarm.arm(due) {
            net.events.push(Target::Host(HostTimer::Departure, owner.0).keyed(due, key));
        }
    }
}

impl World<'_> {
    /// What waits at the port of `link` may leave at another time than was thought: it was paused, may go on, or has changed.
    #[cold]
    pub fn departures_moved(&mut self, now: Time, link: u32) {
        let World { hosts, net, sockets, .. } = self;
        let Some(small) = hosts.small(link) else { return };
        let (ports, owners) = (small.ports.clone(), small.below.owners().collect::<BTreeSet<Owner>>());
        for &port in ports.iter() {
            hosts.settle(now, net, port);
        }
        for owner in owners {
            let held = &hosts.held[owner.0 as usize];
            // One that is due looks in this instant.
            if held.number == owner.1 && held.due > now && held.due != Time::NEVER {
                hosts.aim(now, net, &ports, owner, sockets[owner.0 as usize].key);
            }
        }
    }

    /// A frame of a socket may have left its host.
    pub fn departure_timer(&mut self, now: Time, id: u32) {
        let (Some(held), socket) = (self.hosts.held.get_mut(id as usize), &mut self.sockets[id as usize]) else {
            return;
        };
        match held.alarm.ring(now, held.due) {
            Bell::Stale | Bell::Off => {}
            Bell::Later(at) => {
                self.net.events.push(Target::Host(HostTimer::Departure, id).keyed(at, socket.key));
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
