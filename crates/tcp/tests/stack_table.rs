//! The model page shows the stack table as it is (`cargo run -p elephan-tcp --example stack_table` writes it).

use elephan_tcp::options::{sources, table};

#[test]
fn the_page_shows_the_table() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models/stacks.md")).unwrap();
    let shown = page.contains(&table()) && page.contains(&sources());
    assert!(shown, "run: cargo run -p elephan-tcp --example stack_table");
}
