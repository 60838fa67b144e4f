//! One socket: what its application has set, and what it learns of its connection.

use super::asked::Asked;
use super::errors::ErrorQueue;
use crate::symbols::{POLLERR, POLLHUP, POLLIN, POLLOUT, POLLRDHUP};
use elephan_tcp::options::Acceptance;
use elephan_tcp::{Endpoint, Flags, Linger, Options, SEND_BUFFER, Segment, SendQueue, State};
use elephan_units::{Bytes, Span, Time};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Fresh,
    Listener,
    Stream,
}

/// How far the opening of a connection is, as its application sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    No,
    /// `connect` has begun; no call has said yet how it ended.
    Connecting,
    /// Of a listener: the handshake goes on; it is done and nobody has accepted.
    Arriving,
    Waiting,
    Done,
}

/// What was known when waiters were last woken.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    arrived: u64,
    up: bool,
    fin: bool,
    over: bool,
}

pub(super) struct Socket {
    pub role: Role,
    pub endpoint: Option<Endpoint>,
    /// The listener that made it.
    pub listener: Option<usize>,
    /// Of a listener: connections to accept.
    pub arrived: VecDeque<usize>,
    /// Of a listener: how many of them may wait.
    pub backlog: u64,
    pub open: Open,
    pub nonblocking: bool,
    pub shut_read: bool,
    pub shut_write: bool,
    /// No descriptor has it any more.
    pub orphan: bool,
    /// The error that the next call reports.
    pub error: Option<&'static str>,
    pub queue: SendQueue,
    pub errors: ErrorQueue,
    /// A writer or a poll found the buffer full (SOCK_NOSPACE).
    pub no_space: bool,
    /// Initial sequence number of the peer.
    pub peer_isn: u32,
    pub nodelay: bool,
    pub cork: bool,
    pub low_water: Option<u64>,
    pub mss: Option<u64>,
    pub receive_buffer: Option<u64>,
    pub congestion_control: Option<elephan_cc::Spec>,
    /// SO_LINGER with a time of 0: close resets.
    pub aborts: bool,
    pub reports_inq: bool,
    /// TCP_SYNCNT, TCP_USER_TIMEOUT in ms, TCP_LINGER2 in s.
    pub syn_count: Option<u32>,
    pub user_timeout: u64,
    /// TCP_RTO_MAX_MS.
    pub rto_max: Option<Span>,
    pub linger: i64,
    pub fast: Asked,
    seen: Seen,
}

impl Socket {
    pub fn new(send_buffer: Option<[u64; 2]>) -> Socket {
        Socket {
            role: Role::Fresh,
            endpoint: None,
            listener: None,
            arrived: VecDeque::new(),
            backlog: 0,
            open: Open::No,
            nonblocking: false,
            shut_read: false,
            shut_write: false,
            orphan: false,
            error: None,
            queue: SendQueue::new(send_buffer.unwrap_or(SEND_BUFFER), u64::MAX),
            errors: ErrorQueue::default(),
            no_space: false,
            peer_isn: 0,
            nodelay: false,
            cork: false,
            low_water: None,
            mss: None,
            receive_buffer: None,
            congestion_control: None,
            aborts: false,
            reports_inq: false,
            syn_count: None,
            user_timeout: 0,
            rto_max: None,
            linger: 0,
            fast: Asked::default(),
            seen: Seen::default(),
        }
    }

    /// A connection of a listener has what the listener was set to.
    pub fn child(&self, listener: usize) -> Socket {
        Socket {
            listener: Some(listener),
            open: Open::Arriving,
            queue: self.queue.child(),
            nodelay: self.nodelay,
            cork: self.cork,
            low_water: self.low_water,
            mss: self.mss,
            receive_buffer: self.receive_buffer,
            congestion_control: self.congestion_control.clone(),
            aborts: self.aborts,
            reports_inq: self.reports_inq,
            syn_count: self.syn_count,
            user_timeout: self.user_timeout,
            rto_max: self.rto_max,
            linger: self.linger,
            errors: self.errors.child(),
            ..Socket::new(None)
        }
    }

    /// What TCP_LINGER2 says of FIN-WAIT-2: two minutes at most.
    pub fn linger_of(&self) -> Linger {
        const MOST_S: i64 = 120;
        match self.linger {
            0 => Linger::Default,
            seconds if seconds < 0 => Linger::Never,
            seconds => Linger::For(Span::from_s(seconds.min(MOST_S).cast_unsigned())),
        }
    }

    /// What socket options say of the stack's.
    pub fn apply(&self, o: &mut Options) {
        o.nagle = !self.nodelay;
        if let Some(mss) = self.mss {
            o.mss = Bytes(mss.min(o.mss.0));
        }
        if let Some(bytes) = self.receive_buffer {
            o.receive_buffer = Bytes(bytes.max(o.mss.0));
        }
        if let Some(retries) = self.syn_count {
            (o.syn_retries, o.syn_ack_retries) = (retries, retries);
        }
        o.user_timeout = Span::from_ms(self.user_timeout);
        o.rto_max = self.rto_max.unwrap_or(o.rto_max);
        if let Some(congestion_control) = &self.congestion_control {
            o.congestion_control = congestion_control.clone();
        }
    }

