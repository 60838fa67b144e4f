//! `recvmsg` with MSG_ERRQUEUE: what the error queue of a socket has, compared with what a script expects.

use super::Host;
use crate::script::Value;
use crate::verdict::Stop;
use elephan_units::{Span, Time};

pub(super) const MSG_TRUNC: i64 = 0x20;
/// How far a timestamp may be off.
const TOLERANCE: Span = Span::from_ms(4);

fn number(value: Option<&Value>, what: &str) -> Result<i64, Stop> {
    match value {
        Some(value) => value.number().map_err(Stop::CannotRun),
        None => Err(Stop::CannotRun(format!("a control message without {what}"))),
    }
}

impl Host {
    /// `recvmsg` with MSG_ERRQUEUE: takes a report and compares it; says the flags of the message, or that there is none.
    pub(super) fn take_report(&mut self, index: usize, message: &Value) -> Result<Option<i64>, Stop> {
        let Some(report) = self.sockets[index].errors.reports.pop_front() else { return Ok(None) };
        let flags = 0x2000 | if report.time().is_some() { MSG_TRUNC } else { 0 };
        let Some(Value::Array(items)) = message.field("msg_control") else { return Ok(Some(flags)) };
        let expected = 1 + usize::from(report.time().is_some());
        if items.len() != expected {
            let count = |n: usize| format!("{n} control messages");
            return Err(Stop::differs(count(items.len()), count(expected)));
        }
        for item in items {
            let data = item.field("cmsg_data").ok_or_else(|| Stop::CannotRun("cmsg_data missing".to_owned()))?;
            if number(item.field("cmsg_type"), "cmsg_type")? == 37 {
                compare_time(data, report.time().unwrap_or(Time::ZERO))?;
            } else {
                for (name, got) in report.fields() {
                    let expected = number(data.field(name), name)?;
                    if expected != got {
                        return Err(Stop::differs(format!("{name}={expected}"), format!("{name}={got}")));
                    }
                }
            }
        }
        Ok(Some(flags))
    }
}

fn compare_time(data: &Value, at: Time) -> Result<(), Stop> {
    let (seconds, ns) = (number(data.field("scm_sec"), "scm_sec")?, number(data.field("scm_nsec"), "scm_nsec")?);
    let expected = Time(seconds.max(0).cast_unsigned() * 1_000_000_000_000 + ns.max(0).cast_unsigned() * 1000);
    if at.since(expected).max(expected.since(at)) > TOLERANCE {
        return Err(Stop::differs(format!("{:.6}", expected.seconds()), format!("{:.6}", at.seconds())));
    }
    Ok(())
}
