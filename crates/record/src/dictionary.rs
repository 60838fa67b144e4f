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

/// The Python module that names the tables and gives a run a property for each.
pub fn python_module() -> String {
    let runs = specs();
    let mut text = String::from(
        "\"\"\"The tables of runs and traces. Generated from crates/record/src/{rows,trace}.rs by `make generate`; do not edit.\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from collections.abc import Mapping\n\
         from typing import TYPE_CHECKING\n\n\
         if TYPE_CHECKING:\n    import pyarrow as pa\n\n\
         # Each table with its first columns, as many as no other table has all of.\n",
    );
    let all: Vec<Spec> = runs.iter().chain(&trace_specs()).copied().collect();
    names(&mut text, "RUN", &runs, &all);
    names(&mut text, "TRACE", &trace_specs(), &all);
    text.push_str("\n\nclass RunTables:\n    \"\"\"The tables of a run, each as a property.\"\"\"\n\n    tables: Mapping[str, pa.Table]\n");
    for spec in runs {
        let (name, about) = (spec.name, spec.description);
        let sentence = about.split_once(". ").map_or(about, |(first, _)| first).trim_end_matches('.');
        let _ = write!(
            text,
            "\n    @property\n    def {name}(self) -> pa.Table:\n        \"\"\"{}\"\"\"\n        return self.tables[\"{name}\"]\n",
            wrapped(&format!("{sentence}."))
        );
    }
    text
}

/// Writes a dictionary of the tables with the columns that tell each of them.
fn names(text: &mut String, constant: &str, specs: &[Spec], all: &[Spec]) {
    let _ = writeln!(text, "{constant} = {{");
    for spec in specs {
        let told = (1..spec.columns.len()).find(|&count| !all.iter().any(|other| has(other, spec, count)));
        let first = &spec.columns[..told.unwrap_or(spec.columns.len())];
        let columns: String = first.iter().map(|column| format!("\"{}\", ", column.name)).collect();
        let columns = if first.len() > 1 { columns.trim_end_matches(", ") } else { columns.trim_end() };
        let _ = writeln!(text, "    \"{}\": ({columns}),", spec.name);
    }
    text.push_str("}\n");
}

/// Whether another table has the first columns of a table.
fn has(other: &Spec, spec: &Spec, count: usize) -> bool {
    let held = |name| other.columns.iter().any(|column| column.name == name);
    other.name != spec.name && spec.columns[..count].iter().all(|column| held(column.name))
}

/// A docstring in lines of at most 120 columns.
fn wrapped(sentence: &str) -> String {
    let mut lines = vec![String::new()];
    for word in sentence.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.len() + word.len() > 108 {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    let end = if lines.len() > 1 { "\n        " } else { "" };
    format!("{}{end}", lines.join("\n        "))
}
