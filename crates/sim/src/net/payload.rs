//! What the packets of programs carry, for captures: a run knows lengths alone.

use std::collections::{BTreeMap, VecDeque};

use crate::packet::Packet;

/// Bytes of a stream that are kept behind the newest: more than any window, so that what is sent again is still there.
const KEPT_BYTES: usize = 16 << 20;
/// Datagrams of a flow that are kept behind the newest.
const KEPT_DATAGRAMS: u32 = 1 << 14;

/// One direction of a connection.
#[derive(Clone, Debug, Default)]
struct Stream {
    /// Sequence number of the SYN.
    isn: u32,
    /// Bytes that are no longer kept.
    gone: u64,
    bytes: VecDeque<u8>,
}

/// What a datagram is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Letter {
    Datagram(Vec<u8>),
    /// An ICMP message, that nobody waits for what has come: a packet of so many bytes (IP).
    Unreachable(u32),
}

/// What is kept, by the number of the flow; of connections by direction too.
#[derive(Clone, Debug, Default)]
pub struct Payloads {
    streams: BTreeMap<(u32, bool), Stream>,
    datagrams: BTreeMap<u32, BTreeMap<u32, Letter>>,
}

impl Payloads {
    /// A connection begins with these sequence numbers, that of its opener first.
    pub fn begin(&mut self, flow: u32, isn: [u32; 2]) {
        for (from_opener, isn) in [true, false].into_iter().zip(isn) {
            self.streams.insert((flow, from_opener), Stream { isn, ..Stream::default() });
        }
    }

    /// An end of a connection has written.
    pub fn write(&mut self, flow: u32, from_opener: bool, data: &[u8]) {
        let Some(stream) = self.streams.get_mut(&(flow, from_opener)) else { return };
        stream.bytes.extend(data);
        let beyond = stream.bytes.len().saturating_sub(KEPT_BYTES);
        stream.bytes.drain(..beyond);
        stream.gone += beyond as u64;
    }

    /// A datagram is sent, with this number in its flow.
    pub fn post(&mut self, flow: u32, number: u32, letter: Letter) {
        let kept = self.datagrams.entry(flow).or_default();
        kept.insert(number, letter);
        while kept.first_key_value().is_some_and(|(&first, _)| number.wrapping_sub(first) > KEPT_DATAGRAMS) {
            kept.pop_first();
        }
    }

    /// What a datagram is, if that is known.
    pub fn letter(&self, packet: &Packet) -> Option<&Letter> {
        self.datagrams.get(&packet.flow)?.get(&packet.segment.seq)
    }

    /// What a segment carries; empty if that is not known.
    pub fn segment(&self, packet: &Packet, from_opener: bool) -> Vec<u8> {
        let (seq, len) = (packet.segment.seq, packet.segment.len as usize);
        let Some(stream) = self.streams.get(&(packet.flow, from_opener)).filter(|_| len > 0) else { return Vec::new() };
        // The offset that has these lower bits and is nearest to the end of what was written.
        let end = stream.gone + stream.bytes.len() as u64;
        let low = seq.wrapping_sub(stream.isn).wrapping_sub(1);
        let behind = (end as u32).wrapping_sub(low);
        let Some(place) = end.checked_sub(u64::from(behind)).and_then(|at| at.checked_sub(stream.gone)) else {
            return Vec::new();
        };
        stream.bytes.range((place as usize).min(stream.bytes.len())..).take(len).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use elephan_tcp::Segment;

    use super::*;
    use crate::packet::flags;

    fn packet(seq: u32, len: u32, flags: u16) -> Packet {
        let segment = Segment { seq, len, ..Segment::default() };
        Packet { segment, route: 0, dest: 0, flow: 5, ip_bytes: 0, charged: 0, ingress: 0, flags, ident: 0 }
    }

    /// The numbers of a stream go round; so the first byte has the number after that of the SYN.
    #[test]
    fn a_segment_has_its_part_of_the_stream() {
        let mut payloads = Payloads::default();
        payloads.begin(5, [u32::MAX - 2, 9]);
        payloads.write(5, true, b"abcdefgh");
        payloads.write(5, false, b"xyz");
        assert_eq!(payloads.segment(&packet(u32::MAX - 1, 3, 0), true), b"abc");
        assert_eq!(payloads.segment(&packet(1, 4, 0), true), b"defg");
        assert_eq!(payloads.segment(&packet(4, 1, 0), true), b"g");
        assert_eq!(payloads.segment(&packet(10, 3, 0), false), b"xyz");
        assert_eq!(payloads.segment(&packet(10, 0, 0), false), b"");
        payloads.post(5, 3, Letter::Datagram(b"letter".to_vec()));
        assert_eq!(payloads.letter(&packet(3, 6, flags::UDP)), Some(&Letter::Datagram(b"letter".to_vec())));
        assert_eq!(payloads.letter(&packet(4, 6, flags::UDP)), None);
    }

    #[test]
    fn a_long_stream_keeps_its_end() {
        let mut payloads = Payloads::default();
        payloads.begin(5, [0, 0]);
        let whole: Vec<u8> = (0..KEPT_BYTES + 100).map(|i| (i % 253) as u8).collect();
        payloads.write(5, true, &whole);
        assert_eq!(payloads.segment(&packet(1 + 99, 1, 0), true), b"");
        assert_eq!(payloads.segment(&packet(1 + 100, 2, 0), true), whole[100..102]);
    }
}
