//! Routes by entropy value.

use crate::target::Route;

/// The routes of a connection by entropy value, to the receiver and back; each is looked up when it is used first.
#[derive(Clone, Default)]
pub struct Ways([Vec<Option<Route>>; 2]);

impl Ways {
    pub fn new(entropies: u32) -> Ways {
        Ways([vec![None; entropies as usize], vec![None; entropies as usize]])
    }

    /// The way of an entropy value, there or back, and its place among them; none where packets have no such values.
    pub fn of(&mut self, there: bool, entropy: u16) -> Option<(u16, &mut Option<Route>)> {
        let ways = &mut self.0[usize::from(!there)];
        let place = usize::from(entropy) % ways.len().max(1);
        ways.get_mut(place).map(|way| (place as u16, way))
    }

    /// Other routes may be there from now on.
    pub fn forget(&mut self) {
        self.0.iter_mut().flatten().for_each(|way| *way = None);
    }
}
