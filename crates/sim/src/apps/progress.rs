//! What comes of a flow: what has been acknowledged and received, when it is complete and when it is over.

use elephan_record::{DatagramRow, MessageRow};
use elephan_tcp::State;
use elephan_units::{Span, Time};

use crate::clocks::room;
use crate::flow::{Application, Flow};
use crate::net::{Kind, NONE, Occurrence};
use crate::world::World;

impl World {
    /// A socket calls for its flow after a segment or a timer.
    pub fn attend(&mut self, now: Time, socket: u32) {
        let id = self.sockets[socket as usize].flow;
        if let Some(Flow { application: Application::Program { call }, .. }) = self.flows[id as usize] {
            return self.attend_call(now, call, socket);
        }
        let s = &mut self.sockets[socket as usize];
        s.seen = s.endpoint.state();
        if s.seen == State::Closed && s.endpoint.gave_up() {
            self.give_up(now, socket);
        }
        let s = &mut self.sockets[socket as usize];
        let Some(flow) = &mut self.flows[id as usize] else { return };
        if s.is_sender {
            if flow.established.is_none() && s.endpoint.is_established() {
                flow.established = Some(now);
                if self.plan.traffic[flow.traffic as usize].fast_open {
                    self.fast_open.keep(now, (flow.plan.from, flow.plan.to), &mut s.endpoint);
                    // The SYN has a number before that of its data.
                    s.highest = s.highest.wrapping_add(1);
                }
            }
            if flow.sender_done.is_none() && flow.size.is_some_and(|size| s.endpoint.acked() >= size) {
                flow.sender_done = Some(now);
                if matches!(flow.application, Application::Transfer { .. }) && flow.start >= self.plan.warmup {
                    self.tables.acknowledged.add(now.since(flow.start));
                }
            }
            match &mut flow.application {
                Application::Messages(queue) if !queue.ended() => {
                    s.endpoint.supply(queue.pump(now, room(&s.endpoint)));
                    if queue.ended() {
                        s.endpoint.end_stream(now);
                    }
                    self.rearm(id);
                }
                Application::Ranks { .. } => {
                    let acked = s.endpoint.acked();
                    self.ranks_acknowledged(now, id, acked);
                }
                _ => {}
            }
        } else {
            self.attend_receiver(now, socket);
        }
        if let Some(Flow { application: Application::Copy { copy, .. }, .. }) = &self.flows[id as usize] {
            self.attend_copy(now, *copy, socket);
        }
        if let Some(flow) = &self.flows[id as usize] {
            let s = &mut self.sockets[socket as usize];
            s.wake = flow.wake(s.is_sender);
        }
        self.finish_if_closed(now, id);
    }

    /// An end has given its peer up: the flow is over, and whatever the other end still sends is lost on nobody.
    #[cold]
    pub fn give_up(&mut self, now: Time, socket: u32) {
        let s = &self.sockets[socket as usize];
        let (peer, link, flow) = (s.peer, s.first_link, s.number);
        self.sockets[peer as usize].endpoint.forget(now);
        self.tables.totals.given_up += 1;
        if let Some(log) = &mut self.net.log {
            log.push(Occurrence { time: now, kind: Kind::GiveUp, link, flow, bytes: 0, value: None, reason: "" });
        }
    }

    fn attend_receiver(&mut self, now: Time, socket: u32) {
        let s = &mut self.sockets[socket as usize];
        if self.flows[s.flow as usize].is_none() {
            return;
        }
        let (id, received) = (s.flow, s.endpoint.received());
        // An application that reads slowly sees the end of the stream when it has read all of it.
        if s.endpoint.peer_closed() && s.endpoint.unread() == 0 {
            s.endpoint.end_stream(now);
        }
        self.received(now, id, received);
    }

    /// The stream of a flow has come so far at its receiver, in order.
    pub fn received(&mut self, now: Time, id: u32, received: u64) {
        let Some(flow) = &mut self.flows[id as usize] else { return };
        let number = i64::from(flow.number);
        let (record, warmup) = (self.plan.record.messages, self.plan.warmup);
        let mut answers = None;
        if let Application::Messages(queue) = &mut flow.application {
            let messages = &mut self.recorder.messages;
            let latencies = &mut self.tables.latencies;
            let before = queue.delivered_messages();
            queue.delivered(now, received, |m| {
                if m.enter >= warmup {
                    latencies.add(m.latency());
                }
                if record {
                    messages.push(MessageRow {
                        flow: number,
                        enter_ns: m.enter.ns(),
                        exit_ns: Some(m.exit.ns()),
                        size_bytes: m.bytes as i64,
                        latency_ns: Some(m.latency().ns()),
                    });
                }
            });
            let delivered = queue.delivered_messages();
            if flow.clock != NONE && delivered > before {
                answers = Some((flow.clock, delivered, delivered - before));
            }
        }
        if flow.done.is_none() && flow.size.is_some_and(|size| received >= size) {
            flow.done = Some(now);
            self.complete(now, id);
        }
        if let Some((clock, delivered, count)) = answers {
            self.answered(now, clock, Some(delivered - 1), count);
        }
        self.ranks_received(now, id, received);
    }

