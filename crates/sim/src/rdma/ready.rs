//! Connections that may send and wait for room at their interface.

use crate::ids::LinkId;
use std::collections::VecDeque;

const PRIORITIES: usize = 8;

/// Who waits, by link of the interface.
#[derive(Clone, Default)]
pub struct Waiting(Vec<Ready>);

impl Waiting {
    /// Who waits at the interface of `link`.
    pub fn at(&mut self, link: LinkId) -> &mut Ready {
        let place = link.index();
        if place >= self.0.len() {
            self.0.resize_with(place + 1, Ready::default);
        }
        &mut self.0[place]
    }
}

/// Who waits at one interface: a line for each priority.
#[derive(Clone, Default)]
pub struct Ready {
    lines: [VecDeque<u32>; PRIORITIES],
    /// Lines with somebody in them, a bit each.
    some: u8,
}

impl Ready {
    pub fn push(&mut self, priority: u8, id: u32) {
        self.lines[usize::from(priority)].push_back(id);
        self.some |= 1 << priority;
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.lines.iter().map(VecDeque::len).sum()
    }

    pub fn get(&self, priority: u8, place: usize) -> Option<u32> {
        self.lines[usize::from(priority)].get(place).copied()
    }

    pub fn remove(&mut self, priority: u8, place: usize) {
        let line = &mut self.lines[usize::from(priority)];
        line.remove(place);
        if line.is_empty() {
            self.some &= !(1 << priority);
        }
    }

    /// Takes out a connection wherever it stands.
    pub fn forget(&mut self, priority: u8, id: u32) {
        if let Some(place) = self.lines[usize::from(priority)].iter().position(|&waiting| waiting == id) {
            self.remove(priority, place);
        }
    }

    /// The priorities in which somebody waits now, the highest first.
    pub fn priorities(&self) -> impl Iterator<Item = u8> + use<> {
        let some = self.some;
        (0..PRIORITIES as u8).rev().filter(move |priority| some >> priority & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_by_priority() {
        let mut waiting = Waiting::default();
        let ready = waiting.at(LinkId(7));
        for (priority, id) in [(3, 10), (3, 11), (6, 12), (3, 13)] {
            ready.push(priority, id);
        }
        assert_eq!(ready.priorities().collect::<Vec<_>>(), [6, 3]);
        ready.remove(3, 1);
        assert_eq!([ready.get(3, 0), ready.get(3, 1), ready.get(3, 2)], [Some(10), Some(13), None]);
        ready.forget(6, 12);
        ready.forget(6, 99);
        assert_eq!(ready.priorities().collect::<Vec<_>>(), [3]);
        assert_eq!(waiting.at(LinkId(2)).priorities().count(), 0);
    }
}
