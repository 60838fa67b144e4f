"""Sizing router buffers (Appenzeller, Keslassy, McKeown, SIGCOMM 2004): how much does a link with n flows need? See README.md."""
