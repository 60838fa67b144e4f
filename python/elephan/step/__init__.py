"""Parts of elephan without a network, stepped by hand."""
