//! Two endpoints joined by a programmable path: every segment's fate is decided by a closure, timers are driven by the
//! endpoints' own deadlines. The path checks what any observer can: no byte beyond the window, sizes, option lengths.

use elephan_tcp::options::{LossDetection, Undo};
use elephan_tcp::{ECN_CE, ECN_NOT_ECT, Endpoint, Flags, Options, Overrides, SackBlocks, Segment, stack};
use elephan_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Which way a segment goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// From `net.a` to `net.b`.
    Forth,
    Back,
}

/// What becomes of a segment: each element is a delivery after that span; none is a loss.
pub type Fate = Vec<Span>;

/// One segment as it was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sighting {
    pub at: Time,
    pub way: Way,
    pub seg: Segment,
    pub sack: SackBlocks,
    pub delivered: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(Time, u64);

struct Flying {
    way: Way,
    seg: Segment,
    sack: SackBlocks,
}

pub type Policy = Box<dyn FnMut(&Sighting, u64) -> Fate>;
pub type Refusal = Box<dyn FnMut(&Segment, u64) -> bool>;

pub struct Net {
    pub now: Time,
    pub a: Endpoint,
    pub b: Endpoint,
    pub trace: Vec<Sighting>,
    pub keep_trace: bool,
    /// Of both ways.
    pub rate: Option<Rate>,
    /// Bytes that wait for the way forth; more are dropped.
    pub buffer: u64,
    pub drops: u64,
    free_at: [Time; 2],
    heap: BinaryHeap<Reverse<(Key, usize)>>,
    flying: Vec<Flying>,
    serial: u64,
    count: [u64; 2],
    policy: Policy,
    /// Whether a segment that can be marked is.
    pub marks: Box<dyn FnMut(&Segment) -> bool>,
    /// Whether the queue of host `a` refuses a segment; the second argument counts its data segments from 1.
    pub refuse: Refusal,
    offered: u64,
}

pub const DELAY: Span = Span::from_ms(10);

pub fn options(name: &str, overrides: &Overrides) -> Arc<Options> {
    let mut options = stack(name).unwrap();
    options.apply(overrides).unwrap();
    Arc::new(options)
}

pub fn rfc() -> Overrides {
    Overrides::default()
}

/// Segments of 1000 bytes without timestamps: easy arithmetic.
pub fn plain() -> Overrides {
    Overrides { mss: Some(Bytes(1000)), timestamps: Some(false), ..Overrides::default() }
}

/// Every way to detect losses, to probe, and to take back.
pub fn detections() -> impl Strategy<Value = Overrides> {
    let detection = prop_oneof![Just(LossDetection::Dupack), Just(LossDetection::Rack), Just(LossDetection::Fack)];
    let undo = prop_oneof![Just(Undo::Off), Just(Undo::Timestamps), Just(Undo::Dsack), Just(Undo::Both)];
    (detection, undo, any::<bool>(), any::<bool>(), 0u64..10).prop_map(|(detection, undo, probe, frto, delay)| {
        Overrides {
            loss_detection: Some(detection),
            undo: Some(undo),
            tail_loss_probe: Some(probe),
            frto: Some(frto),
            max_ack_delay: Some(Span::from_ms(delay)),
            ..Overrides::default()
        }
    })
}

impl Net {
    pub fn new(a: &Arc<Options>, b: &Arc<Options>, policy: Policy) -> Net {
        Net::with_isns(a, b, policy, 1000, 4_000_000_000)
    }

    pub fn with_isns(a: &Arc<Options>, b: &Arc<Options>, policy: Policy, isn_a: u32, isn_b: u32) -> Net {
        Net {
            now: Time::ZERO,
            a: Endpoint::new(a, a.controller(), isn_a),
            b: Endpoint::new(b, b.controller(), isn_b),
            trace: Vec::new(),
            keep_trace: true,
            rate: None,
            buffer: u64::MAX,
            drops: 0,
            free_at: [Time::ZERO; 2],
            heap: BinaryHeap::new(),
            flying: Vec::new(),
            serial: 0,
            count: [0; 2],
            policy,
            marks: Box::new(|_| false),
            refuse: Box::new(|_, _| false),
            offered: 0,
        }
    }

    /// Both ends with the same options, nothing lost, 10 ms each way.
    pub fn perfect(options: &Arc<Options>) -> Net {
        Net::new(options, options, Box::new(|_, _| vec![DELAY]))
    }

    /// Opens the connection and runs until it is established.
    pub fn open(&mut self) {
        self.b.listen();
        self.a.connect(self.now);
        self.run_until(|net| net.a.is_established() && net.b.is_established());
    }

    /// Opens the connection and runs until `a` is established: at 20 ms with [`DELAY`].
    pub fn open_a(&mut self) {
        self.b.listen();
        self.a.connect(self.now);
        self.run_until(|net| net.a.is_established());
    }

