//! The receiving half of a connection: the next expected byte, the window offered, and when an ACK is due.
//!
//! ACKs (RFC 5681 section 4.2, RFC 9293 section 3.8.6.3): every n-th segment in order and at the latest after a delay;
//! at once for a segment out of order, one that fills a gap, a duplicate, or a FIN. Linux's rule is [`crate::delayed_ack`].
//! Window (RFC 9293 section 3.8.6.2.2): the right edge moves only by min(half the buffer, one segment) or more.

use crate::delayed_ack::DelayedAck;
use crate::options::{Acceptance, DelayedAckRule, Options, ReceiveCharge, WindowUpdate};
use crate::reassembly::{Interval, Reassembly};
use crate::receive_buffer::ReceiveBuffer;
use crate::segment::SackBlocks;
use elephan_units::{Span, Time};

mod account;

pub(crate) use account::Kept;

/// Blocks that every ACK is sure to report (`TCP_SACK_BLOCKS_EXPECTED`).
pub(crate) const BLOCKS_EXPECTED: usize = 2;

/// When a segment's acknowledgement is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Later,
    Now,
}

/// What few receivers see, for the statistics: data out of order or twice, full buffers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rare {
    pub dup_acks: u64,
    pub episodes: u64,
    pub max_span: u64,
    /// How often the window was closed, and the most bytes not read.
    pub closed: u64,
    pub max_unread: u64,
    /// How far the application reads by itself when reading is manual.
    read_until: u64,
    /// The next expected byte in the last episode.
    at: u64,
    /// Until when unacceptable segments without data get no answer.
    silent_until: Time,
    /// Linux's account of the buffer; with Linux's rule for ACKs only.
    account: Option<ReceiveBuffer>,
}

#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// Next expected offset (RCV.NXT).
    pub nxt: u64,
    /// Right edge of the window offered so far.
    pub edge: u64,
    /// Last acknowledgement sent (RFC 7323 Last.ACK.sent).
    pub last_ack: u64,
    /// Payload bytes that the application has read; follows the arrivals unless reading is manual.
    pub read: u64,
    buffer: u64,
    /// The sender's full segment, for window updates.
    mss: u64,
    pub shift: u8,
    /// The MSS option of the peer's SYN.
    pub peer_mss: u16,
    /// The window field as last offered, and whether it still holds.
    field: u16,
    field_holds: bool,
    /// The field was computed for one ACK, before a read that changes it.
    field_once: bool,
    pub auto_read: bool,
    /// The peer's FIN has been received in order.
    pub fin: bool,
    /// The offset of the peer's FIN, `u64::MAX` if not seen.
    fin_at: u64,
    /// Segments received in order since the last ACK.
    pub unacked: u32,
    segments_per_ack: u16,
    /// The next data segment is the first and is to be acknowledged at once.
    first_due: bool,
    dsack: bool,
    /// A reader announces room when the window doubles.
    doubling: bool,
    /// Data that reaches beyond the window is refused as a whole while other data waits for the application.
    whole: bool,
    /// Linux's rule, instead of counting segments.
    pub adaptive: Option<Box<DelayedAck>>,
    /// There are SACK blocks to report.
    pub has_blocks: bool,
    /// Duplicate to be reported by the next ACK.
    duplicate: Option<Interval>,
    reassembly: Option<Box<Reassembly>>,
    rare: Option<Box<Rare>>,
    /// Largest window offered.
    pub max_window: u64,
    /// RFC 7323 TS.Recent.
    pub ts_recent: u32,
}

