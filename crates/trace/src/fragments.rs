//! Datagrams that came in fragments, put together by their lengths: the payload of a segment is what all of its fragments carry.

use std::collections::VecDeque;

use crate::packet::{Decoded, Fragment};

/// Datagrams that wait for their other fragments, at most.
const WAITING_MAX: usize = 64;

/// A datagram of which not all fragments have come.
#[derive(Debug)]
struct Waiting {
    key: (std::net::IpAddr, std::net::IpAddr, u32, u8),
    first: Option<Decoded>,
    /// Bytes of the first fragment, bytes so far, bytes of the datagram, fragments.
    first_bytes: u32,
    bytes: u32,
    total: Option<u32>,
    parts: u64,
}

/// What has become of fragments.
#[derive(Debug)]
pub enum Joined {
    /// The datagram goes on.
    Waits,
    /// A datagram, of so many fragments.
    Whole(Decoded, u64),
    /// So many fragments without the first one.
    Lost(u64),
}

/// Fragments that wait.
#[derive(Debug, Default)]
pub struct Fragments(VecDeque<Waiting>);

impl Fragments {
    /// Takes a fragment; answers what came of it, and of a datagram that it pushes out.
    pub fn take(&mut self, fragment: Fragment) -> [Joined; 2] {
        let pushed = self.put(fragment);
        let done = self.0.back().is_some_and(|w| w.first.is_some() && w.total.is_some_and(|total| w.bytes >= total));
        let whole = if done { self.0.pop_back().map_or(Joined::Waits, Waiting::joined) } else { Joined::Waits };
        [pushed.map_or(Joined::Waits, Waiting::joined), whole]
    }

    /// Gives what waits no longer: no more packets come.
    pub fn finish(&mut self) -> Vec<Joined> {
        std::mem::take(&mut self.0).into_iter().map(Waiting::joined).collect()
    }

    /// Adds the fragment to its datagram, which comes last then; answers one that has waited too long.
    fn put(&mut self, fragment: Fragment) -> Option<Waiting> {
        let place = self.0.iter().position(|waiting| waiting.key == fragment.key);
        let mut waiting = place.and_then(|place| self.0.remove(place)).unwrap_or(Waiting {
            key: fragment.key,
            first: None,
            first_bytes: 0,
            bytes: 0,
            total: None,
            parts: 0,
        });
        waiting.parts += 1;
        waiting.bytes = waiting.bytes.saturating_add(fragment.bytes);
        if !fragment.more {
            waiting.total = Some(fragment.offset.saturating_add(fragment.bytes));
        }
        if let Some(first) = fragment.first {
            (waiting.first, waiting.first_bytes) = (Some(*first), fragment.bytes);
        }
        self.0.push_back(waiting);
        if self.0.len() > WAITING_MAX { self.0.pop_front() } else { None }
    }
}

impl Waiting {
    fn joined(self) -> Joined {
        let more = self.total.unwrap_or(self.bytes).saturating_sub(self.first_bytes);
        match self.first {
            // A datagram says its length itself.
            Some(Decoded::Segment(mut segment)) => {
                segment.len = segment.len.saturating_add(more);
                Joined::Whole(Decoded::Segment(segment), self.parts)
            }
            Some(found) => Joined::Whole(found, self.parts),
            None => Joined::Lost(self.parts),
        }
    }
}
