//! elephan-cc
