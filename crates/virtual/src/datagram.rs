//! Datagrams, and the messages of ICMP that answer those for which nobody waits.

use std::collections::{BTreeMap, VecDeque};

use elephan_sim::Address;

use crate::{Errno, Fd, Kind, Network, READABLE, Socket, WRITABLE};

/// `net.core.rmem_default`: what may wait to be read at a socket.
const ROOM_BYTES: usize = 212_992;
/// What Linux charges for a datagram beside its bytes (`SKB_TRUESIZE`, rounded).
const CHARGED_BYTES: usize = 768;
/// Bytes of a datagram that IP may carry at most.
const MOST_BYTES: usize = 65_507;
/// Numbers behind the newest for which what was sent is kept.
const KEPT: u32 = 1 << 16;

/// What a packet of UDP or ICMP says.
#[derive(Clone, Debug)]
pub(crate) enum Letter {
    Datagram(Vec<u8>),
    /// Nobody waits for datagrams at the port that this comes from.
    Unreachable,
}

#[derive(Debug)]
pub(crate) struct Datagrams {
    pub host: u32,
    pub at: Option<Address>,
    pub peer: Option<Address>,
    pub error: Option<Errno>,
    waiting: VecDeque<(Vec<u8>, Address)>,
    charged: usize,
}

impl Datagrams {
    pub fn new(host: u32) -> Datagrams {
        Datagrams { host, at: None, peer: None, error: None, waiting: VecDeque::new(), charged: 0 }
    }

    pub fn poll(&self) -> u8 {
        let readable = !self.waiting.is_empty() || self.error.is_some();
        WRITABLE | (u8::from(readable) * READABLE)
    }

    /// A datagram is in; one that finds no room is lost.
    fn take(&mut self, bytes: Vec<u8>, from: Address) {
        let charge = bytes.len() + CHARGED_BYTES;
        if self.charged + charge <= ROOM_BYTES || self.waiting.is_empty() {
            self.charged += charge;
            self.waiting.push_back((bytes, from));
        }
    }
}

impl Network {
    fn datagrams(&mut self, fd: Fd) -> Result<&mut Datagrams, Errno> {
        match self.sockets.get_mut(&fd) {
            Some(Socket::Datagrams(datagrams)) => Ok(datagrams),
            _ => Err(Errno::BadDescriptor),
        }
    }

    pub(crate) fn send_letter(&mut self, fd: Fd, data: &[u8], to: Address) -> Result<usize, Errno> {
        let datagrams = self.datagrams(fd)?;
        if let Some(error) = datagrams.error.take() {
            return Err(error);
        }
        if datagrams.at.is_none() {
            self.bind(fd, 0)?;
        }
        let from = self.datagrams(fd)?.at.ok_or(Errno::Invalid)?;
        if to.port == 0 {
            return Err(Errno::Invalid);
        }
        if data.len() > MOST_BYTES {
            return Err(Errno::MessageTooLong);
        }
        if to.host == from.host {
            self.letter_arrived(from, to, Letter::Datagram(data.to_vec()));
            return Ok(data.len());
        }
        let most = self.sim.datagram_max(from.host, to.host).ok_or(Errno::NetworkUnreachable)?;
        if data.len() as u64 > most {
            return Err(Errno::MessageTooLong);
        }
        let number = self.sim.send_datagram(from, to, data).ok_or(Errno::NetworkUnreachable)?;
        self.keep(from, to, number, Letter::Datagram(data.to_vec()));
        Ok(data.len())
    }

    /// Keeps what the network brings.
    fn keep(&mut self, from: Address, to: Address, number: u32, letter: Letter) {
        let letters = self.letters.entry((from, to)).or_default();
        letters.insert(number, letter);
        while letters.first_key_value().is_some_and(|(&first, _)| number.wrapping_sub(first) > KEPT) {
            letters.pop_first();
        }
    }

    pub(crate) fn take_letter(&mut self, fd: Fd, most: usize, peek: bool) -> Result<(Vec<u8>, Address), Errno> {
        let datagrams = self.datagrams(fd)?;
        if let Some(error) = datagrams.error.take() {
            return Err(error);
        }
        let (mut bytes, from) = match datagrams.waiting.front() {
            Some(first) if peek => first.clone(),
            Some(_) => datagrams.waiting.pop_front().ok_or(Errno::Again)?,
            None => return Err(Errno::Again),
        };
        if !peek {
            datagrams.charged -= bytes.len() + CHARGED_BYTES;
        }
        bytes.truncate(most);
        Ok((bytes, from))
    }

    /// The network has brought the letter of this number.
    pub(crate) fn letter_came(&mut self, from: Address, to: Address, number: u32) {
        let Some(letters) = self.letters.get_mut(&(from, to)) else { return };
        let letter = if self.duplicates { letters.get(&number).cloned() } else { letters.remove(&number) };
        if let Some(letter) = letter {
            self.letter_arrived(from, to, letter);
        }
    }

    fn letter_arrived(&mut self, from: Address, to: Address, letter: Letter) {
        let place = self.by_address.get(&(Kind::Datagram, to)).copied();
        let socket = place.and_then(|fd| Some((fd, self.sockets.get_mut(&fd)?)));
        match (socket, letter) {
            (Some((fd, Socket::Datagrams(datagrams))), letter) => {
                // A connected socket hears its peer alone; errors are told to none else (Linux, without IP_RECVERR).
                let connected = datagrams.peer == Some(from);
                match letter {
                    Letter::Datagram(bytes) if connected || datagrams.peer.is_none() => datagrams.take(bytes, from),
                    Letter::Unreachable if connected => datagrams.error = Some(Errno::ConnectionRefused),
                    Letter::Datagram(_) | Letter::Unreachable => return,
                }
                self.watched.heat(fd);
            }
            (_, Letter::Datagram(bytes)) if to.host == from.host => {
                drop(bytes);
                self.letter_arrived(to, from, Letter::Unreachable);
            }
            (_, Letter::Datagram(bytes)) => {
                if let Some(number) = self.sim.send_unreachable(to, from, bytes.len() as u64) {
                    self.keep(to, from, number, Letter::Unreachable);
                }
            }
            (_, Letter::Unreachable) => {}
        }
    }
}

pub(crate) type Letters = BTreeMap<u32, Letter>;
