//! Loss detection by time against RFC 8985's pseudocode, which asks every segment at every ACK.

use super::times::Overdue;
use super::*;
use proptest::prelude::*;

const MSS: u32 = 10;

#[derive(Clone, Debug)]
struct Segment {
    seq: u64,
    len: u64,
    /// Segment.xmit_ts, Segment.lost, Segment.retransmitted.
    sent: u64,
    lost: bool,
    retransmitted: bool,
    /// Retransmitted since it was lost.
    resent: bool,
    sacked: bool,
}

/// RFC 8985 sections 6.2 and 6.3 word by word.
#[derive(Clone, Debug, Default)]
struct Naive {
    segments: Vec<Segment>,
    una: u64,
    nxt: u64,
    xmit_ts: u64,
    end_seq: u64,
    rtt: u64,
    fack: u64,
    reordering_seen: bool,
    /// Bytes lost so far, those retransmitted and lost again once more.
    lost_total: u64,
    /// RACK.rtt is of the last segment in the order of sequence, SACKed ones first (Linux), instead of the one sent last.
    by_sequence: bool,
    /// When the last segment was retransmitted, and the last of all.
    again_at: u64,
    last_at: u64,
}

fn sent_after(t1: u64, seq1: u64, t2: u64, seq2: u64) -> bool {
    t1 > t2 || (t1 == t2 && seq1 > seq2)
}

impl Naive {
    /// Steps 2 and 3 for what an ACK up to `ack` with `blocks` newly covers.
    fn on_ack(&mut self, now: u64, ack: u64, blocks: &[(u64, u64)], doubt: u64) {
        let mut newest: Option<(u64, u64)> = None;
        let mut last: Option<(bool, u64, u64)> = None;
        let fack = self.fack;
        for s in &mut self.segments {
            let end = s.seq + s.len;
            let covered = end <= ack || blocks.iter().any(|&(left, right)| left <= s.seq && end <= right);
            if !covered || s.sacked {
                continue;
            }
            (s.sacked, s.lost, s.resent) = (true, false, false);
            if end < fack && !s.retransmitted {
                self.reordering_seen = true;
            }
            self.fack = self.fack.max(end);
            if s.retransmitted && s.sent >= doubt {
                continue;
            }
            last = last.max(Some((end <= ack, s.seq, s.sent)));
            if newest.is_none_or(|(sent, seq)| sent_after(s.sent, end, sent, seq)) {
                newest = Some((s.sent, end));
            }
        }
        if let Some((sent, end)) = newest {
            self.rtt = now.saturating_sub(if self.by_sequence { last.unwrap().2 } else { sent });
            if sent_after(sent, end, self.xmit_ts, self.end_seq) {
                (self.xmit_ts, self.end_seq) = (sent, end);
            }
        }
        self.una = self.una.max(ack);
        self.fack = self.fack.max(self.una);
        self.segments.retain(|s| s.seq + s.len > ack);
    }

    /// Step 5, `RACK_detect_loss`: the deadline.
    fn detect(&mut self, now: u64, window: u64) -> Option<u64> {
        let mut timeout = 0;
        for s in &mut self.segments {
            let out = !s.sacked && (!s.lost || s.resent);
            if out && sent_after(self.xmit_ts, self.end_seq, s.sent, s.seq + s.len) {
                let remaining = (s.sent + self.rtt + window) as i64 - now as i64;
                if remaining <= 0 {
                    self.lost_total += s.len;
                    (s.lost, s.resent) = (true, false);
                } else {
                    timeout = timeout.max(remaining);
                }
            }
        }
        (timeout > 0).then(|| now + timeout as u64)
    }

