//! elephan-record
