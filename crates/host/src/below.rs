//! What sockets have below them at a port: the frames in its queue and on its wire, and whose they are.
//!
//! Linux counts a packet of a socket (`sk_wmem_alloc`) until its transmission is complete, a burst until its last segment has left.
//! Bytes here are those of IP. Left out: the memory that a packet takes beyond its bytes (`truesize`), interrupts that tell of several
//! complete transmissions at once.

use std::collections::VecDeque;

/// A socket and the number of its flow for life.
pub type Owner = (u32, u32);

#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Whose bytes it holds, with those of the segments of its burst that have left.
    owner: Option<Owner>,
    held: u64,
    ip_bytes: u32,
    /// It is of one burst with the frame before.
    joined: bool,
}

/// The frames that have come to a port and, as far as is known, have not left it, in order.
#[derive(Clone, Debug, Default)]
pub struct Below {
    frames: VecDeque<Frame>,
    /// Whose burst the next frame may continue.
    open: Option<Owner>,
}

impl Below {
    /// What comes next begins a burst.
    pub fn begin_burst(&mut self) {
        self.open = None;
    }

    /// A frame joins the others; one of `owner` holds its bytes for it, and is of one packet with those that come before the next
    /// [`Below::begin_burst`].
    pub fn push(&mut self, owner: Option<Owner>, ip_bytes: u32) {
        let joined = owner.is_some() && self.open == owner;
        self.open = owner;
        let held = if owner.is_some() { u64::from(ip_bytes) } else { 0 };
        self.frames.push_back(Frame { owner, held, ip_bytes, joined });
    }

    /// Of the frames `left` are still here, the last of them: `free` is told what each socket has no more below it.
    pub fn settle(&mut self, left: u64, mut free: impl FnMut(Owner, u64)) {
        while self.frames.len() as u64 > left {
            let Some(gone) = self.frames.pop_front() else { break };
            let Some(owner) = gone.owner else { continue };
            match self.frames.front_mut() {
                Some(next) if next.joined => next.held += gone.held,
                _ => free(owner, gone.held),
            }
        }
    }

    /// Those who have something here, once for each frame.
    pub fn owners(&self) -> impl Iterator<Item = Owner> {
        self.frames.iter().filter_map(|frame| frame.owner)
    }

    /// The sizes of the frames up to the first whose leaving frees bytes of `owner`, from the first that is here; nothing if it has none.
    pub fn until_freed(&self, owner: Owner) -> Option<impl Iterator<Item = u32>> {
        let ends = |i: usize| self.frames.get(i + 1).is_none_or(|next| !next.joined);
        let of = |(i, frame): (usize, &Frame)| frame.owner == Some(owner) && ends(i);
        let last = self.frames.iter().enumerate().position(of)?;
        Some(self.frames.iter().take(last + 1).map(|frame| frame.ip_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Owner = (1, 10);
    const B: Owner = (2, 10);

    fn settled(below: &mut Below, left: u64) -> Vec<(Owner, u64)> {
        let mut freed = vec![];
        below.settle(left, |owner, bytes| freed.push((owner, bytes)));
        freed
    }

    /// Two sockets and an ACK: each frame frees its own bytes when it has left, the ACK none.
    #[test]
    fn each_frame_frees_its_own() {
        let mut below = Below::default();
        for (owner, bytes) in [(Some(A), 1500), (None, 52), (Some(B), 1000), (Some(A), 600)] {
            below.begin_burst();
            below.push(owner, bytes);
        }
        let sizes = |below: &Below, owner| below.until_freed(owner).map(|sizes| sizes.collect::<Vec<_>>());
        assert_eq!(sizes(&below, B), Some(vec![1500, 52, 1000]));
        assert_eq!(settled(&mut below, 4), []);
        assert_eq!(settled(&mut below, 2), [(A, 1500)]);
        assert_eq!(sizes(&below, A), Some(vec![1000, 600]));
        assert_eq!(settled(&mut below, 0), [(B, 1000), (A, 600)]);
        assert_eq!(sizes(&below, A), None);
    }

    /// A burst of three is one packet: its bytes are free when the third has left, those of the segment after it later.
    #[test]
    fn a_burst_is_freed_at_its_end() {
        let mut below = Below::default();
        for _ in 0..3 {
            below.push(Some(A), 1500);
        }
        below.begin_burst();
        below.push(Some(A), 1500);
        assert_eq!(below.until_freed(A).map(Iterator::count), Some(3));
        assert_eq!(settled(&mut below, 2), []);
        assert_eq!(below.until_freed(A).map(Iterator::count), Some(1));
        assert_eq!(settled(&mut below, 1), [(A, 4500)]);
        assert_eq!(settled(&mut below, 0), [(A, 1500)]);
    }
}
