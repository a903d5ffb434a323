"""What a saved result holds: a file that says how a result can be checked, and has no row of the data in it."""
