//! Waiting packets, first in first out, with their bytes.

use std::collections::VecDeque;

use elephan_units::{Span, Time};

use crate::queue::Item;

/// The packets of one queue.
#[derive(Clone, Debug, Default)]
pub struct Store {
    waiting: VecDeque<Item>,
    bytes: u64,
}

impl Store {
    #[inline]
    pub fn push(&mut self, item: Item) {
        self.bytes += u64::from(item.bytes);
        self.waiting.push_back(item);
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Item> {
        let item = self.waiting.pop_front()?;
        self.bytes -= u64::from(item.bytes);
        Some(item)
    }

    /// The packet that leaves next.
    #[inline]
    pub fn first(&self) -> Option<&Item> {
        self.waiting.front()
    }

    /// Takes out the packet that came last.
    pub fn pop_last(&mut self) -> Option<Item> {
        let item = self.waiting.pop_back()?;
        self.bytes -= u64::from(item.bytes);
        Some(item)
    }

    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    pub fn packets(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// How long the packet that leaves next has waited; nothing if none waits.
    pub fn head_delay(&self, now: Time) -> Span {
        self.waiting.front().map_or(Span::ZERO, |item| now.since(item.at))
    }
}
