//! The host under test: a socket layer as Linux has it over sans-IO endpoints, in virtual time.
//!
//! The rule of this layer: time moves only in [`Host::advance`]. What endpoints send in an instant is taken at once, in order, into
//! the outbox, with its time.

mod asked;
mod calls;
mod epoll;
mod errors;
mod fast_open;
mod messages;
mod options;
mod outcome;
mod polled;
mod reports;
mod socket;

use crate::sysctl::Sysctls;
use elephan_tcp::{Endpoint, Flags, Info, Options, SackBlocks, Segment, State};
use elephan_units::{Bytes, Time};
use polled::Epoll;
use socket::{Open, Role, Socket};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

pub use asked::Kept;
pub use outcome::{Descriptor, Outcome, Progress};

/// Initial sequence number of every endpoint: one that script numbers, which begin at 0, are not mixed up with.
pub const ISN: u32 = 0x4000_0000;
/// A send buffer that never is the limit: the socket layer has its own, which counts as Linux does.
const NO_LIMIT: u64 = 1 << 40;

/// A segment that the endpoint under test has sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: Time,
    pub segment: Segment,
    pub sack: SackBlocks,
}

pub struct Host {
    pub now: Time,
    pub sysctls: Sysctls,
    /// The stack that sockets have, before sysctls and socket options.
    stack: Options,
    descriptors: BTreeMap<i64, Descriptor>,
    sockets: Vec<Socket>,
    epolls: Vec<Epoll>,
    /// The socket whose connection the script's packets belong to.
    tested: Option<usize>,
    pub outbox: VecDeque<Sent>,
    fast: Kept,
    /// How many connections the application has opened.
    pub opened: u64,
    /// How many packets have been put into the outbox.
    pub sent: u64,
    /// Longer packets that arrive are joined segments of so many bytes.
    joined: Option<u64>,
}

impl Host {
    pub fn new(mut stack: Options, fast: Kept, joined: Option<u64>) -> Host {
        // A socket of Linux has Nagle's algorithm until TCP_NODELAY.
        stack.nagle = true;
        stack.send_buffer = Bytes(NO_LIMIT);
        Host {
            now: Time::ZERO,
            sysctls: Sysctls::default(),
            stack,
            descriptors: BTreeMap::new(),
            sockets: Vec::new(),
            epolls: Vec::new(),
            tested: None,
            outbox: VecDeque::new(),
            fast,
            opened: 0,
            sent: 0,
            joined,
        }
    }

    /// The endpoint under test.
    fn endpoint(&self) -> Option<&Endpoint> {
        self.sockets[self.tested?].endpoint.as_ref()
    }

    /// Returns what `TCP_INFO` says of the endpoint under test. Before there is a connection that is the newest socket: closed, or a
    /// listener, of which Linux says the connections to accept and how many may wait (`tcp_get_info`).
    pub fn info(&self) -> Option<Info> {
        if let Some(endpoint) = self.endpoint() {
            return Some(endpoint.info(self.now));
        }
        let index = self.listener().or(self.sockets.len().checked_sub(1))?;
        let socket = &self.sockets[index];
        let options = self.options_of(index, socket.role == Role::Listener);
        let info = Endpoint::new(&options, options.controller(), ISN).info(self.now);
        if socket.role != Role::Listener {
            return Some(info);
        }
        Some(Info {
            state: State::Listen,
            unacked: socket.arrived.len() as u64,
            sacked: socket.backlog,
            snd_cwnd: info.snd_cwnd,
            reordering: info.reordering,
            ..Info::default()
        })
    }

    fn listener(&self) -> Option<usize> {
        self.sockets.iter().rposition(|socket| socket.role == Role::Listener)
    }

    /// Whether a SYN with this number, which `acks` or not, says where the peer's numbers begin, and whether it opens a connection of the
    /// listener.
    pub fn awaits_syn(&self, seq: u32, acks: bool) -> (bool, bool) {
        let opens = match self.endpoint().map_or(State::Closed, Endpoint::state) {
            State::Closed => self.listener().is_some(),
            State::TimeWait => self.tested.is_some_and(|index| self.reopens(index, seq)),
            state => return (state < State::SynReceived, state == State::Listen && !acks),
        };
        (opens && !acks, opens && !acks)
    }

    /// Takes over settings. Connections that there are look at some of them with every segment.
    pub fn set_sysctls(&mut self, sysctls: Sysctls) {
        self.sysctls = sysctls;
        if let Some(policy) = self.sysctls.accecn_option() {
            for endpoint in self.sockets.iter_mut().filter_map(|socket| socket.endpoint.as_mut()) {
                endpoint.set_accecn_option(policy);
            }
        }
    }

    /// When the next timer is due.
    pub fn next_timer(&self) -> Time {
        let timers = self.sockets.iter().filter_map(|socket| socket.endpoint.as_ref()).map(Endpoint::next_timer);
        timers.min().unwrap_or(Time::NEVER)
    }

    /// Goes on to the next timer, or to `until` if none is due before; says whether a timer was due.
    pub fn advance(&mut self, until: Time) -> bool {
        let next = self.next_timer();
        if next > until {
            self.now = self.now.max(until);
            return false;
        }
        self.now = self.now.max(next);
        for index in 0..self.sockets.len() {
            let now = self.now;
            let before = self.sockets[index].state();
            if let Some(endpoint) = self.sockets[index].endpoint.as_mut().filter(|e| e.next_timer() <= now) {
                endpoint.on_timer(now);
                self.sockets[index].note_given_up(before);
                self.settle(index);
                self.keep_fast_open(index);
            }
        }
        true
    }

