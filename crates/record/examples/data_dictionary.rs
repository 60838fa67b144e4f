//! Prints the data dictionary: `cargo run -q -p elephan-record --example data_dictionary > docs/data-dictionary.md`.

fn main() {
    print!("{}", elephan_record::data_dictionary());
}