    pub fn state(&self) -> State {
        self.endpoint.as_ref().map_or(State::Closed, Endpoint::state)
    }

    /// Bytes to be read.
    pub fn unread(&self) -> u64 {
        self.endpoint.as_ref().map_or(0, Endpoint::unread)
    }

    /// The peer has sent its FIN.
    pub fn is_peer_closed(&self) -> bool {
        self.endpoint.as_ref().is_some_and(Endpoint::peer_closed)
    }

    /// Data that nobody can read any more (Linux `tcp_rcv_state_process`: after `close` or `shutdown`, new data is answered by a
    /// reset).
    pub fn refuses(&self, segment: &Segment) -> bool {
        let deaf = self.orphan || self.shut_read;
        let closing = matches!(self.state(), State::FinWait1 | State::FinWait2);
        if !deaf || !closing || segment.len == 0 || !segment.flags.any(Flags::ACK) {
            return false;
        }
        let arrived = self.endpoint.as_ref().map_or(0, Endpoint::arrived);
        let next = self.peer_isn.wrapping_add(1).wrapping_add(arrived as u32);
        segment.seq.wrapping_add(segment.len).wrapping_sub(next) as i32 > 0
    }

    /// A segment was taken in state `before`: a reset becomes the error of the next call (Linux `tcp_reset`).
    pub fn note_reset(&mut self, before: State, segment: &Segment, now: Time) {
        if segment.flags.any(Flags::SYN) {
            self.peer_isn = segment.seq;
        }
        if self.state() == State::Closed && before != State::Closed && segment.flags.any(Flags::RST) {
            if before == State::SynReceived && self.open != Open::Done {
                self.fast.reset_at = Some(now);
            }
            let linux =
                self.endpoint.as_ref().is_some_and(|endpoint| endpoint.options().acceptance == Acceptance::Linux);
            self.error = Some(match before {
                State::SynSent => "ECONNREFUSED",
                // RFC 9293 section 3.10.7.4, second: so is what was opened actively.
                State::SynReceived if !linux => "ECONNREFUSED",
                State::CloseWait if linux => "EPIPE",
                _ => "ECONNRESET",
            });
        }
    }

    /// A timer has run: the peer may have been given up (Linux `tcp_write_err`).
    pub fn note_given_up(&mut self, before: State) {
        let over = self.state() == State::Closed && before != State::Closed;
        if over && self.endpoint.as_ref().is_some_and(Endpoint::gave_up) {
            self.error = Some("ETIMEDOUT");
        }
    }

    /// The connection is over, or there was none.
    pub fn is_over(&self) -> bool {
        self.state() == State::Closed
    }

    /// What a poll reports now (Linux `tcp_poll`).
    pub fn ready(&mut self) -> i64 {
        if self.role == Role::Listener {
            return if self.arrived.is_empty() { 0 } else { POLLIN };
        }
        if self.fast.deferred {
            return POLLOUT;
        }
        let (state, over) = (self.state(), self.is_over());
        let read_end = self.shut_read || self.is_peer_closed() || over;
        let write_end = self.shut_write || over;
        let mut mask = 0;
        if (read_end && write_end) || over {
            mask |= POLLHUP;
        }
        if read_end {
            mask |= POLLIN | POLLRDHUP;
        }
        if state != State::SynSent {
            if self.unread() > 0 {
                mask |= POLLIN;
            }
            if write_end || self.queue.is_writable() {
                mask |= POLLOUT;
            } else {
                self.no_space = true;
            }
        }
        if self.error.is_some() || !self.errors.is_empty() {
            mask |= POLLERR;
        }
        mask
    }

    /// What has changed since waiters were last woken, as the events that it wakes.
    pub fn wake(&mut self, now: Time) -> i64 {
        let Some(endpoint) = &self.endpoint else { return 0 };
        let seen = Seen {
            arrived: endpoint.arrived(),
            up: endpoint.state() >= State::Established || endpoint.sends_early(),
            fin: endpoint.peer_closed(),
            over: endpoint.state() == State::Closed,
        };
        let mut woken = 0;
        if seen.arrived > self.seen.arrived {
            woken |= POLLIN;
        }
        if seen.fin && !self.seen.fin {
            woken |= POLLIN | POLLRDHUP | POLLHUP;
        }
        if seen.up && !self.seen.up {
            woken |= POLLOUT;
        }
        if seen.over && !self.seen.over {
            woken |= POLLIN | POLLOUT | POLLERR | POLLHUP;
        }
        let begins = seen.up && !self.seen.up;
        if begins || self.no_space {
            let info = endpoint.info(now);
            let out = info.unacked + info.retrans - (info.sacked + info.lost).min(info.unacked + info.retrans);
            if begins || out < info.snd_cwnd {
                self.queue.expand(&info);
            }
        }
        self.seen = seen;
        if self.no_space && self.queue.is_writable() {
            self.no_space = false;
            woken |= POLLOUT;
        }
        woken
    }
}
