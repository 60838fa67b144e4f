//! The scoreboard against a naive one that follows RFC 6675's definitions word by word, from scratch at every question.

use super::*;
use proptest::prelude::*;

const MSS: u32 = 10;

#[derive(Clone, Debug)]
struct Segment {
    seq: u64,
    len: u64,
    sacked: bool,
    lost: bool,
    resent: bool,
}

/// RFC 6675 sections 2 to 4, the slow way.
#[derive(Clone, Debug)]
struct Naive {
    segments: Vec<Segment>,
    una: u64,
    nxt: u64,
    /// Offset after the highest retransmitted segment.
    high_rxt: u64,
    dup_threshold: u32,
}

impl Naive {
    fn acknowledge(&mut self, ack: u64) -> u64 {
        let mut delivered = 0;
        for s in &mut self.segments {
            let covered = ack.saturating_sub(s.seq).min(s.len);
            delivered += if s.sacked { 0 } else { covered };
            s.seq += covered;
            s.len -= covered;
        }
        self.segments.retain(|s| s.len > 0);
        (self.una, self.nxt) = (ack, self.nxt.max(ack));
        delivered
    }

    fn sack(&mut self, blocks: &[(u64, u64)]) -> u64 {
        let mut delivered = 0;
        for s in &mut self.segments {
            let covered = blocks.iter().any(|&(left, right)| left <= s.seq && s.seq + s.len <= right);
            if covered && !s.sacked {
                (s.sacked, s.lost, s.resent) = (true, false, false);
                delivered += s.len;
            }
        }
        delivered
    }

    /// "Either DupThresh discontiguous SACKed sequences have arrived above SeqNum or more than (DupThresh - 1) * SMSS
    /// bytes with sequence numbers greater than SeqNum have been SACKed."
    fn is_lost(&self, index: usize) -> bool {
        let above = &self.segments[index + 1..];
        let bytes: u64 = above.iter().filter(|s| s.sacked).map(|s| s.len).sum();
        let mut before = false;
        let mut sequences = 0;
        for s in above {
            sequences += u32::from(s.sacked && !before);
            before = s.sacked;
        }
        sequences >= self.dup_threshold || bytes > u64::from(self.dup_threshold - 1) * u64::from(MSS)
    }

    fn detect(&mut self) {
        for i in 0..self.segments.len() {
            if !self.segments[i].sacked && self.is_lost(i) {
                self.segments[i].lost = true;
            }
        }
    }

    /// SetPipe: octets not SACKed count once if not lost and once more if retransmitted.
    fn pipe(&self) -> u64 {
        let open = self.segments.iter().filter(|s| !s.sacked);
        open.map(|s| s.len * (u64::from(!s.lost) + u64::from(s.resent))).sum()
    }

    fn next_lost(&self) -> Option<(u64, u64)> {
        let mut found = self.segments.iter().filter(|s| s.seq >= self.high_rxt && !s.sacked && s.lost && !s.resent);
        found.next().map(|s| (s.seq, s.len))
    }

    fn next_hole(&self) -> Option<(u64, u64)> {
        let high = self.segments.iter().filter(|s| s.sacked).map(|s| s.seq).max()?;
        let holes = |s: &&Segment| s.seq >= self.high_rxt && s.seq < high && !s.sacked && !s.lost && !s.resent;
        self.segments.iter().find(holes).map(|s| (s.seq, s.len))
    }

    fn last_open(&self) -> Option<(u64, u64)> {
        self.segments.iter().rev().find(|s| !s.sacked).map(|s| (s.seq, s.len))
    }

    fn resend(&mut self, seq: u64) {
        let s = self.segments.iter_mut().find(|s| s.seq == seq).unwrap();
        s.resent = true;
        self.high_rxt = self.high_rxt.max(s.seq + s.len);
    }

    fn lose_all(&mut self) {
        if self.segments.first().is_some_and(|s| s.sacked) {
            self.segments.iter_mut().for_each(|s| s.sacked = false);
        }
        for s in self.segments.iter_mut() {
            (s.lost, s.resent) = (!s.sacked, false);
        }
        self.high_rxt = self.una;
    }
}

