//! Messages before the socket and in flight: who enters TCP when, and when each has been delivered.
//!
//! A message enters TCP when its first byte does: at that instant it is stamped. What happens to one that finds the
//! send buffer full is [`WhenFull`]. Its latency ends when its last byte leaves the receiving TCP.
//!
//! The queue of waiting messages is implicit. Message k has arrival A_k, enters at
//!
//! ```text
//! block:        A_(k+1) = A_k + gap,   enters at max(A_k, when a byte fits)
//! pause-clock:  A_(k+1) = F_k + gap,   F_k = when the last byte of message k has entered
//! drop:         A_(k+1) = A_k + gap,   lost if no byte fits at A_k
//! ```
//!
//! so a backlog under permanent overload is a clock that lags behind, and costs no memory. A queue that is *fed* has no clock: another
//! generator says when its messages arrive, a backlog is a number, and sizes are drawn as messages enter.

use std::collections::VecDeque;

use elephan_units::{Span, Time};

use crate::{Generate, Source, WhenFull};

/// A delivered message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its first byte entered TCP.
    pub enter: Time,
    /// Its last byte was delivered.
    pub exit: Time,
    pub bytes: u64,
}

impl Message {
    pub fn latency(&self) -> Span {
        self.exit.since(self.enter)
    }
}

/// The messages of one connection.
#[derive(Clone, Debug)]
pub struct MessageQueue<S = Source> {
    source: S,
    when_full: WhenFull,
    /// Arrival of the next message; NEVER when there is none or the clock stands still.
    arrival: Time,
    bytes_next: u64,
    /// The gap to start when the last message has entered (pause-clock).
    held: Option<Span>,
    ended: bool,
    /// Messages that were fed and have not begun to enter; `None` for a queue with a clock.
    waiting: Option<u64>,
    /// Nothing more will be fed.
    last: bool,
    /// No byte fitted when last asked.
    full: bool,
    /// Stream bytes of all messages that have begun to enter.
    offered: u64,
    /// Stream end and entry of each message not yet delivered.
    in_flight: VecDeque<(u64, Time)>,
    /// Stream end of the last delivered message.
    delivered_end: u64,
    entered_messages: u64,
    delivered_messages: u64,
    dropped_messages: u64,
    dropped_bytes: u64,
}

impl<S: Generate> MessageQueue<S> {
    /// The clock of arrivals starts at `start`.
    pub fn new(source: S, when_full: WhenFull, start: Time) -> MessageQueue<S> {
        let mut queue = MessageQueue {
            source,
            when_full,
            arrival: start,
            bytes_next: 0,
            held: None,
            ended: false,
            waiting: None,
            last: false,
            full: false,
            offered: 0,
            in_flight: VecDeque::new(),
            delivered_end: 0,
            entered_messages: 0,
            delivered_messages: 0,
            dropped_messages: 0,
            dropped_bytes: 0,
        };
        queue.draw(start, u64::MAX);
        queue
    }

    /// A queue whose messages arrive when it is [fed](Self::feed); `source` says how large they are.
    pub fn fed(source: S, when_full: WhenFull) -> MessageQueue<S> {
        let mut queue = MessageQueue::new(source, when_full, Time::ZERO);
        queue.arrival = Time::NEVER;
        queue.waiting = Some(0);
        queue
    }

    /// A message arrives; [`pump`](Self::pump) lets it enter.
    #[inline]
    pub fn feed(&mut self) {
        if let (Some(waiting), false) = (&mut self.waiting, self.ended) {
            *waiting += 1;
        }
    }

    /// Nothing more will be fed: the queue ends when what waits has entered.
    pub fn feed_no_more(&mut self) {
        self.last = true;
    }

    /// Messages that were fed and have not begun to enter.
    pub fn waiting(&self) -> u64 {
        self.waiting.unwrap_or(0)
    }