    /// A segment of the script arrives.
    pub fn deliver(&mut self, segment: &Segment, sack: &SackBlocks) {
        let index = self.receiver(segment);
        let socket = &mut self.sockets[index];
        let (before, refuses) = (socket.state(), socket.refuses(segment));
        let Some(endpoint) = &mut socket.endpoint else { return };
        if refuses {
            endpoint.forget(self.now);
        }
        endpoint.on_segment(self.now, segment, sack);
        socket.note_reset(before, segment, self.now);
        self.settle(index);
        self.keep_fast_open(index);
    }

    /// The socket that a segment is for: the one under test while it lives, or a new one of the listener. Before there is a
    /// connection a listener answers what is no SYN too, and without one the host, which has no socket for it.
    fn receiver(&mut self, segment: &Segment) -> usize {
        let alive = self.tested.filter(|index| {
            let state = self.sockets[*index].endpoint.as_ref().map_or(State::Closed, Endpoint::state);
            let syn = segment.flags.any(Flags::SYN) && !segment.flags.any(Flags::ACK | Flags::RST);
            state != State::Closed && !(syn && self.reopens(*index, segment.seq))
        });
        if let Some(index) = alive {
            return index;
        }
        if let Some(listener) = self.listener()
            && (segment.flags.any(Flags::SYN) || self.tested.is_none())
        {
            let child = self.sockets[listener].child(listener);
            return self.answer_by(child, true);
        }
        match self.tested {
            Some(index) => index,
            None => self.answer_by(Socket::new(None), false),
        }
    }

    /// Whether a SYN with this number begins another connection while this one is in TIME-WAIT: its number is larger than all before (RFC 9293 section
    /// 3.10.7.4, fourth, MAY-2; Linux and FreeBSD do so).
    fn reopens(&self, index: usize, seq: u32) -> bool {
        let socket = &self.sockets[index];
        let Some(endpoint) = socket.endpoint.as_ref().filter(|e| e.state() == State::TimeWait) else { return false };
        // SYN and FIN of the old connection have numbers too.
        let next = socket.peer_isn.wrapping_add(2).wrapping_add(endpoint.arrived() as u32);
        self.listener().is_some() && seq.wrapping_sub(next).cast_signed() > 0
    }

    /// Puts a socket under test that no call has made: a listener's, or a closed one.
    fn answer_by(&mut self, socket: Socket, listens: bool) -> usize {
        self.sockets.push(socket);
        let index = self.sockets.len() - 1;
        self.open(index, listens);
        index
    }

    /// Makes the endpoint of a socket, which is under test from now on.
    fn open(&mut self, index: usize, passive: bool) {
        let options = self.options_of(index, passive);
        let mut endpoint = Endpoint::new(&options, options.controller(), ISN);
        endpoint.set_auto_read(false);
        endpoint.keep_times();
        if let Some(bytes) = self.joined {
            endpoint.set_joined_segments(bytes);
        }
        endpoint.set_linger(self.sockets[index].linger_of());
        let listener = self.sockets[index].listener.filter(|_| passive);
        match listener.and_then(|listener| self.fast_open_listener(listener)) {
            Some(fast) => endpoint.listen_fast(&fast),
            None if passive => endpoint.listen(),
            None => {}
        }
        self.sockets[index].endpoint = Some(endpoint);
        self.sockets[index].role = Role::Stream;
        self.tested = Some(index);
        self.outbox.clear();
    }

    /// The options of a socket: the stack's, then what sysctls and socket options say.
    fn options_of(&self, index: usize, passive: bool) -> Arc<Options> {
        let mut options = self.stack.clone();
        self.sysctls.apply(&mut options);
        options.send_buffer = Bytes(NO_LIMIT);
        options.ecn = self.sysctls.ecn(passive, options.ecn);
        self.sockets[index].apply(&mut options);
        Arc::new(options)
    }

    /// A new socket of the application.
    fn socket(&mut self, nonblocking: bool) -> usize {
        let mut socket = Socket::new(self.sysctls.send_buffer());
        socket.queue.low_water = self.sysctls.low_water();
        socket.nonblocking = nonblocking;
        self.sockets.push(socket);
        self.sockets.len() - 1
    }

    /// Takes what an endpoint has to send and notes what has changed for its application.
    fn settle(&mut self, index: usize) {
        let now = self.now;
        let tested = self.tested == Some(index);
        let socket = &mut self.sockets[index];
        let Some(endpoint) = &mut socket.endpoint else { return };
        let mut sent = Sent { at: now, segment: Segment::default(), sack: SackBlocks::default() };
        while endpoint.poll_transmit(now, &mut sent.segment, &mut sent.sack) {
            if tested {
                self.outbox.push_back(sent);
                self.sent += 1;
            }
        }
        socket.queue.settle(endpoint);
        endpoint.set_blocked(now, socket.no_space && socket.queue.unsent() == 0);
        let reported = socket.errors.settle(now, socket.queue.sent(), socket.queue.acked());
        let woken = socket.wake(now) | if reported { crate::symbols::POLLERR } else { 0 };
        if endpoint_is_up(socket) && socket.open == Open::Arriving {
            socket.open = Open::Waiting;
            if let Some(listener) = socket.listener {
                self.sockets[listener].arrived.push_back(index);
                self.wake(listener, crate::symbols::POLLIN);
            }
        }
        if woken != 0 {
            self.wake(index, woken);
        }
    }
}

fn endpoint_is_up(socket: &Socket) -> bool {
    socket.endpoint.as_ref().is_some_and(|endpoint| endpoint.state() >= State::Established || endpoint.sends_early())
}
