//! TCP Fast Open between hosts: what clients keep of servers, and connections of traffic with `fast_open` that begin with it.

use std::collections::BTreeMap;

use elephan_tcp::options::FastOpen;
use elephan_tcp::{Cookie, Endpoint, FastOpenListener, FastOpenMemory, FastOpenPause, FastOpenRequest};
use elephan_units::Time;

use crate::world::World;

/// Servers here have no secrets: what makes cookies differ is who asks whom.
const KEY: [u8; 16] = [0; 16];

/// What hosts keep for Fast Open, by client and server and by client.
#[derive(Debug, Default)]
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
}

impl World<'_> {
    /// Whether a traffic entry's applications ask for Fast Open.
    pub fn asks_fast_open(&self, traffic: u32) -> bool {
        self.plan.traffic[traffic as usize].fast_open
    }

    /// Opens the ends of a connection between `client` and `server` as their hosts allow.
    pub fn open_fast(&mut self, now: Time, ends: [u32; 2], (client, server): (u32, u32)) {
        let [one, other] = ends.map(|end| end as usize);
        let cookie = Cookie::of(&KEY, client.to_be_bytes(), server.to_be_bytes());
        let far = &mut self.sockets[other].endpoint;
        if matches!(far.options().fast_open, FastOpen::Server | FastOpen::Both) {
            far.listen_fast(&FastOpenListener { cookies: [Some(cookie), None], cookieless: false });
        } else {
            far.listen();
        }
        let near = &mut self.sockets[one].endpoint;
        if !matches!(near.options().fast_open, FastOpen::Client | FastOpen::Both) {
            return near.connect(now);
        }
        let kept = &mut self.fast_open;
        let pause = kept.pauses.entry(client).or_default();
        pause.timeout = near.options().fast_open_blackhole_timeout;
        let memory = kept.memories.get(&(client, server)).copied().unwrap_or_default();
        near.connect_fast(now, &FastOpenRequest { memory, cookieless: false, paused: pause.lasts(now) });
    }
}