    /// When [`pump`](Self::pump) must be called, unless the send buffer frees space before. NEVER while a message
    /// waits for space.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        if self.full && self.when_full != WhenFull::Drop { Time::NEVER } else { self.arrival }
    }

    /// Lets messages enter at `now` and returns the length of the stream so far, for the socket's supply.
    /// `capacity` is the stream offset up to which the socket can hold bytes now: acknowledged + send buffer; it never
    /// decreases. To be called at [`next_arrival`](Self::next_arrival) and whenever `capacity` has grown.
    #[inline]
    pub fn pump(&mut self, now: Time, capacity: u64) -> u64 {
        if let Some(waiting) = self.waiting {
            return self.pump_fed(now, capacity, waiting);
        }
        if let Some(gap) = self.held
            && self.offered <= capacity
        {
            self.held = None;
            self.arrival = now.saturating_add(gap);
        }
        while self.arrival <= now && self.arrival != Time::NEVER {
            if self.offered < capacity {
                self.enter(now);
            } else if self.when_full == WhenFull::Drop {
                self.lose();
            } else {
                break;
            }
            self.draw(now, capacity);
        }
        self.full = self.offered >= capacity;
        self.offered
    }

    fn pump_fed(&mut self, now: Time, capacity: u64, mut waiting: u64) -> u64 {
        while waiting > 0 {
            if self.offered < capacity {
                self.enter(now);
            } else if self.when_full == WhenFull::Drop {
                self.lose();
            } else {
                break;
            }
            waiting -= 1;
            self.bytes_next = self.source.next_offer().map_or(1, |offer| offer.bytes);
        }
        self.waiting = Some(waiting);
        self.full = self.offered >= capacity;
        if self.last && waiting == 0 {
            self.stop();
        }
        self.offered
    }

    #[inline]
    fn enter(&mut self, now: Time) {
        self.offered = self.offered.saturating_add(self.bytes_next);
        self.in_flight.push_back((self.offered, now));
        self.entered_messages += 1;
    }

    fn lose(&mut self) {
        self.dropped_messages += 1;
        self.dropped_bytes = self.dropped_bytes.saturating_add(self.bytes_next);
    }

    /// The next message and its arrival.
    fn draw(&mut self, now: Time, capacity: u64) {
        let Some(offer) = self.source.next_offer() else {
            self.stop();
            return;
        };
        self.bytes_next = offer.bytes;
        if self.when_full != WhenFull::PauseClock {
            self.arrival = self.arrival.saturating_add(offer.gap);
        } else if self.offered <= capacity {
            self.arrival = now.saturating_add(offer.gap);
        } else {
            self.held = Some(offer.gap);
            self.arrival = Time::NEVER;
        }
    }

    /// `received` in-order bytes have been delivered by `now`: hands each message that this completes to `finished`.
    #[inline]
    pub fn delivered(&mut self, now: Time, received: u64, mut finished: impl FnMut(Message)) {
        while let Some(&(end, enter)) = self.in_flight.front()
            && end <= received
        {
            self.in_flight.pop_front();
            finished(Message { enter, exit: now, bytes: end - self.delivered_end });
            self.delivered_end = end;
            self.delivered_messages += 1;
        }
    }

    /// No more arrivals. Messages that have not begun to enter are withdrawn.
    pub fn stop(&mut self) {
        self.ended = true;
        self.arrival = Time::NEVER;
        self.held = None;
        self.waiting = self.waiting.map(|_| 0);
    }

    /// No more messages will enter: the connection may be closed after its data.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Entry and size of the messages that have begun to enter and are not delivered, oldest first.
    pub fn unfinished(&self) -> impl Iterator<Item = (Time, u64)> + '_ {
        let begins = std::iter::once(self.delivered_end).chain(self.in_flight.iter().map(|m| m.0));
        self.in_flight.iter().zip(begins).map(|(&(end, enter), begin)| (enter, end - begin))
    }

    /// Stream bytes of all messages that have begun to enter.
    pub fn offered(&self) -> u64 {
        self.offered
    }
    pub fn entered_messages(&self) -> u64 {
        self.entered_messages
    }
    pub fn delivered_messages(&self) -> u64 {
        self.delivered_messages
    }
    pub fn dropped_messages(&self) -> u64 {
        self.dropped_messages
    }
    pub fn dropped_bytes(&self) -> u64 {
        self.dropped_bytes
    }
}

#[cfg(test)]
mod tests;
