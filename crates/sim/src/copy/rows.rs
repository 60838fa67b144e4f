//! Rows of the transfers: at samples and at the end, and what the summary says of all together.

use elephan_record::{CopyRow, CopySampleRow, Text};
use elephan_scenario::Plan;
use elephan_units::{Span, Time};
use serde_json::{Value, json};

use super::transfer::{Before, Copies, Copy, LIMITS, NETWORK, READ, RECEIVE_BUFFER, SEND_BUFFER, WRITE, live, longest};
use crate::Error;
use crate::tables::Tables;
use crate::world::World;

impl World {
    /// The warm-up is over.
    pub fn warm_copies(&mut self, now: Time) {
        for copy in &mut self.copies.all {
            copy.count(now, &self.flows, &self.sockets);
            copy.settle(now);
            let cached = copy.pipeline.progress()[2];
            copy.before_warmup = Before { cached, on_disk: copy.on_disk_bytes, limited: copy.limited };
        }
    }

    /// A row of each transfer.
    pub fn sample_copies(&mut self, now: Time) {
        let World { copies, flows, sockets, recorder, rdma, .. } = self;
        let Copies { all, disks, words, empty } = copies;
        for (number, copy) in all.iter_mut().enumerate() {
            let limited = copy.limited_at(now, flows, sockets, &mut copy.spent.clone());
            copy.settle(now);
            let delivered = |(stream, &(id, number)): (u32, &(u32, u32))| match live(flows, id, number) {
                Some(flow) => flow.delivered(sockets, rdma),
                None => copy.pipeline.offered(stream),
            };
            let disk = disks[copy.plan.to as usize].as_ref();
            let [read, _, cached] = copy.pipeline.progress();
            let [near, far] = copy.pipeline.waiting();
            let ns = limited.map(|ps| Span(ps).ns());
            recorder.copy_samples.push(CopySampleRow {
                time_ns: now.ns(),
                copy: number as i64,
                read_bytes: read as i64,
                delivered_bytes: (0u32..).zip(&copy.flows).map(delivered).sum::<u64>() as i64,
                cached_bytes: cached as i64,
                on_disk_bytes: copy.on_disk_bytes as i64,
                cache_bytes: disk.map_or(0, |disk| disk.cached_bytes(now)) as i64,
                buffers_near: near as i64,
                buffers_far: far as i64,
                limit: longest(&limited, &copy.sampled).map_or(*empty, |i| words[i]),
                limited_read_ns: ns[READ],
                limited_network_ns: ns[NETWORK],
                limited_send_buffer_ns: ns[SEND_BUFFER],
                limited_receive_buffer_ns: ns[RECEIVE_BUFFER],
                limited_write_ns: ns[WRITE],
            });
            copy.sampled = limited;
        }
    }

    /// The last rows of the transfers, and that each byte came through once; answers what the summary says.
    pub fn finish_copies(&mut self) -> Result<Value, Error> {
        let now = self.plan.duration;
        let World { copies, flows, sockets, recorder, tables, plan, .. } = self;
        if copies.all.is_empty() {
            return Ok(Value::Null);
        }
        let mut sum = Total::default();
        for (number, copy) in copies.all.iter_mut().enumerate() {
            copy.count(now, flows, sockets);
            copy.settle(now);
            copy.check(number)?;
            let row = copy.row((now, plan), number, (tables, &copies.words, copies.empty));
            sum.add(&row, copy, (now, plan));
            recorder.copies.push(row);
        }
        Ok(sum.summary())
    }
}

impl Copy {
    /// Conservation: nothing is received that was not read, nothing written that was not received, and a transfer that is
    /// complete is the file.
    fn check(&self, number: usize) -> Result<(), Error> {
        let [read, received, written] = self.pipeline.progress();
        let whole = self.ends.cached.is_none() || written == read;
        if received <= read && written <= received && self.on_disk_bytes <= written + self.writing_bytes() && whole {
            return Ok(());
        }
        let on_disk = self.on_disk_bytes;
        Err(Error::Conservation(format!(
            "copy {number}: {read} bytes read, {received} received, {written} in the cache, {on_disk} on the disk"
        )))
    }

    /// A block that is on the disk in part when it is not yet in the cache counts as on its way.
    fn writing_bytes(&self) -> u64 {
        self.pipeline.program().block.get()
    }

    /// Bytes that came to where the transfer is complete, cache or disk, after the warm-up.
    fn measured_bytes(&self) -> u64 {
        if self.pipeline.program().to_disk {
            self.on_disk_bytes - self.before_warmup.on_disk
        } else {
            self.pipeline.progress()[2] - self.before_warmup.cached
        }
    }

