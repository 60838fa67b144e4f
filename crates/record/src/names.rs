//! Interned text: a row holds a number, the recorder holds the words.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// An interned word; the default is the empty text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Hash)]
pub struct Text(pub(crate) u32);

/// The words of a recording, shared by its tables. The empty text is always number 0.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    words: Vec<Arc<str>>,
    numbers: BTreeMap<Arc<str>, u32>,
}

/// Tables read the words when they seal a batch, once in 64 Ki rows; pushing a row never takes this lock.
pub(crate) type SharedNames = Arc<Mutex<Names>>;

impl Names {
    pub(crate) fn shared() -> SharedNames {
        let empty: Arc<str> = Arc::from("");
        Arc::new(Mutex::new(Names { words: vec![empty.clone()], numbers: BTreeMap::from([(empty, 0)]) }))
    }

    /// The same words for another recording, which adds its own.
    pub(crate) fn copied(shared: &SharedNames) -> SharedNames {
        Arc::new(Mutex::new(with(shared, |names| names.clone())))
    }

    pub(crate) fn intern(&mut self, word: &str) -> Text {
        if let Some(number) = self.numbers.get(word) {
            return Text(*number);
        }
        let number = self.words.len() as u32;
        let word: Arc<str> = Arc::from(word);
        self.words.push(word.clone());
        self.numbers.insert(word, number);
        Text(number)
    }

    /// The word behind a number; a number from another recorder reads as the empty text.
    pub(crate) fn word(&self, text: Text) -> &str {
        self.words.get(text.0 as usize).map_or("", |word| word)
    }
}

/// Runs `body` with the words; a panic elsewhere cannot have left them half-written, so a poisoned lock is taken anyway.
pub(crate) fn with<R>(names: &SharedNames, body: impl FnOnce(&mut Names) -> R) -> R {
    body(&mut names.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_word_same_number() {
        let names = Names::shared();
        with(&names, |names| {
            let drop = names.intern("drop");
            let pause = names.intern("pause");
            assert_ne!(drop, pause);
            assert_eq!(names.intern("drop"), drop);
            assert_eq!(names.word(pause), "pause");
            assert_eq!(names.intern(""), Text::default());
            assert_eq!(names.word(Text(99)), "");
        });
    }
}
