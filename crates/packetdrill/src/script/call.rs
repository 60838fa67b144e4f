//! Reads a system call: its name, its arguments, the result and the error that the script expects.

use super::cursor::Cursor;
use super::{Call, SyntaxError, Value};

pub(super) fn call(c: &mut Cursor) -> Result<Call, SyntaxError> {
    c.skip()?;
    let name = c.word().to_owned();
    if name.is_empty() {
        return c.error(format!("no name of a call: {}", c.shown()));
    }
    c.expect("(")?;
    let args = list(c, ")")?;
    c.expect("=")?;
    let result = value(c)?;
    c.skip_blanks();
    let errno = c.word().to_owned();
    c.skip_blanks();
    if c.peek() == Some('(') {
        c.advance(1);
        c.until(")", "a note")?;
    }
    Ok(Call { name, args, end: None, result, errno: (!errno.is_empty()).then_some(errno) })
}

/// Values up to `end`, which is taken too.
fn list(c: &mut Cursor, end: &str) -> Result<Vec<Value>, SyntaxError> {
    let mut values = Vec::new();
    if c.eat(end)? {
        return Ok(values);
    }
    loop {
        values.push(value(c)?);
        if c.eat(end)? {
            return Ok(values);
        }
        c.expect(",")?;
    }
}

fn value(c: &mut Cursor) -> Result<Value, SyntaxError> {
    let first = single(c)?;
    let mut all = vec![first];
    while c.eat("|")? {
        all.push(single(c)?);
    }
    Ok(if all.len() == 1 { all.remove(0) } else { Value::Or(all) })
}

fn single(c: &mut Cursor) -> Result<Value, SyntaxError> {
    if c.eat("...")? {
        return Ok(Value::Ellipsis);
    }
    if c.eat("[")? {
        return Ok(Value::Array(list(c, "]")?));
    }
    if c.eat("{")? {
        return fields(c);
    }
    if c.eat("\"")? {
        let text = c.until("\"", "a text")?.to_owned();
        c.eat("...")?;
        return Ok(Value::Text(text));
    }
    if c.eat("-")? {
        return number(c).map(|number| Value::Number(-number));
    }
    match c.peek() {
        Some(digit) if digit.is_ascii_digit() => number(c).map(Value::Number),
        Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => {
            let name = c.word().to_owned();
            if c.rest().starts_with('(') {
                c.advance(1);
                return Ok(Value::Apply(name, list(c, ")")?));
            }
            Ok(Value::Word(name))
        }
        _ => c.error(format!("no value: {}", c.shown())),
    }
}

fn number(c: &mut Cursor) -> Result<i64, SyntaxError> {
    c.number("a number", i64::MAX as u64).map(|number| number as i64)
}

/// `{a=1, b(2)=3, ...}`.
fn fields(c: &mut Cursor) -> Result<Value, SyntaxError> {
    let mut fields = Vec::new();
    if c.eat("}")? {
        return Ok(Value::Fields(fields));
    }
    loop {
        let first = value(c)?;
        let field = if c.eat("=")? {
            let name = match first {
                Value::Word(name) | Value::Apply(name, _) => name,
                _ => return c.error("the name of a field stands before ="),
            };
            (Some(name), value(c)?)
        } else {
            (None, first)
        };
        fields.push(field);
        if c.eat("}")? {
            return Ok(Value::Fields(fields));
        }
        c.expect(",")?;
    }
}
