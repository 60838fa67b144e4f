//! The receive side of a host: ring of the interface, interrupts, backlog, and who reads the socket.
//!
//! A frame takes, `delay` after its last bit is in, a descriptor of the ring, or is lost (`ring`). The interface interrupts when `coalesce` has
//! passed since the first frame that waits, or `coalesce_frames` wait, but not more often than `interrupts_per_s`. What follows is
//! one of two:
//!
//! - `netif_rx`, as drivers of Linux 2.4: the interrupt takes every frame from the ring at a cost each (`cpu.interrupt`, also for those
//!   refused then) and puts it into the backlog, which the softirq serves in order. A full backlog drops (`backlog`); under 2.4's
//!   *throttle* a backlog that was once full drops everything that comes (`throttle`) until it is completely empty (old `netif_rx` in
//!   net/core/dev.c); with `hold` frames stay in the ring, as under the hardware flow control of some drivers
//!   (CONFIG_NET_HW_FLOWCONTROL).
//! - NAPI (Linux 2.6 on): the softirq takes frames straight from the ring, with interrupts off until it comes back for another, the last
//!   being done, and finds none. No backlog.
//!
//! A server of `mu` packets a second behind room for `B` of them loses of a burst of `b` at `f > mu` what is beyond `B`: b (1 - mu/f) - B.
//! `B` is the backlog under `netif_rx`, ring and backlog with `hold`, the ring under NAPI.
//!
//! GRO joins the frames of a connection that wait one behind the other in the ring when the softirq comes to them: TCP gets one segment and
//! answers it with one ACK. At most 64 KB and, as the weight of a poll, 64 frames.
//!
//! Left out: more than one receive queue; the budget of 300 packets after which `ksoftirqd` competes with processes (the CPU gives
//! user level what is left over, see [`crate::cpu`]); buffers by memory. Linux lets one packet more into the backlog than it says.

use std::collections::VecDeque;

use elephan_units::{Bytes, InvalidParameter, PS_PER_S, Packets, Rate, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::transmit::DELAY_MAX;

/// What joins with GRO: bytes of IP packets and frames.
pub const GRO_BYTES: u32 = 65_535;
pub const GRO_FRAMES: u32 = 64;

/// What happens to a frame that finds the backlog full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BacklogFull {
    /// It is dropped, and so is every frame after it until the backlog is completely empty (Linux 2.4).
    #[default]
    Throttle,
    /// It is dropped.
    Drop,
    /// It stays in the ring until there is room.
    Hold,
}

/// What a host does with the frames that come in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Receive {
    /// From the last bit of a frame to the ring. What is RoCE's does not go this way.
    pub delay: Span,
    /// Descriptors of the interface's receive ring: frames that wait for an interrupt.
    #[schemars(extend("x-source" = "Linux e1000"))]
    pub ring: Packets,
    /// Time from the first frame that waits to the interrupt (ethtool's `rx-usecs`).
    pub coalesce: Span,
    /// Frames that cause the interrupt at once, before `coalesce` is over (ethtool's `rx-frames`); 0: any number waits.
    pub coalesce_frames: u32,
    /// Interrupts a second at most; 0: no limit.
    #[schemars(extend("x-source" = "Linux e1000: InterruptThrottleRate"))]
    pub interrupts_per_s: u32,
    /// Whether the softirq takes frames straight from the ring (NAPI), so that there is no backlog.
    pub napi: bool,
    /// Packets that may wait between interrupt and softirq (`netdev_max_backlog`); without NAPI.
    #[schemars(extend("x-source" = "Linux 2.4"))]
    pub backlog: Packets,
    /// What happens when it is full.
    #[schemars(extend("x-source" = "Linux 2.4"))]
    pub backlog_full: BacklogFull,
    /// Whether consecutive segments of a connection that wait in the ring are given to TCP as one (GRO); with NAPI.
    pub gro: bool,
    /// Rate at which an application reads each socket; without it everything is read at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rate")]
    pub reader: Option<Rate>,
    /// Most that it reads at once; with `reader`. \[assumed]
    pub reader_block: Bytes,
    /// Payload that a UDP socket holds for the reader; with `reader`.
    #[schemars(extend("x-source" = "Linux 2.4: net.core.rmem_default"))]
    pub udp_buffer: Bytes,
}

impl Default for Receive {
    fn default() -> Receive {
        Receive {
            delay: Span::ZERO,
            ring: Packets(256),
            coalesce: Span::ZERO,
            coalesce_frames: 0,
            interrupts_per_s: 8000,
            napi: false,
            backlog: Packets(300),
            backlog_full: BacklogFull::Throttle,
            gro: false,
            reader: None,
            reader_block: Bytes(65_536),
            udp_buffer: Bytes(65_535),
        }
    }
}

