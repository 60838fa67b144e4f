//! Tail loss probe (RFC 8985 section 7): when ACKs stay away a segment is sent to bring one, so that recovery by SACK takes
//! the place of a timeout.
//!
//! ```text
//! PTO = 2 SRTT, + max_ack_delay when one segment is in flight; 1 s before the first sample; not after the timeout
//! ```
//!
//! Linux adds `timer_slack` when more are in flight, 2 ms (`TCP_TIMEOUT_MIN_US` in tcp_schedule_loss_probe).
//!
//! It starts anew with new data and with ACKs of new data, while nothing is SACKed, lost or recovering; one probe at a time,
//! and the next one after a new round-trip sample. The probe is a segment of new data, whatever the congestion window says,
//! or the last segment sent; then the timeout starts anew. A probe that was the last segment again and is acknowledged, as
//! more than it is later, without a sign that it was needless (a D-SACK, a duplicate ACK without SACK blocks) has repaired a
//! loss: one congestion signal (section 7.4.2).

use super::Mode;
use crate::options::Options;
use crate::sender::Sender;
use crate::stats::Stats;
use elephan_cc::Signal;
use elephan_units::{Span, Time};

/// PTO without a round-trip sample (RFC 8985 section 7.2).
const PTO_INITIAL: Span = Span::from_s(1);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Tlp {
    /// When the probe is due.
    pub at: Time,
    /// It is due now.
    pub due: bool,
    /// TLP.end_seq, none if no probe is out; TLP.is_retrans; FlightSize when it was sent.
    end: Option<u64>,
    again: bool,
    flight: u64,
    /// There was a round-trip sample since the last probe.
    pub sampled: bool,
}

impl Default for Tlp {
    fn default() -> Tlp {
        Tlp { at: Time::NEVER, due: false, end: None, again: false, flight: 0, sampled: true }
    }
}

impl Tlp {
    /// Fast recovery or recovery from a timeout begins.
    pub fn reset(&mut self) {
        (self.end, self.due, self.at) = (None, false, Time::NEVER);
    }

    /// A probe has left; `again` if it was the last segment.
    pub fn sent(&mut self, end: u64, again: bool, flight: u64) {
        *self = Tlp { at: Time::NEVER, due: false, end: Some(end), again, flight, sampled: false };
    }

    /// Whether a probe is out that ends at `offset` (Linux `tlp_high_seq`).
    pub fn ends_at(&self, offset: u64) -> bool {
        self.end == Some(offset)
    }

    /// Whether a probe is out.
    pub fn is_out(&self) -> bool {
        self.end.is_some()
    }

    /// Segments retransmitted as probes that may be out.
    pub fn out(&self) -> u64 {
        u64::from(self.end.is_some() && self.again)
    }
}

impl Sender {
    /// Whether a probe may be waited for.
    fn may_probe(&self, tlp: &Tlp) -> bool {
        let calm = matches!(self.rec.mode, Mode::Open | Mode::Cwr);
        calm && !self.board.is_marked() && tlp.end.is_none() && tlp.sampled && !tlp.due
    }

    /// New data was sent or acknowledged: the probe's time starts anew.
    pub fn restart_probe(&mut self, now: Time, options: &Options) {
        let Some(tlp) = self.rec.watch.as_ref().and_then(|watch| watch.tlp) else { return };
        let pto = match self.rtt.srtt() {
            Some(srtt) => {
                let (first, next) = self.board.ordinals();
                let one = next - first <= 1;
                srtt.saturating_mul(2).saturating_add(if one { options.max_ack_delay } else { options.timer_slack })
            }
            None => PTO_INITIAL,
        };
        let at = if self.may_probe(&tlp) { now.saturating_add(pto) } else { Time::NEVER };
        if let Some(tlp) = self.rec.watch.as_mut().and_then(|watch| watch.tlp.as_mut()) {
            tlp.at = at;
        }
    }

    /// When a probe is due, `Time::NEVER` if not.
    pub fn probe_at(&self) -> Time {
        let tlp = self.rec.watch.as_ref().and_then(|watch| watch.tlp);
        tlp.filter(|tlp| self.may_probe(tlp)).map_or(Time::NEVER, |tlp| tlp.at)
    }

    /// Whether a probe is to leave now.
    pub fn probe_due(&self) -> bool {
        self.rec.watch.as_ref().and_then(|watch| watch.tlp).is_some_and(|tlp| tlp.due)
    }

    /// `TLP_process_ack` of RFC 8985 section 7.4.2; `bare` is a duplicate ACK without SACK blocks.
    pub(super) fn probe_answered(&mut self, now: Time, bare: bool, stats: &mut Stats) {
        let una = self.board.una();
        let Some(watch) = &mut self.rec.watch else { return };
        let (Some(tlp), dsack) = (&mut watch.tlp, watch.dsack) else { return };
        let Some(end) = tlp.end.filter(|&end| una >= end) else { return };
        let needless = dsack.is_some_and(|report| report.right == end);
        let repaired = tlp.again && !needless && una > end;
        if !tlp.again || needless || repaired || bare {
            tlp.end = None;
        }
        if repaired {
            let inflight = tlp.flight;
            self.leave_cwr();
            self.signal(&Signal::Loss { now, lost: u64::from(self.mss), inflight }, stats);
            // No recovery follows.
            self.cc.on_recovered();
        }
    }
}
