//! Rows of flows over RDMA. Instruments of RFC 4898 that have a counterpart are filled in: a segment is a packet of data, `fast_retran`
//! counts NAKs that the sender went back for, `ecn_signals` and `cong_signals` the notifications that it got.

use elephan_cc::MAX_WINDOW_BYTES;
use elephan_record::{FlowRow, FlowSampleRow};
use elephan_tcp::Phase;
use elephan_units::Time;

use crate::Error;
use crate::flow::Flow;
use crate::world::World;

impl World {
    pub fn rdma_instruments(&self, flow: &Flow, row: &mut FlowRow) {
        let Some(pair) = self.rdma.of(flow.rdma) else { return };
        let (s, r) = (pair.ends.counters(), pair.ends.came());
        row.segs_out = s.packets as i64;
        row.data_segs_out = s.packets as i64;
        row.data_octets_out = s.bytes as i64;
        row.segs_in = (s.answers + s.notifications) as i64;
        row.data_segs_in = r.packets as i64;
        row.data_octets_in = r.bytes as i64;
        row.segs_retrans = s.packets_again as i64;
        row.octets_retrans = s.bytes_again as i64;
        row.fast_retran = s.naks as i64;
        row.timeouts = s.timeouts as i64;
        row.cong_signals = s.notifications as i64;
        row.ecn_signals = s.notifications as i64;
        row.ce_rcvd = r.marked as i64;
        row.ece_sent = r.notifications as i64;
        row.thru_octets_acked = pair.ends.acked() as i64;
        row.thru_octets_received = pair.ends.received() as i64;
        let known = |ns: i64| (s.round_trips > 0).then_some(ns);
        row.sample_rtt_ns = known(s.round_trip_last.ns());
        row.min_rtt_ns = known(s.round_trip_min.ns());
        row.max_rtt_ns = known(s.round_trip_max.ns());
        row.smoothed_rtt_ns = pair.ends.counters().srtt.map(|srtt| srtt.ns());
        row.sum_rtt_ns = (s.round_trips_ps / 1000) as i64;
        row.count_rtt = s.round_trips as i64;
        row.ecn = pair.ecn;
    }

    /// A sample of a flow over RoCE. A controller that holds no window is given the one that its rate fills in a base round trip.
    pub fn rdma_sample(&self, now: Time, flow: &Flow) -> Option<FlowSampleRow> {
        let pair = self.rdma.of(flow.rdma)?;
        let sender = &pair.ends;
        let window = sender.controller().window();
        let rate = sender.rate_bps();
        let filled = rate / 8.0 * pair.base_rtt.seconds();
        let counters = sender.counters();
        Some(FlowSampleRow {
            time_ns: now.ns(),
            flow: i64::from(flow.number),
            cwnd_bytes: Some(if window < MAX_WINDOW_BYTES { window } else { filled }),
            inflight_bytes: sender.inflight() as i64,
            srtt_ns: counters.srtt.map(|srtt| srtt.ns()),
            pacing_bps: Some(rate),
            delivered_bytes: pair.ends.received() as i64,
            phase: self.tables.phase(Some(Phase::CongestionAvoidance)),
            pipe_size: sender.inflight() as i64,
            sample_rtt_ns: (counters.round_trips > 0).then_some(counters.round_trip_last.ns()),
            segs_retrans: counters.packets_again as i64,
            cong_signals: counters.notifications as i64,
            ..FlowSampleRow::default()
        })
    }

    /// As for TCP: nothing is read that was not posted, nor acknowledged that was not read, and what is done was read whole.
    pub fn rdma_check(&self, flow: &Flow) -> Option<Result<(), Error>> {
        let pair = self.rdma.of(flow.rdma)?;
        let (acked, read, posted) = (pair.ends.acked(), pair.ends.received(), pair.ends.posted());
        let whole = flow.size.is_none_or(|size| read <= size && (flow.done.is_none() || read == size));
        let sound = acked <= read && read <= posted && whole;
        let wrong = || {
            let n = flow.number;
            Error::Conservation(format!("flow {n}: {posted} bytes posted, {read} read, {acked} acknowledged"))
        };
        Some(if sound { Ok(()) } else { Err(wrong()) })
    }
}
