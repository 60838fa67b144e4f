//! elephan-tcp
