"""Check a saved result on its data: the same data, valid bounds, the same rows."""
