//! Deadlock of paused ports: buffers that wait for each other in a cycle, so that none will ever drain.
//!
//! A port may be paused because of a buffer of its neighbour whose frames wait, in turn, for paused ports. With S the set of
//! ports (and priorities) that are paused now,
//!
//! ```text
//! repeat:  a port leaves S if the bytes that hold it would fall to XON once all that waits for ports outside S has left
//! ```
//!
//! What is left can never resume, whatever else happens short of a watchdog or a link that fails: bytes behind ports in S do
//! not leave, and further arrivals only add to them. This is exact, where a plain cycle in the graph of who waits for whom may
//! still dissolve through another port. A cycle within S is reported once, with the time at which its last pause began.
//!
//! Looked for when a pause is repeated (in a deadlock all are, every half of their time) and at the end of the run, so it
//! costs nothing per frame. Left out: deadlocks through hosts, which send no PAUSE here.

use elephan_link::{pause, queue::Discipline};
use elephan_units::Time;

use super::occurrence::{Deadlock, Kind, Occurrence};
use super::port::station::{priorities, xoff};
use super::{NONE, Net};
use crate::ids::{LinkId, Table};

/// Which priorities of each link can never resume, a bit each.
type Stuck = Table<LinkId, u8>;

impl Net {
    /// Looks for a deadlock if the port of `link`, whose pause is repeated, leads to a switch, and its own switch is paused itself.
    pub(super) fn look_for_deadlock(&mut self, now: Time, link: LinkId) {
        let l = &self.links[link];
        let waits = |&port: &LinkId| self.shut(now, port) != 0;
        if l.into != NONE && self.switches[l.out_of as usize].egress.iter().any(waits) {
            self.find_deadlocks(now);
        }
    }

    /// Looks for deadlocks anywhere.
    pub fn find_deadlocks(&mut self, now: Time) {
        if !self.switches.iter().any(|s| s.quanta.is_some()) {
            return;
        }
        let stuck = self.stuck(now);
        for link in self.links.ids() {
            for priority in priorities(stuck[link]) {
                if let Some(found) = self.cycle(&stuck, link, priority)
                    && !self.deadlocks.iter().any(|d| d.links == found.links && d.priority == found.priority)
                {
                    self.report(now, found);
                }
            }
        }
    }

    /// The priorities that may not leave a port now.
    fn shut(&self, now: Time, link: LinkId) -> u8 {
        let Some(g) = &self.links[link].general else { return 0 };
        match g.gate.until_at(now) {
            Some(_) => 0xFF,
            None => g.pfc.as_ref().map_or(0, |station| station.shut_at(now).0),
        }
    }

    /// The greatest set of paused ports that nothing outside it can free.
    fn stuck(&self, now: Time) -> Stuck {
        let mut stuck = Stuck::from(vec![0u8; self.links.len()]);
        for switch in &self.switches {
            for (port, &out) in (0u32..).zip(&switch.egress) {
                let link = self.links[out].reverse;
                let held = switch.held(port);
                let settled = |p: &u8| now >= self.settled(link, switch.since(port, *p));
                let old = priorities(held).filter(settled).fold(0, |mask, p| mask | 1 << p);
                stuck[link] = old & self.shut(now, link);
            }
        }
        loop {
            let before = stuck.clone();
            for (s, switch) in self.switches.iter().enumerate() {
                for (port, &out) in (0u32..).zip(&switch.egress) {
                    let link = self.links[out].reverse;
                    let free = priorities(stuck[link]).filter(|&p| !self.stays(s, port, p, &stuck));
                    stuck[link] = free.fold(stuck[link], |mask, p| mask & !(1 << p));
                }
            }
            if stuck == before {
                return stuck;
            }
        }
    }

    /// When frames that were under way as the pause of `link` began have arrived, and its gate has shut.
    fn settled(&self, link: LinkId, since: Time) -> Time {
        let l = &self.links[link];
        let frames = l.rate.time_of(2 * 1538 + u64::from(pause::FRAME_WIRE_BYTES));
        let response = l.general.as_ref().and_then(|g| g.response).unwrap_or_default();
        since.saturating_add(l.delay.saturating_mul(2)).saturating_add(frames).saturating_add(response)
    }

    /// The bytes that hold a priority of an ingress port of a switch and wait at each of its egress ports for good.
    fn behind<'a>(&'a self, s: usize, port: u32, p: u8, stuck: &'a Stuck) -> impl Iterator<Item = (LinkId, u64)> + 'a {
        let switch = &self.switches[s];
        let whole = move |out: LinkId| match switch.pfc {
            true => self.stopped_by(out, stuck[out]) >> p & 1 == 1,
            false => stuck[out] == 0xFF,
        };
        (0u32..).zip(&switch.egress).filter(move |&(_, &out)| whole(out)).map(move |(to, &out)| {
            let general = self.links[out].general.as_ref();
            (out, switch.holding_bytes(port, to, p).unwrap_or_else(|| general.map_or(0, |g| g.queue.bytes())))
        })
    }