    /// `RACK_mark_losses_on_RTO`.
    fn timeout(&mut self, now: u64, window: u64) {
        if self.segments.first().is_some_and(|s| s.sacked) {
            // The receiver dropped what it had SACKed (RFC 2018 section 8): all is lost.
            self.lost_total += self.bytes(|s| !s.lost || s.resent);
            self.segments.iter_mut().for_each(|s| (s.sacked, s.lost, s.resent) = (false, true, false));
            self.fack = self.una;
            return;
        }
        for (i, s) in self.segments.iter_mut().enumerate() {
            if !s.sacked && (i == 0 || s.sent + self.rtt + window <= now) {
                self.lost_total += if s.lost && !s.resent { 0 } else { s.len };
                (s.lost, s.resent) = (true, false);
            }
        }
    }

    fn undo(&mut self) {
        // What was retransmitted and lost again stays lost.
        self.segments.iter_mut().for_each(|s| s.lost &= s.retransmitted && !s.resent);
    }

    fn resend(&mut self, seq: u64, now: u64) {
        let at = self.send_again(now);
        let s = self.segments.iter_mut().find(|s| s.seq == seq).unwrap();
        (s.resent, s.retransmitted, s.sent) = (true, true, at);
    }

    /// A picosecond after what left at the same instant.
    fn send_again(&mut self, now: u64) -> u64 {
        self.last_at = now.max(self.last_at + 1);
        self.again_at = self.last_at;
        self.last_at
    }

    fn bytes(&self, f: impl Fn(&Segment) -> bool) -> u64 {
        self.segments.iter().filter(|s| f(s)).map(|s| s.len).sum()
    }
}

#[derive(Clone, Debug)]
enum Op {
    /// Time goes on.
    Wait(u64),
    Push(usize, u32),
    /// Blocks by position in per mille and length in segments; cumulative by position; the doubt's age.
    Ack(Vec<(u64, u64)>, u64, u64),
    ResendLost(usize),
    /// The last segment is retransmitted as a probe.
    Probe,
    Timeout,
    Undo,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0u64..60).prop_map(Op::Wait),
        4 => (1usize..70, 1u32..=MSS).prop_map(|(n, last)| Op::Push(n, last)),
        8 => (prop::collection::vec((0u64..1000, 1u64..60), 0..4), 0u64..150, 0u64..80)
            .prop_map(|(blocks, at, age)| Op::Ack(blocks, at, age)),
        1 => (0u64..1000).prop_map(|at| Op::Ack(vec![], at, 0)),
        6 => (1usize..20).prop_map(Op::ResendLost),
        1 => Just(Op::Probe),
        1 => Just(Op::Timeout),
        1 => Just(Op::Undo),
    ]
}

fn ack(board: &mut Scoreboard, naive: &mut Naive, now: u64, picks: &[(u64, u64)], at: u64, doubt: u64) {
    let count = naive.segments.len() as u64;
    if count < 2 {
        return;
    }
    // What lies below `at` is acknowledged; the head is never SACKed.
    let upto = if at == 0 { naive.una } else { naive.segments[(at * (count - 1) / 1000) as usize].seq };
    let blocks: Vec<(u64, u64)> = picks
        .iter()
        .map(|&(at, len)| {
            let from = (1 + at * (count - 1) / 1000).min(count - 1);
            let last = &naive.segments[((from + len).min(count) - 1) as usize];
            (naive.segments[from as usize].seq.max(upto + 1), last.seq + last.len)
        })
        .filter(|block| block.0 < block.1)
        .collect();
    board.begin_ack(doubt, doubt);
    let marked = board.is_marked();
    let taken = board.acknowledge(upto);
    if !marked {
        board.time_unmarked(&taken);
    }
    let mut wire = [(0, 0); 4];
    for (wire, block) in wire.iter_mut().zip(&blocks) {
        *wire = (block.0 as u32, block.1 as u32);
    }
    board.sack(&wire, blocks.len() as u8, 0);
    board.end_ack(now);
    naive.on_ack(now, upto, &blocks, doubt);
}

