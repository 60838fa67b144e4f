//! Two TCP endpoints, a network that does anything to their segments, and segments that nobody sent.

use std::collections::VecDeque;
use std::sync::Arc;

use elephan_tcp::{
    ECN_CE, ECN_NOT_ECT, Endpoint, Flags, Options, Overrides, SackBlocks, Segment, State, stack, stacks,
};
use elephan_units::{Span, Time};
use serde_json::Value as Json;

use super::input::Input;
use crate::draw::Draw;

/// Bytes that an application writes in all.
const STREAM_BYTES: u64 = 400_000;
/// Segments that an endpoint may send in one go: the stream in the smallest ones.
const AT_ONCE: usize = 20_000;
/// Segments that a way holds: more are lost.
const IN_FLIGHT: usize = 500;
/// Steps of one input.
const STEPS: usize = 3_000;
/// Times that an endpoint may ask for the same instant again.
const AGAIN: usize = 100;

/// Lets two endpoints talk. Nothing panics; no endpoint receives or has acknowledged what was not sent; the stream of an endpoint
/// only grows; every segment fits; a timer that has run out does not run out again. While nobody has forged a segment, an
/// application has exactly what its peer wrote once the network is good for long enough.
pub fn endpoint(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let [a, b] = [options(&mut input), options(&mut input)];
    let isns = [input.u32(), input.u32()];
    let mut bench = Bench {
        ends: [Endpoint::new(&a, a.controller(), isns[0]), Endpoint::new(&b, b.controller(), isns[1])],
        ways: [VecDeque::new(), VecDeque::new()],
        now: Time::ZERO,
        written: [0; 2],
        arrived: [0; 2],
        forged: false,
        last: [Segment::default(); 2],
    };
    if input.u8() != 0 {
        bench.ends[1].listen();
    }
    bench.ends[0].connect(bench.now);
    bench.talk();
    for _ in 0..STEPS {
        if input.is_empty() {
            break;
        }
        bench.step(&mut input);
        bench.talk();
        bench.check();
    }
    bench.settle();
}

/// Returns the options of some stack with drawn ones over them; what is refused is left out.
fn options(input: &mut Input) -> Arc<Options> {
    let names = stacks();
    let mut options = stack(names[input.below(names.len())].0).unwrap_or_else(|| unreachable!("stacks have options"));
    let seed = input.u16();
    // Half of the inputs keep the stack as it is.
    if seed & 1 != 0 {
        for (key, value) in Draw::new(elephan_scenario::schema(), u64::from(seed)).tcp() {
            let one = Json::Object([(key, value)].into_iter().collect());
            let Ok(over) = serde_json::from_value::<Overrides>(one) else { continue };
            let mut tried = options.clone();
            if tried.apply(&over).is_ok() {
                options = tried;
            }
        }
    }
    Arc::new(options)
}

struct Bench {
    ends: [Endpoint; 2],
    /// Segments on the way from an end.
    ways: [VecDeque<(Segment, SackBlocks)>; 2],
    now: Time,
    /// Bytes that each application has written.
    written: [u64; 2],
    /// Bytes that each end had received at the last look.
    arrived: [u64; 2],
    /// Whether somebody has put in a segment that no end has sent.
    forged: bool,
    /// The last segment that each end has sent.
    last: [Segment; 2],
}

impl Bench {
    fn step(&mut self, input: &mut Input) {
        let what = input.u8();
        let end = usize::from(what >> 7);
        match what & 0x1f {
            0..=7 => self.deliver(end, 0),
            8 => self.deliver(end, usize::from(input.u8())),
            9 => drop(self.ways[end].pop_front()),
            10 => self.duplicate(end, usize::from(input.u8())),
            11 => self.mark(end, usize::from(input.u8())),
            12..=15 => self.write(end, input),
            16 => drop(self.ends[end].read(self.now, input.any_scale())),
            17 => self.ends[end].set_auto_read(input.u8() & 1 == 0),
            18 => self.ends[end].close(self.now),
            19 | 20 => self.now = self.now.saturating_add(Span(input.any_scale())),
            21..=23 => self.ring(),
            24 => self.deliver_all(end),
            25 => self.refuse(end),
            26..=29 => self.forge(end, input),
            30 => self.ends[end].on_room(),
            _ => drop(self.ends[end].cut(self.now)),
        }
    }

    fn write(&mut self, end: usize, input: &mut Input) {
        let bytes = (1 + u64::from(input.u16())).min(STREAM_BYTES - self.written[end]);
        if !matches!(self.ends[end].state(), State::Closed | State::Listen) {
            self.written[end] += self.ends[end].write(self.now, bytes);
        }
    }

    fn deliver(&mut self, from: usize, at: usize) {
        if let Some((seg, sack)) = self.ways[from].remove(at) {
            self.ends[1 - from].on_segment(self.now, &seg, &sack);
        }
    }

    fn deliver_all(&mut self, from: usize) {
        for _ in 0..self.ways[from].len() {
            self.deliver(from, 0);
        }
    }

    fn duplicate(&mut self, from: usize, at: usize) {
        if let Some(copy) = self.ways[from].get(at).copied() {
            self.ways[from].push_back(copy);
        }
    }

