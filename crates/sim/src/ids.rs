//! Numbers of things that are not to be taken for each other, and the lists that they index.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// One direction of a link, by its place in the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

impl LinkId {
    /// "No such".
    pub const NONE: LinkId = LinkId(u32::MAX);

    #[inline(always)]
    pub fn of(place: usize) -> LinkId {
        LinkId(place as u32)
    }

    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<u32> for LinkId {
    #[inline(always)]
    fn from(number: u32) -> LinkId {
        LinkId(number)
    }
}

impl From<LinkId> for i64 {
    fn from(id: LinkId) -> i64 {
        i64::from(id.0)
    }
}

impl From<LinkId> for usize {
    #[inline(always)]
    fn from(id: LinkId) -> usize {
        id.index()
    }
}

/// A list of `T` that only an `I` indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<I, T> {
    all: Vec<T>,
    by: PhantomData<I>,
}

impl<I, T> From<Vec<T>> for Table<I, T> {
    fn from(all: Vec<T>) -> Table<I, T> {
        Table { all, by: PhantomData }
    }
}

impl<I: From<u32>, T> Table<I, T> {
    /// Its ids, in order.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.all.len() as u32).map(I::from)
    }
}

impl<I: Into<usize>, T> Index<I> for Table<I, T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, id: I) -> &T {
        &self.all[id.into()]
    }
}

impl<I: Into<usize>, T> IndexMut<I> for Table<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.all[id.into()]
    }
}

impl<I, T> Deref for Table<I, T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.all
    }
}

impl<I, T> DerefMut for Table<I, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_indexed_by_its_ids() {
        let mut table: Table<LinkId, &str> = vec!["a", "b"].into();
        table[LinkId(1)] = "c";
        assert_eq!((table[LinkId(0)], table[LinkId::of(1)], table.len()), ("a", "c", 2));
        assert!(table.get(LinkId::NONE.index()).is_none());
    }
}
