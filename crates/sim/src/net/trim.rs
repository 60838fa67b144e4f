//! What a queue that trims does to packets without room: their payload is gone, and their headers wait again, before all data.

use elephan_link::queue::{Discipline, Verdict};
use elephan_uec::wire::Header;
use elephan_units::Time;

use super::link::Link;
use super::occurrence::{Kind, Occurrence};
use super::{NONE, Net, item};
use crate::ids::LinkId;
use crate::packet::flags;

impl Link {
    /// Packets that were trimmed here.
    pub fn trims(&self) -> u64 {
        self.general.as_ref().map_or(0, |g| g.trims)
    }
}

impl Net {
    /// The queue of `link`, which trims, has no room for a packet; whoever counts what waits there does not count it any more.
    #[cold]
    pub(super) fn trim(&mut self, now: Time, link: LinkId, packet: u32) {
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { unreachable!("a general port") };
        let p = &mut self.packets[packet];
        let (charged, ingress) = (p.charged, p.ingress);
        let size = g.trims_to.filter(|&size| p.is_uec() && p.flags & flags::DATA != 0 && size < p.ip_bytes);
        let Some(size) = size else {
            l.counts.drops += 1;
            self.drop_packet(now, link, packet, "queue_full");
            return self.release_memory(now, link, charged, ingress);
        };
        g.trims += 1;
        let (flow, before) = (p.flow, l.framing.charged_bytes(p.ip_bytes));
        (p.ip_bytes, p.charged) = (size, 0);
        p.flags |= flags::TRIMMED | flags::URGENT;
        let at_last_hop = self.routes.place(p.route + 1).is_end();
        let item = item(&self.packets, &self.treatments, packet, l.framing.charged_bytes(size), now);
        g.integrate(&mut l.counts, now, self.window);
        // A queue of control packets pushes nothing out.
        let verdict = g.queue.enqueue(now, item, &mut Vec::new());
        let refused = matches!(verdict, Verdict::Dropped(_));
        if !refused {
            g.begin_wait(item, self.window);
            g.nic_hands_over(&item, self.packets[packet].flags, None);
            if let Some(watch) = &mut g.watch {
                watch.enter(item, (l.out_of != NONE).then_some(ingress >> 3));
            }
        }
        let counted = g.counted;
        if let Header::Data(data) = self.packets.uec_mut(packet) {
            data.at_last_hop = at_last_hop;
        }
        if let Some(log) = &mut self.log {
            let value = Some(f64::from(self.packets[packet].segment.seq));
            log.push(Occurrence { time: now, kind: Kind::Trim, link, flow, bytes: before, value, reason: "" });
        }
        if refused {
            self.links[link].counts.drops += 1;
            self.drop_packet(now, link, packet, "queue_full");
        } else if counted {
            self.queued(now, link, ingress, item.bytes);
        }
        self.release_memory(now, link, charged, ingress);
        self.start_if_free(now, link);
    }
}