impl Receive {
    /// The key of a value that cannot be, and why.
    pub fn problem(&self) -> Option<InvalidParameter> {
        for (key, limit) in [("ring", self.ring), ("backlog", self.backlog)] {
            if limit == Packets(0) {
                return Some(InvalidParameter::new(key, "0 p: no frame would ever be received"));
            }
        }
        if self.delay > DELAY_MAX {
            return Some(InvalidParameter::new("delay", format!("{} is more than a minute", self.delay)));
        }
        if self.coalesce_frames > 0 && self.coalesce == Span::ZERO {
            let message = "the last frames would wait for ever: say for how long with coalesce";
            return Some(InvalidParameter::new("coalesce_frames", message));
        }
        if self.gro && !self.napi {
            return Some(InvalidParameter::new("gro", "works in the poll of NAPI: set napi = true"));
        }
        if self.reader_block.get() == 0 {
            return Some(InvalidParameter::new("reader_block", "0 B: nothing would ever be read"));
        }
        None
    }

    /// Time between two interrupts at least.
    fn gap(&self) -> Span {
        Span(PS_PER_S.checked_div(u64::from(self.interrupts_per_s)).unwrap_or(0))
    }
}

/// Why the receive side of a host dropped a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The ring was full.
    Ring,
    /// The backlog was full.
    Backlog,
    /// The backlog had been full and was not empty yet.
    Throttle,
    /// The buffer of a UDP socket was full.
    Socket,
}

impl Refused {
    pub const ALL: [Refused; 4] = [Refused::Ring, Refused::Backlog, Refused::Throttle, Refused::Socket];

    /// The `reason` of its event.
    pub fn name(self) -> &'static str {
        match self {
            Refused::Ring => "rx_ring",
            Refused::Backlog => "rx_backlog",
            Refused::Throttle => "rx_throttle",
            Refused::Socket => "socket_full",
        }
    }

    /// Returns the reason that has a name.
    pub fn named(name: &str) -> Option<Refused> {
        Refused::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Returns the reason as a sentence goes on after "because".
    pub fn words(self) -> &'static str {
        match self {
            Refused::Ring => "the receive ring was full",
            Refused::Backlog => "the backlog was full",
            Refused::Throttle => "the backlog had been full and was not empty yet",
            Refused::Socket => "the socket was full",
        }
    }
}

/// What a receive side has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that came in, those dropped included.
    pub frames: u64,
    pub interrupts: u64,
    /// By [`Refused`].
    pub drops: [u64; 4],
    pub ring_max: u64,
    pub backlog_max: u64,
}

impl Counts {
    pub fn drop_one(&mut self, why: Refused) {
        self.drops[why as usize] += 1;
    }

    pub fn dropped(&self) -> u64 {
        self.drops.iter().sum()
    }
}

/// Ring, interrupts and backlog. Frames are the caller's numbers.
#[derive(Clone, Debug)]
pub struct Receiver {
    ring_limit: u64,
    backlog_limit: u64,
    backlog_full: BacklogFull,
    napi: bool,
    coalesce: Span,
    coalesce_frames: u32,
    gap: Span,
    ring: VecDeque<u32>,
    backlog: VecDeque<u32>,
    /// When the first frame came that no interrupt has told of.
    first: Time,
    /// No interrupt before.
    quiet_until: Time,
    /// Frames in the ring of which the last interrupt told: those that NAPI polls, or a full backlog holds back.
    known: u64,
    /// NAPI's poll goes on: it takes what comes, without another interrupt.
    polling: bool,
    throttled: bool,
    counts: Counts,
}

impl Receiver {
    pub fn new(spec: &Receive) -> Receiver {
        Receiver {
            ring_limit: spec.ring.0,
            backlog_limit: spec.backlog.0,
            backlog_full: spec.backlog_full,
            napi: spec.napi,
            coalesce: spec.coalesce,
            coalesce_frames: spec.coalesce_frames,
            gap: spec.gap(),
            ring: VecDeque::new(),
            backlog: VecDeque::new(),
            first: Time::NEVER,
            quiet_until: Time::ZERO,
            known: 0,
            polling: false,
            throttled: false,
            counts: Counts::default(),
        }
    }

    /// A host of which only the processor is modelled: every frame interrupts and waits as long as it must.
    pub fn unlimited() -> Receiver {
        Receiver {
            ring_limit: u64::MAX,
            backlog_limit: u64::MAX,
            gap: Span::ZERO,
            ..Receiver::new(&Receive::default())
        }
    }

    /// The last bit of `frame` is in. After this the interrupt may be due at another time.
    pub fn on_frame(&mut self, now: Time, frame: u32) -> Result<(), Refused> {
        self.counts.frames += 1;
        if self.ring.len() as u64 >= self.ring_limit {
            self.counts.drop_one(Refused::Ring);
            return Err(Refused::Ring);
        }
        self.ring.push_back(frame);
        self.counts.ring_max = self.counts.ring_max.max(self.ring.len() as u64);
        if self.polling {
            self.known += 1;
        } else if self.first == Time::NEVER {
            self.first = now;
        }
        Ok(())
    }

