//! Runs the Python of a script.

use super::{Comparison, Expr, Item, Operator, Program, Statement};
use std::collections::BTreeMap;

/// Why code stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An assertion does not hold: its text, and the value of its message, of the names in it or, without names, of itself.
    Assertion { line: u32, text: String, message: String },
    /// Python would raise this error.
    Raised { line: u32, message: String },
    /// Something that elephan's evaluator does not have.
    Unknown(String),
}

/// The names that code knows.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    names: BTreeMap<String, Item>,
}

/// Most that a value holds, with its parts.
const SIZE_MAX_BYTES: usize = 1_000_000;

/// An error within an expression: `Ok` what Python would raise, `Err` what this evaluator does not have.
type Trouble = Result<String, String>;

impl Scope {
    pub fn set(&mut self, name: &str, value: i128) {
        self.names.insert(name.to_owned(), Item::Int(value));
    }

    /// Runs code; what it prints is added to `printed`.
    pub fn run(&mut self, program: &Program, printed: &mut String) -> Result<(), Failure> {
        for (line, statement) in program {
            let line = *line;
            let failed = |trouble: Trouble| match trouble {
                Ok(message) => Failure::Raised { line, message },
                Err(what) => Failure::Unknown(what),
            };
            match statement {
                Statement::Assign(name, value) => {
                    let value = self.value(value, printed).map_err(failed)?;
                    self.names.insert(name.clone(), value);
                }
                Statement::Evaluate(value) => {
                    self.value(value, printed).map_err(failed)?;
                }
                Statement::Assert { test, text, message } => {
                    let found = self.value(test, printed).map_err(failed)?;
                    if found.truth() {
                        continue;
                    }
                    let message = match message {
                        Some(message) => self.value(message, printed).map_err(failed)?.shown(),
                        None => Some(self.names_in(test)).filter(|names| !names.is_empty()).unwrap_or(found.shown()),
                    };
                    return Err(Failure::Assertion { line, text: text.clone(), message });
                }
            }
        }
        Ok(())
    }

    /// The values of the names in an expression.
    fn names_in(&self, expr: &Expr) -> String {
        let mut found = Vec::new();
        walk(expr, &mut |expr| {
            if let Expr::Name(name) = expr
                && let Some(value) = self.names.get(name)
            {
                found.push(format!("{name} = {}", value.shown()));
            }
        });
        found.join(", ")
    }

    fn value(&self, expr: &Expr, printed: &mut String) -> Result<Item, Trouble> {
        Ok(match expr {
            Expr::Literal(item) => item.clone(),
            Expr::Name(name) => match self.names.get(name) {
                Some(item) => item.clone(),
                None => return Err(Ok(format!("NameError: name '{name}' is not defined"))),
            },
            Expr::Not(inner) => Item::Bool(!self.value(inner, printed)?.truth()),
            Expr::Negative(inner) => match self.value(inner, printed)?.number()? {
                Number::Int(value) => Item::Int(-value),
                Number::Float(value) => Item::Float(-value),
            },
            Expr::Inverse(inner) => Item::Int(!self.value(inner, printed)?.whole()?),
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.value(left, printed)?, self.value(right, printed)?);
                binary(*operator, left, right)?
            }
            Expr::And(left, right) => {
                let left = self.value(left, printed)?;
                if left.truth() { self.value(right, printed)? } else { left }
            }
            Expr::Or(left, right) => {
                let left = self.value(left, printed)?;
                if left.truth() { left } else { self.value(right, printed)? }
            }
            Expr::Chain(first, rest) => {
                let mut left = self.value(first, printed)?;
                for (comparison, right) in rest {
                    let right = self.value(right, printed)?;
                    if !compare(*comparison, &left, &right)? {
                        return Ok(Item::Bool(false));
                    }
                    left = right;
                }
                Item::Bool(true)
            }
            Expr::Choice(test, yes, no) => {
                let chosen = if self.value(test, printed)?.truth() { yes } else { no };
                self.value(chosen, printed)?
            }
            Expr::Tuple(items) => Item::Tuple(self.values(items, printed)?).bounded()?,
            Expr::Call(name, arguments) => {
                let arguments = self.values(arguments, printed)?;
                call(name, &arguments, printed)?
            }
        })
    }

    fn values(&self, exprs: &[Expr], printed: &mut String) -> Result<Vec<Item>, Trouble> {
        exprs.iter().map(|expr| self.value(expr, printed)).collect()
    }
}

