//! Applications that read their sockets at a rate: blocks, one after the other while there is something to read.

use elephan_units::Time;

use crate::target::{HostTimer, Target};
use crate::world::World;

impl World {
    /// The application of a new socket reads at its host's rate, if that has one.
    pub fn settle_reader(&mut self, socket: u32) {
        let node = self.node_of(socket);
        let reads = self.hosts.get(node).and_then(|host| host.kernel.as_ref()?.receive.as_ref()?.reader);
        if reads.is_some() {
            self.sockets[socket as usize].endpoint.set_auto_read(false);
        }
    }

    /// The application begins to read a block, if there is something and no read is under way.
    pub fn begin_read(&mut self, now: Time, node: u32, socket: u32) {
        let number = self.sockets[socket as usize].number;
        let there = self.sockets[socket as usize].endpoint.unread();
        let Some(kernel) = self.hosts.get(node).and_then(|host| host.kernel.as_deref_mut()) else { return };
        let Some((rate, block)) = kernel.receive.as_ref().and_then(|r| Some((r.reader?, r.reader_block))) else {
            return;
        };
        let bytes = there.min(block.get());
        if bytes == 0 || kernel.reads.get(&socket).is_some_and(|read| read.0 == number) {
            return;
        }
        let end = now.saturating_add(rate.time_of(bytes));
        kernel.reads.insert(socket, (number, bytes, end));
        let key = self.sockets[socket as usize].key;
        self.net.events.push(Target::Host(HostTimer::Reader, socket).keyed(end, key));
    }

    /// The time of a read is over; the block is free once the processor has nothing else to do.
    pub fn reader_timer(&mut self, now: Time, socket: u32) {
        let (node, number) = (self.node_of(socket), self.sockets[socket as usize].number);
        let Some(kernel) = self.hosts.get(node).and_then(|host| host.kernel.as_deref_mut()) else { return };
        // The event may be of a read of a connection that was in this place before.
        if kernel.reads.get(&socket).is_none_or(|read| (read.0, read.2) != (number, now)) {
            return;
        }
        kernel.reads_waiting.push_back((socket, number));
        self.work(now, node);
    }

    /// A read ends: its bytes leave the socket.
    pub fn end_read(&mut self, now: Time, node: u32, (socket, number): (u32, u32)) {
        let Some(kernel) = self.hosts.get(node).and_then(|host| host.kernel.as_deref_mut()) else { return };
        let Some(&(reader, bytes, _)) = kernel.reads.get(&socket) else { return };
        kernel.reads.remove(&socket);
        let s = &mut self.sockets[socket as usize];
        if (reader, s.number) != (number, number) {
            return;
        }
        s.endpoint.read(now, bytes);
        if s.calls() || (s.endpoint.peer_closed() && s.endpoint.unread() == 0) {
            self.attend(now, socket);
        }
        if self.sockets[socket as usize].number == number {
            self.flush(now, socket);
            self.begin_read(now, node, socket);
        }
    }
}
