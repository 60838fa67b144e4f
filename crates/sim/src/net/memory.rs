//! The memory of switches: charges frames at their last bit in, forwards them after the latency, sends PAUSE.

use elephan_units::{Span, Time};

use super::link::{Flight, Sending};
use super::port::episodes::Blame;
use super::switch::{Switch, refresh_period};
use super::{NONE, Net};
use crate::ids::LinkId;
use crate::target::{Target, Then};

impl Net {
    /// A frame is in at a switch with memory.
    pub(super) fn enter_switch(&mut self, now: Time, link: LinkId, packet: u32) {
        let l = &self.links[link];
        let (port, into) = (l.into_port, l.into as usize);
        let bytes = l.framing.charged_bytes(self.packets[packet].ip_bytes);
        let switch = &mut self.switches[into];
        let charged = switch.taken(bytes);
        let priority = if switch.pfc { self.priority(packet) } else { 0 };
        let p = &mut self.packets[packet];
        (p.charged, p.ingress) = (charged, port << 3 | u32::from(priority));
        let (route, ingress) = (p.route, p.ingress);
        let egress = if self.switches[into].by_egress { self.port_out(self.routes.link(route)) } else { 0 };
        let switch = &mut self.switches[into];
        let easy = switch.admit_easily(ingress, egress, charged);
        let latency = switch.latency;
        if !easy && !self.admit(now, into, (ingress, egress), charged) {
            let out = self.routes.link(route);
            self.links[out].counts.drops += 1;
            self.drop_packet(now, out, packet, "memory_full");
        } else if latency == Span::ZERO {
            let next = self.routes.link(route);
            self.offer(now, next, packet);
        } else {
            let id = self.links.len() as u32 + link.0;
            let stage = &mut self.links[link].stage;
            let flight = Flight::of(now + latency, packet, Then::NOWHERE);
            if stage.is_empty() {
                self.events.push(Target::Arrival(id).at(flight.arrival));
            }
            stage.push_back(flight);
        }
    }

    /// The number of the port that feeds `link` at its switch.
    #[inline]
    fn port_out(&self, link: LinkId) -> u32 {
        self.links[link].general.as_ref().map_or(0, |g| g.port)
    }

    /// Charges a frame that came in at `ingress` for the port `egress`, with all that it may lead to; false if it does not fit.
    fn admit(&mut self, now: Time, into: usize, (ingress, egress): (u32, u32), charged: u32) -> bool {
        self.settle(now, into);
        let switch = &mut self.switches[into];
        let account = switch.charged_to(ingress, egress);
        let (admitted, blame) = match &mut switch.by_account {
            None => {
                let admitted = switch.memory.admit(account, charged);
                switch.memory.ports_to_pause(account, &mut self.scratch);
                (admitted, Blame::Memory)
            }
            Some(memory) => (memory.admit(account, charged, &mut self.scratch), Blame::Ingress),
        };
        if !self.scratch.is_empty() {
            self.tell_ports(now, into, Some(blame));
        }
        admitted
    }

    /// Releases what transmissions hold that are over; of the others the end gets its event.
    #[cold]
    fn settle(&mut self, now: Time, switch: usize) {
        let mut links = std::mem::take(&mut self.switches[switch].unsettled);
        for link in links.drain(..) {
            self.take_back(now, link);
            let l = &mut self.links[link];
            let Some(g) = &mut l.general else { continue };
            g.unsettled = false;
            if g.sending == Sending::Nothing || g.end_scheduled {
                continue;
            }
            if l.busy_until <= now {
                self.finish_unseen(link);
            } else {
                g.end_scheduled = true;
                let end = l.busy_until;
                self.events.push(Target::End(link).at(end));
            }
        }
        self.switches[switch].unsettled = links;
    }

    /// Bytes in the memory of a switch at `now`.
    pub fn memory_used(&self, now: Time, switch: &Switch) -> u64 {
        switch.charged() - switch.unsettled.iter().map(|&l| self.links[l].unreleased(now)).sum::<u64>()
    }

    /// A frame has passed the switch and goes to its egress queue.
    pub(super) fn leave_stage(&mut self, now: Time, link: LinkId) {
        let id = self.links.len() as u32 + link.0;
        let stage = &mut self.links[link].stage;
        let Some(first) = stage.pop_front() else { unreachable!("an arrival without a frame") };
        if let Some(next) = stage.front() {
            self.events.push(Target::Arrival(id).at(next.arrival));
        }
        let next = self.routes.link(self.packets[first.frame.handle()].route);
        self.offer(now, next, first.frame.handle());
    }

