//! Calls: connections of programs, from the first SYN to the last trace of both ends.

use elephan_engine::Alarm;
use elephan_scenario::FlowPlan;
use elephan_tcp::{Endpoint, Flags, State};
use elephan_traffic::{Carrier, Spec as _};
use elephan_units::Time;

use super::state::{Address, Call, End, Fate, Known, Report};
use crate::apps::Making;
use crate::flow::{Application, Flow, stable_key};
use crate::target::NONE;
use crate::world::World;

impl World {
    /// Opens a connection from `from` to `to`; `None` if no entry of kind `program` joins the hosts, or no path.
    pub(super) fn call(
        &mut self,
        now: Time,
        from: Address,
        to: Address,
        prepare: &mut dyn FnMut(Time, &mut Endpoint),
    ) -> Option<End> {
        let plan = self.plan.clone();
        let program = self.program.as_deref_mut()?;
        let &(traffic, pair) = program.pairs.get(&(from.host, to.host))?;
        let options = [pair.sender, pair.receiver].map(|index| program.options_of(&plan, index));
        let call = program.calls.len() as u32;
        // Its key makes its path and its numbers another's than those of the calls before.
        let path = (traffic, pair, call);
        let mut isn = self.stream(&self.flow_path(traffic, pair, call), "isn");
        let flow = self.program_flow(now, (traffic, pair), call, Application::Program { call });
        let number = self.flows[flow as usize].as_ref()?.number;
        let key = self.flows[flow as usize].as_ref()?.key;
        let congestion_control = self.congestion_controls[traffic as usize].clone();
        let isn = [isn.next_u64() as u32, isn.next_u64() as u32];
        let mut sockets = [NONE; 2];
        for side in 0..2 {
            let ends = if side == 0 { (pair.from, pair.to) } else { (pair.to, pair.from) };
            self.net.routes.of_flow(ends.0, ends.1, key)?;
            let mut socket = self.make_socket(Making {
                options: &options[side],
                congestion_control: Some(&congestion_control),
                isn: isn[side],
                ends,
                key: key ^ side as u32,
                path,
                // The far socket has no number before a SYN is let in.
                flow: (flow, if side == 0 { number } else { NONE }),
            });
            socket.is_sender = side == 0;
            socket.endpoint.set_auto_read(false);
            sockets[side] = self.place(socket);
        }
        self.sockets[sockets[0] as usize].peer = sockets[1];
        self.sockets[sockets[1] as usize].peer = sockets[0];
        self.settle_headers(sockets);
        let opener = &mut self.sockets[sockets[0] as usize];
        prepare(now, &mut opener.endpoint);
        opener.endpoint.connect(now);
        opener.seen = opener.endpoint.state();
        if let Some(flow) = &mut self.flows[flow as usize] {
            (flow.sender, flow.receiver) = (sockets[0], sockets[1]);
        }
        if let Some(captures) = &mut self.net.captures {
            captures.name_ports(number, (from.port, to.port));
            captures.payloads.begin(number, isn);
        }
        let program = self.program.as_deref_mut()?;
        program.knocking.insert(number, call);
        program.calls.push(Call {
            flow: (flow, number),
            back: None,
            sockets,
            addresses: [from, to],
            known: [Known::default(); 2],
            at_door: false,
            over: false,
        });
        self.flush(now, sockets[0]);
        Some(End { call, side: 0 })
    }

    /// A new flow of programs between the hosts of `pair`.
    pub(super) fn program_flow(
        &mut self,
        now: Time,
        (traffic, pair): (u32, FlowPlan),
        ordinal: u32,
        application: Application,
    ) -> u32 {
        let flow = Flow {
            number: self.flows_made,
            traffic,
            instance: ordinal,
            plan: pair,
            application,
            alarm: Alarm::default(),
            key: stable_key(&self.flow_path(traffic, pair, 0), u64::from(ordinal)),
            sender: NONE,
            receiver: NONE,
            rdma: NONE,
            start: now,
            established: None,
            size: None,
            done: None,
            sender_done: None,
            before_warmup: 0,
            begun: true,
            clock: NONE,
        };
        self.flows_made += 1;
        self.keep_flow(flow)
    }

