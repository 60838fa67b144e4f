//! System calls of the socket interface, with the results and errors of Linux.

use super::Host;
use super::fast_open::MSG_FASTOPEN;
use super::outcome::{Descriptor, Outcome, Progress, Transfer};
use super::socket::{Open, Role};
use crate::script::{Call, Value};
use crate::symbols::named;
use crate::verdict::Stop;
use elephan_tcp::{State, size_goal};

/// `net.core.somaxconn`: connections that may wait to be accepted at most.
const SOMAXCONN: u64 = 4096;
pub(super) const MSG_PEEK: i64 = 0x2;
pub(super) const MSG_DONTWAIT: i64 = 0x40;
const MSG_EOR: i64 = 0x80;
const MSG_WAITALL: i64 = 0x100;
pub(super) const MSG_ERRQUEUE: i64 = 0x2000;
const MSG_NOSIGNAL: i64 = 0x4000;
const MSG_MORE: i64 = 0x8000;
const MSG_ZEROCOPY: i64 = 0x400_0000;
const O_NONBLOCK: i64 = 0o4000;
const O_RDWR: i64 = 2;

fn missing<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::CannotRun(what.into()))
}

/// The argument at a place, as a number.
pub(super) fn number(args: &[Value], at: usize) -> Result<i64, Stop> {
    match args.get(at) {
        Some(value) => value.number().map_err(Stop::CannotRun),
        None => missing(format!("a call with {} arguments", args.len())),
    }
}

impl Host {
    /// Makes a call. `progress` is kept while it blocks.
    pub fn call(&mut self, call: &Call, progress: &mut Progress) -> Result<Outcome, Stop> {
        let args = &call.args[..];
        let transfer = |bytes, flags: Option<usize>| -> Result<Transfer, Stop> {
            let flags = flags.map_or(Ok(0), |at| number(args, at))?;
            Ok(Transfer { bytes: number(args, bytes)?.max(0) as u64, flags })
        };
        match call.name.as_str() {
            "socket" => self.call_socket(args),
            "epoll_create" | "epoll_create1" => Ok(self.epoll_create()),
            "epoll_ctl" => self.epoll_ctl(args),
            "epoll_wait" => self.epoll_wait(args, progress.timed_out),
            "poll" => self.poll(args, progress.timed_out),
            "bind" => self.stream(args).map(|_| Outcome::Done(0)),
            "listen" => self.listen(args),
            "accept" | "accept4" => self.accept(args),
            "connect" => self.connect(args),
            "write" => self.write(args, transfer(2, None)?, progress),
            "send" | "sendto" => self.write(args, transfer(2, Some(3))?, progress),
            "writev" | "sendmsg" => self.send_message(call, progress),
            "read" => self.read(args, transfer(2, None)?),
            "recv" | "recvfrom" => self.read(args, transfer(2, Some(3))?),
            "readv" | "recvmsg" => self.receive_message(call),
            "close" => self.close(args),
            "shutdown" => self.shutdown(args),
            "setsockopt" => self.set_option(args),
            "getsockopt" => self.get_option(args),
            "fcntl" => self.fcntl(args),
            "ioctl" => self.ioctl(args),
            other => missing(format!("the call {other}()")),
        }
    }

    /// The socket of the first argument.
    pub(super) fn stream(&self, args: &[Value]) -> Result<usize, Stop> {
        let fd = number(args, 0)?;
        match self.descriptors.get(&fd) {
            Some(Descriptor::Socket(index)) => Ok(*index),
            _ => Err(Stop::differs("an open socket", format!("descriptor {fd} is none"))),
        }
    }

    /// The script calls a new descriptor `fd`.
    pub fn name(&mut self, fd: i64, descriptor: super::Descriptor) {
        self.descriptors.insert(fd, descriptor);
    }

    fn call_socket(&mut self, args: &[Value]) -> Result<Outcome, Stop> {
        let (kind, protocol) = (number(args, 1)?, number(args, 2)?);
        if kind & 0xF != 1 || !matches!(protocol, 0 | 6) {
            return missing("sockets other than TCP");
        }
        let index = self.socket(kind & O_NONBLOCK != 0);
        Ok(Outcome::Descriptor(Descriptor::Socket(index)))
    }

