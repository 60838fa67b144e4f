"""The page of `elephan explore`: a server on loopback that answers its messages."""