fn apply(board: &mut Scoreboard, naive: &mut Naive, op: &Op, now: &mut u64) {
    match op {
        Op::Wait(span) => *now += span,
        Op::Push(n, last) => {
            for i in 0..*n {
                let len = if i + 1 == *n { *last } else { MSS };
                let at = board.time_of_new(*now);
                board.push(len, 0, at);
                let (seq, len) = (naive.nxt, u64::from(len));
                let (lost, retransmitted, resent, sacked) = (false, false, false, false);
                let sent = naive.again_at.max(*now);
                naive.last_at = sent;
                naive.segments.push(Segment { seq, len, sent, lost, retransmitted, resent, sacked });
                naive.nxt += len;
            }
        }
        Op::Ack(picks, at, age) => ack(board, naive, *now, picks, *at, (*now + 1).saturating_sub(*age)),
        Op::ResendLost(n) => {
            for _ in 0..*n {
                let Some(range) = board.next_lost() else { break };
                board.resend(range.ordinal, *now);
                naive.resend(range.seq, *now);
            }
        }
        Op::Probe if !board.is_marked() => {
            let Some(range) = board.last_open() else { return };
            board.touch(range.ordinal, *now);
            let at = naive.send_again(*now);
            let last = naive.segments.last_mut().unwrap();
            (last.retransmitted, last.sent) = (true, at);
        }
        Op::Probe => {}
        Op::Timeout => {
            board.lose_overdue(*now, 10);
            naive.timeout(*now, 10);
        }
        Op::Undo => {
            board.unmark_lost(false);
            naive.undo();
        }
    }
}

/// Everything that is lost and not retransmitted is found, each once.
fn all_lost(board: &Scoreboard, naive: &Naive) -> Result<(), TestCaseError> {
    let mut found = Vec::new();
    let mut ordinal = board.head;
    let marks = board.marks.as_ref().unwrap();
    while ordinal < board.tail {
        let word = marks.word(ordinal);
        if (word.lost & !word.resent) >> (ordinal & 63) & 1 == 1 {
            found.push(board.seq_of(ordinal));
        }
        ordinal += 1;
    }
    let expected: Vec<u64> = naive.segments.iter().filter(|s| s.lost && !s.resent).map(|s| s.seq).collect();
    prop_assert_eq!(found, expected);
    Ok(())
}

fn agree(board: &mut Scoreboard, naive: &Naive, now: u64, window: u64) -> Result<(), TestCaseError> {
    let mut next = naive.clone();
    let deadline = next.detect(now, window);
    prop_assert_eq!(board.detect_overdue(now, window).deadline, deadline);
    prop_assert_eq!(board.lost_bytes(), next.bytes(|s| s.lost));
    prop_assert_eq!(board.lost_total(), next.lost_total);
    prop_assert_eq!(board.resent_bytes(), next.bytes(|s| s.resent && !s.sacked));
    prop_assert_eq!(board.sacked_bytes(), next.bytes(|s| s.sacked));
    prop_assert_eq!(board.segments_sacked(), next.segments.iter().filter(|s| s.sacked).count() as u64);
    prop_assert_eq!(board.saw_reordering(), next.reordering_seen);
    all_lost(board, &next)
}

fn both() -> (Scoreboard, Naive) {
    both_of(false)
}

