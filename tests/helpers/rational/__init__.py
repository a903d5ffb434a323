"""Q of a draw with squared loss in rational arithmetic: an independent check of the solver, without shared code."""