    /// The last byte of a finite flow is with the receiver.
    pub fn complete(&mut self, now: Time, id: u32) {
        let Some(flow) = &self.flows[id as usize] else { return };
        let Application::Transfer { user } = flow.application else { return };
        let fct = now.since(flow.start);
        if flow.start >= self.plan.warmup {
            if let Some(ideal) = self.ideal(flow) {
                self.tables.slowdowns.add_value(fct.ps() as f64 / ideal.ps().max(1) as f64);
            }
            self.tables.completions.add(fct);
        }
        if self.plan.record.messages {
            self.recorder.messages.push(MessageRow {
                flow: i64::from(flow.number),
                enter_ns: flow.start.ns(),
                exit_ns: Some(now.ns()),
                size_bytes: flow.size.unwrap_or(0) as i64,
                latency_ns: Some(fct.ns()),
            });
        }
        if let Some(place) = user {
            self.user_is_served(now, place);
        }
    }

    /// Frees a connection that both ends have left.
    fn finish_if_closed(&mut self, now: Time, id: u32) {
        let Some(flow) = &self.flows[id as usize] else { return };
        let gone =
            |socket: u32| matches!(self.sockets[socket as usize].endpoint.state(), State::Closed | State::TimeWait);
        if !gone(flow.sender) || !gone(flow.receiver) {
            return;
        }
        if let Err(violation) = self.check_stream(flow) {
            self.violation.get_or_insert(violation);
        }
        // The last acknowledgement may still have to be sent.
        let (number, plan, sender, receiver) = (flow.number, flow.plan, flow.sender, flow.receiver);
        let traffic = flow.traffic;
        self.flush(now, sender);
        self.flush(now, receiver);
        // A processor that was given this to send may have ended the flow meanwhile.
        if self.flows[id as usize].as_ref().is_none_or(|flow| flow.number != number) {
            return;
        }
        if self.plan.traffic[traffic as usize].fast_open {
            self.fast_open.keep(now, (plan.from, plan.to), &mut self.sockets[sender as usize].endpoint);
        }
        if self.sockets[sender as usize].headers.is_some() {
            self.keep_memories(plan, sender, receiver);
        }
        if self.guests.any {
            for end in [sender, receiver] {
                self.guests.note(&self.sockets[end as usize], &self.flows, &self.plan);
            }
        }
        if let Some(flow) = self.flows[id as usize].take() {
            let row = self.flow_row(now, &flow, true);
            self.tables.ended.push(row);
            // A transfer that was given up leaves its user without what he wanted; he goes on.
            if let Application::Transfer { user: Some(place) } = flow.application
                && flow.done.is_none()
            {
                self.user_is_served(now, place);
            }
        }
        self.free_flows.push(id);
        self.discard(sender);
        self.discard(receiver);
    }

    /// A datagram is in; `first` unless it is the second of a duplicate, which says nothing about the order (RFC 4737).
    pub fn datagram_arrived(
        &mut self,
        now: Time,
        id: u32,
        number: u32,
        bytes: u64,
        (seq, first, delay): (u32, bool, Span),
    ) {
        let Some(Some(flow)) = self.flows.get_mut(id as usize) else { return };
        if flow.number != number {
            return;
        }
        if let Application::Datagrams(d) = &mut flow.application {
            d.received_packets += 1;
            d.received_bytes += bytes;
            match first {
                true if seq.wrapping_sub(d.expected) as i32 >= 0 => d.expected = seq.wrapping_add(1),
                true => d.reordered += 1,
                false => d.copied_bytes += bytes,
            }
            if flow.done.is_none() && flow.size.is_some_and(|size| d.received_bytes - d.copied_bytes >= size) {
                flow.done = Some(now);
            }
            if d.received_packets <= self.plan.record.datagrams {
                self.recorder.datagrams.push(DatagramRow {
                    flow: i64::from(number),
                    seq: i64::from(seq),
                    time_ns: now.ns(),
                    payload_bytes: bytes as i64,
                    delay_ns: delay.ns(),
                });
            }
        }
        if self.program.is_some() {
            self.report_datagram(number, seq);
        }
    }
}