    fn listen(&mut self, args: &[Value]) -> Result<Outcome, Stop> {
        let index = self.stream(args)?;
        let socket = &mut self.sockets[index];
        if socket.role == Role::Stream && !socket.is_over() {
            return Ok(Outcome::Fail("EINVAL"));
        }
        socket.role = Role::Listener;
        let backlog = number(args, 1)?.max(0) as u64;
        socket.backlog = backlog.min(SOMAXCONN);
        let serves = self.fast_open_serves();
        let queue = &mut self.sockets[index].fast.queue;
        if serves && queue.is_none() {
            *queue = Some(backlog);
        }
        // Its port is a new one: packets of the connection before are over.
        self.tested = None;
        Ok(Outcome::Done(0))
    }

    fn accept(&mut self, args: &[Value]) -> Result<Outcome, Stop> {
        let index = self.stream(args)?;
        let socket = &mut self.sockets[index];
        if socket.role != Role::Listener {
            return Ok(Outcome::Fail("EINVAL"));
        }
        let Some(child) = socket.arrived.pop_front() else {
            return Ok(if socket.nonblocking { Outcome::Fail("EAGAIN") } else { Outcome::Block });
        };
        self.sockets[child].open = Open::Done;
        Ok(Outcome::Descriptor(Descriptor::Socket(child)))
    }

    fn connect(&mut self, args: &[Value]) -> Result<Outcome, Stop> {
        let index = self.stream(args)?;
        let socket = &mut self.sockets[index];
        if socket.fast.deferred {
            return Ok(Outcome::Fail("EISCONN"));
        }
        match (socket.open, socket.state()) {
            (Open::Connecting, State::SynSent | State::SynReceived) => {
                Ok(if socket.nonblocking { Outcome::Fail("EALREADY") } else { Outcome::Block })
            }
            (Open::Connecting, State::Closed) => {
                socket.open = Open::No;
                socket.role = Role::Fresh;
                Ok(Outcome::Fail(socket.error.take().unwrap_or("ECONNABORTED")))
            }
            (Open::Connecting, _) => {
                socket.open = Open::Done;
                Ok(Outcome::Done(0))
            }
            (Open::Done | Open::Arriving | Open::Waiting, state) if state != State::Closed => {
                Ok(Outcome::Fail("EISCONN"))
            }
            _ if socket.role == Role::Listener => Ok(Outcome::Fail("EISCONN")),
            _ => {
                let waits = !socket.nonblocking;
                if socket.fast.connect {
                    let deferred = self.connect_by_write(index);
                    let opening = if waits { Outcome::Block } else { Outcome::Fail("EINPROGRESS") };
                    return Ok(deferred.unwrap_or(opening));
                }
                socket.open = Open::Connecting;
                self.open(index, false);
                self.opened += 1;
                let now = self.now;
                if let Some(endpoint) = &mut self.sockets[index].endpoint {
                    endpoint.connect(now);
                }
                self.settle(index);
                Ok(if waits { Outcome::Block } else { Outcome::Fail("EINPROGRESS") })
            }
        }
    }

    /// Bytes are written (Linux `tcp_sendmsg_locked`).
    pub(super) fn write(&mut self, args: &[Value], t: Transfer, progress: &mut Progress) -> Result<Outcome, Stop> {
        let index = self.stream(args)?;
        let unknown = t.flags & !(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR | MSG_MORE | MSG_ZEROCOPY | MSG_FASTOPEN);
        if unknown != 0 {
            return missing(flag_name(unknown));
        }
        let socket = &self.sockets[index];
        if matches!(args.get(1), Some(Value::Word(name)) if name == "NULL") && t.bytes > 0 && !socket.is_over() {
            return Ok(Outcome::Fail("EFAULT"));
        }
        let waits = !socket.nonblocking && t.flags & MSG_DONTWAIT == 0;
        let zerocopy = t.flags & MSG_ZEROCOPY != 0;
        let fast = t.flags & MSG_FASTOPEN != 0 || self.sockets[index].fast.deferred || progress.opened;
        if fast && let Some(outcome) = self.write_fast(index, args, &t, progress)? {
            return Ok(outcome);
        }
        if let Some(failed) = self.write_fails(index) {
            return Ok(if progress.moved > 0 { Outcome::Done(progress.moved as i64) } else { failed });
        }
        let socket = &mut self.sockets[index];
        let early = socket.endpoint.as_ref().is_some_and(|endpoint| endpoint.sends_early());
        if socket.state() < State::Established && !early {
            if let Some(endpoint) = socket.endpoint.as_mut().filter(|_| waits) {
                endpoint.set_writer_waits(true);
            }
            return Ok(self.stuck(index, 0, waits, zerocopy));
        }
        // A writer that waits for room is woken when there is enough of it.
        if progress.waits_for_room && self.sockets[index].no_space {
            return Ok(self.stuck(index, progress.moved, waits, zerocopy));
        }
        while progress.moved < t.bytes {
            let Some(endpoint) = &self.sockets[index].endpoint else { break };
            let window = endpoint.stats(self.now).max_rwin_rcvd;
            let goal = size_goal(endpoint, window);
            let room = self.sockets[index].queue.next_room(goal);
            if room == 0 {
                self.push_tail(index);
                progress.waits_for_room = true;
                self.settle(index);
                return Ok(self.stuck(index, progress.moved, waits, zerocopy));
            }
            let bytes = room.min(t.bytes - progress.moved);
            progress.moved += bytes;
            let last = progress.moved == t.bytes;
            self.append(index, bytes, goal, if last { t.flags } else { 0 });
            let push = self.sockets[index].queue.pushes(last, window);
            if let Some(endpoint) = &mut self.sockets[index].endpoint {
                endpoint.set_more(!push || (last && t.flags & MSG_MORE != 0));
            }
            if last {
                self.note_written(index, zerocopy);
            }
            if bytes == room || last {
                self.settle(index);
            }
        }
        Ok(Outcome::Done(progress.moved as i64))
    }

