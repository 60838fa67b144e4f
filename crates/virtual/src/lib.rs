//! Sockets over a simulated network, in virtual time.
//!
//! Programs open connections and send datagrams as on Linux, without blocking; the network of a scenario carries them: its links, its
//! queues, its TCP. Time passes in [`Network::wait`] alone, which runs the network until something is ready. Bytes do not travel
//! through the simulation: it carries lengths, the contents lie beside it.
//!
//! The calls are those of the socket interface ([`Network::connect`], [`Network::send`], [`Network::recv`] ...), with the results and
//! errors of Linux ([`Errno`]). What is ready is told as `epoll` tells it, by level.
//!
//! Left out: fragmentation of datagrams (one that does not fit into a packet is refused, EMSGSIZE), the limit on the rate of ICMP
//! messages, and final ACKs that Linux drops when the queue of a listener is full.
//!
//! `examples/replicas.rs` is a program in a page.

#![forbid(unsafe_code)]

mod content;
mod datagram;
mod errno;
mod line;
mod listener;
mod local;
mod options;
mod ports;
mod stream;
mod wait;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use elephan_record::Recorder;
use elephan_scenario::{NodeKind, Plan};
use elephan_sim::{Address, Error};
use elephan_units::Time;
use serde_json::Value;

pub use elephan_sim::Progress;
pub use errno::Errno;
pub use options::Setting;

use datagram::{Datagrams, Letters};
use line::Line;
use listener::Listener;
use local::Local;
use ports::Ports;
use stream::{Held, Stream};
use wait::Watched;

/// A descriptor: no number that an operating system gives.
pub type Fd = u32;
/// The first descriptor.
pub const FIRST_FD: Fd = 1 << 20;

/// There is something to read: data, the end of a stream, an error, a connection to accept.
pub const READABLE: u8 = 1;
/// There is room to write, or an attempt to connect has ended.
pub const WRITABLE: u8 = 2;

/// What a socket carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Stream,
    Datagram,
}

/// Which directions [`Network::shutdown`] ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Read,
    Write,
    Both,
}

/// A host of the scenario, as programs name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its number is its place in [`Network::hosts`].
    pub name: String,
    pub ipv4: Ipv4Addr,
    pub ipv6: Ipv6Addr,
    node: u32,
}

/// What a descriptor stands for.
#[derive(Debug)]
enum Socket {
    /// A stream that neither listens nor connects yet.
    Fresh {
        at: Option<Address>,
        host: u32,
        settings: Vec<Setting>,
    },
    Listener(Listener),
    Stream(Box<Stream>),
    Datagrams(Box<Datagrams>),
}

/// A simulated network and the sockets of the programs on its hosts.
pub struct Network {
    sim: elephan_sim::Network,
    hosts: Vec<Host>,
    sockets: BTreeMap<Fd, Socket>,
    next: Fd,
    ports: Ports,
    /// What the ends of connections have written and the others not read, by call.
    contents: BTreeMap<u32, Held>,
    locals: Vec<Local>,
    /// Descriptors of ends of connections, and of addresses that datagrams go to or listeners have.
    by_line: BTreeMap<Line, Fd>,
    by_address: BTreeMap<(Kind, Address), Fd>,
    letters: BTreeMap<(Address, Address), Letters>,
    /// A link gives datagrams twice: contents are kept for the second.
    duplicates: bool,
    watched: Watched,
}

impl Network {
    /// The network of a scenario at its beginning. Traffic of kind `program` says which hosts may talk to each other, and how.
    pub fn new(plan: Arc<Plan>, recorder: Recorder) -> Result<Network, Error> {
        let hosts = hosts(&plan);
        let duplicates = plan.links.iter().any(|link| link.impairments.duplicate > 0.0);
        let sim = elephan_sim::Network::new(plan, recorder)?;
        Ok(Network {
            sim,
            hosts,
            sockets: BTreeMap::new(),
            next: FIRST_FD,
            ports: Ports::default(),
            contents: BTreeMap::new(),
            locals: Vec::new(),
            by_line: BTreeMap::new(),
            by_address: BTreeMap::new(),
            letters: BTreeMap::new(),
            duplicates,
            watched: Watched::default(),
        })
    }

    /// Returns the time.
    pub fn now(&self) -> Time {
        self.sim.now()
    }

    /// Returns when the scenario ends: time does not go further.
    pub fn end(&self) -> Time {
        self.sim.plan().duration
    }