    /// The priorities that wait at a port while these are paused: those of the same class of its queue with them.
    fn stopped_by(&self, out: LinkId, mask: u8) -> u8 {
        if mask == 0 {
            return 0;
        }
        self.links[out].general.as_ref().map_or(mask, |g| g.queue.stopped_by(mask))
    }

    /// Whether an ingress port would stay paused after everything that can leave has left.
    fn stays(&self, s: usize, port: u32, p: u8, stuck: &Stuck) -> bool {
        let switch = &self.switches[s];
        let bytes = || self.behind(s, port, p, stuck).map(|(_, bytes)| bytes);
        if let Some(control) = &switch.by_queue {
            return bytes().any(|bytes| bytes > control.xon());
        }
        let own: u64 = bytes().sum();
        match &switch.by_account {
            None => own > switch.memory.xon(),
            // One that has nothing left may still wait until others leave room.
            Some(memory) => {
                let used = self.behind_all(s, stuck).map(|(_, _, bytes)| bytes).sum();
                used > 0 && memory.stays_paused(own, used)
            }
        }
    }

    /// The bytes of all accounts of a switch that wait for good: at which egress port, and of which priority.
    fn behind_all<'a>(&'a self, s: usize, stuck: &'a Stuck) -> impl Iterator<Item = (LinkId, u8, u64)> + 'a {
        let switch = &self.switches[s];
        let classes = || priorities(if switch.pfc { 0xFF } else { 1 });
        let all = (0..switch.egress.len() as u32).flat_map(move |port| classes().map(move |p| (port, p)));
        all.flat_map(move |(port, p)| self.behind(s, port, p, stuck).map(move |(out, bytes)| (out, p, bytes)))
    }

    /// Where the most waits for good of what holds a priority of an ingress port; if nothing of its own does, what fills the memory.
    fn waits_behind(&self, stuck: &Stuck, link: LinkId, p: u8) -> Option<(LinkId, u8)> {
        let l = &self.links[link];
        let s = l.into as usize;
        let own = self.behind(s, l.into_port, p, stuck).map(|(out, bytes)| (bytes, out, p));
        let most = own.max().filter(|(bytes, ..)| *bytes > 0);
        let of_all = || self.behind_all(s, stuck).map(|(out, p, bytes)| (bytes, out, p)).max();
        let coupled = self.switches[s].by_queue.is_none();
        most.or_else(|| if coupled { of_all() } else { None })
            .filter(|(bytes, ..)| *bytes > 0)
            .map(|(_, out, p)| (out, self.paused_before(stuck, out, p)))
    }

    /// The priority whose pause holds back this one at a port for good.
    fn paused_before(&self, stuck: &Stuck, out: LinkId, p: u8) -> u8 {
        let paused = stuck[out];
        let partner = || priorities(paused).find(|&q| self.stopped_by(out, 1 << q) >> p & 1 == 1);
        if paused >> p & 1 == 1 { p } else { partner().unwrap_or(p) }
    }

    /// The cycle to which a stuck port leads, from its lowest link on.
    fn cycle(&self, stuck: &Stuck, link: LinkId, p: u8) -> Option<Deadlock> {
        let mut way = vec![(link, p)];
        loop {
            let &(link, p) = way.last()?;
            let next = self.waits_behind(stuck, link, p)?;
            let Some(first) = way.iter().position(|&before| before == next) else {
                way.push(next);
                continue;
            };
            let mut cycle = way.split_off(first);
            let least = cycle.iter().enumerate().min_by_key(|(_, port)| **port).map_or(0, |(i, _)| i);
            cycle.rotate_left(least);
            let since = |&(link, p): &(LinkId, u8)| {
                let l = &self.links[link];
                self.switches[l.into as usize].since(l.into_port, p)
            };
            let pfc = cycle.iter().any(|&(link, _)| self.switches[self.links[link].into as usize].pfc);
            let closed = cycle.iter().map(since).max().unwrap_or_default();
            let links = cycle.iter().map(|&(link, _)| link).collect();
            return Some(Deadlock { closed, priority: pfc.then_some(cycle[0].1), links });
        }
    }

    fn report(&mut self, now: Time, found: Deadlock) {
        if let Some(log) = &mut self.log {
            for &link in &found.links {
                let value = Some(found.closed.since(Time::ZERO).seconds());
                let reason = found.priority.map_or("xoff", xoff);
                log.push(Occurrence { time: now, kind: Kind::Deadlock, link, flow: NONE, bytes: 0, value, reason });
            }
        }
        self.deadlocks.push(found);
    }
}
