"""The commands: each parses its command line, computes, prints, and sets the exit code."""
