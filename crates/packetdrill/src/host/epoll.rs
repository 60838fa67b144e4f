//! `epoll` and `poll`.

use super::Host;
use super::outcome::{Descriptor, Outcome};
use super::polled::{Epoll, Item};
use crate::script::Value;
use crate::symbols::{EPOLLET, EPOLLONESHOT, POLLERR, POLLHUP, POLLIN, POLLOUT, POLLRDHUP, named};
use crate::verdict::Stop;

/// The events that are always reported.
const ALWAYS: i64 = POLLERR | POLLHUP;
/// All events that are reported.
const REPORTED: i64 = POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDHUP;

fn events_text(mask: i64) -> String {
    let names: Vec<&str> = (0..14).filter_map(|bit| named(&["POLL"], mask & (1 << bit))).collect();
    if names.is_empty() { mask.to_string() } else { names.join("|") }
}

impl Host {
    /// Something has happened to a socket: `mask` says what.
    pub(super) fn wake(&mut self, socket: usize, mask: i64) {
        for item in self.epolls.iter_mut().flat_map(|epoll| &mut epoll.items) {
            if item.socket == socket && item.events != 0 && mask & (item.events | ALWAYS) != 0 {
                item.ready = true;
            }
        }
    }

    pub(super) fn epoll_create(&mut self) -> Outcome {
        self.epolls.push(Epoll::default());
        Outcome::Descriptor(Descriptor::Epoll(self.epolls.len() - 1))
    }

    pub(super) fn epoll_ctl(&mut self, args: &[Value]) -> Result<Outcome, Stop> {
        let epoll = self.epoll(args)?;
        let (operation, fd) = (super::calls::number(args, 1)?, super::calls::number(args, 2)?);
        let Some(Descriptor::Socket(socket)) = self.descriptors.get(&fd).copied() else {
            return Ok(Outcome::Fail("EBADF"));
        };
        let items = &mut self.epolls[epoll].items;
        let place = items.iter().position(|item| item.fd == fd);
        match (operation, place) {
            (1, Some(_)) => return Ok(Outcome::Fail("EEXIST")),
            (2 | 3, None) => return Ok(Outcome::Fail("ENOENT")),
            (2, Some(place)) => {
                items.remove(place);
                return Ok(Outcome::Done(0));
            }
            (1 | 3, _) => {}
            _ => return Ok(Outcome::Fail("EINVAL")),
        }
        let event = args.get(3).ok_or_else(|| missing("epoll_ctl with three arguments"))?;
        let asked = event.field("events").ok_or_else(|| missing("an epoll event without events"))?;
        let asked = asked.number().map_err(Stop::CannotRun)?;
        let data = ["fd", "ptr", "u32", "u64"].iter().find_map(|name| event.field(name));
        let data = data.ok_or_else(|| missing("an epoll event without data"))?.number().map_err(Stop::CannotRun)?;
        let (events, flags) = (asked & REPORTED, asked & !REPORTED);
        let ready = self.sockets[socket].ready() & (events | ALWAYS) != 0;
        let item = Item { fd, socket, events, flags, data, ready };
        let items = &mut self.epolls[epoll].items;
        match place {
            Some(place) => items[place] = item,
            None => items.push(item),
        }
        Ok(Outcome::Done(0))
    }

    pub(super) fn epoll_wait(&mut self, args: &[Value], timed_out: bool) -> Result<Outcome, Stop> {
        let epoll = self.epoll(args)?;
        let (most, timeout) = (super::calls::number(args, 2)?, super::calls::number(args, 3)?);
        let mut found = Vec::new();
        for place in 0..self.epolls[epoll].items.len() {
            let item = self.epolls[epoll].items[place];
            if !item.ready || item.events == 0 || found.len() as i64 >= most {
                continue;
            }
            let mask = self.sockets[item.socket].ready() & (item.events | ALWAYS);
            let item = &mut self.epolls[epoll].items[place];
            item.ready = mask != 0 && item.flags & EPOLLET == 0;
            if mask != 0 {
                if item.flags & EPOLLONESHOT != 0 {
                    item.events = 0;
                }
                found.push((mask, item.data));
            }
        }
        if found.is_empty() && timeout != 0 && !timed_out {
            return Ok(Outcome::Block);
        }
        // The script says what the first event is.
        let expected = args.get(1).ok_or_else(|| missing("epoll_wait without events"))?;
        if let (Value::Fields(_), Some((mask, data))) = (expected, found.first()) {
            for (name, got) in [("events", mask), ("fd", data), ("ptr", data), ("u32", data), ("u64", data)] {
                let Some(field) = expected.field(name).filter(|field| **field != Value::Ellipsis) else { continue };
                if field.number().map_err(Stop::CannotRun)? != *got {
                    let shown = if name == "events" { events_text(*got) } else { got.to_string() };
                    return Err(Stop::differs(format!("{name}={field}"), format!("{name}={shown}")));
                }
            }
        }
        Ok(Outcome::Done(found.len() as i64))
    }

    /// `poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, 1000)`.
    pub(super) fn poll(&mut self, args: &[Value], timed_out: bool) -> Result<Outcome, Stop> {
        let Some(Value::Array(entries)) = args.first() else {
            return Err(missing("poll of other things than an array"));
        };
        let timeout = super::calls::number(args, 2)?;
        let (mut count, mut wrong) = (0, None);
        for entry in entries {
            let field = |name: &str| entry.field(name).map(|value| value.number().map_err(Stop::CannotRun)).transpose();
            let (Some(fd), Some(events)) = (field("fd")?, field("events")?) else {
                return Err(missing("poll without fd and events"));
            };
            let mask = match self.descriptors.get(&fd) {
                Some(Descriptor::Socket(socket)) => {
                    let socket = *socket;
                    self.sockets[socket].ready() & (events | ALWAYS)
                }
                _ => 0x20,
            };
            count += i64::from(mask != 0);
            if let Some(expected) = field("revents")?
                && expected != mask
            {
                let (expected, got) = (events_text(expected), events_text(mask));
                wrong = Some(Stop::differs(format!("revents={expected}"), format!("revents={got}")));
            }
        }
        if count == 0 && timeout != 0 && !timed_out {
            return Ok(Outcome::Block);
        }
        match wrong {
            Some(wrong) => Err(wrong),
            None => Ok(Outcome::Done(count)),
        }
    }

    fn epoll(&self, args: &[Value]) -> Result<usize, Stop> {
        let fd = super::calls::number(args, 0)?;
        match self.descriptors.get(&fd) {
            Some(Descriptor::Epoll(epoll)) => Ok(*epoll),
            _ => Err(Stop::differs("an epoll descriptor", format!("descriptor {fd}"))),
        }
    }

    /// A closed descriptor leaves every epoll.
    pub(super) fn forget_descriptor(&mut self, fd: i64) {
        for epoll in &mut self.epolls {
            epoll.items.retain(|item| item.fd != fd);
        }
    }
}

fn missing(what: &str) -> Stop {
    Stop::CannotRun(what.to_owned())
}