    /// When the interface interrupts; [`Time::NEVER`] if it has nothing to tell.
    pub fn interrupt_at(&self) -> Time {
        if self.first == Time::NEVER {
            return Time::NEVER;
        }
        let untold = self.ring.len() as u64 - self.known;
        let enough = self.coalesce_frames > 0 && untold >= u64::from(self.coalesce_frames);
        let asked = if enough { self.first } else { self.first.saturating_add(self.coalesce) };
        asked.max(self.quiet_until)
    }

    /// The interface interrupts: what `netif_rx` refuses goes to `refused`. Answers how many frames the interrupt has taken in hand.
    pub fn on_interrupt(&mut self, now: Time, refused: &mut Vec<(u32, Refused)>) -> u64 {
        self.counts.interrupts += 1;
        self.quiet_until = now.saturating_add(self.gap);
        self.first = Time::NEVER;
        let untold = self.ring.len() as u64 - self.known;
        if self.napi {
            self.known += untold;
            self.polling = true;
            return 0;
        }
        if self.backlog_full == BacklogFull::Hold {
            self.known += untold;
            self.refill();
            return untold;
        }
        while let Some(frame) = self.ring.pop_front() {
            if let Err(why) = self.netif_rx(frame) {
                self.counts.drop_one(why);
                refused.push((frame, why));
            }
        }
        untold
    }

    fn netif_rx(&mut self, frame: u32) -> Result<(), Refused> {
        if self.backlog.is_empty() {
            self.throttled = false;
        }
        if self.throttled {
            return Err(Refused::Throttle);
        }
        if self.backlog.len() as u64 >= self.backlog_limit {
            self.throttled = self.backlog_full == BacklogFull::Throttle;
            return Err(Refused::Backlog);
        }
        self.backlog.push_back(frame);
        self.counts.backlog_max = self.counts.backlog_max.max(self.backlog.len() as u64);
        Ok(())
    }

    /// Frames that were held back enter the backlog.
    fn refill(&mut self) {
        while self.known > 0 && (self.backlog.len() as u64) < self.backlog_limit {
            let Some(frame) = self.ring.pop_front() else { break };
            self.known -= 1;
            self.backlog.push_back(frame);
        }
        self.counts.backlog_max = self.counts.backlog_max.max(self.backlog.len() as u64);
    }

    /// The next frame for the softirq.
    pub fn take(&mut self) -> Option<u32> {
        if self.napi {
            return self.poll();
        }
        let frame = self.backlog.pop_front();
        if self.known > 0 {
            self.refill();
        }
        frame
    }

    fn poll(&mut self) -> Option<u32> {
        if self.known == 0 {
            self.polling = false;
            return None;
        }
        self.known -= 1;
        self.ring.pop_front()
    }

    /// The next frame for the softirq if it joins the one before (GRO).
    pub fn take_if(&mut self, joins: impl FnOnce(u32) -> bool) -> Option<u32> {
        let next = self.ring.front().copied().filter(|_| self.napi && self.known > 0)?;
        if joins(next) { self.poll() } else { None }
    }

    /// Whether the softirq has something to take, or a poll to end: until it has, no interrupt tells of what comes.
    pub fn has_work(&self) -> bool {
        !self.backlog.is_empty() || (self.napi && (self.known > 0 || self.polling))
    }

    pub fn is_napi(&self) -> bool {
        self.napi
    }

    /// Frames in the ring, and in the backlog.
    pub fn waiting(&self) -> (u64, u64) {
        (self.ring.len() as u64, self.backlog.len() as u64)
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// A datagram found its socket full.
    pub fn count_socket_drop(&mut self) {
        self.counts.drop_one(Refused::Socket);
    }
}

/// The buffer of a UDP socket whose application reads at a rate: a leaky bucket.
#[derive(Clone, Copy, Debug, Default)]
pub struct UdpSocket {
    level_bytes: f64,
    at: Time,
}

impl UdpSocket {
    /// A datagram of `bytes` is there; whether it fits. Without content one always does.
    pub fn admit(&mut self, now: Time, bytes: u64, (reader, buffer): (Rate, Bytes)) -> bool {
        let read = reader.bps() as f64 / 8.0 * now.since(self.at).seconds();
        (self.level_bytes, self.at) = ((self.level_bytes - read).max(0.0), now);
        let fits = self.level_bytes == 0.0 || self.level_bytes + bytes as f64 <= buffer.get() as f64;
        self.level_bytes += if fits { bytes as f64 } else { 0.0 };
        fits
    }
}
