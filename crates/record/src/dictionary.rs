//! The data dictionary: every table and column in words, generated from the declarations.

use std::fmt::Write;

use crate::recorder::specs;
use crate::table::ROW_GROUP_ROWS;

/// The data dictionary as Markdown.
pub fn data_dictionary() -> String {
    let mut text = String::from(
        "# Data dictionary\n\n\
         <!-- Generated from crates/record/src/rows.rs by `make generate`; do not edit. -->\n\n\
         A run writes one Parquet file per table, `<table>.parquet`; the same tables come back from `elephan.run` as Arrow\n\
         tables. Unit and description of a column are also in the metadata of its Arrow field.\n\n\
         - Times and durations end in `_ns`: whole nanoseconds since the start of the run, rounded down from picoseconds.\n\
         - Rates end in `_bps`: bit/s. Sizes end in `_bytes`.\n\
         - An empty *unit* is a name, a count, a flag or a ratio. *Null* says when a value can be missing.\n",
    );
    let _ = writeln!(text, "- A row group has {ROW_GROUP_ROWS} rows, the last one what is left.");
    for spec in specs() {
        let _ = write!(text, "\n## {}\n\n{}\n\n", spec.name, spec.description);
        text.push_str("| column | type | unit | null | description |\n|---|---|---|---|---|\n");
        for column in spec.columns {
            let null = if column.nullable { "yes" } else { "" };
            let (name, kind) = (column.name, column.kind.name());
            let _ = writeln!(text, "| `{name}` | {kind} | {} | {null} | {} |", column.unit, column.description);
        }
    }
    text
}
