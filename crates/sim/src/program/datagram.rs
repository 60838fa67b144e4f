//! Datagrams of programs: those from one address to another are a flow.

use elephan_tcp::IpVersion;
use elephan_units::Time;

use super::state::{Address, Report, Stream};
use crate::flow::{Application, Datagrams};
use crate::net::Letter;
use crate::world::World;

impl World {
    /// Sends a datagram of so many bytes; returns its number among those from `from` to `to`. `None` if no entry of kind `program`
    /// joins the hosts, or no path.
    pub(super) fn send_of_program(
        &mut self,
        now: Time,
        from: Address,
        to: Address,
        (bytes, letter): (u64, &dyn Fn() -> Letter),
    ) -> Option<u32> {
        let known = self.program.as_deref()?.by_ends.get(&(from, to)).copied();
        let place = match known {
            Some(place) => place,
            None => self.begin_stream_of_program(now, from, to)?,
        };
        let id = self.program.as_deref()?.streams[place as usize].flow;
        let Some(Application::Datagrams(d)) = self.flows[id as usize].as_ref().map(|flow| &flow.application) else {
            return None;
        };
        let number = d.sent_packets as u32;
        if let Some(captures) = &mut self.net.captures {
            let flow = self.flows[id as usize].as_ref()?.number;
            captures.payloads.post(flow, number, letter());
        }
        self.send_next(now, id, bytes);
        Some(number)
    }

    fn begin_stream_of_program(&mut self, now: Time, from: Address, to: Address) -> Option<u32> {
        let program = self.program.as_deref()?;
        let &(traffic, pair) = program.pairs.get(&(from.host, to.host))?;
        let place = program.streams.len() as u32;
        let ordinal = u32::from(from.port) << 16 | u32::from(to.port);
        let application = Application::Datagrams(Box::default());
        let id = self.program_flow(now, (traffic, pair), ordinal, application);
        let flow = self.flows[id as usize].as_ref()?;
        let (number, key) = (flow.number, flow.key);
        let route = self.net.routes.of_flow(pair.from, pair.to, key)?;
        if let Some(Application::Datagrams(d)) = self.flows[id as usize].as_mut().map(|flow| &mut flow.application) {
            **d = Datagrams { route, ..Datagrams::default() };
        }
        if let Some(captures) = &mut self.net.captures {
            captures.name_ports(number, (from.port, to.port));
        }
        let program = self.program.as_deref_mut()?;
        program.streams.push(Stream { from, to, flow: id });
        program.by_ends.insert((from, to), place);
        program.by_flow.insert(number, place);
        Some(place)
    }

    /// The version of IP between two addresses.
    pub(super) fn ip_of_program(&self, from: Address, to: Address) -> Option<IpVersion> {
        let &(traffic, _) = self.program.as_deref()?.pairs.get(&(from.host, to.host))?;
        Some(self.plan.traffic[traffic as usize].ip)
    }

    /// A datagram of flow `number` is in, if that is a program's.
    pub fn report_datagram(&mut self, flow: u32, number: u32) {
        let Some(program) = self.program.as_deref_mut() else { return };
        if let Some(&place) = program.by_flow.get(&flow) {
            let Stream { from, to, .. } = program.streams[place as usize];
            program.reports.push(Report::Datagram { from, to, number });
        }
    }
}