#[derive(Clone, Debug)]
enum Op {
    /// New segments: how many, and the length of the last (the others are full).
    Push(usize, u32),
    /// Blocks by position in per mille of the segments in flight, and length in segments.
    Sack(Vec<(u64, u64)>),
    /// A block with arbitrary edges.
    Rough(u64, u64),
    /// Cumulative, by position in per mille; bytes cut from the last segment.
    Ack(u64, u64),
    ResendLost(usize),
    ResendHole,
    LoseAll,
    Restart,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (1usize..90, 1u32..=MSS).prop_map(|(n, last)| Op::Push(n, last)),
        2 => (1usize..40).prop_map(|n| Op::Push(n, MSS)),
        8 => prop::collection::vec((0u64..1000, 1u64..100), 1..4).prop_map(Op::Sack),
        1 => (0u64..1000, 1u64..200).prop_map(|(at, len)| Op::Rough(at, len)),
        4 => (0u64..1000, 0u64..20).prop_map(|(at, cut)| Op::Ack(at / 8, cut)),
        1 => (0u64..=1000, 0u64..2).prop_map(|(at, cut)| Op::Ack(at, cut)),
        6 => (1usize..20).prop_map(Op::ResendLost),
        2 => Just(Op::ResendHole),
        1 => Just(Op::LoseAll),
        1 => Just(Op::Restart),
    ]
}

/// Applies `op` to both; true if their answers agree.
fn apply(board: &mut Scoreboard, naive: &mut Naive, op: &Op) -> Result<(), TestCaseError> {
    let count = naive.segments.len() as u64;
    match op {
        Op::Push(n, last) => {
            for i in 0..*n {
                let len = if i + 1 == *n { *last } else { MSS };
                board.push(len, 0, 7);
                let (seq, len) = (naive.nxt, u64::from(len));
                naive.segments.push(Segment { seq, len, sacked: false, lost: false, resent: false });
                naive.nxt += len;
            }
        }
        Op::Sack(picks) if count > 1 => {
            let blocks: Vec<(u64, u64)> = picks
                .iter()
                .map(|&(at, len)| {
                    let from = (1 + at * (count - 1) / 1000).min(count - 1);
                    let to = (from + len).min(count) - 1;
                    let last = &naive.segments[to as usize];
                    (naive.segments[from as usize].seq, last.seq + last.len)
                })
                .collect();
            prop_assert_eq!(sack(board, &blocks), naive.sack(&blocks));
        }
        Op::Rough(at, len) if count > 1 => {
            let left = naive.una + 1 + at * (naive.nxt - naive.una) / 1000;
            let blocks = [(left, left + len)];
            prop_assert_eq!(sack(board, &blocks), naive.sack(&[(left, (left + len).min(naive.nxt))]));
        }
        Op::Ack(at, cut) if count > 0 => {
            let last = &naive.segments[(at * (count - 1) / 1000) as usize];
            let ack = (last.seq + last.len).saturating_sub(*cut).max(naive.una);
            prop_assert_eq!(board.acknowledge(ack).delivered, naive.acknowledge(ack));
        }
        Op::ResendLost(n) => {
            for _ in 0..*n {
                let Some(range) = board.next_lost() else { break };
                prop_assert_eq!(Some((range.seq, u64::from(range.len))), naive.next_lost());
                board.resend(range.ordinal, 9);
                naive.resend(range.seq);
            }
        }
        Op::ResendHole => {
            let hole = board.next_hole();
            prop_assert_eq!(hole.map(|range| (range.seq, u64::from(range.len))), naive.next_hole());
            if let Some(range) = hole {
                board.resend(range.ordinal, 9);
                naive.resend(range.seq);
            }
        }
        Op::LoseAll => {
            board.lose_all();
            naive.lose_all();
        }
        Op::Restart => {
            board.restart_resend();
            naive.high_rxt = naive.una;
        }
        _ => {}
    }
    Ok(())
}

fn agree(board: &mut Scoreboard, naive: &Naive) -> Result<(), TestCaseError> {
    let bytes = |f: fn(&Segment) -> bool| naive.segments.iter().filter(|s| f(s)).map(|s| s.len).sum::<u64>();
    prop_assert_eq!((board.una(), board.nxt(), board.flight()), (naive.una, naive.nxt, naive.nxt - naive.una));
    prop_assert_eq!(board.sacked_bytes, bytes(|s| s.sacked));
    prop_assert_eq!(board.lost_bytes(), bytes(|s| s.lost));
    prop_assert_eq!(board.pipe(), naive.pipe());
    prop_assert_eq!(board.next_lost().map(|r| (r.seq, u64::from(r.len))), naive.next_lost());
    prop_assert_eq!(board.next_hole().map(|r| (r.seq, u64::from(r.len))), naive.next_hole());
    prop_assert_eq!(board.last_open().map(|r| (r.seq, u64::from(r.len))), naive.last_open());
    prop_assert_eq!(board.first().map(|r| r.seq), naive.segments.first().map(|s| s.seq));
    Ok(())
}

/// Blocks as on the wire.
fn sack(board: &mut Scoreboard, blocks: &[(u64, u64)]) -> u64 {
    let mut wire = [(0, 0); 4];
    for (wire, block) in wire.iter_mut().zip(blocks) {
        *wire = (block.0 as u32, block.1 as u32);
    }
    board.sack(&wire, blocks.len() as u8, 0).delivered
}