    /// A full buffer pushes what it holds.
    fn push_tail(&mut self, index: usize) {
        let socket = &mut self.sockets[index];
        socket.no_space = true;
        socket.queue.pushes(true, 0);
        if let Some(endpoint) = &mut socket.endpoint {
            endpoint.set_more(false);
        }
    }

    /// A writer has to wait, or returns with what it has moved.
    fn stuck(&mut self, index: usize, moved: u64, waits: bool, zerocopy: bool) -> Outcome {
        match (moved, waits) {
            (_, true) => Outcome::Block,
            (0, false) => Outcome::Fail("EAGAIN"),
            (moved, false) => {
                self.note_written(index, zerocopy);
                self.settle(index);
                Outcome::Done(moved as i64)
            }
        }
    }

    /// A write is over: its fate may be asked for.
    fn note_written(&mut self, index: usize, zerocopy: bool) {
        let socket = &mut self.sockets[index];
        socket.errors.written(socket.queue.written, zerocopy);
    }

    /// Why nothing can be written.
    fn write_fails(&mut self, index: usize) -> Option<Outcome> {
        let socket = &mut self.sockets[index];
        if let Some(error) = socket.error.take() {
            return Some(Outcome::Fail(error));
        }
        (socket.shut_write || socket.is_over()).then_some(Outcome::Fail("EPIPE"))
    }

    fn append(&mut self, index: usize, bytes: u64, goal: u64, flags: i64) {
        let now = self.now;
        let socket = &mut self.sockets[index];
        socket.queue.write(bytes, goal);
        if flags & MSG_EOR != 0 {
            socket.queue.end_record();
        }
        if let Some(endpoint) = &mut socket.endpoint {
            endpoint.write(now, bytes);
            if flags & MSG_EOR != 0 {
                endpoint.end_record();
            }
        }
    }

    /// Bytes are read (Linux `tcp_recvmsg_locked`).
    pub(super) fn read(&mut self, args: &[Value], t: Transfer) -> Result<Outcome, Stop> {
        let index = self.stream(args)?;
        let unknown = t.flags & !(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_PEEK | MSG_WAITALL);
        if unknown != 0 {
            return missing(flag_name(unknown));
        }
        let now = self.now;
        let socket = &mut self.sockets[index];
        let null = matches!(args.get(1), Some(Value::Word(name)) if name == "NULL");
        if socket.role == Role::Listener || (socket.role == Role::Fresh && !socket.fast.deferred) {
            return Ok(Outcome::Fail("ENOTCONN"));
        }
        let waits = !socket.nonblocking && t.flags & MSG_DONTWAIT == 0;
        let unread = socket.unread();
        let all = t.flags & MSG_WAITALL != 0 && waits && !socket.is_peer_closed() && !socket.is_over();
        if unread > 0 && t.bytes > 0 && !(all && unread < t.bytes) {
            if null {
                return Ok(Outcome::Fail("EFAULT"));
            }
            let taken = unread.min(t.bytes);
            if t.flags & MSG_PEEK == 0
                && let Some(endpoint) = &mut socket.endpoint
            {
                endpoint.read(now, taken);
                self.settle(index);
            }
            return Ok(Outcome::Done(taken as i64));
        }
        if unread == 0 && (socket.is_peer_closed() || socket.shut_read) {
            return Ok(Outcome::Done(0));
        }
        if let Some(error) = socket.error.take() {
            return Ok(Outcome::Fail(error));
        }
        if socket.is_over() && !socket.fast.deferred {
            return Ok(if socket.open == Open::Done { Outcome::Done(0) } else { Outcome::Fail("ENOTCONN") });
        }
        Ok(if waits { Outcome::Block } else { Outcome::Fail("EAGAIN") })
    }