    /// A packet has come for a socket that does not know its flow: one of a call whose SYN is to be let in, or of a connection that is gone.
    #[cold]
    pub fn stray(&mut self, now: Time, packet: u32) {
        if self.knock(packet) { self.deliver(now, packet) } else { self.net.packets.free(packet) }
    }

    /// A packet comes to a host that has not answered its call yet; says whether it is to be delivered.
    fn knock(&mut self, packet: u32) -> bool {
        let p = &self.net.packets[packet];
        let (dest, number, opens) = (p.dest, p.flow, p.segment.flags.any(Flags::SYN));
        let Some(program) = self.program.as_deref_mut() else { return false };
        let Some(&call) = program.knocking.get(&number).filter(|_| opens) else { return false };
        let door = program.doors.get_mut(&program.calls[call as usize].addresses[1]);
        let socket = &mut self.sockets[dest as usize];
        if let Some(door) = door {
            if door.waiting > door.backlog {
                return false;
            }
            door.waiting += 1;
            program.calls[call as usize].at_door = true;
            socket.endpoint.listen();
            socket.seen = State::Listen;
        }
        // Where nobody listens, a closed endpoint answers: it resets.
        program.knocking.remove(&number);
        socket.number = number;
        true
    }

    /// An end of a call was reached by a segment, by a timer or by its application.
    pub fn attend_call(&mut self, now: Time, call: u32, socket: u32) {
        let s = &mut self.sockets[socket as usize];
        let side = u8::from(!s.is_sender);
        let end = End { call, side };
        // A timer of a socket that is gone may ring when another call has its flow's place.
        let own = self.program.as_deref().map(|program| &program.calls[call as usize]);
        if own.is_none_or(|own| own.over || own.sockets[usize::from(side)] != socket) {
            return;
        }
        let before = std::mem::replace(&mut s.seen, s.endpoint.state());
        let (state, id) = (s.seen, s.flow);
        if state == State::Closed && before != state && s.endpoint.gave_up() {
            self.give_up(now, socket);
        }
        let s = &mut self.sockets[socket as usize];
        if state == State::Listen && before == State::SynReceived {
            // The peer has reset the handshake.
            s.endpoint.forget(now);
            s.seen = State::Closed;
        }
        let Some(program) = self.program.as_deref_mut() else { return };
        let of = &mut program.calls[call as usize];
        let known = &mut of.known[usize::from(side)];
        let was_up = known.status.up;
        let changed = known.note(&mut s.endpoint, before, now);
        s.seen = s.endpoint.state();
        let is_up = known.status.up && !was_up;
        let held = known.orphan.is_none() && !known.gone;
        if side == 1 && is_up && of.at_door {
            program.reports.push(Report::Came(end));
        } else if changed && held && !(side == 1 && of.at_door) {
            program.reports.push(Report::Changed(end));
        }
        if side == 1 && of.at_door && known.status.fate.is_some() && !known.status.up {
            program.leave_door(call);
        }
        if is_up
            && side == 0
            && let Some(flow) = &mut self.flows[id as usize]
        {
            flow.established = Some(now);
        }
        self.end_call(now, call);
    }

