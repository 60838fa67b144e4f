//! Fast Open as sockets offer it (`tcp_sendmsg_fastopen`, `tcp_fastopen_defer_connect`, `TCP_FASTOPEN`), and what the host keeps for it.

use super::Host;
use super::outcome::{Outcome, Progress, Transfer};
use super::socket::{Open, Role};
use crate::script::Value;
use crate::verdict::Stop;
use elephan_tcp::{Cookie, FastOpenListener, FastOpenMemory, FastOpenRequest, State};
use elephan_units::{Span, Time};

pub(super) const MSG_FASTOPEN: i64 = 0x2000_0000;
/// Bits of the sysctl `tcp_fastopen`.
const CLIENT: u64 = 0x1;
const SERVER: u64 = 0x2;
const CLIENT_NO_COOKIE: u64 = 0x4;
const SERVER_NO_COOKIE: u64 = 0x200;
const SERVER_EVERY_LISTENER: u64 = 0x400;
/// The kernel's default: clients only.
const DEFAULT: u64 = CLIENT;
/// How long a connection that the peer has reset during the handshake counts as one of the listener's (`reqsk_fastopen_remove`).
const RESET_COUNTS: Span = Span::from_s(60);

impl Host {
    fn fast_open_bits(&self) -> u64 {
        self.sysctls.number("tcp_fastopen").unwrap_or(DEFAULT)
    }

    pub(super) fn fast_open_serves(&self) -> bool {
        self.fast_open_bits() & (SERVER | SERVER_EVERY_LISTENER) == SERVER | SERVER_EVERY_LISTENER
    }

    pub(super) fn fast_open_connects(&self) -> bool {
        self.fast_open_bits() & CLIENT != 0
    }

    /// Takes over what sysctls and commands have changed.
    pub fn refresh_fast_open(&mut self) {
        let timeout = self.sysctls.number("tcp_fastopen_blackhole_timeout_sec").unwrap_or(0);
        self.fast.pause.timeout = Span::from_s(timeout);
        if self.fast.flushes != self.sysctls.flushes {
            self.fast.flushes = self.sysctls.flushes;
            self.fast.memory = FastOpenMemory::default();
        }
    }

    fn fast_open_request(&self, index: usize) -> FastOpenRequest {
        let cookieless = self.fast_open_bits() & CLIENT_NO_COOKIE != 0 || self.sockets[index].fast.no_cookie;
        FastOpenRequest { memory: self.fast.memory, cookieless, paused: self.fast.pause.lasts(self.now) }
    }

    /// How a listener treats a SYN with Fast Open now; none if as any other.
    pub(super) fn fast_open_listener(&self, listener: usize) -> Option<FastOpenListener> {
        let bits = self.fast_open_bits();
        let asked = &self.sockets[listener].fast;
        let counts = |at: Time| self.now < at.saturating_add(RESET_COUNTS);
        let children = self.sockets.iter().filter(|socket| socket.listener == Some(listener));
        let under_way = children.filter(|child| {
            child.endpoint.as_ref().is_some_and(|endpoint| endpoint.sends_early())
                || child.fast.reset_at.is_some_and(counts)
        });
        if bits & SERVER == 0 || under_way.count() as u64 >= asked.queue.unwrap_or(0) {
            return None;
        }
        let keys = match asked.key {
            Some(key) => [Some(key), None],
            None => self.sysctls.fast_open_keys(),
        };
        let cookie = |key: [u8; 16]| Cookie::of(&key, self.fast.remote, self.fast.local);
        let cookieless = bits & SERVER_NO_COOKIE != 0 || asked.no_cookie;
        Some(FastOpenListener { cookies: keys.map(|key| key.map(cookie)), cookieless })
    }

