//! The statistics of RFC 4898 as they are at an instant: what was counted, and what follows from the state.

use super::Endpoint;
use crate::options::Ecn;
use crate::stats::Snapshot;
use elephan_units::{Span, Time};

fn ns(span: Span) -> u64 {
    span.0 / 1000
}

/// A minimum that starts at the largest span.
fn least(span: Span) -> u64 {
    if span == Span::MAX { 0 } else { ns(span) }
}

impl Endpoint {
    /// Returns the statistics of RFC 4898 as of `now`.
    pub fn stats(&self, now: Time) -> Snapshot {
        let mut stats = self.stats.snapshot();
        self.snapshot_sender(&mut stats);
        self.snapshot_times(&mut stats);
        self.snapshot_receiver(&mut stats);
        self.snapshot_negotiated(&mut stats);
        self.clock.fill(now, &mut stats);
        stats.stall_max_ns = ns(Span::from_us(self.stall_us.into()).max(now.since(self.progress_at)));
        stats
    }

    fn snapshot_sender(&self, stats: &mut Snapshot) {
        let tx = &self.tx;
        stats.cur_mss = u64::from(tx.mss);
        stats.pipe_size = tx.board.pipe();
        stats.max_pipe_size = tx.max_pipe.max(stats.pipe_size);
        stats.cur_retx_queue = tx.board.flight();
        stats.max_retx_queue = tx.max_flight.max(stats.cur_retx_queue);
        stats.cur_app_w_queue = self.backlog();
        stats.max_app_w_queue = stats.max_app_w_queue.max(stats.cur_app_w_queue);
        stats.cur_cwnd = tx.cwnd;
        stats.cur_ssthresh = Some(tx.cc.ssthresh()).filter(|s| s.is_finite()).map_or(0, |s| s as u64);
        stats.in_recovery = u64::from(tx.rec.is_recovery());
        stats.thru_octets_acked = self.acked();
        stats.cur_timeout_count = u64::from(tx.rtt.backoffs());
        stats.retran_thresh = u64::from(self.options.dup_ack_threshold);
        stats.cur_rwin_rcvd = tx.window;
        stats.max_rwin_rcvd = tx.window_max;
    }

    fn snapshot_times(&self, stats: &mut Snapshot) {
        let tx = &self.tx;
        stats.sample_rtt_ns = ns(tx.sample_rtt);
        stats.min_rtt_ns = least(tx.min_rtt);
        stats.max_rtt_ns = ns(tx.max_rtt);
        stats.sum_rtt_ns = (tx.sum_rtt_ps / 1000.0) as u64;
        stats.count_rtt = tx.count_rtt;
        stats.smoothed_rtt_ns = tx.rtt.srtt().map_or(0, ns);
        stats.rtt_var_ns = tx.rtt.rttvar().map_or(0, ns);
        stats.cur_rto_ns = ns(tx.rtt.rto());
        stats.min_rto_ns = least(tx.min_rto);
        stats.max_rto_ns = ns(tx.max_rto);
    }

    fn snapshot_receiver(&self, stats: &mut Snapshot) {
        let rx = &self.rx;
        let rare = rx.rare();
        stats.cur_rwin_sent = rx.window();
        stats.max_rwin_sent = rx.max_window;
        stats.zero_rwin_sent = rare.closed;
        stats.thru_octets_received = rx.payload();
        stats.cur_app_r_queue = rx.unread();
        stats.max_app_r_queue = rare.max_unread;
        stats.cur_reasm_queue = rx.span();
        stats.max_reasm_queue = rare.max_span;
        stats.dup_acks_out = rare.dup_acks;
        stats.dup_ack_episodes = rare.episodes;
    }

    fn snapshot_negotiated(&self, stats: &mut Snapshot) {
        let shift = self.tx.window_shift;
        stats.mss_sent = self.options.mss.0;
        stats.mss_rcvd = u64::from(self.rx.peer_mss);
        stats.win_scale_sent = u64::from(self.rx.shift);
        stats.win_scale_rcvd = if shift == u8::MAX { 0 } else { u64::from(shift) };
        stats.time_stamps = u64::from(self.timestamps);
        stats.ecn = u64::from(self.ecn != Ecn::Off);
        stats.will_use_sack = u64::from(self.tx.sack);
    }
}
