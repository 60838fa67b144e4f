//! How much can still arrive after a switch has decided to send PAUSE.
//!
//! `vendor_sum` is the common sum per ingress port (Cisco c11-542809): a full frame in the reverse direction, the PAUSE,
//! twice the propagation, the response time and a full frame just started.
//! `exact_need` is the need above XOFF of `n` ingress ports without drain in a store-and-forward switch, if all frames are
//! full: with `F` the charged and `W` the wire bytes of a frame and `D` the wire bytes that can still start after the
//! decision, `(F-1) + ceil(D/W) F + (n-1) (floor(D/W)+2) F`: the frame that crosses XOFF, those of its own port, and on every
//! other port also the one half received and the one just complete.
//!
//! Shorter frames among them can make it worse by less than a frame a port: the last full frame then starts as late as it can.
//! With `o` the bytes of preamble and gap, which are not charged, the frames that start within `D` are at most
//!
//! ```text
//! A(D) = (D - 1) - o ceil((D - 1) / W) + F              own port: A(D);   any other: F + A(D)
//! ```
//!
//! since all but the last are over within `D`, and fewer frames have fewer gaps. Where frames take whole cells, what all but the last take
//! is at most `D - 1` times the largest ratio of a frame's cells to its wire bytes. [`any_need`] is `(F-1) + A + sum of (F + A)`
//! over ports of any rate and length, the least of what it may be by whose frame crosses. A priority of a port that is counted
//! for itself needs `F + A` ([`own_need`]; with a dynamic threshold the whole crossing frame may be above it). When frames
//! are counted only at their egress queue, those that the switch still forwards (its latency) are beyond the decision too.
//!
//! `dcqcn` is the rule of Zhu et al. (SIGCOMM 2015, section 4): how large static and dynamic thresholds may be that leave room for
//! the headroom of all ports and priorities, and below which ECN must mark to come before PFC.

use elephan_units::{Rate, Span};

use crate::{pause, spec::Framing};

/// One ingress link, described as far as headroom depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Feeder {
    pub rate: Rate,
    /// The direction in which the PAUSE flies.
    pub reverse_rate: Rate,
    /// How frames are framed.
    pub framing: Framing,
    /// One way.
    pub propagation: Span,
    pub response_quanta: u16,
    /// From the last bit in to where frames are counted.
    pub latency: Span,
    /// Cells that the memory there is given out in, if it is not bytes.
    pub cell: Option<u32>,
}

/// The smallest packet: headers of IP and UDP.
const LEAST_IP_BYTES: u32 = 28;

impl Feeder {
    /// Wire bytes that can still start at the far end after the decision to pause it: while a frame in the reverse direction
    /// ends, the PAUSE is sent and flies, the station reacts, and back to the decision over the wire.
    fn after_decision(self, mtu_wire: u64) -> u64 {
        let reverse = self.reverse_rate.time_of(mtu_wire + u64::from(pause::FRAME_WIRE_BYTES));
        let flight = self.propagation.saturating_mul(2);
        let response = pause::quanta(self.rate, self.response_quanta);
        let time = reverse.0.saturating_add(flight.0).saturating_add(response.0).saturating_add(self.latency.0);
        // Whole bytes, rounded up.
        let bits = u128::from(time) * u128::from(self.rate.0);
        u64::try_from(bits.div_ceil(8 * u128::from(elephan_units::PS_PER_S))).unwrap_or(u64::MAX)
    }

    /// Bytes of a full frame on the wire and charged.
    fn full(self, mtu: u32) -> (u64, u64) {
        (u64::from(self.framing.wire_bytes(mtu)), u64::from(self.framing.charged_bytes(mtu)))
    }

    /// What a frame takes of the memory that is charged so many bytes.
    fn taken(self, charged: u64) -> u64 {
        self.cell.map_or(charged, |cell| charged.next_multiple_of(u64::from(cell)))
    }

    /// What the frames that start after the decision take, whatever their lengths.
    fn still(self, mtu: u32) -> u64 {
        let (wire, charged) = self.full(mtu);
        let before_last = self.after_decision(wire).saturating_sub(1);
        let all_but_last = match self.cell {
            None => before_last - (wire - charged) * before_last.div_ceil(wire),
            Some(cell) => {
                let (taken, wire) = self.most_wasteful(u64::from(cell), mtu);
                let most = u128::from(before_last) * u128::from(taken) / u128::from(wire);
                u64::try_from(most).unwrap_or(u64::MAX)
            }
        };
        all_but_last.saturating_add(self.taken(charged))
    }