    /// Lets both ends send what they can.
    pub fn pump(&mut self) {
        for way in [Way::Forth, Way::Back] {
            loop {
                let mut seg = Segment::default();
                let mut sack = SackBlocks::default();
                let from = if way == Way::Forth { &mut self.a } else { &mut self.b };
                if !from.poll_transmit(self.now, &mut seg, &mut sack) {
                    break;
                }
                self.offered += u64::from(way == Way::Forth && seg.len > 0);
                if way == Way::Forth && (self.refuse)(&seg, self.offered) {
                    self.a.on_local_drop(self.now, &seg);
                    continue;
                }
                self.launch(way, seg, sack);
            }
        }
    }

    fn launch(&mut self, way: Way, mut seg: Segment, sack: SackBlocks) {
        assert!(seg.header_bytes() <= 60, "header too long: {seg:?}");
        let mss = self.a.options().mss.0.min(self.b.options().mss.0) as u32;
        assert!(seg.header_bytes() - 20 + seg.len <= mss || seg.len == 0, "segment too long: {seg:?}");
        let mut sighting = Sighting { at: self.now, way, seg, sack, delivered: false };
        let index = self.count[way as usize];
        self.count[way as usize] += 1;
        let fates = (self.policy)(&sighting, index);
        sighting.delivered = !fates.is_empty();
        let mut ready = self.now;
        if let Some(rate) = self.rate {
            let free = &mut self.free_at[way as usize];
            if way == Way::Forth && rate.bytes_in(free.since(self.now)) > self.buffer {
                self.drops += 1;
                return;
            }
            ready = ready.max(*free) + rate.time_of(u64::from(seg.ip_bytes()));
            *free = ready;
        }
        if seg.ecn != ECN_NOT_ECT && (self.marks)(&seg) {
            seg.ecn = ECN_CE;
        }
        for delay in fates {
            let key = Key(ready + delay, self.serial);
            self.serial += 1;
            self.heap.push(Reverse((key, self.flying.len())));
            self.flying.push(Flying { way, seg, sack });
        }
        if self.keep_trace {
            self.trace.push(sighting);
        }
    }

    /// One event: an arrival or a timer. False when nothing is left.
    pub fn step(&mut self) -> bool {
        self.pump();
        let arrival = self.heap.peek().map_or(Time::NEVER, |Reverse((key, _))| key.0);
        let timer = self.a.next_timer().min(self.b.next_timer());
        if arrival == Time::NEVER && timer == Time::NEVER {
            return false;
        }
        if arrival <= timer {
            let Some(Reverse((_, index))) = self.heap.pop() else { return false };
            self.now = arrival;
            let Flying { way, seg, sack } = self.flying[index];
            let to = if way == Way::Forth { &mut self.b } else { &mut self.a };
            to.on_segment(self.now, &seg, &sack);
            if self.heap.is_empty() {
                self.flying.clear();
            }
        } else {
            self.now = timer;
            for end in [&mut self.a, &mut self.b] {
                if end.next_timer() <= timer {
                    end.on_timer(timer);
                }
            }
        }
        self.pump();
        self.check();
        true
    }

    /// Conservation: nobody has received what was not sent, nor acknowledged what was not received.
    fn check(&self) {
        for (from, to) in [(&self.a, &self.b), (&self.b, &self.a)] {
            assert!(from.acked() <= from.accepted());
            assert!(to.received() <= from.accepted());
            assert!(from.pipe() <= 2 * from.inflight() + 1);
        }
    }

    /// Runs until `done`; panics when that never happens.
    pub fn run_until(&mut self, mut done: impl FnMut(&Net) -> bool) {
        for _ in 0..5_000_000 {
            if done(self) {
                return;
            }
            assert!(self.step(), "nothing left to do at {:?}", self.now);
        }
        panic!("no end in sight at {:?}", self.now);
    }

    pub fn run_for(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            self.pump();
            let arrival = self.heap.peek().map_or(Time::NEVER, |Reverse((key, _))| key.0);
            if arrival.min(self.a.next_timer()).min(self.b.next_timer()) > end {
                self.now = end;
                return;
            }
            self.step();
        }
    }

    /// Data segments sent by `a`: (time, offset of the first byte counted from the first payload byte, length).
    pub fn data(&self, isn: u32) -> Vec<(Time, u32, u32)> {
        let from_a = self.trace.iter().filter(|s| s.way == Way::Forth && s.seg.len > 0);
        from_a.map(|s| (s.at, s.seg.seq.wrapping_sub(isn.wrapping_add(1)), s.seg.len)).collect()
    }

    /// ACKs sent by `b` without data, as (time, acknowledged payload bytes).
    pub fn acks(&self, isn: u32) -> Vec<(Time, u32)> {
        let from_b = self.trace.iter().filter(|s| s.way == Way::Back && s.seg.len == 0 && !s.seg.flags.any(Flags::SYN));
        from_b.map(|s| (s.at, s.seg.ack.wrapping_sub(isn.wrapping_add(1)))).collect()
    }
}
