//! The types that a row may hold, and the column that gathers values of each and becomes an Arrow array.

use std::mem;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array};

use crate::names::{Names, Text};
use crate::spec::Kind;

/// A value in a row.
pub trait Cell: Copy {
    /// The type in the table.
    const KIND: Kind;
    /// Whether it can be missing.
    const NULLABLE: bool;
    /// Where its column gathers.
    type Column: ColumnOf<Self>;
}

/// A column under construction.
pub trait ColumnOf<C>: Default {
    /// Adds values at the end.
    fn extend(&mut self, values: impl Iterator<Item = C>);
    /// The column so far as an array; it begins again, empty, with room for `capacity` values.
    fn take(&mut self, words: &Words, capacity: usize) -> ArrayRef;
    /// A copy of the column so far.
    fn copy(&self, words: &Words) -> ArrayRef;
    /// The same column so far, for another recording to go on with.
    fn duplicate(&self) -> Self;
}

/// The words that text cells refer to.
pub struct Words<'a>(pub(crate) &'a Names);

macro_rules! plain {
    ($($type:ty, $kind:ident, $array:ident, $builder:ident;)*) => { $(
        impl Cell for $type {
            const KIND: Kind = Kind::$kind;
            const NULLABLE: bool = false;
            type Column = Vec<$type>;
        }

        impl ColumnOf<$type> for Vec<$type> {
            fn extend(&mut self, values: impl Iterator<Item = $type>) {
                Extend::extend(self, values);
            }

            fn take(&mut self, _: &Words, capacity: usize) -> ArrayRef {
                Arc::new($array::from(mem::replace(self, Vec::with_capacity(capacity))))
            }

            fn copy(&self, _: &Words) -> ArrayRef {
                Arc::new($array::from(self.clone()))
            }

            fn duplicate(&self) -> Self {
                self.clone()
            }
        }

        impl Cell for Option<$type> {
            const KIND: Kind = Kind::$kind;
            const NULLABLE: bool = true;
            type Column = $builder;
        }

        impl ColumnOf<Option<$type>> for $builder {
            fn extend(&mut self, values: impl Iterator<Item = Option<$type>>) {
                values.for_each(|value| self.append_option(value));
            }

            fn take(&mut self, _: &Words, capacity: usize) -> ArrayRef {
                Arc::new(mem::replace(self, $builder::with_capacity(capacity)).finish())
            }

            fn copy(&self, _: &Words) -> ArrayRef {
                Arc::new(self.finish_cloned())
            }

            fn duplicate(&self) -> Self {
                let mut builder = $builder::with_capacity(self.capacity());
                self.finish_cloned().iter().for_each(|value| builder.append_option(value));
                builder
            }
        }
    )* };
}

plain! {
    i64, Int, Int64Array, Int64Builder;
    f64, Float, Float64Array, Float64Builder;
    bool, Bool, BooleanArray, BooleanBuilder;
}

/// Numbers of words, resolved when the column is taken.
#[derive(Clone, Default)]
pub struct TextColumn(Vec<Option<Text>>);

impl TextColumn {
    fn resolve(&mut self, words: &Words, capacity: usize) -> ArrayRef {
        let array = self.resolved(words);
        self.0 = Vec::with_capacity(capacity);
        array
    }

    fn resolved(&self, words: &Words) -> ArrayRef {
        let bytes = self.0.iter().flatten().map(|text| words.0.word(*text).len()).sum();
        let mut builder = StringBuilder::with_capacity(self.0.len(), bytes);
        self.0.iter().for_each(|text| builder.append_option(text.map(|text| words.0.word(text))));
        Arc::new(builder.finish())
    }
}

impl Cell for Text {
    const KIND: Kind = Kind::Text;
    const NULLABLE: bool = false;
    type Column = TextColumn;
}

impl ColumnOf<Text> for TextColumn {
    fn extend(&mut self, values: impl Iterator<Item = Text>) {
        self.0.extend(values.map(Some));
    }

    fn take(&mut self, words: &Words, capacity: usize) -> ArrayRef {
        self.resolve(words, capacity)
    }

    fn copy(&self, words: &Words) -> ArrayRef {
        self.resolved(words)
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }
}

impl Cell for Option<Text> {
    const KIND: Kind = Kind::Text;
    const NULLABLE: bool = true;
    type Column = TextColumn;
}

impl ColumnOf<Option<Text>> for TextColumn {
    fn extend(&mut self, values: impl Iterator<Item = Option<Text>>) {
        self.0.extend(values);
    }

    fn take(&mut self, words: &Words, capacity: usize) -> ArrayRef {
        self.resolve(words, capacity)
    }

    fn copy(&self, words: &Words) -> ArrayRef {
        self.resolved(words)
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }
}
