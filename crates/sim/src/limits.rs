//! Sockets and the limiters of their hosts: a sender stops while its limiter is full, and goes on when that has drained.

use elephan_link::congestion::Per;
use elephan_record::LimiterSampleRow;
use elephan_units::Time;

use crate::flow::{Flow, Socket};
use crate::net::{NONE, Net};
use crate::world::World;

/// Whether a socket must not send now; its limiter says when it may go on. A connection that is not yet established goes on, and
/// so does one that only acknowledges, unless acknowledgements are limited too.
#[cold]
pub fn stopped(net: &mut Net, flows: &[Option<Flow>], socket: &Socket, id: u32) -> bool {
    let Some(management) = &net.management else { return false };
    let limited = socket.is_sender && socket.endpoint.is_established() || management.handling.limit_acks;
    let Some(flow) = flows[socket.flow as usize].as_ref().filter(|_| limited) else { return false };
    let key = match (management.handling.per, socket.is_sender) {
        (Per::Flow, _) => socket.number,
        (Per::Pair, true) => flow.plan.to,
        (Per::Pair, false) => flow.plan.from,
    };
    let limiters = net.links[socket.first_link].limiters_mut();
    limiters.is_some_and(|limiters| limiters.stops(key, id))
}

impl World {
    /// Rows of all limiters.
    pub fn sample_limiters(&mut self, now: Time) {
        let Some(management) = &self.net.management else { return };
        let per_pair = management.handling.per == Per::Pair;
        for (i, link) in self.net.links.iter().enumerate() {
            let Some(limiters) = link.limiters() else { continue };
            for limiter in limiters.all() {
                self.recorder.limiter_samples.push(LimiterSampleRow {
                    time_ns: now.ns(),
                    host: self.tables.node(self.plan.links[i].from),
                    port: i as i64,
                    destination: per_pair.then(|| self.tables.node(limiter.key)),
                    flow: (!per_pair).then_some(i64::from(limiter.key)),
                    rate_bps: limiter.reaction.rate().unwrap_or(link.rate.bps() as f64),
                    target_bps: limiter.reaction.target(),
                    queue_bytes: limiter.bytes as i64,
                    queue_packets: limiter.packets() as i64,
                });
            }
        }
    }

    /// Senders go on whose limiters have drained, one after the other until they are full again.
    #[cold]
    pub fn resume_senders(&mut self, now: Time) {
        while let Some(id) = self.net.next_resumed() {
            if self.sockets[id as usize].number != NONE {
                self.flush(now, id);
            }
        }
    }
}
