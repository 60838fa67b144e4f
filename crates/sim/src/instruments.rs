//! The instruments of RFC 4898 as the tables have them: all of a connection at its end, and at each sample time if asked for.

use elephan_record::{FlowRow, StatisticsRow};
use elephan_tcp::Snapshot;
use elephan_units::Time;

/// Nullable column: what was never sampled is null.
fn unless_zero(value: u64) -> Option<i64> {
    (value != 0).then_some(value as i64)
}

/// A row with the instruments of the sender `s` and, where the dictionary says so, of the receiver `r` of the data.
macro_rules! instruments {
    ($row:ident, $s:ident, $r:ident) => {
        $row {
            segs_out: $s.segs_out as i64,
            segs_in: $s.segs_in as i64,
            data_segs_out: $s.data_segs_out as i64,
            data_segs_in: $s.data_segs_in as i64,
            data_octets_out: $s.data_octets_out as i64,
            data_octets_in: $s.data_octets_in as i64,
            segs_retrans: $s.segs_retrans as i64,
            octets_retrans: $s.octets_retrans as i64,
            fast_retran: $s.fast_retran as i64,
            timeouts: $s.timeouts as i64,
            subsequent_timeouts: $s.subsequent_timeouts as i64,
            cong_signals: $s.cong_signals as i64,
            ecn_signals: $s.ecn_signals as i64,
            other_reductions: $s.other_reductions as i64,
            abrupt_timeouts: $s.abrupt_timeouts as i64,
            cur_timeout_count: $s.cur_timeout_count as i64,
            pre_cong_sum_cwnd: $s.pre_cong_sum_cwnd as i64,
            pre_cong_sum_rtt_ns: $s.pre_cong_sum_rtt_ns as i64,
            post_cong_sum_rtt_ns: $s.post_cong_sum_rtt_ns as i64,
            post_cong_count_rtt: $s.post_cong_count_rtt as i64,
            spurious_fr_detected: $s.spurious_fr_detected as i64,
            spurious_rto_detected: $s.spurious_rto_detected as i64,
            dsack_dups: $s.dsack_dups as i64,
            tail_loss_probes: $s.tail_loss_probes as i64,
            stall_max_ns: Some($s.stall_max_ns as i64),
            dup_acks_in: $s.dup_acks_in as i64,
            retran_thresh: unless_zero($s.retran_thresh),
            non_recov_da_episodes: $s.non_recov_da_episodes as i64,
            non_recov_da: $s.non_recov_da as i64,
            sum_octets_reordered: $s.sum_octets_reordered as i64,
            sacks_rcvd: $s.sacks_rcvd as i64,
            sack_blocks_rcvd: $s.sack_blocks_rcvd as i64,
            in_recovery: $s.in_recovery != 0,
            slow_start: $s.slow_start as i64,
            cong_avoid: $s.cong_avoid as i64,
            cur_cwnd: unless_zero($s.cur_cwnd),
            cur_ssthresh: unless_zero($s.cur_ssthresh),
            max_ss_cwnd: unless_zero($s.max_ss_cwnd),
            max_ca_cwnd: unless_zero($s.max_ca_cwnd),
            min_ssthresh: unless_zero($s.min_ssthresh),
            max_ssthresh: unless_zero($s.max_ssthresh),
            pipe_size: $s.pipe_size as i64,
            max_pipe_size: $s.max_pipe_size as i64,
            cur_retx_queue: $s.cur_retx_queue as i64,
            max_retx_queue: $s.max_retx_queue as i64,
            cur_app_w_queue: $s.cur_app_w_queue as i64,
            max_app_w_queue: $s.max_app_w_queue as i64,
            thru_octets_acked: $s.thru_octets_acked as i64,
            thru_octets_received: $r.thru_octets_received as i64,
            cur_mss: unless_zero($s.cur_mss),
            mss_sent: unless_zero($s.mss_sent),
            mss_rcvd: unless_zero($s.mss_rcvd),
            time_stamps: $s.time_stamps != 0,
            ecn: $s.ecn != 0,
            will_use_sack: $s.will_use_sack != 0,
            win_scale_sent: $s.win_scale_sent as i64,
            win_scale_rcvd: $s.win_scale_rcvd as i64,
            sample_rtt_ns: unless_zero($s.sample_rtt_ns),
            min_rtt_ns: unless_zero($s.min_rtt_ns),
            max_rtt_ns: unless_zero($s.max_rtt_ns),
            sum_rtt_ns: $s.sum_rtt_ns as i64,
            count_rtt: $s.count_rtt as i64,
            smoothed_rtt_ns: unless_zero($s.smoothed_rtt_ns),
            rtt_var_ns: unless_zero($s.rtt_var_ns),
            cur_rto_ns: unless_zero($s.cur_rto_ns),
            min_rto_ns: unless_zero($s.min_rto_ns),
            max_rto_ns: unless_zero($s.max_rto_ns),
            snd_lim_trans_rwin: $s.snd_lim_trans_rwin as i64,
            snd_lim_trans_cwnd: $s.snd_lim_trans_cwnd as i64,
            snd_lim_trans_snd: $s.snd_lim_trans_snd as i64,
            snd_lim_time_rwin_ns: $s.snd_lim_time_rwin_ns as i64,
            snd_lim_time_cwnd_ns: $s.snd_lim_time_cwnd_ns as i64,
            snd_lim_time_snd_ns: $s.snd_lim_time_snd_ns as i64,
            snd_lim_bytes_rwin: $s.snd_lim_bytes_rwin as i64,
            snd_lim_bytes_cwnd: $s.snd_lim_bytes_cwnd as i64,
            snd_lim_bytes_snd: $s.snd_lim_bytes_snd as i64,
            cur_rwin_rcvd: $s.cur_rwin_rcvd as i64,
            max_rwin_rcvd: $s.max_rwin_rcvd as i64,
            zero_rwin_rcvd: $s.zero_rwin_rcvd as i64,
            cur_rwin_sent: $r.cur_rwin_sent as i64,
            max_rwin_sent: $r.max_rwin_sent as i64,
            zero_rwin_sent: $r.zero_rwin_sent as i64,
            cur_app_r_queue: $r.cur_app_r_queue as i64,
            max_app_r_queue: $r.max_app_r_queue as i64,
            cur_reasm_queue: $r.cur_reasm_queue as i64,
            max_reasm_queue: $r.max_reasm_queue as i64,
            dup_acks_out: $r.dup_acks_out as i64,
            dup_ack_episodes: $r.dup_ack_episodes as i64,
            ce_rcvd: $r.ce_rcvd as i64,
            ece_sent: $r.ece_sent as i64,
            send_stall: $s.send_stall as i64,
            ..$row::default()
        }
    };
}

/// The instruments of a flow, at whichever time the snapshots were taken.
pub fn of_flow(s: &Snapshot, r: &Snapshot) -> FlowRow {
    instruments!(FlowRow, s, r)
}

/// The instruments of flow `number` at `now`.
pub fn at(now: Time, number: u32, s: &Snapshot, r: &Snapshot) -> StatisticsRow {
    StatisticsRow { time_ns: now.ns(), flow: i64::from(number), ..instruments!(StatisticsRow, s, r) }
}
