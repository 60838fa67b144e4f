//! elephan-engine
