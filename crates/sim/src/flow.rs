//! Flows: what an application does with a connection or a UDP stream, and what is known of it for the tables.

use std::collections::VecDeque;

use crate::packet::{Packets, Stamp, flags};
use elephan_cc::Question;
use elephan_cc::train::Arrival;
use elephan_engine::Alarm;
use elephan_link::queue::{Answer, CongestionHeader, RateRequest, Request, WindowRequest};
use elephan_random::Stream;
use elephan_scenario::FlowPlan;
use elephan_tcp::{Endpoint, Flags, State};
use elephan_traffic::{Generate, MessageQueue, Offer, Source};
use elephan_units::{Span, Time};

use crate::ids::LinkId;
use crate::ranks::Due;
use crate::rdma::Rdma;
use crate::target::{NONE, Route};

/// One end of a connection, where packets find it.
#[derive(Clone)]
pub struct Socket {
    pub endpoint: Endpoint,
    pub alarm: Alarm,
    /// Beginning of the route to the peer, and its first link.
    pub route: Route,
    pub first_link: LinkId,
    /// The peer's socket.
    pub peer: u32,
    /// Index of its flow among the live ones, and the flow's number for life.
    pub flow: u32,
    pub number: u32,
    /// What the tie of its timers is mixed from.
    pub key: u32,
    /// End of the highest payload sent, to tell retransmissions.
    pub highest: u32,
    /// Its flow is called when its stream has come so far, or when the connection is no longer in the state `seen`.
    pub wake: u64,
    pub seen: State,
    /// Fast retransmits and expired timers that have been logged.
    pub noted: (u64, u64),
    pub is_sender: bool,
    /// It waits for the processor of its host to send.
    pub queued: bool,
    /// Of a connection whose congestion control asks routers or looks at when each packet arrives.
    pub headers: Option<Box<Headers>>,
}

/// What the packets of one end of a connection say beside their segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headers {
    /// They carry congestion headers.
    pub routed: bool,
    /// What it asks routers.
    pub asks: Option<Question>,
    /// What the packets that it received were told since it last sent something.
    pub told: Answer,
    /// They carry stamps.
    pub stamped: bool,
    /// When the last data came that is not acknowledged yet.
    pub came: Option<Arrival>,
    /// For how long this host held the last data that is not acknowledged yet.
    pub held: Option<Span>,
}

impl Headers {
    /// Gives `packet`, which leaves, its header and its stamp.
    #[cold]
    pub fn attach(&mut self, endpoint: &Endpoint, packets: &mut Packets, packet: u32) {
        let p = &mut packets[packet];
        let has_data = p.flags & flags::DATA != 0;
        p.flags |= if self.routed { flags::HEADED } else { 0 } | if self.stamped { flags::STAMPED } else { 0 };
        if self.routed {
            let (ip_bytes, flags) = (p.ip_bytes, p.segment.flags);
            let rtt = endpoint.srtt().unwrap_or(Span::ZERO);
            let request = match self.asks {
                Some(Question::Window) if has_data => Request::Window(WindowRequest {
                    cwnd_bytes: endpoint.controller().window(),
                    rtt,
                    feedback_bytes: f64::INFINITY,
                }),
                Some(Question::Rate) if has_data || flags.any(Flags::SYN | Flags::FIN) => {
                    Request::Rate(RateRequest::new(rtt, ip_bytes, flags.any(Flags::FIN)))
                }
                _ => Request::Nothing,
            };
            *packets.header_mut(packet) = CongestionHeader { request, answer: std::mem::take(&mut self.told) };
        }
        if self.stamped {
            let departure = endpoint.departure().filter(|_| has_data);
            *packets.stamp_mut(packet) =
                Stamp { departure, arrival: self.came.take(), landed: None, held: self.held.take() };
        }
    }

