//! Sockets that listen.

use std::collections::VecDeque;

use elephan_sim::{Address, End};

use crate::line::Line;
use crate::options::Setting;
use crate::stream::Stream;
use crate::{Errno, Fd, Kind, Network, READABLE, Socket};

/// `net.core.somaxconn`: connections that may wait to be accepted at most.
const SOMAXCONN: usize = 4096;

#[derive(Debug)]
pub(crate) struct Listener {
    pub at: Address,
    backlog: usize,
    pub arrived: VecDeque<(Line, Address)>,
    /// What connections that come inherit.
    pub settings: Vec<Setting>,
}

impl Listener {
    pub fn poll(&self) -> u8 {
        if self.arrived.is_empty() { 0 } else { READABLE }
    }

    fn is_full(&self) -> bool {
        self.arrived.len() > self.backlog
    }
}

impl Network {
    /// Lets connections to the port of a socket come; `backlog` of them may wait to be accepted.
    pub fn listen(&mut self, fd: Fd, backlog: usize) -> Result<(), Errno> {
        let backlog = backlog.min(SOMAXCONN);
        if let Some(Socket::Fresh { at: None, .. }) = self.sockets.get(&fd) {
            self.bind(fd, 0)?;
        }
        let (at, settings) = match self.sockets.get_mut(&fd).ok_or(Errno::BadDescriptor)? {
            Socket::Fresh { at: Some(at), settings, .. } => (*at, std::mem::take(settings)),
            Socket::Listener(listener) => {
                listener.backlog = backlog;
                self.sim.listen(listener.at, backlog);
                return Ok(());
            }
            Socket::Fresh { .. } | Socket::Stream(_) => return Err(Errno::Invalid),
            Socket::Datagrams(_) => return Err(Errno::NotSupported),
        };
        self.sim.listen(at, backlog);
        self.by_address.insert((Kind::Stream, at), fd);
        let listener = Listener { at, backlog, arrived: VecDeque::new(), settings };
        self.sockets.insert(fd, Socket::Listener(listener));
        Ok(())
    }

    /// Takes a connection that has come: its descriptor, and the host and the port of its peer.
    pub fn accept(&mut self, fd: Fd) -> Result<(Fd, usize, u16), Errno> {
        let listener = match self.sockets.get_mut(&fd).ok_or(Errno::BadDescriptor)? {
            Socket::Listener(listener) => listener,
            Socket::Datagrams(_) => return Err(Errno::NotSupported),
            Socket::Fresh { .. } | Socket::Stream(_) => return Err(Errno::Invalid),
        };
        let (line, peer) = listener.arrived.pop_front().ok_or(Errno::Again)?;
        let (at, settings) = (listener.at, listener.settings.clone());
        if let Line::Network(end) = line {
            self.sim.accept(end);
        }
        let child = self.add(Socket::Stream(Box::new(Stream::accepted(line, at, peer))));
        self.by_line.insert(line, child);
        for setting in settings {
            self.set(child, setting)?;
        }
        Ok((child, self.number_of(peer.host), peer.port))
    }

    /// A connection has come to a port.
    pub(crate) fn came(&mut self, end: End) {
        let Some([at, peer]) = self.sim.addresses(end) else { return };
        let listener = self.by_address.get(&(Kind::Stream, at)).copied();
        let Some((fd, Socket::Listener(listener))) = listener.and_then(|fd| Some((fd, self.sockets.get_mut(&fd)?)))
        else {
            self.sim.leave(end);
            self.sim.act(end, |now, endpoint| endpoint.abort(now));
            return;
        };
        listener.arrived.push_back((Line::Network(end), peer));
        if let Some(held) = self.contents.get_mut(&end.call) {
            held.closed[1] = false;
        }
        self.watched.heat(fd);
    }

    /// A host connects to a port of its own; says whether somebody listens there and has room.
    pub(crate) fn came_within(&mut self, at: Address, line: Line, peer: Address) -> Result<(), Errno> {
        let fd = *self.by_address.get(&(Kind::Stream, at)).ok_or(Errno::ConnectionRefused)?;
        let Some(Socket::Listener(listener)) = self.sockets.get_mut(&fd) else { return Err(Errno::ConnectionRefused) };
        if listener.is_full() {
            return Err(Errno::TimedOut);
        }
        listener.arrived.push_back((line, peer));
        self.watched.heat(fd);
        Ok(())
    }

    /// Connections that nobody has accepted are reset (Linux `inet_child_forget`).
    pub(crate) fn close_listener(&mut self, listener: Listener) {
        self.sim.unlisten(listener.at);
        self.by_address.remove(&(Kind::Stream, listener.at));
        self.ports.release(Kind::Stream, listener.at);
        for (line, _) in listener.arrived {
            self.leave_line(line, true);
        }
    }
}
