//! Runs a script: each event at its time, in order; what the endpoint does is compared with what the script expects.

use crate::command::Shell;
use crate::host::{Host, Kept, Outcome, Progress, Sent};
use crate::info;
use crate::live::{self, Mapping};
use crate::python::{self, Failure, Scope};
use crate::script::{Action, At, Call, Event, Micros, Packet, Script, flag};
use crate::setup::Setup;
use crate::verdict::Stop;
use elephan_tcp::{Flags, Options};
use elephan_units::{Span, Time, stop};
use std::path::Path;

/// Steps of a run at most: timers that never end are an error of the endpoint.
const STEPS_MAX: u64 = 1_000_000;

/// A call that waits.
struct Pending {
    event: Event,
    call: Call,
    progress: Progress,
    /// When the script expects its end.
    end: Time,
    /// When its own timeout ends it.
    deadline: Time,
}

pub(crate) struct Runner<'a> {
    host: Host,
    shell: Shell,
    setup: Setup,
    mapping: Mapping,
    scope: Scope,
    folder: Option<&'a Path>,
    /// When the event before happened.
    last: Micros,
    pending: Option<Pending>,
    /// The event of a call that waited and did not end as expected.
    blamed: Option<Event>,
    steps: u64,
    /// How many packets of the endpoint the trace has.
    noted: u64,
    pub printed: String,
    /// What happened, line by line, if asked for.
    pub trace: Option<Vec<String>>,
}

fn time(at: Micros) -> Time {
    Time(at.max(0).cast_unsigned() * 1_000_000)
}

fn micros(at: Time) -> Micros {
    (at.0 / 1_000_000).cast_signed()
}

fn shown(at: Time) -> String {
    format!("{:.6}", at.seconds())
}

impl<'a> Runner<'a> {
    pub fn new(stack: Options, setup: Setup, folder: Option<&'a Path>, trace: bool) -> Runner<'a> {
        let mapping = Mapping::new(setup.scaled_echoes);
        Runner {
            host: Host::new(stack, Kept::new(setup.remote, setup.local), setup.joined),
            shell: Shell::default(),
            setup,
            mapping,
            scope: info::scope(),
            folder,
            last: 0,
            pending: None,
            blamed: None,
            steps: 0,
            noted: 0,
            printed: String::new(),
            trace: trace.then(Vec::new),
        }
    }

    pub fn now(&self) -> Time {
        self.host.now
    }

    /// What the endpoint has sent and no event took.
    pub fn left(&self) -> Vec<String> {
        self.host.outbox.iter().map(|sent| live::text(&self.mapping.outbound(sent, None), None)).collect()
    }

    /// Runs a script to its end, or to the first event that does not go as it says; that event comes back with the reason.
    pub fn run(&mut self, script: &Script) -> Result<(), Box<(Event, Stop)>> {
        for event in &script.events {
            self.event(event).map_err(|stop| Box::new((self.blamed.take().unwrap_or_else(|| event.clone()), stop)))?;
        }
        let last = script.events.last();
        self.finish_pending().map_err(|stop| match (self.blamed.take(), last) {
            (Some(event), _) => Box::new((event, stop)),
            (None, Some(event)) => Box::new((event.clone(), stop)),
            (None, None) => unreachable!("a call that waits is an event"),
        })
    }

    fn event(&mut self, event: &Event) -> Result<(), Stop> {
        stop::look();
        let base = self.last;
        let (from, to) = match event.at {
            At::Absolute(at) => (at, at),
            At::Relative(after) => (base + after, base + after),
            At::Any => (base, base),
            At::Range { relative, from, to } => {
                let base = if relative { base } else { 0 };
                (base + from, base + to)
            }
        };
        if let Action::Packet(packet) = &event.action
            && packet.outbound
        {
            let at = self.expect(event, packet, from, to)?;
            self.last = if matches!(event.at, At::Any | At::Range { .. }) { micros(at) } else { from };
            return Ok(());
        }
        self.go_to(time(from))?;
        self.last = from;
        match &event.action {
            Action::Packet(packet) => self.deliver(packet)?,
            Action::Call(call) => self.call(event, call, base)?,
            Action::Command(text) => {
                self.shell.run(text, self.folder).map_err(Stop::CannotRun)?;
                self.host.set_sysctls(self.shell.sysctls.clone());
                self.host.refresh_fast_open();
            }
            Action::Code(code) => self.code(code)?,
            Action::Unsupported(what) => return Err(Stop::CannotRun(what.clone())),
        }
        self.try_pending()
    }

    /// Time goes on to `until`; timers and waiting calls do what they do on the way.
    fn go_to(&mut self, until: Time) -> Result<(), Stop> {
        loop {
            let mut limit = until;
            if let Some(pending) = &self.pending {
                let latest = pending.end.saturating_add(self.setup.tolerance);
                if self.host.now > latest {
                    return Err(self.still_waits());
                }
                limit = limit.min(pending.deadline).min(latest.saturating_add(Span::from_us(1)));
            }
            self.step(limit)?;
            if self.host.now >= until {
                return Ok(());
            }
        }
    }

    fn step(&mut self, limit: Time) -> Result<(), Stop> {
        stop::look();
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Err(Stop::differs("an end", format!("{STEPS_MAX} timers without one")));
        }
        self.host.advance(limit);
        self.note_sent();
        if let Some(pending) = self.pending.as_mut().filter(|pending| self.host.now >= pending.deadline) {
            pending.progress.timed_out = true;
        }
        self.try_pending()
    }

