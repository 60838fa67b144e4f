//! What the account of the receive buffer ([`crate::receive_buffer`]) does to a receiver: charges of what comes and is read, and the window that
//! it leaves.

use super::Receiver;
use crate::delayed_ack::Arrival;
use crate::receive_buffer::Come;
use elephan_units::{Span, Time};

/// A segment, as the account sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// Where it begins, and the next expected byte and the bytes beyond holes before it came.
    pub seq: u64,
    pub nxt: u64,
    pub held: u64,
    /// The echoed timestamp, sent so long ago.
    pub echo: Option<(u32, Span)>,
    /// Bytes that waited to be read.
    pub unread: u64,
}

impl Receiver {
    /// Notes a segment that has been accepted. Returns whether it lets the offered window grow.
    pub fn charge(&mut self, a: &Arrival, kept: &Kept) -> bool {
        let (nxt, last, span) = (self.nxt, self.offered(), self.span());
        let held = self.held();
        let Some(adaptive) = &mut self.adaptive else { return false };
        let Some(account) = self.rare.as_mut().and_then(|rare| rare.account.as_mut()) else { return false };
        if let Some((value, rtt)) = kept.echo {
            account.on_echo(value, rtt, a.len >= adaptive.full_segment(), kept.unread > 0);
        }
        let (in_order, old) = (nxt > kept.nxt, kept.seq + a.len <= kept.nxt || kept.seq >= kept.nxt + last);
        if !in_order && old {
            return false;
        }
        let fresh = in_order || held > kept.held;
        if fresh && if in_order { account.keep(a.len) } else { account.keep_beyond(a.len) } {
            adaptive.calm();
        }
        if adaptive.measure(a) {
            account.measure(a.len.min(adaptive.full_segment()), last);
        }
        let come = Come { len: a.len, full: adaptive.full_segment(), nxt: kept.seq + a.len, window: last };
        let grew = if in_order {
            account.on_data(a.now, &come, kept.echo.is_some())
        } else {
            fresh && adaptive.compresses() && account.grow(&come)
        };
        if in_order {
            let moved = nxt.saturating_sub(kept.seq + a.len);
            if moved > 0 {
                account.close_hole(moved, kept.held);
            }
        } else {
            account.on_hole(span);
        }
        grew
    }

    /// Computes the window of the ACK that is due, before what has come is read.
    pub fn fix_field(&mut self) {
        self.offer(false);
        self.field_once = true;
    }

    /// The window that the account leaves for the next ACK; quick ACKs end where less than half of the buffer is free.
    pub fn room(&mut self) -> u64 {
        let (shift, last) = (self.shift, self.offered());
        let full = self.adaptive.as_ref().map_or(0, |adaptive| adaptive.full_segment());
        let Some(room) = self.account().map(|account| account.room(full, shift, last)) else { return 0 };
        if room.tight
            && let Some(adaptive) = &mut self.adaptive
        {
            adaptive.calm();
        }
        room.window
    }

    /// The window field for the next segment, of the account.
    #[inline(never)]
    pub(super) fn offer_room(&mut self, syn: bool) -> u16 {
        let shift = if syn { 0 } else { self.shift };
        let first = self.account().filter(|account| !account.has_begun()).map(|account| account.first());
        let window = match first {
            Some(first) => first,
            None => {
                let (window, room) = (self.window(), self.room());
                if room < window { window.next_multiple_of(1 << shift) } else { room }
            }
        };
        self.edge = self.edge.max(self.nxt + window);
        let open = self.field != 0;
        self.field = (window >> shift).min(65_535) as u16;
        self.note_offer(open, shift);
        self.field_holds = !syn;
        self.field
    }

    /// The application has read `taken` bytes of the `before` that waited: segment by segment, so that all but the first wait when that is
    /// measured. Returns whether nothing is kept any more.
    pub fn settle(&mut self, now: Time, before: u64, taken: u64) -> bool {
        let unread = before - taken;
        let full = self.adaptive.as_ref().map_or(0, |adaptive| adaptive.full_segment());
        let rest = taken.saturating_sub(full);
        let read = self.read - rest;
        let Some(account) = self.rare.as_mut().and_then(|rare| rare.account.as_mut()) else { return unread == 0 };
        if taken > 0 {
            account.on_read(now, read, unread + rest);
            account.release(before, unread, full);
        }
        account.is_empty()
    }
}
