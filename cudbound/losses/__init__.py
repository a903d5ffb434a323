"""Convex surrogate losses: those of the compiled solver, and a loss of one's own through cvxpy."""
