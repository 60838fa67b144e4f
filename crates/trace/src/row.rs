//! A connection as rows of the tables.

use std::net::IpAddr;

use elephan_record::{ConnectionRow, ConnectionSampleRow, Text};

use crate::half::Half;
use crate::origin::Opening;
use crate::table::{Connections, Key, Live, event};

impl Connections<'_> {
    pub fn write(&mut self, key: Key, mut live: Live) {
        if live.connection.halves.iter().all(|half| half.number.is_none()) {
            let opener = usize::from(live.connection.opener == Some(false));
            live.connection.halves[opener].number = Some(self.made);
            self.made += 1;
        }
        for end in 0..2 {
            let half = &live.connection.halves[end];
            self.behind_ack += half.counts.behind_ack;
            self.far_acks += half.counts.far_acks;
            self.cut_options += half.counts.cut_options;
            let Some(number) = half.number else { continue };
            if let Some(note) = half.recovery.last_cut() {
                let kind = self.word(note.kind);
                self.recorder.trace_events.push(event(number, kind, note));
            }
            let row = self.row(key, &live, end, number);
            let scale_known = row.cur_rwin_rcvd.is_some();
            self.recorder.connections.push(row);
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
                    rtt_min_ns: bin.rtts().map(|(min, _)| min as i64),
                    rtt_mean_ns: bin.rtts().map(|(_, mean)| mean as i64),
                    dup_acks_in: i64::from(bin.dup_acks),
                    burst_max_segs: i64::from(bin.burst_max),
                    ..ConnectionSampleRow::default()
                });
            }
        }
    }

    fn host(&mut self, address: IpAddr) -> Text {
        let name = self.names.get(&address).cloned().unwrap_or_else(|| address.to_string());
        self.word(&name)
    }

    fn row(&mut self, key: Key, live: &Live, end: usize, number: i64) -> ConnectionRow {
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
            setup_ns: c.setup.map(time),
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
            rwin_limited_ns: scale_known.then_some(time(counts.rwin_limited)),
            rwin_closed_ns: time(half.closed_ns(c.end)),
            recovery_ns: time(counts.recovery),
            idle_ns: time(half.idle_ns(c.end)),
            mss_sent: half.origin.opening.and_then(|o| o.mss).map(i64::from),
            mss_rcvd: peer.origin.opening.and_then(|o| o.mss).map(i64::from),
            win_scale_sent: scale(half),
            win_scale_rcvd: scale(peer),
            time_stamps: both(&|o| o.timestamps),
            will_use_sack: both(&|o| o.sack),
            ecn: c.ecn,
            ce_out: counts.ce_out as i64,
            ece_in: counts.ece_in as i64,
            count_rtt: half.rtts.count as i64,
            min_rtt_ns: half.rtts.min.map(time),
            median_rtt_ns: half.rtts.quantile(0.5).map(time),
            p99_rtt_ns: half.rtts.quantile(0.99).map(time),
            max_rtt_ns: half.rtts.max.map(time),
            sum_rtt_ns: time(half.rtts.sum),
            cong_signals: half.recovery.cuts as i64,
            max_inflight_bytes: counts.max_inflight as i64,
            bursts: half.bursts as i64,
            burst_max_segs: half.burst_max_segs as i64,
            burst_max_bytes: half.burst_max_bytes as i64,
        }
    }
}
