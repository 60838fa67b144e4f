//! Sentences about the connections that delivered most, and about one that was asked for.

use elephan_record::ConnectionRow;

/// Connections whose sentences are kept.
const KEPT: usize = 16;

/// Sentences by what a connection delivered and by its number.
#[derive(Clone, Debug, Default)]
pub struct Largest {
    focus: Option<i64>,
    /// Delivered bytes, number, sentences; those that delivered most first, of equal ones the lower number.
    kept: Vec<(i64, i64, Vec<String>)>,
    asked: Option<(i64, Vec<String>)>,
}

impl Largest {
    pub fn new(focus: Option<i64>) -> Largest {
        Largest { focus, ..Largest::default() }
    }

    fn place(&self, row: &ConnectionRow) -> usize {
        let before = |one: &(i64, i64, Vec<String>)| (-one.0, one.1) < (-row.delivered_bytes, row.connection);
        self.kept.partition_point(before)
    }

    /// Whether sentences of this connection are kept.
    pub fn wants(&self, row: &ConnectionRow) -> bool {
        self.focus == Some(row.connection) || self.place(row) < KEPT
    }

    pub fn keep(&mut self, row: &ConnectionRow, lines: Vec<String>) {
        if self.focus == Some(row.connection) {
            self.asked = Some((row.connection, lines.clone()));
        }
        let place = self.place(row);
        if place < KEPT {
            self.kept.insert(place, (row.delivered_bytes, row.connection, lines));
            self.kept.truncate(KEPT);
        }
    }

    /// Numbers and sentences.
    pub fn all(self) -> Vec<(i64, Vec<String>)> {
        let asked = self.asked.filter(|(number, _)| self.kept.iter().all(|one| one.1 != *number));
        self.kept.into_iter().map(|(_, number, lines)| (number, lines)).chain(asked).collect()
    }
}
