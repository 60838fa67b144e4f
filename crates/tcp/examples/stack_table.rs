//! Writes the stack table into its model page: `cargo run -p elephan-tcp --example stack_table`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models/tcp.md");
    let text = std::fs::read_to_string(&page)?;
    let (begin, end) = ("<!-- stacks: begin -->\n", "<!-- stacks: end -->");
    let parts = text.split_once(begin).and_then(|(head, rest)| rest.split_once(end).map(|(_, tail)| (head, tail)));
    let Some((head, tail)) = parts else {
        return Err(std::io::Error::other("the page has no place for the table"));
    };
    std::fs::write(page, format!("{head}{begin}{}{end}{tail}", elephan_tcp::options::table()))
}
