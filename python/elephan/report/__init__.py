"""Reports: figures (matplotlib) and self-contained HTML pages that work offline."""
