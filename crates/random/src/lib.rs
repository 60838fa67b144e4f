//! elephan-random