    /// Tries the call that waits once more.
    fn try_pending(&mut self) -> Result<(), Stop> {
        let Some(mut pending) = self.pending.take() else { return Ok(()) };
        let outcome = self.host.call(&pending.call, &mut pending.progress);
        self.note_sent();
        if outcome == Ok(Outcome::Block) {
            self.pending = Some(pending);
            return Ok(());
        }
        let (now, end) = (self.host.now, pending.end);
        let checked = outcome.and_then(|outcome| self.check(&pending.call, outcome));
        let late = now > end.saturating_add(self.setup.tolerance) || now.saturating_add(self.setup.tolerance) < end;
        let checked = checked.and_then(|()| match late {
            true => Err(Stop::differs(
                format!("{}() returns at {}", pending.call.name, shown(end)),
                format!("at {}", shown(now)),
            )),
            false => Ok(()),
        });
        if checked.is_err() {
            self.blamed = Some(pending.event);
        }
        checked
    }

    /// The call that waits does so for too long.
    fn still_waits(&mut self) -> Stop {
        let Some(pending) = self.pending.take() else { return Stop::differs("a call that waits", "none") };
        let expected = format!("{}() returns at {}", pending.call.name, shown(pending.end));
        self.blamed = Some(pending.event);
        Stop::differs(expected, "it still waits")
    }

    fn finish_pending(&mut self) -> Result<(), Stop> {
        while let Some(pending) = &self.pending {
            let limit = pending.end.saturating_add(self.setup.tolerance).saturating_add(Span::from_us(1));
            if self.host.now >= limit {
                return Err(self.still_waits());
            }
            let limit = limit.min(pending.deadline);
            self.step(limit)?;
        }
        Ok(())
    }

    fn deliver(&mut self, packet: &Packet) -> Result<(), Stop> {
        let (awaits_syn, opens) = self.host.awaits_syn(packet.seq, packet.flags & flag::ACK != 0);
        if packet.flags & flag::SYN != 0 && opens {
            self.mapping.restart();
        }
        let (segment, sack) = self.mapping.inbound(packet, awaits_syn)?;
        self.note("<", &live::text(packet, None));
        self.host.deliver(&segment, &sack);
        self.note_sent();
        Ok(())
    }

