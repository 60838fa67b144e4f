//! Superposed on/off sources with Pareto periods (docs/models/traffic.md and Taqqu, Willinger and Sherman 1997).

use elephan_random::Stream;
use elephan_traffic::Onoff as Spec;
use elephan_units::PS_PER_S;

use super::source::Place;

/// A Pareto period: its scale follows from the mean, and no period is longer than `longest`.
#[derive(Clone, Copy)]
struct Period {
    shape: f64,
    scale: f64,
    longest: f64,
}

impl Period {
    fn new(mean: f64, spec: &Spec) -> Period {
        Period { shape: spec.shape, scale: mean * (spec.shape - 1.0) / spec.shape, longest: mean * spec.cap }
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        stream.pareto(self.shape, self.scale).min(self.longest)
    }

    /// What is left of the period at a random instant; one beyond the cap is drawn again.
    fn residual(&self, stream: &mut Stream) -> f64 {
        loop {
            let is_flat = stream.uniform() < (self.shape - 1.0) / self.shape;
            let left =
                if is_flat { self.scale * stream.uniform() } else { stream.pareto(self.shape - 1.0, self.scale) };
            if left < self.longest {
                return left;
            }
        }
    }
}

/// A source: when its next packet is due and when its ON period ends, in picoseconds after the start.
struct Member {
    stream: Stream,
    next: f64,
    on_until: f64,
}

pub struct Onoff {
    spacing: f64,
    on: Period,
    off: Period,
    members: Vec<Member>,
    lasts: f64,
    due: u64,
}

impl Onoff {
    /// Returns the sources, whose packets have so many bytes on the wire.
    pub fn new(spec: &Spec, wire_bytes: u64, place: &Place<'_>) -> Onoff {
        let peak_bps = spec.load.0 as f64 / (f64::from(spec.sources) * spec.duty);
        let mean_on = spec.on.0 as f64;
        let mut all = Onoff {
            spacing: wire_bytes as f64 * 8.0 * PS_PER_S as f64 / peak_bps,
            on: Period::new(mean_on, spec),
            off: Period::new(mean_on * (1.0 - spec.duty) / spec.duty, spec),
            members: Vec::new(),
            lasts: place.lasts as f64,
            due: 0,
        };
        for i in 0..spec.sources {
            let mut stream = (place.stream)(&format!("source[{i}]"));
            let (begins, length) = if stream.uniform() < spec.duty {
                (0.0, all.on.residual(&mut stream))
            } else {
                (all.off.residual(&mut stream), all.on.draw(&mut stream))
            };
            let next = begins + all.spacing * stream.uniform();
            let mut member = Member { stream, next, on_until: begins + length };
            all.find_packet(&mut member);
            all.members.push(member);
        }
        all
    }

    /// Moves a packet that would come after the ON period to the next ON period with room for one. The search ends with the run.
    fn find_packet(&self, member: &mut Member) {
        while member.next >= member.on_until && member.on_until <= self.lasts {
            let begins = member.on_until + self.off.draw(&mut member.stream);
            member.on_until = begins + self.on.draw(&mut member.stream);
            member.next = begins + self.spacing * member.stream.uniform();
        }
    }

    /// Returns when the next packet of any source is due. Of two sources at one picosecond the second comes one later.
    pub fn next(&mut self) -> u64 {
        let first = (0..self.members.len()).min_by_key(|&i| (self.members[i].next as u64, i)).expect("a source");
        let mut member = self.members.remove(first);
        let at = member.next as u64;
        member.next += self.spacing;
        self.find_packet(&mut member);
        self.members.insert(first, member);
        self.due = at.max(self.due + 1);
        self.due
    }
}
