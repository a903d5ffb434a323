"""How Q is found: the compiled solver, the slow reference, and one contract for both."""
