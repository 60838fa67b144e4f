//! Rows of `info`: `tcp_info` of the sender of each flow.

use elephan_record::InfoRow;
use elephan_tcp::{Info, SSTHRESH_INFINITE};
use elephan_units::Time;

use crate::world::World;

/// A row with these numbers of a snapshot as they are.
macro_rules! numbers {
    ($info:ident: $( $name:ident )+) => {
        InfoRow { $( $name: $info.$name as i64, )+ ..InfoRow::default() }
    };
}

/// The numbers of a snapshot.
fn row(info: &Info) -> InfoRow {
    let numbers = numbers!(info:
        retransmits probes backoff options fastopen_client_fail snd_wscale rcv_wscale rto ato snd_mss rcv_mss unacked
        sacked lost retrans last_data_sent last_data_recv last_ack_recv pmtu rtt rttvar snd_cwnd advmss reordering
        total_retrans bytes_acked bytes_received segs_out segs_in notsent_bytes data_segs_in data_segs_out
        delivery_rate delivery_rate_app_limited busy_time rwnd_limited sndbuf_limited delivered delivered_ce
        bytes_sent bytes_retrans dsack_dups reord_seen rcv_ooopack snd_wnd rcv_wnd rcv_ssthresh rcv_space
        rcv_rtt total_rto received_ce
        delivered_e1_bytes delivered_e0_bytes delivered_ce_bytes received_e1_bytes received_e0_bytes received_ce_bytes
        accecn_fail_mode accecn_opt_seen
    );
    InfoRow {
        snd_ssthresh: (info.snd_ssthresh != SSTHRESH_INFINITE).then_some(info.snd_ssthresh as i64),
        pacing_rate: (info.pacing_rate != u64::MAX).then_some(info.pacing_rate as i64),
        min_rtt: (info.min_rtt != u64::from(u32::MAX)).then_some(info.min_rtt as i64),
        ..numbers
    }
}

impl World {
    /// What `tcp_info` shows of each connection at `now`.
    pub(crate) fn sample_info(&mut self, now: Time) {
        for flow in self.flows.iter().flatten().filter(|flow| flow.begun) {
            let Some(sender) = self.sockets.get(flow.sender as usize) else { continue };
            let info = sender.endpoint.info(now);
            let (state, ca_state) = (info.state.name(), info.ca_state.name());
            let (state, ca_state) = (self.recorder.intern(state), self.recorder.intern(ca_state));
            let (time_ns, number) = (now.ns(), i64::from(flow.number));
            self.recorder.info.push(InfoRow { time_ns, flow: number, state, ca_state, ..row(&info) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table has every number of `tcp_info` under its name, and what comes before them.
    #[test]
    fn the_table_has_every_number() {
        let names: Vec<&str> = Info::default().named().map(|(name, _)| name).collect();
        let spec = elephan_record::specs().into_iter().find(|spec| spec.name == "info").unwrap();
        let columns: Vec<&str> = spec.columns.iter().map(|column| column.name).collect();
        assert_eq!(columns[..4], ["time_ns", "flow", "state", "ca_state"]);
        assert_eq!(columns[4..], names);
    }
}
