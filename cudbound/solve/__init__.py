"""Solvers for Q: the compiled solver and the slow reference, with a common contract."""