    /// Waits for a packet of the endpoint; returns when it left.
    fn expect(&mut self, event: &Event, packet: &Packet, from: Micros, to: Micros) -> Result<Time, Stop> {
        let tolerance = self.setup.tolerance_after(time(from).since(time(self.last)));
        let anytime = event.at == At::Any;
        let latest = if anytime { Time::NEVER } else { time(to).saturating_add(tolerance) };
        let sent = self.take(packet, latest)?;
        let got = self.mapping.outbound(&sent, Some(packet));
        let (expected_text, got_text) = (live::text(packet, Some(packet)), live::text(&got, Some(packet)));
        if !live::matches(packet, &got) {
            return Err(Stop::differs(expected_text, format!("{got_text} at {}", shown(sent.at))));
        }
        let early = sent.at.saturating_add(tolerance) < time(from);
        if !anytime && (early || sent.at > latest) {
            let times =
                if from == to { shown(time(from)) } else { format!("{} to {}", shown(time(from)), shown(time(to))) };
            return Err(Stop::differs(format!("{expected_text} at {times}"), format!("at {}", shown(sent.at))));
        }
        self.mapping.learn(&sent, packet);
        self.check_stamp(packet, &sent, time(from))?;
        Ok(sent.at)
    }

    /// TS val follows the clock of the script, if the script says how long a tick is.
    fn check_stamp(&self, packet: &Packet, sent: &Sent, at: Time) -> Result<(), Stop> {
        let (Some(tick), Some((expected, _))) = (self.setup.tick, live::stamps(packet)) else { return Ok(()) };
        let Some((got, _)) = live::stamps(&self.mapping.outbound(sent, None)) else { return Ok(()) };
        let apart = u64::from((got.wrapping_sub(expected).cast_signed()).unsigned_abs());
        if tick.saturating_mul(apart) > self.setup.tolerance_after(at.since(Time::ZERO)) {
            return Err(Stop::differs(format!("TS val {expected}"), format!("TS val {got}")));
        }
        Ok(())
    }

    /// The next packet of the endpoint until `latest`; several segments in order are one packet of the script when it is longer
    /// than a segment, as a device sees them that segments itself.
    fn take(&mut self, packet: &Packet, latest: Time) -> Result<Sent, Stop> {
        let mut all: Option<Sent> = None;
        loop {
            while let Some(next) = self.host.outbox.front().copied() {
                let Some(whole) = &mut all else {
                    self.host.outbox.pop_front();
                    all = Some(next);
                    if next.segment.len >= packet.len || self.setup.strict {
                        return Ok(next);
                    }
                    continue;
                };
                if !follows(whole, &next) || whole.segment.len + next.segment.len > packet.len {
                    return Ok(*whole);
                }
                self.host.outbox.pop_front();
                whole.segment.len += next.segment.len;
                // Where Linux sets PSH follows from how its device segments, which is not modelled.
                let push = if packet.flags & flag::PSH != 0 { Flags::PSH } else { Flags::NONE };
                whole.segment.flags = Flags((whole.segment.flags | next.segment.flags).0 & !Flags::PSH.0) | push;
                if whole.segment.len >= packet.len {
                    return Ok(*whole);
                }
            }
            let now = self.host.now;
            if now >= latest || (self.host.next_timer() == Time::NEVER && latest == Time::NEVER) {
                return match all {
                    Some(whole) => Ok(whole),
                    None => {
                        Err(Stop::differs(live::text(packet, Some(packet)), format!("nothing until {}", shown(now))))
                    }
                };
            }
            let limit = self.pending.as_ref().map_or(latest, |pending| latest.min(pending.deadline));
            self.step(limit.max(now))?;
        }
    }

    fn call(&mut self, event: &Event, call: &Call, base: Micros) -> Result<(), Stop> {
        self.finish_pending()?;
        self.note(" ", &event.text);
        let mut progress = Progress::default();
        let opened = self.host.opened;
        let outcome = self.host.call(call, &mut progress)?;
        if self.host.opened != opened {
            self.mapping.restart();
        }
        self.note_sent();
        if outcome != Outcome::Block {
            return self.check(call, outcome);
        }
        let Some(end) = call.end else {
            return Err(Stop::differs(format!("{}", call.result), format!("{}() waits", call.name)));
        };
        let end = time(if matches!(event.at, At::Absolute(_)) { end } else { base + end });
        let deadline = match timeout(call) {
            Some(timeout) => self.host.now.saturating_add(timeout),
            None => Time::NEVER,
        };
        self.pending = Some(Pending { event: event.clone(), call: call.clone(), progress, end, deadline });
        Ok(())
    }

