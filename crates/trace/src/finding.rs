//! Causes and troubles of a direction, as rows: each with a name, a time, a packet and its numbers.

use std::net::IpAddr;

use crate::Vantage;
use crate::connection::Connection;
use crate::division::{Owner, Shares};
use crate::half::Half;
use crate::packet::Trouble;
use crate::signs::Spell;

/// Less is not worth a sentence: a share of the time, and a time.
const SHARE_MIN: f64 = 0.05;
const LONG_NS: u64 = 1_000_000_000;
/// A lost segment at the end of a window makes the sender wait for less than this; an outage of which one packet came through, longer.
const LONE_OUTAGE_NS: u64 = 1_500_000_000;
/// Rounds at one level, at least, and their share of all.
const ROUNDS_MIN: u32 = 8;
const LEVEL_SHARE_MIN: f64 = 0.6;
/// A queue worth a sentence makes the round trip longer by such a share of its least, and by so much.
const QUEUE_SHARE_MIN: f64 = 0.5;
const QUEUE_MIN_NS: u64 = 5_000_000;
/// A round trip that is longer by less than this part of it is as long as the path; a queue of less than this is none.
const FLAT_PART: u64 = 12;
const FULL_MIN_NS: u64 = 1_000_000;
/// A segment that was sent so often without an ACK is stuck.
const STUCK_MIN: u64 = 3;
/// So many retransmissions, and such a share of the segments, are a loss worth a sentence.
const LOSSY_MIN: u64 = 5;
const LOSSY_SHARE_MIN: f64 = 0.02;

/// Turns from which on the traffic is requests and answers.
pub const TURNS_MIN: u64 = 3;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Refused,
    Unanswered,
    SlowSetup,
    Reset,
    BlackHole,
    Stuck,
    Outage,
    Silence,
    Closed,
    Timer,
    Lossy,
    DelayedAck,
    Unasked,
    FixedWindow,
    FullLink,
    Pacing,
    SlowStart,
    LossCuts,
    Queue,
    Marks,
    AccEcn,
    Icmp(Trouble),
}

impl Kind {
    /// Whether nothing more can come of the connection.
    pub fn ends(self) -> bool {
        matches!(self, Kind::Refused | Kind::Unanswered | Kind::Reset | Kind::BlackHole | Kind::Stuck)
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Refused => "refused",
            Kind::Unanswered => "unanswered",
            Kind::SlowSetup => "slow_setup",
            Kind::Reset => "reset",
            Kind::BlackHole => "black_hole",
            Kind::Stuck => "stuck",
            Kind::Outage => "outage",
            Kind::Silence => "silence",
            Kind::Closed => "closed",
            Kind::Timer => "timer",
            Kind::Lossy => "lossy",
            Kind::DelayedAck => "delayed_ack",
            Kind::Unasked => "unasked",
            Kind::FixedWindow => "fixed_window",
            Kind::FullLink => "full_link",
            Kind::Pacing => "pacing",
            Kind::SlowStart => "slow_start",
            Kind::LossCuts => "loss_cuts",
            Kind::Queue => "queue",
            Kind::Marks => "marks",
            Kind::AccEcn => "acc_ecn",
            Kind::Icmp(Trouble::TooBig) => "icmp_too_big",
            Kind::Icmp(Trouble::NoPort) => "icmp_no_port",
            Kind::Icmp(Trouble::Prohibited) => "icmp_prohibited",
            Kind::Icmp(Trouble::Unreachable) => "icmp_unreachable",
            Kind::Icmp(Trouble::Expired) => "icmp_expired",
            Kind::Icmp(Trouble::BadHeader) => "icmp_bad_header",
        }
    }
}

/// A row of `connection_findings`, which describes the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: Kind,
    pub spell: Spell,
    pub value: u64,
    pub beside: u64,
    /// The time that it explains, taken from each owner.
    pub taken: [u64; 8],
    /// Who sent the ICMP error.
    pub by: Option<IpAddr>,
}

impl Finding {
    pub fn new(kind: Kind, spell: Spell, value: u64, beside: u64) -> Finding {
        Finding { kind, spell, value, beside, taken: [0; 8], by: None }
    }

    /// The time that it explains.
    pub fn cost_ns(&self) -> u64 {
        if self.kind == Kind::SlowSetup { self.value } else { self.taken.iter().sum() }
    }
}

