//! Connections of a host to itself: without the network, without delay.

use elephan_sim::{Fate, Status};

use crate::content::Content;

/// Bytes that may wait to be read at each end. \[assumed: `net.core.wmem_default` of Linux]
const ROOM_BYTES: usize = 212_992;

/// What waits for one end, and what the other has done.
#[derive(Debug, Default)]
struct Side {
    inbox: Content,
    unread: usize,
    fin: bool,
    reset: bool,
    closed: bool,
}

/// Both ends.
#[derive(Debug, Default)]
pub(crate) struct Local {
    sides: [Side; 2],
}

impl Local {
    pub fn status(&self, side: u8) -> Status {
        let own = &self.sides[usize::from(side)];
        let over = own.fin && self.sides[usize::from(1 - side)].fin;
        let fate = if own.reset { Some(Fate::Reset) } else { over.then_some(Fate::Closed) };
        Status { up: true, unread: own.unread as u64, fin: own.fin, fate }
    }

    /// How much the end may write.
    pub fn room(&self, side: u8) -> usize {
        ROOM_BYTES.saturating_sub(self.sides[usize::from(1 - side)].unread)
    }

    pub fn write(&mut self, side: u8, data: &[u8]) {
        let other = &mut self.sides[usize::from(1 - side)];
        if other.closed {
            // Nobody reads it any more.
            self.sides[usize::from(side)].reset = true;
            return;
        }
        other.inbox.push(data);
        other.unread += data.len();
    }

    pub fn read(&mut self, side: u8, most: usize, peek: bool) -> Vec<u8> {
        let own = &mut self.sides[usize::from(side)];
        if peek {
            let mut bytes = Vec::new();
            own.inbox.peek(most, &mut bytes);
            return bytes;
        }
        let bytes = own.inbox.take(most);
        own.unread -= bytes.len();
        bytes
    }

    /// The end writes no more.
    pub fn end(&mut self, side: u8) {
        self.sides[usize::from(1 - side)].fin = true;
    }

    /// The application of the end is gone.
    pub fn close(&mut self, side: u8, abort: bool) {
        let own = &mut self.sides[usize::from(side)];
        let reset = abort || own.unread > 0;
        own.closed = true;
        let other = &mut self.sides[usize::from(1 - side)];
        (other.fin, other.reset) = (other.fin || !reset, other.reset || reset);
    }
}
