//! A text in GOAL as a program, or the first thing that is wrong with it.

use std::collections::BTreeMap;

use elephan_units::stop;

use crate::lexer::{Lexer, Token};
use crate::program::{Action, Op, Program, RANKS_MAX, Rank, Wait};

/// Longest computation, in ns, and largest message: so long, and so much, no run has.
const CALC_MAX_NS: u64 = 1_000_000_000_000_000;
const BYTES_MAX: u64 = 1 << 53;

/// What is wrong, and in which line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {message}")]
pub struct Error {
    pub line: u32,
    pub message: String,
}

type Result<T> = std::result::Result<T, Error>;

fn wrong<T>(line: u32, message: impl Into<String>) -> Result<T> {
    Err(Error { line, message: message.into() })
}

/// Reads a program. The first error is returned, also of what does not fit together.
pub fn parse(text: &str) -> Result<Program> {
    let mut reader = Reader { lexer: Lexer::new(text), ahead: None };
    let count = reader.head()?;
    let mut ranks: Vec<Option<Rank>> = vec![None; count as usize];
    let mut lines: Vec<u32> = vec![1; count as usize];
    while let Some(word) = reader.next()? {
        if word.text != "rank" {
            return wrong(word.line, format!("{:?}: only `rank` can stand here", word.text));
        }
        let (number, line) = reader.number("a rank")?;
        let Some(place) = ranks.get_mut(number as usize) else {
            return wrong(line, format!("rank {number}: there are {count}, from 0 on"));
        };
        if place.is_some() {
            return wrong(line, format!("rank {number} is there twice"));
        }
        *place = Some(reader.rank(number as u32, count)?);
        lines[number as usize] = line;
    }
    let program = Program { ranks: ranks.into_iter().map(Option::unwrap_or_default).collect() };
    program.check().map_err(|(rank, message)| Error { line: lines[rank], message })?;
    Ok(program)
}

