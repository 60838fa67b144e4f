//! Reads the Python of a script.

use super::{Comparison, Expr, Item, Operator, Statement};

/// Statements with the line of the code in which each begins, counted from 0.
pub type Program = Vec<(u32, Statement)>;

/// Deepest nesting of an expression.
const DEPTH_MAX: u32 = 64;
/// Operators in a statement: each is a level of its tree.
const OPERATORS_MAX: u32 = 1000;

/// Reads code. An error says what elephan does not read.
pub fn program(code: &str) -> Result<Program, String> {
    let mut statements = Vec::new();
    for (line, text) in pieces(code)? {
        let mut reader = Reader { rest: &text, depth: 0, operators: 0 };
        statements.push((line, reader.statement()?));
        reader.blanks();
        if !reader.rest.is_empty() {
            return Err(format!("Python code {:?}", text.trim()));
        }
    }
    Ok(statements)
}

/// Splits code into statements: at ends of lines and at semicolons, outside of texts and brackets; comments are dropped, and a
/// backslash joins a line to the next.
fn pieces(code: &str) -> Result<Vec<(u32, String)>, String> {
    let (mut out, mut text, mut line, mut begun) = (Vec::new(), String::new(), 0, 0);
    let (mut depth, mut quote) = (0_i32, None);
    let mut letters = code.chars().peekable();
    while let Some(c) = letters.next() {
        let newline = c == '\n';
        match quote {
            Some(open) => {
                text.push(c);
                if c == open {
                    quote = None;
                }
            }
            None => match c {
                '\\' => {
                    while letters.peek().is_some_and(|c| *c != '\n' && c.is_whitespace()) {
                        letters.next();
                    }
                    if letters.next_if_eq(&'\n').is_some() {
                        line += 1;
                        text.push(' ');
                    } else if letters.peek().is_some() {
                        return Err("Python code with a backslash within a line".to_owned());
                    }
                }
                '#' => while letters.next_if(|c| *c != '\n').is_some() {},
                '\n' if depth > 0 => text.push(' '),
                '\n' | ';' => out.push((begun, std::mem::take(&mut text))),
                _ => {
                    if text.trim().is_empty() {
                        begun = line;
                    }
                    depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
                    quote = Some(c).filter(|c| "'\"".contains(*c));
                    text.push(c);
                }
            },
        }
        line += u32::from(newline);
    }
    out.push((begun, text));
    if quote.is_some() {
        return Err("Python code with a text that does not end".to_owned());
    }
    Ok(out
        .into_iter()
        .filter(|(_, text)| !text.trim().is_empty())
        .map(|(line, text)| (line, text.trim().to_owned()))
        .collect())
}

struct Reader<'a> {
    rest: &'a str,
    depth: u32,
    operators: u32,
}

