"""L4S tests (Heist and Morton, 2020): what two flows get of a shared line, measured on Linux, row by row."""