    fn row(
        &self,
        (now, plan): (Time, &Plan),
        number: usize,
        (tables, words, empty): (&Tables, &[Text; 5], Text),
    ) -> CopyRow {
        let [read, received, cached] = self.pipeline.progress();
        let from = self.start.max(plan.warmup);
        let rate = |bytes: u64, end: Option<Time>| {
            let span = end.unwrap_or(now).min(now).since(from).seconds();
            if span > 0.0 { bytes as f64 * 8.0 / span } else { 0.0 }
        };
        let before = &self.before_warmup;
        let cached_bps = rate(cached - before.cached, self.ends.cached);
        let on_disk_bps = rate(self.on_disk_bytes - before.on_disk, self.ends.on_disk);
        let ns = |i: usize| Span(self.limited[i] - before.limited[i]).ns();
        let program = self.pipeline.program();
        let passed = |end: Option<Time>| end.filter(|end| *end <= now).map(Time::ns);
        CopyRow {
            copy: number as i64,
            traffic: tables.traffic(self.traffic),
            source: tables.node(self.plan.from),
            destination: tables.node(self.plan.to),
            streams: self.flows.len() as i64,
            flow: self.flows.first().map_or(0, |(_, number)| i64::from(*number)),
            size_bytes: program.size.map(|size| size.get() as i64),
            start_ns: self.start.ns(),
            read_ns: passed(self.ends.read),
            received_ns: passed(self.ends.received),
            cached_ns: passed(self.ends.cached),
            on_disk_ns: passed(self.ends.on_disk),
            completed: self.end().is_some_and(|end| end <= now),
            read_bytes: read as i64,
            received_bytes: received as i64,
            cached_bytes: cached as i64,
            on_disk_bytes: self.on_disk_bytes as i64,
            cached_bps,
            on_disk_bps,
            rate_bps: if program.to_disk { on_disk_bps } else { cached_bps },
            limit: longest(&self.limited, &before.limited).map_or(empty, |i| words[i]),
            limited_read_ns: ns(READ),
            limited_network_ns: ns(NETWORK),
            limited_send_buffer_ns: ns(SEND_BUFFER),
            limited_receive_buffer_ns: ns(RECEIVE_BUFFER),
            limited_write_ns: ns(WRITE),
        }
    }
}

/// All transfers together.
#[derive(Default)]
struct Total {
    transfers: u64,
    completed: u64,
    bytes: u64,
    /// When each transfer ran, within the measured time.
    running: Vec<(Time, Time)>,
    limited: [u64; LIMITS.len()],
}

impl Total {
    fn add(&mut self, row: &CopyRow, copy: &Copy, (now, plan): (Time, &Plan)) {
        self.transfers += 1;
        self.completed += u64::from(row.completed);
        self.bytes += copy.measured_bytes();
        self.running.push((copy.start.max(plan.warmup), copy.end().map_or(now, |end| end.min(now))));
        for (sum, (all, before)) in self.limited.iter_mut().zip(copy.limited.iter().zip(&copy.before_warmup.limited)) {
            *sum += all - before;
        }
    }

    /// Time during which at least one transfer ran, in seconds.
    fn running_s(&mut self) -> f64 {
        self.running.sort_unstable();
        let (mut seconds, mut covered) = (0.0, Time::ZERO);
        for &(start, end) in &self.running {
            let from = start.max(covered);
            if end > from {
                seconds += end.since(from).seconds();
                covered = end;
            }
        }
        seconds
    }

    /// The rate of all transfers together while any of them ran, and the share of the time that each stage held up the others.
    fn summary(&mut self) -> Value {
        let seconds = self.running_s();
        let rate_bps = if seconds > 0.0 { self.bytes as f64 * 8.0 / seconds } else { 0.0 };
        let all = self.limited.iter().sum::<u64>().max(1) as f64;
        let longest = (0..LIMITS.len()).rev().max_by_key(|i| self.limited[*i]).filter(|i| self.limited[*i] > 0);
        let shares: serde_json::Map<String, Value> =
            LIMITS.iter().zip(self.limited).map(|(name, ps)| ((*name).to_owned(), json!(ps as f64 / all))).collect();
        json!({
            "transfers": self.transfers, "completed": self.completed, "rate_bps": rate_bps,
            "limit": longest.map(|i| LIMITS[i]), "limited": shares,
        })
    }
}
