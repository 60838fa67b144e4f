//! Interrupts, softirq and the processor of one host, as events see them.

use elephan_engine::Bell;
use elephan_host::cpu::{Gap, SackHint, SackWalk};
use elephan_host::receive::{GRO_BYTES, GRO_FRAMES, Refused};
use elephan_tcp::Flags;
use elephan_units::{Span, Time};

use super::kernel::{Kernel, SocketName};
use crate::ids::LinkId;
use crate::net::{Kind, Net, Occurrence};
use crate::packet::{Packets, flags};
use crate::target::{HostTimer, Target};
use crate::world::World;

/// The process that sends datagrams may be so far behind; what it would send then is not sent (`cpu_busy`).
const DATAGRAM_DEBT_MAX: Span = Span::from_ms(10);
/// The `reason` of that drop.
pub const CPU_BUSY: &str = "cpu_busy";

/// Whether `next` continues `first` so that GRO joins them: same connection, plain data in order, nothing else to say.
fn joins(packets: &Packets, first: u32, next: u32) -> bool {
    let ((a, _), (b, _)) = (packets.get(first), packets.get(next));
    let (s, n) = (&a.segment, &b.segment);
    let plain = flags::DATA | flags::RETRANSMISSION | flags::COPY | flags::CAPTURED | flags::TAGGED;
    a.flags & !plain == 0
        && b.flags & !plain == 0
        && (a.dest, a.flow) == (b.dest, b.flow)
        && s.len > 0
        && n.len > 0
        && n.seq == s.seq.wrapping_add(s.len)
        && !s.flags.any(Flags::SYN | Flags::FIN | Flags::RST | Flags::PSH)
        && !n.flags.any(Flags::SYN | Flags::FIN | Flags::RST)
        && (s.flags.0 ^ n.flags.0) & !Flags::PSH.0 == 0
        && s.sack_len | n.sack_len == 0
        && (s.ack, s.window, s.ecn, s.options, s.tsval, s.tsecr)
            == (n.ack, n.window, n.ecn, n.options, n.tsval, n.tsecr)
        && a.ip_bytes + n.len <= GRO_BYTES
}

impl World {
    pub fn kernel(&mut self, node: u32) -> Option<&mut Kernel> {
        self.hosts.get(node)?.kernel.as_deref_mut()
    }

    /// The host of a socket.
    pub fn node_of(&self, socket: u32) -> u32 {
        self.plan.links[self.sockets[socket as usize].first_link.index()].from
    }

    /// A frame is at the ring of a host with a receive side or a processor.
    pub fn receive_frame(&mut self, now: Time, node: u32, packet: u32) {
        let Some(kernel) = self.kernel(node) else { return self.deliver(now, packet) };
        if let Err(why) = kernel.receiver.on_frame(now, packet) {
            return self.refuse(now, node, packet, why);
        }
        let at = kernel.receiver.interrupt_at();
        if at <= now {
            self.interrupt(now, node);
        } else if kernel.interrupt.arm(at) {
            self.net.events.push(Target::Host(HostTimer::Interrupt, node).keyed(at, node));
        }
    }

    /// The time has come for an interrupt, unless there was one since.
    pub fn interrupt_timer(&mut self, now: Time, node: u32) {
        let Some(kernel) = self.kernel(node) else { return };
        match kernel.interrupt.ring(now, kernel.receiver.interrupt_at()) {
            Bell::Due => self.interrupt(now, node),
            Bell::Later(at) => {
                self.net.events.push(Target::Host(HostTimer::Interrupt, node).keyed(at, node));
            }
            Bell::Stale | Bell::Off => {}
        }
    }

    fn interrupt(&mut self, now: Time, node: u32) {
        let mut refused = std::mem::take(&mut self.hosts.refused);
        if let Some(kernel) = self.kernel(node) {
            let frames = kernel.receiver.on_interrupt(now, &mut refused);
            kernel.server.interrupt(kernel.costs.interrupt.saturating_mul(frames));
        }
        for (packet, why) in refused.drain(..) {
            self.refuse(now, node, packet, why);
        }
        self.hosts.refused = refused;
        self.work(now, node);
    }

    /// The host drops a packet that the network has delivered.
    fn refuse(&mut self, now: Time, node: u32, packet: u32, why: Refused) {
        self.net.delivered -= 1;
        self.net.count_drop(why.name());
        let Net { packets, log, links, routes, .. } = &mut self.net;
        if let Some(log) = log {
            let p = &packets[packet];
            let last = &links[routes.link(p.route)];
            let bytes = last.framing.charged_bytes(p.ip_bytes);
            let (kind, link, flow, reason) = (Kind::Refused, last.reverse, p.flow, why.name());
            debug_assert_eq!(self.plan.links[link.index()].from, node);
            let value = p.sequence().map(f64::from);
            log.push(Occurrence { time: now, kind, link, flow, bytes, value, reason });
        }
        packets.free(packet);
    }