    /// `packet` has come with a header or a stamp.
    #[cold]
    pub fn take(&mut self, now: Time, endpoint: &mut Endpoint, packets: &Packets, packet: u32) {
        let p = &packets[packet];
        if p.flags & flags::HEADED != 0 {
            let header = packets.header(packet);
            match (header.request, self.told) {
                (Request::Window(of), Answer::Window(sum)) => self.told = Answer::Window(sum + of.feedback_bytes),
                (Request::Window(of), _) => self.told = Answer::Window(of.feedback_bytes),
                (Request::Rate(of), _) => {
                    self.told = Answer::Rate { rate_bps: of.rate_bps, queue_bytes: of.queue_bytes };
                }
                (Request::Nothing, _) => {}
            }
            match (self.asks, header.answer) {
                (Some(Question::Window), Answer::Window(bytes)) => endpoint.on_feedback(bytes),
                (Some(Question::Rate), Answer::Rate { rate_bps, queue_bytes }) => {
                    endpoint.on_fair_rate(rate_bps, queue_bytes);
                }
                _ => {}
            }
        }
        if p.flags & flags::STAMPED != 0 {
            let stamp = packets.stamp(packet);
            let waited = stamp.landed.map_or(Span::ZERO, |at| now.since(at));
            if let Some(departure) = stamp.departure {
                self.came = Some(Arrival { departure, at: now });
            }
            if let Some(arrival) = &stamp.arrival {
                endpoint.on_arrival(now, arrival);
            }
            if let Some(held) = stamp.held {
                endpoint.on_endpoint_delay(Span(held.ps() + waited.ps()));
            }
            if p.flags & flags::DATA != 0 {
                self.held = Some(waited);
            }
        }
    }
}

impl Socket {
    /// How far its stream has come: acknowledged at the sender, received at the receiver.
    #[inline]
    pub fn progress(&self) -> u64 {
        if self.is_sender { self.endpoint.acked() } else { self.endpoint.received() }
    }

    /// Whether its flow wants to look at it.
    #[inline]
    pub fn calls(&self) -> bool {
        self.endpoint.state() != self.seen || self.progress() >= self.wake
    }
}

/// The application at the sending end.
#[derive(Clone)]
pub enum Application {
    /// Offers lengthen the stream as their time comes.
    Stream {
        source: Source,
        next: Option<(Time, Offer)>,
        total: u64,
    },
    Messages(Box<MessageQueue>),
    /// One transfer of so many bytes, then close; that of a user of a closed loop names his place in `World::arrivals`.
    Transfer {
        user: Option<u32>,
    },
    /// One stream of a transfer from disk to disk, in `World::copies`; how far it must come at the sending and at the receiving
    /// end for the program to be called.
    Copy {
        copy: u32,
        stream: u32,
        wakes: [u64; 2],
    },
    Datagrams(Box<Datagrams>),
    /// A pair of ranks of a parallel program in `World::games`: bytes of all messages so far, those that are not in, and those whose
    /// acknowledgement is waited for.
    Ranks {
        game: u32,
        pair: u32,
        total: u64,
        due: VecDeque<Due>,
        sent: VecDeque<Due>,
    },
    /// One direction of a connection of programs, by its call.
    Program {
        call: u32,
    },
}

/// A stream of UDP datagrams or of raw frames.
#[derive(Clone, Default)]
pub struct Datagrams {
    /// Its own generator; none if a clock of its sender's says when and what it sends.
    pub source: Option<Source>,
    /// Frames without IP and UDP headers.
    pub raw: bool,
    /// The next datagram and when it is due.
    pub next: Option<(Time, Offer)>,
    pub route: Route,
    pub sent_packets: u64,
    pub sent_bytes: u64,
    pub received_packets: u64,
    pub received_bytes: u64,
    /// Of these, in second copies of a datagram.
    pub copied_bytes: u64,
    /// RFC 4737 section 3.3: the sequence number that is expected next, and the packets that came with a smaller one.
    pub expected: u32,
    pub reordered: u64,
}

/// A live flow.
#[derive(Clone)]
pub struct Flow {
    pub number: u32,
    /// Index into the plan's traffic.
    pub traffic: u32,
    /// Which connection of its pair, by which its random streams are named.
    pub instance: u32,
    pub plan: FlowPlan,
    pub application: Application,
    pub alarm: Alarm,
    pub key: u32,
    /// Sockets; none for UDP.
    pub sender: u32,
    pub receiver: u32,
    /// Its place in `World::rdma`, if RDMA carries it.
    pub rdma: u32,
    pub start: Time,
    pub established: Option<Time>,
    /// Payload to carry, if finite.
    pub size: Option<u64>,
    pub done: Option<Time>,
    pub sender_done: Option<Time>,
    /// Payload that was delivered, or waited behind a hole, at the end of the warm-up.
    pub before_warmup: u64,
    /// Whether its start has come.
    pub begun: bool,
    /// Place in `World::clocks` of the rounds that it answers, if it answers any.
    pub clock: u32,
}

