//! What stands between TCP and the wire: transmit queue, driver ring, pacing at the device, receive ring and backlog, the
//! processor, disks. Pure: own state and arguments; no clock, no events. Each module says its law at the top.

pub mod copy;
pub mod disk;
