//! elephan-link