    /// A socket wants to send: on a host with a processor this waits for it. Answers whether it does.
    #[cold]
    pub fn send_on_cpu(&mut self, now: Time, socket: u32) -> bool {
        let (node, number) = (self.node_of(socket), self.sockets[socket as usize].number);
        let queued = self.sockets[socket as usize].queued;
        let Some(kernel) = self.kernel(node) else { return false };
        if !queued {
            kernel.sending.push_back((socket, number));
            self.sockets[socket as usize].queued = true;
        }
        self.work(now, node);
        true
    }

    /// A timer of a socket has run out: on a host with a processor this waits for it. Answers whether it does.
    #[cold]
    pub fn expire_on_cpu(&mut self, now: Time, socket: u32) -> bool {
        let (node, number) = (self.node_of(socket), self.sockets[socket as usize].number);
        let Some(kernel) = self.kernel(node) else { return false };
        kernel.timers.push_back((socket, number));
        self.work(now, node);
        true
    }

    /// Whether the process that sends datagrams is so far behind that it does not come to send another.
    #[cold]
    pub fn is_swamped(&mut self, node: u32) -> bool {
        self.kernel(node).is_some_and(|kernel| kernel.datagrams > DATAGRAM_DEBT_MAX)
    }

    /// A datagram leaves a host: it does not wait for the processor, but is paid for when that has nothing else to do.
    #[cold]
    pub fn charge_datagram(&mut self, now: Time, node: u32) {
        let Some(kernel) = self.kernel(node) else { return };
        kernel.datagrams = kernel.datagrams.saturating_add(kernel.costs.transmit);
        self.work(now, node);
    }

    /// The processor goes on with what there is to do at `now`.
    pub fn work(&mut self, now: Time, node: u32) {
        let Some(kernel) = self.kernel(node).filter(|kernel| !kernel.busy) else { return };
        kernel.busy = true;
        while self.job(now, node) {}
        let Some(kernel) = self.kernel(node) else { return };
        kernel.busy = false;
        let free_at = kernel.server.free_at();
        if free_at > now && kernel.waits() && kernel.wake != free_at {
            kernel.wake = free_at;
            self.net.events.push(Target::Host(HostTimer::Processor, node).keyed(free_at, node));
        }
    }

    /// Begins or ends one job; answers whether there may be another at once.
    fn job(&mut self, now: Time, node: u32) -> bool {
        let Some(kernel) = self.kernel(node) else { return false };
        if kernel.server.free_at() > now {
            return false;
        }
        if let Some(packet) = kernel.running.take() {
            self.hand_over(now, node, packet);
            return true;
        }
        kernel.server.settle(now);
        if kernel.server.free_at() > now {
            return false;
        }
        if let Some((socket, number)) = kernel.timers.pop_front() {
            if self.sockets[socket as usize].number == number {
                self.expire(now, socket);
            }
            return true;
        }
        if let Some(&socket) = kernel.sending.front() {
            self.send_one(now, node, socket);
            return true;
        }
        self.begin_packet(now, node) || self.user_level(now, node)
    }

    /// One segment of the first socket that has something to send.
    fn send_one(&mut self, now: Time, node: u32, (socket, number): SocketName) {
        let is_same = self.sockets[socket as usize].number == number;
        let sent = is_same && self.transmit(now, socket, 1) > 0;
        let more = sent && self.sockets[socket as usize].endpoint.may_transmit();
        if is_same && !more {
            self.sockets[socket as usize].queued = false;
        }
        let Some(kernel) = self.kernel(node) else { return };
        if sent {
            let cost = kernel.costs.transmit;
            kernel.server.spend(now, cost);
        }
        if !more {
            kernel.sending.pop_front();
        }
    }

