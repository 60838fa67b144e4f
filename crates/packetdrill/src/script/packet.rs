//! Reads a packet: direction, ECN mark, flags, sequence numbers, window, options.

use super::cursor::Cursor;
use super::{Action, Options, Packet, SyntaxError, TcpOption, flag};

/// What may stand before a packet that is not plain TCP.
const OTHER_PROTOCOLS: [&str; 10] = ["encap", "udp", "icmp", "icmpv6", "ipv4", "ipv6", "gre", "mpls", "psp", "sctp"];
/// Names of the ECN codepoints.
const MARKS: [(&str, u8); 5] = [("noecn", 0), ("ect1", 1), ("ect0", 2), ("ce", 3), ("ECT0", 2)];

pub(super) fn packet(c: &mut Cursor) -> Result<Action, SyntaxError> {
    let outbound = c.peek() == Some('>');
    c.advance(1);
    c.skip()?;
    let ecn = match c.peek() {
        Some('[' | '(') => match mark(c)? {
            Ok(ecn) => Some(ecn),
            Err(what) => return unsupported(c, &what),
        },
        _ => None,
    };
    c.skip()?;
    for name in OTHER_PROTOCOLS {
        if c.eat_word(name)? {
            return unsupported(c, &format!("{name} packets"));
        }
    }
    let shown = c.shown();
    let text = c.take_while(|c| !c.is_whitespace());
    if text.chars().all(|c| c.is_ascii_digit()) && !text.is_empty() {
        return unsupported(c, "packets with ports");
    }
    let Some(flags) = flags(text) else { return c.error(format!("no flags of a packet: {shown}")) };
    let seq = c.word32("a sequence number")?;
    c.expect(":")?;
    let end = c.word32("a sequence number")?;
    c.expect("(")?;
    let len = c.number("the length of a packet", 1 << 24)? as u32;
    c.expect(")")?;
    if end.wrapping_sub(seq) != len {
        return c.error(format!("{seq}:{end} is not {len} bytes long"));
    }
    let ack = if c.eat_word("ack")? { Some(c.word32("an acknowledgement")?) } else { None };
    let window = if c.eat_word("win")? { Some(c.number("a window", 65_535)? as u16) } else { None };
    if c.eat_word("urg")? {
        return unsupported(c, "urgent data");
    }
    let options = options(c)?;
    Ok(Action::Packet(Box::new(Packet { outbound, ecn, flags, seq, len, ack, window, options })))
}

/// The rest of the line says something that elephan does not model.
fn unsupported(c: &mut Cursor, what: &str) -> Result<Action, SyntaxError> {
    c.take_while(|c| c != '\n');
    Ok(Action::Unsupported(what.to_owned()))
}

/// `[ect0]`; what else stands there is named.
fn mark(c: &mut Cursor) -> Result<Result<u8, String>, SyntaxError> {
    let close = if c.peek() == Some('[') { "]" } else { ")" };
    c.advance(1);
    let text = c.until(close, "the mark of a packet")?.trim().to_owned();
    let known = MARKS.iter().find(|(name, _)| *name == text).map(|(_, code)| *code);
    Ok(known.ok_or_else(|| format!("packets with [{text}]")))
}

/// `S.`, `-` for none; digits are the ACE field of RFC 9768.
fn flags(text: &str) -> Option<u16> {
    if text == "-" {
        return Some(0);
    }
    let mut flags = 0;
    for letter in text.chars() {
        flags |= match letter.to_digit(8) {
            Some(ace) => {
                (if ace & 4 != 0 { flag::AE } else { 0 })
                    | (if ace & 2 != 0 { flag::CWR } else { 0 })
                    | (if ace & 1 != 0 { flag::ECE } else { 0 })
            }
            None => flag::LETTERS.iter().find(|(known, _)| *known == letter)?.1,
        };
    }
    (!text.is_empty()).then_some(flags)
}

fn options(c: &mut Cursor) -> Result<Options, SyntaxError> {
    // A `<` on a line of its own begins no packet: packets have a time before them.
    if !c.eat("<")? {
        return Ok(Options::These(Vec::new()));
    }
    if c.eat("...")? {
        c.expect(">")?;
        return Ok(Options::Any);
    }
    let mut list = Vec::new();
    loop {
        list.push(option(c)?);
        if c.eat(">")? {
            return Ok(Options::These(list));
        }
        c.expect(",")?;
    }
}

fn option(c: &mut Cursor) -> Result<TcpOption, SyntaxError> {
    c.skip()?;
    let shown = c.shown();
    let name = c.word();
    c.skip_blanks();
    if name == "mss" && c.peek().is_some_and(|c| c.is_ascii_uppercase()) {
        return Ok(TcpOption::Other(format!("the symbol {} in a packet", c.word())));
    }
    Ok(match name {
        "nop" => TcpOption::Nop,
        "eol" => TcpOption::End,
        "mss" => TcpOption::Mss(c.number("mss", 65_535)? as u16),
        "wscale" => TcpOption::WindowScale(c.number("wscale", 255)? as u8),
        "sackOK" => TcpOption::SackPermitted,
        "sack" => TcpOption::Sack(blocks(c)?),
        "TS" => {
            if !c.eat_word("val")? {
                return c.error("TS has val and ecr");
            }
            let val = c.word32("TS val")?;
            if !c.eat_word("ecr")? {
                return c.error("TS has val and ecr");
            }
            TcpOption::Timestamps { val, ecr: c.word32("TS ecr")? }
        }
        "ECN" => TcpOption::AccEcn(counters(c)?),
        "FO" | "FOEXP" => fast_open(c, name == "FOEXP"),
        "md5" => {
            c.take_while(|c| c != ',' && c != '>');
            TcpOption::Other("TCP MD5 signatures".to_owned())
        }
        _ => return c.error(format!("no TCP option: {shown}")),
    })
}

/// A cookie in hexadecimal digits, or the name that google/packetdrill's scripts have for the one of their key and addresses.
fn fast_open(c: &mut Cursor, experimental: bool) -> TcpOption {
    const NAMED: (&str, &str) = ("TFO_COOKIE", "3021b9d889017eeb");
    let text = c.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
    let digits = if text == NAMED.0 { NAMED.1 } else { text };
    let bytes = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok());
    match bytes.collect() {
        Some(cookie) => TcpOption::FastOpen { cookie, experimental },
        None => TcpOption::Other(format!("the cookie {text}")),
    }
}

fn blocks(c: &mut Cursor) -> Result<Vec<(u32, u32)>, SyntaxError> {
    let mut blocks = Vec::new();
    loop {
        c.skip()?;
        if !c.peek().is_some_and(|c| c.is_ascii_digit()) {
            return if blocks.is_empty() { c.error("sack has no block") } else { Ok(blocks) };
        }
        let left = c.word32("a SACK block")?;
        c.expect(":")?;
        blocks.push((left, c.word32("a SACK block")?));
    }
}

fn counters(c: &mut Cursor) -> Result<Vec<(String, u32)>, SyntaxError> {
    let mut counters = Vec::new();
    loop {
        c.skip()?;
        match c.word() {
            "" => return Ok(counters),
            name @ ("e0b" | "e1b" | "ceb") => counters.push((name.to_owned(), c.number(name, (1 << 24) - 1)? as u32)),
            name => return c.error(format!("ECN has the counters e0b, e1b and ceb, not {name:?}")),
        }
    }
}
