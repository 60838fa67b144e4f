"""Kept trials: what identifies one, the files that they are in, and the store of them."""
