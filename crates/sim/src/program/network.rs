//! The network that programs use: the world of a scenario, which runs until one of them would see something.

use std::sync::Arc;

use elephan_engine::Event;
use elephan_record::Recorder;
use elephan_scenario::Plan;
use elephan_tcp::Endpoint;
use elephan_units::Time;
use serde_json::Value;

use super::state::{Address, Door, End, Report, Status};
use crate::Error;
use crate::net::{Letter, Paths};
use crate::world::{Progress, World};

/// Events between two looks at the world from outside.
const BETWEEN_LOOKS: u64 = 1 << 14;
/// An ICMP message quotes no more of a packet than fits into so many bytes.
const ICMP_MOST_BYTES: u32 = 576;

/// A network whose hosts are used by programs.
pub struct Network {
    world: World,
    now: Time,
    looked: (u64, Time),
}

impl Network {
    /// The network of `plan` at its beginning.
    pub fn new(plan: Arc<Plan>, recorder: Recorder) -> Result<Network, Error> {
        let world = World::new(plan.clone(), &plan, recorder, Paths::default())?;
        Ok(Network { world, now: Time::ZERO, looked: (0, Time::ZERO) })
    }

    /// How far it has come.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the scenario.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.world.plan
    }

    /// Lets connections to an address in, `backlog` of which may wait to be accepted.
    pub fn listen(&mut self, at: Address, backlog: usize) {
        if let Some(program) = self.world.program.as_deref_mut() {
            program.doors.entry(at).or_insert(Door { backlog, waiting: 0 }).backlog = backlog;
        }
    }

    /// Refuses connections to an address from now on.
    pub fn unlisten(&mut self, at: Address) {
        if let Some(program) = self.world.program.as_deref_mut() {
            program.doors.remove(&at);
        }
    }

    /// Opens a connection; `None` if the scenario has no traffic of kind `program` between the hosts, or no path.
    /// `prepare` sets options of the endpoint before it begins.
    pub fn connect(&mut self, from: Address, to: Address, prepare: &mut dyn FnMut(Time, &mut Endpoint)) -> Option<End> {
        self.world.call(self.now, from, to, prepare)
    }

    /// An application has accepted the connection of this end: it no longer counts in the backlog.
    pub fn accept(&mut self, end: End) {
        if let Some(program) = self.world.program.as_deref_mut() {
            program.leave_door(end.call);
        }
    }

    /// Returns what an application may know of its end.
    pub fn status(&self, end: End) -> Status {
        let Some(program) = self.world.program.as_deref() else { return Status::default() };
        let unread = self.endpoint(end).map(Endpoint::unread);
        let status = program.status(end);
        Status { unread: unread.unwrap_or(status.unread), ..status }
    }

    /// Returns the addresses of an end and of its peer.
    pub fn addresses(&self, end: End) -> Option<[Address; 2]> {
        Some(self.world.program.as_deref()?.addresses(end))
    }

    /// The endpoint, while it lives.
    pub fn endpoint(&self, end: End) -> Option<&Endpoint> {
        self.world.socket_of(end).map(|socket| &self.world.sockets[socket as usize].endpoint)
    }

    /// Lets an application act on its endpoint, which then sends what it may. `None` if it is gone.
    pub fn act<R>(&mut self, end: End, act: impl FnOnce(Time, &mut Endpoint) -> R) -> Option<R> {
        let now = self.now;
        self.world.act(now, end, |endpoint| act(now, endpoint))
    }

    /// An application writes, no more than its send buffer takes; captures have the bytes.
    pub fn write(&mut self, end: End, data: &[u8]) {
        if end.side == 1 {
            self.world.answer_flow(self.now, end.call);
        }
        self.world.capture_write(end, data);
        self.act(end, |now, endpoint| endpoint.write(now, data.len() as u64));
    }

    /// Acknowledgements to this end are reported: its application waits for room in its send buffer.
    pub fn wait_for_room(&mut self, end: End) {
        if let Some(program) = self.world.program.as_deref_mut() {
            program.wait_for_room(end);
        }
    }

    /// No application has this end any more; nothing of it is reported.
    pub fn leave(&mut self, end: End) {
        let arrived = self.endpoint(end).map_or(0, Endpoint::arrived);
        if let Some(program) = self.world.program.as_deref_mut() {
            program.leave(end, arrived);
            if end.side == 1 {
                program.leave_door(end.call);
            }
        }
    }

    /// Sends a datagram of so many bytes; returns its number among those from `from` to `to`. `None` if the scenario has no traffic
    /// of kind `program` between the hosts, or no path.
    pub fn send_datagram(&mut self, from: Address, to: Address, data: &[u8]) -> Option<u32> {
        let letter = || Letter::Datagram(data.to_vec());
        self.world.send_of_program(self.now, from, to, (data.len() as u64, &letter))
    }

    /// Sends the ICMP message that nobody waits at `from` for a datagram of `bytes` bytes from `to`; returns as
    /// [`Network::send_datagram`] does.
    pub fn send_unreachable(&mut self, from: Address, to: Address, bytes: u64) -> Option<u32> {
        let ip = self.world.ip_of_program(from, to)?;
        let quoted = ip.udp_headers_bytes() + bytes as u32;
        // An ICMP header is as long as that of UDP; the message has 576 bytes at most (RFC 1812 section 4.3.2.3).
        let carried = quoted.min(ICMP_MOST_BYTES - ip.udp_headers_bytes());
        self.world.send_of_program(self.now, from, to, (u64::from(carried), &|| Letter::Unreachable(quoted)))
    }

    /// Returns the bytes of the largest datagram between two hosts: larger ones would have to be cut into several packets.
    pub fn datagram_max(&self, from: u32, to: u32) -> Option<u64> {
        let &(_, pair) = self.world.program.as_deref()?.pairs.get(&(from, to))?;
        let options = &self.world.plan.options[pair.sender as usize];
        Some(options.mss.0 + u64::from(options.ip.tcp_headers_bytes() - options.ip.udp_headers_bytes()))
    }

    /// Runs to `until`, or to the first instant at which something is reported. `watch` is called now and then and answers whether to
    /// go on.
    pub fn run(&mut self, until: Time, watch: &mut dyn FnMut(&Progress) -> bool) -> Result<(), Error> {
        let until = until.min(self.world.plan.duration);
        let bound = Event::bound(until);
        while !self.has_reports() {
            let (now, more) = self.world.events(self.now, bound, 1);
            self.now = now;
            if !more {
                self.now = self.now.max(until);
                break;
            }
            if self.world.events_done - self.looked.0 >= BETWEEN_LOOKS {
                self.look(watch)?;
            }
        }
        Ok(())
    }

    fn look(&mut self, watch: &mut dyn FnMut(&Progress) -> bool) -> Result<(), Error> {
        let (events, since) = std::mem::replace(&mut self.looked, (self.world.events_done, self.now));
        self.world.look(self.now, self.now - since, self.world.events_done - events, watch)
    }

    fn has_reports(&self) -> bool {
        self.world.program.as_deref().is_some_and(|program| !program.reports.is_empty())
    }

    /// Takes what has been reported.
    pub fn reports(&mut self) -> Vec<Report> {
        self.world.program.as_deref_mut().map(|program| std::mem::take(&mut program.reports)).unwrap_or_default()
    }

    /// Whether nothing is under way and no timer of a connection is armed: only a program can make something happen.
    pub fn is_idle(&self) -> bool {
        self.world.is_quiet()
    }

    /// Closes the books at this instant. Returns the summary, and the recorder with the rows.
    pub fn finish(mut self) -> Result<(Value, Recorder), Error> {
        if self.now < self.world.plan.duration {
            self.end_here();
        }
        self.world.net.find_deadlocks(self.now);
        self.world.finish()
    }

    /// The run is as long as the programs were; flows that have ended were counted over the whole scenario.
    fn end_here(&mut self) {
        let world = &mut self.world;
        let mut plan = Plan::clone(&world.plan);
        plan.duration = self.now;
        let seconds = plan.duration.since(plan.warmup).seconds();
        world.plan = Arc::new(plan);
        world.net.window.end = self.now;
        for row in &mut world.tables.ended {
            row.goodput_bps = if seconds > 0.0 { row.measured_bytes as f64 * 8.0 / seconds } else { 0.0 };
        }
    }
}
