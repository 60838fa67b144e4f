//! Signs of causes in one direction: what is counted while packets pass, so that a cause has a name, a time and a frame.

use std::net::IpAddr;

use crate::packet::{Complaint, Trouble};
use crate::rounds::Rounds;
use crate::rtts::Rtts;

/// A delayed ACK comes after 20 ms at the earliest (Linux `TCP_DELACK_MIN` is 40 ms, BSD's old timer ran every 200 ms), and so many
/// times later than the path needs.
const DELAYED_ACK_MIN_NS: u64 = 20_000_000;
const DELAYED_ACK_MIN_ROUNDS: u64 = 4;
/// A silence of the peer is an outage, or a wait worth a sentence, from here on.
const SILENCE_MIN_NS: u64 = 1_000_000_000;

/// A time from `begin` to `end`, the number of the packet that ended or began it, and how often something happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spell {
    pub begin: u64,
    pub end: u64,
    pub frame: u64,
    pub count: u64,
}

impl Spell {
    pub fn ns(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}

/// Segments of one size that never pass, although smaller ones do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stuck {
    pub begin: u64,
    pub bytes: u64,
    /// How often it was sent, from when to when, and the packet that did it first.
    pub spell: Spell,
}

/// ICMP errors of one kind: the first with its sender, the least MTU that one names, and how many there were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complaints {
    pub by: IpAddr,
    pub trouble: Trouble,
    pub mtu: u64,
    pub spell: Spell,
}

/// What hints at causes in one direction.
#[derive(Clone, Debug, Default)]
pub struct Signs {
    pub rounds: Rounds,
    /// Waits for a delayed ACK that the next small segment had to make.
    pub waits: Rtts,
    pub waited: Spell,
    /// The time in which nothing was in flight until the peer sent data, and when that last came.
    pub unasked_ns: u64,
    asked_at: u64,
    /// An ACK came so late that a segment may have waited for it: when, and how late.
    late_ack: Option<(u64, u64)>,
    /// The largest segment that was acknowledged, and one that was not.
    pub passed: u64,
    pub stuck: Option<Stuck>,
    /// The largest wait for the timer, the longest silence of the peer, the longest closed window, the longest unclear silence.
    pub timer: Option<Spell>,
    pub outage: Option<Spell>,
    pub closed: Option<Spell>,
    pub pause: Option<Spell>,
    /// Since when the peer is silent, timer retransmissions since then, and the retransmissions before it.
    silent: Option<(u64, u64, u64)>,
    /// Retransmissions before the outage whose end is not repaired yet, and of one that ended away from the sender: there all that
    /// comes before new data is repair.
    repairing: Option<u64>,
    repairing_here: Option<u64>,
    closing: Option<(u64, u64)>,
    /// By kind; a list since most connections have none.
    pub complaints: Vec<Complaints>,
    /// The first packet with data, and the first retransmission.
    pub first_frame: u64,
    pub again_frame: u64,
}

fn longer(kept: &mut Option<Spell>, spell: Spell) -> bool {
    let is_longer = kept.is_none_or(|kept| kept.ns() < spell.ns());
    if is_longer {
        *kept = Some(spell);
    }
    is_longer
}

impl Signs {
    /// New data is sent; an ACK that set it free was seen `to_sender` before. `alone`: nothing else is in flight; `again`:
    /// retransmissions so far.
    pub fn fresh(&mut self, (now, frame): (u64, u64), to_sender: u64, (alone, again): (bool, u64)) {
        if let Some(before) = self.repairing_here.take()
            && let Some(outage) = &mut self.outage
        {
            outage.count = again - before;
        }
        if alone {
            self.silent = Some((now, 0, again));
        }
        if self.first_frame == 0 {
            self.first_frame = frame;
        }
        if let Some((at, wait)) = self.late_ack.take()
            && now.saturating_sub(at) <= to_sender + to_sender / 4 + (wait / 10).max(1_000_000)
        {
            self.waits.add(wait);
            if self.waited.count == 0 {
                (self.waited.begin, self.waited.frame) = (at.saturating_sub(wait), frame);
            }
            (self.waited.end, self.waited.count) = (now, self.waited.count + 1);
        }
    }