    fn mark(&mut self, from: usize, at: usize) {
        if let Some((seg, _)) = self.ways[from].get_mut(at)
            && seg.ecn != ECN_NOT_ECT
        {
            seg.ecn = ECN_CE;
        }
    }

    /// The host of an end refuses the segment that it sent last.
    fn refuse(&mut self, end: usize) {
        if let Some((seg, _)) = self.ways[end].pop_back() {
            self.ends[end].on_local_drop(self.now, &seg);
        }
    }

    /// Lets time pass up to the next timer.
    fn ring(&mut self) {
        let next = self.ends[0].next_timer().min(self.ends[1].next_timer());
        if next < Time::NEVER {
            self.now = self.now.max(next);
        }
        for end in &mut self.ends {
            if end.next_timer() <= self.now {
                end.on_timer(self.now);
            }
        }
    }

    /// An end receives a segment that nobody sent, made of its peer's last one.
    fn forge(&mut self, to: usize, input: &mut Input) {
        self.forged = true;
        let near = |input: &mut Input| match input.below(4) {
            0 => 0,
            1 => u32::from(input.u8()),
            2 => (input.u16() as i16).cast_unsigned().into(),
            _ => input.u32(),
        };
        let mut seg = self.last[1 - to];
        seg.seq = seg.seq.wrapping_add(near(input));
        seg.ack = seg.ack.wrapping_add(near(input));
        seg.tsval = seg.tsval.wrapping_add(near(input));
        seg.tsecr = seg.tsecr.wrapping_add(near(input));
        seg.len = near(input) & 0xffff;
        seg.window = input.u16();
        seg.ecn = input.u8() & 3;
        let how = input.u8();
        if how & 1 != 0 {
            // A reset ends everything at once: few of them.
            let flags = input.u8();
            seg.flags = Flags(if how & 0xf0 == 0 { flags } else { flags & !Flags::RST.0 });
        }
        if how & 2 != 0 {
            (seg.options, seg.mss, seg.wscale, seg.ceb) = (input.u8(), input.u16(), input.u8(), [input.u8(); 3]);
        }
        let mut sack = SackBlocks::default();
        seg.sack_len = (how >> 2 & 3) + u8::from(how & 0x10 != 0);
        for block in &mut sack {
            let left = seg.ack.wrapping_add(near(input));
            *block = (left, left.wrapping_add(near(input)));
        }
        self.ends[to].on_segment(self.now, &seg, &sack);
    }

    /// Both ends send what they can, and their timers are up to date.
    fn talk(&mut self) {
        for end in 0..2 {
            let mut again = 0;
            loop {
                self.send(end);
                if self.ends[end].next_timer() > self.now {
                    break;
                }
                self.ends[end].on_timer(self.now);
                again += 1;
                assert!(again < AGAIN, "a timer of end {end} runs out again and again at {:?}", self.now);
            }
        }
    }

    fn send(&mut self, end: usize) {
        let (mut seg, mut sack) = (Segment::default(), SackBlocks::default());
        for _ in 0..AT_ONCE {
            if !self.ends[end].poll_transmit(self.now, &mut seg, &mut sack) {
                return;
            }
            assert!(seg.header_bytes() <= 60, "a header of {} B: {seg:?}", seg.header_bytes());
            assert!(seg.len <= 65_535 && seg.sack_len <= 4, "{seg:?}");
            self.last[end] = seg;
            if self.ways[end].len() < IN_FLIGHT {
                self.ways[end].push_back((seg, sack));
            }
        }
        panic!("end {end} sends without end");
    }

    fn check(&mut self) {
        for (n, end) in self.ends.iter().enumerate() {
            let peer = &self.ends[1 - n];
            assert!(end.acked() <= end.accepted(), "end {n}: {} B acknowledged of {}", end.acked(), end.accepted());
            assert!(
                end.received() <= end.arrived() && end.arrived() >= self.arrived[n],
                "end {n}: its stream has shrunk"
            );
            assert!(end.pipe() <= 2 * end.inflight() + 1, "end {n}: pipe {} of {}", end.pipe(), end.inflight());
            let window = end.controller().window();
            assert!(window.is_finite() && window > 0.0, "end {n}: a window of {window} B");
            self.arrived[n] = end.arrived();
            if !self.forged {
                assert!(end.arrived() <= peer.accepted(), "end {n}: received what was not sent");
                assert!(end.acked() <= peer.arrived(), "end {n}: acknowledged what was not received");
            }
        }
    }

    /// The network is good: what was written arrives, unless an end is gone.
    fn settle(&mut self) {
        for end in &mut self.ends {
            end.set_auto_read(true);
            end.read(self.now, u64::MAX);
        }
        for _ in 0..STEPS {
            self.talk();
            if self.ways.iter().all(VecDeque::is_empty) {
                self.ring();
            }
            self.now = self.now.saturating_add(Span::from_us(100));
            self.deliver_all(0);
            self.talk();
            self.deliver_all(1);
            self.check();
        }
        let alive = |end: &Endpoint| end.is_established() && end.state() != State::Closed;
        if !self.forged && self.ends.iter().all(alive) {
            for n in 0..2 {
                let (got, sent) = (self.ends[n].received(), self.ends[1 - n].accepted());
                assert_eq!(got, sent, "end {n} never receives what was written");
            }
        }
    }
}
