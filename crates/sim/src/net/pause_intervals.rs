//! Congestion spreading on the record: when which port was paused by whom, what was to blame, and which flows waited.
//!
//! A *pause interval* is the time from which a port may send nothing (or nothing of a priority) until it may again. Its *cause* is
//! the egress port of the pausing switch whose buffer was to blame when the switch decided. If that port is held itself (it
//! is paused, or frames that a pause interval has held back still wait there) the pause interval is a child of that pause interval, and has its
//! *root*; otherwise the cause is the root: the port where congestion began. An *episode* is all pause intervals of one root that
//! follow each other within `EPISODE_GAP`. A packet is *held* for as long as pause intervals of its port and priority overlap its wait.
//!
//! Kept only when somebody reads the `events`. Memory: a row for each pause interval, one for each flow, port and episode.

use elephan_link::pause::Gate;
use elephan_link::queue::{Discipline, Item};
use elephan_units::Time;

use super::link::Sending;
use super::port::episodes::{Blame, Cause, PauseInterval};
use super::port::watch::{Held, Watch};
use super::{NONE, Net};
use crate::ids::LinkId;

impl Net {
    /// A switch decides that the station at the far end of `link` must not send, for the reason given.
    #[cold]
    pub(super) fn asked(&mut self, now: Time, link: LinkId, priority: Option<u8>, blame: Blame) {
        if self.intervals.is_none() {
            return;
        }
        let port = match blame {
            Blame::Egress(port) => port,
            Blame::Ingress => self.fullest(link, true, priority),
            Blame::Memory => self.fullest(link, false, priority),
        };
        let Some(intervals) = &mut self.intervals else { return };
        let watch = self.links[port].general.as_mut().and_then(|g| g.watch.as_mut());
        let parent = watch.and_then(|watch| {
            watch.expire(now, port, intervals);
            watch.holding(now, priority)
        });
        let cause = Cause { port, parent };
        let paused = self.links[link].reverse;
        let Some(watch) = self.links[paused].watch_mut() else { return };
        match watch.asked.iter_mut().find(|(of, _)| *of == priority) {
            Some((_, asked)) => *asked = cause,
            None => watch.asked.push((priority, cause)),
        }
    }

    fn watch(&self, link: LinkId) -> Option<&Watch> {
        self.links[link].watch()
    }

    /// The egress port of the switch that sends through `link` where most waits: of all, or of what came in through there.
    fn fullest(&self, link: LinkId, of_ingress: bool, priority: Option<u8>) -> LinkId {
        let switch = &self.switches[self.links[link].out_of as usize];
        let ingress = (0u32..).zip(&switch.egress).find(|&(_, &of)| of_ingress && of == link).map(|(port, _)| port);
        let most = |&&port: &&LinkId| {
            let bytes = self.watch(port).map_or(0, |w| w.waiting_bytes(ingress, priority));
            let general = self.links[port].general.as_ref();
            (bytes, general.is_some_and(|g| g.sending != Sending::Nothing), std::cmp::Reverse(port))
        };
        switch.egress.iter().max_by_key(most).copied().unwrap_or(link)
    }

    /// A PAUSE or a resumption has reached the station whose port feeds `link`, and its gate is now like this.
    pub(super) fn gated(&mut self, now: Time, link: LinkId, priority: Option<u8>, gate: Gate) {
        let Some(intervals) = &mut self.intervals else { return };
        let Some(watch) = self.links[link].watch_mut() else { return };
        let (begin, end) = gate.window();
        watch.expire(now, link, intervals);
        let place = watch.open.iter().position(|c| c.priority == priority);
        match place {
            Some(place) if end <= now => {
                let interval = watch.open.remove(place);
                watch.close(interval, now, true, link, intervals);
            }
            Some(place) => {
                watch.open[place].end = end;
                watch.open[place].refreshes += 1;
                intervals.prolong(watch.open[place].me, end);
            }
            None if begin < end && now < end => {
                let asked = watch.asked.iter().find(|(of, _)| *of == priority).map(|(_, cause)| *cause);
                let Some(cause) = asked else { return };
                let me = intervals.begin(now, (begin, end), cause);
                let (packets, bytes) = watch.waits(priority);
                let parent = cause.parent.map(|parent| parent.id);
                let cause = cause.port;
                watch.open.push(PauseInterval {
                    me,
                    parent,
                    cause,
                    priority,
                    begin,
                    end,
                    refreshes: 0,
                    packets,
                    bytes,
                });
            }
            None => {}
        }
    }

    /// A packet has left the queue of a port with a record: what held it is counted.
    #[inline]
    pub(super) fn count_held(&mut self, now: Time, link: LinkId, item: Item) {
        let Net { links, routes, packets, intervals, .. } = self;
        let l = &mut links[link];
        let (out_of, Some(g)) = (l.out_of, &mut l.general) else { return };
        let (Some(watch), Some(intervals)) = (&mut g.watch, intervals) else { return };
        let p = &packets[item.handle];
        if !watch.is_quiet() {
            watch.expire(now, link, intervals);
            let route = p.route;
            watch.count(now, item, |root| routes.passes(route, root));
        }
        watch.leave(now, item, Some(p.ingress >> 3).filter(|_| out_of != NONE), true);
    }

    /// The run is over: pause intervals go on beyond it, and what still waits has been held until then.
    pub fn close_closures(&mut self, end: Time) {
        if self.intervals.is_none() {
            return;
        }
        for link in self.links.ids() {
            let watched = |net: &Net| net.watch(link).is_some_and(|w| !w.is_quiet());
            if !watched(self) {
                continue;
            }
            let mut discarded = std::mem::take(&mut self.discarded);
            while let Some(g) = &mut self.links[link].general {
                g.queue.set_paused(0);
                let Some((item, _)) = g.queue.dequeue(end, &mut discarded) else { break };
                discarded.push((item, ""));
            }
            let general = self.links[link].general.as_mut();
            if let Some(limiters) = general.and_then(|g| g.limiters.as_mut()) {
                limiters.drain(&mut discarded, "");
            }
            for (item, _) in discarded.drain(..) {
                self.count_held(end, link, item);
            }
            self.discarded = discarded;
            let Net { links, intervals, .. } = self;
            let Some(intervals) = intervals else { return };
            let Some(watch) = links[link].watch_mut() else { continue };
            watch.expire(end, link, intervals);
            for interval in std::mem::take(&mut watch.open) {
                watch.close(interval, end, false, link, intervals);
            }
        }
    }

    /// Who was held at a port, by episode and flow.
    pub fn held(&self, link: LinkId) -> &[Held] {
        self.watch(link).map_or(&[], |w| &w.held)
    }
}