    /// What the frame takes that takes most for its wire bytes, and these. It is the smallest frame, or one that begins a cell
    /// with its last byte: of those the ratio rises or falls with the number of cells, so the first or the last.
    fn most_wasteful(self, cell: u64, mtu: u32) -> (u64, u64) {
        let (wire, charged) = self.full(mtu);
        let (least_wire, least) = self.full(LEAST_IP_BYTES.min(mtu));
        let begun = |cells: u64| (self.taken(cells * cell + 1), cells * cell + 1 + wire - charged);
        let first = least.div_ceil(cell);
        let last = (charged - 1) / cell;
        let mut most = (self.taken(least), least_wire);
        for other in [first, last].into_iter().filter(|cells| (first..=last).contains(cells)).map(begun) {
            if u128::from(other.0) * u128::from(most.1) > u128::from(most.0) * u128::from(other.1) {
                most = other;
            }
        }
        most
    }
}

/// An Ethernet link of one rate both ways into a switch without latency.
fn ethernet(rate: Rate, propagation: Span, response_quanta: u16) -> Feeder {
    Feeder {
        rate,
        reverse_rate: rate,
        framing: Framing::Ethernet,
        propagation,
        response_quanta,
        latency: Span::ZERO,
        cell: None,
    }
}

/// Returns the headroom of one ingress port in bytes, as vendors add it up. `propagation` is one way, `mtu_wire` a full frame on the wire.
pub fn vendor_sum(rate: Rate, propagation: Span, mtu_wire: u64, response_quanta: u16) -> u64 {
    ethernet(rate, propagation, response_quanta).after_decision(mtu_wire) + mtu_wire
}

/// Returns the bytes of switch memory above XOFF that no frame can exceed, for `ports` ingress ports and full Ethernet frames of `mtu` IP
/// bytes.
pub fn exact_need(rate: Rate, propagation: Span, mtu: u32, response_quanta: u16, ports: u64) -> u64 {
    let feeder = ethernet(rate, propagation, response_quanta);
    let (wire, charged) = feeder.full(mtu);
    let still = feeder.after_decision(wire);
    (charged - 1) + still.div_ceil(wire) * charged + ports.saturating_sub(1) * (still / wire + 2) * charged
}

/// Returns the same for frames of any length up to `mtu` IP bytes and ingress links that differ: what they need together above a threshold
/// of what they have in common.
pub fn any_need(feeders: &[Feeder], mtu: u32) -> u64 {
    let others: u64 = feeders.iter().map(|&f| own_need(f, mtu)).sum();
    // The crossing frame itself takes the place of the one just complete.
    others.saturating_sub(1)
}

/// Returns the bytes that one port, or one priority of it, needs for itself.
pub fn own_need(feeder: Feeder, mtu: u32) -> u64 {
    feeder.taken(feeder.full(mtu).1) + feeder.still(mtu)
}

/// Zhu et al. 2015, section 4: `buffer` bytes for `ports` ports of `priorities` priorities, each with `flight` bytes of headroom.
pub mod dcqcn {
    /// Returns the largest PFC threshold, the same for all, that leaves the headroom free: `(B - p n t_flight) / (p n)`.
    ///
    /// ```
    /// // Zhu et al. 2015, section 4: 12 MB, 32 ports, 8 priorities, t_flight = 22.4 KB: 24.47 KB.
    /// assert_eq!(elephan_link::headroom::dcqcn::static_pfc(12_000_000, 32, 8, 22_400), 24_475);
    /// ```
    pub fn static_pfc(buffer: u64, ports: u64, priorities: u64, flight: u64) -> u64 {
        let queues = ports * priorities;
        buffer.saturating_sub(queues * flight).checked_div(queues).unwrap_or(0)
    }

