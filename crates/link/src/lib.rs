//! Queues, link flow control and layer-2 congestion management. Pure: own state and arguments, no clock, no events.

#![forbid(unsafe_code)]

pub mod accounts;
pub mod congestion;
pub mod driven;
pub mod egress;
pub mod headroom;
pub mod memory;
pub mod pause;
pub mod queue;
pub mod spec;

pub use accounts::AccountMemory;
pub use congestion::CongestionManagement;
pub use egress::EgressControl;
pub use memory::SharedMemory;
pub use spec::{
    Concerned, FlowControl, FrameCost, Framing, GilbertElliott, Loss, Pause, PausePer, PauseReaction, Pfc, PfcPer,
};
