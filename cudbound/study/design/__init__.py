"""The design of a study: scenarios, sizes and methods, from Python or from a design file."""
