"""What a study is: scenarios, sizes and methods, from Python or from a design file."""
