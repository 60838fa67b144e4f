//! Options of sockets.

use elephan_cc::Spec;
use elephan_tcp::{Endpoint, Info, SEND_BUFFER_MIN};
use elephan_units::{Span, Time};

use crate::line::Line;
use crate::{Errno, Fd, Network, Socket};

/// An option of a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// TCP_NODELAY
    NoDelay(bool),
    /// TCP_CORK
    Cork(bool),
    /// SO_SNDBUF, bytes; Linux takes twice as many.
    SendBuffer(u64),
    /// SO_RCVBUF, bytes; Linux takes twice as many.
    ReceiveBuffer(u64),
    /// TCP_USER_TIMEOUT, milliseconds
    UserTimeout(u64),
    /// TCP_CONGESTION
    CongestionControl(Box<Spec>),
    /// SO_LINGER with a time of 0: close resets.
    Aborts(bool),
}

impl Setting {
    /// Applies it to an endpoint, as far as that has it.
    pub(crate) fn apply(&self, now: Time, endpoint: &mut Endpoint) {
        match self {
            Setting::NoDelay(on) => endpoint.set_nodelay(now, *on),
            Setting::Cork(on) => endpoint.set_cork(now, *on),
            Setting::ReceiveBuffer(bytes) => endpoint.set_receive_buffer(bytes.saturating_mul(2)),
            Setting::UserTimeout(ms) => endpoint.set_user_timeout(Span::from_ms(*ms)),
            Setting::CongestionControl(spec) => endpoint.switch_congestion_control(now, spec),
            Setting::SendBuffer(_) | Setting::Aborts(_) => {}
        }
    }
}

impl Network {
    /// Sets an option of a stream. Of a listener, those that come have it.
    pub fn set(&mut self, fd: Fd, setting: Setting) -> Result<(), Errno> {
        match self.sockets.get_mut(&fd).ok_or(Errno::BadDescriptor)? {
            Socket::Fresh { settings, .. } => settings.push(setting),
            Socket::Listener(listener) => listener.settings.push(setting),
            Socket::Stream(stream) => {
                match setting {
                    Setting::SendBuffer(bytes) => {
                        stream.queue.limit = bytes.saturating_mul(2).max(SEND_BUFFER_MIN);
                        stream.queue.locked = true;
                    }
                    Setting::Aborts(on) => stream.aborts = on,
                    _ => {}
                }
                if let Line::Network(end) = stream.line {
                    self.sim.act(end, |now, endpoint| setting.apply(now, endpoint));
                }
            }
            Socket::Datagrams(_) => return Err(Errno::NotSupported),
        }
        Ok(())
    }

    /// What `TCP_INFO` says of a stream over the network, and the name of its congestion control. `None` of one that is gone.
    pub fn info(&self, fd: Fd) -> Result<Option<(Info, &str)>, Errno> {
        let Socket::Stream(stream) = self.sockets.get(&fd).ok_or(Errno::BadDescriptor)? else {
            return Err(Errno::NotConnected);
        };
        let Line::Network(end) = stream.line else { return Ok(None) };
        let endpoint = self.sim.endpoint(end);
        Ok(endpoint.map(|endpoint| (endpoint.info(self.sim.now()), endpoint.controller().name())))
    }
}
