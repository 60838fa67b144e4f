//! A text in GOAL as words with their lines; comments `//` and `/* */` are left out.

/// A word, or one of `{`, `}` and `:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    pub line: u32,
}

/// The words of a text.
pub struct Lexer<'a> {
    rest: &'a str,
    line: u32,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Lexer<'a> {
        Lexer { rest: text, line: 1 }
    }

    /// The line where it is.
    pub fn line(&self) -> u32 {
        self.line
    }

    fn pass(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at(bytes);
        self.line += passed.bytes().filter(|&byte| byte == b'\n').count() as u32;
        self.rest = rest;
    }

    /// Returns the word after white space and comments; a comment that does not end is an error.
    fn word(&mut self) -> Result<Option<Token<'a>>, (u32, String)> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.pass(blank);
            if self.rest.starts_with("//") {
                self.pass(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                let end = self.rest.find("*/").ok_or_else(|| (self.line, "a comment does not end".to_owned()))?;
                self.pass(end + 2);
            } else {
                break;
            }
        }
        let is_sign = |c: char| "{}:".contains(c);
        let length = match self.rest.chars().next() {
            None => return Ok(None),
            Some(first) if is_sign(first) => 1,
            Some(_) => {
                let ends =
                    |(at, c): &(usize, char)| c.is_whitespace() || is_sign(*c) || self.rest[*at..].starts_with("//");
                self.rest.char_indices().find(ends).map_or(self.rest.len(), |(at, _)| at)
            }
        };
        let token = Token { text: &self.rest[..length], line: self.line };
        self.pass(length);
        Ok(Some(token))
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Result<Token<'a>, (u32, String)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.word().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out_and_lines_counted() {
        let words: Vec<(String, u32)> = Lexer::new("a: b//x\n/* c\nd */ {e}")
            .map(|word| word.unwrap())
            .map(|t| (t.text.to_owned(), t.line))
            .collect();
        let found: Vec<(&str, u32)> = words.iter().map(|(text, line)| (text.as_str(), *line)).collect();
        assert_eq!(found, [("a", 1), (":", 1), ("b", 1), ("{", 3), ("e", 3), ("}", 3)]);
        assert_eq!(Lexer::new("a\n/* b").nth(1), Some(Err((2, "a comment does not end".to_owned()))));
    }
}
