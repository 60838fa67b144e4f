//! A switch with shared memory: charges frames at their last bit in, forwards them after its latency, sends PAUSE.

use elephan_link::{EgressControl, IngressMemory, SharedMemory, pause};
use elephan_units::{Rate, Span, Time};

use super::link::{Flight, Sending};
use super::port::episodes::Blame;
use super::{NONE, Net};
use crate::target::{Target, Then};

pub struct Switch {
    /// The node of the scenario.
    pub node: u32,
    /// What all ports share, unless it is counted by accounts of ingress.
    pub memory: SharedMemory,
    pub by_ingress: Option<Box<IngressMemory>>,
    /// Flow control by egress queues.
    pub by_queue: Option<Box<EgressControl>>,
    /// Whether it pauses priorities; otherwise ports, if anything.
    pub pfc: bool,
    /// The pause time that it sends, if it sends any.
    pub quanta: Option<u16>,
    /// Bytes that the memory is given out in.
    pub cell: u32,
    pub latency: Span,
    /// Port number to the link that leaves through it.
    pub egress: Vec<u32>,
    /// Whether the scenario gave it its memory.
    pub sampled: bool,
    /// By account of ingress: when its last pause began.
    pub since: Vec<Time>,
    /// By account of ingress (of a whole memory there is one) and egress port: what waits takes so much; kept while pauses are by
    /// ingress, or by a memory in cells.
    pub waiting: Vec<u64>,
    /// Links out of it whose transmission may be over without an event: their frames are still charged.
    pub unsettled: Vec<u32>,
}

impl Switch {
    /// The number by which flow control knows where a packet came in, which says `port * 8 + priority`.
    #[inline]
    fn account(&self, ingress: u32) -> u32 {
        if self.pfc { ingress } else { ingress >> 3 }
    }

    /// What a frame of so many bytes takes of the memory.
    #[inline(always)]
    fn taken(&self, bytes: u32) -> u32 {
        if self.cell == 1 { bytes } else { bytes.next_multiple_of(self.cell) }
    }

    /// Charges a frame that came in at `ingress` if nothing comes of it, whatever has been released by now.
    #[inline(always)]
    fn admit_easily(&mut self, ingress: u32, charged: u32) -> bool {
        let account = self.account(ingress);
        match &mut self.by_ingress {
            None => self.memory.admit_easily(account, charged),
            Some(memory) => memory.admit_easily(account, charged),
        }
    }

    /// Releases a frame that had come in at `ingress`; appends the accounts that may resume now.
    #[inline(always)]
    pub fn release(&mut self, ingress: u32, charged: u32, out: &mut Vec<u32>) {
        let account = self.account(ingress);
        match &mut self.by_ingress {
            None => self.memory.release(account, charged, out),
            Some(memory) => memory.release(account, charged, out),
        }
    }

    /// Whether it is pausing anybody.
    pub fn is_pausing(&self) -> bool {
        match (&self.by_queue, &self.by_ingress) {
            (Some(control), _) => control.is_pausing(),
            (None, Some(memory)) => memory.is_pausing(),
            (None, None) => self.memory.is_pausing(),
        }
    }

    /// Bytes charged, some of which [`Net::settle`] may release.
    fn charged(&self) -> u64 {
        self.by_ingress.as_ref().map_or(self.memory.used(), |memory| memory.used())
    }

    /// Whether the end of a transmission that begins on `link` must be told by an event. Memory that pauses nobody is looked at
    /// when a frame comes that may find it full: until then the frame stays charged.
    #[inline(always)]
    pub fn awaits_end(&mut self, link: u32, unsettled: &mut bool) -> bool {
        if self.by_ingress.as_ref().map_or(self.memory.is_pausing(), |memory| memory.is_pausing()) {
            return true;
        }
        if !std::mem::replace(unsettled, true) {
            self.unsettled.push(link);
        }
        false
    }

    /// The priorities that are paused at an ingress port, a bit each.
    pub fn held(&self, port: u32) -> u8 {
        let is = |account: u32| match (&self.by_queue, &self.by_ingress) {
            (Some(control), _) => control.is_paused(account),
            (None, Some(memory)) => memory.is_paused(account),
            (None, None) => self.memory.is_pausing_port(account),
        };
        match (self.quanta, self.pfc) {
            (None, _) => 0,
            (Some(_), false) => {
                if is(port) {
                    0xFF
                } else {
                    0
                }
            }
            (Some(_), true) => (0..8).filter(|p| is(port * 8 + p)).fold(0, |mask, p| mask | 1 << p),
        }
    }

    /// When the last pause of a priority of an ingress port began.
    pub fn since(&self, port: u32, priority: u8) -> Time {
        self.since[self.account(port * 8 + u32::from(priority)) as usize]
    }

    /// Where bytes are kept that came in for one account and wait at another.
    fn place(&self, from: u32, to: u32) -> usize {
        let to = if self.pfc { to >> 3 } else { to };
        let from = if self.by_ingress.is_some() { from } else { 0 };
        from as usize * self.egress.len() + to as usize
    }

