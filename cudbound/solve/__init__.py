"""How Q is found: the compiled solver, the slow reference, and a common contract."""