    /// `connect` of a socket with TCP_FASTOPEN_CONNECT: with a cookie it waits for the first write, without it asks for one.
    pub(super) fn connect_by_write(&mut self, index: usize) -> Option<Outcome> {
        let request = self.fast_open_request(index);
        if !request.paused && (request.cookieless || request.memory.cookie.is_some()) {
            self.sockets[index].fast.deferred = true;
            return Some(Outcome::Done(0));
        }
        self.begin_fast(index, &request, 0);
        None
    }

    /// Opens the connection with `bytes` to send; returns how many the SYN takes.
    fn begin_fast(&mut self, index: usize, request: &FastOpenRequest, bytes: u64) -> u64 {
        self.open(index, false);
        self.opened += 1;
        let now = self.now;
        let socket = &mut self.sockets[index];
        socket.fast.deferred = false;
        socket.open = Open::Connecting;
        let Some(endpoint) = &mut socket.endpoint else { return 0 };
        let taken = endpoint.fast_open_room(request).min(bytes);
        if taken > 0 {
            endpoint.write(now, taken);
            socket.queue.write(taken, taken);
        }
        endpoint.connect_fast(now, request);
        self.settle(index);
        taken
    }

    /// A write with MSG_FASTOPEN, or the first after such a `connect`. Returns how the call ends; none if it goes on as any write.
    pub(super) fn write_fast(
        &mut self,
        index: usize,
        args: &[Value],
        transfer: &Transfer,
        progress: &mut Progress,
    ) -> Result<Option<Outcome>, Stop> {
        let waits = !self.sockets[index].nonblocking && transfer.flags & super::calls::MSG_DONTWAIT == 0;
        let unspecified = matches!(args.get(4), Some(Value::Word(name)) if name == "AF_UNSPEC");
        if !self.fast_open_connects() || unspecified {
            return Ok(Some(Outcome::Fail("EOPNOTSUPP")));
        }
        let socket = &self.sockets[index];
        if socket.role == Role::Fresh && socket.open == Open::No {
            let mut request = self.fast_open_request(index);
            let mut bytes = transfer.bytes;
            if matches!(args.get(1), Some(Value::Word(name)) if name == "NULL") {
                // What cannot be read is not sent: the SYN asks for a cookie (the fallback of tcp_send_syn_data).
                (request.memory.cookie, bytes) = (None, 0);
            }
            progress.moved = self.begin_fast(index, &request, bytes);
            progress.opened = true;
            if !waits {
                let moved = progress.moved as i64;
                return Ok(Some(if moved > 0 { Outcome::Done(moved) } else { Outcome::Fail("EINPROGRESS") }));
            }
            if progress.moved < transfer.bytes
                && let Some(endpoint) = &mut self.sockets[index].endpoint
            {
                endpoint.set_writer_waits(true);
            }
            return Ok(Some(Outcome::Block));
        }
        let socket = &mut self.sockets[index];
        match (socket.open, socket.state()) {
            (Open::Connecting, State::SynSent | State::SynReceived) if waits => Ok(Some(Outcome::Block)),
            (Open::Connecting, State::SynSent | State::SynReceived) => Ok(Some(Outcome::Fail("EALREADY"))),
            (Open::Connecting, State::Closed) => Ok(Some(Outcome::Fail(socket.error.take().unwrap_or("ECONNABORTED")))),
            (Open::Connecting, _) => {
                socket.open = Open::Done;
                Ok(None)
            }
            _ if progress.opened => Ok(None),
            _ => Ok(Some(Outcome::Fail("EISCONN"))),
        }
    }

    /// Takes over what an endpoint has learned of its peer.
    pub(super) fn keep_fast_open(&mut self, index: usize) {
        let now = self.now;
        let Some(endpoint) = &mut self.sockets[index].endpoint else { return };
        let (lesson, doubt) = (endpoint.take_fast_open_lesson(), endpoint.take_fast_open_doubt());
        if let Some(lesson) = lesson {
            self.fast.memory.learn(&lesson);
        }
        if doubt {
            self.fast.pause.begin(now);
        }
    }
}
