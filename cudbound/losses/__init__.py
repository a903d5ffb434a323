"""Convex surrogate losses: those of the compiled solver, and user-defined losses with cvxpy."""
