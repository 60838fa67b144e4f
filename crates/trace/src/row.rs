//! A connection as rows of the tables.

use std::collections::BTreeMap;
use std::net::IpAddr;

use elephan_record::{ConnectionFindingRow, ConnectionRow, ConnectionSampleRow, ConnectionStretchRow, Text};

use crate::cause;
use crate::division::{Owner, Shares};
use crate::finding::{self, Finding};
use crate::half::Half;
use crate::origin::Opening;
use crate::packet::{End, Key};
use crate::table::{Connections, Live, event};
use crate::words::{self, Told};

fn name_of(names: &BTreeMap<IpAddr, String>, address: IpAddr) -> String {
    names.get(&address).cloned().unwrap_or_else(|| address.to_string())
}

/// A time in which the clock of the capture ticked; a shorter one is not known.
fn ticked(ns: u64) -> Option<i64> {
    (ns > 0).then_some(ns as i64)
}

impl Connections<'_> {
    pub fn write(&mut self, key: Key, mut live: Live) {
        if live.connection.halves.iter().all(|half| half.number.is_none()) {
            let opener = usize::from(live.connection.opener == Some(false));
            live.connection.halves[opener].number = Some(self.made);
            self.made += 1;
        }
        let mut told: [Option<(ConnectionRow, Vec<Finding>)>; 2] = [None, None];
        for (end, told) in told.iter_mut().enumerate() {
            let until = live.connection.end;
            let half = &mut live.connection.halves[end];
            let shares = half.division.finish(until);
            half.signs.finish(until, half.counts.segs_retrans, half.highest > half.acked);
            let half = &live.connection.halves[end];
            self.behind_ack += half.counts.behind_ack;
            self.far_acks += half.counts.far_acks;
            self.cut_options += half.counts.cut_options;
            let Some(number) = half.number else { continue };
            if let Some(note) = half.recovery.last_cut() {
                let kind = self.word(note.kind);
                self.recorder.trace_events.push(event(number, kind, note));
            }
            let row = self.row(key, &live, end, number, &shares);
            let scale_known = row.cur_rwin_rcvd.is_some();
            self.recorder.connections.push(row);
            let findings = self.findings(&live, end, number, &shares);
            self.stretches(&live.connection.halves[end], number);
            *told = Some((row, findings)).filter(|_| key.2);
            for (time, span, bin) in live.connection.halves[end].bins.rows() {
                self.recorder.connection_samples.push(ConnectionSampleRow {
                    time_ns: time as i64,
                    span_ns: span as i64,
                    connection: number,
                    sent_bytes: bin.state.sent as i64,
                    delivered_bytes: bin.state.acked as i64,
                    data_octets_out: bin.octets as i64,
                    octets_retrans: bin.again as i64,
                    inflight_bytes: bin.state.sent.saturating_sub(bin.state.acked) as i64,
                    inflight_max_bytes: bin.inflight_max as i64,
                    cur_rwin_rcvd: scale_known.then_some(bin.state.window as i64),
                    rtt_min_ns: bin.rtts().and_then(|(min, _)| ticked(min)),
                    rtt_mean_ns: bin.rtts().and_then(|(_, mean)| ticked(mean)),
                    dup_acks_in: i64::from(bin.dup_acks),
                    burst_max_segs: i64::from(bin.burst_max),
                    ..ConnectionSampleRow::default()
                });
            }
        }
        self.tell(key, &live, &told);
    }

    /// Writes what was found about a direction; that of the opener, or the only one, has what is found about the connection as well.
    fn findings(&mut self, live: &Live, end: usize, number: i64, shares: &Shares) -> Vec<Finding> {
        let c = &live.connection;
        let first = match (c.halves[0].number, c.halves[1].number) {
            (Some(a), Some(b)) => a.min(b),
            (a, b) => a.or(b).unwrap_or(number),
        };
        let mut found = if number == first { finding::of_connection(c) } else { Vec::new() };
        found.extend(finding::of_half(c, end, shares));
        cause::price(&mut found, &c.halves[end], shares);
        for one in &found {
            let row = ConnectionFindingRow {
                connection: number,
                kind: self.word(one.kind.name()),
                begin_ns: one.spell.begin as i64,
                end_ns: one.spell.end as i64,
                frame: one.spell.frame as i64,
                count: one.spell.count as i64,
                value: one.value as i64,
                beside: one.beside as i64,
                cost_ns: one.cost_ns() as i64,
            };
            self.recorder.connection_findings.push(row);
        }
        found
    }

    fn stretches(&mut self, half: &Half, number: i64) {
        for &(begin, end, owner) in half.division.stretches.all() {
            let owner = self.word(owner.name());
            let row = ConnectionStretchRow { connection: number, begin_ns: begin as i64, end_ns: end as i64, owner };
            self.recorder.connection_stretches.push(row);
        }
    }

    /// Keeps the sentences about a connection that may be asked for, and its troubles.
    fn tell(&mut self, key: Key, live: &Live, told: &[Option<(ConnectionRow, Vec<Finding>)>; 2]) {
        let (low, high) = if live.swapped { (key.1, key.0) } else { (key.0, key.1) };
        for end in 0..2 {
            let Some((row, findings)) = &told[end] else { continue };
            let (from, to) = if end == 0 { (low, high) } else { (high, low) };
            for finding in findings {
                let of = |end: End| format!("{}:{}", name_of(&self.names, end.0), end.1);
                let name = || format!("{} → {}", of(from), of(to));
                self.ranks.add(finding, name);
            }
            if !self.told.wants(row) {
                continue;
            }
            let names = [from.0, to.0].map(|address| name_of(&self.names, address));
            let place = |end: usize| live.connection.vantage(end).name();
            let own = Told { row, source: &names[0], destination: &names[1], place: place(end), findings };
            let other = told[1 - end].as_ref().map(|(row, findings)| Told {
                row,
                source: &names[1],
                destination: &names[0],
                place: place(1 - end),
                findings,
            });
            let lines = words::lines(&own, other.as_ref());
            self.told.keep(row, lines);
        }
    }

    fn host(&mut self, address: IpAddr) -> Text {
        *self.hosts.entry(address).or_insert_with(|| self.recorder.intern(&name_of(&self.names, address)))
    }

    #[expect(clippy::too_many_lines, reason = "a line for each column of a row")]
    fn row(&mut self, key: Key, live: &Live, end: usize, number: i64, shares: &Shares) -> ConnectionRow {
        let c = &live.connection;
        let (first, second) = if (end == 0) != live.swapped { (key.0, key.1) } else { (key.1, key.0) };
        let (half, peer): (&Half, &Half) = (&c.halves[end], &c.halves[1 - end]);
        let counts = &half.counts;
        let both = |of: &dyn Fn(&Opening) -> bool| {
            half.origin.opening.as_ref().is_some_and(of) && peer.origin.opening.as_ref().is_some_and(of)
        };
        let (scale_known, options_seen) = (c.shift(1 - end).is_some(), counts.cut_options == 0);
        let scaled = both(&|o| o.window_scale.is_some());
        let scale =
            |half: &Half| half.origin.opening.map(|o| if scaled { i64::from(o.window_scale.unwrap_or(0)) } else { 0 });
        let span =
            half.data_start.zip(half.data_end).map(|(begin, end)| end.saturating_sub(begin)).filter(|&span| span > 0);
        let time = |time: u64| time as i64;
        let is_tcp = key.2;
        let held = |owner: Owner| Some(time(shares.of(owner))).filter(|_| is_tcp);
        ConnectionRow {
            connection: number,
            protocol: self.word(if key.2 { "tcp" } else { "udp" }),
            source: self.host(first.0),
            source_port: i64::from(first.1),
            destination: self.host(second.0),
            destination_port: i64::from(second.1),
            opener: c.opener.map(|first| first == (end == 0)),
            vantage: self.word(c.vantage(end).name()),
            start_ns: time(c.start),
            end_ns: time(c.end),
            data_start_ns: half.data_start.map(time),
            data_end_ns: half.data_end.map(time),
            handshake_rtt_ns: c.handshake_rtt.map(time),
            setup_ns: c.setup.and_then(ticked),
            syn: half.origin.opening.is_some(),
            fin: half.fin,
            reset: c.reset,
            delivered_bytes: half.acked as i64,
            goodput_bps: span.map(|span| half.acked as f64 * 8e9 / span as f64),
            segs_out: counts.segs_out as i64,
            segs_in: counts.segs_in as i64,
            data_segs_out: counts.data_segs_out as i64,
            data_octets_out: counts.data_octets_out as i64,
            segs_retrans: counts.segs_retrans as i64,
            octets_retrans: counts.octets_retrans as i64,
            segs_retrans_fast: half.recovery.fast as i64,
            segs_retrans_timeout: half.recovery.timeout as i64,
            segs_retrans_probe: half.recovery.probe as i64,
            segs_retrans_needless: half.recovery.needless as i64,
            syn_retrans: counts.syn_retrans as i64,
            out_of_order: counts.out_of_order as i64,
            missed_bytes: counts.missed as i64,
            dup_acks_in: counts.dup_acks_in as i64,
            sacks_rcvd: options_seen.then_some(counts.sacks_rcvd as i64),
            sack_blocks_rcvd: options_seen.then_some(counts.sack_blocks_rcvd as i64),
            zero_rwin_rcvd: counts.zero_rwin_rcvd as i64,
            window_probes: counts.window_probes as i64,
            cur_rwin_rcvd: half.window.map(time).filter(|_| scale_known),
            max_rwin_rcvd: half.window.map(|_| time(counts.max_rwin)).filter(|_| scale_known),
            rwin_closed_ns: time(half.closed_ns(c.end)),
            held_closed_ns: held(Owner::Closed),
            held_window_ns: held(Owner::Window),
            held_application_ns: held(Owner::Application),
            held_recovery_ns: held(Owner::Recovery),
            held_timer_ns: held(Owner::Timer),
            held_rate_ns: held(Owner::Rate),
            held_path_ns: held(Owner::Path),
            held_unknown_ns: held(Owner::Unknown),
            to_sender_ns: c.to_end(end).map(time),
            to_receiver_ns: c.to_end(1 - end).map(time),
            turns: Some(time(half.turns.count)),
            turn_median_ns: half.turns.quantile(0.5).map(time),
            turn_p90_ns: half.turns.quantile(0.9).map(time),
            turn_max_ns: half.turns.max.map(time),
            turn_max_at_ns: half.turns.max.map(|_| time(half.longest_turn.0)),
            turn_max_frame: half.turns.max.map(|_| time(half.longest_turn.1)),
            first_frame: Some(time(c.first_frame)).filter(|_| is_tcp),
            mss_sent: half.origin.opening.and_then(|o| o.mss).map(i64::from),
            mss_rcvd: peer.origin.opening.and_then(|o| o.mss).map(i64::from),
            win_scale_sent: scale(half),
            win_scale_rcvd: scale(peer),
            time_stamps: both(&|o| o.timestamps),
            will_use_sack: both(&|o| o.sack),
            ecn: c.ecn,
            ce_out: counts.ce_out as i64,
            ece_in: counts.ece_in as i64,
            acc_ecn: Some(c.acc_ecn).filter(|_| is_tcp),
            ace_marks: Some(time(counts.ace_marks)).filter(|_| c.acc_ecn),
            count_rtt: half.rtts.count as i64,
            min_rtt_ns: half.rtts.min.and_then(ticked),
            median_rtt_ns: half.rtts.quantile(0.5).and_then(ticked),
            p99_rtt_ns: half.rtts.quantile(0.99).and_then(ticked),
            max_rtt_ns: half.rtts.max.and_then(ticked),
            sum_rtt_ns: time(half.rtts.sum),
            cong_signals: half.recovery.cuts as i64,
            cong_signals_marked: Some(time(half.recovery.marked)),
            refused_syn_bytes: Some(time(counts.refused_syn_bytes)),
            max_inflight_bytes: counts.max_inflight as i64,
            bursts: half.bursts as i64,
            burst_max_segs: half.burst_max_segs as i64,
            burst_max_bytes: half.burst_max_bytes as i64,
        }
    }
}