/// What the whole connection shows; it is told with the direction of the opener.
pub fn of_connection(c: &Connection) -> Vec<Finding> {
    let untouched = c.halves.iter().all(|half| half.data_start.is_none());
    let spell = Spell { begin: c.start, end: c.end, frame: c.first_frame, count: c.syn_count };
    let at_reset = Spell { begin: c.reset_at, end: c.reset_at, frame: c.reset_frame, count: c.syn_count };
    let called = usize::from(c.opener == Some(true));
    let mut found = Vec::new();
    if c.opener.is_some() && c.syn_count > 0 && c.syn_ack_count == 0 && untouched {
        match c.reset_by {
            Some(by) if by == called => found.push(Finding::new(Kind::Refused, at_reset, 0, 0)),
            Some(_) => {}
            None => found.push(Finding::new(Kind::Unanswered, spell, c.end - c.start, 0)),
        }
    } else if let Some(setup) = c.setup.filter(|&setup| setup >= LONG_NS || (c.syn_count > 1 && setup >= LONG_NS / 4)) {
        let spell = Spell { end: c.start + setup, ..spell };
        found.push(Finding::new(Kind::SlowSetup, spell, setup, 0));
    }
    if c.reset && !untouched {
        found.push(Finding::new(Kind::Reset, at_reset, c.reset_by.unwrap_or(0) as u64, 0));
    }
    found
}

/// What a direction shows.
pub fn of_half(c: &Connection, end: usize, shares: &Shares) -> Vec<Finding> {
    let half = &c.halves[end];
    let whole = shares.total().max(1);
    let mut found = Vec::new();
    let mut put = |kind, spell, value, beside| found.push(Finding::new(kind, spell, value, beside));
    let signs = &half.signs;
    let stuck = signs.stuck.filter(|stuck| stuck.spell.count >= STUCK_MIN);
    if let Some(stuck) = stuck {
        let hole = signs.passed > 0 && stuck.bytes > signs.passed;
        put(if hole { Kind::BlackHole } else { Kind::Stuck }, stuck.spell, stuck.bytes, signs.passed);
    }
    if let Some(spell) =
        signs.outage.filter(|spell| stuck.is_none() && (spell.count > 1 || spell.ns() >= LONE_OUTAGE_NS))
    {
        put(Kind::Outage, spell, spell.ns(), 0);
    }
    if let Some(spell) = signs.pause {
        put(Kind::Silence, spell, spell.ns(), 0);
    }
    if let Some(spell) = signs.closed.filter(|spell| spell.ns() >= LONG_NS) {
        put(Kind::Closed, spell, half.closed_ns(c.end), 0);
    }
    let waited = shares.of(Owner::Timer);
    if let Some(spell) = signs.timer.filter(|_| stuck.is_none() && (waited >= LONG_NS || large(waited, whole))) {
        let spell = Spell { count: half.recovery.timeout + half.recovery.probe, ..spell };
        put(Kind::Timer, spell, waited, 0);
    }
    if signs.waited.count >= 3 && large(signs.waits.sum, whole) {
        put(Kind::DelayedAck, signs.waited, signs.waits.quantile(0.5).unwrap_or(0), signs.waits.sum);
    }
    let asked = c.halves[1 - end].turns.count;
    if asked >= TURNS_MIN && large(signs.unasked_ns, whole) {
        put(Kind::Unasked, Spell { count: asked, ..Spell::default() }, signs.unasked_ns, 0);
    }
    let spell =
        Spell { begin: half.data_start.unwrap_or(c.start), end: half.data_end.unwrap_or(c.end), ..Spell::default() };
    // Where the place is not known, a queue may stand behind it.
    let is_known = c.vantage(end) != Vantage::Unknown;
    let own = steady_rate(half, shares, spell)
        .filter(|one| is_known || one.kind != Kind::Pacing)
        .or_else(|| fixed_window(half, shares, spell));
    found.extend([slow_start(half, shares), own, loss_cuts(half, shares)].into_iter().flatten());
    let mut put = |kind, spell, value, beside| found.push(Finding::new(kind, spell, value, beside));
    let (again, all) = (half.counts.segs_retrans, half.counts.data_segs_out);
    if again >= LOSSY_MIN && again as f64 >= LOSSY_SHARE_MIN * all as f64 {
        let begin = half.data_start.unwrap_or(c.start);
        put(Kind::Lossy, Spell { begin, end: c.end, frame: signs.again_frame, count: again }, again, all);
    }
    if let (Some(least), Some(long)) = (least_rtt(c, end), half.rtts.quantile(0.99))
        && long.saturating_sub(least) >= QUEUE_MIN_NS.max((QUEUE_SHARE_MIN * least as f64) as u64)
        && large(shares.of(Owner::Rate), whole)
    {
        put(Kind::Queue, spell, least, long.max(half.rtts.max.unwrap_or(long).min(long + long / 20)));
    }
    if half.recovery.marked > 0 {
        let begin = half.recovery.first_cut.unwrap_or(spell.begin);
        let spell = Spell { begin, count: half.recovery.marked, ..spell };
        put(Kind::Marks, spell, half.counts.ece_in, half.recovery.cuts);
    }
    if c.acc_ecn && half.counts.data_segs_out > 0 {
        put(Kind::AccEcn, spell, half.counts.ace_marks, half.recovery.cuts);
    }
    for known in &signs.complaints {
        let kind = Kind::Icmp(known.trouble);
        found.push(Finding { by: Some(known.by), ..Finding::new(kind, known.spell, known.mtu, 0) });
    }
    found
}

