//! Streams: one end of a connection, as its application has it.

use elephan_sim::{Address, Fate, Status};
use elephan_tcp::{SEND_BUFFER, SendQueue, size_goal};

use crate::content::Content;
use crate::line::Line;
use crate::local::Local;
use crate::{Errno, Fd, How, Kind, Network, READABLE, Socket, WRITABLE};

/// What both ends of a call have written, and which of them nobody has any more.
#[derive(Debug, Default)]
pub(crate) struct Held {
    content: [Content; 2],
    pub closed: [bool; 2],
}

#[derive(Debug)]
pub(crate) struct Stream {
    pub line: Line,
    pub at: Address,
    pub peer: Address,
    pub queue: SendQueue,
    /// The error that the next call reports.
    pub error: Option<Errno>,
    /// Close resets.
    pub aborts: bool,
    connecting: bool,
    /// The port is its own, not that of a listener.
    owns_port: bool,
    shut_read: bool,
    shut_write: bool,
    /// A write or a poll found the buffer full.
    no_space: bool,
    was_up: bool,
    fate: Option<Fate>,
    /// Bytes that were read when the connection was over.
    read_late: u64,
}

impl Stream {
    fn new(line: Line, at: Address, peer: Address) -> Stream {
        Stream {
            line,
            at,
            peer,
            queue: SendQueue::new(SEND_BUFFER, u64::MAX),
            error: None,
            aborts: false,
            connecting: false,
            owns_port: false,
            shut_read: false,
            shut_write: false,
            no_space: false,
            was_up: false,
            fate: None,
            read_late: 0,
        }
    }

    /// The end of a connection that was accepted.
    pub fn accepted(line: Line, at: Address, peer: Address) -> Stream {
        Stream { was_up: true, ..Stream::new(line, at, peer) }
    }

    /// Whether it is connected.
    pub fn has_peer(&self) -> bool {
        self.was_up && self.fate.is_none()
    }

    /// Takes over what has become of its connection.
    fn note(&mut self, status: Status) {
        self.was_up |= status.up;
        if self.fate.is_none() && status.fate.is_some() {
            self.fate = status.fate;
            self.error = match status.fate {
                Some(Fate::Refused) => Some(Errno::ConnectionRefused),
                Some(Fate::Reset) => Some(Errno::ConnectionReset),
                Some(Fate::Broken) => Some(Errno::BrokenPipe),
                Some(Fate::TimedOut) => Some(Errno::TimedOut),
                Some(Fate::Closed) | None => None,
            };
        }
    }
}

impl Network {
    /// Begins to connect a fresh socket.
    pub(crate) fn open(&mut self, fd: Fd, to: Address) -> Result<(), Errno> {
        if let Some(Socket::Fresh { at: None, .. }) = self.sockets.get(&fd) {
            self.bind(fd, 0)?;
        }
        let Some(Socket::Fresh { at: Some(at), settings, .. }) = self.sockets.get(&fd) else {
            return Err(Errno::Invalid);
        };
        let (at, settings) = (*at, settings.clone());
        if to.host == at.host {
            return self.open_within(fd, at, to);
        }
        let end = self.sim.connect(at, to, &mut |now, endpoint| {
            settings.iter().for_each(|setting| setting.apply(now, endpoint));
        });
        let end = end.ok_or(Errno::NetworkUnreachable)?;
        self.contents.insert(end.call, Held { closed: [false, true], ..Held::default() });
        let line = Line::Network(end);
        let stream = Stream { connecting: true, owns_port: true, ..Stream::new(line, at, to) };
        self.sockets.insert(fd, Socket::Stream(Box::new(stream)));
        self.by_line.insert(line, fd);
        for setting in settings {
            self.set(fd, setting)?;
        }
        Err(Errno::InProgress)
    }

    /// A connection of a host to itself is there at once.
    fn open_within(&mut self, fd: Fd, at: Address, to: Address) -> Result<(), Errno> {
        let pair = self.locals.len() as u32;
        self.came_within(to, Line::Local(pair, 1), at)?;
        self.locals.push(Local::default());
        let line = Line::Local(pair, 0);
        let stream = Stream { owns_port: true, was_up: true, ..Stream::new(line, at, to) };
        self.sockets.insert(fd, Socket::Stream(Box::new(stream)));
        self.by_line.insert(line, fd);
        Ok(())
    }