fn walk(expr: &Expr, visit: &mut impl FnMut(&Expr)) {
    visit(expr);
    match expr {
        Expr::Literal(_) | Expr::Name(_) => {}
        Expr::Not(a) | Expr::Negative(a) | Expr::Inverse(a) => walk(a, visit),
        Expr::Binary(_, a, b) | Expr::And(a, b) | Expr::Or(a, b) => [a, b].iter().for_each(|e| walk(e, visit)),
        Expr::Choice(a, b, c) => [a, b, c].iter().for_each(|e| walk(e, visit)),
        Expr::Chain(first, rest) => {
            walk(first, visit);
            rest.iter().for_each(|(_, e)| walk(e, visit));
        }
        Expr::Call(_, items) | Expr::Tuple(items) => items.iter().for_each(|e| walk(e, visit)),
    }
}

enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    fn float(&self) -> f64 {
        match self {
            Number::Int(value) => *value as f64,
            Number::Float(value) => *value,
        }
    }
}

impl Item {
    fn truth(&self) -> bool {
        match self {
            Item::None => false,
            Item::Bool(value) => *value,
            Item::Int(value) => *value != 0,
            Item::Float(value) => *value != 0.0,
            Item::Text(text) => !text.is_empty(),
            Item::Tuple(items) => !items.is_empty(),
        }
    }

    fn number(&self) -> Result<Number, Trouble> {
        match self {
            Item::Bool(value) => Ok(Number::Int(i128::from(*value))),
            Item::Int(value) => Ok(Number::Int(*value)),
            Item::Float(value) => Ok(Number::Float(*value)),
            _ => Err(Ok(format!("TypeError: {} is no number", self.shown()))),
        }
    }

    fn whole(&self) -> Result<i128, Trouble> {
        match self.number()? {
            Number::Int(value) => Ok(value),
            Number::Float(_) => Err(Ok(format!("TypeError: {} is no whole number", self.shown()))),
        }
    }

    fn size_bytes(&self) -> usize {
        match self {
            Item::Text(text) => text.len(),
            Item::Tuple(items) => 16 + items.iter().map(Item::size_bytes).sum::<usize>(),
            _ => 16,
        }
    }

    /// The item if it is not absurdly large: a text that is doubled in each line would take all memory.
    fn bounded(self) -> Result<Item, Trouble> {
        if self.size_bytes() > SIZE_MAX_BYTES {
            return Err(Err("Python values above 1 MB".to_owned()));
        }
        Ok(self)
    }

    /// As `print` shows it.
    pub fn shown(&self) -> String {
        match self {
            Item::None => "None".to_owned(),
            Item::Bool(value) => (if *value { "True" } else { "False" }).to_owned(),
            Item::Int(value) => value.to_string(),
            Item::Float(value) if value.fract() == 0.0 && value.abs() < 1e16 => format!("{value:.1}"),
            Item::Float(value) => value.to_string(),
            Item::Text(text) => text.clone(),
            Item::Tuple(items) => {
                let inner: Vec<String> = items.iter().map(Item::shown).collect();
                format!("({})", inner.join(", "))
            }
        }
    }
}

fn overflow() -> Trouble {
    Err("Python numbers above 127 bits".to_owned())
}

fn binary(operator: Operator, left: Item, right: Item) -> Result<Item, Trouble> {
    if let (Operator::Modulo, Item::Text(text)) = (operator, &left) {
        return formatted(text, right).map(Item::Text)?.bounded();
    }
    if let (Operator::Add, Item::Text(a), Item::Text(b)) = (operator, &left, &right) {
        return Item::Text(format!("{a}{b}")).bounded();
    }
    let zero = || Ok("ZeroDivisionError: division by zero".to_owned());
    let bits = matches!(
        operator,
        Operator::BitAnd | Operator::BitOr | Operator::BitXor | Operator::ShiftLeft | Operator::ShiftRight
    );
    let (a, b) = match (left.number()?, right.number()?) {
        (Number::Int(a), Number::Int(b)) => (a, b),
        _ if bits => return Err(Ok("TypeError: bits of a float".to_owned())),
        (a, b) => {
            let (a, b) = (a.float(), b.float());
            return Ok(Item::Float(match operator {
                Operator::Add => a + b,
                Operator::Subtract => a - b,
                Operator::Multiply => a * b,
                Operator::Power => libm::pow(a, b),
                _ if b == 0.0 => return Err(zero()),
                Operator::FloorDivide => (a / b).floor(),
                Operator::Modulo => a - b * (a / b).floor(),
                _ => a / b,
            }));
        }
    };
    let shift = u32::try_from(b).ok().filter(|shift| *shift < 127);
    let result = match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Power if b < 0 => return Ok(Item::Float(libm::pow(a as f64, b as f64))),
        Operator::Power => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        Operator::BitAnd => Some(a & b),
        Operator::BitOr => Some(a | b),
        Operator::BitXor => Some(a ^ b),
        Operator::ShiftLeft => shift.and_then(|shift| a.checked_mul(1 << shift)),
        Operator::ShiftRight => shift.map(|shift| a >> shift),
        Operator::Divide | Operator::FloorDivide | Operator::Modulo if b == 0 => return Err(zero()),
        Operator::Divide => return Ok(Item::Float(a as f64 / b as f64)),
        Operator::FloorDivide => Some(a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0)),
        Operator::Modulo => {
            let rest = a.rem_euclid(b);
            Some(if b < 0 && rest != 0 { rest + b } else { rest })
        }
    };
    result.map(Item::Int).ok_or_else(overflow)
}

