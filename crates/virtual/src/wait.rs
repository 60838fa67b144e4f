//! What is ready, and the passing of time until something is.

use std::collections::{BTreeMap, BTreeSet};

use elephan_sim::{Error, Report};
use elephan_units::Time;

use crate::line::Line;
use crate::{Fd, Network, Progress, Socket, WRITABLE};

/// The descriptors that somebody waits for.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    masks: BTreeMap<Fd, u8>,
    /// Those that may be ready, in the order in which something happened to them.
    hot: Vec<Fd>,
    known: BTreeSet<Fd>,
}

impl Watched {
    /// Something has happened to a descriptor.
    pub fn heat(&mut self, fd: Fd) {
        if self.masks.contains_key(&fd) && self.known.insert(fd) {
            self.hot.push(fd);
        }
    }

    pub fn forget(&mut self, fd: Fd) {
        self.masks.remove(&fd);
        if self.known.remove(&fd) {
            self.hot.retain(|hot| *hot != fd);
        }
    }
}

impl Network {
    /// Says for what of a descriptor somebody waits: [`READABLE`](crate::READABLE), [`WRITABLE`], both, or nothing (0).
    pub fn watch(&mut self, fd: Fd, mask: u8) {
        if mask == 0 {
            return self.watched.forget(fd);
        }
        if self.sockets.contains_key(&fd) {
            self.watched.masks.insert(fd, mask);
            self.watched.heat(fd);
        }
    }

    /// What is ready of a descriptor.
    pub fn poll(&mut self, fd: Fd) -> u8 {
        match self.sockets.get(&fd) {
            None => 0,
            // As Linux has it, what is neither connected nor listening has hung up.
            Some(Socket::Fresh { .. }) => WRITABLE,
            Some(Socket::Listener(listener)) => listener.poll(),
            Some(Socket::Datagrams(datagrams)) => datagrams.poll(),
            Some(Socket::Stream(_)) => self.poll_stream(fd),
        }
    }

    /// Returns what is ready of what is watched. If nothing is, time passes until something is, at most to `until` and to the end of
    /// the scenario. `watch` is called now and then and answers whether to go on.
    pub fn wait(&mut self, until: Time, watch: &mut dyn FnMut(&Progress) -> bool) -> Result<Vec<(Fd, u8)>, Error> {
        let until = until.min(self.end());
        loop {
            self.take_reports();
            let ready = self.ready();
            if !ready.is_empty() || self.now() >= until {
                return Ok(ready);
            }
            self.sim.run(until, watch)?;
        }
    }

    /// Whether only a program can make something happen: nothing is under way, no timer of a connection is armed.
    pub fn is_idle(&self) -> bool {
        self.sim.is_idle()
    }

    fn take_reports(&mut self) {
        for report in self.sim.reports() {
            match report {
                Report::Came(end) => self.came(end),
                Report::Changed(end) => {
                    if let Some(&fd) = self.by_line.get(&Line::Network(end)) {
                        self.changed(fd);
                        self.watched.heat(fd);
                    }
                }
                Report::Datagram { from, to, number } => self.letter_came(from, to, number),
            }
        }
    }

    fn ready(&mut self) -> Vec<(Fd, u8)> {
        let hot = std::mem::take(&mut self.watched.hot);
        let mut ready = Vec::new();
        let mut still = Vec::with_capacity(hot.len());
        for fd in hot {
            let mask = self.watched.masks.get(&fd).copied().unwrap_or(0);
            let bits = self.poll(fd) & mask;
            if bits == 0 {
                self.watched.known.remove(&fd);
            } else {
                ready.push((fd, bits));
                still.push(fd);
            }
        }
        self.watched.hot = still;
        ready
    }
}
