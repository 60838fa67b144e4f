//! Deadlocks of paused ports, after "Deadlock" of docs/models/pfc.md.

use elephan_link::PausePer;
use elephan_units::{PS_PER_S, Time};
use serde_json::{Value, json};

use super::engine::Engine;
use super::pause::{PAUSE_WIRE_BYTES, Switch, quanta_ps};

/// A pause counts once these bytes could have arrived, and the response time is over: two full frames and the PAUSE.
const UNDER_WAY_BYTES: u64 = 2 * 1538 + PAUSE_WIRE_BYTES;

/// Ports that wait for each other's buffers, and when the last of their pauses began.
pub struct Deadlock {
    closed: u64,
    ports: Vec<usize>,
}

impl Engine<'_> {
    /// A pause is repeated through `port`: a deadlock is possible if that leads to a switch and a port of this switch is paused.
    pub fn look_for_deadlock(&mut self, port: usize) {
        let link = &self.plan.links[port];
        let Some(switch) = &self.switches[link.from as usize] else { return };
        let is_paused = |&out: &usize| self.ports[out].gate.closed_until(self.now).is_some();
        if self.switches[link.to as usize].is_some() && switch.egress.iter().any(is_paused) {
            self.find_deadlocks();
        }
    }

    pub fn find_deadlocks(&mut self) {
        let stuck = self.stuck();
        for &port in &stuck {
            let Some(found) = self.cycle(&stuck, port) else { continue };
            if self.deadlocks.iter().all(|known| known.ports != found.ports) {
                for &port in &found.ports {
                    self.note_deadlock(port, Time(found.closed).seconds());
                }
                self.deadlocks.push(found);
            }
        }
    }

    /// The switch that a port leads to, and the number of the port there.
    fn pauser(&self, port: usize) -> Option<(&Switch, usize)> {
        let link = &self.plan.links[port];
        let switch = self.switches[link.to as usize].as_ref()?;
        let number = switch.egress.iter().position(|&out| out == link.reverse as usize)?;
        Some((switch, number))
    }

    /// Whether a port is paused now, and what was under way when the pause began has arrived.
    fn is_held(&self, port: usize) -> bool {
        let Some((switch, number)) = self.pauser(port) else { return false };
        if !switch.paused.contains(&number) || self.ports[port].gate.closed_until(self.now).is_none() {
            return false;
        }
        let rate_bps = self.ports[port].rate_bps;
        let under_way = u128::from(UNDER_WAY_BYTES) * 8 * u128::from(PS_PER_S) / u128::from(rate_bps);
        let reaction = self.plan.nodes[self.plan.links[port].from as usize].pause;
        let response = quanta_ps(rate_bps, reaction.response_quanta);
        self.now >= switch.since[number] + 2 * self.ports[port].delay + under_way as u64 + response
    }

    /// The ports of the greatest set that nothing outside it can let go on.
    fn stuck(&self) -> Vec<usize> {
        let mut stuck: Vec<usize> = (0..self.ports.len()).filter(|&port| self.is_held(port)).collect();
        loop {
            let stay: Vec<usize> = stuck.iter().copied().filter(|&port| self.stays(&stuck, port)).collect();
            if stay.len() == stuck.len() {
                return stuck;
            }
            stuck = stay;
        }
    }

    /// The bytes that hold the port behind `ingress` of a switch and wait at each port of the switch that is stuck.
    fn behind(&self, switch: &Switch, stuck: &[usize], ingress: usize) -> Vec<(u64, usize)> {
        let per = switch.pause.map(|pause| pause.per);
        let bytes = |(to, &out): (usize, &usize)| {
            let taken = self.ports[out].queue.line.waiting().filter(|one| match per {
                Some(PausePer::Egress) => switch.holds[to][ingress],
                Some(PausePer::Ingress) => one.packet.ingress == ingress,
                _ => true,
            });
            let cell = if per == Some(PausePer::Egress) { 1 } else { switch.cell };
            (taken.map(|one| one.bytes.next_multiple_of(cell)).sum(), out)
        };
        switch.egress.iter().enumerate().filter(|(_, out)| stuck.contains(out)).map(bytes).collect()
    }

    /// What of all frames of a switch waits at ports that are stuck.
    fn behind_all(&self, switch: &Switch, stuck: &[usize]) -> Vec<(u64, usize)> {
        (0..switch.egress.len()).flat_map(|ingress| self.behind(switch, stuck, ingress)).collect()
    }

    /// Whether a port would stay paused if everything that waits for ports outside the set had left.
    fn stays(&self, stuck: &[usize], port: usize) -> bool {
        let Some((switch, ingress)) = self.pauser(port) else { return false };
        let Some(pause) = switch.pause else { return false };
        let (xoff, xon) = (pause.xoff.0, pause.xon.0);
        let behind = self.behind(switch, stuck, ingress);
        let own: u64 = behind.iter().map(|(bytes, _)| bytes).sum();
        match pause.per {
            PausePer::Egress => behind.iter().any(|(bytes, _)| *bytes > xon),
            PausePer::Memory => own > xon,
            PausePer::Ingress => {
                let used: u64 = self.behind_all(switch, stuck).iter().map(|(bytes, _)| bytes).sum();
                let room = (xoff - xon).max(1).min(switch.capacity);
                used > 0 && (own > xon || switch.capacity - used.min(switch.capacity) < room)
            }
        }
    }

    /// The port behind which most waits of what holds a port; of a shared buffer, if nothing of its own does, what fills it.
    fn waits_for(&self, stuck: &[usize], port: usize) -> Option<usize> {
        let (switch, ingress) = self.pauser(port)?;
        let most = |of: Vec<(u64, usize)>| of.into_iter().max().filter(|(bytes, _)| *bytes > 0).map(|(_, out)| out);
        let is_shared = switch.pause.is_some_and(|pause| pause.per != PausePer::Egress);
        most(self.behind(switch, stuck, ingress))
            .or_else(|| is_shared.then(|| most(self.behind_all(switch, stuck))).flatten())
    }

    /// The cycle to which a stuck port leads, from its first port on.
    fn cycle(&self, stuck: &[usize], port: usize) -> Option<Deadlock> {
        let mut way = vec![port];
        let first = loop {
            let next = self.waits_for(stuck, *way.last()?)?;
            match way.iter().position(|&before| before == next) {
                Some(first) => break first,
                None => way.push(next),
            }
        };
        let mut ports = way.split_off(first);
        let least = (0..ports.len()).min_by_key(|&i| ports[i])?;
        ports.rotate_left(least);
        let since = |&port: &usize| self.pauser(port).map_or(0, |(switch, number)| switch.since[number]);
        Some(Deadlock { closed: ports.iter().map(since).max()?, ports })
    }

    /// Returns what the summary says of the first deadlock.
    pub fn first_deadlock(&self) -> Value {
        let Some(Deadlock { closed, ports }) = self.deadlocks.first() else { return Value::Null };
        let names: Vec<&str> = ports.iter().map(|&port| self.plan.links[port].name.as_str()).collect();
        json!({ "since_s": Time(*closed).seconds(), "ports": names, "priority": null })
    }
}