    /// Returns the hosts, by number.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// A new socket of a host.
    pub fn socket(&mut self, host: usize, kind: Kind) -> Result<Fd, Errno> {
        let host = self.hosts.get(host).ok_or(Errno::Invalid)?.node;
        let socket = match kind {
            Kind::Stream => Socket::Fresh { at: None, host, settings: Vec::new() },
            Kind::Datagram => Socket::Datagrams(Box::new(Datagrams::new(host))),
        };
        Ok(self.add(socket))
    }

    fn add(&mut self, socket: Socket) -> Fd {
        let fd = self.next;
        self.next += 1;
        self.sockets.insert(fd, socket);
        fd
    }

    /// Gives a socket a port of its host, any if it is 0.
    pub fn bind(&mut self, fd: Fd, port: u16) -> Result<(), Errno> {
        let socket = self.sockets.get_mut(&fd).ok_or(Errno::BadDescriptor)?;
        let (kind, at, host) = match socket {
            Socket::Fresh { at, host, .. } => (Kind::Stream, at, *host),
            Socket::Datagrams(datagrams) => {
                let host = datagrams.host;
                (Kind::Datagram, &mut datagrams.at, host)
            }
            Socket::Listener(_) | Socket::Stream(_) => return Err(Errno::Invalid),
        };
        if at.is_some() {
            return Err(Errno::Invalid);
        }
        let taken = self.ports.take(kind, Address { host, port })?;
        *at = Some(taken);
        if kind == Kind::Datagram {
            self.by_address.insert((kind, taken), fd);
        }
        Ok(())
    }

    /// The address of a socket, once it has one: host and port.
    pub fn name(&self, fd: Fd) -> Result<(usize, u16), Errno> {
        let (host, at) = match self.sockets.get(&fd).ok_or(Errno::BadDescriptor)? {
            Socket::Fresh { at, host, .. } => (*host, *at),
            Socket::Listener(listener) => (listener.at.host, Some(listener.at)),
            Socket::Stream(stream) => (stream.at.host, Some(stream.at)),
            Socket::Datagrams(datagrams) => (datagrams.host, datagrams.at),
        };
        Ok((self.number_of(host), at.map_or(0, |at| at.port)))
    }

    /// The address that a socket is connected to.
    pub fn peer(&self, fd: Fd) -> Result<(usize, u16), Errno> {
        let peer = match self.sockets.get(&fd).ok_or(Errno::BadDescriptor)? {
            Socket::Stream(stream) if stream.has_peer() => Some(stream.peer),
            Socket::Datagrams(datagrams) => datagrams.peer,
            _ => None,
        };
        peer.map(|peer| (self.number_of(peer.host), peer.port)).ok_or(Errno::NotConnected)
    }

    /// Connects a socket: a stream begins to (`InProgress`), datagrams have their destination from now on.
    pub fn connect(&mut self, fd: Fd, host: usize, port: u16) -> Result<(), Errno> {
        let to = Address { host: self.hosts.get(host).ok_or(Errno::NetworkUnreachable)?.node, port };
        match self.sockets.get_mut(&fd).ok_or(Errno::BadDescriptor)? {
            Socket::Fresh { .. } => self.open(fd, to),
            Socket::Listener(_) => Err(Errno::IsConnected),
            Socket::Stream(_) => self.connect_again(fd),
            Socket::Datagrams(datagrams) => {
                datagrams.peer = Some(to);
                if datagrams.at.is_some() { Ok(()) } else { self.bind(fd, 0) }
            }
        }
    }

    /// Writes: to the peer of a socket. Returns how many bytes were taken.
    pub fn send(&mut self, fd: Fd, data: &[u8]) -> Result<usize, Errno> {
        match self.sockets.get(&fd).ok_or(Errno::BadDescriptor)? {
            Socket::Stream(_) => self.write_stream(fd, data),
            Socket::Datagrams(datagrams) => {
                let to = datagrams.peer.ok_or(Errno::DestinationRequired)?;
                self.send_letter(fd, data, to)
            }
            Socket::Fresh { .. } | Socket::Listener(_) => Err(Errno::BrokenPipe),
        }
    }

