//! Receive side and processor of one host.

use std::collections::{BTreeMap, VecDeque};

use elephan_engine::Alarm;
use elephan_host::cpu::{Logger, SackHint, Server};
use elephan_host::receive::{Receiver, UdpSocket};
use elephan_host::{Cpu, Models, Receive};
use elephan_units::{Span, Time};

/// A socket, and the number of its flow for life, by which a new one in its place is told from it.
pub type SocketName = (u32, u32);

/// Receive side and processor of one host.
#[derive(Clone)]
pub struct Kernel {
    pub costs: Cpu,
    pub receive: Option<Receive>,
    /// Frames on their way from the wire to the ring, and when they are there.
    pub approaching: VecDeque<(Time, u32)>,
    pub receiver: Receiver,
    pub server: Server,
    /// The received packet on which the server works.
    pub running: Option<u32>,
    /// Sockets with something to send, and those whose timer has run out.
    pub sending: VecDeque<SocketName>,
    pub timers: VecDeque<SocketName>,
    pub logger: Option<Logger>,
    pub logger_waits: bool,
    /// Reads of applications that wait for the processor.
    pub reads_waiting: VecDeque<SocketName>,
    /// The read under way of each socket: number of its flow, bytes, its end.
    pub reads: BTreeMap<u32, (u32, u64, Time)>,
    /// What datagrams that have left still cost: their sender is a process.
    pub datagrams: Span,
    pub udp: BTreeMap<u32, UdpSocket>,
    pub hints: BTreeMap<u32, (u32, SackHint)>,
    pub interrupt: Alarm,
    /// The end of the server's work has an event at this time.
    pub wake: Time,
    /// The server is at work further up in the same call.
    pub busy: bool,
    /// Busy time of the server at the end of the warm-up and at the last sample.
    pub busy_before: Span,
    pub busy_sampled: Span,
}

impl Kernel {
    /// That of a host that has a receive side or a processor.
    pub fn of(models: &Models) -> Option<Box<Kernel>> {
        if models.receive.is_none() && models.cpu.is_none() {
            return None;
        }
        let receiver = models.receive.as_ref().map_or_else(Receiver::unlimited, Receiver::new);
        let costs = models.cpu.clone().unwrap_or_else(Cpu::free);
        Some(Box::new(Kernel {
            logger: costs.logger.map(Logger::new),
            costs,
            receive: models.receive.clone(),
            approaching: VecDeque::new(),
            receiver,
            server: Server::default(),
            running: None,
            sending: VecDeque::new(),
            timers: VecDeque::new(),
            logger_waits: false,
            reads_waiting: VecDeque::new(),
            reads: BTreeMap::new(),
            datagrams: Span::ZERO,
            udp: BTreeMap::new(),
            hints: BTreeMap::new(),
            interrupt: Alarm::default(),
            wake: Time::NEVER,
            busy: false,
            busy_before: Span::ZERO,
            busy_sampled: Span::ZERO,
        }))
    }

    /// Packets that have come in and that TCP has not got yet.
    pub fn held(&self) -> u64 {
        let (ring, backlog) = self.receiver.waiting();
        self.approaching.len() as u64 + ring + backlog + u64::from(self.running.is_some())
    }

    /// Work that needs the server once it is free.
    pub fn waits(&self) -> bool {
        self.running.is_some()
            || self.server.owes()
            || !self.sending.is_empty()
            || !self.timers.is_empty()
            || self.receiver.has_work()
            || self.logger_waits
            || !self.reads_waiting.is_empty()
            || self.datagrams > Span::ZERO
    }
}
