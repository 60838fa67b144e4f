//! What is known of programs' connections and datagrams.

use std::collections::BTreeMap;
use std::sync::Arc;

use elephan_scenario::{FlowPlan, Plan};
use elephan_tcp::{Endpoint, Options, State};
use elephan_traffic::{Carrier, Spec as _};
use elephan_units::{Bytes, Time};

/// A port of a host, which is named by its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    pub host: u32,
    pub port: u16,
}

/// Where the datagrams of a flow come from and go to.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    pub from: Address,
    pub to: Address,
    pub flow: u32,
}

/// One end of a call: that which opened it is side 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct End {
    pub call: u32,
    pub side: u8,
}

impl End {
    /// The other end.
    pub fn peer(self) -> End {
        End { side: 1 - self.side, ..self }
    }
}

/// How a connection ended, as its application sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Both ends have closed, or this end was given up by its own application.
    Closed,
    /// Nobody listens there.
    Refused,
    /// The peer has reset it.
    Reset,
    /// The peer has reset it after it had closed: what is still written there is lost (EPIPE).
    Broken,
    /// The peer did not answer.
    TimedOut,
}

/// What an application may know of its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The handshake is done.
    pub up: bool,
    /// Bytes that can be read.
    pub unread: u64,
    /// The peer has sent its FIN.
    pub fin: bool,
    /// The connection is over.
    pub fate: Option<Fate>,
}

/// What is known of one end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    pub status: Status,
    pub arrived: u64,
    pub acked: u64,
    /// Its application wants to hear of acknowledgements.
    pub waits_for_room: bool,
    /// No application has it any more; how much had arrived then.
    pub orphan: Option<u64>,
    /// Its application has ended it.
    pub gone: bool,
}

/// A connection.
#[derive(Clone, Debug)]
pub struct Call {
    /// Place and number of its flow.
    pub flow: (u32, u32),
    /// Place of the flow that stands for the data of the other direction, once there are some.
    pub back: Option<u32>,
    pub sockets: [u32; 2],
    pub addresses: [Address; 2],
    pub known: [Known; 2],
    /// It waits at a door to be accepted.
    pub at_door: bool,
    /// Both sockets are gone.
    pub over: bool,
}

/// A send buffer of an endpoint that never is the limit: programs write into a buffer of their own, which counts as Linux does.
const NO_LIMIT: u64 = 1 << 40;

/// What has happened that a program might see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// A connection has come to a port where somebody listens; this is its end there.
    Came(End),
    /// More can be read or written than before, or the connection is over.
    Changed(End),
    /// The datagram of this number has arrived.
    Datagram { from: Address, to: Address, number: u32 },
}

/// Where somebody listens.
#[derive(Clone, Copy, Debug)]
pub struct Door {
    /// Connections that may wait to be accepted; one more than that is let in, as by Linux (`sk_acceptq_is_full`).
    pub backlog: usize,
    pub waiting: usize,
}

/// What programs have in the world.
#[derive(Clone, Default)]
pub struct Program {
    /// By hosts: the traffic entry that says how they talk to each other, and its plan in this direction.
    pub pairs: BTreeMap<(u32, u32), (u32, FlowPlan)>,
    /// Options of the plan, as programs' sockets have them.
    pub options: Vec<Option<Arc<Options>>>,
    pub calls: Vec<Call>,
    pub doors: BTreeMap<Address, Door>,
    /// Calls whose SYN has not been let in yet, by the number of their flow.
    pub knocking: BTreeMap<u32, u32>,
    pub streams: Vec<Stream>,
    /// Places in `streams`, by addresses and by the number of their flow.
    pub by_ends: BTreeMap<(Address, Address), u32>,
    pub by_flow: BTreeMap<u32, u32>,
    pub reports: Vec<Report>,
}