struct Reader<'a> {
    lexer: Lexer<'a>,
    ahead: Option<Token<'a>>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<Token<'a>>> {
        if let Some(token) = self.ahead.take() {
            return Ok(Some(token));
        }
        self.lexer.next().transpose().map_err(|(line, message)| Error { line, message })
    }

    fn peek(&mut self) -> Result<Option<Token<'a>>> {
        self.ahead = self.next()?;
        Ok(self.ahead)
    }

    fn must(&mut self, what: &str) -> Result<Token<'a>> {
        match self.next()? {
            Some(token) => Ok(token),
            None => wrong(self.lexer.line(), format!("the text ends where {what} is to stand")),
        }
    }

    fn expect(&mut self, text: &str) -> Result<()> {
        let token = self.must(&format!("`{text}`"))?;
        if token.text == text {
            Ok(())
        } else {
            wrong(token.line, format!("{:?}: `{text}` is to stand here", token.text))
        }
    }

    fn number(&mut self, what: &str) -> Result<(u64, u32)> {
        let token = self.must(what)?;
        match token.text.parse() {
            Ok(number) => Ok((number, token.line)),
            Err(_) => wrong(token.line, format!("{:?} is not {what}: a whole number", token.text)),
        }
    }

    fn head(&mut self) -> Result<u32> {
        self.expect("num_ranks")?;
        let (count, line) = self.number("the number of ranks")?;
        match u32::try_from(count) {
            Ok(count @ 1..=RANKS_MAX) => Ok(count),
            _ => wrong(line, format!("num_ranks {count}: from 1 to {RANKS_MAX}")),
        }
    }

    /// The operations of a rank, with their dependencies.
    fn rank(&mut self, own: u32, ranks: u32) -> Result<Rank> {
        self.expect("{")?;
        let (mut ops, mut labels, mut between) = (Vec::new(), BTreeMap::new(), Vec::new());
        loop {
            stop::look();
            let first = self.must("`}`")?;
            if first.text == "}" {
                break;
            }
            let after = self.peek()?.map(|token| token.text);
            if after == Some(":") {
                self.next()?;
                if labels.insert(first.text, ops.len() as u32).is_some() {
                    return wrong(first.line, format!("label {} is there twice", first.text));
                }
                let verb = self.must("an operation")?;
                ops.push(self.op(verb, own, ranks)?);
            } else if let Some("requires" | "irequires") = after {
                let start = self.must("`requires`")?.text == "irequires";
                between.push((first, self.must("a label")?, start));
            } else {
                ops.push(self.op(first, own, ranks)?);
            }
        }
        let place = |token: Token<'a>| match labels.get(token.text) {
            Some(&place) => Ok(place),
            None => wrong(token.line, format!("no label {} in this rank", token.text)),
        };
        let wait = |(of, on, start)| Ok(Wait { of: place(of)?, on: place(on)?, start });
        Ok(Rank { ops, waits: between.into_iter().map(wait).collect::<Result<_>>()? })
    }

    /// An operation after its verb.
    fn op(&mut self, verb: Token<'a>, own: u32, ranks: u32) -> Result<Op> {
        let mut op = Op::new(match verb.text {
            "calc" => self.calc()?,
            "send" | "recv" => self.message(verb.text == "send", own, ranks)?,
            other => return wrong(verb.line, format!("{other:?}: an operation is calc, send or recv")),
        });
        while let Some(key) = self.peek()?.filter(|token| matches!(token.text, "tag" | "cpu" | "nic")) {
            self.next()?;
            let (number, line) = self.wildcard(key.text)?;
            match (key.text, &mut op.action, number) {
                ("cpu", _, Some(number)) => op.cpu = small(number, line)?,
                ("nic", _, Some(number)) => op.nic = small(number, line)?,
                ("tag", Action::Send { tag, .. }, Some(number)) => *tag = number,
                ("tag", Action::Recv { tag, .. }, number) => *tag = number,
                ("tag", Action::Calc { .. }, _) => return wrong(line, "calc has no tag"),
                (key, ..) => return wrong(line, format!("{key} -1: only a recv takes any")),
            }
        }
        Ok(op)
    }

    fn calc(&mut self) -> Result<Action> {
        match self.number("a time in nanoseconds")? {
            (ns @ 0..=CALC_MAX_NS, _) => Ok(Action::Calc { ns }),
            (ns, line) => wrong(line, format!("calc {ns}: at most {CALC_MAX_NS} ns")),
        }
    }

    fn message(&mut self, send: bool, own: u32, ranks: u32) -> Result<Action> {
        let size = self.must("a size")?;
        let bytes = match size.text.strip_suffix('b').map(str::parse) {
            Some(Ok(bytes @ 1..=BYTES_MAX)) => bytes,
            Some(Ok(bytes)) => return wrong(size.line, format!("{bytes}b: from 1b to {BYTES_MAX}b")),
            _ => return wrong(size.line, format!("{:?} is not a size such as 16384b", size.text)),
        };
        self.expect(if send { "to" } else { "from" })?;
        let (peer, line) = self.wildcard("a rank")?;
        if let Some(peer) = peer
            && peer >= ranks
        {
            return wrong(line, format!("rank {peer}: there are {ranks}, from 0 on"));
        }
        if peer == Some(own) {
            return wrong(line, format!("rank {own} and itself: a message goes from one rank to another"));
        }
        Ok(match (send, peer) {
            (true, Some(to)) => Action::Send { bytes, to, tag: 0 },
            (true, None) => return wrong(line, "to -1: only a recv takes any"),
            (false, from) => Action::Recv { bytes, from, tag: Some(0) },
        })
    }

    /// A number that fits into 32 bits, or `None` for -1.
    fn wildcard(&mut self, what: &str) -> Result<(Option<u32>, u32)> {
        let token = self.must(what)?;
        match token.text.parse::<u32>() {
            Ok(number) => Ok((Some(number), token.line)),
            Err(_) if token.text == "-1" => Ok((None, token.line)),
            Err(_) => wrong(token.line, format!("{:?} is not {what}: a whole number", token.text)),
        }
    }
}