impl Receiver {
    pub fn new(o: &Options) -> Receiver {
        let adaptive = (o.delayed_ack_rule == DelayedAckRule::Linux).then(|| Box::new(DelayedAck::new(o)));
        let segments = u16::try_from(o.delayed_ack_segments).unwrap_or(u16::MAX);
        let account = account_of(o).filter(|_| adaptive.is_some());
        Receiver {
            nxt: 0,
            edge: 0,
            last_ack: 0,
            read: 0,
            buffer: account.as_ref().map_or(window_of(o), |account| account.most()),
            mss: o.mss.0,
            shift: 0,
            peer_mss: 0,
            field: 0,
            field_holds: false,
            field_once: false,
            auto_read: true,
            fin: false,
            fin_at: u64::MAX,
            unacked: 0,
            segments_per_ack: if adaptive.is_some() { u16::MAX } else { segments },
            first_due: o.delayed_ack_first,
            dsack: false,
            whole: o.acceptance == Acceptance::Linux,
            doubling: o.window_update == WindowUpdate::Doubled,
            adaptive,
            has_blocks: false,
            duplicate: None,
            reassembly: None,
            rare: account.map(|account| Box::new(Rare { account: Some(account), ..Rare::default() })),
            max_window: 0,
            ts_recent: 0,
        }
    }

    /// The handshake is done.
    pub fn establish(&mut self, mss: u32, sack: bool, o: &Options) {
        self.mss = u64::from(mss);
        self.dsack = sack && o.dsack;
        if let Some(adaptive) = self.adaptive.as_mut().filter(|_| sack) {
            adaptive.compress(o);
        }
    }

    /// The handshake begins anew.
    pub fn restart(&mut self, o: &Options) {
        let mut rare = self.rare.take();
        let new = Receiver::new(o);
        if let Some(rare) = &mut rare {
            rare.account = new.rare.as_ref().and_then(|rare| rare.account);
        }
        *self = Receiver { auto_read: self.auto_read, rare: rare.or(new.rare), ..Receiver::new(o) };
    }

    /// Whether an unacceptable segment without data is answered at `now`; if so, none is for `limit`.
    pub fn may_answer(&mut self, now: Time, limit: Span) -> bool {
        if limit == Span::ZERO {
            return true;
        }
        let rare = self.rare.get_or_insert_default();
        let may = now >= rare.silent_until;
        if may {
            rare.silent_until = now.saturating_add(limit);
        }
        may
    }

    /// The buffer has the size from now on that an application asks for, and does not grow by itself.
    pub fn set_buffer(&mut self, bytes: u64) {
        let mss = self.mss;
        self.buffer = bytes;
        self.field_holds = false;
        match self.account_mut() {
            Some(account) if account.has_begun() => account.resize(bytes),
            Some(account) => *account = ReceiveBuffer::set(bytes, mss),
            None => {}
        }
    }

    /// The first window of a passive end is of whole segments with timestamps.
    pub fn offer_whole(&mut self, mss: u64) {
        if let Some(account) = self.account_mut() {
            account.offer_whole(mss);
        }
    }

