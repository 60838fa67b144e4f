//! elephan-traffic