    /// A frame has left the switch through `link`, or its egress queue refused it.
    pub(super) fn release_memory(&mut self, now: Time, link: LinkId, charged: u32, ingress: u32) {
        let switch = self.links[link].out_of;
        if switch == NONE {
            return;
        }
        let egress = self.port_out(link);
        self.switches[switch as usize].release(ingress, egress, charged, &mut self.scratch);
        if !self.scratch.is_empty() {
            self.tell_ports(now, switch as usize, None);
        }
    }

    /// A frame of `bytes` that came in at `from` waits at `link`, whose switch counts what waits there; 0 if it was refused.
    pub(super) fn queued(&mut self, now: Time, link: LinkId, from: u32, bytes: u32) {
        let (s, to) = self.egress_port(link);
        let switch = &mut self.switches[s];
        let (from, to) = (switch.account(from), switch.account(to * 8 + (from & 7)));
        if let Some(control) = &mut switch.by_queue {
            control.queued(now, to, from, bytes, &mut self.scratch);
            if !self.scratch.is_empty() {
                self.tell_ports(now, s, Some(Blame::Egress(link)));
            }
        } else {
            let place = switch.place(from, to);
            switch.waiting[place] += u64::from(switch.taken(bytes));
        }
    }

    /// A frame that came in at `from` waits at `link` no more, whose switch counts what waits there.
    pub(super) fn left_queue(&mut self, now: Time, link: LinkId, from: u32, bytes: u32) {
        let (s, to) = self.egress_port(link);
        let switch = &mut self.switches[s];
        let (from, to) = (switch.account(from), switch.account(to * 8 + (from & 7)));
        if let Some(control) = &mut switch.by_queue {
            control.left(to, bytes, &mut self.scratch);
            if !self.scratch.is_empty() {
                self.tell_ports(now, s, None);
            }
        } else {
            let place = switch.place(from, to);
            switch.waiting[place] -= u64::from(switch.taken(bytes));
        }
    }

    /// The rate of `link` has changed, and with it the time of the PAUSE that its far end sends: what is under way counts already.
    pub(super) fn retime_pauses(&mut self, now: Time, link: LinkId) {
        let l = &self.links[link];
        let (back, port, rate) = (l.reverse, l.into_port, l.rate);
        let Some(switch) = self.switches.get_mut(l.into as usize) else { return };
        let Some(quanta) = switch.quanta else { return };
        let period = refresh_period(rate, quanta);
        if let Some(control) = &mut switch.by_queue {
            control.set_period(port, period);
        }
        let refresh = self.links[back].general.as_ref().map_or(Time::NEVER, |g| g.refresh);
        if refresh != Time::NEVER {
            self.set_refresh(back, refresh.min(now.saturating_add(period)));
        }
    }

    /// The switch at the near end of `link`, and the number of the port there.
    fn egress_port(&self, link: LinkId) -> (usize, u32) {
        let l = &self.links[link];
        (l.out_of as usize, self.port_out(link))
    }

    /// Sends PAUSE, for the reason given, or resumption for the accounts in `scratch`.
    #[cold]
    fn tell_ports(&mut self, now: Time, switch: usize, blame: Option<Blame>) {
        let accounts = std::mem::take(&mut self.scratch);
        for &account in &accounts {
            let s = &mut self.switches[switch];
            let quanta = s.quanta.filter(|_| blame.is_some()).unwrap_or(0);
            let (port, priority) = if s.pfc { (account >> 3, Some((account & 7) as u8)) } else { (account, None) };
            let link = s.egress[port as usize];
            if let Some(blame) = blame {
                s.since[account as usize] = now;
                self.asked(now, link, priority, blame);
            }
            match priority {
                None => self.send_pause(now, link, quanta),
                Some(priority) => self.ask_pfc(now, link, priority, blame.is_some()),
            }
        }
        if self.switches[switch].pfc {
            // One frame says all that there is to say to a port.
            for &account in &accounts {
                let link = self.switches[switch].egress[(account >> 3) as usize];
                self.start_if_free(now, link);
            }
        }
        self.scratch = accounts;
        self.scratch.clear();
    }
}
