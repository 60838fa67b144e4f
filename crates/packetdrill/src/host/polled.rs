//! What epoll descriptors watch.

#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub fd: i64,
    pub socket: usize,
    /// Events asked for, 0 once a one-shot item has reported.
    pub events: i64,
    pub flags: i64,
    /// What `epoll_wait` gives back.
    pub data: i64,
    pub ready: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Epoll {
    pub items: Vec<Item>,
}