fn both(dup_threshold: u32) -> (Scoreboard, Naive) {
    let naive = Naive { segments: Vec::new(), una: 1, nxt: 1, high_rxt: 1, dup_threshold };
    (Scoreboard::new(1, MSS), naive)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn agrees_with_the_definitions(dup_threshold in 1u32..5, ops in prop::collection::vec(op(), 1..60)) {
        let (mut board, mut naive) = both(dup_threshold);
        for op in &ops {
            apply(&mut board, &mut naive, op)?;
            board.detect_losses(dup_threshold);
            naive.detect();
            agree(&mut board, &naive)?;
        }
    }
}

/// Blocks that grow, merge and come again, as a receiver really reports them, across many turns of the ring.
#[test]
fn a_receiver_that_reports_as_it_should() {
    let (mut board, mut naive) = both(3);
    let mut arrived: Vec<(u64, u64)> = Vec::new();
    let (mut last, mut state) = (1u64, 12345u64);
    for round in 0..3000u64 {
        apply(&mut board, &mut naive, &Op::Push(1, MSS)).unwrap();
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        if state >> 40 & 7 < 2 {
            continue;
        }
        // The segment arrives: merge it into the report, newest first.
        let seq = 1 + round * u64::from(MSS);
        let (mut left, mut right) = (seq, seq + u64::from(MSS));
        arrived.retain(|&(l, r)| {
            let joins = l <= right && left <= r;
            (left, right) = if joins { (left.min(l), right.max(r)) } else { (left, right) };
            !joins
        });
        arrived.insert(0, (left, right));
        let blocks: Vec<(u64, u64)> = arrived.iter().take(3).copied().collect();
        assert_eq!(sack(&mut board, &blocks), naive.sack(&blocks));
        board.detect_losses(3);
        naive.detect();
        agree(&mut board, &naive).unwrap();
        if round % 200 == 150 {
            last = (last + 1500).min(right);
            arrived.retain(|&(l, _)| l > last);
            assert_eq!(board.acknowledge(last).delivered, naive.acknowledge(last));
            agree(&mut board, &naive).unwrap();
        }
    }
}

/// A range ends where a segment arrived: 0 and 1 are one, 5 another, 9 to 11, which a timeout makes lost, a third.
#[test]
fn ranges_are_told_apart_by_what_arrived() {
    let (mut board, _) = both(3);
    (0..12).for_each(|_| board.push(MSS, 0, 0));
    for (block, bytes, ranges) in [((21, 51), 20, 1), ((61, 91), 30, 2)] {
        sack(&mut board, &[block]);
        board.detect_losses(3);
        assert_eq!((board.lost_total(), board.lost_ranges()), (bytes, ranges));
    }
    board.lose_all();
    assert_eq!((board.lost_total(), board.lost_ranges()), (60, 3));
}

/// What a lost range grows by is no other range: 0 and 1, then 2 as well.
#[test]
fn a_range_that_grows_is_one() {
    let (mut board, _) = both(3);
    (0..8).for_each(|_| board.push(MSS, 0, 0));
    for (block, bytes) in [((41, 51), 20), ((41, 61), 30)] {
        sack(&mut board, &[block]);
        board.detect_below_highest(3);
        assert_eq!((board.lost_total(), board.lost_ranges()), (bytes, 1));
    }
}

/// RFC 6675 section 4: three segments SACKed above make a segment lost; two do not.
#[test]
fn three_segments_above() {
    let (mut board, _) = both(3);
    (0..6).for_each(|_| board.push(MSS, 0, 0));
    sack(&mut board, &[(11, 31)]);
    board.detect_losses(3);
    assert_eq!((board.lost_bytes(), board.pipe()), (0, 40));
    sack(&mut board, &[(11, 41)]);
    board.detect_losses(3);
    // Segment 0 is lost; 4 and 5 are not: nothing above them is SACKed.
    assert_eq!((board.lost_bytes(), board.pipe()), (10, 20));
    let first = board.next_lost().unwrap();
    assert_eq!((first.seq, first.len), (1, 10));
    board.resend(first.ordinal, 1);
    assert_eq!((board.next_lost(), board.pipe()), (None, 30));
}

#[test]
fn transmission_times_and_karn() {
    let (mut board, _) = both(3);
    for at in [100, 200, 300] {
        board.push(MSS, 0, at);
    }
    let taken = board.acknowledge(21);
    assert_eq!((taken.first_at, taken.last_at, taken.retransmitted), (100, 200, false));
    let first = board.first().unwrap();
    board.touch(first.ordinal, 400);
    let taken = board.acknowledge(31);
    assert_eq!((taken.first_at, taken.retransmitted), (u64::MAX, true));
}
