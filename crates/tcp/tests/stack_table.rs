//! The model page shows the stack table as it is (`cargo run -p elephan-tcp --example stack_table` writes it).

#[test]
fn the_page_shows_the_table() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models/tcp.md")).unwrap();
    assert!(page.contains(&elephan_tcp::options::table()), "run: cargo run -p elephan-tcp --example stack_table");
}
