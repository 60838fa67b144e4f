//! A connection as two places saw it: its packets matched one by one, and what became of those that one place alone has.

use super::delays::{Delays, Point};
use super::lost::{Fate, Lost, Tally};
use super::outcome::{FAR, NEAR};
use super::side::{Before, Rules, Side, Waiting};
use crate::seen::Seen;

/// What is recent: clocks drift little meanwhile, and queues have been short at some time.
const RECENT_NS: i64 = 60_000_000_000;

/// What all connections have in common.
pub struct Common {
    pub delays: [Delays; 2],
    /// Of recent differences, far less near, the least of those that went there and the largest of those that came back.
    pub nearest: [Option<i64>; 2],
    /// The contrary: those of the longest delays.
    pub farthest: [Option<i64>; 2],
    pub keeps_idents: bool,
    /// The far clock less the near one, between what packets of both directions show. Without packets of one direction it is far below
    /// any difference, so that all packets go there.
    pub offset: i64,
    /// First and last segment of each place, by its own clock.
    pub spans: [Option<(i64, i64)>; 2],
    pub lost: Vec<Lost>,
    pub order: u64,
}

impl Common {
    fn rules(&self, direction: Option<usize>) -> Rules {
        let margin = match self.nearest {
            [Some(there), Some(back)] => (there - back).max(0) / 8,
            _ => 0,
        };
        let possible = match direction {
            Some(NEAR) => self.nearest[NEAR].map(|least| (least - margin, i64::MAX)),
            Some(_) => self.nearest[FAR].map(|most| (i64::MIN, most + margin)),
            None => None,
        };
        Rules { keeps_idents: self.keeps_idents, possible: possible.unwrap_or((i64::MIN, i64::MAX)) }
    }

    /// Takes a difference of the clocks that a packet shows.
    fn add(&mut self, direction: usize, point: Point) {
        let least = if direction == NEAR { i64::min } else { i64::max };
        self.nearest[direction] = Some(self.nearest[direction].map_or(point.1, |known| least(known, point.1)));
        self.delays[direction].add(point);
    }

    /// Forgets differences that are old, since clocks drift; answers the middle between both directions.
    pub fn settle(&mut self) -> Option<i64> {
        let [there, back] = [NEAR, FAR].map(|direction| self.delays[direction].recent(RECENT_NS));
        self.nearest = [there.map(|(least, _)| least), back.map(|(_, most)| most)];
        self.farthest = [there.map(|(_, most)| most), back.map(|(least, _)| least)];
        let (there, back) = self.nearest[NEAR].zip(self.nearest[FAR])?;
        Some(there + (back - there) / 2)
    }

    /// Whether a place looked as long as a packet can have passed it that the other one saw at `time`.
    fn looked(&self, place: usize, time: i64, direction: usize) -> bool {
        let then = |difference: Option<i64>| {
            let difference = difference.unwrap_or(self.offset);
            if place == FAR { time.saturating_add(difference) } else { time.saturating_sub(difference) }
        };
        let ends = [then(self.nearest[direction]), then(self.farthest[direction])];
        self.spans[place].is_some_and(|(first, last)| ends.iter().all(|then| (first..=last).contains(then)))
    }
}

/// One direction.
#[derive(Debug, Default)]
struct Way {
    /// The last place in the stream, of which sequence numbers are the low 32 bits.
    last: Option<u64>,
    sides: [Side; 2],
    tally: Tally,
}

impl Way {
    fn unwrap(&mut self, number: u32) -> u64 {
        let last = self.last.unwrap_or(1 << 40 | u64::from(number));
        let step = i64::from(number.wrapping_sub(last as u32) as i32);
        let place = last.saturating_add_signed(step);
        self.last = Some(place);
        place
    }
}

/// A connection: direction 0 is that of the lower end of its key.
#[derive(Debug, Default)]
pub struct Flow {
    ways: [Way; 2],
    /// Matched packets that say that direction 0 goes from the near place to the far one, less those that say the contrary.
    votes: i64,
    pub last: i64,
}

impl Flow {
    /// Where a direction comes first; nothing if no packet of the connection was seen at both places.
    fn first_place(&self, way: usize) -> Option<usize> {
        match self.votes {
            0 => None,
            votes => Some(if (votes > 0) == (way == 0) { NEAR } else { FAR }),
        }
    }

    /// A segment of direction `way` passes a place at `time` by its clock; answers a row that is complete.
    pub fn take(
        &mut self,
        at: usize,
        way: usize,
        seen: &Seen,
        (time, aligned): (i64, i64),
        common: &mut Common,
    ) -> Option<Tally> {
        self.last = self.last.max(aligned);
        common.order += 1;
        let segment = &seen.segment;
        let first = self.first_place(way);
        let done =
            self.ways[way].tally.number(at, seen.rows[0]).zip(first).map(|(tally, first)| Tally { first, ..tally });
        let begin = self.ways[way].unwrap(segment.seq.wrapping_add(u32::from(segment.syn)));
        if segment.syn {
            self.ways[way].sides[at].open(begin);
        }
        let mut own = Waiting::of(seen, begin, time, aligned);
        let end = begin + own.length;
        if own.length > 0 {
            self.ways[way].tally.segments[at] += 1;
            if seen.again && first == Some(at) {
                self.again(way, at, &own, common);
            }
            self.ways[way].sides[at].pass(begin, end, time);
        }
        self.answer(at, 1 - way, seen, time);
        let rules = common.rules(first);
        let found = self.ways[way].sides[1 - at].find(&mut own, seen, at == FAR, &rules);
        // Where the second place shows several segments as one, that one came with the last of them.
        let latest = found.iter().map(|(other, _)| other.aligned).max();
        for (other, met) in &found {
            let is_timed = first == Some(at) || Some(other.aligned) == latest;
            self.matched(way, at, (&own, other), (*met, is_timed), common);
        }
        if found.is_empty() || !own.missing.is_empty() {
            self.ways[way].sides[at].keep(own, seen, common.order);
        }
        done
    }