impl Program {
    /// What the entries of kind `program` allow; none if there is none.
    pub fn of(plan: &Plan) -> Option<Box<Program>> {
        let mut pairs = BTreeMap::new();
        for (t, traffic) in (0..).zip(&plan.traffic) {
            if traffic.kind.carrier() != Carrier::Program {
                continue;
            }
            for &flow in &traffic.flows {
                pairs.entry((flow.from, flow.to)).or_insert((t, flow));
                let FlowPlan { from, to, sender, receiver } = flow;
                let back = FlowPlan { from: to, to: from, sender: receiver, receiver: sender };
                pairs.entry((to, from)).or_insert((t, back));
            }
        }
        let options = vec![None; plan.options.len()];
        (!pairs.is_empty()).then(|| Box::new(Program { pairs, options, ..Program::default() }))
    }

    /// Options of the plan as a socket of Linux has them: Nagle's algorithm until TCP_NODELAY.
    pub fn options_of(&mut self, plan: &Plan, index: u32) -> Arc<Options> {
        let made = self.options[index as usize].get_or_insert_with(|| {
            let mut options = Options::clone(&plan.options[index as usize]);
            options.nagle = true;
            options.send_buffer = Bytes(NO_LIMIT);
            Arc::new(options)
        });
        made.clone()
    }
}

impl Program {
    /// The call no longer waits at the door that it came to.
    pub fn leave_door(&mut self, call: u32) {
        let of = &mut self.calls[call as usize];
        if std::mem::take(&mut of.at_door)
            && let Some(door) = self.doors.get_mut(&of.addresses[1])
        {
            door.waiting = door.waiting.saturating_sub(1);
        }
    }

    pub fn status(&self, end: End) -> Status {
        self.calls[end.call as usize].known[usize::from(end.side)].status
    }

    pub fn wait_for_room(&mut self, end: End) {
        self.calls[end.call as usize].known[usize::from(end.side)].waits_for_room = true;
    }

    /// The application of an end is gone; `arrived` is what it had been sent by then. The connection goes on if it still has to.
    pub fn leave(&mut self, end: End, arrived: u64) {
        let known = &mut self.calls[end.call as usize].known[usize::from(end.side)];
        (known.orphan, known.gone) = (Some(arrived), true);
    }

    pub fn addresses(&self, end: End) -> [Address; 2] {
        let of = &self.calls[end.call as usize];
        if end.side == 0 { of.addresses } else { [of.addresses[1], of.addresses[0]] }
    }
}

impl Known {
    /// Takes over how far an endpoint is that was in state `before`; says whether an application would see it.
    pub fn note(&mut self, endpoint: &mut Endpoint, before: State, now: Time) -> bool {
        let state = endpoint.state();
        // What nobody can read any more is answered by a reset (Linux `tcp_rcv_state_process`).
        let deaf = self.orphan.is_some_and(|arrived| endpoint.arrived() > arrived);
        if deaf && matches!(state, State::FinWait1 | State::FinWait2) {
            endpoint.abort_unread(now);
        }
        let state_now = endpoint.state();
        let status = Status {
            up: self.status.up || endpoint.is_established() || state_now > State::Established,
            unread: endpoint.unread(),
            fin: self.status.fin || endpoint.peer_closed(),
            fate: self.status.fate.or_else(|| self.fate(endpoint, before, state)),
        };
        let (arrived, acked) = (endpoint.arrived(), endpoint.acked());
        let seen = arrived > self.arrived
            || (self.waits_for_room && acked > self.acked)
            || (status.up, status.fin, status.fate) != (self.status.up, self.status.fin, self.status.fate);
        (self.status, self.arrived, self.acked) = (status, arrived, acked);
        seen
    }

    /// Why an endpoint that was in state `before` is in `state` (Linux `tcp_reset`, `tcp_write_err`).
    fn fate(&self, endpoint: &Endpoint, before: State, state: State) -> Option<Fate> {
        if state != State::Closed || before == State::Closed {
            return None;
        }
        Some(match before {
            _ if self.gone => Fate::Closed,
            _ if endpoint.gave_up() => Fate::TimedOut,
            State::SynSent => Fate::Refused,
            State::CloseWait => Fate::Broken,
            State::LastAck | State::Closing | State::TimeWait => Fate::Closed,
            _ => Fate::Reset,
        })
    }
}
