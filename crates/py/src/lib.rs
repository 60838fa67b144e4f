//! elephan-py