fn compare(comparison: Comparison, left: &Item, right: &Item) -> Result<bool, Trouble> {
    if let Comparison::In | Comparison::NotIn = comparison {
        let Item::Tuple(items) = right else { return Err(Err("Python's `in` of other things than tuples".to_owned())) };
        let mut found = false;
        for item in items {
            found |= compare(Comparison::Equal, left, item)?;
        }
        return Ok(found == (comparison == Comparison::In));
    }
    let order = match (left, right) {
        (Item::Text(a), Item::Text(b)) => Some(a.cmp(b)),
        (Item::None | Item::Text(_) | Item::Tuple(_), _) | (_, Item::None | Item::Text(_) | Item::Tuple(_)) => {
            return match comparison {
                Comparison::Equal => Ok(left == right),
                Comparison::NotEqual => Ok(left != right),
                _ => Err(Ok(format!("TypeError: {} and {} have no order", left.shown(), right.shown()))),
            };
        }
        _ => match (left.number()?, right.number()?) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            (a, b) => a.float().partial_cmp(&b.float()),
        },
    };
    Ok(match comparison {
        Comparison::Less => order.is_some_and(|o| o.is_lt()),
        Comparison::LessEqual => order.is_some_and(|o| o.is_le()),
        Comparison::Greater => order.is_some_and(|o| o.is_gt()),
        Comparison::GreaterEqual => order.is_some_and(|o| o.is_ge()),
        Comparison::Equal => order.is_some_and(|o| o.is_eq()),
        _ => !order.is_some_and(|o| o.is_eq()),
    })
}

fn call(name: &str, arguments: &[Item], printed: &mut String) -> Result<Item, Trouble> {
    let extreme = |least: bool| -> Result<Item, Trouble> {
        let Some(mut best) = arguments.first().cloned() else { return Err(Ok(format!("TypeError: {name}()"))) };
        for item in &arguments[1..] {
            let better = if least { Comparison::Less } else { Comparison::Greater };
            if compare(better, item, &best)? {
                best = item.clone();
            }
        }
        Ok(best)
    };
    match (name, arguments) {
        ("print", _) => {
            let words: Vec<String> = arguments.iter().map(Item::shown).collect();
            printed.push_str(&words.join(" "));
            printed.push('\n');
            Ok(Item::None)
        }
        ("abs", [item]) => Ok(match item.number()? {
            Number::Int(value) => Item::Int(value.abs()),
            Number::Float(value) => Item::Float(value.abs()),
        }),
        ("int", [item]) => Ok(Item::Int(match item.number()? {
            Number::Int(value) => value,
            Number::Float(value) => value.trunc() as i128,
        })),
        ("float", [item]) => Ok(Item::Float(item.number()?.float())),
        ("str", [item]) => Ok(Item::Text(item.shown())),
        ("round", [item]) => Ok(Item::Int(match item.number()? {
            Number::Int(value) => value,
            Number::Float(value) => value.round_ties_even() as i128,
        })),
        ("bool", [item]) => Ok(Item::Bool(item.truth())),
        ("min", _) => extreme(true),
        ("max", _) => extreme(false),
        _ => Err(Err(format!("Python's {name}() with {} arguments", arguments.len()))),
    }
}

