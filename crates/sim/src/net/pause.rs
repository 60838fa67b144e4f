//! PAUSE frames of IEEE 802.3x (Annex 31B) at the ports of the general path: received, sent, repeated while they are needed.

use elephan_link::pause;
use elephan_units::Time;

use super::switch::refresh_period;
use super::{Kind, NONE, Net, Occurrence};
use crate::ids::LinkId;
use crate::target::{Control, Target};

/// Bytes of a PAUSE frame as queues count frames: without preamble and gap.
const PAUSE_BYTES: u32 = 64;

impl Net {
    /// A PAUSE frame has arrived at the station whose port feeds `link`.
    pub(super) fn receive_pause(&mut self, now: Time, link: LinkId, quanta: u16) {
        let l = &mut self.links[link];
        l.counts.pauses_received += 1;
        let Some(g) = &mut l.general else { unreachable!("a port that can be paused is general") };
        let Some(response) = g.response else { return };
        self.take_back(now, link);
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { return };
        g.gate.receive(now, pause::quanta(l.rate, quanta), response);
        let gate = g.gate;
        self.gated(now, link, None, gate);
        self.start_if_free(now, link);
    }

    /// Sends a PAUSE (or, with time 0, a resumption) through the port of `link`.
    pub(super) fn send_pause(&mut self, now: Time, link: LinkId, quanta: u16) {
        let l = &self.links[link];
        debug_assert!(!l.general.as_ref().is_some_and(|g| g.ahead.on), "a switch that pauses has settled its ports");
        // The far end counts quanta at the rate of the direction that is paused.
        let period = refresh_period(self.links[l.reverse].rate, quanta);
        let l = &mut self.links[link];
        let Some(g) = &mut l.general else { unreachable!("a port of a switch with memory is general") };
        g.control = Some(Control::Pause { quanta }.into());
        self.set_refresh(link, if quanta == 0 { Time::NEVER } else { now.saturating_add(period) });
        if let Some(log) = &mut self.log {
            let kind = if quanta == 0 { Kind::Resume } else { Kind::Pause };
            let reason = if quanta == 0 { "xon" } else { "xoff" };
            let value = Some(f64::from(quanta));
            log.push(Occurrence { time: now, kind, link, flow: NONE, bytes: PAUSE_BYTES, value, reason });
        }
        self.start_if_free(now, link);
    }

    /// The pauses that the port of `link` has sent are to be repeated at this time.
    pub(super) fn set_refresh(&mut self, link: LinkId, time: Time) {
        let Some(g) = &mut self.links[link].general else { return };
        g.refresh = time;
        if time < g.refresh_armed {
            g.refresh_armed = time;
            self.events.push(Target::Refresh(link).keyed(time, link.0));
        }
    }

    /// A refresh timer of the port of `link` has rung: repeats the PAUSE while the switch is above XON.
    pub fn refresh(&mut self, now: Time, link: LinkId) {
        let out_of = self.links[link].out_of;
        let Some(g) = &mut self.links[link].general else { return };
        if g.refresh_armed != now {
            return;
        }
        if g.refresh > now {
            g.refresh_armed = g.refresh;
            if g.refresh != Time::NEVER {
                let time = g.refresh;
                self.events.push(Target::Refresh(link).keyed(time, link.0));
            }
            return;
        }
        g.refresh_armed = Time::NEVER;
        let switch = &self.switches[out_of as usize];
        match switch.quanta {
            Some(_) if switch.pfc => self.refresh_pfc(now, link),
            Some(quanta) => self.send_pause(now, link, quanta),
            None => {}
        }
        self.look_for_deadlock(now, link);
    }
}
