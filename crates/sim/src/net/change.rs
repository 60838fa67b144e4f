//! Links that change during the run: rate, delay, loss and queue limits from an instant on; `failure.rs` has up and down.
//!
//! A frame that is being sent keeps the end that it had, frames on the wire their arrival. When the delay gets shorter no
//! frame overtakes another: what is sent afterwards arrives with the last frame sent before, until its own arrival is later.
//! What waits when a limit is lowered stays. A loss process begins anew, with draws of its own.

use elephan_link::{pause, queue::Discipline};
use elephan_scenario::{LinkChange, Plan};
use elephan_units::{Time, Transmitter};

use super::link::Own;
use super::losses::loss;
use super::{Kind, NONE, Net, Occurrence};
use crate::ids::LinkId;
use crate::target::Target;

impl Net {
    /// A link is different from now on, by entry `ordinal` of the plan's changes.
    pub fn change_link(&mut self, now: Time, plan: &Plan, change: &LinkChange, ordinal: usize) {
        let id = LinkId(change.link);
        let planned = &plan.links[id.index()];
        let l = &mut self.links[id];
        let Some(g) = &mut l.general else { unreachable!("a port that changes is general") };
        if let Some(rate) = change.rate {
            (l.rate, l.tx) = (rate, Transmitter::new(rate));
            if let Some(own) = &mut l.own {
                own.pace = None;
            }
            g.queue.set_rate(rate);
            let quanta = plan.nodes[planned.from as usize].pause.response_quanta;
            g.response = g.response.map(|_| pause::quanta(rate, quanta));
            if let Some(limiters) = &mut g.limiters {
                limiters.set_line(rate);
                self.look_again(now, id);
            }
        }
        if change.rate.is_some() {
            self.retime_pauses(now, id);
        }
        let l = &mut self.links[id];
        let Some(g) = &mut l.general else { unreachable!("a port that changes is general") };
        if let Some(delay) = change.delay {
            l.delay = delay + g.latency;
            g.delays = None;
        }
        if let Some(of) = &change.loss {
            let losses = loss(plan.seed, &planned.name, (of, planned.impairments.packets), &format!("loss[{ordinal}]"));
            let pace = l.own.take().and_then(|own| own.pace);
            l.own = Own::of(losses, pace);
        }
        match change.up {
            Some(true) => self.repair(now, id),
            Some(false) => self.fail(now, id),
            None => {}
        }
        let l = &mut self.links[id];
        let Some(g) = &mut l.general else { unreachable!("a port that changes is general") };
        if change.limit.is_some() || change.mark_above.is_some() {
            g.queue.set_limits(change.limit, change.mark_above);
        }
        self.note_change(now, change);
    }

    /// The port of `link` looks whether it may send, when all that happens at this instant has happened.
    pub(super) fn look_again(&mut self, now: Time, link: LinkId) {
        let Some(g) = &mut self.links[link].general else { return };
        g.wake = now;
        self.events.push(Target::Wake(link).at(now));
    }

    /// A row for each quantity that is different.
    fn note_change(&mut self, now: Time, change: &LinkChange) {
        let Some(log) = &mut self.log else { return };
        let of_limit = |limit: elephan_link::queue::Limit| {
            [limit.bytes, limit.packets].into_iter().find(|&size| size != u64::MAX).map(|size| size as f64)
        };
        let rate = change.rate.map(|rate| ("rate", Some(rate.bps() as f64)));
        let delay = change.delay.map(|delay| ("delay", Some(delay.seconds())));
        let loss = change.loss.as_ref().map(|loss| ("loss", loss.mean()));
        let limit = change.limit.map(|limit| ("limit", of_limit(limit)));
        let mark_above = change.mark_above.map(|limit| ("mark_above", of_limit(limit)));
        let up = change.up.map(|up| (if up { "up" } else { "down" }, None));
        for (reason, value) in [rate, delay, up, loss, limit, mark_above].into_iter().flatten() {
            let link = LinkId(change.link);
            log.push(Occurrence { time: now, kind: Kind::Change, link, flow: NONE, bytes: 0, value, reason });
        }
    }
}