    /// Whether a call came to what the script expects.
    fn check(&mut self, call: &Call, outcome: Outcome) -> Result<(), Stop> {
        let expected = match &call.errno {
            Some(errno) => format!("{} {errno}", call.result),
            None => call.result.to_string(),
        };
        if call.result == crate::script::Value::Ellipsis {
            return Ok(());
        }
        let result = call.result.number().map_err(Stop::CannotRun)?;
        match outcome {
            Outcome::Done(got) if got == result && call.errno.is_none() => Ok(()),
            Outcome::Done(got) => Err(Stop::differs(expected, got.to_string())),
            Outcome::Descriptor(descriptor) if result >= 0 && call.errno.is_none() => {
                self.host.name(result, descriptor);
                Ok(())
            }
            Outcome::Descriptor(_) => Err(Stop::differs(expected, "a descriptor")),
            Outcome::Fail(got) => {
                let same = call
                    .errno
                    .as_deref()
                    .is_none_or(|errno| errno == got || (errno == "EWOULDBLOCK" && got == "EAGAIN"));
                if result == -1 && same { Ok(()) } else { Err(Stop::differs(expected, format!("-1 {got}"))) }
            }
            Outcome::Block => Err(Stop::differs(expected, "the call waits")),
        }
    }

    fn code(&mut self, code: &str) -> Result<(), Stop> {
        let program = python::program(code).map_err(Stop::CannotRun)?;
        if let Some(info) = self.host.info() {
            info::set(&mut self.scope, &info);
        }
        self.scope.run(&program, &mut self.printed).map_err(|failure| match failure {
            Failure::Assertion { text, message, .. } => Stop::differs(text, message),
            Failure::Raised { message, .. } => Stop::differs("code that runs", message),
            Failure::Unknown(what) => Stop::CannotRun(what),
        })
    }

    fn note(&mut self, mark: &str, text: &str) {
        let at = shown(self.host.now);
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{at} {mark} {text}"));
        }
    }

    /// Notes the packets that have been sent since the last call. It is called before any of them can be taken out of the outbox.
    fn note_sent(&mut self) {
        let fresh = (self.host.sent - self.noted) as usize;
        self.noted = self.host.sent;
        let Some(trace) = &mut self.trace else { return };
        for sent in self.host.outbox.range(self.host.outbox.len().saturating_sub(fresh)..) {
            let text = live::text(&self.mapping.outbound(sent, None), None);
            trace.push(format!("{} > {text}", shown(sent.at)));
        }
    }
}

/// The time after which a call that waits gives up, from its own arguments.
fn timeout(call: &Call) -> Option<Span> {
    let at = match call.name.as_str() {
        "poll" => 2,
        "epoll_wait" => 3,
        _ => return None,
    };
    let ms = call.args.get(at)?.number().ok()?;
    (ms >= 0).then(|| Span::from_ms(ms.cast_unsigned()))
}

/// Whether `next` goes on where `whole` ends, and says the same besides.
fn follows(whole: &Sent, next: &Sent) -> bool {
    let last = Flags::FIN.0 | Flags::PSH.0;
    let (a, b) = (&whole.segment, &next.segment);
    a.len > 0
        && b.len > 0
        && b.seq == a.seq.wrapping_add(a.len)
        && !a.flags.any(Flags::FIN)
        && a.flags.0 & !last == b.flags.0 & !last
        && (a.ack, a.window, a.options, a.tsecr, a.ecn) == (b.ack, b.window, b.options, b.tsecr, b.ecn)
}