    /// The connection begins; this end's segments may have `mss` bytes.
    pub fn begin(&mut self, now: Time, mss: u64) {
        let shift = self.shift;
        if let Some(account) = self.account_mut() {
            account.begin(now, mss, shift);
        }
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.begin(now, mss);
        }
    }

    /// Linux's account of the buffer.
    #[inline]
    pub fn account(&self) -> Option<&ReceiveBuffer> {
        self.rare.as_ref()?.account.as_ref()
    }

    fn account_mut(&mut self) -> Option<&mut ReceiveBuffer> {
        self.rare.as_mut()?.account.as_mut()
    }

    /// The buffer keeps its size from now on; returns the largest that it might have had.
    fn close_account(&mut self) -> Option<u64> {
        let account = self.rare.as_mut()?.account.take()?;
        Some(account.most())
    }

    /// The window of the last ACK.
    #[inline]
    pub fn offered(&self) -> u64 {
        self.edge - self.last_ack
    }

    /// Nothing is acknowledged later; a buffer that grows has its largest size then.
    pub fn acknowledge_each(&mut self) {
        if let Some(most) = self.close_account() {
            (self.buffer, self.field_holds) = (most, false);
        }
        (self.segments_per_ack, self.adaptive) = (1, None);
    }

    /// Payload bytes received in order.
    #[inline]
    pub fn payload(&self) -> u64 {
        self.nxt.saturating_sub(1 + u64::from(self.fin))
    }

    /// Payload `[left, left + len)` arrived.
    #[inline]
    pub fn accept(&mut self, left: u64, len: u64) -> Due {
        let right = left + len;
        self.field_holds = false;
        if left == self.nxt && right <= self.edge && !self.has_blocks {
            self.nxt = right;
            return self.in_order(len);
        }
        let nxt = self.nxt;
        let due = self.accept_slow(left, right);
        self.count_blocks();
        self.note_disorder(nxt);
        due
    }

    /// Counts an arrival that was not in order when `nxt` was expected.
    fn note_disorder(&mut self, nxt: u64) {
        let span = self.span();
        let rare = self.rare.get_or_insert_default();
        rare.max_span = rare.max_span.max(span);
        if self.nxt == nxt {
            rare.dup_acks += 1;
            rare.episodes += u64::from(rare.at != nxt);
            rare.at = nxt;
        }
    }

    pub fn rare(&self) -> Rare {
        self.rare.as_deref().copied().unwrap_or_default()
    }

    /// The ACK that is due does not report what came last.
    pub fn reports_old(&self) -> bool {
        self.reassembly.as_ref().is_some_and(|reassembly| reassembly.is_frozen())
    }

    /// Bytes from the next expected one to the last that has arrived.
    pub fn span(&self) -> u64 {
        self.reassembly.as_ref().and_then(|r| r.end()).map_or(0, |end| end.saturating_sub(self.nxt))
    }

    /// Bytes in order that the application has not taken.
    pub fn unread(&self) -> u64 {
        self.payload() - self.read
    }

    /// Bytes behind holes.
    pub fn held(&self) -> u64 {
        self.reassembly.as_ref().map_or(0, |reassembly| reassembly.held())
    }

    /// The window as the peer knows it.
    pub fn window(&self) -> u64 {
        self.edge.saturating_sub(self.nxt)
    }

    fn count_blocks(&mut self) {
        self.has_blocks = self.duplicate.is_some() || self.reassembly.as_ref().is_some_and(|r| !r.is_empty());
    }

    /// `len` bytes that were expected have come: a segment, or several that the host has made one (GRO).
    #[inline]
    fn in_order(&mut self, len: u64) -> Due {
        if self.auto_read {
            self.read = self.payload();
        } else {
            self.read_on();
        }
        self.unacked += if len <= self.mss { 1 } else { len.div_ceil(self.mss) as u32 };
        if self.unacked >= u32::from(self.segments_per_ack) || self.first_due {
            self.first_due = false;
            return Due::Now;
        }
        Due::Later
    }

    /// A reader by hand takes what it may.
    fn read_on(&mut self) {
        let payload = self.payload();
        let rare = self.rare.get_or_insert_default();
        self.read = self.read.max(payload.min(rare.read_until));
        rare.max_unread = rare.max_unread.max(payload - self.read);
    }

    /// Whether all that has come is read at once.
    pub fn reads_at_once(&self) -> bool {
        self.auto_read || self.rare.as_ref().is_some_and(|rare| self.payload() <= rare.read_until)
    }

    /// The application reads by itself up to this offset of the stream; returns how much there was, and whether the sender should be told
    /// of the room that this makes now.
    pub fn read_until(&mut self, now: Time, offset: u64) -> (u64, bool) {
        self.auto_read = false;
        self.rare.get_or_insert_default().read_until = offset;
        self.take(now, offset.saturating_sub(self.read))
    }

    fn accept_slow(&mut self, left: u64, right: u64) -> Due {
        // Linux since 6.17 (`SKB_DROP_REASON_TCP_INVALID_END_SEQUENCE`).
        if right > self.edge && self.whole && self.unread() > 0 {
            return Due::Now;
        }
        if self.whole {
            // One that has not been reported by now never is (`tcp_data_queue`).
            self.duplicate = None;
        }
        let whole = (left, right);
        // Linux takes all of what begins inside the window.
        let right = if self.whole && self.window() > 0 { right } else { right.min(self.edge) };
        if whole.1 <= self.nxt {
            self.duplicate = Some(whole);
            return Due::Now;
        }
        if left >= right || left >= self.edge && left > self.nxt {
            return Due::Now;
        }
        if left <= self.nxt {
            if left < self.nxt {
                self.duplicate = Some((left, self.nxt));
            }
            let filled = self.reassembly.as_mut().filter(|r| !r.is_empty()).map(|r| r.advance(right));
            let (end, covered) = filled.unwrap_or((right, None));
            self.nxt = end;
            self.edge = self.edge.max(end);
            // RFC 2883 section 4: one duplicate an ACK, the first.
            self.duplicate = self.duplicate.or(covered);
            let due = self.in_order(right - left);
            return if filled.is_some() || self.duplicate.is_some() { Due::Now } else { due };
        }
        let waits = self.adaptive.as_ref().is_some_and(|adaptive| adaptive.holds_back());
        let reassembly = self.reassembly.get_or_insert_default();
        if waits && reassembly.rank(left, right) >= BLOCKS_EXPECTED {
            // The ACK that was held back leaves before the segment is noted (`tcp_sack_new_ofo_skb`).
            reassembly.freeze();
        }
        let arrival = reassembly.insert(left, right);
        // One that waits for its ACK stays, unless another takes its place.
        self.duplicate = arrival.duplicate.or(self.duplicate);
        Due::Now
    }

    /// An unacceptable segment takes the numbers `[left, left + len)`: those that have come before are a duplicate all the same (Linux
    /// `tcp_send_dupack`).
    pub fn note_old(&mut self, left: u64, len: u64) {
        if left < self.nxt && len > 0 {
            self.duplicate = Some((left, self.nxt.min(left + len)));
            self.count_blocks();
        }
    }

    /// A FIN at offset `at` arrived (see [`Receiver::take_fin`]). One that is known is a duplicate, as what came with it.
    pub fn note_fin(&mut self, at: u64) {
        if at == self.fin_at {
            let left = self.duplicate.filter(|block| block.1 == at).map_or(at, |block| block.0);
            self.duplicate = Some((left, at + 1));
            self.count_blocks();
        } else if at <= self.edge {
            self.fin_at = at;
        }
    }

    /// Takes the FIN in order once everything before it has arrived.
    #[inline]
    pub fn take_fin(&mut self) -> bool {
        if self.nxt != self.fin_at || self.fin {
            return false;
        }
        self.nxt += 1;
        self.edge = self.edge.max(self.nxt);
        self.field_holds = false;
        self.fin = true;
        true
    }

    /// The size of the buffer.
    pub fn size(&self) -> u64 {
        self.buffer
    }

    /// Space for data beyond the next expected byte.
    #[inline]
    fn space(&self) -> u64 {
        self.buffer - (self.payload() - self.read).min(self.buffer)
    }

    /// The window field for the next segment, unscaled in a SYN; moves the right edge.
    #[inline]
    pub fn offer(&mut self, syn: bool) -> u16 {
        if self.field_holds && !syn {
            return self.field;
        }
        if self.account().is_some() {
            return self.offer_room(syn);
        }
        let shift = if syn { 0 } else { self.shift };
        let target = self.nxt + self.space();
        let open = self.field != 0;
        self.field = if target >= self.edge + self.mss.min(self.buffer / 2) {
            let field = (self.space() >> shift).min(65_535);
            self.edge = self.edge.max(self.nxt + (field << shift));
            field as u16
        } else {
            ((self.edge - self.nxt) >> shift).min(65_535) as u16
        };
        self.note_offer(open, shift);
        self.field_holds = !syn;
        self.field
    }

    fn note_offer(&mut self, open: bool, shift: u8) {
        if open && self.field == 0 {
            self.rare.get_or_insert_default().closed += 1;
        }
        self.max_window = self.max_window.max(u64::from(self.field) << shift);
    }

    /// An ACK leaves, with data or without.
    #[inline]
    pub fn acked(&mut self, now: Time, data: bool) {
        self.unacked = 0;
        self.last_ack = self.nxt;
        if self.field_once {
            (self.field_once, self.field_holds) = (false, false);
        }
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.on_ack_sent(now, data);
        }
    }

    /// The application takes up to `bytes`; returns how many there were and whether the sender should be told.
    pub fn take(&mut self, now: Time, bytes: u64) -> (u64, bool) {
        let before = self.unread();
        let taken = bytes.min(before);
        self.read += taken;
        self.field_holds = false;
        let empty = self.settle(now, before, taken);
        let unacked = self.nxt - self.last_ack;
        let due = self.adaptive.as_ref().is_some_and(|adaptive| adaptive.on_read(unacked, empty && taken > 0));
        (taken, due || taken > 0 && self.has_opened())
    }

    /// Nothing waits for the application, or the window is no smaller than in the last ACK (`__tcp_ack_snd_check`).
    #[inline]
    pub fn is_open(&self) -> bool {
        self.unread() == 0 || self.space() >= self.edge - self.last_ack
    }

    /// Whether what the application has read lets the window grow so much that the sender is told without waiting for data: by two
    /// segments or half the buffer (RFC 1122 section 4.2.3.3, BSD), or to its double (Linux `__tcp_cleanup_rbuf`).
    fn has_opened(&mut self) -> bool {
        let window = self.window();
        if let Some(account) = self.account() {
            return !self.fin && 2 * window <= account.clamp() && {
                let room = self.room();
                room > 0 && room >= 2 * window
            };
        }
        let opened = self.space().min(65_535 << self.shift);
        let gain = opened.saturating_sub(window);
        if !self.doubling {
            return gain >= (2 * self.mss).min(self.buffer / 2);
        }
        // `__tcp_select_window` offers nothing below a segment or a sixteenth of the buffer.
        let least = self.mss.min(self.buffer / 2).max(self.buffer / 16);
        2 * window <= self.buffer && opened >= 2 * window && opened >= least && gain >= self.mss.min(self.buffer / 2)
    }

    /// Without SACK nobody is told of duplicates.
    pub fn drop_duplicate(&mut self) -> u8 {
        self.duplicate = None;
        self.count_blocks();
        0
    }

    /// SACK blocks of the next segment, at most `room`, as wire sequence numbers from `origin`.
    pub fn blocks(&mut self, room: usize, origin: u32, out: &mut SackBlocks) -> u8 {
        let mut blocks = [(0, 0); 4];
        let duplicate = self.duplicate.take().filter(|_| self.dsack);
        let count = match &mut self.reassembly {
            Some(reassembly) => {
                // RFC 2883 section 4: a duplicate inside a block is followed by that block.
                if let Some((left, _)) = duplicate.filter(|block| block.0 >= self.nxt && !reassembly.is_frozen()) {
                    reassembly.bring_forward(left);
                }
                reassembly.report(duplicate, room, &mut blocks)
            }
            None => {
                blocks[0] = duplicate.unwrap_or_default();
                usize::from(duplicate.is_some())
            }
        };
        self.count_blocks();
        let reported = usize::from(duplicate.is_some());
        for (i, (wire, &(left, right))) in out.iter_mut().zip(&blocks[..count]).enumerate() {
            // The FIN that came with the last byte has a number too: without it the sender would not know that segment to be here. What
            // is reported as a duplicate says itself whether the FIN is one.
            let right = right + u64::from(i >= reported && right == self.fin_at);
            *wire = (origin.wrapping_add(left as u32), origin.wrapping_add(right as u32));
        }
        count as u8
    }
}

/// Linux's account of the buffer with the options of a stack.
fn account_of(o: &Options) -> Option<ReceiveBuffer> {
    if o.receive_charge == ReceiveCharge::Payload {
        None
    } else if o.receive_buffer.0 > 0 {
        Some(ReceiveBuffer::set(o.receive_buffer.0, o.mss.0))
    } else {
        ReceiveBuffer::of(o.receive_window_initial.0, o.receive_window.0, o.mss.0)
    }
}

/// The window of a buffer without account: what the application has set, if it has.
fn window_of(o: &Options) -> u64 {
    if o.receive_buffer.0 > 0 { o.receive_buffer.0 } else { o.receive_window.0 }
}
