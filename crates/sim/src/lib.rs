//! elephan-sim