    /// Returns where ECN has to mark to come before PFC with the dynamic threshold `beta (B - p n t_flight - s) / p`, if all traffic is of one
    /// priority and goes from all ports to one: `beta (B - p n t_flight) / (p n (beta + 1))`, to the nearest byte.
    pub fn dynamic_ecn(buffer: u64, ports: u64, priorities: u64, flight: u64, beta: u64) -> u64 {
        let free = buffer.saturating_sub(ports * priorities * flight);
        let parts = priorities * ports * (beta + 1);
        (beta * free + parts / 2).checked_div(parts).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN_GIG: Rate = Rate(10_000_000_000);
    const HUNDRED_METRES: Span = Span::from_ns(500);

    fn feeder(rate: Rate, response_quanta: u16) -> Feeder {
        ethernet(rate, HUNDRED_METRES, response_quanta)
    }

    /// 25 Gb/s over 3 m: 93.75 bytes in flight are 94, so that a need is never short: 1538 + 84 + 94 + 3840 + 1538 = 7094.
    #[test]
    fn what_is_in_flight_is_rounded_up() {
        assert_eq!(vendor_sum(Rate(25_000_000_000), Span::from_ns(15), 1538, 60), 7094);
    }

    #[test]
    fn vendor_literal() {
        // facts l2.md section 6 item 7
        assert_eq!(vendor_sum(TEN_GIG, HUNDRED_METRES, 1538, 60), 8250);
    }

    #[test]
    fn exact_literal() {
        // facts l2.md 3.1: 21 829 is the largest lossless XOFF for three ports in 48 KiB with 60 quanta.
        assert_eq!(49_152 - exact_need(TEN_GIG, HUNDRED_METRES, 1500, 60, 3), 21_829);
    }

    /// 10 Gb/s, 100 m, 60 quanta: D is 1538 + 84 + 1250 + 3840 = 6712. A = 6711 - 20 * 5 + 1518 = 8129: four full frames and one
    /// of 559 on the wire, then a full one: 4 * 1518 + 539 + 1518. All full would be five, 7590.
    #[test]
    fn any_lengths() {
        let f = feeder(TEN_GIG, 60);
        assert_eq!((f.after_decision(1538), f.still(1500)), (6712, 8129));
        assert_eq!(4 * 1518 + (6711 - 4 * 1538 - 20) + 1518, 8129);
        assert_eq!(own_need(f, 1500), 9647);
        assert_eq!(any_need(&[f; 3], 1500), 1517 + 8129 + 2 * (1518 + 8129));
        // Of frames that are all full one more byte of D starts one more: where D - 1 is a whole number of frames both agree.
        assert!(any_need(&[f; 3], 1500) >= exact_need(TEN_GIG, HUNDRED_METRES, 1500, 60, 3));
    }

    /// A PAUSE that waits for a full frame at 1 Gb/s lets ten times as much in at 10 Gb/s: D = 16 220 + 1250 + 3840. 1 us in the
    /// switch is another 1250.
    #[test]
    fn slow_reverse_direction_and_latency() {
        let slow = Feeder { reverse_rate: Rate(1_000_000_000), ..feeder(TEN_GIG, 60) };
        assert_eq!(slow.after_decision(1538), 21_310);
        let late = Feeder { latency: Span::from_us(1), ..slow };
        assert_eq!(late.after_decision(1538), 22_560);
    }

    /// Without framing D is 1500 + 84 + 1250 + 3840 = 6674, and all of it is charged: 6673 + 1500, and the one that crosses.
    #[test]
    fn frames_without_framing() {
        let bare = Feeder { framing: Framing::None, ..feeder(TEN_GIG, 60) };
        assert_eq!(own_need(bare, 1500), 1500 + 6673 + 1500);
    }

    /// In cells of 64 bytes a frame of 65 takes 128 for 85 on the wire, one of 1518 takes 24 cells, 1536: of the 6711 bytes above
    /// 6711 * 128 / 85 = 10 105, and two full frames. Frames of 64 would take 64 for 84, those of 1473 take 1536 for 1493. In cells
    /// of 10 000 each of the smallest frames takes one for 84: 6711 * 10 000 / 84 = 798 928.
    #[test]
    fn cells_take_more() {
        let cells = |cell| Feeder { cell: Some(cell), ..feeder(TEN_GIG, 60) };
        assert_eq!(own_need(cells(64), 1500), 10_105 + 2 * 1536);
        assert_eq!(own_need(cells(10_000), 1500), 798_928 + 2 * 10_000);
        // Single bytes: at most 1518 for 1538.
        assert_eq!(own_need(cells(1), 1500), 6623 + 2 * 1518);
    }

    /// Zhu et al. 2015: 32 ports of 40G, 12 MB, eight priorities, 22.4 kB in flight: 24.47 kB; with beta 8 ECN below 21.75 kB.
    /// facts l2.md 5.2: 24 475 and 21 756 B, recomputed.
    #[test]
    fn dcqcn_literals() {
        assert_eq!(dcqcn::static_pfc(12_000_000, 32, 8, 22_400), 24_475);
        assert_eq!(dcqcn::dynamic_ecn(12_000_000, 32, 8, 22_400, 8), 21_756);
    }
}