    /// A segment of `bytes` at `begin` is sent again; `quiet` is how long the sender waited if its timer ran out. `away`: the
    /// retransmissions before it if the capture is not at the sender, whose other timeouts it may not see.
    pub fn again(
        &mut self,
        (now, frame): (u64, u64),
        (begin, bytes): (u64, u64),
        quiet: Option<u64>,
        away: Option<u64>,
    ) {
        if self.again_frame == 0 {
            self.again_frame = frame;
        }
        if let Some(quiet) = quiet {
            longer(&mut self.timer, Spell { begin: now.saturating_sub(quiet), end: now, frame, count: 1 });
            if let Some(silent) = &mut self.silent {
                silent.1 += 1;
            }
            let spell = Spell { begin: now.saturating_sub(quiet), end: now, frame, count: 1 };
            if let Some(before) = away.filter(|_| quiet >= SILENCE_MIN_NS)
                && longer(&mut self.outage, spell)
            {
                self.repairing_here = Some(before);
            }
        }
        let stuck =
            self.stuck.get_or_insert(Stuck { begin, bytes, spell: Spell { begin: now, end: now, frame, count: 1 } });
        if stuck.begin == begin {
            stuck.bytes = stuck.bytes.min(bytes);
            (stuck.spell.end, stuck.spell.count) = (now, stuck.spell.count + 1);
        }
    }

    /// The peer answers. `again`: retransmissions so far, `over`: nothing is being repaired, `waits`: something was outstanding.
    pub fn answer(&mut self, (now, frame): (u64, u64), again: u64, (over, waits): (bool, bool)) {
        if over
            && let Some(before) = self.repairing.take()
            && let Some(outage) = &mut self.outage
        {
            outage.count = again - before;
        }
        if let Some((since, timers, before)) = self.silent.filter(|_| waits)
            && timers > 1
            && now.saturating_sub(since) >= SILENCE_MIN_NS
            && longer(&mut self.outage, Spell { begin: since, end: now, frame, count: timers })
        {
            self.repairing = Some(before);
        }
        self.silent = Some((now, 0, again));
    }

    /// A router or a host reports an error about a segment.
    pub fn complained(&mut self, now: u64, complaint: &Complaint) {
        let Complaint { by, trouble, mtu, frame, .. } = *complaint;
        match self.complaints.iter_mut().find(|known| known.trouble == trouble) {
            Some(known) => {
                known.mtu = known.mtu.min(mtu);
                (known.spell.end, known.spell.count) = (now, known.spell.count + 1);
            }
            None => {
                let spell = Spell { begin: now, end: now, frame, count: 1 };
                self.complaints.push(Complaints { by, trouble, mtu, spell });
            }
        }
    }

    /// A silence that nothing explains ends.
    pub fn paused(&mut self, begin: u64, end: u64, frame: u64) {
        if end.saturating_sub(begin) >= SILENCE_MIN_NS {
            longer(&mut self.pause, Spell { begin, end, frame, count: 1 });
        }
    }

    /// Everything is acknowledged by a bare ACK, `wait` after the last segment, which was small.
    pub fn late(&mut self, now: u64, wait: u64, path: u64) {
        let is_late = wait >= DELAYED_ACK_MIN_NS.max(DELAYED_ACK_MIN_ROUNDS * path);
        self.late_ack = is_late.then_some((now, wait));
    }

    /// The peer has sent data, which the sender gets at `now`: what follows may answer that. Nothing was in flight since `idle`.
    pub fn asked(&mut self, idle: Option<u64>, now: u64) {
        self.late_ack = None;
        if let Some(idle) = idle {
            self.unasked_ns += now.saturating_sub(idle.max(self.asked_at));
        }
        self.asked_at = now;
    }

    /// New data up to `acked` is acknowledged, the largest segment of it with `bytes`.
    pub fn passed(&mut self, acked: u64, bytes: u64) {
        self.passed = self.passed.max(bytes);
        if self.stuck.is_some_and(|stuck| stuck.begin < acked) {
            self.stuck = None;
        }
    }

    /// The window is closed, or open, from `now` on.
    pub fn window(&mut self, now: u64, frame: u64, is_closed: bool) {
        match (self.closing, is_closed) {
            (None, true) => self.closing = Some((now, frame)),
            (Some((begin, frame)), false) => {
                self.closing = None;
                longer(&mut self.closed, Spell { begin, end: now, frame, count: 1 });
            }
            _ => {}
        }
    }

    /// The capture ends at `end`; `open`: data is outstanding.
    pub fn finish(&mut self, end: u64, again: u64, open: bool) {
        self.window(end, 0, false);
        self.answer((end, 0), again, (true, open));
    }
}