    fn close(&mut self, args: &[Value]) -> Result<Outcome, Stop> {
        let fd = number(args, 0)?;
        let Some(descriptor) = self.descriptors.remove(&fd) else { return Ok(Outcome::Fail("EBADF")) };
        self.forget_descriptor(fd);
        let Descriptor::Socket(index) = descriptor else { return Ok(Outcome::Done(0)) };
        let now = self.now;
        let socket = &mut self.sockets[index];
        socket.orphan = true;
        if socket.role == Role::Listener {
            socket.role = Role::Fresh;
            return Ok(self.close_listener(index));
        }
        // What nobody has read was not delivered: the peer learns of it (RFC 2525 section 2.17).
        let (unread, aborts) = (socket.unread() > 0, socket.aborts);
        if let Some(endpoint) = &mut socket.endpoint {
            if unread {
                endpoint.abort_unread(now);
            } else if aborts {
                endpoint.abort(now);
            } else {
                endpoint.close(now);
                endpoint.orphan(now);
            }
        }
        self.settle(index);
        Ok(Outcome::Done(0))
    }

    /// Connections that nobody has accepted are reset (Linux `inet_child_forget`).
    fn close_listener(&mut self, index: usize) -> Outcome {
        let now = self.now;
        for child in std::mem::take(&mut self.sockets[index].arrived) {
            if let Some(endpoint) = &mut self.sockets[child].endpoint {
                endpoint.abort(now);
            }
            self.settle(child);
        }
        Outcome::Done(0)
    }

    fn shutdown(&mut self, args: &[Value]) -> Result<Outcome, Stop> {
        let (index, how) = (self.stream(args)?, number(args, 1)?);
        let now = self.now;
        let socket = &mut self.sockets[index];
        if !(0..=2).contains(&how) {
            return Ok(Outcome::Fail("EINVAL"));
        }
        if socket.is_over() {
            return Ok(Outcome::Fail("ENOTCONN"));
        }
        socket.shut_read |= how != 1;
        if how != 0 && !socket.shut_write {
            socket.shut_write = true;
            if let Some(endpoint) = &mut socket.endpoint {
                endpoint.close(now);
            }
        }
        self.settle(index);
        self.wake(index, crate::symbols::POLLIN | crate::symbols::POLLOUT | crate::symbols::POLLHUP);
        Ok(Outcome::Done(0))
    }

    fn fcntl(&mut self, args: &[Value]) -> Result<Outcome, Stop> {
        let index = self.stream(args)?;
        let socket = &mut self.sockets[index];
        match number(args, 1)? {
            3 => Ok(Outcome::Done(O_RDWR | if socket.nonblocking { O_NONBLOCK } else { 0 })),
            4 => {
                socket.nonblocking = number(args, 2)? & O_NONBLOCK != 0;
                Ok(Outcome::Done(0))
            }
            other => missing(format!("fcntl() {other}")),
        }
    }

    /// Bytes to be read, not acknowledged, or not sent (`tcp_ioctl`).
    fn ioctl(&mut self, args: &[Value]) -> Result<Outcome, Stop> {
        let (index, what) = (self.stream(args)?, number(args, 1)?);
        let socket = &self.sockets[index];
        if socket.role == Role::Listener {
            return Ok(Outcome::Fail("EINVAL"));
        }
        let got = match what {
            0x541B => socket.unread(),
            0x5411 => socket.queue.unacked(),
            0x894B => socket.queue.unsent(),
            other => return missing(format!("ioctl() {other:#x}")),
        };
        let Some(expected) = args.get(2).filter(|value| !is_open(value)) else { return Ok(Outcome::Done(0)) };
        if expected.boxed().map_err(Stop::CannotRun)? != got as i64 {
            return Err(Stop::differs(expected.to_string(), format!("[{got}]")));
        }
        Ok(Outcome::Done(0))
    }
}

/// `...` or `[...]`.
pub(super) fn is_open(value: &Value) -> bool {
    match value {
        Value::Ellipsis => true,
        Value::Array(items) => items.iter().any(is_open),
        _ => false,
    }
}

pub(super) fn flag_name(flags: i64) -> String {
    let lowest = flags & flags.wrapping_neg();
    named(&["MSG_"], lowest).map_or_else(|| format!("message flags {flags:#x}"), str::to_owned)
}