    /// `connect` of a socket that has begun to.
    pub(crate) fn connect_again(&mut self, fd: Fd) -> Result<(), Errno> {
        let stream = self.stream(fd)?;
        if let Some(error) = stream.error.take() {
            return Err(error);
        }
        match (stream.connecting, stream.was_up) {
            (true, false) => Err(Errno::Already),
            (true, true) => {
                stream.connecting = false;
                Ok(())
            }
            _ => Err(Errno::IsConnected),
        }
    }

    /// A stream, brought up to date.
    fn stream(&mut self, fd: Fd) -> Result<&mut Stream, Errno> {
        let Some(Socket::Stream(stream)) = self.sockets.get(&fd) else { return Err(Errno::BadDescriptor) };
        let status = self.status(stream.line);
        match self.sockets.get_mut(&fd) {
            Some(Socket::Stream(stream)) => {
                stream.note(status);
                Ok(stream)
            }
            _ => Err(Errno::BadDescriptor),
        }
    }

    /// Writes what the send buffer takes.
    pub(crate) fn write_stream(&mut self, fd: Fd, data: &[u8]) -> Result<usize, Errno> {
        let stream = self.stream(fd)?;
        if let Some(error) = stream.error.take() {
            return Err(error);
        }
        if stream.shut_write || stream.fate.is_some() {
            return Err(Errno::BrokenPipe);
        }
        if !stream.was_up {
            return Err(Errno::Again);
        }
        let line = stream.line;
        let taken = match line {
            Line::Network(_) => self.buffer(fd, data.len()),
            Line::Local(pair, side) => self.locals[pair as usize].room(side).min(data.len()),
        };
        let stream = self.stream(fd)?;
        stream.no_space |= taken < data.len();
        if taken == 0 && !data.is_empty() {
            return Err(Errno::Again);
        }
        match line {
            Line::Network(end) => {
                if let Some(held) = self.contents.get_mut(&end.call) {
                    held.content[usize::from(end.side)].push(&data[..taken]);
                }
                self.sim.write(end, &data[..taken]);
            }
            Line::Local(pair, side) => {
                self.locals[pair as usize].write(side, &data[..taken]);
                self.heat_local(pair);
            }
        }
        Ok(taken)
    }

    /// How many of `bytes` go into the send buffer, which has them then (Linux `tcp_sendmsg_locked`).
    fn buffer(&mut self, fd: Fd, bytes: usize) -> usize {
        let Some(Socket::Stream(stream)) = self.sockets.get_mut(&fd) else { return 0 };
        let Line::Network(end) = stream.line else { return 0 };
        let Some(endpoint) = self.sim.endpoint(end) else { return 0 };
        stream.queue.settle(endpoint);
        let goal = size_goal(endpoint, endpoint.stats(self.sim.now()).max_rwin_rcvd);
        let mut left = bytes as u64;
        while left > 0 {
            let room = stream.queue.next_room(goal).min(left);
            if room == 0 {
                break;
            }
            stream.queue.write(room, goal);
            left -= room;
        }
        bytes - left as usize
    }

    pub(crate) fn read_stream(&mut self, fd: Fd, most: usize, peek: bool) -> Result<Vec<u8>, Errno> {
        let stream = self.stream(fd)?;
        let (line, shut_read, fate, read_late) = (stream.line, stream.shut_read, stream.fate, stream.read_late);
        let status = self.status(line);
        let unread = status.unread.saturating_sub(read_late);
        let taken = unread.min(most as u64);
        if taken > 0 {
            return Ok(self.take_bytes(fd, line, taken as usize, peek));
        }
        if unread == 0 && (status.fin || shut_read) || most == 0 {
            return Ok(Vec::new());
        }
        let stream = self.stream(fd)?;
        match stream.error.take() {
            Some(error) => Err(error),
            None if fate.is_some() => Ok(Vec::new()),
            None => Err(Errno::Again),
        }
    }

    fn take_bytes(&mut self, fd: Fd, line: Line, most: usize, peek: bool) -> Vec<u8> {
        let end = match line {
            Line::Network(end) => end,
            Line::Local(pair, side) => {
                let bytes = self.locals[pair as usize].read(side, most, peek);
                self.heat_local(pair);
                return bytes;
            }
        };
        let Some(held) = self.contents.get_mut(&end.call) else { return Vec::new() };
        let content = &mut held.content[usize::from(end.peer().side)];
        if peek {
            let mut bytes = Vec::new();
            content.peek(most, &mut bytes);
            return bytes;
        }
        let bytes = content.take(most);
        let read = self.sim.act(end, |now, endpoint| endpoint.read(now, bytes.len() as u64));
        if read.is_none()
            && let Some(Socket::Stream(stream)) = self.sockets.get_mut(&fd)
        {
            stream.read_late += bytes.len() as u64;
        }
        bytes
    }