    /// The answer in a segment, about direction `way`.
    fn answer(&mut self, at: usize, way: usize, seen: &Seen, time: i64) {
        let Some(ack) = seen.segment.ack.filter(|_| !seen.segment.rst) else { return };
        let own = &mut self.ways[way];
        // An ACK of a connection of which no data was seen says nothing, and the place of its stream is not known yet.
        if own.last.is_none() {
            return;
        }
        let last = own.last;
        let options = &seen.segment.options;
        let blocks = options.sacks.iter().take(usize::from(options.sack_blocks));
        let sacks = blocks.map(|&(left, right)| (own.unwrap(left), own.unwrap(right))).collect();
        let ack = own.unwrap(ack);
        own.last = last;
        own.sides[at].answer(ack, sacks, time);
    }

    fn matched(
        &mut self,
        way: usize,
        at: usize,
        (own, other): (&Waiting, &Waiting),
        (met, is_timed): (u64, bool),
        common: &mut Common,
    ) {
        let (near, far) = if at == FAR { (other, own) } else { (own, other) };
        let difference = far.time - near.time;
        let there = difference > common.offset;
        self.votes += if there == (way == 0) { 1 } else { -1 };
        let tally = &mut self.ways[way].tally;
        tally.matched_bytes += met;
        // It came through after all: nothing had to be sent again.
        tally.needless += other.again;
        if let Some(direction) = self.first_place(way).filter(|_| is_timed && near.own && far.own) {
            common.add(direction, (near.time, difference));
        }
    }

    /// A segment is sent again: what became of the copy before it?
    fn again(&mut self, way: usize, at: usize, own: &Waiting, common: &mut Common) {
        let (begin, end) = (own.begin, own.begin + own.length);
        let tally = &mut self.ways[way].tally;
        tally.retransmitted += 1;
        let [first, second] = if at == NEAR { [NEAR, FAR] } else { [FAR, NEAR] };
        let lacks = self.ways[way].sides[first].lacks(begin, end);
        if let Some(waiting) = self.ways[way].sides[first].youngest(begin, end) {
            waiting.again += 1;
            return;
        }
        let fate = match self.ways[way].sides[second].before(begin, end) {
            Before::Passed => {
                self.ways[way].tally.needless += 1;
                return;
            }
            Before::Refused => Fate::Behind,
            Before::Unseen if lacks => Fate::Before,
            // It was given up long ago.
            Before::Unseen => {
                self.ways[way].tally.lost_between += 1;
                return;
            }
        };
        let tally = &mut self.ways[way].tally;
        *tally.count_again(fate) += 1;
        let range = (begin, end);
        common.lost.push(Lost::of(own, range, fate, first, tally.number_at(NEAR), 1));
    }

    /// Segments that have waited since before `limit` are not coming.
    pub fn give_up(&mut self, limit: i64, common: &mut Common) {
        for way in 0..2 {
            for at in [NEAR, FAR] {
                for waiting in self.ways[way].sides[at].give_up(limit) {
                    if let Some(first) = self.first_place(way) {
                        self.judge(way, at, first, &waiting, common);
                    }
                }
            }
        }
    }

    fn judge(&mut self, way: usize, at: usize, first: usize, waiting: &Waiting, common: &mut Common) {
        let other = 1 - at;
        if !common.looked(other, waiting.time, first) {
            return;
        }
        let missed = if other == NEAR { Fate::MissedNear } else { Fate::MissedFar };
        if waiting.length == 0 {
            let fate = if at == first { Fate::Between } else { missed };
            let row = self.ways[1 - way].tally.number_at(NEAR);
            let tally = &mut self.ways[1 - way].tally;
            tally.acks_lost += u64::from(waiting.is_ack && fate == Fate::Between);
            common.lost.push(Lost::of(waiting, (waiting.begin, waiting.begin), fate, first, row, 0));
            return;
        }
        let mut between = false;
        for &(begin, end) in &waiting.missing {
            let own = &self.ways[way];
            let acked = own.sides.iter().any(|side| side.acked.is_some_and(|acked| end <= acked));
            let unseen = acked && own.sides[other].lacks(begin, end);
            let is_missed = at != first || (unseen && !own.sides[at].has_later(begin, end, waiting.aligned));
            let fate = if is_missed { missed } else { Fate::Between };
            between |= fate == Fate::Between;
            let tally = &mut self.ways[way].tally;
            tally.count_lost(fate);
            common.lost.push(Lost::of(waiting, (begin, end), fate, first, tally.number_at(NEAR), waiting.again));
        }
        let tally = &mut self.ways[way].tally;
        *(if between { &mut tally.lost_between } else { &mut tally.needless }) += waiting.again;
    }

    /// The rows of both directions, once nothing waits any more.
    pub fn finish(&mut self) -> impl Iterator<Item = Tally> {
        let firsts = [self.first_place(0), self.first_place(1)];
        let ways = std::mem::take(&mut self.ways);
        ways.into_iter().zip(firsts).filter_map(|(way, first)| {
            let first = first?;
            let mut tally = way.tally;
            let [near, far] = way.sides;
            let [sender, receiver] = if first == NEAR { [near, far] } else { [far, near] };
            (tally.first, tally.turns, tally.replies) = (first, receiver.turns, sender.replies);
            Some(tally)
        })
    }

    pub fn waits(&self) -> usize {
        self.ways.iter().flat_map(|way| &way.sides).map(Side::waits).sum()
    }
}