    /// Bytes at the egress port `to` that hold a priority of the ingress port `port`; none if it is all that waits there.
    pub fn holding_bytes(&self, port: u32, to: u32, priority: u8) -> Option<u64> {
        let from = self.account(port * 8 + u32::from(priority));
        match (&self.by_queue, self.waiting.is_empty()) {
            (Some(control), _) => {
                let to = self.account(to * 8 + u32::from(priority));
                Some(if control.holds(to, from) { control.bytes(to) } else { 0 })
            }
            (None, false) => Some(self.waiting[self.place(from, self.account(to * 8))]),
            (None, true) => None,
        }
    }
}

/// A PAUSE of so many quanta on a link of this rate is repeated at half its time, well before it runs out.
pub fn refresh_period(rate: Rate, quanta: u16) -> Span {
    Span(pause::quanta(rate, quanta).0 / 2)
}

impl Net {
    /// A frame is in at a switch with memory.
    pub(super) fn enter_switch(&mut self, now: Time, link: u32, packet: u32) {
        let l = &self.links[link as usize];
        let (port, into) = (l.into_port, l.into as usize);
        let bytes = l.framing.charged_bytes(self.packets[packet].ip_bytes);
        let switch = &mut self.switches[into];
        let charged = switch.taken(bytes);
        let priority = if switch.pfc { self.priority(packet) } else { 0 };
        let p = &mut self.packets[packet];
        (p.charged, p.ingress) = (charged, port << 3 | u32::from(priority));
        let (route, ingress) = (p.route, p.ingress);
        let switch = &mut self.switches[into];
        let easy = switch.admit_easily(ingress, charged);
        let latency = switch.latency;
        if !easy && !self.admit(now, into, ingress, charged) {
            let out = self.routes.link(route);
            self.links[out as usize].counts.drops += 1;
            self.drop_packet(now, out, packet, "memory_full");
        } else if latency == Span::ZERO {
            let next = self.routes.link(route);
            self.offer(now, next, packet);
        } else {
            let id = self.links.len() as u32 + link;
            let stage = &mut self.links[link as usize].stage;
            let flight = Flight::of(now + latency, packet, Then::NOWHERE);
            if stage.is_empty() {
                self.events.push(Target::Arrival(id).at(flight.arrival));
            }
            stage.push_back(flight);
        }
    }

    /// Charges a frame that came in at `ingress`, with all that it may lead to; false if it does not fit.
    fn admit(&mut self, now: Time, into: usize, ingress: u32, charged: u32) -> bool {
        self.settle(now, into);
        let switch = &mut self.switches[into];
        let account = switch.account(ingress);
        let (admitted, blame) = match &mut switch.by_ingress {
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
            let l = &mut self.links[link as usize];
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
        switch.charged() - switch.unsettled.iter().map(|&l| self.links[l as usize].unreleased(now)).sum::<u64>()
    }

    /// A frame has passed the switch and goes to its egress queue.
    pub(super) fn leave_stage(&mut self, now: Time, link: u32) {
        let id = self.links.len() as u32 + link;
        let stage = &mut self.links[link as usize].stage;
        let Some(first) = stage.pop_front() else { unreachable!("an arrival without a frame") };
        if let Some(next) = stage.front() {
            self.events.push(Target::Arrival(id).at(next.arrival));
        }
        let next = self.routes.link(self.packets[first.frame.handle()].route);
        self.offer(now, next, first.frame.handle());
    }

    /// A frame has left the switch, or its egress queue refused it.
    pub(super) fn release_memory(&mut self, now: Time, switch: u32, charged: u32, ingress: u32) {
        if switch == NONE {
            return;
        }
        self.switches[switch as usize].release(ingress, charged, &mut self.scratch);
        if !self.scratch.is_empty() {
            self.tell_ports(now, switch as usize, None);
        }
    }

    /// A frame of `bytes` that came in at `from` waits at `link`, whose switch counts what waits there; 0 if it was refused.
    pub(super) fn queued(&mut self, now: Time, link: u32, from: u32, bytes: u32) {
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
    pub(super) fn left_queue(&mut self, now: Time, link: u32, from: u32, bytes: u32) {
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
    pub(super) fn retime_pauses(&mut self, now: Time, link: u32) {
        let l = &self.links[link as usize];
        let (back, port, rate) = (l.reverse, l.into_port, l.rate);
        let Some(switch) = self.switches.get_mut(l.into as usize) else { return };
        let Some(quanta) = switch.quanta else { return };
        let period = refresh_period(rate, quanta);
        if let Some(control) = &mut switch.by_queue {
            control.set_period(port, period);
        }
        let refresh = self.links[back as usize].general.as_ref().map_or(Time::NEVER, |g| g.refresh);
        if refresh != Time::NEVER {
            self.set_refresh(back, refresh.min(now.saturating_add(period)));
        }
    }

    /// The switch at the near end of `link`, and the number of the port there.
    fn egress_port(&self, link: u32) -> (usize, u32) {
        let l = &self.links[link as usize];
        (l.out_of as usize, self.links[l.reverse as usize].into_port)
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