    /// The server takes the next packet in hand; answers whether there was one.
    fn begin_packet(&mut self, now: Time, node: u32) -> bool {
        let World { hosts, net, sockets, .. } = self;
        let Some(kernel) = hosts.get(node).and_then(|host| host.kernel.as_deref_mut()) else { return false };
        let Some(packet) = kernel.receiver.take() else { return false };
        let mut frames = 1;
        if kernel.receive.as_ref().is_some_and(|r| r.gro) {
            let packets = &mut net.packets;
            while frames < u64::from(GRO_FRAMES)
                && let Some(next) = kernel.receiver.take_if(|next| joins(packets, packet, next))
            {
                let n = packets[next].segment;
                let p = &mut packets[packet];
                p.segment.len += n.len;
                p.ip_bytes += n.len;
                p.segment.flags |= n.flags;
                packets.free(next);
                frames += 1;
            }
        }
        let (p, sack) = net.packets.get(packet);
        let segment = &p.segment;
        let costs = &kernel.costs;
        let mut cost = if p.flags & flags::DATA != 0 { costs.receive } else { costs.ack };
        if kernel.receiver.is_napi() {
            cost = cost.saturating_add(costs.interrupt.saturating_mul(frames));
        }
        let is_tcp = p.flags & flags::UDP == 0;
        if is_tcp && segment.block_count() > 0 && costs.sack != SackWalk::None {
            let socket = &sockets[p.dest as usize];
            let hint = kernel.hints.entry(p.dest).or_default();
            if hint.0 != p.flow {
                *hint = (p.flow, SackHint::default());
            }
            let mss = socket.endpoint.mss().max(1);
            let in_flight = (socket.number == p.flow).then(|| socket.endpoint.inflight().div_ceil(mss));
            let blocks = &sack[..segment.block_count()];
            let walk = hint.1.walk(costs.sack, blocks, segment.ack, (in_flight.unwrap_or(0), mss as u32));
            cost = cost.saturating_add(costs.segment.saturating_mul(walk));
        }
        kernel.running = Some(packet);
        kernel.server.spend(now, cost);
        true
    }

    /// A packet reaches its socket.
    fn hand_over(&mut self, now: Time, node: u32, packet: u32) {
        let p = &self.net.packets[packet];
        let (is_udp, dest, flow, bytes) = (p.flags & flags::UDP != 0, p.dest, p.flow, u64::from(p.segment.len));
        let reader =
            self.kernel(node).and_then(|k| Some((k.receive.as_ref()?.reader?, k.receive.as_ref()?.udp_buffer)));
        let Some(of) = reader else { return self.deliver(now, packet) };
        if !is_udp {
            self.deliver(now, packet);
            if self.sockets[dest as usize].number == flow {
                self.begin_read(now, node, dest);
            }
            return;
        }
        let Some(kernel) = self.kernel(node) else { return };
        if kernel.udp.entry(dest).or_default().admit(now, bytes, of) {
            return self.deliver(now, packet);
        }
        kernel.receiver.count_socket_drop();
        self.refuse(now, node, packet, Refused::Socket);
    }

    /// The processor has nothing else to do: processes run. Answers whether one gave it something.
    fn user_level(&mut self, now: Time, node: u32) -> bool {
        let Some(kernel) = self.kernel(node) else { return false };
        if kernel.logger_waits {
            kernel.logger_waits = false;
            self.log_line(now, node);
            return true;
        }
        if let Some(socket) = kernel.reads_waiting.pop_front() {
            self.end_read(now, node, socket);
            return true;
        }
        if kernel.datagrams > Span::ZERO {
            let cost = kernel.datagrams.min(kernel.costs.transmit);
            kernel.datagrams = Span(kernel.datagrams.ps() - cost.ps());
            kernel.server.spend(now, cost);
            return true;
        }
        false
    }

    /// The server is done with a job.
    pub fn cpu_timer(&mut self, now: Time, node: u32) {
        let Some(kernel) = self.kernel(node) else { return };
        if kernel.wake == now {
            kernel.wake = Time::NEVER;
            self.work(now, node);
        }
    }

    /// The logger wants to write a line.
    pub fn logger_timer(&mut self, now: Time, node: u32) {
        let Some(kernel) = self.kernel(node) else { return };
        kernel.logger_waits = true;
        self.work(now, node);
    }

    fn log_line(&mut self, now: Time, node: u32) {
        let Some(logger) = self.kernel(node).and_then(|kernel| kernel.logger.as_mut()) else { return };
        let gap = logger.run(now);
        let due = logger.due();
        self.net.events.push(Target::Host(HostTimer::Logger, node).keyed(due, node));
        if let Some(gap) = gap {
            self.note_gap(node, gap);
        }
    }

    /// A gap of a logger goes to its table and, when somebody reads it, the log.
    pub fn note_gap(&mut self, node: u32, gap: Gap) {
        let host = self.tables.node(node);
        let length = gap.end.since(gap.begin);
        self.recorder.logger_gaps.push(elephan_record::LoggerGapRow {
            host,
            begin_ns: gap.begin.ns(),
            end_ns: gap.end.ns(),
            duration_ns: length.ns(),
        });
        if let Some(log) = &mut self.net.log
            && let Some(link) = self.plan.links.iter().position(|link| link.from == node)
        {
            let (kind, link, value) = (Kind::LoggerGap, LinkId::of(link), Some(length.seconds()));
            log.push(Occurrence { time: gap.end, kind, link, flow: crate::net::NONE, bytes: 0, value, reason: "" });
        }
    }
}
