//! Reads a script: option lines, then events, each a time and an action.

use super::cursor::Cursor;
use super::{Action, At, Event, Micros, OptionLine, Script, SyntaxError};
use super::{call, packet};

/// Latest time of a script: a day.
const TIME_MAX_S: f64 = 86_400.0;

/// Reads a script.
pub fn script(text: &str) -> Result<Script, SyntaxError> {
    let mut c = Cursor::new(text);
    let options = options(&mut c)?;
    let mut events = Vec::new();
    loop {
        c.skip()?;
        if c.peek().is_none() {
            return Ok(Script { options, events });
        }
        events.push(event(&mut c)?);
    }
}

fn options(c: &mut Cursor) -> Result<Vec<OptionLine>, SyntaxError> {
    let mut options = Vec::new();
    loop {
        c.skip()?;
        if !c.rest().starts_with("--") {
            return Ok(options);
        }
        let line = c.line();
        c.advance(2);
        let name = c.take_while(|c| c.is_ascii_alphanumeric() || c == '_').to_owned();
        c.skip_blanks();
        let value = if c.rest().starts_with('=') {
            c.advance(1);
            c.take_while(|c| !c.is_whitespace()).to_owned()
        } else {
            String::new()
        };
        options.push(OptionLine { line, name, value });
    }
}

fn event(c: &mut Cursor) -> Result<Event, SyntaxError> {
    let (line, text) = (c.line(), c.line_text().to_owned());
    // Commands before the first event and after the last have no time.
    let untimed = c.peek() == Some('`');
    let at = if untimed { At::Relative(0) } else { time(c)? };
    let action = action(c, at)?;
    Ok(Event { line, text, at, action })
}

fn action(c: &mut Cursor, at: At) -> Result<Action, SyntaxError> {
    let blocks = c.eat("...")?;
    if blocks {
        let (_, end) = moment(c)?;
        let mut call = call::call(c)?;
        if matches!(at, At::Any | At::Range { .. }) {
            return c.error("a call that blocks begins at one time, not within a range");
        }
        call.end = Some(end);
        return Ok(Action::Call(Box::new(call)));
    }
    c.skip()?;
    match c.peek() {
        Some('<' | '>') => packet::packet(c),
        Some('`') => {
            c.advance(1);
            Ok(Action::Command(c.until("`", "a command")?.to_owned()))
        }
        Some('%') if c.rest().starts_with("%{") => {
            c.advance(2);
            Ok(Action::Code(c.until("}%", "Python code")?.to_owned()))
        }
        Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => Ok(Action::Call(Box::new(call::call(c)?))),
        _ => c.error(format!("an event is a packet, a call, a command or code, not {}", c.shown())),
    }
}

fn time(c: &mut Cursor) -> Result<At, SyntaxError> {
    if c.eat("*")? {
        return Ok(At::Any);
    }
    let (relative, from) = moment(c)?;
    if !c.eat("~")? {
        return Ok(if relative { At::Relative(from) } else { At::Absolute(from) });
    }
    let (to_relative, to) = moment(c)?;
    if relative != to_relative {
        return c.error("both ends of a range are absolute, or both begin with +");
    }
    if to < from {
        return c.error("the end of a range is not before its beginning");
    }
    Ok(At::Range { relative, from, to })
}

/// A time, and whether it began with `+`.
fn moment(c: &mut Cursor) -> Result<(bool, Micros), SyntaxError> {
    let relative = c.eat("+")?;
    c.skip()?;
    let shown = c.shown();
    // Three dots after the digits are the mark of a call that blocks.
    let rest = c.rest();
    let whole = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let tail = &rest[whole..];
    let decimals = if tail.starts_with('.') && !tail.starts_with("...") {
        1 + tail[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len() - 1)
    } else {
        0
    };
    let digits = &rest[..whole + decimals];
    c.advance(digits.len());
    match digits.parse::<f64>() {
        Ok(seconds) if seconds <= TIME_MAX_S => Ok((relative, (seconds * 1e6).round() as Micros)),
        _ => c.error(format!("a time is seconds from 0 to {TIME_MAX_S}, such as +0.1, not {shown}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Options, TcpOption, Value, flag};
    use super::*;

    fn only(text: &str) -> Event {
        let script = script(text).unwrap();
        assert_eq!(script.events.len(), 1, "{text}");
        script.events[0].clone()
    }

    #[test]
    fn times() {
        for (text, at) in [
            ("0 `x`", At::Absolute(0)),
            ("1.25 `x`", At::Absolute(1_250_000)),
            ("+.002 `x`", At::Relative(2000)),
            ("* `x`", At::Any),
            ("0.1~0.2 `x`", At::Range { relative: false, from: 100_000, to: 200_000 }),
            ("+0.5~+1 `x`", At::Range { relative: true, from: 500_000, to: 1_000_000 }),
            ("`x`", At::Relative(0)),
        ] {
            assert_eq!(only(text).at, at, "{text}");
        }
    }

    #[test]
    fn a_call_that_blocks() {
        for text in ["+.1...0.2 read(4, ..., 1000) = 10", "+.1 ... 0.2 read(4, ..., 1000) = 10 // note"] {
            let Action::Call(call) = only(text).action else { panic!("{text}") };
            assert_eq!((call.name.as_str(), call.end), ("read", Some(200_000)));
            assert_eq!(call.args, [Value::Number(4), Value::Ellipsis, Value::Number(1000)]);
        }
    }

    #[test]
    fn a_packet_with_options() {
        let text = "+0 > [ect0] PE. 1:1001(1000) ack 7 win 90 <nop,nop,TS val 1 ecr 2, sack 3:4 5:6>";
        let Action::Packet(packet) = only(text).action else { panic!() };
        assert!(packet.outbound);
        assert_eq!(packet.flags, flag::PSH | flag::ECE | flag::ACK);
        assert_eq!((packet.seq, packet.len, packet.ack, packet.window), (1, 1000, Some(7), Some(90)));
        assert_eq!(packet.ecn, Some(2));
        let stamps = TcpOption::Timestamps { val: 1, ecr: 2 };
        let sack = TcpOption::Sack(vec![(3, 4), (5, 6)]);
        assert_eq!(packet.options, Options::These(vec![TcpOption::Nop, TcpOption::Nop, stamps, sack]));
    }

    #[test]
    fn comments_options_and_errors() {
        let text =
            "// one\n--tolerance_usecs=7000 // note\n/* two\n*/ `init`\n# three\n+0 socket(..., SOCK_STREAM, 6) = 3\n";
        let script = script(text).unwrap();
        assert_eq!(script.options[0].value, "7000");
        assert_eq!(script.events.len(), 2);
        assert_eq!(script.events[1].line, 6);
        for (text, line) in [("\n+0 < S 0:0(0", 2), ("+x `a`", 1), ("+0 `a", 1), ("+0 < Q 0:0(0)", 1)] {
            assert_eq!(super::script(text).unwrap_err().line, line, "{text}");
        }
    }
}