fn large(part: u64, whole: u64) -> bool {
    part as f64 >= SHARE_MIN * whole as f64
}

/// The least round trip that the direction can have had.
fn least_rtt(c: &Connection, end: usize) -> Option<u64> {
    let handshake = c.handshake_rtt.filter(|_| c.vantage(end) != Vantage::Between);
    c.halves[end].rtts.min.into_iter().chain(handshake).min().filter(|&rtt| rtt > 0)
}

/// A window of the sender's own, smaller than the one that was offered: one level in flight, no cut, no queue.
fn fixed_window(half: &Half, shares: &Shares, spell: Spell) -> Option<Finding> {
    let (rounds, whole) = (&half.signs.rounds, shares.total().max(1));
    let steady =
        rounds.at_level >= ROUNDS_MIN && f64::from(rounds.at_level) >= LEVEL_SHARE_MIN * f64::from(rounds.count);
    let held = shares.of(Owner::Path) as f64 >= 0.5 * whole as f64 && !large(shares.of(Owner::Rate), whole);
    let offered = half.scale_known.then_some(half.counts.max_rwin).filter(|&offered| offered >= 2 * rounds.level)?;
    let several = rounds.level >= 4 * half.largest();
    let spell = Spell { count: u64::from(rounds.at_level), ..spell };
    let is_whole = half.recovery.cuts == 0 && half.counts.segs_retrans == 0;
    (steady && held && several && is_whole).then(|| Finding::new(Kind::FixedWindow, spell, rounds.level, offered))
}

/// A rate that every round kept, with segments one after the other. If a queue took up what the window changed, it is that of a full
/// link. If the round trip stayed the least one, the sender itself kept it.
fn steady_rate(half: &Half, shares: &Shares, spell: Spell) -> Option<Finding> {
    let rounds = &half.signs.rounds;
    let (rate, (least, longer)) = rounds.steady().zip(half.queue())?;
    let even = rounds.even >= ROUNDS_MIN && f64::from(rounds.even) >= LEVEL_SHARE_MIN * f64::from(rounds.count);
    let held: u64 = [Owner::Path, Owner::Recovery, Owner::Rate].into_iter().map(|owner| shares.of(owner)).sum();
    let flat = least / FLAT_PART;
    let kind = match longer {
        longer if longer <= flat => Kind::Pacing,
        longer if longer >= FULL_MIN_NS => Kind::FullLink,
        _ => return None,
    };
    let spell = Spell { count: u64::from(rounds.even), ..spell };
    (even && held as f64 >= 0.5 * shares.total() as f64).then(|| Finding::new(kind, spell, rate, longer))
}

/// The time in which the congestion window had not yet grown up.
fn slow_start(half: &Half, shares: &Shares) -> Option<Finding> {
    let (begin, rounds) = (half.data_start?, &half.signs.rounds);
    let end = half.recovery.first_cut.unwrap_or(u64::MAX).min(rounds.grown_until);
    let took = half.division.stretches.within(Owner::Path, begin, end);
    let spell = Spell { begin, end, frame: half.signs.first_frame, count: u64::from(rounds.grown) };
    (rounds.grown > 1 && large(took, shares.total().max(1)))
        .then(|| Finding::new(Kind::SlowStart, spell, rounds.top, 0))
}

/// The time for which losses kept the congestion window small.
fn loss_cuts(half: &Half, shares: &Shares) -> Option<Finding> {
    let (recovery, begin) = (&half.recovery, half.recovery.first_cut?);
    let cuts = recovery.cuts - recovery.marked;
    let spell = Spell { begin, end: half.data_end?.max(begin), frame: half.signs.again_frame, count: recovery.cuts };
    let took = half.division.stretches.within(Owner::Path, begin, spell.end);
    (2 * cuts > recovery.cuts && large(took, shares.total().max(1)))
        .then(|| Finding::new(Kind::LossCuts, spell, cuts, recovery.cuts))
}
