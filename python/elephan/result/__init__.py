"""A run and its folder: data that is written, read again and described. Nothing here draws."""