/// The number of a processor or interface.
fn small(number: u32, line: u32) -> Result<u16> {
    u16::try_from(number).or_else(|_| wrong(line, format!("{number}: from 0 to {}", u16::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "num_ranks 2\nrank 0 {\nl1: calc 1000 // on cpu 0\nl2: send 16384b to 1 tag 7 nic 1\nl2 requires l1\n}\n\
                       rank 1 { /* any */ l1: recv 16384b from -1 tag -1 cpu 2 }\n";

    #[test]
    fn a_program_is_read() {
        let program = parse(TWO).unwrap();
        let send = Op { nic: 1, ..Op::new(Action::Send { bytes: 16384, to: 1, tag: 7 }) };
        let waits = vec![Wait { of: 1, on: 0, start: false }];
        assert_eq!(program.ranks[0], Rank { ops: vec![Op::new(Action::Calc { ns: 1000 }), send], waits });
        let recv = Op { cpu: 2, ..Op::new(Action::Recv { bytes: 16384, from: None, tag: None }) };
        assert_eq!(program.ranks[1], Rank { ops: vec![recv], waits: vec![] });
    }

    #[test]
    fn what_is_written_is_read_again() {
        let program = parse(TWO).unwrap();
        assert_eq!(parse(&program.to_string()).unwrap(), program);
    }

    #[test]
    fn each_error_has_its_line() {
        let cases = [
            ("rank 0 {}", "1: \"rank\": `num_ranks` is to stand here"),
            ("num_ranks 0", "1: num_ranks 0: from 1 to 1048576"),
            ("num_ranks x", "1: \"x\" is not the number of ranks: a whole number"),
            ("num_ranks 1\nrank 1 {}", "2: rank 1: there are 1, from 0 on"),
            ("num_ranks 1\nrank 0 {}\nrank 0 {}", "3: rank 0 is there twice"),
            ("num_ranks 1\nrank 0 {\na: calc 1\na: calc 2 }", "4: label a is there twice"),
            ("num_ranks 1\nrank 0 {\na: calk 1 }", "3: \"calk\": an operation is calc, send or recv"),
            ("num_ranks 1\nrank 0 {\na: calc 1\nb requires a }", "4: no label b in this rank"),
            ("num_ranks 2\nrank 0 { a: send 12 to 1 }", "2: \"12\" is not a size such as 16384b"),
            ("num_ranks 2\nrank 0 { a: send 12b to 2 }", "2: rank 2: there are 2, from 0 on"),
            ("num_ranks 2\nrank 0 { a: send 12b to -1 }", "2: to -1: only a recv takes any"),
            ("num_ranks 2\nrank 0 { a: send 12b to 1 tag -1 }", "2: tag -1: only a recv takes any"),
            ("num_ranks 2\nrank 0 { a: send 0b to 1 }", "2: 0b: from 1b to 9007199254740992b"),
            (
                "num_ranks 2\nrank 0 { a: send 1b to 0 }",
                "2: rank 0 and itself: a message goes from one rank to another",
            ),
            (
                "num_ranks 1\nrank 0 { a: calc 1000000000000001 }",
                "2: calc 1000000000000001: at most 1000000000000000 ns",
            ),
            ("num_ranks 1\nrank 0 { a: calc 1 cpu 65536 }", "2: 65536: from 0 to 65535"),
            ("num_ranks 2\nrank 0 { a: calc 3 tag 1 }", "2: calc has no tag"),
            ("num_ranks 2\nrank 0 { a: recv 12b to 1 }", "2: \"to\": `from` is to stand here"),
            ("num_ranks 1\nrank 0 {\na: calc 1\n", "4: the text ends where `}` is to stand"),
            (
                "num_ranks 1\nrank 0 { a: calc 1 a requires a }",
                "2: rank 0: operation 0 waits for itself, by way of others",
            ),
            ("num_ranks 2\nrank 0 { a: send 1b to 1 }", "1: rank 1 receives 0 messages, and 1 are sent to it"),
            ("num_ranks 1\n/* no end", "2: a comment does not end"),
        ];
        for (text, told) in cases {
            assert_eq!(parse(text).unwrap_err().to_string(), told, "{text}");
        }
    }
}
