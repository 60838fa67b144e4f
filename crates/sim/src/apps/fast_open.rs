//! TCP Fast Open between hosts: what clients keep of servers, and connections of traffic with `fast_open` that begin with it.

use std::collections::BTreeMap;

use elephan_tcp::options::FastOpen;
use elephan_tcp::{Cookie, Endpoint, FastOpenListener, FastOpenMemory, FastOpenPause, FastOpenRequest};
use elephan_units::Time;

/// Servers here have no secrets: what makes cookies differ is who asks whom.
const KEY: [u8; 16] = [0; 16];

/// What hosts keep for Fast Open, by client and server and by client.
#[derive(Clone, Debug, Default)]
pub struct FastOpens {
    memories: BTreeMap<(u32, u32), FastOpenMemory>,
    pauses: BTreeMap<u32, FastOpenPause>,
}

impl FastOpens {
    /// The client's endpoint is established, or over: the host keeps what it has learned.
    pub fn keep(&mut self, now: Time, (client, server): (u32, u32), endpoint: &mut Endpoint) {
        if let Some(lesson) = endpoint.take_fast_open_lesson() {
            self.memories.entry((client, server)).or_default().learn(&lesson);
        }
        if endpoint.take_fast_open_doubt()
            && let Some(pause) = self.pauses.get_mut(&client)
        {
            pause.begin(now);
        }
    }

    /// The server's endpoint listens as its host allows.
    pub fn listen(far: &mut Endpoint, (client, server): (u32, u32)) {
        let cookie = Cookie::of(&KEY, client.to_be_bytes(), server.to_be_bytes());
        if matches!(far.options().fast_open, FastOpen::Server | FastOpen::Both) {
            far.listen_fast(&FastOpenListener { cookies: [Some(cookie), None], cookieless: false });
        } else {
            far.listen();
        }
    }

    /// The client's endpoint connects as its host allows.
    pub fn connect(&mut self, now: Time, near: &mut Endpoint, (client, server): (u32, u32)) {
        if !matches!(near.options().fast_open, FastOpen::Client | FastOpen::Both) {
            return near.connect(now);
        }
        let pause = self.pauses.entry(client).or_default();
        pause.timeout = near.options().fast_open_blackhole_timeout;
        let memory = self.memories.get(&(client, server)).copied().unwrap_or_default();
        near.connect_fast(now, &FastOpenRequest { memory, cookieless: false, paused: pause.lasts(now) });
    }
}
