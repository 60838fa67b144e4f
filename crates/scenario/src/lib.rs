//! elephan-scenario
