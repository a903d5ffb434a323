"""Q of a draw of squared loss in rational arithmetic: what the solver is judged by; it uses nothing of the solver."""
