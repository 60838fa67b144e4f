//! What a script expects matters: one number of it changed, and it no longer passes.
//!
//! Changed are the numbers of packets that the endpoint sends (sequence number, length, acknowledgement, window, options),
//! results and errors of calls, what calls give back, and the numbers in assertions. Two numbers are free by the language: the
//! sequence number of the own SYN, from which the others count, and TS val, which names a timestamp for later lines.

use elephan_packetdrill::script::{Action, Call, Event, Options, Packet, Script, TcpOption, Value, flag};
use elephan_packetdrill::{Settings, Verdict, run_script, script};
use std::path::{Path, PathBuf};

/// Share of the changes that must be noticed.
const NOTICED: f64 = 0.98;

fn scripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("tests/packetdrill is part of the repository") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            found.extend(scripts(&path));
        } else if path.extension().is_some_and(|extension| extension == "pkt") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// All changes of a packet.
fn of_packet(packet: &Packet) -> Vec<Packet> {
    let mut changed = Vec::new();
    let mut add = |change: &dyn Fn(&mut Packet)| {
        let mut other = packet.clone();
        change(&mut other);
        changed.push(other);
    };
    if packet.flags & flag::SYN == 0 {
        add(&|p| p.seq = p.seq.wrapping_add(1));
    }
    add(&|p| p.len += 1);
    if packet.ack.is_some() {
        add(&|p| p.ack = p.ack.map(|ack| ack.wrapping_add(1)));
    }
    if packet.window.is_some() {
        add(&|p| p.window = p.window.map(|window| window ^ 1));
    }
    let Options::These(options) = &packet.options else { return changed };
    for place in 0..options.len() {
        for option in of_option(&options[place]) {
            add(&|p| {
                if let Options::These(list) = &mut p.options {
                    list[place] = option.clone();
                }
            });
        }
    }
    changed
}

fn of_option(option: &TcpOption) -> Vec<TcpOption> {
    match option {
        TcpOption::Mss(mss) => vec![TcpOption::Mss(mss + 1)],
        TcpOption::WindowScale(shift) => vec![TcpOption::WindowScale(shift + 1)],
        TcpOption::Timestamps { val, ecr } => vec![TcpOption::Timestamps { val: *val, ecr: ecr.wrapping_add(1) }],
        TcpOption::Sack(blocks) => (0..2 * blocks.len())
            .map(|place| {
                let mut blocks = blocks.clone();
                let block = &mut blocks[place / 2];
                *(if place % 2 == 0 { &mut block.0 } else { &mut block.1 }) += 1;
                TcpOption::Sack(blocks)
            })
            .collect(),
        TcpOption::FastOpen { cookie, experimental } => {
            let mut other = cookie.clone();
            match other.last_mut() {
                Some(byte) => *byte = byte.wrapping_add(1),
                None => other = vec![0; 4],
            }
            vec![TcpOption::FastOpen { cookie: other, experimental: *experimental }]
        }
        TcpOption::AccEcn(counters) => (0..counters.len())
            .map(|place| {
                let mut counters = counters.clone();
                counters[place].1 += 1;
                TcpOption::AccEcn(counters)
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// All changes of what a call is expected to give.
fn of_call(call: &Call) -> Vec<Call> {
    let mut changed = Vec::new();
    if let Value::Number(number) = call.result {
        changed.push(Call { result: Value::Number(number + 1), ..call.clone() });
    }
    if call.errno.is_some() {
        changed.push(Call { errno: Some("EXDEV".to_owned()), ..call.clone() });
    }
    let gives = match call.name.as_str() {
        "getsockopt" => Some(3),
        "ioctl" => Some(2),
        _ => None,
    };
    if let Some(place) = gives
        && let Some(Value::Array(items)) = call.args.get(place)
        && let [Value::Number(number)] = items[..]
    {
        let mut args = call.args.clone();
        args[place] = Value::Array(vec![Value::Number(number + 1)]);
        changed.push(Call { args, ..call.clone() });
    }
    changed
}

/// All changes of a number that stands alone in code.
fn of_code(code: &str) -> Vec<String> {
    let letters: Vec<char> = code.chars().collect();
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let mut changed = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let end = (at..letters.len()).find(|&i| !part(letters[i])).unwrap_or(letters.len());
        let word: String = letters[at..end].iter().collect();
        if let Ok(number) = word.parse::<i64>() {
            let before: String = letters[..at].iter().collect();
            let after: String = letters[end..].iter().collect();
            changed.push(format!("{before}{}{after}", number + 1));
        }
        at = end.max(at + 1);
    }
    changed
}

fn of_event(event: &Event) -> Vec<Event> {
    let with = |action| Event { action, ..event.clone() };
    match &event.action {
        Action::Packet(packet) if packet.outbound => {
            of_packet(packet).into_iter().map(|packet| with(Action::Packet(Box::new(packet)))).collect()
        }
        Action::Call(call) => of_call(call).into_iter().map(|call| with(Action::Call(Box::new(call)))).collect(),
        Action::Code(code) => of_code(code).into_iter().map(|code| with(Action::Code(code))).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn changed_numbers_are_noticed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/packetdrill");
    let (mut all, mut missed) = (0, Vec::new());
    for path in scripts(&root) {
        let text = std::fs::read_to_string(&path).unwrap();
        let whole = script::script(&text).unwrap();
        for place in 0..whole.events.len() {
            for event in of_event(&whole.events[place]) {
                let mut events = whole.events.clone();
                events[place] = event;
                let changed = Script { options: whole.options.clone(), events };
                all += 1;
                let report = run_script(&changed, path.parent(), &Settings::default()).unwrap();
                if report.verdict == Verdict::Pass {
                    let (line, text) = (whole.events[place].line, &whole.events[place].text);
                    missed.push(format!("{}:{line}: {text}", path.display()));
                }
            }
        }
    }
    let noticed = 1.0 - missed.len() as f64 / f64::from(all);
    assert!(all > 1000, "{all} changes");
    assert!(noticed >= NOTICED, "{noticed:.4} of {all}:\n{}", missed.join("\n"));
}
