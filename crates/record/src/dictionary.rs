//! The data dictionary: every table and column in words, generated from the declarations.

use std::fmt::Write;

use crate::recorder::{specs, trace_specs};
use crate::spec::Spec;
use crate::table::ROW_GROUP_ROWS;

/// The data dictionary as Markdown.
pub fn data_dictionary() -> String {
    let mut text = String::from(
        "# Data dictionary\n\n\
         <!-- Generated from crates/record/src/{copies,flows,hosts,info,pauses,rows,trace}.rs by `make generate`; do not edit. -->\n\n\
         A run writes one Parquet file per table, `<table>.parquet`; the same tables come back from `elephan.run` as Arrow\n\
         tables. Unit and description of a column are also in the metadata of its Arrow field.\n\n\
         - Times and durations end in `_ns`: whole nanoseconds since the start of the run, rounded down from picoseconds.\n\
         - Rates end in `_bps`: bit/s. Sizes end in `_bytes`.\n\
         - Sample times are whole multiples of `record.every`, up to the end of the run; a sample comes after all else of its instant.\n\
         - An empty *unit* is a name, a count, a flag or a ratio. *Null* says when a value can be missing.\n",
    );
    let _ = writeln!(text, "- A row group has {ROW_GROUP_ROWS} rows, the last one what is left.");
    tables(&mut text, &specs());
    text.push_str(
        "\n# Tables of a trace\n\n\
         `elephan analyze` writes one Parquet file per table. Times are nanoseconds since the first packet of the capture;\n\
         `manifest.json` says when that was.\n",
    );
    tables(&mut text, &trace_specs());
    text
}

fn tables(text: &mut String, specs: &[Spec]) {
    for spec in specs {
        let _ = write!(text, "\n## {}\n\n{}\n\n", spec.name, spec.description);
        text.push_str("| column | type | unit | null | description |\n|---|---|---|---|---|\n");
        for column in spec.columns {
            let null = if column.nullable { "yes" } else { "" };
            let (name, kind) = (column.name, column.kind.name());
            let _ = writeln!(text, "| `{name}` | {kind} | {} | {null} | {} |", column.unit, column.description);
        }
    }
}