/// Python's `text % values`, with %d, %i, %u, %s, %f, %x and %%.
fn formatted(text: &str, values: Item) -> Result<String, Trouble> {
    let mut values = match values {
        Item::Tuple(items) => items,
        item => vec![item],
    }
    .into_iter();
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let kind = letters.find(|c| !(c.is_ascii_digit() || ".-+ #".contains(*c)));
        let Some(kind) = kind else { return Err(Ok("ValueError: incomplete format".to_owned())) };
        if kind == '%' {
            out.push('%');
            continue;
        }
        let Some(value) = values.next() else {
            return Err(Ok("TypeError: not enough arguments for format string".to_owned()));
        };
        out += &match kind {
            'd' | 'i' | 'u' => format!("{}", value.number()?.float().trunc()),
            'f' => format!("{:.6}", value.number()?.float()),
            'x' => format!("{:x}", value.whole()?),
            's' | 'r' => value.shown(),
            other => return Err(Err(format!("Python's format %{other}"))),
        };
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::program;
    use super::*;

    fn run(code: &str) -> (Result<(), Failure>, String) {
        let mut scope = Scope::default();
        scope.set("tcpi_snd_cwnd", 10);
        scope.set("tcpi_rtt", 7000);
        let mut printed = String::new();
        let result = match program(code) {
            Ok(program) => scope.run(&program, &mut printed),
            Err(what) => Err(Failure::Unknown(what)),
        };
        (result, printed)
    }

    #[test]
    fn what_holds() {
        for code in [
            "assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd",
            "assert 5000 <= tcpi_rtt <= 20000, 'srtt=%d us' % tcpi_rtt",
            "cwnd = 8; cwnd += 2\nassert cwnd == tcpi_snd_cwnd # note\n",
            "assert (6 & 4) != 0 and not 0x10 == 17 or False",
            "assert 7 // 2 == 3 and -7 // 2 == -4 and -7 % 3 == 2 and 7 / 2 == 3.5",
            "assert 2 + 3 * 4 ** 2 == 50 and 1 << 4 == 16 and 5 - -2 == 7",
            "assert tcpi_snd_cwnd \\\n  == 10; \\\n",
            "assert tcpi_snd_cwnd in (9, 10), (tcpi_snd_cwnd,\n tcpi_rtt)",
            "assert max(1, 2, abs(-3)) == 3",
            "assert 1e3 == 1000 and 2.5 > 2 and (1 if 0 else 2) == 2",
        ] {
            assert_eq!(run(code).0, Ok(()), "{code}");
        }
    }

    #[test]
    fn what_grows_without_end() {
        for (begin, line) in
            [("x = 'aaaa'", "x = x + x"), ("x = 'aaaa'", "x = '%s%s' % (x, x)"), ("x = (1, 2)", "x = (x, x)")]
        {
            let code = format!("{begin}\n{}", format!("{line}\n").repeat(60));
            assert_eq!(run(&code).0, Err(Failure::Unknown("Python values above 1 MB".to_owned())), "{line}");
        }
        for link in ["1+", "1 and ", "1 or ", "-1*", "0 or not ", "1-"] {
            assert!(program(&format!("assert {}1", link.repeat(30_000))).is_err(), "{link}");
            assert!(program(&format!("assert {}1", link.repeat(400))).is_ok(), "{link}");
        }
    }

    #[test]
    fn what_does_not() {
        let (result, _) = run("\nassert tcpi_snd_cwnd == 9, 'cwnd=%d' % tcpi_snd_cwnd");
        let (text, message) = ("tcpi_snd_cwnd == 9".to_owned(), "cwnd=10".to_owned());
        assert_eq!(result, Err(Failure::Assertion { line: 1, text, message }));
        let (result, _) = run("assert tcpi_snd_cwnd < 9");
        assert!(matches!(result, Err(Failure::Assertion { message, .. }) if message == "tcpi_snd_cwnd = 10"));
        let (result, _) = run("assert 1 == 2");
        assert!(matches!(result, Err(Failure::Assertion { message, .. }) if message == "False"));
        assert!(matches!(run("assert tcpi_nonsense == 0").0, Err(Failure::Raised { .. })));
        assert!(matches!(run("1 / 0").0, Err(Failure::Raised { .. })));
        for code in
            ["import os", "os.system('x')", "for i in (1, 2): pass", "x = [1]", "open('x')", "a.b = 1", "x = 'a"]
        {
            assert!(matches!(run(code).0, Err(Failure::Unknown(_))), "{code}");
        }
    }

    #[test]
    fn what_is_printed() {
        assert_eq!(run("print(tcpi_snd_cwnd, 'x', 1.5)").1, "10 x 1.5\n");
    }
}
