//! A switch with shared memory, and what it counts: `net/memory.rs` charges it.

use crate::ids::LinkId;
use elephan_link::{AccountMemory, EgressControl, SharedMemory, pause};
use elephan_units::{Rate, Span, Time};

#[derive(Clone)]
pub struct Switch {
    /// The node of the scenario.
    pub node: u32,
    /// What all ports share, unless it is counted by accounts.
    pub memory: SharedMemory,
    pub by_account: Option<Box<AccountMemory>>,
    /// Whether an account is an egress port. Otherwise it is an ingress port, or a priority of one.
    pub by_egress: bool,
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
    pub egress: Vec<LinkId>,
    /// Whether the scenario gave it its memory.
    pub sampled: bool,
    /// By account of ingress: when its last pause began.
    pub since: Vec<Time>,
    /// By account of ingress (of a whole memory there is one) and egress port: what waits takes so much; kept while pauses are by
    /// ingress, or by a memory in cells.
    pub waiting: Vec<u64>,
    /// Links out of it whose transmission may be over without an event: their frames are still charged.
    pub unsettled: Vec<LinkId>,
}

impl Switch {
    /// The number by which flow control knows where a packet came in, which says `port * 8 + priority`.
    #[inline]
    pub(super) fn account(&self, ingress: u32) -> u32 {
        if self.pfc { ingress } else { ingress >> 3 }
    }

    /// What a frame of so many bytes takes of the memory.
    #[inline(always)]
    pub(super) fn taken(&self, bytes: u32) -> u32 {
        if self.cell == 1 { bytes } else { bytes.next_multiple_of(self.cell) }
    }

    /// The account that a frame is charged to which came in at `ingress` and leaves through the port `egress`.
    #[inline(always)]
    pub(super) fn charged_to(&self, ingress: u32, egress: u32) -> u32 {
        if self.by_egress { egress } else { self.account(ingress) }
    }

    /// Charges a frame that came in at `ingress` for the port `egress` if nothing comes of it, whatever has been released by now.
    #[inline(always)]
    pub(super) fn admit_easily(&mut self, ingress: u32, egress: u32, charged: u32) -> bool {
        let account = self.charged_to(ingress, egress);
        match &mut self.by_account {
            None => self.memory.admit_easily(account, charged),
            Some(memory) => memory.admit_easily(account, charged),
        }
    }

    /// Releases a frame that had come in at `ingress` for the port `egress`; appends the accounts that may resume now.
    #[inline(always)]
    pub fn release(&mut self, ingress: u32, egress: u32, charged: u32, out: &mut Vec<u32>) {
        let account = self.charged_to(ingress, egress);
        match &mut self.by_account {
            None => self.memory.release(account, charged, out),
            Some(memory) => memory.release(account, charged, out),
        }
    }

    /// Whether it is pausing anybody.
    pub fn is_pausing(&self) -> bool {
        match (&self.by_queue, &self.by_account) {
            (Some(control), _) => control.is_pausing(),
            (None, Some(memory)) => memory.is_pausing(),
            (None, None) => self.memory.is_pausing(),
        }
    }

    /// Bytes charged, some of which `Net::settle` may release.
    pub(super) fn charged(&self) -> u64 {
        self.by_account.as_ref().map_or(self.memory.used(), |memory| memory.used())
    }

    /// Whether the end of a transmission that begins on `link` must be told by an event. Memory that pauses nobody is looked at
    /// when a frame comes that may find it full: until then the frame stays charged.
    #[inline(always)]
    pub fn awaits_end(&mut self, link: LinkId, unsettled: &mut bool) -> bool {
        if self.by_account.as_ref().map_or(self.memory.is_pausing(), |memory| memory.is_pausing()) {
            return true;
        }
        if !std::mem::replace(unsettled, true) {
            self.unsettled.push(link);
        }
        false
    }

    /// The priorities that are paused at an ingress port, a bit each.
    pub fn held(&self, port: u32) -> u8 {
        let is = |account: u32| match (&self.by_queue, &self.by_account) {
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
    pub(super) fn place(&self, from: u32, to: u32) -> usize {
        let to = if self.pfc { to >> 3 } else { to };
        let from = if self.by_account.is_some() { from } else { 0 };
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
