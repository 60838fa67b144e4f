//! Sockets that have stopped because enough of theirs is below them look again: `host/small_queues.rs` says when.

use std::collections::BTreeSet;

use elephan_engine::Bell;
use elephan_host::below::Owner;
use elephan_units::Time;

use crate::ids::LinkId;
use crate::target::{HostTimer, Target};
use crate::world::World;

impl World {
    /// What waits at the port of `link` may leave at another time than was thought: it was paused, may go on, or has changed.
    #[cold]
    pub fn departures_moved(&mut self, now: Time, link: LinkId) {
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
