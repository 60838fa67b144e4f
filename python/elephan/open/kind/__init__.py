"""The kinds of results: a file declares one of them (`elephan.base.kinds.Kind`) and is found by its name."""
