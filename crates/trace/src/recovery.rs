//! Retransmissions: what brought them about, and whether they cut the window.
//!
//! A timer retransmits after silence, a fast retransmission follows ACKs. After a silence of one and a half round trips or more the end
//! of what is outstanding is a tail loss probe (RFC 8985 section 7), its beginning a timeout; if that is the same segment, what comes
//! sooner than 200 ms after a round trip (the least timeout of Linux) is a probe. What follows within a recovery is of its kind. The window was cut where something is
//! retransmitted after all that had been sent at the last cut is acknowledged (RFC 6582's `recover`), or where CWR says so and both ends had
//! agreed on ECN (RFC 3168). If D-SACK (RFC 2883) shows that every retransmission of a recovery was needless, there was no
//! loss, and the sender takes the cut back (Linux `tcp_try_undo_dsack`): it is none.

use crate::context::{Context, Note};

/// The least retransmission timeout of Linux.
const TIMEOUT_MIN_NS: u64 = 200_000_000;
/// A round-trip time where none is known.
const RTT_NS: u64 = 100_000_000;

/// What brings a retransmission about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Fast,
    Timeout,
    Probe,
}

/// What is retransmitted, and how the connection stands.
#[derive(Clone, Copy, Debug)]
pub struct Again {
    pub begin: u64,
    pub end: u64,
    pub acked: u64,
    pub highest: u64,
    /// Time since the last segment of either side, and the usual round-trip time.
    pub quiet: u64,
    pub rtt: Option<u64>,
    pub dup_acks: u64,
}

/// A cut that may yet turn out to be none.
#[derive(Clone, Copy, Debug)]
struct Cut {
    note: Note,
    /// Bytes retransmitted since then, and how many of them needlessly.
    bytes: u64,
    needless: u64,
}

/// The recoveries of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recovery {
    /// What had been sent when the window was last cut.
    recover: Option<u64>,
    cut: Option<Cut>,
    /// When the first cut was that is not taken back.
    pub first_cut: Option<u64>,
    /// Of the last retransmission.
    pub kind: Kind,
    /// The last retransmission came when a timer ran out.
    pub by_timer: bool,
    /// The last cut was one by a mark: nothing was lost.
    by_mark: bool,
    /// The end of the segment that was last retransmitted as a probe.
    probed: Option<u64>,
    pub cuts: u64,
    /// Of them by marks.
    pub marked: u64,
    pub fast: u64,
    pub timeout: u64,
    pub probe: u64,
    pub needless: u64,
}

impl Recovery {
    /// Whether something that had been sent at the last cut is not acknowledged.
    pub fn is_on(&self, acked: u64) -> bool {
        self.recover.is_some_and(|recover| acked < recover)
    }

    /// The end of what had been sent when the loss was noticed that is being repaired.
    pub fn losing(&self) -> Option<u64> {
        self.recover.filter(|_| !self.by_mark)
    }

    /// The end of what had been sent at the cut was lost on the way to the capture: the stream goes on at `begin`.
    pub fn skipped(&mut self, highest: u64, begin: u64) {
        if self.recover == Some(highest) {
            self.recover = Some(begin);
        }
    }

    /// A segment was retransmitted.
    pub fn retransmitted(&mut self, again: &Again) {
        let kind = self.kind_of(again);
        match kind {
            Kind::Fast => self.fast += 1,
            Kind::Timeout => self.timeout += 1,
            Kind::Probe => self.probe += 1,
        }
        self.probed = (kind == Kind::Probe).then_some(again.end);
        self.kind = kind;
        let rtt = again.rtt.unwrap_or(RTT_NS);
        self.by_timer = kind != Kind::Fast && again.quiet >= rtt + rtt / 2;
    }

    fn kind_of(&self, again: &Again) -> Kind {
        let rtt = again.rtt.unwrap_or(RTT_NS);
        let by_timer = again.quiet >= rtt + rtt / 2;
        let long = again.quiet >= rtt + TIMEOUT_MIN_NS;
        let (first, last) = (again.begin <= again.acked, again.end == again.highest);
        if self.is_on(again.acked) && self.kind != Kind::Probe {
            // Its own timer may run out in the middle.
            return if long && first { Kind::Timeout } else { self.kind };
        }
        if !by_timer || (again.dup_acks >= 3 && !long) {
            Kind::Fast
        } else if last && (!first || (!long && self.probed != Some(again.end))) {
            Kind::Probe
        } else {
            Kind::Timeout
        }
    }

    /// Whether a segment, sent when the stream was `before` long, shows that the window was cut: it repeats from `again` so many
    /// bytes, or it says so with new data from `cwr` on (then a loss that was counted since the last new data is meant). Answers the
    /// cut before that one, which is certain by now.
    pub fn look(
        &mut self,
        context: &Context,
        (before, acked): (u64, u64),
        again: Option<(u64, u64)>,
        cwr: Option<u64>,
    ) -> Option<Note> {
        // RFC 6582 section 3.2: the last recovery must be over.
        let over = |recover: u64| acked >= recover;
        let by_loss = again.filter(|&(place, _)| self.recover.is_none_or(|recover| place >= recover && over(recover)));
        let said = cwr.filter(|&place| self.recover.is_none_or(|recover| place > recover));
        let bytes = again.map_or(0, |(_, bytes)| bytes);
        let Some(place) = by_loss.map(|(place, _)| place).or(said) else {
            if let Some(cut) = &mut self.cut {
                cut.bytes += bytes;
            }
            return None;
        };
        self.recover = Some(cwr.unwrap_or(before));
        self.cuts += 1;
        self.first_cut.get_or_insert(context.now);
        self.by_mark = by_loss.is_none();
        self.marked += u64::from(self.by_mark);
        let note = Note { kind: "cut", place, bytes: 0, at: context.now };
        self.cut.replace(Cut { note, bytes, needless: 0 }).map(|cut| cut.note)
    }

    /// The receiver reports that it had `bytes` before; whether a retransmission was needless. If all were, the cut is none.
    pub fn duplicate(&mut self, bytes: u64, retransmitted: u64) -> bool {
        if self.needless >= retransmitted {
            // The network has duplicated a packet.
            return false;
        }
        self.needless += 1;
        if let Some(cut) = &mut self.cut {
            cut.needless += bytes;
            if cut.bytes > 0 && cut.needless >= cut.bytes {
                self.cuts -= 1;
                self.first_cut = self.first_cut.filter(|_| self.cuts > 0);
                (self.cut, self.recover) = (None, None);
            }
        }
        true
    }

    /// The last cut: nothing more comes that could show it to be none.
    pub fn last_cut(&self) -> Option<Note> {
        self.cut.map(|cut| cut.note)
    }
}