    /// Reads `most` bytes of a stream, none at its end; of a datagram the first `most`. With `peek` they are there to be read again.
    pub fn recv(&mut self, fd: Fd, most: usize, peek: bool) -> Result<Vec<u8>, Errno> {
        match self.sockets.get(&fd).ok_or(Errno::BadDescriptor)? {
            Socket::Stream(_) => self.read_stream(fd, most, peek),
            Socket::Datagrams(_) => self.take_letter(fd, most, peek).map(|(bytes, _)| bytes),
            Socket::Fresh { .. } | Socket::Listener(_) => Err(Errno::NotConnected),
        }
    }

    /// Sends a datagram to a port of a host.
    pub fn send_to(&mut self, fd: Fd, data: &[u8], host: usize, port: u16) -> Result<usize, Errno> {
        let to = Address { host: self.hosts.get(host).ok_or(Errno::NetworkUnreachable)?.node, port };
        match self.sockets.get(&fd).ok_or(Errno::BadDescriptor)? {
            Socket::Datagrams(_) => self.send_letter(fd, data, to),
            Socket::Stream(_) => self.send(fd, data),
            Socket::Fresh { .. } | Socket::Listener(_) => Err(Errno::BrokenPipe),
        }
    }

    /// Takes a datagram, and from where it came: host and port.
    pub fn recv_from(&mut self, fd: Fd, most: usize) -> Result<(Vec<u8>, usize, u16), Errno> {
        match self.sockets.get(&fd).ok_or(Errno::BadDescriptor)? {
            Socket::Datagrams(_) => {
                let (bytes, from) = self.take_letter(fd, most, false)?;
                Ok((bytes, self.number_of(from.host), from.port))
            }
            _ => {
                let bytes = self.recv(fd, most, false)?;
                let (host, port) = self.peer(fd)?;
                Ok((bytes, host, port))
            }
        }
    }

    /// The error of a socket (`SO_ERROR`), which is forgotten then.
    pub fn error(&mut self, fd: Fd) -> Result<Option<Errno>, Errno> {
        match self.sockets.get_mut(&fd).ok_or(Errno::BadDescriptor)? {
            Socket::Stream(stream) => Ok(stream.error.take()),
            Socket::Datagrams(datagrams) => Ok(datagrams.error.take()),
            Socket::Fresh { .. } | Socket::Listener(_) => Ok(None),
        }
    }

    /// Ends one or both directions of a connection.
    pub fn shutdown(&mut self, fd: Fd, how: How) -> Result<(), Errno> {
        match self.sockets.get(&fd).ok_or(Errno::BadDescriptor)? {
            Socket::Stream(_) => self.shut_stream(fd, how),
            Socket::Datagrams(datagrams) if datagrams.peer.is_some() => Ok(()),
            _ => Err(Errno::NotConnected),
        }
    }

    /// Closes a descriptor. What was written is still delivered; a stream with data that was not read is reset.
    pub fn close(&mut self, fd: Fd) -> Result<(), Errno> {
        let socket = self.sockets.remove(&fd).ok_or(Errno::BadDescriptor)?;
        self.watched.forget(fd);
        match socket {
            Socket::Fresh { at, .. } => {
                if let Some(at) = at {
                    self.ports.release(Kind::Stream, at);
                }
            }
            Socket::Listener(listener) => self.close_listener(listener),
            Socket::Stream(stream) => self.close_stream(*stream),
            Socket::Datagrams(datagrams) => {
                if let Some(at) = datagrams.at {
                    self.by_address.remove(&(Kind::Datagram, at));
                    self.ports.release(Kind::Datagram, at);
                }
            }
        }
        Ok(())
    }

    fn number_of(&self, node: u32) -> usize {
        self.hosts.iter().position(|host| host.node == node).unwrap_or_default()
    }

    /// Closes the books of the network. Returns the summary, and the recorder with the rows of its tables.
    pub fn finish(self) -> Result<(Value, Recorder), Error> {
        self.sim.finish()
    }
}

/// The hosts of a scenario. Addresses are those that captures show.
fn hosts(plan: &Plan) -> Vec<Host> {
    let one = |(node, of): (u32, &elephan_scenario::Node)| {
        let [_, x, y, z] = (node + 1).to_be_bytes();
        Host {
            name: of.name.clone(),
            ipv4: Ipv4Addr::new(10, x, y, z),
            ipv6: Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, u16::from_be_bytes([10, x]), u16::from_be_bytes([y, z])),
            node,
        }
    };
    (0..).zip(&plan.nodes).filter(|(_, node)| node.kind == NodeKind::Host).map(one).collect()
}
