"""A saved result checked on the data again: the same data, bounds that follow from them, the same rows."""