impl Reader<'_> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn problem<T>(&self) -> Result<T, String> {
        Err(format!("Python code {:?}", self.rest.chars().take(40).collect::<String>()))
    }

    fn eat(&mut self, what: &str) -> bool {
        self.blanks();
        match self.rest.strip_prefix(what) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> String {
        self.blanks();
        let first = self.rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(if first { end } else { 0 });
        self.rest = rest;
        word.to_owned()
    }

    /// Takes a keyword that stands here.
    fn keyword(&mut self, word: &str) -> bool {
        let before = self.rest;
        if self.word() == word {
            return true;
        }
        self.rest = before;
        false
    }

    fn statement(&mut self) -> Result<Statement, String> {
        if self.keyword("assert") {
            self.blanks();
            let begin = self.rest;
            let test = self.choice()?;
            let text = begin[..begin.len() - self.rest.len()].trim().to_owned();
            let message = if self.eat(",") { Some(self.tuple()?) } else { None };
            return Ok(Statement::Assert { test, text, message });
        }
        if self.keyword("pass") {
            return Ok(Statement::Evaluate(Expr::Literal(Item::None)));
        }
        let before = self.rest;
        let name = self.word();
        if !name.is_empty() {
            for (mark, operator) in ASSIGNMENTS {
                self.blanks();
                if self.rest.starts_with("==") || !self.eat(mark) {
                    continue;
                }
                let value = self.tuple()?;
                let value = match operator {
                    Some(operator) => Expr::Binary(*operator, Box::new(Expr::Name(name.clone())), Box::new(value)),
                    None => value,
                };
                return Ok(Statement::Assign(name, value));
            }
        }
        self.rest = before;
        Ok(Statement::Evaluate(self.tuple()?))
    }

    fn count_operator(&mut self) -> Result<(), String> {
        self.operators += 1;
        if self.operators > OPERATORS_MAX {
            return Err(format!("more than {OPERATORS_MAX} operators in Python code"));
        }
        Ok(())
    }

    /// Expressions with commas between are a tuple.
    fn tuple(&mut self) -> Result<Expr, String> {
        let first = self.choice()?;
        if !self.eat(",") {
            return Ok(first);
        }
        let mut all = vec![first];
        loop {
            self.blanks();
            if self.rest.is_empty() || self.rest.starts_with(')') {
                return Ok(Expr::Tuple(all));
            }
            all.push(self.choice()?);
            if !self.eat(",") {
                return Ok(Expr::Tuple(all));
            }
        }
    }

    fn choice(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("Python code nested too deeply".to_owned());
        }
        let value = self.disjunction()?;
        let value = if self.keyword("if") {
            let test = self.disjunction()?;
            if !self.keyword("else") {
                return self.problem();
            }
            Expr::Choice(Box::new(test), Box::new(value), Box::new(self.choice()?))
        } else {
            value
        };
        self.depth -= 1;
        Ok(value)
    }

    fn disjunction(&mut self) -> Result<Expr, String> {
        let mut left = self.conjunction()?;
        while self.keyword("or") {
            self.count_operator()?;
            left = Expr::Or(Box::new(left), Box::new(self.conjunction()?));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Expr, String> {
        let mut left = self.negation()?;
        while self.keyword("and") {
            self.count_operator()?;
            left = Expr::And(Box::new(left), Box::new(self.negation()?));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expr, String> {
        let mut negated = false;
        while self.keyword("not") {
            negated = !negated;
        }
        let value = self.comparison()?;
        Ok(if negated { Expr::Not(Box::new(value)) } else { value })
    }

    fn comparison(&mut self) -> Result<Expr, String> {
        let first = self.binary(0)?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let found = COMPARISONS.iter().find(|(mark, _)| self.rest.starts_with(mark));
            let comparison = if let Some((mark, comparison)) = found {
                self.eat(mark);
                *comparison
            } else if self.keyword("in") {
                Comparison::In
            } else if self.keyword("not") {
                if !self.keyword("in") {
                    return self.problem();
                }
                Comparison::NotIn
            } else {
                break;
            };
            rest.push((comparison, self.binary(0)?));
        }
        Ok(if rest.is_empty() { first } else { Expr::Chain(Box::new(first), rest) })
    }

    /// Binary operators of a level of [`LEVELS`] and above.
    fn binary(&mut self, level: usize) -> Result<Expr, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            self.blanks();
            let found = operators.iter().find(|(mark, _)| {
                // A longer mark that begins alike is another operator.
                self.rest
                    .strip_prefix(mark)
                    .is_some_and(|rest| !(mark.len() == 1 && rest.starts_with(mark)) || *mark == "-")
            });
            let Some((mark, operator)) = found else { return Ok(left) };
            self.eat(mark);
            self.count_operator()?;
            left = Expr::Binary(*operator, Box::new(left), Box::new(self.binary(level + 1)?));
        }
    }

    fn unary(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("Python code nested too deeply".to_owned());
        }
        let value = if self.eat("-") {
            Expr::Negative(Box::new(self.unary()?))
        } else if self.eat("+") {
            self.unary()?
        } else if self.eat("~") {
            Expr::Inverse(Box::new(self.unary()?))
        } else {
            let base = self.atom()?;
            if self.eat("**") { Expr::Binary(Operator::Power, Box::new(base), Box::new(self.unary()?)) } else { base }
        };
        self.depth -= 1;
        Ok(value)
    }

    fn atom(&mut self) -> Result<Expr, String> {
        self.blanks();
        match self.rest.chars().next() {
            Some('(') => {
                self.eat("(");
                if self.eat(")") {
                    return Ok(Expr::Tuple(Vec::new()));
                }
                let inner = self.tuple()?;
                if self.eat(")") { Ok(inner) } else { self.problem() }
            }
            Some(quote @ ('\'' | '"')) => {
                let inner = &self.rest[1..];
                let Some(end) = inner.find(quote) else { return self.problem() };
                self.rest = &inner[end + 1..];
                Ok(Expr::Literal(Item::Text(inner[..end].to_owned())))
            }
            Some(digit) if digit.is_ascii_digit() || digit == '.' => self.number(),
            _ => {
                let name = self.word();
                match name.as_str() {
                    "" => self.problem(),
                    "True" => Ok(Expr::Literal(Item::Bool(true))),
                    "False" => Ok(Expr::Literal(Item::Bool(false))),
                    "None" => Ok(Expr::Literal(Item::None)),
                    _ if self.rest.starts_with('(') => {
                        self.eat("(");
                        let mut arguments = Vec::new();
                        while !self.eat(")") {
                            arguments.push(self.choice()?);
                            self.blanks();
                            if !self.rest.starts_with(')') && !self.eat(",") {
                                return self.problem();
                            }
                        }
                        Ok(Expr::Call(name, arguments))
                    }
                    _ if self.rest.starts_with('.') || self.rest.starts_with('[') => self.problem(),
                    _ => Ok(Expr::Name(name)),
                }
            }
        }
    }

    fn number(&mut self) -> Result<Expr, String> {
        let hex = self.rest.strip_prefix("0x").or_else(|| self.rest.strip_prefix("0X"));
        if let Some(digits) = hex {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            let Ok(value) = i128::from_str_radix(&digits[..end], 16) else { return self.problem() };
            self.rest = &digits[end..];
            return Ok(Expr::Literal(Item::Int(value)));
        }
        let mut end = self.rest.find(|c: char| !(c.is_ascii_digit() || "._eE".contains(c))).unwrap_or(self.rest.len());
        if self.rest[..end].ends_with(['e', 'E']) && self.rest[end..].starts_with(['-', '+']) {
            let tail = &self.rest[end + 1..];
            end += 1 + tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        }
        let text = self.rest[..end].replace('_', "");
        let value = match (text.parse::<i128>(), text.parse::<f64>()) {
            (Ok(whole), _) => Item::Int(whole),
            (_, Ok(float)) => Item::Float(float),
            _ => return self.problem(),
        };
        self.rest = &self.rest[end..];
        Ok(Expr::Literal(value))
    }
}

const ASSIGNMENTS: &[(&str, Option<Operator>)] = &[
    ("=", None),
    ("+=", Some(Operator::Add)),
    ("-=", Some(Operator::Subtract)),
    ("*=", Some(Operator::Multiply)),
    ("//=", Some(Operator::FloorDivide)),
    ("/=", Some(Operator::Divide)),
    ("%=", Some(Operator::Modulo)),
    ("|=", Some(Operator::BitOr)),
    ("&=", Some(Operator::BitAnd)),
];

/// Longer marks first.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("<=", Comparison::LessEqual),
    (">=", Comparison::GreaterEqual),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// Binary operators, the weakest first.
const LEVELS: [&[(&str, Operator)]; 6] = [
    &[("|", Operator::BitOr)],
    &[("^", Operator::BitXor)],
    &[("&", Operator::BitAnd)],
    &[("<<", Operator::ShiftLeft), (">>", Operator::ShiftRight)],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("//", Operator::FloorDivide), ("/", Operator::Divide), ("*", Operator::Multiply), ("%", Operator::Modulo)],
];
