//! TCP small queues: what each socket has below it, and when one that has stopped for it looks again.
//!
//! A socket that is throttled has a timer at the instant at which a frame of it, or the last of a burst, has left its port, as
//! `tcp_wfree` schedules `tcp_tsq_write`. The instant follows from what is ahead at the rate of the wire, the pace of the device and a pause
//! that is known; when somebody pauses the port or lets it go on, or it changes, it is computed anew. A timer that rings early finds
//! that the frame is still there, and is set again. While it is set, an ACK lets the socket look too.

use elephan_host::below::Owner;
use elephan_tcp::Segment;
use elephan_units::Time;

use super::hosts::Hosts;
use super::port::{Held, SmallQueues};
use crate::flow::Socket;
use crate::ids::LinkId;
use crate::net::Net;
use crate::target::{HostTimer, Target};

impl Hosts {
    pub fn small(&mut self, link: LinkId) -> Option<&mut SmallQueues> {
        self.ports[link.index()].as_deref_mut()?.small.as_deref_mut()
    }

    pub(super) fn held_by(&mut self, (id, number): Owner) -> &mut Held {
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
    pub fn note_frame(&mut self, link: LinkId, segment: &Segment, owner: Owner) {
        let Some(small) = self.small(link) else { return };
        let (bytes, holds) = (segment.ip_bytes(), segment.seq_len() > 0);
        small.below.push(holds.then_some(owner), bytes);
        if holds {
            self.held_by(owner).bytes += u64::from(bytes);
        }
    }

    /// Forgets what has left the port of `link` by `now`; what comes next there is another packet.
    pub(super) fn settle(&mut self, now: Time, net: &mut Net, link: LinkId) {
        let Hosts { ports, held, .. } = self;
        let Some(small) = ports[link.index()].as_deref_mut().and_then(|port| port.small.as_deref_mut()) else {
            return;
        };
        let left = net.links[link].present_at(now);
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
    pub(super) fn aim(&mut self, now: Time, net: &mut Net, ports: &[LinkId], owner: Owner, key: u32) {
        let mut first = Time::NEVER;
        for &port in ports {
            let sizes = self.small(port).and_then(|small| small.below.until_freed(owner));
            if let Some(sizes) = sizes {
                first = first.min(net.links[port].departure(now, sizes));
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
