//! A place in the text of a script, with the small reading steps that all parts of the language share.

use super::SyntaxError;

pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0, line: 1 }
    }

    pub fn line(&self) -> u32 {
        self.line
    }

    /// What is left.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The line of text in which the cursor stands, from its place on.
    pub fn line_text(&self) -> &'a str {
        self.rest().lines().next().unwrap_or("").trim()
    }

    pub fn error<T>(&self, message: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError { line: self.line, message: message.into() })
    }

    /// What stands here, for an error.
    pub fn shown(&self) -> String {
        let rest: String = self.line_text().chars().take(24).collect();
        if rest.is_empty() { "the end of the line".to_owned() } else { format!("{rest:?}") }
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn advance(&mut self, bytes: usize) {
        let passed = &self.text[self.at..self.at + bytes];
        self.line += passed.matches('\n').count() as u32;
        self.at += bytes;
    }

    /// Skips white space and comments.
    pub fn skip(&mut self) -> Result<(), SyntaxError> {
        loop {
            let rest = self.rest();
            let space = rest.len() - rest.trim_start().len();
            if space > 0 {
                self.advance(space);
            } else if rest.starts_with("//") || rest.starts_with('#') {
                self.advance(rest.find('\n').unwrap_or(rest.len()));
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.advance(end + 2),
                    None => return self.error("a comment that begins with /* has no end"),
                }
            } else {
                return Ok(());
            }
        }
    }

    /// Skips spaces within the line.
    pub fn skip_blanks(&mut self) {
        let rest = self.rest();
        let trimmed = rest.trim_start_matches([' ', '\t', '\r']);
        self.advance(rest.len() - trimmed.len());
    }

    /// Takes `what` if it stands here, after white space and comments.
    pub fn eat(&mut self, what: &str) -> Result<bool, SyntaxError> {
        self.skip()?;
        let here = self.rest().starts_with(what);
        if here {
            self.advance(what.len());
        }
        Ok(here)
    }

    pub fn expect(&mut self, what: &str) -> Result<(), SyntaxError> {
        if self.eat(what)? { Ok(()) } else { self.error(format!("{what:?} is missing before {}", self.shown())) }
    }

    /// Takes characters as long as `wanted` says so; an empty text if there are none.
    pub fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.advance(end);
        &rest[..end]
    }

    /// A name: letters, digits and underscores; empty if there is none.
    pub fn word(&mut self) -> &'a str {
        match self.peek() {
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
            }
            _ => "",
        }
    }

    /// Takes a keyword that stands here and ends here.
    pub fn eat_word(&mut self, word: &str) -> Result<bool, SyntaxError> {
        self.skip()?;
        let rest = self.rest();
        let here =
            rest.starts_with(word) && !rest[word.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if here {
            self.advance(word.len());
        }
        Ok(here)
    }

    /// A number of the header: decimal or hexadecimal, from 0 to `most`.
    pub fn number(&mut self, what: &str, most: u64) -> Result<u64, SyntaxError> {
        self.skip()?;
        let shown = self.shown();
        let (radix, digits) = if self.rest().starts_with("0x") {
            self.advance(2);
            (16, self.take_while(|c| c.is_ascii_hexdigit()))
        } else {
            (10, self.take_while(|c| c.is_ascii_digit()))
        };
        match u64::from_str_radix(digits, radix) {
            Ok(number) if number <= most => Ok(number),
            _ => self.error(format!("{what} is a whole number from 0 to {most}, not {shown}")),
        }
    }

    pub fn word32(&mut self, what: &str) -> Result<u32, SyntaxError> {
        self.number(what, u64::from(u32::MAX)).map(|number| number as u32)
    }

    /// The text up to `end`, which is taken too.
    pub fn until(&mut self, end: &str, what: &str) -> Result<&'a str, SyntaxError> {
        let rest = self.rest();
        match rest.find(end) {
            Some(at) => {
                self.advance(at + end.len());
                Ok(&rest[..at])
            }
            None => self.error(format!("{what} has no end: {end:?} is missing")),
        }
    }
}
