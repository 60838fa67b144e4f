//! What descriptors stand for, and what calls come to.

/// What a descriptor of the script stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descriptor {
    Socket(usize),
    Epoll(usize),
}

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done(i64),
    /// It made a descriptor, whose number the script chooses.
    Descriptor(Descriptor),
    Fail(&'static str),
    /// It has to wait.
    Block,
}

/// How a call goes on that has waited.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Bytes that it has moved so far.
    pub moved: u64,
    /// It has opened the connection.
    pub opened: bool,
    /// The send buffer was full.
    pub(super) waits_for_room: bool,
    /// Its own timeout has passed.
    pub timed_out: bool,
}

/// Where a call stands that works on bytes: how many, and its flags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub bytes: u64,
    pub flags: i64,
}
