"""Pages: reports of every kind of result, self-contained and working offline."""
