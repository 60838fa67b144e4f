//! `sendmsg` and `recvmsg`: vectors of buffers and control messages.

use super::calls::{MSG_ERRQUEUE, flag_name, number};
use super::outcome::{Progress, Transfer};
use super::{Host, Outcome};
use crate::script::{Call, Value};
use crate::verdict::Stop;

fn missing<T>(what: &str) -> Result<T, Stop> {
    Err(Stop::CannotRun(what.to_owned()))
}

/// Bytes of `[{..., 1000}, {..., 500}]`.
fn vector_bytes(vector: &Value) -> Result<u64, Stop> {
    let Value::Array(items) = vector else { return missing("a vector that is no array") };
    let mut bytes = 0;
    for item in items {
        let Value::Fields(fields) = item else { return missing("a buffer without braces") };
        let Some((_, length)) = fields.last() else { return missing("a buffer without a length") };
        bytes += length.number().map_err(Stop::CannotRun)?.max(0) as u64;
    }
    Ok(bytes)
}

impl Host {
    /// The bytes and flags of a call with a vector or a message.
    fn message(&self, call: &Call) -> Result<Transfer, Stop> {
        let vector = call.args.get(1);
        let (vector, flags) = match call.name.as_str() {
            "writev" | "readv" => (vector, 0),
            _ => (vector.and_then(|message| message.field("msg_iov")), number(&call.args, 2)?),
        };
        match vector {
            Some(vector) => Ok(Transfer { bytes: vector_bytes(vector)?, flags }),
            None => missing("a message without msg_iov"),
        }
    }

    pub(super) fn send_message(&mut self, call: &Call, progress: &mut Progress) -> Result<Outcome, Stop> {
        let transfer = self.message(call)?;
        self.write(&call.args, transfer, progress)
    }

    pub(super) fn receive_message(&mut self, call: &Call) -> Result<Outcome, Stop> {
        let transfer = self.message(call)?;
        let index = self.stream(&call.args)?;
        if transfer.flags & MSG_ERRQUEUE != 0 {
            return self.receive_report(index, &call.args[1]);
        }
        let outcome = self.read(&call.args, transfer)?;
        let message = &call.args[1];
        if let Outcome::Done(_) = outcome {
            if let Some(flags) = message.field("msg_flags").filter(|flags| **flags != Value::Ellipsis)
                && flags.number().map_err(Stop::CannotRun)? != 0
            {
                let expected = flags.number().map_err(Stop::CannotRun)?;
                return Err(Stop::differs(flag_name(expected), "msg_flags=0"));
            }
            if let Some(control) = message.field("msg_control") {
                self.compare_control(index, control)?;
            }
        }
        Ok(outcome)
    }

    /// A report of the error queue, if there is one; reading it never waits.
    fn receive_report(&mut self, index: usize, message: &Value) -> Result<Outcome, Stop> {
        let Some(got) = self.take_report(index, message)? else { return Ok(Outcome::Fail("EAGAIN")) };
        match message.field("msg_flags").filter(|flags| **flags != Value::Ellipsis) {
            Some(flags) if flags.number().map_err(Stop::CannotRun)? != got => {
                Err(Stop::differs(format!("msg_flags={flags}"), format!("msg_flags={got:#x}")))
            }
            _ => Ok(Outcome::Done(0)),
        }
    }

    /// The control messages of what was read: bytes left, if TCP_INQ asked for them. After the end of the stream there is one
    /// more (`tcp_inq_hint`).
    fn compare_control(&self, index: usize, control: &Value) -> Result<(), Stop> {
        let socket = &self.sockets[index];
        let left = socket.unread();
        let left = if left == 0 && socket.is_peer_closed() { 1 } else { left };
        let Value::Array(items) = control else { return missing("msg_control that is no array") };
        match (items.as_slice(), socket.reports_inq) {
            ([], false) => Ok(()),
            ([item], true) => {
                let kind = item.field("cmsg_type").map(Value::number).transpose().map_err(Stop::CannotRun)?;
                if kind != Some(36) {
                    return missing("control messages other than TCP_CM_INQ");
                }
                match item.field("cmsg_data").map(Value::number).transpose().map_err(Stop::CannotRun)? {
                    Some(expected) if expected == left as i64 => Ok(()),
                    Some(expected) => {
                        Err(Stop::differs(format!("{expected} bytes left"), format!("{left} bytes left")))
                    }
                    None => missing("a control message without cmsg_data"),
                }
            }
            (items, _) => Err(Stop::differs(
                format!("{} control messages", items.len()),
                format!("{} control messages", u8::from(socket.reports_inq)),
            )),
        }
    }
}