impl Flow {
    /// Whether its application has begun.
    pub fn is_open(&self) -> bool {
        self.begun
    }

    /// The application begins: the first offer is drawn.
    pub fn begin(&mut self) {
        self.begun = true;
        let start = self.start;
        let first = |source: &mut Source| source.next_offer().map(|o| (start.saturating_add(o.gap), o));
        match &mut self.application {
            Application::Stream { source, next, .. } => *next = first(source),
            Application::Datagrams(d) => d.next = d.source.as_mut().and_then(first),
            Application::Messages(_)
            | Application::Transfer { .. }
            | Application::Copy { .. }
            | Application::Ranks { .. }
            | Application::Program { .. } => {}
        }
    }

    /// The flow was stopped before it began.
    pub fn cancel(&mut self) {
        self.begun = true;
    }

    /// When the application must be called next.
    pub fn deadline(&self) -> Time {
        let at = |next: &Option<(Time, Offer)>| next.map_or(Time::NEVER, |(time, _)| time);
        match &self.application {
            Application::Stream { next, .. } => at(next),
            Application::Messages(queue) => queue.next_arrival(),
            Application::Transfer { .. }
            | Application::Copy { .. }
            | Application::Ranks { .. }
            | Application::Program { .. } => Time::NEVER,
            Application::Datagrams(d) => at(&d.next),
        }
    }

    /// How far the stream of one end must come for that end to be looked at; the states of the connection are seen anyway.
    pub fn wake(&self, is_sender: bool) -> u64 {
        let done = if is_sender { self.sender_done } else { self.done };
        match (&self.application, self.size) {
            (Application::Copy { wakes, .. }, size) => {
                let size = size.filter(|_| done.is_none()).unwrap_or(u64::MAX);
                wakes[usize::from(!is_sender)].min(size)
            }
            (Application::Messages(queue), _) if !is_sender || !queue.ended() => 0,
            (Application::Program { .. }, _) => 0,
            (Application::Ranks { due, sent, .. }, _) => {
                let next = if is_sender { sent.front() } else { due.front() };
                next.map_or(u64::MAX, |message| message.end)
            }
            (_, Some(size)) if done.is_none() => size,
            _ => u64::MAX,
        }
    }

    /// Payload delivered to the receiving application so far.
    pub fn delivered(&self, sockets: &[Socket], rdma: &Rdma) -> u64 {
        match &self.application {
            Application::Datagrams(d) => d.received_bytes,
            _ if self.rdma != NONE => rdma.of(self.rdma).map_or(0, |pair| pair.ends.received()),
            _ => sockets.get(self.receiver as usize).map_or(0, |s| s.endpoint.received()),
        }
    }

    /// Payload bytes delivered, and those that wait behind a hole: they reached the receiver, though no application could read them.
    pub fn arrived(&self, sockets: &[Socket], rdma: &Rdma) -> u64 {
        let held = sockets.get(self.receiver as usize).map_or(0, |socket| socket.endpoint.held());
        self.delivered(sockets, rdma) + held
    }
}

/// The arrivals of one `transfers` entry, or of one user of a `users` entry.
#[derive(Clone)]
pub struct Arrivals {
    pub traffic: u32,
    /// His number, if it is a user's: his next transfer arrives when he has thought after the one before.
    pub user: Option<u32>,
    pub source: Source,
    pub next: Option<Offer>,
    pub ordinal: u64,
    pub isn: Stream,
    pub stopped: bool,
}

impl Arrivals {
    pub fn advance(&mut self) {
        self.next = self.source.next_offer();
    }
}

/// A key for ties that depends on names only: FNV-1a over a path and an ordinal.
pub fn stable_key(path: &str, ordinal: u64) -> u32 {
    let mut hash = 0x811C_9DC5u32;
    for byte in path.bytes().chain(ordinal.to_le_bytes()) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    hash
}
