"""Q of a draw of squared loss in rational arithmetic: the judge of the solver, with which it shares no code."""