    pub(crate) fn shut_stream(&mut self, fd: Fd, how: How) -> Result<(), Errno> {
        let stream = self.stream(fd)?;
        if !stream.was_up || stream.fate.is_some() {
            return Err(Errno::NotConnected);
        }
        stream.shut_read |= how != How::Write;
        let ends = how != How::Read && !stream.shut_write;
        stream.shut_write |= ends;
        let line = stream.line;
        if ends {
            match line {
                Line::Network(end) => {
                    self.sim.act(end, |now, endpoint| endpoint.close(now));
                }
                Line::Local(pair, side) => {
                    self.locals[pair as usize].end(side);
                    self.heat_local(pair);
                }
            }
        }
        self.watched.heat(fd);
        Ok(())
    }

    pub(crate) fn close_stream(&mut self, stream: Stream) {
        self.by_line.remove(&stream.line);
        if stream.owns_port {
            self.ports.release(Kind::Stream, stream.at);
        }
        self.leave_line(stream.line, stream.aborts);
    }

    /// An application gives up its end: what it has not read was not delivered, so that the peer learns of it (RFC 2525 section
    /// 2.17).
    pub(crate) fn leave_line(&mut self, line: Line, aborts: bool) {
        let end = match line {
            Line::Network(end) => end,
            Line::Local(pair, side) => {
                self.locals[pair as usize].close(side, aborts);
                return self.heat_local(pair);
            }
        };
        self.sim.leave(end);
        self.sim.act(end, |now, endpoint| {
            if endpoint.unread() > 0 {
                endpoint.abort_unread(now);
            } else if aborts {
                endpoint.abort(now);
            } else {
                endpoint.close(now);
                endpoint.orphan(now);
            }
        });
        if let Some(held) = self.contents.get_mut(&end.call) {
            held.closed[usize::from(end.side)] = true;
            if held.closed == [true; 2] {
                self.contents.remove(&end.call);
            }
        }
    }

    /// Both ends of a connection within a host look again.
    fn heat_local(&mut self, pair: u32) {
        for side in 0..2 {
            if let Some(&fd) = self.by_line.get(&Line::Local(pair, side)) {
                self.watched.heat(fd);
            }
        }
    }

    /// Something has changed at a stream: a send buffer that was full may grow.
    pub(crate) fn changed(&mut self, fd: Fd) {
        let Ok(stream) = self.stream(fd) else { return };
        let (line, begins, full) = (stream.line, stream.connecting && stream.was_up, stream.no_space);
        let (Line::Network(end), true) = (line, begins || full) else { return };
        let Some(endpoint) = self.sim.endpoint(end) else { return };
        let info = endpoint.info(self.sim.now());
        let sent = info.unacked + info.retrans;
        let out = sent - (info.sacked + info.lost).min(sent);
        if let Some(Socket::Stream(stream)) = self.sockets.get_mut(&fd)
            && (begins || out < info.snd_cwnd)
        {
            stream.queue.expand(&info);
        }
    }

    /// What is ready at a stream (Linux `tcp_poll`).
    pub(crate) fn poll_stream(&mut self, fd: Fd) -> u8 {
        let Ok(stream) = self.stream(fd) else { return 0 };
        let (line, was_up, fate) = (stream.line, stream.was_up, stream.fate);
        let (shut_read, shut_write, read_late) = (stream.shut_read, stream.shut_write, stream.read_late);
        if fate.is_some() {
            return READABLE | WRITABLE;
        }
        if !was_up {
            return 0;
        }
        let status = self.status(line);
        let readable = status.unread > read_late || status.fin || shut_read;
        let writable = shut_write || self.has_room(fd, line);
        (u8::from(readable) * READABLE) | (u8::from(writable) * WRITABLE)
    }

    fn has_room(&mut self, fd: Fd, line: Line) -> bool {
        let end = match line {
            Line::Network(end) => end,
            Line::Local(pair, side) => return self.locals[pair as usize].room(side) > 0,
        };
        let Some(Socket::Stream(stream)) = self.sockets.get_mut(&fd) else { return false };
        let Some(endpoint) = self.sim.endpoint(end) else { return true };
        stream.queue.settle(endpoint);
        let writable = stream.queue.is_writable();
        stream.no_space = !writable;
        if !writable {
            self.sim.wait_for_room(end);
        }
        writable
    }
}