fn both_of(by_sequence: bool) -> (Scoreboard, Naive) {
    let mut board = Scoreboard::new(1, MSS);
    board.keep_times(by_sequence, 3, 0);
    (board, Naive { una: 1, nxt: 1, fack: 1, by_sequence, ..Naive::default() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn agrees_with_the_pseudocode(linux: bool, window in 0u64..40, ops in prop::collection::vec(op(), 1..80)) {
        let (mut board, mut naive) = both_of(linux);
        let mut now = 100;
        for op in &ops {
            apply(&mut board, &mut naive, op, &mut now);
            agree(&mut board, &naive, now, window)?;
            naive.detect(now, window);
            let next = board.next_lost().map(|range| range.seq);
            prop_assert_eq!(next.is_some(), naive.segments.iter().any(|s| s.lost && !s.resent));
            prop_assert!(next.is_none_or(|seq| naive.segments.iter().any(|s| s.seq == seq && s.lost && !s.resent)));
        }
    }
}

/// RFC 8985 section 3.1: what was sent before a delivered segment is lost once it is out for RACK.rtt + reo_wnd.
#[test]
fn a_hole_is_lost_after_the_window() {
    let (mut board, _) = both();
    (0..4).for_each(|i| board.push(MSS, 0, 100 + i));
    board.begin_ack(u64::MAX, u64::MAX);
    // The second of four, sent at 101, is SACKed at 151: RACK.rtt is 50.
    board.sack(&[(11, 21), (0, 0), (0, 0), (0, 0)], 1, 0);
    board.end_ack(151);
    assert_eq!(board.detect_overdue(151, 20), Overdue { deadline: Some(170), lost_again: None });
    assert_eq!(board.lost_bytes(), 0);
    assert_eq!(board.detect_overdue(169, 20).deadline, Some(170));
    assert_eq!(board.detect_overdue(170, 20), Overdue::default());
    assert_eq!((board.lost_bytes(), board.next_lost().unwrap().seq), (10, 1));
}

/// An ACK delivers what was retransmitted at 110 and, above it, what was sent once at 100: RACK.rtt at 122 is 12 by RFC 8985
/// (the one sent last), 22 by Linux `tcp_rack_advance` (the last in the order of sequence), so that what was sent at 100
/// is lost with a window of 2 or is not.
#[test]
fn the_round_trip_of_linux_is_of_the_last_in_sequence() {
    for (linux, lost) in [(false, 1), (true, 0)] {
        let (mut board, _) = both_of(linux);
        (0..3).for_each(|_| board.push(MSS, 0, 100));
        board.begin_ack(u64::MAX, u64::MAX);
        board.resend(board.first().unwrap().ordinal, 110);
        board.acknowledge(21);
        board.end_ack(122);
        board.detect_overdue(122, 2);
        assert_eq!(board.lost_bytes(), lost * u64::from(MSS), "{linux}");
    }
}

/// Two segments one beside the other, found one after the other, are one range; behind one that arrived begins the next.
#[test]
fn ranges_are_told_apart_by_what_arrived() {
    let (mut board, _) = both();
    (0..6).for_each(|i| board.push(MSS, 0, 100 + i));
    board.begin_ack(u64::MAX, u64::MAX);
    board.sack(&[(21, 31), (41, 61), (0, 0), (0, 0)], 2, 0);
    board.end_ack(155);
    for (now, lost, ranges) in [(170, 1, 1), (171, 2, 1), (173, 3, 2)] {
        board.detect_overdue(now, 20);
        assert_eq!((board.lost_bytes(), board.lost_ranges()), (lost * u64::from(MSS), ranges), "{now}");
    }
}

/// A lost retransmission is found when a segment sent after it is delivered (section 3.1).
#[test]
fn a_lost_retransmission_is_lost_again() {
    let (mut board, _) = both();
    (0..3).for_each(|_| board.push(MSS, 0, 100));
    board.begin_ack(u64::MAX, u64::MAX);
    board.sack(&[(11, 31), (0, 0), (0, 0), (0, 0)], 1, 0);
    board.end_ack(150);
    board.detect_overdue(150, 0);
    // Both at one instant: the new segment left later, so its delivery tells.
    board.resend(board.first().unwrap().ordinal, 150);
    board.push(MSS, 0, board.time_of_new(150));
    board.begin_ack(u64::MAX, u64::MAX);
    board.sack(&[(11, 41), (0, 0), (0, 0), (0, 0)], 1, 0);
    board.end_ack(201);
    assert_eq!(board.detect_overdue(201, 0), Overdue { deadline: None, lost_again: Some(150) });
    assert_eq!((board.next_lost().unwrap().seq, board.lost_total(), board.lost_ranges()), (1, 2 * u64::from(MSS), 2));
}