    /// Ends the flows of a call that both ends have left.
    fn end_call(&mut self, now: Time, call: u32) {
        let Some(program) = self.program.as_deref() else { return };
        let of = &program.calls[call as usize];
        let ends = of.sockets;
        let gone =
            |socket: u32| matches!(self.sockets[socket as usize].endpoint.state(), State::Closed | State::TimeWait);
        if of.over || !ends.into_iter().all(gone) {
            return;
        }
        let (flow, back, number) = (of.flow.0, of.back, of.flow.1);
        // The last acknowledgement, or the reset, may still have to be sent.
        ends.into_iter().for_each(|end| self.flush(now, end));
        let Some(program) = self.program.as_deref_mut() else { return };
        if std::mem::replace(&mut program.calls[call as usize].over, true) {
            return;
        }
        program.knocking.remove(&number);
        for (known, socket) in program.calls[call as usize].known.iter_mut().zip(ends) {
            known.status.unread = self.sockets[socket as usize].endpoint.unread();
            known.status.fate.get_or_insert(Fate::Closed);
        }
        for id in [Some(flow), back].into_iter().flatten() {
            self.complete_call(now, id);
            if let Some(flow) = self.flows[id as usize].take() {
                let row = self.flow_row(now, &flow, true);
                self.tables.ended.push(row);
            }
            self.free_flows.push(id);
        }
        ends.into_iter().for_each(|end| self.discard(end));
    }

    /// One direction of a call is over; it is complete if all that was written was read.
    fn complete_call(&mut self, now: Time, id: u32) {
        let Some(flow) = &mut self.flows[id as usize] else { return };
        let (sender, receiver) = (&self.sockets[flow.sender as usize], &self.sockets[flow.receiver as usize]);
        let written = sender.endpoint.accepted();
        if flow.established.is_some() && receiver.endpoint.received() == written && sender.endpoint.acked() == written {
            flow.size = Some(written);
            flow.done = Some(now);
        }
        if let Err(violation) = self.flows[id as usize].as_ref().map_or(Ok(()), |flow| self.check_stream(flow)) {
            self.violation.get_or_insert(violation);
        }
    }

    /// Lets an application act on its end, which then sends what it may. `None` if the end is gone.
    pub(super) fn act<R>(&mut self, now: Time, end: End, act: impl FnOnce(&mut Endpoint) -> R) -> Option<R> {
        let socket = self.socket_of(end)?;
        let got = act(&mut self.sockets[socket as usize].endpoint);
        self.flush(now, socket);
        if self.socket_of(end) == Some(socket) {
            self.attend_call(now, end.call, socket);
        }
        Some(got)
    }

    pub(super) fn socket_of(&self, end: End) -> Option<u32> {
        let of = self.program.as_deref()?.calls.get(end.call as usize)?;
        (!of.over).then_some(of.sockets[usize::from(end.side)])
    }

    /// Captures learn what an application writes.
    pub(super) fn capture_write(&mut self, end: End, data: &[u8]) {
        let Some(captures) = &mut self.net.captures else { return };
        let Some(program) = self.program.as_deref() else { return };
        captures.payloads.write(program.calls[end.call as usize].flow.1, end.side == 0, data);
    }

    /// The answering end of a call is about to write: a flow of its own stands for what it sends.
    pub(super) fn answer_flow(&mut self, now: Time, call: u32) {
        let Some(of) = self.program.as_deref().map(|program| &program.calls[call as usize]) else { return };
        if of.back.is_some() || of.over {
            return;
        }
        let ([one, other], id) = (of.sockets, of.flow.0);
        let Some(flow) = &self.flows[id as usize] else { return };
        let FlowPlan { from, to, sender, receiver } = flow.plan;
        let back = FlowPlan { from: to, to: from, sender: receiver, receiver: sender };
        let (traffic, established) = (flow.traffic, flow.established);
        let id = self.program_flow(now, (traffic, back), call, Application::Program { call });
        if let Some(flow) = &mut self.flows[id as usize] {
            (flow.sender, flow.receiver, flow.established) = (other, one, established.or(Some(now)));
        }
        if let Some(program) = self.program.as_deref_mut() {
            program.calls[call as usize].back = Some(id);
        }
    }
}

impl World {
    /// Whether nothing is under way, no connection has a timer, and nobody but programs sends anything.
    pub(super) fn is_quiet(&self) -> bool {
        let live = self.sockets.iter().filter(|socket| socket.number != NONE);
        self.net.inside() == 0
            && live.map(|socket| socket.endpoint.next_timer()).all(|timer| timer == Time::NEVER)
            && self.plan.traffic.iter().all(|traffic| traffic.kind.carrier() == Carrier::Program)
    }
}
